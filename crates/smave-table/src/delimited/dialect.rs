//! How a text is delimited, and whether its first line names columns.

use std::io::Read;

use crate::cell::Cell;
use crate::error::{Error, Result};

use super::block::Block;

/// What separates values, and how numbers are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Dialect {
    pub delimiter: u8,
    pub decimal_comma: bool,
}

/// In the order in which they are believed.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Lines looked at.
const LINES: usize = 20;

impl Dialect {
    /// The delimiter that cuts the first lines into the same number of values, the more the better.
    pub fn detect(text: &[u8]) -> Self {
        let lines: Vec<Vec<usize>> = lines(text).take(LINES).map(count_delimiters).collect();
        let score = |which: usize| {
            let first = lines.first().map_or(0, |line| line[which]);
            let same = lines.iter().filter(|line| line[which] == first).count();
            // Most lines alike, then the number of values.
            if first == 0 { (0, 0) } else { (10 * same / lines.len().max(1), first) }
        };
        let best = (0..DELIMITERS.len()).rev().max_by_key(|&which| score(which)).unwrap_or(0);
        let delimiter = if score(best).1 == 0 { b',' } else { DELIMITERS[best] };
        Self { delimiter, decimal_comma: delimiter == b';' }
    }

    /// A reader of records in this dialect. A line feed comes before the text, or what looks like a byte order mark would
    /// be taken off it.
    pub fn reader<'a>(&self, text: &'a [u8]) -> csv::Reader<impl Read + 'a> {
        csv::ReaderBuilder::new()
            .delimiter(self.delimiter)
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            // As everywhere else: a carriage return is white space.
            .terminator(csv::Terminator::Any(b'\n'))
            .from_reader(b"\n".chain(text))
    }

    /// The names of the columns, taken off the beginning of the text if they are there; `None` if there is nothing.
    pub fn names(&self, first: &mut Block, file: &str) -> Result<Option<Vec<String>>> {
        let mut reader = self.reader(&first.text);
        let mut record = csv::ByteRecord::new();
        let broken = |error: csv::Error| Error::File { file: file.into(), problem: error.to_string() };
        if !reader.read_byte_record(&mut record).map_err(broken)? || record.is_empty() {
            return Ok(None);
        }
        let is_name = |cell: &[u8]| matches!(Cell::parse(cell, self.decimal_comma), Cell::Text(_));
        // A name may be left out (the index column of some programs), but a number is none.
        let named = record.iter().any(is_name)
            && !record.iter().any(|c| matches!(Cell::parse(c, self.decimal_comma), Cell::Number(_)));
        if !named {
            return Ok(Some((1..=record.len()).map(|i| format!("x{i}")).collect()));
        }
        let mut names = Vec::with_capacity(record.len());
        for (column, name) in record.iter().enumerate() {
            let name = std::str::from_utf8(name).map_err(|_| Error::Cell {
                file: file.into(),
                line: first.line,
                column: column + 1,
                name: String::from_utf8_lossy(name).into_owned(),
                problem: "the name is not UTF-8 text; is this a CSV file?".into(),
            })?;
            names.push(if name.is_empty() { format!("column {}", column + 1) } else { name.to_string() });
        }
        let length = offset(reader.position());
        drop(reader);
        first.skip(length);
        Ok(Some(names))
    }
}

/// A place in the text of [`Dialect::reader`].
pub(super) fn offset(position: &csv::Position) -> usize {
    (position.byte() as usize).saturating_sub(1)
}

/// Lines that are not empty, as far as quotes let them be told.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    text.split(move |&byte| {
        quoted ^= byte == b'"';
        byte == b'\n' && !quoted
    })
    .filter(|line| !line.trim_ascii().is_empty())
}

fn count_delimiters(line: &[u8]) -> Vec<usize> {
    let mut counts = vec![0; DELIMITERS.len()];
    let mut quoted = false;
    for &byte in line {
        quoted ^= byte == b'"';
        if !quoted && let Some(which) = DELIMITERS.iter().position(|&delimiter| delimiter == byte) {
            counts[which] += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_the_one_that_cuts_evenly() {
        let detect = |text: &str| Dialect::detect(text.as_bytes()).delimiter;
        assert_eq!(detect("a,b;c\n1,2;3\n4,5;6\n"), b',');
        assert_eq!(detect("a;b\n1,5;2,5\n3;4\n"), b';');
        assert_eq!(detect("a, b\tc\n1\t2\n3\t4\n"), b'\t');
        assert_eq!(detect("\"a,b,c\"|d\n1|2\n"), b'|');
        assert_eq!(detect("a\n1\n"), b',');
        assert_eq!(detect(""), b',');
    }
}
