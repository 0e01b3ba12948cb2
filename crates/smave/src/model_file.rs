//! A fitted model as one JSON file.
//!
//! | field | holds |
//! |---|---|
//! | `format` | always `"smave-model"` |
//! | `version` | version of this layout, now 3 |
//! | `checksum` | CRC-32 of the other fields, as compact JSON with an empty checksum, in hexadecimal |
//! | `software` | name and version of the program that wrote it |
//! | `method` | the estimator, as named on the command line |
//! | `target` | name of the response, if it had one |
//! | `n_samples` | rows the model was fitted on |
//! | `n_neighbors` | neighbors per local regression, or null |
//! | `seed` | seed of the fit, or null |
//! | `settings` | every setting of the estimator, by name; from the command line also `command`, what was typed |
//! | `features` | one object per covariate: `name`, `center`, `scale` |
//! | `encoding` | where covariates are not just columns of their names, one object per column of the table: `name`, `levels` (texts; each but the first is a covariate `name=level`), `fill` (what stands in for a missing value in each covariate made of it) |
//! | `directions` | one object per direction: `eigenvalue`, `loadings` (the column of the orthonormal basis) |
//! | `stop_reason` | why the fit ended |
//! | `starts` | for methods that race starts, how each fared: `name`, `loo_error`, `rungs`, `angle` |
//! | `loo_error` | mean squared leave-one-out prediction error, for methods that compute it |
//! | `trace` | one object per iteration: `iteration`, `objective`, `gradient_norm`, `moved` |
//! | `prediction` | for a model that predicts, the regression on the reduced coordinates: `regression` (`local-linear` or `nearest-neighbors`), `n_neighbors`, `coordinates` (one list per training row), `responses`, `weights` (how often each row counts, if not once), `reach2` (squared distance to the (d + 1)-th nearest row beyond which a query is outside), `calibration` (`leave-one-out` or `held-out`), `errors` (absolute held-out errors, increasing), `loo_error` |
//!
//! | `further` | where there are several responses, one object for each but the first: `target` and `prediction`, the latter with an empty list of `coordinates`, which are those of the first |
//!
//! Version 1 had no `checksum`, `settings` and `prediction`; such files are read, and reduce but do not
//! predict. Version 2 had no `encoding` and `further`. Numbers are written so that reading gives back the same bits. Writing goes to
//! a temporary file in the same folder that is renamed at the end: a reader never sees half a
//! file, and a failed write leaves the old one in place.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, PrettyFormatter};

use crate::data::dataset::Dataset;
use crate::data::design::{Design, expect_size};
use crate::data::encoding::SourceColumn;
use crate::data::standardize::Standardization;
use crate::error::{Error, Result};
use crate::estimator::Estimator;
use crate::estimator::reduction::{Reduction, Start};
use crate::file::write_atomically;
use crate::linalg::{Mat, Points, norm};
use crate::optim::trace::{Iteration, Observer, StopReason};
use crate::predict::{Calibration, Prediction, Predictor, Regression, TrainingRows};

const FORMAT: &str = "smave-model";
const VERSION: u64 = 3;

/// A reduction and what belongs to it.
#[derive(Clone, Debug)]
pub struct Model {
    /// The fitted reduction.
    pub reduction: Reduction,
    /// The name of each response, if they have names.
    pub targets: Vec<String>,
    /// What columns of a table the covariates were made of; empty if each is a column of its name.
    pub encoding: Vec<SourceColumn>,
    /// Every setting of the estimator, by name; null if they are not known.
    pub settings: serde_json::Value,
    /// The regression of each response on the reduced coordinates, for a model that predicts.
    pub predictors: Vec<Predictor>,
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
    #[serde(default)]
    checksum: String,
    software: String,
    method: String,
    target: Option<String>,
    n_samples: usize,
    n_neighbors: Option<usize>,
    seed: Option<u64>,
    #[serde(default)]
    settings: serde_json::Value,
    features: Vec<Feature>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    encoding: Vec<SourceColumn>,
    directions: Vec<Direction>,
    stop_reason: StopReason,
    trace: Vec<Iteration>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    starts: Vec<Start>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    loo_error: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    prediction: Option<Training>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    further: Vec<Further>,
}

/// A response but the first.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Further {
    target: Option<String>,
    prediction: Option<Training>,
}

impl Layout {
    /// What the checksum field should hold.
    fn checksum(&mut self) -> std::result::Result<String, serde_json::Error> {
        let own = std::mem::take(&mut self.checksum);
        let text = serde_json::to_vec(self);
        self.checksum = own;
        Ok(format!("{:08x}", crc32fast::hash(&text?)))
    }
}

/// A [`Predictor`] in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Training {
    regression: Regression,
    n_neighbors: usize,
    reach2: f64,
    calibration: Calibration,
    loo_error: f64,
    errors: Vec<f64>,
    responses: Vec<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weights: Option<Vec<f64>>,
    coordinates: Vec<Vec<f64>>,
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
    /// A model that reduces and does not predict.
    pub fn new(reduction: Reduction) -> Self {
        Self {
            reduction,
            targets: Vec::new(),
            encoding: Vec::new(),
            settings: serde_json::Value::Null,
            predictors: Vec::new(),
        }
    }

    /// Fits directions to `data`, and gives the rows that a regression on them can be made from
    /// ([`Model::predicting`]): what the command line and the Python package do. Rows that occur more than once are
    /// looked at once and counted ([`Dataset::distinct`]).
    ///
    /// # Errors
    /// As [`Estimator::fit_observed`].
    pub fn reduce(
        estimator: &dyn Estimator,
        data: &Dataset<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(Self, TrainingRows)> {
        let distinct = data.distinct()?;
        let rows = distinct.as_ref().unwrap_or(data);
        let mut reduction = estimator.fit_observed(rows, observer)?;
        let training = TrainingRows::new(&reduction, rows)?;
        reduction.n_samples = data.n_samples();
        Ok((Self::new(reduction).settings(estimator.settings()), training))
    }

    /// The same with a regression on the reduced coordinates, made from these rows.
    ///
    /// # Errors
    /// When there are too few of them.
    pub fn predicting(self, rows: TrainingRows, regression: Regression) -> Result<Self> {
        Ok(Self { predictors: rows.predictors(regression)?, ..self })
    }

    /// A model that also predicts, from the rows that `reduction` was fitted to.
    ///
    /// # Errors
    /// When `data` has other columns than the reduction, or too few rows to predict from.
    pub fn with_predictor(reduction: Reduction, data: &Dataset<'_>, regression: Regression) -> Result<Self> {
        let rows = TrainingRows::new(&reduction, data)?;
        Self::new(reduction).predicting(rows, regression)
    }

    /// The name of the response; of several, call it for each in turn.
    pub fn target(mut self, name: impl Into<String>) -> Self {
        self.targets.push(name.into());
        self
    }

    /// The columns of a table that the covariates are made of.
    pub fn sources(&self) -> Vec<SourceColumn> {
        if self.encoding.is_empty() {
            return self.reduction.names().iter().map(SourceColumn::numeric).collect();
        }
        self.encoding.clone()
    }

    /// The settings of the estimator, as [`Settings::settings`](crate::estimator::Settings::settings) gives them.
    pub fn settings(mut self, settings: serde_json::Value) -> Self {
        self.settings = settings;
        self
    }

    /// Takes the errors at rows that the model was not fitted to as the basis of intervals (split conformal).
    ///
    /// # Errors
    /// When the model does not predict, or `data` has other columns or responses.
    pub fn calibrate(&mut self, data: &Dataset<'_>) -> Result<()> {
        let z = self.reduction.transform(data.x())?;
        self.predictor()?;
        expect_size("responses against those of the model", self.predictors.len(), data.n_responses())?;
        let mut pairs = self.predictors.iter_mut().zip(data.raw_responses().iter());
        pairs.try_for_each(|(predictor, y)| predictor.calibrate(&z, y))
    }

    /// The regression of the response, or the first of several, on the reduced coordinates.
    ///
    /// # Errors
    /// When the model does not predict.
    pub fn predictor(&self) -> Result<&Predictor> {
        self.predictors.first().ok_or(Error::NoPredictor)
    }

    /// Predictions for the rows of `x`.
    ///
    /// # Errors
    /// When the model does not predict, or predicts several responses ([`Model::predict_each`] is for them), or `x` has
    /// other columns or a value that is not finite.
    pub fn predict(&self, x: &dyn Design) -> Result<Vec<Prediction>> {
        match &self.predictors[..] {
            [_, _, ..] => Err(Error::SeveralResponses { count: self.predictors.len() }),
            _ => self.predictor()?.predict(&self.reduction.transform(x)?),
        }
    }

    /// Predictions for the rows of `x`, for each response in turn.
    ///
    /// # Errors
    /// When the model does not predict, or `x` has other columns or a value that is not finite.
    pub fn predict_each(&self, x: &dyn Design) -> Result<Vec<Vec<Prediction>>> {
        self.predictor()?;
        let z = self.reduction.transform(x)?;
        self.predictors.iter().map(|predictor| predictor.predict(&z)).collect()
    }

    /// Writes the model to `path`, replacing what was there only when all is written.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let mut layout = self.to_layout();
        write_atomically(path.as_ref(), |out| {
            layout.checksum = layout.checksum()?;
            layout.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, Listed::default()))?;
            out.write_all(b"\n")
        })
    }

    /// The text of the model file, in one line.
    ///
    /// # Errors
    /// Only for lack of memory.
    pub fn to_json(&self) -> Result<String> {
        let mut layout = self.to_layout();
        let text = layout.checksum().and_then(|checksum| {
            layout.checksum = checksum;
            serde_json::to_string(&layout)
        });
        text.map_err(|error| Error::ModelFile { path: "the model".into(), reason: error.to_string() })
    }

    /// Reads a model from the text of a model file.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_json(text: &str) -> Result<Self> {
        Self::parse(text.as_bytes())
            .map_err(|reason| Error::ModelFile { path: "the text given".into(), reason })
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
            checksum: String::new(),
            software: concat!("smave ", env!("CARGO_PKG_VERSION")).into(),
            method: r.method.clone(),
            target: self.targets.first().cloned(),
            n_samples: r.n_samples,
            n_neighbors: r.n_neighbors,
            seed: r.seed,
            settings: self.settings.clone(),
            features: (r.names.iter().zip(columns))
                .map(|(name, (&center, &scale))| Feature { name: name.clone(), center, scale })
                .collect(),
            encoding: self.encoding.clone(),
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
            prediction: self.predictors.first().map(|predictor| Training::new(predictor, true)),
            further: (1..self.predictors.len().max(self.targets.len())).map(|i| self.further(i)).collect(),
        }
    }

    /// A response but the first, as it is written.
    fn further(&self, i: usize) -> Further {
        // Coordinates are the same for all: written once is enough.
        let prediction = self.predictors.get(i).map(|predictor| Training::new(predictor, false));
        Further { target: self.targets.get(i).cloned(), prediction }
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
        let mut layout: Layout =
            serde_json::from_slice(text).map_err(|error| format!("a field is missing or wrong ({error})"))?;
        if layout.version > 1 {
            let expected = layout.checksum().map_err(|error| error.to_string())?;
            if layout.checksum != expected {
                return Err("its checksum does not fit its contents: the file was altered".into());
            }
        }
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
        let made = self.encoding.iter().flat_map(SourceColumn::covariates);
        let filled = |column: &SourceColumn| {
            // A column of texts has one at least, with which the others are compared.
            column.levels.as_ref().is_none_or(|levels| !levels.is_empty())
                && column.fill.as_ref().is_none_or(|fill| fill.len() == column.covariates().len())
        };
        let same = made.eq(names.iter().cloned()) && self.encoding.iter().all(filled);
        if !self.encoding.is_empty() && !same {
            return Err("its covariates are not those that its columns are made into".into());
        }
        let mut targets = Vec::from_iter(self.target);
        let mut predictors = Vec::new();
        if let Some(training) = self.prediction {
            predictors.push(training.into_predictor(d, None)?);
        }
        for Further { target, prediction } in self.further {
            targets.extend(target);
            if let Some(training) = prediction {
                let first = predictors.first().map(|first| first.z.clone());
                predictors.push(training.into_predictor(d, first)?);
            }
        }
        Ok(Model {
            targets,
            encoding: self.encoding,
            settings: self.settings,
            predictors,
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

impl Training {
    /// With the coordinates of its rows, or without.
    fn new(predictor: &Predictor, with_coordinates: bool) -> Self {
        let z = predictor.coordinates();
        let rows = if with_coordinates { z.len() } else { 0 };
        Training {
            regression: predictor.regression,
            n_neighbors: predictor.n_neighbors,
            reach2: predictor.reach2,
            calibration: predictor.calibration,
            loo_error: predictor.loo_error,
            errors: predictor.errors.clone(),
            responses: predictor.y.clone(),
            weights: predictor.weights.clone(),
            coordinates: (0..rows).map(|row| z.point(row).to_vec()).collect(),
        }
    }

    /// `shared` are the coordinates if it has none of its own.
    fn into_predictor(self, d: usize, shared: Option<Points>) -> std::result::Result<Predictor, String> {
        let n = self.responses.len();
        let own = self.coordinates.iter().all(|row| row.len() == d);
        let z = shared.or_else(|| own.then(|| Points::from_values(self.coordinates.concat(), d)).flatten());
        let Some(z) = z.filter(|z| z.len() == n) else {
            return Err(format!("its training rows do not have {d} coordinates and a response each"));
        };
        if self.weights.as_ref().is_some_and(|weights| weights.len() != n) {
            return Err("it does not have a weight for each training row".into());
        }
        if n == 0 || self.n_neighbors == 0 {
            return Err(format!("it predicts from {} neighbors among {n} rows", self.n_neighbors));
        }
        let total = self.weights.as_ref().map_or(n as f64, |weights| weights.iter().sum());
        let negative = self.weights.iter().flatten().any(|weight| *weight < 0.0);
        if negative || !(1.0..f64::INFINITY).contains(&total) {
            return Err(format!("its weights do not count rows: they sum to {total}"));
        }
        if self.errors.first().is_some_and(|error| *error < 0.0) || !self.errors.is_sorted() {
            return Err("its held-out errors are not in increasing order from zero".into());
        }
        Ok(Predictor {
            regression: self.regression,
            z,
            y: self.responses,
            weights: self.weights,
            n_neighbors: self.n_neighbors,
            reach2: self.reach2,
            calibration: self.calibration,
            errors: self.errors,
            loo_error: self.loo_error,
        })
    }
}

/// JSON with a line for each field, and lists on one line: thousands of numbers would each have their own.
#[derive(Default)]
struct Listed(PrettyFormatter<'static>);

impl Formatter for Listed {
    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> std::io::Result<()> {
        if first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object<W: Write + ?Sized>(&mut self, out: &mut W) -> std::io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: Write + ?Sized>(&mut self, out: &mut W) -> std::io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, first: bool) -> std::io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> std::io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> std::io::Result<()> {
        self.0.end_object_value(out)
    }
}
