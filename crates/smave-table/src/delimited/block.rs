//! Blocks of whole lines, and the rows in them.

use std::collections::HashMap;
use std::io::Read;

use crate::cell::{Cell, is_date};
use crate::error::{Error, Result};
use crate::table::{MAX_LEVELS, MISSING_SHOWN, Wanted};

use super::dialect::{Dialect, offset};

/// Bytes in a block: enough to be worth a thread's while, little beside the table.
pub(super) const BLOCK: usize = 1 << 19;

/// Records from which it is decided what a column holds.
const SAMPLE: usize = 1000;

/// Some whole lines.
pub(super) struct Block {
    pub text: Vec<u8>,
    /// The number of the first, counted from 1.
    pub line: u64,
}

impl Block {
    /// Takes some bytes off the beginning.
    pub fn skip(&mut self, length: usize) {
        let length = length.min(self.text.len());
        self.line += count_lines(&self.text[..length]);
        self.text.drain(..length);
    }

    /// Takes off empty lines before the first that is not.
    pub fn skip_empty_lines(&mut self) {
        let blank = self.text.len() - self.text.trim_ascii_start().len();
        let line_end = self.text[..blank].iter().rposition(|byte| *byte == b'\n');
        let end = line_end.map_or(0, |at| at + 1);
        self.skip(if blank == self.text.len() { blank } else { end });
    }
}

/// Lines that end in a text.
fn count_lines(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// A text, block by block.
pub(super) struct Blocks<'a, R> {
    source: R,
    file: &'a str,
    size: usize,
    /// What has been read beyond the last block.
    rest: Vec<u8>,
    line: u64,
    ended: bool,
    /// Whether nothing has been looked at yet.
    begins: bool,
    /// How values are delimited, once there is a block.
    dialect: Option<Dialect>,
}

/// What some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a, R: Read> Blocks<'a, R> {
    pub fn of_size(source: R, file: &'a str, size: usize) -> Self {
        Self { source, file, size, rest: Vec::new(), line: 1, ended: false, begins: true, dialect: None }
    }

    /// The first block without a byte order mark, and how values are delimited, which is seen there; `None` if there is
    /// nothing.
    pub fn first(&mut self) -> Result<Option<(Block, Dialect)>> {
        let block = self.next()?;
        Ok(block.zip(self.dialect))
    }

    /// The next block, which ends with the last line that ends in it, or with the text.
    pub fn next(&mut self) -> Result<Option<Block>> {
        let mut text = std::mem::take(&mut self.rest);
        let (end, dialect) = loop {
            if !self.ended {
                let begin = text.len();
                // What is looked at again and again must grow, or a long line would take its length squared.
                let more = self.size.max(begin);
                let read = self.source.by_ref().take(more as u64).read_to_end(&mut text);
                let length = read.map_err(|source| Error::Io { file: self.file.into(), source })?;
                self.ended = length < more;
            }
            if self.begins && text.len() >= BYTE_ORDER_MARK.len() {
                self.begins = false;
                if text.starts_with(BYTE_ORDER_MARK) {
                    text.drain(..BYTE_ORDER_MARK.len());
                }
            }
            let dialect = self.dialect.unwrap_or_else(|| Dialect::detect(&text));
            let quotes = Quotes::of(&text, dialect.delimiter);
            if let (true, Some(open)) = (self.ended, quotes.open) {
                let line = self.line + count_lines(&text[..open]);
                let problem = format!("line {line}: a quotation mark is opened and never closed");
                return Err(Error::File { file: self.file.into(), problem });
            }
            match quotes.line_end {
                _ if self.ended => break (text.len(), dialect),
                Some(end) => break (end, dialect),
                // A line, or something quoted, longer than a block.
                None => {}
            }
        };
        (self.begins, self.dialect) = (false, Some(dialect));
        if text.is_empty() {
            return Ok(None);
        }
        self.rest = text.split_off(end);
        let line = self.line;
        self.line += count_lines(&text);
        Ok(Some(Block { text, line }))
    }
}

/// Where quotes leave a text.
struct Quotes {
    /// The place after the last line end that is not within quotes.
    line_end: Option<usize>,
    /// A quotation mark that is not closed.
    open: Option<usize>,
}

impl Quotes {
    fn of(text: &[u8], delimiter: u8) -> Self {
        if !text.contains(&b'"') {
            let line_end = text.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
            return Self { line_end, open: None };
        }
        let mut found = Self { line_end: None, open: None };
        // Only at the beginning of a value does a quotation mark open anything: 5" is five inches.
        let mut begins = true;
        let mut at = 0;
        while at < text.len() {
            match (text[at], found.open) {
                (b'"', None) if begins => found.open = Some(at),
                // Two stand for one.
                (b'"', Some(_)) if text.get(at + 1) == Some(&b'"') => at += 1,
                (b'"', Some(_)) => found.open = None,
                (b'\n', None) => found.line_end = Some(at + 1),
                _ => {}
            }
            begins = text[at] == delimiter || text[at] == b'\n';
            at += 1;
        }
        found
    }
}

/// What is read from each line, and as what.
pub(super) struct Layout<'a> {
    file: &'a str,
    /// Of all columns of the file.
    pub names: Vec<String>,
    /// Columns that are read.
    pub places: Vec<usize>,
    /// Whether each of them holds text.
    pub is_text: Vec<bool>,
    /// Whether text there is an error whatever comes first.
    must_be_number: Vec<bool>,
    /// For each column of the file, where it goes.
    target: Vec<Option<usize>>,
    dialect: Dialect,
}

/// The rows of a block.
#[derive(Default)]
pub(super) struct Parsed {
    /// Row after row; texts as places in `levels`.
    pub values: Vec<f64>,
    /// For each column that is read its texts, and the line where each comes first.
    pub levels: Vec<Vec<(String, u64)>>,
    /// Lines and columns, the first few.
    pub missing: Vec<(u64, usize)>,
}

impl<'a> Layout<'a> {
    /// Decides from the first lines what each column holds.
    pub fn new(
        file: &'a str,
        names: Vec<String>,
        places: Vec<usize>,
        dialect: Dialect,
        wanted: &Wanted,
        first: &Block,
    ) -> Result<Self> {
        let listed = |list: &[String], place: usize| list.contains(&names[place]);
        let must_be_number: Vec<bool> = places.iter().map(|&place| listed(&wanted.numbers, place)).collect();
        // A category holds more texts than numbers; a few texts among numbers are mistakes.
        let mut balance = vec![0i64; places.len()];
        for record in dialect.reader(&first.text).byte_records().take(SAMPLE) {
            let Ok(record) = record else { break };
            for (&place, balance) in places.iter().zip(&mut balance) {
                let cell = record.get(place).unwrap_or_default();
                *balance += match Cell::parse(cell, dialect.decimal_comma) {
                    Cell::Text(_) => 1,
                    Cell::Missing => 0,
                    Cell::Number(_) | Cell::NotFinite(_) => -1,
                };
            }
        }
        let text = |(to, &place): (usize, &usize)| {
            listed(&wanted.text, place) || (balance[to] > 0 && !must_be_number[to])
        };
        let is_text: Vec<bool> = places.iter().enumerate().map(text).collect();
        let mut target = vec![None; names.len()];
        places.iter().enumerate().for_each(|(to, &from)| target[from] = Some(to));
        Ok(Self { file, names, places, is_text, must_be_number, target, dialect })
    }

    /// The rows of a block.
    pub fn parse(&self, block: &Block) -> Result<Parsed> {
        let width = self.places.len();
        let mut rows = Rows {
            layout: self,
            parsed: Parsed { levels: vec![Vec::new(); width], ..Parsed::default() },
            codes: vec![HashMap::new(); width],
        };
        if block.text.contains(&b'"') {
            self.parse_quoted(block, &mut rows)?;
        } else {
            let lines = split(&block.text, b'\n').zip(block.line..);
            for (line, number) in lines.filter(|(line, _)| !line.trim_ascii().is_empty()) {
                rows.add(split(line, self.dialect.delimiter), number)?;
            }
        }
        Ok(rows.parsed)
    }

    fn parse_quoted(&self, block: &Block, rows: &mut Rows<'_, '_>) -> Result<()> {
        let mut reader = self.dialect.reader(&block.text);
        let mut record = csv::ByteRecord::new();
        let mut line = block.line;
        loop {
            let begin = offset(reader.position());
            let more = reader
                .read_byte_record(&mut record)
                .map_err(|error| Error::File { file: self.file.into(), problem: error.to_string() })?;
            if !more {
                return Ok(());
            }
            // Empty lines come with the record after them, and are one of their own if there is white space in them.
            let raw = &block.text[begin..offset(reader.position())];
            let text = raw.trim_ascii_start();
            if !text.is_empty() {
                rows.add(record.iter(), line + count_lines(&raw[..raw.len() - text.len()]))?;
            }
            line += count_lines(raw);
        }
    }

    fn cell_error(&self, column: usize, line: u64, problem: String) -> Error {
        let place = self.places[column];
        let (file, name) = (self.file.into(), self.names[place].clone());
        Error::Cell { file, line, column: place + 1, name, problem }
    }

    /// Refuses a text that makes of a column something else than a category; so many are known already.
    pub fn check_level(&self, column: usize, known: usize, text: &str, line: u64) -> Result<()> {
        let name = &self.names[self.places[column]];
        if is_date(text) {
            let problem = format!(
                "'{text}' is a date, which is no number; drop the column with --drop {name}, or put numbers in its \
                 place, such as the year, the month or the days since the first"
            );
            return Err(self.cell_error(column, line, problem));
        }
        if known >= MAX_LEVELS {
            let problem = format!(
                "'{text}' is one too many: the column holds more than {MAX_LEVELS} different texts, too many for a \
                 category; drop it with --drop {name}, or code it as numbers"
            );
            return Err(self.cell_error(column, line, problem));
        }
        Ok(())
    }
}

/// The parts of a text between the places of a byte. Cells are long enough for `memchr` to be faster than looking at one
/// byte after the other.
fn split(text: &[u8], byte: u8) -> impl Iterator<Item = &[u8]> {
    let mut begin = 0;
    memchr::memchr_iter(byte, text).chain([text.len()]).map(move |end| {
        let part = &text[begin..end];
        begin = end + 1;
        part
    })
}

/// Rows in the making.
struct Rows<'a, 'l> {
    layout: &'a Layout<'l>,
    parsed: Parsed,
    /// The place of each text in `parsed.levels`.
    codes: Vec<HashMap<Vec<u8>, usize>>,
}

impl Rows<'_, '_> {
    fn add<'c>(&mut self, cells: impl Iterator<Item = &'c [u8]>, line: u64) -> Result<()> {
        let layout = self.layout;
        let begin = self.parsed.values.len();
        self.parsed.values.resize(begin + layout.places.len(), f64::NAN);
        let mut found = 0;
        for cell in cells {
            if let Some(&Some(to)) = layout.target.get(found) {
                let value = self.value(cell, to, line)?;
                self.parsed.values[begin + to] = value;
            }
            found += 1;
        }
        if found != layout.names.len() {
            let (file, expected) = (layout.file.into(), layout.names.len());
            return Err(Error::Ragged { file, line, expected, found });
        }
        Ok(())
    }

    fn value(&mut self, cell: &[u8], to: usize, line: u64) -> Result<f64> {
        let layout = self.layout;
        let found = Cell::parse(cell, layout.dialect.decimal_comma);
        let shown = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        match found {
            Cell::Missing => {
                if self.parsed.missing.len() < MISSING_SHOWN {
                    self.parsed.missing.push((line, to));
                }
                Ok(f64::NAN)
            }
            _ if layout.is_text[to] => self.code(cell.trim_ascii(), to, line),
            Cell::Number(value) => Ok(value),
            Cell::NotFinite(text) => {
                let problem = format!(
                    "'{}' is not a finite number; remove the row or correct the value first",
                    shown(text)
                );
                Err(layout.cell_error(to, line, problem))
            }
            Cell::Text(text) => {
                let text = shown(text);
                let problem = if layout.must_be_number[to] {
                    format!(
                        "the column must be numeric, but '{text}' is text; choose another or code it as numbers"
                    )
                } else {
                    {
                        let name = &layout.names[layout.places[to]];
                        format!(
                            "'{text}' is not a number, as most values of the column; correct it, leave the column out with \
                         --drop {name}, or say with --categorical {name} that it is a category"
                        )
                    }
                };
                Err(layout.cell_error(to, line, problem))
            }
        }
    }

    /// The place of a text among those of its column.
    fn code(&mut self, text: &[u8], to: usize, line: u64) -> Result<f64> {
        if let Some(&code) = self.codes[to].get(text) {
            return Ok(code as f64);
        }
        let levels = &mut self.parsed.levels[to];
        let level = String::from_utf8_lossy(text).into_owned();
        // Bytes that are not UTF-8 all look the same.
        let known = levels.iter().position(|(known, _)| *known == level);
        let code = known.unwrap_or(levels.len());
        if known.is_none() {
            self.layout.check_level(to, levels.len(), &level, line)?;
            levels.push((level, line));
        }
        self.codes[to].insert(text.to_vec(), code);
        Ok(code as f64)
    }
}
