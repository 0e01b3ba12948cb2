//! Tables of numbers and text, read from files for smave.
//!
//! [`Table::read`] takes CSV and its relatives (delimiter and header found out, quoted fields, gzip and Zstandard), Parquet
//! and NumPy's files. Texts become levels of a category, missing values NaN. [`prepare`] makes of a table what a
//! regression needs: columns in their roles, categories as indicators, missing values dropped or filled in; and says how, so
//! that the same can be done to other rows ([`apply`]).
//!
//! ```
//! use smave_table::{Roles, Table, Wanted, prepare};
//!
//! let folder = std::env::temp_dir().join("smave-table-example");
//! std::fs::create_dir_all(&folder)?;
//! let path = folder.join("bikes.csv");
//! std::fs::write(&path, "rent,warmth,season\n12,3.5,winter\n90,21,summer\n55,12,spring\n")?;
//! let roles = Roles { targets: vec!["rent".into()], ..Roles::default() };
//! let prepared = prepare(Table::read(&path, &roles.wanted())?, &roles)?;
//! // The first level, in the order of the alphabet, is what the others are compared with.
//! assert_eq!(prepared.names, ["warmth", "season=summer", "season=winter"]);
//! assert_eq!(prepared.values[..3], [3.5, 0.0, 1.0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cell;
pub mod delimited;
mod error;
mod npy;
mod parquet;
mod roles;
mod source;
mod table;

pub use error::{Error, Result};
pub use roles::{Missing, Prepared, Roles, apply, prepare};
pub use table::{Column, MAX_LEVELS, Place, Table, Wanted};
