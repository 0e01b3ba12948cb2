//! Every way in which a table can fail to be one.

use std::path::PathBuf;

use thiserror::Error;

/// What went wrong, where, and what to do about it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system said no.
    #[error("cannot read {file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// Why.
        source: std::io::Error,
    },

    /// There is nothing in the file.
    #[error("{file} is empty: expected a header line with column names, then rows of numbers")]
    Empty {
        /// The file.
        file: String,
    },

    /// There is a header and nothing else.
    #[error("{file} has a header line but no rows")]
    NoRows {
        /// The file.
        file: String,
    },

    /// Something is wrong with one place of a text file.
    #[error("{file}, line {line}, column {column} ('{name}'): {problem}")]
    Cell {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: u64,
        /// Column, counted from 1.
        column: usize,
        /// Its name.
        name: String,
        /// What is wrong and what to do.
        problem: String,
    },

    /// A line has another number of values than the header.
    #[error("{file}, line {line}: {found} values where the header has {expected} columns")]
    Ragged {
        /// The file.
        file: String,
        /// Line, counted from 1.
        line: u64,
        /// Columns of the header.
        expected: usize,
        /// Values in the line.
        found: usize,
    },

    /// Two columns have one name.
    #[error("{file}, line 1: columns {first} and {second} are both named '{name}'; rename one")]
    DuplicateColumn {
        /// The file.
        file: String,
        /// The name.
        name: String,
        /// One column, counted from 1.
        first: usize,
        /// The other.
        second: usize,
    },

    /// A column that was asked for does not exist.
    #[error("{file} has no column '{name}'{hint}; its columns are {listed}")]
    NoColumn {
        /// The file.
        file: String,
        /// The column.
        name: String,
        /// Another that may have been meant.
        hint: String,
        /// Those there are.
        listed: String,
    },

    /// A column cannot be used as it is.
    #[error("{file}, column '{name}': {problem}")]
    Column {
        /// The file.
        file: String,
        /// Its name.
        name: String,
        /// What is wrong and what to do.
        problem: String,
    },

    /// The whole file cannot be used.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong and what to do.
        problem: String,
    },

    /// Values are missing.
    #[error(
        "{file}: values missing: {count}, the first at {places}; remove the rows with --missing drop, or fill in the \
         mean of each column with --missing mean"
    )]
    Missing {
        /// The file.
        file: String,
        /// How many.
        count: usize,
        /// The first few.
        places: String,
    },

    /// A file that this program does not read.
    #[error("{} is {what}; give a CSV, TSV, Parquet, NPY or NPZ file", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
}

/// A result, or an [`enum@Error`].
pub type Result<T> = std::result::Result<T, Error>;
