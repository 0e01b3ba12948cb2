//! NumPy's files: one array (`.npy`) or several by name (`.npz`).

use std::fs::File;
use std::io::{BufReader, Read};

use npyz::npz::{NpzArchive, file_name_from_array_name};
use npyz::{DType, NpyFile, Order};

use crate::error::{Error, Result};
use crate::table::{Column, Table, Wanted, check_distinct};

/// One array of one or two dimensions; its columns are x1, x2, ...
pub fn read_npy(source: impl Read, file: &str, wanted: &Wanted) -> Result<Table> {
    let array = Array { flat: false, ..read_array(source, file, "")? };
    select(vec![array], vec!["X".into()], file, wanted)
}

/// All arrays of one or two dimensions and the same number of rows. An array of two dimensions named a has the
/// columns a1, a2, ...
pub fn read_npz(source: File, file: &str, wanted: &Wanted) -> Result<Table> {
    let broken = |error: std::io::Error| problem(file, "", format!("not a readable NPZ archive ({error})"));
    let mut archive = NpzArchive::new(BufReader::new(source)).map_err(broken)?;
    let mut keys: Vec<String> = archive.array_names().map(String::from).collect();
    // The archive lists them in any order.
    keys.sort();
    let mut arrays = Vec::new();
    for key in &keys {
        let entry = archive.zip_archive().by_name(&file_name_from_array_name(key));
        // Numbers are asked for one by one: without a buffer each would call the decompressor.
        let entry = BufReader::new(entry.map_err(|error| broken(error.into()))?);
        arrays.push(read_array(entry, file, key)?);
    }
    if let Some(other) = arrays.iter().find(|array| array.n_rows != arrays[0].n_rows) {
        let rows = format!("its arrays have {} and {} rows", arrays[0].n_rows, other.n_rows);
        return Err(problem(file, "", rows));
    }
    if arrays.is_empty() {
        return Err(Error::Empty { file: file.into() });
    }
    select(arrays, keys, file, wanted)
}

/// Bytes in a header, at the most. Only what is no plain array comes near.
const MAX_HEADER: usize = 1 << 16;

/// Brackets within brackets in a header: a plain array has two, and the library that reads it calls itself for each.
const MAX_DEPTH: usize = 8;

/// The bytes up to the data, if the library can be trusted with them.
fn read_header(source: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut header = vec![0; 10];
    source.read_exact(&mut header)?;
    let mut length = usize::from(u16::from_le_bytes([header[8], header[9]]));
    if header[6] > 1 {
        // Later versions have two more bytes for the length.
        let mut more = [0; 2];
        source.read_exact(&mut more)?;
        header.extend(more);
        length |= usize::from(u16::from_le_bytes(more)) << 16;
    }
    if length > MAX_HEADER {
        return Err(std::io::Error::other("its header is too long"));
    }
    let begin = header.len();
    header.resize(begin + length, 0);
    source.read_exact(&mut header[begin..])?;
    let mut depth = 0usize;
    for byte in &header[begin..] {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Err(std::io::Error::other("its header is too deep"));
        }
    }
    Ok(header)
}

/// How many numbers the header announces, or might if a size were not zero. The library that reads the rest multiplies
/// without looking.
fn entries(header: &[u8]) -> Option<u64> {
    let text = String::from_utf8_lossy(header);
    // Said twice, or in another spelling, it could be another shape that counts.
    if text.matches("shape").count() != 1 || text.contains('\\') {
        return None;
    }
    let shape = text.split_once("'shape':")?.1.split_once('(')?.1.split_once(')')?.0;
    let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
    sizes
        .map(|size| size.trim_end_matches('L').parse().ok())
        .try_fold(1u64, |all, size: Option<u64>| all.checked_mul(size?.max(1)))
}

/// An array as rows of numbers.
struct Array {
    /// Row after row.
    values: Vec<f64>,
    n_rows: usize,
    width: usize,
    /// Whether it has one dimension.
    flat: bool,
}

fn problem(file: &str, key: &str, problem: String) -> Error {
    let problem = if key.is_empty() { problem } else { format!("array '{key}': {problem}") };
    Error::File { file: file.into(), problem }
}

fn read_array(mut source: impl Read, file: &str, key: &str) -> Result<Array> {
    let broken = |error: std::io::Error| problem(file, key, format!("not a readable array ({error})"));
    let header = read_header(&mut source).map_err(broken)?;
    if entries(&header).is_none_or(|size| size > isize::MAX as u64 / 8) {
        return Err(problem(file, key, "its shape is no shape, or more than memory can hold".into()));
    }
    let array = NpyFile::new(header.chain(source)).map_err(broken)?;
    let header = array.header();
    let shape: Vec<usize> = header.shape().iter().map(|&size| size as usize).collect();
    let (n_rows, width) = match shape[..] {
        [n] => (n, 1),
        [n, p] => (n, p),
        _ => {
            let text = format!("it has {} dimensions; give one or two (rows, columns)", shape.len());
            return Err(problem(file, key, text));
        }
    };
    let (order, flat) = (header.order(), shape.len() == 1);
    let kind = match header.dtype() {
        DType::Plain(kind) => kind.to_string(),
        other => {
            return Err(problem(file, key, format!("its type is {}; give plain numbers", other.descr())));
        }
    };
    let read = match &kind[1..] {
        "f8" => array.into_vec::<f64>(),
        "f4" => widen(array.into_vec::<f32>()),
        "i8" => array.into_vec::<i64>().map(|values| values.into_iter().map(|v| v as f64).collect()),
        "i4" => widen(array.into_vec::<i32>()),
        "i2" => widen(array.into_vec::<i16>()),
        "i1" => widen(array.into_vec::<i8>()),
        "u8" => array.into_vec::<u64>().map(|values| values.into_iter().map(|v| v as f64).collect()),
        "u4" => widen(array.into_vec::<u32>()),
        "u2" => widen(array.into_vec::<u16>()),
        "u1" => widen(array.into_vec::<u8>()),
        "b1" => array.into_vec::<bool>().map(|values| values.into_iter().map(f64::from).collect()),
        _ => return Err(problem(file, key, format!("its type is {kind}; give numbers"))),
    };
    let mut values = read.map_err(broken)?;
    if order == Order::Fortran && width > 1 {
        let columns = values;
        values = (0..n_rows * width).map(|e| columns[e % width * n_rows + e / width]).collect();
    }
    Ok(Array { values, n_rows, width, flat })
}

fn widen<T: Into<f64>>(read: std::io::Result<Vec<T>>) -> std::io::Result<Vec<f64>> {
    read.map(|values| values.into_iter().map(Into::into).collect())
}

/// The wanted columns of arrays side by side, one name for each array.
fn select(mut arrays: Vec<Array>, keys: Vec<String>, file: &str, wanted: &Wanted) -> Result<Table> {
    let n_rows = arrays[0].n_rows;
    // Without rows, an array may claim any number of columns.
    if n_rows == 0 {
        return Err(Error::NoRows { file: file.into() });
    }
    let mut names = Vec::new();
    for (key, array) in keys.into_iter().zip(&arrays) {
        match (array.flat, &key[..]) {
            (true, _) => names.push(key),
            (false, "X") => names.extend((1..=array.width).map(|i| format!("x{i}"))),
            (false, key) => names.extend((1..=array.width).map(|i| format!("{key}{i}"))),
        }
    }
    check_distinct(&names, file)?;
    if let Some(name) = wanted.text.first() {
        let problem = "it holds numbers; texts can be read from CSV and Parquet files".into();
        return Err(Error::Column { file: file.into(), name: name.clone(), problem });
    }
    let places = wanted.places(&names, file)?;
    let whole = arrays.len() == 1 && places.iter().enumerate().all(|(to, &from)| to == from);
    let values = if whole && places.len() == names.len() {
        arrays.remove(0).values
    } else {
        // Which array a column is in, and where.
        let homes: Vec<(usize, usize)> =
            arrays.iter().enumerate().flat_map(|(a, array)| (0..array.width).map(move |c| (a, c))).collect();
        let entry = |row: usize, place: usize| {
            let (a, c) = homes[place];
            arrays[a].values[row * arrays[a].width + c]
        };
        (0..n_rows)
            .flat_map(|row| places.iter().map(move |&place| (row, place)))
            .map(|(r, c)| entry(r, c))
            .collect()
    };
    let columns: Vec<Column> =
        places.iter().map(|&place| Column { name: names[place].clone(), levels: None }).collect();
    Table::of_rows(file, columns, values)
}
