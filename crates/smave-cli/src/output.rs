//! Where results go: text for people, JSON for machines.

use std::io::{StdoutLock, Write, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use smave::file::write_atomically;

/// The name that stands for standard output.
const STANDARD: &str = "-";

/// Standard output, and the file for JSON if there is one.
///
/// It is written to like a file: that is the text for people, and it disappears if nobody wants it or something else goes to
/// standard output.
pub struct Output {
    out: StdoutLock<'static>,
    json: Option<PathBuf>,
    silent: bool,
}

impl Output {
    /// `taken` says that a result itself goes to standard output.
    pub fn new(quiet: bool, json: Option<PathBuf>, taken: bool) -> Self {
        let silent = quiet || taken || json.as_deref().is_some_and(is_standard);
        Self { out: stdout().lock(), json, silent }
    }

    /// Writes the results of a command where `--json` says, all of them or nothing.
    pub fn json(&mut self, results: &impl Serialize) -> Result<()> {
        let Some(path) = &self.json else { return Ok(()) };
        let mut text = serde_json::to_string_pretty(results).context("cannot write the results as JSON")?;
        text.push('\n');
        if is_standard(path) {
            return Ok(self.out.write_all(text.as_bytes())?);
        }
        write_atomically(path, |file| file.write_all(text.as_bytes()))?;
        let line = format!("results: {}", path.display());
        Ok(writeln!(self, "{line}")?)
    }

    /// Writes a CSV file, all of it or nothing; or to standard output.
    pub fn csv(
        &mut self,
        path: &Path,
        header: impl IntoIterator<Item = String>,
        rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Result<()> {
        let write = |out: &mut dyn Write| {
            let mut writer = csv::Writer::from_writer(out);
            writer.write_record(header)?;
            for row in rows {
                writer.write_record(row)?;
            }
            writer.flush()
        };
        if is_standard(path) { Ok(write(&mut self.out)?) } else { Ok(write_atomically(path, write)?) }
    }
}

/// Whether a path means standard output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new(STANDARD)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.silent { Ok(bytes.len()) } else { self.out.write(bytes) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
