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
//! The paper maximizes column by column; here each maximization is a Riemannian L-BFGS over all anchors
//! and all columns at once, which ends at least as high. Renewals go on until the
//! subspace stops turning or 100 are made.
//!
//! No condition on X; but the start is OPG's, and where that has found nothing (p above some
//! 20) one ends in whatever basin it lies. Cost per evaluation: 2 n p d + n k d^2, k being
//! the neighbors that carry weight. The eigenvalues of the [`Reduction`] are those of the average
//! outer product of local slopes.
//!
//! Xia, Tong, Li and Zhu (2002), An adaptive estimation of dimension reduction space.

use crate::data::dataset::Dataset;
use crate::data::design::Rows;
use crate::error::{Error, Result};
use crate::estimator::opg::Opg;
use crate::estimator::reduction::{Reduction, principal_basis};
use crate::estimator::{Estimator, check_dimension, check_rows, with_columns};
use crate::linalg::{Mat, Points};
use crate::local::index::build_index;
use crate::local::kernel::{Bandwidth, gaussian_neighborhoods};
use crate::local::neighborhoods::{Neighborhoods, Weighting};
use crate::local::size::{MIN_NEIGHBORS_PROJECTED, neighborhood_size, silverman_bandwidth};
use crate::manifold::subspace::principal_angles;
use crate::objective::ambient::all_columns;
use crate::objective::mave::{MaveObjective, Scratch};
use crate::optim::lbfgs::maximize;
use crate::optim::trace::{Iteration, Observer, Progress, Silent, StopReason};
use crate::parallel::in_hot_pool;

/// Where weights come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Localization {
    AmbientKernel,
    ProjectedKernel,
    ProjectedNeighbors,
}

/// MAVE, refined or not.
#[derive(Clone, Debug)]
pub struct Rmave {
    n_components: usize,
    localization: Localization,
    max_iter: usize,
    tolerance: f64,
    ridge: f64,
    standardize: bool,
}

/// Steps of one maximization, and the gain below which it ends.
const MAX_STEPS: usize = 20;
const GAIN: f64 = 1e-6;

impl Rmave {
    fn new(n_components: usize, localization: Localization) -> Self {
        Self { n_components, localization, max_iter: 100, tolerance: 1e-3, ridge: 1e-5, standardize: false }
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

    /// The angle (radians) below which a renewal has not turned the subspace; 0.001 by default.
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

    fn neighborhoods(&self, objective: &MaveObjective<'_>, b: &Mat<f64>) -> Result<Neighborhoods> {
        let points: Points = match self.localization {
            Localization::AmbientKernel => all_columns(objective.design())?,
            _ => objective.design().project(b.as_ref(), Rows::All)?,
        };
        if !points.values().iter().all(|v| v.is_finite()) {
            return Err(Error::NotFinite { what: "the projection of X", iteration: 0 });
        }
        let (n, d) = (points.len(), points.dim());
        let anchors: Vec<usize> = (0..n).collect();
        let k = neighborhood_size(n, d, MIN_NEIGHBORS_PROJECTED);
        let index = build_index(&points, k);
        match self.localization {
            Localization::ProjectedNeighbors => {
                Ok(Neighborhoods::find(&*index, &points, &anchors, k, Weighting::Uniform))
            }
            _ => {
                let bandwidth = Bandwidth { base: silverman_bandwidth(&points), reach: None };
                gaussian_neighborhoods(&*index, &points, &anchors, bandwidth)
            }
        }
    }

    fn fit_here(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        check_dimension(self.n_components, data)?;
        check_rows(self.n_components, data)?;
        if self.max_iter == 0 {
            let requirement = "at least 1".into();
            return Err(Error::InvalidParameter { name: "max_iter", value: "0".into(), requirement });
        }
        let start = Opg::kernel(self.n_components).ridge(self.ridge).standardize(self.standardize);
        let mut b = start.fit_observed(data, &mut Silent)?.basis;
        let mut trace = Vec::new();
        let anchors: Vec<usize> = (0..data.n_samples()).collect();
        let ((basis, eigenvalues, stop_reason), standardization) =
            with_columns(data, self.standardize, |x| {
                let objective = MaveObjective::new(x, data.y(), self.ridge)?;
                let mut scratch = Scratch::default();
                let mut stop = StopReason::MaxIterations;
                let mut hoods = Neighborhoods::from_lists([])?;
                for iteration in 0..self.max_iter {
                    hoods = self.neighborhoods(&objective, &b)?;
                    let evaluate = |b: &Mat<f64>| {
                        let found = objective.evaluate_with(b.as_ref(), &hoods, &anchors, &mut scratch);
                        (found.value, found.gradient)
                    };
                    let ascent = maximize(evaluate, b.clone(), MAX_STEPS, GAIN);
                    if !(ascent.value.is_finite() && ascent.gradient_norm.is_finite()) {
                        return Err(Error::NotFinite { what: "the criterion", iteration });
                    }
                    let moved = principal_angles(b.as_ref(), ascent.basis.as_ref())?.last().copied();
                    b = ascent.basis;
                    trace.push(Iteration {
                        iteration,
                        objective: ascent.value / anchors.len() as f64,
                        gradient_norm: ascent.gradient_norm,
                        moved,
                    });
                    let iteration = trace.last().expect("just pushed");
                    let progress = Progress { iteration, max_iter: self.max_iter, basis: b.as_ref() };
                    if observer.on_iteration(progress).is_break() {
                        stop = StopReason::Cancelled;
                        break;
                    }
                    if moved.is_some_and(|angle| angle < self.tolerance) {
                        stop = StopReason::Settled;
                        break;
                    }
                }
                let mut outer =
                    objective.evaluate_with(b.as_ref(), &hoods, &anchors, &mut scratch).slope_outer;
                outer *= 1.0 / anchors.len() as f64;
                let (basis, eigenvalues) = principal_basis(b.as_ref(), outer.as_ref())
                    .ok_or(Error::NotFinite { what: "the average slope", iteration: trace.len() })?;
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
                    Some(neighborhood_size(data.n_samples(), self.n_components, MIN_NEIGHBORS_PROJECTED))
                }
                _ => None,
            },
            seed: None,
            trace,
            stop_reason,
        })
    }
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
