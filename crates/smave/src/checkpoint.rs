//! Long work that can be taken up again: what is done is kept in a file.
//!
//! A [`Checkpoint`] is a JSON file of finished pieces by name: the starts of a fit, its rounds so far, the replicates of a
//! bootstrap. Work looks a piece up before it makes it, and keeps it when it is made. Because every piece is a function of
//! data, settings and seed alone, and numbers are written so that reading gives back the same bits, work that was
//! interrupted ends with the same bits as work that was not.
//!
//! The file begins with a fingerprint of data and settings: pieces of other work are refused, not mixed up. It is
//! written at most every other second or as often as asked for, under a temporary name that is then renamed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::data::dataset::Dataset;
use crate::data::design::Rows;
use crate::error::{Error, Result};
use crate::file::write_atomically;
use crate::linalg::{Mat, MatRef};

const FORMAT: &str = "smave-checkpoint";

/// Time between two writings of the file, unless another is asked for.
const INTERVAL: Duration = Duration::from_secs(2);

/// Finished pieces of long work, in memory and in a file. See the [module](self).
#[derive(Debug)]
pub struct Checkpoint {
    path: PathBuf,
    fingerprint: String,
    every: Duration,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    pieces: BTreeMap<String, Value>,
    written: Instant,
    /// Whether there are pieces that the file does not hold.
    ahead: bool,
}

#[derive(Serialize, Deserialize)]
struct Layout {
    format: String,
    software: String,
    fingerprint: String,
    pieces: BTreeMap<String, Value>,
}

const SOFTWARE: &str = concat!("smave ", env!("CARGO_PKG_VERSION"));

impl Checkpoint {
    /// Takes up the file at `path`, or begins one, for work on `data` with `settings`: everything but the data that the
    /// result depends on.
    ///
    /// # Errors
    /// When the file cannot be read, is not a checkpoint, or is one of other data or settings.
    pub fn open(path: impl Into<PathBuf>, settings: &impl Serialize, data: &Dataset<'_>) -> Result<Self> {
        let path = path.into();
        let fingerprint = fingerprint(settings, data)?;
        let pieces = match std::fs::read(&path) {
            Ok(text) => parse(&text, &fingerprint)
                .map_err(|reason| Error::Checkpoint { path: path.clone(), reason })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => BTreeMap::new(),
            Err(source) => return Err(Error::Io { action: "read", path, source }),
        };
        let kept = Mutex::new(Kept { pieces, written: Instant::now(), ahead: false });
        Ok(Self { path, fingerprint, every: INTERVAL, kept })
    }

    /// Time between two writings of the file, at the least; 2 seconds by default.
    pub fn every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many pieces there are.
    pub fn len(&self) -> usize {
        self.lock().pieces.len()
    }

    /// Whether nothing is done yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the file, if there is anything new.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self) -> Result<()> {
        self.write(&mut self.lock())
    }

    /// Removes the file: the work is done.
    ///
    /// # Errors
    /// When there is one and it cannot be removed.
    pub fn remove(self) -> Result<()> {
        self.lock().ahead = false;
        match std::fs::remove_file(&self.path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::Io { action: "remove", path: self.path.clone(), source })
            }
            _ => Ok(()),
        }
    }

    /// The piece of that name, if it was made before.
    pub(crate) fn recall<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        T::deserialize(self.lock().pieces.get(name)?).ok()
    }

    /// Keeps a piece.
    pub(crate) fn keep(&self, name: &str, piece: &impl Serialize) -> Result<()> {
        let piece = serde_json::to_value(piece)
            .map_err(|error| Error::Checkpoint { path: self.path.clone(), reason: error.to_string() })?;
        let mut kept = self.lock();
        kept.pieces.insert(name.into(), piece);
        kept.ahead = true;
        if kept.written.elapsed() >= self.every { self.write(&mut kept) } else { Ok(()) }
    }

    /// Whether it is time to write the file again. A piece that grows is kept only then.
    pub(crate) fn is_due(&self) -> bool {
        self.lock().written.elapsed() >= self.every
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, kept: &mut Kept) -> Result<()> {
        if !kept.ahead {
            return Ok(());
        }
        let layout = Layout {
            format: FORMAT.into(),
            software: SOFTWARE.into(),
            fingerprint: self.fingerprint.clone(),
            pieces: std::mem::take(&mut kept.pieces),
        };
        let written = write_atomically(&self.path, |out| Ok(serde_json::to_writer(out, &layout)?));
        kept.pieces = layout.pieces;
        (kept.written, kept.ahead) = (Instant::now(), written.is_err());
        written
    }
}

impl Drop for Checkpoint {
    /// Work that ends early leaves behind what it has done.
    fn drop(&mut self) {
        // There is nobody to tell; what was written before is still there.
        let _ = self.save();
    }
}

fn parse(text: &[u8], fingerprint: &str) -> std::result::Result<BTreeMap<String, Value>, String> {
    let layout: Layout = serde_json::from_slice(text)
        .map_err(|error| format!("it is not a checkpoint ({error}); give another name"))?;
    if layout.format != FORMAT {
        return Err(format!("it is not a checkpoint but '{}'; give another name", layout.format));
    }
    if layout.software != SOFTWARE {
        return Err(format!(
            "it was written by {}, and this is {SOFTWARE}; delete it to begin anew",
            layout.software
        ));
    }
    if layout.fingerprint != fingerprint {
        return Err(
            "it belongs to other data or other settings; delete it to begin anew, or give another name"
                .into(),
        );
    }
    Ok(layout.pieces)
}

/// Differs where data or settings do: a checksum of the settings, and one of responses, weights and X times a vector
/// in which every covariate has a weight of its own.
fn fingerprint(settings: &impl Serialize, data: &Dataset<'_>) -> Result<String> {
    let settings = serde_json::to_vec(settings).map_err(|error| Error::InvalidParameter {
        name: "settings",
        value: error.to_string(),
        requirement: "what can be written as JSON".into(),
    })?;
    let p = data.n_features();
    let weights = Mat::from_fn(p, 1, |i, _| (1.0 + i as f64).sqrt());
    let z = data.x().project(weights.as_ref(), Rows::All)?;
    let mut hash = crc32fast::Hasher::new();
    let numbers = [z.values(), data.weights().unwrap_or(&[])];
    for value in numbers.into_iter().chain(data.raw_responses().iter()).flatten() {
        hash.update(&value.to_le_bytes());
    }
    let names = data.names().join("\n");
    Ok(format!(
        "{:08x}-{:08x}-{:08x}-{}x{p}",
        crc32fast::hash(&settings),
        hash.finalize(),
        crc32fast::hash(names.as_bytes()),
        data.n_samples()
    ))
}

/// A matrix among the pieces, column after column.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Stored {
    rows: usize,
    values: Vec<f64>,
}

impl From<MatRef<'_, f64>> for Stored {
    fn from(a: MatRef<'_, f64>) -> Self {
        let entries = (0..a.ncols()).flat_map(|j| (0..a.nrows()).map(move |i| (i, j)));
        Self { rows: a.nrows(), values: entries.map(|place| a[place]).collect() }
    }
}

impl Stored {
    /// The matrix, if it has that shape.
    pub fn matrix(&self, rows: usize, columns: usize) -> Option<Mat<f64>> {
        let fits = self.rows == rows && self.values.len() == rows * columns;
        fits.then(|| Mat::from_fn(rows, columns, |i, j| self.values[j * rows + i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dense::Dense;

    fn data(last: f64) -> Dataset<'static> {
        let x = vec![1.0, 2.0, 3.0, 5.0, 8.0, last];
        Dataset::new(Dense::new(x, 3, 2).unwrap(), vec![1.0, 2.0, 4.0]).unwrap()
    }

    #[test]
    fn pieces_come_back_with_all_their_bits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        let a = Mat::from_fn(3, 2, |i, j| (0.1 + i as f64 - 3.0 * j as f64).exp() / 3.0);
        let checkpoint = Checkpoint::open(&path, &"settings", &data(7.0)).unwrap();
        assert!(checkpoint.is_empty() && checkpoint.recall::<Stored>("a").is_none());
        checkpoint.keep("a", &Stored::from(a.as_ref())).unwrap();
        drop(checkpoint);
        let checkpoint = Checkpoint::open(&path, &"settings", &data(7.0)).unwrap();
        let found: Stored = checkpoint.recall("a").unwrap();
        assert_eq!(found.matrix(3, 2).unwrap(), a);
        // Another shape or another type is as good as nothing.
        assert!(found.matrix(2, 3).is_none() && checkpoint.recall::<Vec<String>>("a").is_none());
        checkpoint.remove().unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn other_work_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.json");
        Checkpoint::open(&path, &1, &data(7.0)).unwrap().keep("a", &1).unwrap();
        let reason = |settings: i32, last: f64| match Checkpoint::open(&path, &settings, &data(last)) {
            Err(Error::Checkpoint { reason, .. }) => reason,
            other => panic!("{other:?}"),
        };
        assert!(reason(2, 7.0).contains("other settings") && reason(1, 7.5).contains("other data"));
        std::fs::write(&path, "{}").unwrap();
        assert!(reason(1, 7.0).contains("not a checkpoint"));
    }
}
