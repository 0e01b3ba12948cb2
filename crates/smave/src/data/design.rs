//! X as the estimators see it: through two products only.
//!
//! Every method of the MAVE family touches the n x p covariates in two places,
//!
//! $$ Z = X B \quad (\text{project}), \qquad G = X^\top C \quad (\text{pull back}), $$
//!
//! with $B$ p x d and $C$ n x d; all that lies between is computed from $Z$ and
//! $y$ and never sees p. Whatever can form these two products is a [`Design`]:
//! an array in f64 or f32, a standardized view of one, and in time a sparse
//! matrix, a file or a device. Each product costs n p d.

use crate::error::{Error, Result};
use crate::linalg::{Mat, MatMut, MatRef, Points};

/// Which rows of X a product runs over.
#[derive(Clone, Copy, Debug)]
pub enum Rows<'a> {
    /// Every row.
    All,
    /// These rows, in this order; a row may occur more than once.
    Subset(&'a [usize]),
}

impl Rows<'_> {
    /// How many rows that is out of `n_rows`.
    pub fn count(&self, n_rows: usize) -> usize {
        match self {
            Rows::All => n_rows,
            Rows::Subset(rows) => rows.len(),
        }
    }
}

/// Mean and standard deviation (divisor n, or the sum of weights) of each column.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// Column means.
    pub mean: Vec<f64>,
    /// Column standard deviations.
    pub sd: Vec<f64>,
}

/// What one pass over the values can tell about whether they are usable.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspection {
    /// Row, column and value of the first NaN or infinity.
    pub first_non_finite: Option<(usize, usize, f64)>,
    /// For each column, whether all its values are equal.
    pub constant: Vec<bool>,
}

/// An n x p matrix of covariates that can be multiplied from both sides.
pub trait Design: Send + Sync {
    /// Number of samples n.
    fn n_rows(&self) -> usize;

    /// Number of covariates p.
    fn n_cols(&self) -> usize;

    /// Z = X B for the given rows: point r of `z` begins with row `rows[r]` of X times `b`.
    /// Points may have more coordinates than `b` has columns; the others are left as they are.
    ///
    /// # Panics
    /// If the shapes do not fit or a row does not exist; [`Design::project`] checks them.
    fn project_into(&self, b: MatRef<'_, f64>, rows: Rows<'_>, z: &mut Points);

    /// G = X'C for the given rows: point r of `c` weights row `rows[r]` of X.
    ///
    /// # Panics
    /// If the shapes do not fit or a row does not exist; [`Design::pull_back`] checks them.
    fn pull_back_into(&self, c: &Points, rows: Rows<'_>, g: MatMut<'_, f64>);

    /// The given rows of X themselves, in f64, for what is local among all covariates: what `project_into`
    /// gives for the identity, which is also how it is done unless a faster way is known.
    ///
    /// # Panics
    /// If the shapes do not fit or a row does not exist.
    fn copy_rows_into(&self, rows: Rows<'_>, out: &mut Points) {
        self.project_into(Mat::<f64>::identity(self.n_cols(), self.n_cols()).as_ref(), rows, out);
    }

    /// Looks for values that cannot be used and columns that say nothing.
    fn inspect(&self) -> Inspection;

    /// Mean and standard deviation of each column, rows counted by weight if there are weights.
    fn moments(&self, weights: Option<&[f64]>) -> Moments;

    /// Z = X B for the given rows, shapes checked.
    fn project(&self, b: MatRef<'_, f64>, rows: Rows<'_>) -> Result<Points> {
        expect_size("rows of B against columns of X", self.n_cols(), b.nrows())?;
        check_rows(rows, self.n_rows())?;
        let mut z = Points::zeros(rows.count(self.n_rows()), b.ncols());
        self.project_into(b, rows, &mut z);
        Ok(z)
    }

    /// G = X'C for the given rows, shapes checked.
    fn pull_back(&self, c: &Points, rows: Rows<'_>) -> Result<Mat<f64>> {
        check_rows(rows, self.n_rows())?;
        expect_size("rows of C against rows of X", rows.count(self.n_rows()), c.len())?;
        let mut g = Mat::zeros(self.n_cols(), c.dim());
        self.pull_back_into(c, rows, g.as_mut());
        Ok(g)
    }
}

/// An error unless two sizes agree.
pub(crate) fn expect_size(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::ShapeMismatch { what: what.into(), expected, found }) }
}

fn check_rows(rows: Rows<'_>, n_rows: usize) -> Result<()> {
    let Rows::Subset(rows) = rows else { return Ok(()) };
    match rows.iter().find(|&&row| row >= n_rows) {
        None => Ok(()),
        Some(row) => Err(Error::InvalidParameter {
            name: "rows",
            value: row.to_string(),
            requirement: format!("less than the number of rows, {n_rows}"),
        }),
    }
}
