//! Inverse regression: directions from the moments of X given y.
//!
//! On whitened covariates Z, with slices of y that hold a share $p_h$ of the rows, slice means
//! $m_h$ and slice covariances $V_h$, the candidate matrices are
//!
//! | method | matrix | finds | blind to | reference |
//! |---|---|---|---|---|
//! | `sir` | $\sum_h p_h m_h m_h^\top$ | where the mean of Z moves with y | links that are even around the mean | Li 1991 |
//! | `save` | $\sum_h p_h (I - V_h)^2$ | where the spread of Z moves with y | weak linear trends, small slices | Cook and Weisberg 1991 |
//! | `dr` | $2 \sum_h p_h (V_h + m_h m_h^\top)^2 + 2 S^2 + 2 \mathrm{tr}(S) S - 2 I$, S that of `sir` | both | | Li and Wang 2007 |
//! | `phd` | $\frac1n \sum_i (y_i - \bar y) z_i z_i^\top$ | where the link bends | linear trends | Li 1992 |
//! | `phd-residual` | the same with the residuals of the linear regression of y on X | where the link bends, trend removed | linear trends | Cook 1998 |
//!
//! and the directions are their leading eigenvectors mapped back to X (by absolute value for
//! pHd, whose matrix is not definite). All need the linearity condition on X (it holds
//! for elliptical distributions), all but SIR also constant conditional variance (normal
//! X). They cost n p^2 + p^3, one pass, no tuning but the number of slices.
//!
//! When y has few distinct values each is a slice. When n is below 5 p the covariance is
//! shrunk (see the module on whitening). The eigenvalues of the [`Reduction`] are those of the matrix.

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::design::{Design, Rows};
use crate::data::second_moment::second_moment;
use crate::error::{Error, Result};
use crate::estimator::reduction::Reduction;
use crate::estimator::slices::slices;
use crate::estimator::whiten::Whitening;
use crate::estimator::{Estimator, check_dimension, spectral_reduction, with_columns};
use crate::linalg::{Mat, Points, symmetric_eigen};
use crate::optim::trace::Observer;

/// Which moments are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Sir,
    Save,
    Dr,
    Phd,
    PhdResidual,
}

/// An inverse regression method.
#[derive(Clone, Debug, Serialize)]
pub struct InverseRegression {
    kind: Kind,
    n_components: usize,
    n_slices: usize,
}

impl InverseRegression {
    fn new(kind: Kind, n_components: usize) -> Self {
        Self { kind, n_components, n_slices: 10.max(n_components.saturating_add(2)) }
    }

    /// Sliced inverse regression.
    pub fn sir(n_components: usize) -> Self {
        Self::new(Kind::Sir, n_components)
    }

    /// Sliced average variance estimation.
    pub fn save(n_components: usize) -> Self {
        Self::new(Kind::Save, n_components)
    }

    /// Directional regression.
    pub fn dr(n_components: usize) -> Self {
        Self::new(Kind::Dr, n_components)
    }

    /// Principal Hessian directions of the response.
    pub fn phd(n_components: usize) -> Self {
        Self::new(Kind::Phd, n_components)
    }

    /// Principal Hessian directions of the residuals of the linear regression.
    pub fn phd_residual(n_components: usize) -> Self {
        Self::new(Kind::PhdResidual, n_components)
    }

    /// Slices of a response with many values; by default 10, or d + 2 if that is more. Ignored by pHd.
    pub fn n_slices(mut self, n_slices: usize) -> Self {
        self.n_slices = n_slices;
        self
    }

    /// The candidate matrix of one response in whitened coordinates.
    fn candidate(
        &self,
        x: &dyn Design,
        y: &[f64],
        white: &Whitening,
        counts: Counts<'_>,
    ) -> Result<Mat<f64>> {
        match self.kind {
            Kind::Phd => Ok(hessian(x, &counts.centered(y), white, counts)),
            Kind::PhdResidual => Ok(hessian(x, &residuals(x, y, white, counts)?, white, counts)),
            Kind::Sir | Kind::Save | Kind::Dr => {
                self.sliced(x, &slices(y, self.n_slices, counts.weights), white, counts)
            }
        }
    }

    fn sliced(
        &self,
        x: &dyn Design,
        cut: &[Vec<usize>],
        white: &Whitening,
        counts: Counts<'_>,
    ) -> Result<Mat<f64>> {
        let (n, q) = (counts.total, white.root.ncols());
        let means = slice_means(x, cut, white, counts)?;
        let mut between = Mat::<f64>::zeros(q, q);
        let mut within = Mat::<f64>::zeros(q, q);
        for (h, rows) in cut.iter().enumerate() {
            let size = counts.of(rows);
            let share = size / n;
            let m = means.col(h);
            between += m * m.transpose() * faer::Scale(share);
            if self.kind == Kind::Sir {
                continue;
            }
            // E[Z Z' | slice] = V_h + m_h m_h'.
            let second = second_moment(x, white.map(), rows, counts.weights) * faer::Scale(1.0 / size);
            let term = match self.kind {
                Kind::Dr => second,
                _ => Mat::<f64>::identity(q, q) - second + m * m.transpose(),
            };
            within += &term * &term * faer::Scale(share);
        }
        Ok(match self.kind {
            Kind::Sir => between,
            Kind::Save => within,
            _ => {
                let trace: f64 = (0..q).map(|i| between[(i, i)]).sum();
                let sum = within + &between * &between + between * faer::Scale(trace);
                (sum - Mat::<f64>::identity(q, q)) * faer::Scale(2.0)
            }
        })
    }
}

/// The mean of Z in each slice, q x slices, from one product with X.
fn slice_means(
    x: &dyn Design,
    cut: &[Vec<usize>],
    white: &Whitening,
    counts: Counts<'_>,
) -> Result<Mat<f64>> {
    let mut indicator = Points::zeros(x.n_rows(), cut.len());
    for (h, rows) in cut.iter().enumerate() {
        let size = counts.of(rows);
        for &row in rows {
            indicator.values_mut()[row * cut.len() + h] = counts.weight(row) / size;
        }
    }
    let raw = x.pull_back(&indicator, Rows::All)?;
    let mut means = white.root.transpose() * raw;
    for h in 0..cut.len() {
        for (mean, shift) in means.col_mut(h).iter_mut().zip(white.map().shift) {
            *mean -= shift;
        }
    }
    Ok(means)
}

/// The average of $r_i z_i z_i^\top$.
fn hessian(x: &dyn Design, r: &[f64], white: &Whitening, counts: Counts<'_>) -> Mat<f64> {
    let counted = counts.times(r);
    second_moment(x, white.map(), &white.rows, Some(&counted)) * faer::Scale(1.0 / counts.total)
}

/// How much each row counts.
#[derive(Clone, Copy)]
struct Counts<'a> {
    weights: Option<&'a [f64]>,
    total: f64,
}

impl Counts<'_> {
    fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[row])
    }

    /// What some rows count together.
    fn of(&self, rows: &[usize]) -> f64 {
        self.weights.map_or(rows.len() as f64, |weights| rows.iter().map(|&row| weights[row]).sum())
    }

    fn times(&self, values: &[f64]) -> Vec<f64> {
        values.iter().enumerate().map(|(row, v)| self.weight(row) * v).collect()
    }

    fn centered(&self, y: &[f64]) -> Vec<f64> {
        let mean = self.times(y).iter().sum::<f64>() / self.total;
        y.iter().map(|v| v - mean).collect()
    }
}

/// What the linear regression of y on X leaves; in whitened coordinates its slopes are E[z (y - mean)].
fn residuals(x: &dyn Design, y: &[f64], white: &Whitening, counts: Counts<'_>) -> Result<Vec<f64>> {
    let y = counts.centered(y);
    let weights = Points::from_values(counts.times(&y), 1).unwrap_or_else(|| Points::zeros(0, 1));
    // Centered weights: the mean of Z does not enter.
    let slopes = white.root.transpose() * x.pull_back(&weights, Rows::All)? * faer::Scale(1.0 / counts.total);
    let direction = &white.root * &slopes;
    let fitted = x.project(direction.as_ref(), Rows::All)?;
    let offset: f64 = slopes.col(0).iter().zip(white.map().shift).map(|(s, m)| s * m).sum();
    Ok(counts.centered(&y.iter().zip(fitted.values()).map(|(y, f)| y - (f - offset)).collect::<Vec<_>>()))
}

impl Estimator for InverseRegression {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Sir => "sir",
            Kind::Save => "save",
            Kind::Dr => "dr",
            Kind::Phd => "phd",
            Kind::PhdResidual => "phd-residual",
        }
    }

    fn fit_observed(&self, data: &Dataset<'_>, _: &mut dyn Observer) -> Result<Reduction> {
        let d = self.n_components;
        check_dimension(d, data)?;
        if self.n_slices < 2 {
            return Err(Error::InvalidParameter {
                name: "n_slices",
                value: self.n_slices.to_string(),
                requirement: "at least 2".into(),
            });
        }
        if self.kind == Kind::Sir {
            // The means of h slices span h - 1 dimensions.
            let means = |y| slices(y, self.n_slices, data.weights()).len() - 1;
            let most: usize = data.responses().iter().map(means).sum();
            if most < d {
                let requirement = format!(
                    "less than the number of slices or classes of y, here {}: SIR finds no more",
                    most + 1
                );
                let value = d.to_string();
                return Err(Error::InvalidParameter { name: "n_components", value, requirement });
            }
        }
        // Whitening makes the method indifferent to the units of X, but for its shrinkage: always scale.
        with_columns(data, true, |x| {
            let white = Whitening::new(x, data.weights())?;
            let total = data.weights().map_or(data.n_samples() as f64, |weights| weights.iter().sum());
            let counts = Counts { weights: data.weights(), total };
            let rank = white.root.ncols();
            let mut candidate = Mat::<f64>::zeros(rank, rank);
            for y in data.responses().iter() {
                candidate += self.candidate(x, y, &white, counts)?;
            }
            let failed = || Error::NotFinite { what: "the matrix of inverse moments", iteration: 0 };
            let (values, vectors) = symmetric_eigen(candidate.as_ref()).ok_or_else(failed)?;
            let mut order: Vec<usize> = (0..values.len()).collect();
            if matches!(self.kind, Kind::Phd | Kind::PhdResidual) {
                order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
            }
            let found = d.min(values.len());
            let leading = Mat::from_fn(values.len(), found, |i, j| vectors[(i, order[j])]);
            let basis = white.directions(leading.as_ref(), d).ok_or_else(failed)?;
            let eigenvalues = (0..d).map(|j| if j < found { values[order[j]] } else { 0.0 }).collect();
            Ok((basis, eigenvalues))
        })
        .and_then(|found| spectral_reduction(self.name(), found, data))
    }
}
