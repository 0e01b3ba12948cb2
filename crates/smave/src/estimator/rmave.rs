//! MAVE and refined MAVE.
//!
//! Both maximize $F_\varepsilon$ over the Stiefel manifold from the OPG solution; they differ in who is near whom:
//!
//! | name | weights |
//! |---|---|
//! | `mave` | Gaussian kernel among all covariates, fixed |
//! | `rmave` | Gaussian kernel in the projected space, renewed after each maximization |
//! | `rmave-knn` | uniform on $k = \lceil n^{4/(d+4)} \rceil$ neighbors in the projected space, likewise |
//!
//! The paper maximizes column by column; here each maximization is a Riemannian L-BFGS over all
//! columns at once, which ends at least as high, and remembers the curvature from one renewal to the next.
//! The first renewals, while the subspace still turns by large angles, look at every eighth row only (in
//! the order of y) and cut kernel weights off earlier; a renewal with all rows always comes last. Renewals go on until
//! the subspace stops turning, or no longer turns less than before (neighborhoods and maximum may
//! chase each other in a circle), or 100 are made.
//!
//! No condition on X; but the start is OPG's, and where that has found nothing (p above some
//! 20) one ends in whatever basin it lies. Cost per evaluation: 2 n p d + n k d^2, k being
//! the neighbors that carry weight. The eigenvalues of the [`Reduction`] are those of the average
//! outer product of local slopes.
//!
//! Xia, Tong, Li and Zhu (2002), An adaptive estimation of dimension reduction space.

use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::design::Rows;
use crate::data::responses::Responses;
use crate::error::{Error, Result};
use crate::estimator::ascent::{Effort, ascend};
use crate::estimator::journal::{Journal, Told};
use crate::estimator::opg::Opg;
use crate::estimator::reduction::{Reduction, principal_basis};
use crate::estimator::{Estimator, check_dimension, check_rows, with_columns};
use crate::linalg::{Mat, Points};
use crate::local::index::build_index;
use crate::local::kernel::{Bandwidth, CUT, gaussian_neighborhoods};
use crate::local::neighborhoods::{Neighborhoods, Weighting};
use crate::local::size::{MIN_NEIGHBORS_PROJECTED, neighborhood_size, silverman_bandwidth};
use crate::objective::ambient::all_columns;
use crate::objective::mave::MaveObjective;
use crate::optim::lbfgs::Lbfgs;
use crate::optim::patience::Patience;
use crate::optim::trace::{Observer, StopReason, Within};
use crate::parallel::in_hot_pool;

/// Where weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Localization {
    AmbientKernel,
    ProjectedKernel,
    ProjectedNeighbors,
}

/// MAVE, refined or not.
#[derive(Clone, Debug, Serialize)]
pub struct Rmave {
    n_components: usize,
    localization: Localization,
    max_iter: usize,
    tolerance: f64,
    ridge: f64,
    standardize: bool,
    /// Share of the largest below which kernel weights are dropped.
    cut: f64,
}

/// Neighborhoods are about to be renewed: to go further would be to fit those that are there, and to be
/// pushed back by the next.
const COARSE: Effort = Effort { steps: 8, gain: 3e-3 };
const FINE: Effort = Effort { steps: 7, gain: 1e-9 };

/// They are not.
const ONLY: Effort = Effort { steps: 100, gain: 1e-7 };

/// While the subspace turns by more than this angle, one row in so many is an anchor, unless they would
/// be fewer than [`FEWEST_ANCHORS`], and kernel weights are cut off earlier.
const COARSE_ANGLE: f64 = 0.1;
const COARSE_STEP: usize = 8;
const FEWEST_ANCHORS: usize = 100;
const COARSE_CUT: f64 = 1e-5;

/// Renewals without progress before giving up, with few anchors and with all.
const COARSE_PATIENCE: usize = 3;
const PATIENCE: usize = 1;

impl Rmave {
    fn new(n_components: usize, localization: Localization) -> Self {
        Self {
            n_components,
            localization,
            max_iter: 100,
            tolerance: 3e-2,
            ridge: 1e-5,
            standardize: false,
            cut: CUT,
        }
    }

    /// MAVE: kernel weights among all covariates.
    pub fn mave(n_components: usize) -> Self {
        Self { max_iter: 1, ..Self::new(n_components, Localization::AmbientKernel) }
    }

    /// Refined MAVE: kernel weights in the projected space.
    pub fn kernel(n_components: usize) -> Self {
        Self::new(n_components, Localization::ProjectedKernel)
    }

    /// Refined MAVE with nearest-neighbor weights.
    pub fn knn(n_components: usize) -> Self {
        Self::new(n_components, Localization::ProjectedNeighbors)
    }

    /// Renewals of the weights at the most; 100 by default. MAVE has none.
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        if self.localization != Localization::AmbientKernel {
            self.max_iter = max_iter;
        }
        self
    }

    /// The angle (radians) below which a renewal has not turned the subspace; 0.03 by default.
    pub fn tolerance(mut self, angle: f64) -> Self {
        self.tolerance = angle;
        self
    }

    /// ε, the ridge of the local regressions; 1e-5 by default, as published.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = ridge;
        self
    }

    /// Whether columns are scaled to unit variance first; off by default, as published.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    fn neighborhoods(
        &self,
        objective: &MaveObjective<'_>,
        b: &Mat<f64>,
        anchors: &[usize],
        cut: f64,
    ) -> Result<Neighborhoods> {
        let (x, weights) = (objective.design(), objective.weights());
        let points: Points = match self.localization {
            Localization::AmbientKernel => all_columns(x)?,
            _ => x.project(b.as_ref(), Rows::All)?,
        };
        if !points.values().iter().all(|v| v.is_finite()) {
            return Err(Error::NotFinite { what: "the projection of X", iteration: 0 });
        }
        Ok(match self.localization {
            Localization::ProjectedNeighbors => {
                let k = neighborhood_size(objective.n_counted(), points.dim(), MIN_NEIGHBORS_PROJECTED);
                let index = build_index(&points, k);
                Neighborhoods::find(&*index, &points, anchors, k, Weighting::Uniform, weights)
            }
            _ => {
                let bandwidth = Bandwidth { base: silverman_bandwidth(&points, weights), reach: None, cut };
                gaussian_neighborhoods(&points, anchors, bandwidth, weights)
            }
        })
    }

    fn fit_here(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        check_dimension(self.n_components, data)?;
        check_rows(self.n_components, data)?;
        if self.max_iter == 0 {
            let requirement = "at least 1".into();
            return Err(Error::InvalidParameter { name: "max_iter", value: "0".into(), requirement });
        }
        let start =
            Opg::kernel(self.n_components).cut(COARSE_CUT).ridge(self.ridge).standardize(self.standardize);
        let start = start.fit_observed(data, &mut Within(observer))?.basis;
        let mut journal = Journal::new(observer, self.max_iter);
        let ((basis, eigenvalues, stop_reason), standardization) =
            with_columns(data, self.standardize, |x| {
                let objective = MaveObjective::new(x, data.responses(), self.ridge)?.counting(data.weights());
                let (basis, outer, stop) = self.climb(&objective, data.responses(), start, &mut journal)?;
                let iteration = journal.trace.len();
                let (basis, eigenvalues) = principal_basis(basis.as_ref(), outer.as_ref())
                    .ok_or(Error::NotFinite { what: "the average slope", iteration })?;
                Ok((basis, eigenvalues, stop))
            })?;
        Ok(Reduction {
            method: self.name().into(),
            basis,
            eigenvalues,
            standardization,
            names: data.names().to_vec(),
            n_samples: data.n_samples(),
            n_neighbors: match self.localization {
                Localization::ProjectedNeighbors => {
                    Some(neighborhood_size(data.n_counted(), self.n_components, MIN_NEIGHBORS_PROJECTED))
                }
                _ => None,
            },
            seed: None,
            trace: journal.trace,
            stop_reason,
            starts: Vec::new(),
            loo_error: None,
        })
    }

    /// Maximizes and renews from basis `b`; gives the last basis, the average outer product of slopes
    /// there, and why it ended.
    fn climb(
        &self,
        objective: &MaveObjective<'_>,
        y: Responses<'_>,
        mut b: Mat<f64>,
        journal: &mut Journal<'_>,
    ) -> Result<(Mat<f64>, Mat<f64>, StopReason)> {
        let [few, all] = anchors(y);
        let mut coarse = self.max_iter > 1 && few.len() >= FEWEST_ANCHORS;
        let mut patience = Patience::default();
        let mut lbfgs = Lbfgs::default();
        loop {
            let last = journal.trace.len() + 1 == self.max_iter;
            coarse &= !last;
            let (anchors, cut) = if coarse { (&few, COARSE_CUT.max(self.cut)) } else { (&all, self.cut) };
            let effort = match self.localization {
                Localization::AmbientKernel => ONLY,
                _ if coarse => COARSE,
                _ => FINE,
            };
            let mut hoods = None;
            let Told { basis, turned, cancelled } = journal.round(&b, &mut lbfgs, |lbfgs, iteration| {
                let hoods = hoods.insert(self.neighborhoods(objective, &b, anchors, cut)?);
                ascend(objective, &b, hoods, &[], effort, lbfgs, iteration)
            })?;
            let before = std::mem::replace(&mut b, basis);
            let waited = patience.after(turned);
            let settled =
                turned < self.tolerance || waited >= if coarse { COARSE_PATIENCE } else { PATIENCE };
            let stop = match () {
                () if cancelled => StopReason::Cancelled,
                () if coarse => {
                    if settled || turned < COARSE_ANGLE {
                        coarse = false;
                        patience = Patience::default();
                    }
                    continue;
                }
                () if turned < self.tolerance => StopReason::Settled,
                () if settled => StopReason::Unsettled,
                () if last => StopReason::MaxIterations,
                () => continue,
            };
            let hoods = match hoods {
                Some(hoods) => hoods,
                None => self.neighborhoods(objective, &before, anchors, cut)?,
            };
            let z = objective.design().project(b.as_ref(), Rows::All)?;
            return Ok((b, objective.average_slope_outer(&z, &hoods), stop));
        }
    }
}

/// The rows that are anchors, early and late. Few are taken in the order of y (of the sum of several), not of rows,
/// which means nothing.
fn anchors(y: Responses<'_>) -> [Vec<usize>; 2] {
    let n = y.n_rows();
    let sums: Vec<f64> = (0..n).map(|row| y.iter().map(|y| y[row]).sum()).collect();
    let mut by_response: Vec<usize> = (0..n).collect();
    by_response.sort_by(|&a, &b| sums[a].total_cmp(&sums[b]));
    let few = by_response.iter().copied().skip(COARSE_STEP / 2).step_by(COARSE_STEP).collect();
    [few, (0..n).collect()]
}

impl Estimator for Rmave {
    fn name(&self) -> &'static str {
        match self.localization {
            Localization::AmbientKernel => "mave",
            Localization::ProjectedKernel => "rmave",
            Localization::ProjectedNeighbors => "rmave-knn",
        }
    }

    fn fit_observed(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        in_hot_pool(|| self.fit_here(data, observer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::design::Design;
    use crate::data::simulate::{Covariance, Link, Simulation};
    use crate::linalg::orthonormalize;
    use crate::local::neighborhoods::Neighborhood;
    use crate::manifold::subspace::squared_distance;
    use crate::objective::mave::Scratch;
    use faer::linalg::solvers::Solve;

    fn rows(x: &dyn Design) -> Mat<f64> {
        let points = all_columns(x).unwrap();
        points.as_mat().to_owned()
    }

    /// The paper's column-wise coordinate descent: for each column, local coefficients given B, then the column
    /// given the coefficients, by least squares; then orthonormalization.
    fn coordinate_descent(
        x: &Mat<f64>,
        y: &[f64],
        hoods: &Neighborhoods,
        b: &Mat<f64>,
        ridge: f64,
    ) -> Mat<f64> {
        let (n, p, d) = (x.nrows(), x.ncols(), b.ncols());
        let mut b = b.clone();
        let weight =
            |hood: &Neighborhood<'_>, q: usize| hood.weights.map_or(1.0 / hood.rows.len() as f64, |w| w[q]);
        for column in 0..d {
            let mut gram = Mat::<f64>::identity(p, p) * faer::Scale(ridge);
            let mut moment = Mat::<f64>::zeros(p, 1);
            for j in 0..n {
                let hood = hoods.get(j);
                let difference = |row: u32| Mat::from_fn(p, 1, |c, _| x[(row as usize, c)] - x[(j, c)]);
                // Intercept and slopes at row j.
                let mut small = Mat::<f64>::identity(d + 1, d + 1) * faer::Scale(ridge);
                small[(0, 0)] = 0.0;
                let mut right = Mat::<f64>::zeros(d + 1, 1);
                for (q, &row) in hood.rows.iter().enumerate() {
                    let z = b.transpose() * difference(row);
                    let v = Mat::from_fn(d + 1, 1, |c, _| if c == 0 { 1.0 } else { z[(c - 1, 0)] });
                    small += &v * v.transpose() * faer::Scale(weight(&hood, q));
                    right += &v * faer::Scale(weight(&hood, q) * y[row as usize]);
                }
                let fit = small.partial_piv_lu().solve(&right);
                for (q, &row) in hood.rows.iter().enumerate() {
                    let x = difference(row);
                    let mut rest = y[row as usize] - fit[(0, 0)];
                    for other in (0..d).filter(|other| *other != column) {
                        rest -= fit[(other + 1, 0)] * (b.col(other).transpose() * x.col(0));
                    }
                    let v = &x * faer::Scale(fit[(column + 1, 0)]);
                    gram += &v * v.transpose() * faer::Scale(weight(&hood, q));
                    moment += &v * faer::Scale(weight(&hood, q) * rest);
                }
            }
            let solved = gram.partial_piv_lu().solve(&moment);
            b.col_mut(column).copy_from(solved.col(0));
        }
        orthonormalize(b.as_ref()).unwrap()
    }

    #[test]
    fn every_renewal_ends_at_least_as_high_as_coordinate_descent() {
        for (link, covariance, seed) in [
            (Link::Interaction, Covariance::Ar1, 1),
            (Link::Polynomial, Covariance::Identity, 2),
            (Link::Rational, Covariance::Ar1, 3),
            (Link::Sinusoidal, Covariance::Identity, 4),
        ] {
            let made = Simulation::new(link, covariance, 120, 5).seed(seed).draw().unwrap();
            let x = rows(&made.x);
            let objective = MaveObjective::new(&made.x, &made.y, 1e-5).unwrap();
            for method in [Rmave::kernel(2), Rmave::knn(2)] {
                let all: Vec<usize> = (0..120).collect();
                let mut scratch = Scratch::default();
                let mut lbfgs = Lbfgs::default();
                let mut b = Mat::<f64>::identity(5, 2);
                for renewal in 0..6 {
                    let hoods = method.neighborhoods(&objective, &b, &all, CUT).unwrap();
                    let mut value =
                        |b: &Mat<f64>| objective.evaluate_with(b.as_ref(), &hoods, &all, &mut scratch).value;
                    let other = value(&coordinate_descent(&x, &made.y, &hoods, &b, 1e-5));
                    let ours = ascend(&objective, &b, &hoods, &[], FINE, &mut lbfgs, renewal).unwrap().basis;
                    assert!(
                        value(&ours) >= other,
                        "{link} {} {renewal}: {} {other}",
                        method.name(),
                        value(&ours)
                    );
                    b = ours;
                }
            }
        }
    }

    /// Against weights on all pairs of rows.
    #[test]
    fn weights_that_are_cut_off_do_not_matter() {
        let made = Simulation::new(Link::Interaction, Covariance::Ar1, 300, 8).seed(2).draw().unwrap();
        let data = Dataset::new(made.x, made.y).unwrap();
        for method in [Rmave::mave(2), Rmave::kernel(2).max_iter(4)] {
            let exact = Rmave { cut: 0.0, ..method.clone() }.fit(&data).unwrap();
            let found = method.fit(&data).unwrap();
            let apart = squared_distance(found.basis(), exact.basis()).unwrap().sqrt();
            assert!(apart < 1e-6 && apart > 0.0, "{}: {apart}", method.name());
        }
        let exact = Opg::kernel(2).cut(0.0).fit(&data).unwrap();
        let found = Opg::kernel(2).fit(&data).unwrap();
        let apart = squared_distance(found.basis(), exact.basis()).unwrap().sqrt();
        assert!(apart < 1e-6 && apart > 0.0, "opg: {apart}");
    }
}
