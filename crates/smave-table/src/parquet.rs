//! Parquet files: columns of numbers and texts, some values missing.

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::basic::{ConvertedType, LogicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use crate::error::{Error, Result};
use crate::table::{Column, MAX_LEVELS, Table, Wanted, check_distinct};

/// Values decoded at a time.
const BATCH: usize = 1 << 16;

/// Values that a byte of the file may stand for: far more than the best compression of what is worth reading.
const VALUES_PER_BYTE: u64 = 1 << 13;

/// Reads the wanted columns.
pub fn read(source: File, file: &str, wanted: &Wanted) -> Result<Table> {
    // The library below panics at some contents that no writer would write.
    catch_unwind(AssertUnwindSafe(|| read_groups(source, file, wanted))).unwrap_or_else(|_| {
        let problem = "not a readable Parquet file (its contents contradict each other)".into();
        Err(Error::File { file: file.into(), problem })
    })
}

/// Row group after row group.
fn read_groups(source: File, file: &str, wanted: &Wanted) -> Result<Table> {
    let length = source.metadata().map_err(|source| Error::Io { file: file.into(), source })?.len();
    let broken = |error: parquet::errors::ParquetError| Error::File {
        file: file.into(),
        problem: format!("not a readable Parquet file ({error})"),
    };
    let reader = SerializedFileReader::new(source).map_err(broken)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    check_distinct(&names, file)?;
    let places = wanted.places(&names, file)?;
    let mut columns = Vec::new();
    for &place in &places {
        let column = schema.column(place);
        let refuse =
            |problem: String| Err(Error::Column { file: file.into(), name: names[place].clone(), problem });
        if let Some(problem) = unusable(&column) {
            return refuse(problem.replace("NAME", &names[place]));
        }
        let text = column.physical_type() == parquet::basic::Type::BYTE_ARRAY;
        if text && wanted.numbers.contains(&names[place]) {
            return refuse(
                "the column must be numeric, but it holds text; choose another or code it as numbers".into(),
            );
        }
        // A number as a level is written as it would be shown.
        let levels = (text || wanted.text.contains(&names[place])).then(Vec::new);
        columns.push(Column { name: names[place].clone(), levels });
    }
    let n_rows: usize = reader
        .metadata()
        .row_groups()
        .iter()
        .map(|group| group.num_rows().max(0) as usize)
        .fold(0, usize::saturating_add);
    if n_rows == 0 {
        return Err(Error::NoRows { file: file.into() });
    }
    let width = places.len();
    // Some bytes may stand for any number of equal values: a file of a few could fill all memory.
    let most = length.saturating_mul(VALUES_PER_BYTE).min(isize::MAX as u64 / 8);
    let size = n_rows.checked_mul(width).filter(|size| *size as u64 <= most);
    let Some(size) = size else {
        let problem = format!("it claims {n_rows} rows in {length} bytes");
        return Err(Error::File { file: file.into(), problem });
    };
    // A file may claim more rows than it holds: memory is taken as they come.
    let mut values: Vec<f64> = Vec::new();
    let mut begin = 0;
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(broken)?;
        let rows = group.metadata().num_rows().max(0) as usize;
        for (c, &place) in places.iter().enumerate() {
            let found = read_column(&*group, place, rows, file, &mut columns[c])?;
            if values.len() < (begin + rows) * width {
                values.resize(((begin + rows) * width).min(size), f64::NAN);
            }
            let out = values[begin * width..].iter_mut().skip(c).step_by(width);
            out.zip(found).for_each(|(out, v)| *out = v);
        }
        begin += rows;
    }
    Table::of_rows(file, columns, values)
}

/// Why a column cannot be read as numbers or categories.
fn unusable(column: &ColumnDescriptor) -> Option<String> {
    use parquet::basic::Type;
    if column.max_rep_level() > 0 {
        return Some("it holds lists; drop it with --drop NAME".into());
    }
    let date = matches!(
        column.logical_type_ref(),
        Some(LogicalType::Date | LogicalType::Timestamp { .. } | LogicalType::Time { .. })
    ) || matches!(
        column.converted_type(),
        ConvertedType::DATE
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
    );
    if date || column.physical_type() == Type::INT96 {
        return Some(
            "it holds dates or times, which are no numbers; drop it with --drop NAME, or put numbers in its place, such as \
             the year, the month or the days since the first"
                .into(),
        );
    }
    let decimal = matches!(column.logical_type_ref(), Some(LogicalType::Decimal { .. }))
        || column.converted_type() == ConvertedType::DECIMAL;
    if decimal || column.physical_type() == Type::FIXED_LEN_BYTE_ARRAY {
        return Some(
            "it holds decimals or bytes of fixed length; save it as double precision numbers".into(),
        );
    }
    None
}

/// The values of one column of a row group; NaN where there is none. Texts are added to the levels of `column`.
fn read_column(
    group: &dyn RowGroupReader,
    place: usize,
    rows: usize,
    file: &str,
    column: &mut Column,
) -> Result<Vec<f64>> {
    let broken = |error: parquet::errors::ParquetError| Error::Column {
        file: file.into(),
        name: column.name.clone(),
        problem: format!("not readable ({error})"),
    };
    let reader = group.get_column_reader(place).map_err(broken)?;
    let there = group.metadata().column(place).column_descr().max_def_level();
    let numbers = match reader {
        ColumnReader::BoolColumnReader(reader) => collect(reader, rows, there, |v| f64::from(*v)),
        ColumnReader::Int32ColumnReader(reader) => collect(reader, rows, there, |v| f64::from(*v)),
        ColumnReader::Int64ColumnReader(reader) => collect(reader, rows, there, |v| *v as f64),
        ColumnReader::FloatColumnReader(reader) => collect(reader, rows, there, |v| f64::from(*v)),
        ColumnReader::DoubleColumnReader(reader) => collect(reader, rows, there, |v| *v),
        ColumnReader::ByteArrayColumnReader(reader) => {
            let levels = column.levels.get_or_insert_default();
            let found = collect(reader, rows, there, |v| level(v, levels));
            let found = found.map_err(broken)?;
            return check_levels(column, file).map(|()| found);
        }
        _ => return Err(broken(parquet::errors::ParquetError::General("no numbers".into()))),
    }
    .map_err(broken)?;
    let Some(levels) = &mut column.levels else { return Ok(numbers) };
    let codes =
        numbers.into_iter().map(|v| if v.is_nan() { v } else { code(&v.to_string(), levels) }).collect();
    check_levels(column, file).map(|()| codes)
}

fn level(text: &ByteArray, levels: &mut Vec<String>) -> f64 {
    let text = String::from_utf8_lossy(text.data());
    if text.trim().is_empty() { f64::NAN } else { code(&text, levels) }
}

/// The place of a text among the levels, a few more than allowed at the most.
fn code(text: &str, levels: &mut Vec<String>) -> f64 {
    if let Some(place) = levels.iter().position(|level| level == text) {
        return place as f64;
    }
    if levels.len() <= MAX_LEVELS {
        levels.push(text.to_string());
    }
    (levels.len() - 1) as f64
}

fn check_levels(column: &Column, file: &str) -> Result<()> {
    let Some(levels) = &column.levels else { return Ok(()) };
    let problem = match levels {
        levels if levels.len() > MAX_LEVELS => format!(
            "it holds more than {MAX_LEVELS} different texts, too many for a category; drop it with --drop {}, or code it as \
             numbers",
            column.name
        ),
        levels if levels.iter().any(|level| crate::cell::is_date(level)) => format!(
            "it holds dates, which are no numbers; drop it with --drop {}, or put numbers in its place",
            column.name
        ),
        _ => return Ok(()),
    };
    Err(Error::Column { file: file.into(), name: column.name.clone(), problem })
}

/// The values of so many rows; those whose definition level is less than `there` are missing.
fn collect<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    there: i16,
    mut number: impl FnMut(&T::T) -> f64,
) -> parquet::errors::Result<Vec<f64>> {
    let mut out = Vec::with_capacity(rows.min(BATCH));
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while out.len() < rows {
        levels.clear();
        values.clear();
        let most = BATCH.min(rows - out.len());
        let (records, found, _) = reader.read_records(most, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            let problem = format!("{} rows where {rows} were announced", out.len());
            return Err(parquet::errors::ParquetError::General(problem));
        }
        let mut next = values.iter().take(found);
        if found == records {
            out.extend(next.map(&mut number));
        } else {
            out.extend(levels.iter().map(|level| {
                if *level < there { f64::NAN } else { next.next().map_or(f64::NAN, &mut number) }
            }));
        }
    }
    Ok(out)
}
