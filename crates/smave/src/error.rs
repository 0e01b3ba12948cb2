//! Every way a call can fail.
//!
//! A message says what was wrong, where, and what to do about it. Rows and
//! columns are counted from 0, as in code; the command line, which reads
//! files, reports lines and columns of the file instead.

use std::path::PathBuf;

/// What this library returns when it cannot do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The table has no rows or no columns.
    #[error("the data is empty: {n_rows} rows and {n_cols} columns; at least 2 rows and 1 column are needed")]
    Empty {
        /// Rows found.
        n_rows: usize,
        /// Columns found.
        n_cols: usize,
    },

    /// There are not enough rows for what was asked.
    #[error(
        "too few rows {purpose}: {found}, where at least {needed} are needed; add rows or lower the dimension"
    )]
    TooFewSamples {
        /// The smallest number of rows that would do.
        needed: usize,
        /// The number of rows given.
        found: usize,
        /// What the rows are needed for.
        purpose: String,
    },

    /// Two things that must have the same size do not.
    #[error("{what}: expected {expected}, found {found}")]
    ShapeMismatch {
        /// What was compared.
        what: String,
        /// The size it should have.
        expected: usize,
        /// The size it has.
        found: usize,
    },

    /// A covariate holds NaN or an infinity.
    #[error(
        "row {row}, column {column} ('{name}') of X is {value}: remove the row or fill the value in first"
    )]
    NonFinite {
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The column's name.
        name: String,
        /// The value found.
        value: f64,
    },

    /// The response holds NaN or an infinity.
    #[error("row {row} of the target y is {value}: remove the row or fill the value in first")]
    NonFiniteTarget {
        /// Row, counted from 0.
        row: usize,
        /// The value found.
        value: f64,
    },

    /// The response never changes.
    #[error(
        "the target y is {value} in every row: there is nothing to explain; check which column is the target"
    )]
    ConstantTarget {
        /// The value it has everywhere.
        value: f64,
    },

    /// Two columns have the same name.
    #[error("columns {first} and {second} are both named '{name}': rename one of them")]
    DuplicateName {
        /// The name that is used twice.
        name: String,
        /// The first column with that name.
        first: usize,
        /// The second column with that name.
        second: usize,
    },

    /// The number of directions asked for is impossible.
    #[error(
        "cannot reduce {n_features} covariates to {n_components} dimensions: choose between 1 and {n_features}"
    )]
    InvalidDimension {
        /// Directions asked for.
        n_components: usize,
        /// Covariates there are.
        n_features: usize,
    },

    /// A setting is outside its range.
    #[error("{name} = {value} is not allowed: it must be {requirement}")]
    InvalidParameter {
        /// The setting.
        name: &'static str,
        /// The value given.
        value: String,
        /// The values that would do.
        requirement: String,
    },

    /// The columns of a given basis do not span what they should.
    #[error("the {what} has linearly dependent or non-finite columns: give {columns} independent ones")]
    RankDeficient {
        /// Which matrix.
        what: &'static str,
        /// How many independent columns it needs.
        columns: usize,
    },

    /// Numbers became too large or too small to compute with.
    #[error(
        "{what} is not a finite number at iteration {iteration}: \
         rescale the columns of X and the target y (for example to unit variance) and try again"
    )]
    NotFinite {
        /// The quantity.
        what: &'static str,
        /// When it happened.
        iteration: usize,
    },

    /// Whoever watched the work asked for its end, and half of it is of no use.
    #[error("cancelled")]
    Cancelled,

    /// A checkpoint that cannot be taken up.
    #[error("cannot go on from {}: {reason}", path.display())]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: std::io::Error,
    },

    /// The model was made without a regression on the reduced coordinates, or before models had one.
    #[error("the model does not predict: it keeps no training rows; fit it again")]
    NoPredictor,

    /// One list of predictions was asked for, and there are several responses.
    #[error("the model predicts {count} responses: use predict_each")]
    SeveralResponses {
        /// How many.
        count: usize,
    },

    /// A file is not a model that this version can read.
    #[error("{} is not a usable model file: {reason}", path.display())]
    ModelFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
}

/// The result of a call to this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;
