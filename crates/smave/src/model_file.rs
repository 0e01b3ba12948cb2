//! A fitted model as one JSON file.
//!
//! | field | holds |
//! |---|---|
//! | `format` | always `"smave-model"` |
//! | `version` | version of this layout, now 1 |
//! | `software` | name and version of the program that wrote it |
//! | `method` | the estimator, as named on the command line |
//! | `target` | name of the response, if it had one |
//! | `n_samples` | rows the model was fitted on |
//! | `n_neighbors` | neighbors per local regression, or null |
//! | `seed` | seed of the fit, or null |
//! | `features` | one object per covariate: `name`, `center`, `scale` |
//! | `directions` | one object per direction: `eigenvalue`, `loadings` (the column of the orthonormal basis) |
//! | `stop_reason` | why the fit ended |
//! | `starts` | for methods that race starts, how each fared: `name`, `loo_error`, `rungs`, `angle` |
//! | `loo_error` | mean squared leave-one-out prediction error, for methods that compute it |
//! | `trace` | one object per iteration: `iteration`, `objective`, `gradient_norm`, `moved` |
//!
//! Numbers are written so that reading gives back the same bits. Writing goes to
//! a temporary file in the same folder that is renamed at the end: a reader never sees half a
//! file, and a failed write leaves the old one in place.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::data::standardize::Standardization;
use crate::error::{Error, Result};
use crate::estimator::reduction::{Reduction, Start};
use crate::linalg::{Mat, norm};
use crate::optim::trace::{Iteration, StopReason};

const FORMAT: &str = "smave-model";
const VERSION: u64 = 1;

/// A reduction and what belongs to it.
#[derive(Clone, Debug)]
pub struct Model {
    /// The fitted reduction.
    pub reduction: Reduction,
    /// The name of the response, if it had one.
    pub target: Option<String>,
}

/// Read before anything else, so that a file of another kind or version is told apart from a broken one.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layout {
    format: String,
    version: u64,
    software: String,
    method: String,
    target: Option<String>,
    n_samples: usize,
    n_neighbors: Option<usize>,
    seed: Option<u64>,
    features: Vec<Feature>,
    directions: Vec<Direction>,
    stop_reason: StopReason,
    trace: Vec<Iteration>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    starts: Vec<Start>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loo_error: Option<f64>,
}

#[derive(Serialize, Deserialize)]
struct Feature {
    name: String,
    center: f64,
    scale: f64,
}

#[derive(Serialize, Deserialize)]
struct Direction {
    eigenvalue: f64,
    loadings: Vec<f64>,
}

impl Model {
    /// Writes the model to `path`, replacing what was there only when all is written.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let layout = self.to_layout();
        write_atomically(path.as_ref(), |out| {
            serde_json::to_writer_pretty(&mut *out, &layout)?;
            out.write_all(b"\n")
        })
    }

    /// Reads a model from `path`.
    ///
    /// # Errors
    /// When the file cannot be read, is not a model, is of a newer version, or contradicts itself.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let io = |source| Error::Io { action: "read", path: path.into(), source };
        let mut text = Vec::new();
        BufReader::new(File::open(path).map_err(io)?).read_to_end(&mut text).map_err(io)?;
        Self::parse(&text).map_err(|reason| Error::ModelFile { path: path.into(), reason })
    }

    fn to_layout(&self) -> Layout {
        let r = &self.reduction;
        let columns = r.standardization.center().iter().zip(r.standardization.scale());
        Layout {
            format: FORMAT.into(),
            version: VERSION,
            software: concat!("smave ", env!("CARGO_PKG_VERSION")).into(),
            method: r.method.clone(),
            target: self.target.clone(),
            n_samples: r.n_samples,
            n_neighbors: r.n_neighbors,
            seed: r.seed,
            features: (r.names.iter().zip(columns))
                .map(|(name, (&center, &scale))| Feature { name: name.clone(), center, scale })
                .collect(),
            directions: (r.eigenvalues.iter().enumerate())
                .map(|(j, &eigenvalue)| Direction {
                    eigenvalue,
                    loadings: r.basis.col(j).iter().copied().collect(),
                })
                .collect(),
            stop_reason: r.stop_reason,
            trace: r.trace.clone(),
            starts: r.starts.clone(),
            loo_error: r.loo_error,
        }
    }

    fn parse(text: &[u8]) -> std::result::Result<Self, String> {
        if text.is_empty() {
            return Err("it is empty; fit the model again".into());
        }
        let header: Header = serde_json::from_slice(text).map_err(|error| {
            if error.is_data() {
                format!("it is JSON, but not a model ({error}); give a file written by `smave fit`")
            } else {
                format!("it is not complete JSON ({error}); it may be cut off or another kind of file")
            }
        })?;
        if header.format != FORMAT {
            return Err(format!("its format is '{}', not '{FORMAT}'", header.format));
        }
        if header.version > VERSION {
            return Err(format!(
                "it has format version {}, and this program reads up to {VERSION}: update smave",
                header.version
            ));
        }
        let layout: Layout =
            serde_json::from_slice(text).map_err(|error| format!("a field is missing or wrong ({error})"))?;
        layout.into_model()
    }
}

impl Layout {
    fn into_model(self) -> std::result::Result<Model, String> {
        let (p, d) = (self.features.len(), self.directions.len());
        if d == 0 || d > p {
            return Err(format!("it has {d} directions for {p} features"));
        }
        if let Some((j, found)) = self
            .directions
            .iter()
            .map(|direction| direction.loadings.len())
            .enumerate()
            .find(|(_, len)| *len != p)
        {
            return Err(format!("direction {j} has {found} loadings for {p} features"));
        }
        let basis = Mat::from_fn(p, d, |i, j| self.directions[j].loadings[i]);
        let defect = norm((basis.transpose() * &basis - Mat::<f64>::identity(d, d)).as_ref());
        // A basis that was written by us is orthonormal to rounding.
        if defect.is_nan() || defect > 1e-8 {
            return Err("its directions are not orthonormal: the file was altered".into());
        }
        let (names, scaling): (Vec<_>, Vec<_>) =
            self.features.into_iter().map(|f| (f.name, (f.center, f.scale))).unzip();
        let (center, scale) = scaling.into_iter().unzip();
        let standardization = Standardization::new(center, scale).map_err(|error| error.to_string())?;
        Ok(Model {
            target: self.target,
            reduction: Reduction {
                method: self.method,
                basis,
                eigenvalues: self.directions.iter().map(|direction| direction.eigenvalue).collect(),
                standardization,
                names,
                n_samples: self.n_samples,
                n_neighbors: self.n_neighbors,
                seed: self.seed,
                trace: self.trace,
                stop_reason: self.stop_reason,
                starts: self.starts,
                loo_error: self.loo_error,
            },
        })
    }
}

/// Writes a file under a temporary name in the same folder, then renames it.
///
/// # Errors
/// When the folder or the file cannot be written; what was at `path` is then still there.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<()> {
    let attempt = || -> std::io::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            // A temporary file is private by default; a result should be as readable as any other.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let mut out = BufWriter::new(builder.prefix(".smave-").tempfile_in(folder)?);
        write(&mut out)?;
        let file = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    attempt().map_err(|source| Error::Io { action: "write", path: path.into(), source })
}
