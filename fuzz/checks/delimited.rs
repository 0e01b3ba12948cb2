//! Whatever the bytes of a text file, they are a table or an error; and what is a table is one table, however it is read.

use smave_table::{Missing, Roles, Table, Wanted, apply, delimited, prepare};

type Read<'a> = &'a dyn Fn(&Wanted) -> smave_table::Result<Table>;

/// Fails if the reader does, or if what it gives contradicts itself.
pub fn check(bytes: &[u8]) {
    let read = |wanted: &Wanted| delimited::read(bytes, "t.csv", wanted);
    // So small that most lines end a block.
    let blocks = |wanted: &Wanted| delimited::read_in_blocks(bytes, "t.csv", wanted, 1 + bytes.len() % 32);
    match read(&Wanted::default()) {
        Ok(table) => {
            check_table(&table);
            for missing in [Missing::Error, Missing::Drop, Missing::Mean] {
                check_prepared(&table, missing, &read);
            }
            check_blocks(&table, &read, &blocks);
        }
        Err(_) => blocks(&Wanted::default()).iter().for_each(check_table),
    }
}

/// Numbers are finite or missing, texts are places in a list of different texts.
fn check_table(table: &Table) {
    assert_eq!(table.values.len(), table.n_rows() * table.columns.len());
    assert!(table.n_rows() > 0 && table.values.iter().all(|v| !v.is_infinite()));
    for (c, column) in table.columns.iter().enumerate() {
        if let Some(levels) = &column.levels {
            assert!(table.column(c).all(|v| v.is_nan() || (v as usize) < levels.len()));
            assert!((1..levels.len()).all(|i| !levels[..i].contains(&levels[i])), "{levels:?}");
        }
    }
    let known = table.missing.iter().all(|place| place.column < table.columns.len());
    assert!(known && (table.missing.is_empty() == table.values.iter().all(|v| !v.is_nan())));
}

/// A table can be prepared or is refused; and the same rows, seen as new ones, become the same covariates.
fn check_prepared(table: &Table, missing: Missing, read: Read<'_>) {
    let Some(target) = table.columns.iter().find(|column| column.levels.is_none()) else { return };
    let roles = Roles { targets: vec![target.name.clone()], missing, ..Roles::default() };
    let Ok(prepared) = prepare(table.clone(), &roles) else { return };
    assert_eq!(prepared.values.len(), prepared.responses[0].len() * prepared.names.len());
    assert!(prepared.values.iter().chain(&prepared.responses[0]).all(|v| v.is_finite()));
    if prepared.n_dropped > 0 || missing != Missing::Mean {
        return;
    }
    let named = |text: bool| {
        let these = prepared.encoding.iter().filter(move |source| source.levels.is_some() == text);
        these.map(|source| source.name.clone()).collect::<Vec<_>>()
    };
    let only = Some(prepared.encoding.iter().map(|source| source.name.clone()).collect());
    let wanted = Wanted { only, text: named(true), numbers: named(false), ..Wanted::default() };
    assert_eq!(apply(read(&wanted).unwrap(), &prepared.encoding).unwrap(), prepared.values);
}

/// Where a block ends does not show. What a column holds and what delimits it is found out from the first block, so that
/// all is read as text, and only tables with the same columns are compared.
fn check_blocks(table: &Table, read: Read<'_>, blocks: Read<'_>) {
    let names = |table: &Table| table.columns.iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let wanted = Wanted { text: names(table), ..Wanted::default() };
    let (Ok(whole), Ok(small)) = (read(&wanted), blocks(&wanted)) else { return };
    check_table(&small);
    // Numbered columns say little about what delimits them.
    if names(&whole) == names(&small) && small.columns[0].name != "x1" {
        assert_eq!((&small.columns, &small.missing), (&whole.columns, &whole.missing));
        assert!(small.values.iter().map(|v| v.to_bits()).eq(whole.values.iter().map(|v| v.to_bits())));
    }
}
