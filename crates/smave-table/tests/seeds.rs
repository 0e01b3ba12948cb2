//! What the fuzz targets of the table readers start from, and what they once failed at.

use std::path::Path;

use smave_table::{Table, Wanted};

#[path = "../../../fuzz/checks/binary.rs"]
mod binary;
#[path = "../../../fuzz/checks/delimited.rs"]
mod delimited;
#[path = "../../../fuzz/checks/seeds.rs"]
mod seeds;

#[test]
fn texts_are_tables_or_refused() {
    seeds::pass("delimited", delimited::check);
}

#[test]
fn files_are_tables_or_refused() {
    seeds::pass("binary", binary::check);
}

#[test]
fn claims_are_not_believed() {
    for (seed, expected) in [
        ("no_rows_of_many_columns.npy", "no rows"),
        ("no_rows_of_many_columns.npz", "its arrays have 0 and 2 rows"),
        ("claims_terabytes.npy", "not a readable array"),
        ("claims_too_much.npy", "more than memory can hold"),
        ("two_shapes.npy", "its shape is no shape"),
        ("header_claims_gigabytes.npy", "its header is too long"),
        ("deep_header.npy", "its header is too deep"),
        ("footer_claims_too_much.parquet", "Parquet"),
    ] {
        let path = format!("{}/../../fuzz/seeds/binary/{seed}", env!("CARGO_MANIFEST_DIR"));
        let message = Table::read(Path::new(&path), &Wanted::default()).unwrap_err().to_string();
        assert!(message.contains(expected), "{message}");
    }
}
