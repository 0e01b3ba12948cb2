//! Where a table comes from: a file or standard input, plain or compressed, told apart by its first bytes.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::error::{Error, Result};
use crate::table::{Table, Wanted};
use crate::{delimited, npy, parquet};

/// Bytes that tell formats apart.
const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const PARQUET: &[u8] = b"PAR1";
const NPY: &[u8] = b"\x93NUMPY";
const ZIP: &[u8] = b"PK\x03\x04";

/// Bytes looked at.
const HEAD: usize = 8;

impl Table {
    /// Reads a table: CSV or TSV (plain, gzip or Zstandard), Parquet, NPY or NPZ; `-` is standard input, which holds text.
    ///
    /// # Errors
    /// When it cannot be read, or is not a table; the message says where.
    pub fn read(path: &Path, wanted: &Wanted) -> Result<Self> {
        let file = path.display().to_string();
        let io = |source| Error::Io { file: file.clone(), source };
        if path == Path::new("-") {
            let (head, rest) = peek(std::io::stdin().lock()).map_err(io)?;
            return read_text(&head, rest, "standard input", wanted, path);
        }
        let mut opened = File::open(path).map_err(io)?;
        let mut head = [0; HEAD];
        let length = fill(&mut opened, &mut head).map_err(io)?;
        opened.seek(SeekFrom::Start(0)).map_err(io)?;
        match &head[..length] {
            head if head.starts_with(PARQUET) => parquet::read(opened, &file, wanted),
            head if head.starts_with(NPY) => npy::read_npy(BufReader::new(opened), &file, wanted),
            head if head.starts_with(ZIP) => npy::read_npz(opened, &file, wanted),
            head => read_text(head, opened, &file, wanted, path),
        }
    }
}

fn read_text(head: &[u8], source: impl Read, file: &str, wanted: &Wanted, path: &Path) -> Result<Table> {
    let binary = |what| Err(Error::Unsupported { path: path.into(), what });
    match head {
        head if head.starts_with(GZIP) => delimited::read(MultiGzDecoder::new(source), file, wanted),
        head if head.starts_with(ZSTD) => {
            let decoder =
                zstd::Decoder::new(source).map_err(|source| Error::Io { file: file.into(), source })?;
            delimited::read(decoder, file, wanted)
        }
        head if [PARQUET, NPY, ZIP].iter().any(|magic| head.starts_with(magic)) => {
            binary("not text: a binary file has to be given by its name, not through standard input")
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => binary("UTF-16 text: save it as UTF-8"),
        [0xd0, 0xcf, 0x11, 0xe0, ..] => binary("an old Excel workbook: save the sheet as CSV"),
        _ => delimited::read(source, file, wanted),
    }
}

/// The first bytes, and everything with those bytes still in front.
fn peek(mut source: impl Read) -> std::io::Result<(Vec<u8>, impl Read)> {
    let mut head = vec![0; HEAD];
    let length = fill(&mut source, &mut head)?;
    head.truncate(length);
    Ok((head.clone(), std::io::Cursor::new(head).chain(source)))
}

/// Reads until the buffer is full or the source ends.
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match source.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
