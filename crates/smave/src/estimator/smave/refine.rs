//! Refinement: full-batch L-BFGS on neighborhoods that are renewed every few steps.
//!
//! Between renewals neighborhoods are frozen, and the criterion is a smooth function of B. One renewal finds the neighbors of
//! the anchors in the current projection; from the same search comes the leave-one-out error
//! of the basis it begins with, at the cost of one more pass over the local regressions. What L-BFGS has learned
//! about the curvature is kept from one renewal to the next.

use crate::data::design::Rows;
use crate::error::{Error, Result};
use crate::estimator::ascent::{Ascended, Effort, ascend};
use crate::estimator::journal::{Journal, Told};
use crate::linalg::{Mat, Points};
use crate::local::index::build_index;
use crate::local::neighborhoods::{Neighborhoods, Weighting};
use crate::objective::mave::MaveObjective;
use crate::optim::lbfgs::Lbfgs;

/// The gain, relative to the value, below which an ascent ends before its steps are used up.
const GAIN: f64 = 1e-6;

/// One ascent after another over fixed anchors.
pub(crate) struct Refiner<'a> {
    objective: MaveObjective<'a>,
    /// Rows at which local regressions are fitted.
    anchors: &'a [usize],
    weighting: Weighting,
    /// Covariates that stay out.
    out: Vec<usize>,
    lbfgs: Lbfgs,
}

/// A basis seen through the neighborhoods of its own projection.
pub(crate) struct View {
    pub hoods: Neighborhoods,
    pub z: Points,
}

impl<'a> Refiner<'a> {
    pub fn new(objective: MaveObjective<'a>, anchors: &'a [usize], weighting: Weighting) -> Self {
        Self { objective, anchors, weighting, out: Vec::new(), lbfgs: Lbfgs::default() }
    }

    /// From now on covariates that take no part in `b` stay out. Forgets the steps made so far, in which they may
    /// have taken part.
    pub fn leave_out(&mut self, b: &Mat<f64>) {
        self.out = (0..b.nrows()).filter(|&i| (0..b.ncols()).all(|j| b[(i, j)] == 0.0)).collect();
        self.lbfgs = Lbfgs::default();
    }

    /// The neighborhoods of the anchors in the projection by `b`.
    pub fn view(&self, b: &Mat<f64>, k: usize) -> Result<View> {
        let z = self.objective.design().project(b.as_ref(), Rows::All)?;
        if !z.values().iter().all(|v| v.is_finite()) {
            return Err(Error::NotFinite { what: "the projection of X", iteration: 0 });
        }
        let weights = self.objective.weights();
        let hoods = Neighborhoods::find(&*build_index(&z, k), &z, self.anchors, k, self.weighting, weights);
        Ok(View { hoods, z })
    }

    /// Leave-one-out error at the anchors.
    pub fn loo_error(&self, view: &View) -> f64 {
        self.objective.leave_one_out(&view.z, &view.hoods, self.anchors)
    }

    /// The average outer product of slopes at the anchors.
    pub fn slope_outer(&self, view: &View) -> Mat<f64> {
        self.objective.average_slope_outer(&view.z, &view.hoods)
    }

    /// Renews the neighborhoods for `b` and ascends, unless `journal` knows where that leads.
    pub fn round(&mut self, b: &Mat<f64>, k: usize, steps: usize, journal: &mut Journal<'_>) -> Result<Told> {
        let mut lbfgs = std::mem::take(&mut self.lbfgs);
        let told = journal.round(b, &mut lbfgs, |lbfgs, iteration| {
            let view = self.view(b, k)?;
            let effort = Effort { steps, gain: GAIN };
            ascend(&self.objective, b, &view.hoods, &self.out, effort, lbfgs, iteration)
        });
        self.lbfgs = lbfgs;
        told
    }

    /// Ascends from `b` on the neighborhoods of `view`.
    pub fn ascend(&mut self, b: &Mat<f64>, view: &View, steps: usize) -> Result<Ascended> {
        let effort = Effort { steps, gain: GAIN };
        ascend(&self.objective, b, &view.hoods, &self.out, effort, &mut self.lbfgs, 0)
    }
}
