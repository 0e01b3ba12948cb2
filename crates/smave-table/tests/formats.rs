//! The same table in every format that is read, and files that are not what their names say.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use smave_table::{Table, Wanted};

const CSV: &str = "a,kind,y\n1,dog,10\n,cat,20\n3,,30\n";

fn read(path: &Path) -> Result<Table, String> {
    Table::read(path, &Wanted::default()).map_err(|error| error.to_string())
}

/// Values that can be compared.
fn bits(table: &Table) -> Vec<u64> {
    table.values.iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }).collect()
}

fn expected() -> Table {
    smave_table::delimited::read(CSV.as_bytes(), "t.csv", &Wanted::default()).unwrap()
}

#[test]
fn compressed_text_is_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv.gz");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(CSV.as_bytes()).unwrap();
    fs::write(&path, gzip.finish().unwrap()).unwrap();
    assert_eq!(bits(&read(&path).unwrap()), bits(&expected()));
    // The name does not matter.
    let path = folder.path().join("t.csv");
    fs::write(&path, zstd::encode_all(CSV.as_bytes(), 3).unwrap()).unwrap();
    assert_eq!(bits(&read(&path).unwrap()), bits(&expected()));
    // Cut off.
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    assert!(read(&path).unwrap_err().contains("cannot read"));
}

fn write_parquet(path: &Path, schema: &str, write: impl FnOnce(&mut SerializedFileWriter<File>)) {
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    write(&mut writer);
    writer.close().unwrap();
}

#[test]
fn parquet_holds_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let schema = "message t { optional double a; optional binary kind (UTF8); required int64 y; }";
    write_parquet(&path, schema, |writer| {
        for half in 0..2 {
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let (values, levels): (&[f64], &[i16]) =
                if half == 0 { (&[1.0], &[1, 0]) } else { (&[3.0], &[1]) };
            column.typed::<DoubleType>().write_batch(values, Some(levels), None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let texts: Vec<ByteArray> = if half == 0 { vec!["dog".into(), "cat".into()] } else { vec![] };
            let levels: &[i16] = if half == 0 { &[1, 1] } else { &[0] };
            column.typed::<ByteArrayType>().write_batch(&texts, Some(levels), None).unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            let values: &[i64] = if half == 0 { &[10, 20] } else { &[30] };
            column.typed::<Int64Type>().write_batch(values, None, None).unwrap();
            column.close().unwrap();
            group.close().unwrap();
        }
    });
    let table = read(&path).unwrap();
    assert_eq!((bits(&table), &table.columns), (bits(&expected()), &expected().columns));
    assert_eq!(table.missing_places(), "row 2 ('a'), row 3 ('kind')");
    let wanted = Wanted { only: Some(vec!["y".into(), "a".into()]), ..Wanted::default() };
    let some = Table::read(&path, &wanted).unwrap();
    assert_eq!((some.columns.len(), some.values[0]), (2, 10.0));
    let wanted = Wanted { text: vec!["y".into()], ..Wanted::default() };
    assert_eq!(
        Table::read(&path, &wanted).unwrap().columns[2].levels.as_deref().unwrap(),
        ["10", "20", "30"]
    );
    let wanted = Wanted { numbers: vec!["kind".into()], ..Wanted::default() };
    assert!(Table::read(&path, &wanted).unwrap_err().to_string().contains("must be numeric"));
}

#[test]
fn parquet_dates_are_refused_and_broken_files_do_not_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    write_parquet(&path, "message t { required int32 day (DATE); required int32 y; }", |writer| {
        let mut group = writer.next_row_group().unwrap();
        for _ in 0..2 {
            let mut column = group.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&[1, 2], None, None).unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
    });
    let message = read(&path).unwrap_err();
    assert!(message.contains("column 'day'") && message.contains("--drop day"), "{message}");
    let wanted = Wanted { except: vec!["day".into()], ..Wanted::default() };
    assert_eq!(Table::read(&path, &wanted).unwrap().values, [1.0, 2.0]);
    let whole = fs::read(&path).unwrap();
    for length in [4, 20, whole.len() / 2, whole.len() - 4] {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(read(&path).unwrap_err().contains("Parquet"), "{length}");
    }
}

#[test]
fn arrays_have_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.npy");
    // Version 1.0 by hand: two rows of three, first by rows, then by columns.
    let npy = |fortran: &str, kind: &str, shape: &str, bytes: &[u8]| {
        let header = format!("{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
        let padded = format!("{header:<117}\n");
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend((padded.len() as u16).to_le_bytes());
        file.extend(padded.as_bytes());
        file.extend(bytes);
        file
    };
    let doubles = |values: &[f64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    fs::write(&path, npy("False", "<f8", "(2, 3)", &doubles(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))).unwrap();
    let rows = read(&path).unwrap();
    assert_eq!((rows.values, &rows.columns[2].name[..]), (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "x3"));
    fs::write(&path, npy("True", "<f8", "(2, 3)", &doubles(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]))).unwrap();
    assert_eq!(read(&path).unwrap().values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    fs::write(&path, npy("False", "|b1", "(2,)", &[1, 0])).unwrap();
    assert_eq!(read(&path).unwrap().values, [1.0, 0.0]);
    fs::write(&path, npy("False", "<f8", "(2,)", &doubles(&[1.0, f64::INFINITY]))).unwrap();
    assert!(read(&path).unwrap_err().contains("row 2: inf is not a finite number"));
    for (kind, shape, expected) in [
        ("<f8", "(1, 1, 1)", "3 dimensions"),
        ("<U3", "(2,)", "type"),
        ("<f8", "(9000000000000000000, 3)", "memory"),
    ] {
        fs::write(&path, npy("False", kind, shape, &doubles(&[1.0]))).unwrap();
        let message = read(&path).unwrap_err();
        assert!(message.contains(expected), "{message}");
    }
    fs::write(&path, npy("False", "<f8", "(9,)", &doubles(&[1.0]))).unwrap();
    assert!(read(&path).unwrap_err().contains("not a readable array"));

    let path = folder.path().join("t.npz");
    let mut archive = npyz::npz::NpzWriter::new(File::create(&path).unwrap());
    for (name, shape, values) in [("X", vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]), ("y", vec![2], vec![5.0, 6.0])]
    {
        use npyz::WriterBuilder;
        let builder = archive.array::<f64>(name, Default::default()).unwrap().default_dtype().shape(&shape);
        let mut writer = builder.begin_nd().unwrap();
        writer.extend(values).unwrap();
        writer.finish().unwrap();
    }
    drop(archive);
    let table = read(&path).unwrap();
    let names: Vec<&str> = table.columns.iter().map(|column| &column.name[..]).collect();
    assert_eq!((names, &table.values[..]), (vec!["x1", "x2", "y"], &[1.0, 2.0, 5.0, 3.0, 4.0, 6.0][..]));
}

#[test]
fn files_of_other_kinds_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.csv");
    let message = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        read(&path).unwrap_err()
    };
    assert!(message(b"\xff\xfea\x00,\x00").contains("UTF-16"));
    assert!(message(b"\xd0\xcf\x11\xe0\xa1").contains("Excel"));
    assert!(message(b"PK\x03\x04nonsense").contains("NPZ"));
    assert!(message(b"PAR1").contains("Parquet"));
    assert!(message(b"").contains("is empty"));
    assert!(read(&folder.path().join("none.csv")).unwrap_err().starts_with("cannot read"));
    assert!(read(folder.path()).unwrap_err().starts_with("cannot read"));
}
