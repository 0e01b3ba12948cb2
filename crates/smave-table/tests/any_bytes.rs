//! Whatever the bytes, the reader answers with a table or an error.

use proptest::prelude::*;
use smave_table::{Missing, Roles, Wanted, delimited, prepare};

/// Pieces that tables are made of, and pieces that break them.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b",".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"\"\"".to_vec()),
        Just(b";".to_vec()),
        Just(b"\t".to_vec()),
        Just(b"NA".to_vec()),
        Just(b"1e999".to_vec()),
        Just(b"2024-01-05".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        "[a-c]{1,3}".prop_map(String::into_bytes),
        "-?[0-9]{1,4}(\\.[0-9]{1,3})?".prop_map(String::into_bytes),
        proptest::collection::vec(any::<u8>(), 1..4),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn reading_never_panics(pieces in proptest::collection::vec(piece(), 0..60)) {
        let text = pieces.concat();
        if let Ok(table) = delimited::read(&text[..], "t.csv", &Wanted::default()) {
            prop_assert_eq!(table.values.len(), table.n_rows() * table.columns.len());
            prop_assert!(table.values.iter().all(|v| !v.is_infinite()));
            for (c, column) in table.columns.iter().enumerate() {
                if let Some(levels) = &column.levels {
                    prop_assert!(table.column(c).all(|v| v.is_nan() || (v as usize) < levels.len()));
                }
            }
            // Whatever is a table can be prepared, or is refused.
            let target = table.columns[0].name.clone();
            if table.columns[0].levels.is_none() {
                for missing in [Missing::Error, Missing::Drop, Missing::Mean] {
                    let roles = Roles { targets: vec![target.clone()], missing, ..Roles::default() };
                    if let Ok(prepared) = prepare(table.clone(), &roles) {
                        let n = prepared.responses[0].len();
                        prop_assert_eq!(prepared.values.len(), n * prepared.names.len());
                        prop_assert!(prepared.values.iter().all(|v| v.is_finite()));
                    }
                }
            }
        }
    }

    /// A table that is written with quotes around everything is the same table.
    #[test]
    fn quotes_change_nothing(rows in proptest::collection::vec((-999i32..999, "[a-z ,;\n\"]{1,6}"), 1..20)) {
        let plain: Vec<(String, String)> = rows
            .iter()
            .map(|(number, text)| (number.to_string(), format!("x{}", text.trim())))
            .collect();
        let quote = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let written: String =
            plain.iter().map(|(number, text)| format!("{},{}\n", quote(number), quote(text))).collect();
        let table = delimited::read(format!("n,t\n{written}").as_bytes(), "t.csv", &Wanted::default()).unwrap();
        prop_assert_eq!(table.n_rows(), rows.len());
        let levels = table.columns[1].levels.as_ref().unwrap();
        for (row, (number, text)) in plain.iter().enumerate() {
            prop_assert_eq!(table.values[2 * row], number.parse::<f64>().unwrap());
            prop_assert_eq!(&levels[table.values[2 * row + 1] as usize], text);
        }
    }
}
