//! Whatever the bytes of a file, it is a table or refused: NPY, NPZ, Parquet and compressed text, told apart by their
//! first bytes.

use smave_table::{Missing, Roles, Table, Wanted, prepare};

/// Fails if a reader does, or if what it gives contradicts itself.
pub fn check(bytes: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t");
    std::fs::write(&path, bytes).unwrap();
    let Ok(table) = Table::read(&path, &Wanted::default()) else { return };
    assert!(table.n_rows() > 0 && !table.columns.is_empty());
    assert_eq!(table.values.len(), table.n_rows() * table.columns.len());
    assert!(table.values.iter().all(|v| !v.is_infinite()));
    for (c, column) in table.columns.iter().enumerate() {
        if let Some(levels) = &column.levels {
            assert!(table.column(c).all(|v| v.is_nan() || (v as usize) < levels.len()));
        }
    }
    // Some columns, in another order, are those columns.
    let names: Vec<String> =
        table.columns.iter().rev().step_by(2).map(|column| column.name.clone()).collect();
    let some = Table::read(&path, &Wanted { only: Some(names), ..Wanted::default() }).unwrap();
    for (c, column) in some.columns.iter().enumerate() {
        let own = table.columns.len() - 1 - 2 * c;
        assert_eq!(column, &table.columns[own]);
        assert!(some.column(c).map(f64::to_bits).eq(table.column(own).map(f64::to_bits)));
    }
    let roles =
        Roles { targets: vec![table.columns[0].name.clone()], missing: Missing::Mean, ..Roles::default() };
    if let Ok(prepared) = prepare(table, &roles) {
        assert!(prepared.values.iter().all(|v| v.is_finite()));
    }
}
