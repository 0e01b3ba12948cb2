//! Published SMAVE: stochastic minimum average variance estimation (the paper's Algorithm 1).
//!
//! Start from a random frame. At each iteration draw m anchors without
//! replacement, sum the gradients of their terms of $F_\varepsilon$ over k-NN
//! neighborhoods in the projected space, and take one heavy-ball step on the
//! Stiefel manifold. Neighborhoods are those of the projection at the last
//! rebuild, every τ iterations; the local regressions use the current one.
//!
//! Which anchors a rebuild period will draw is known in advance (each iteration has its
//! own random stream), so neighbors are found for those anchors only, together and in
//! parallel. Cost per iteration: 2 n p d for the two products with X, m k d^2 for the
//! local regressions; per rebuild a tree over n points and at most τ m queries.
//!
//! It targets the central mean subspace and needs a regression function whose
//! gradients span it; from one random start it can miss a direction along which
//! the average slope is small (even links), which other starts find.

use std::ops::Range;

use rand::seq::index::sample;
use serde::{Deserialize, Serialize};

use crate::checkpoint::Stored;
use crate::data::dataset::Dataset;
use crate::data::design::{Rows, expect_size};
use crate::error::{Error, Result};
use crate::estimator::reduction::{Reduction, principal_basis};
use crate::estimator::{Estimator, check_dimension, check_rows, with_columns};
use crate::linalg::{Mat, MatRef, Points, norm, orthonormalize};
use crate::local::index::{NeighborIndex, build_index};
use crate::local::neighborhoods::{Neighborhoods, Weighting};
use crate::local::size::{MIN_NEIGHBORS_PROJECTED, neighborhood_size};
use crate::manifold::stiefel::random_frame;
use crate::manifold::subspace::largest_angle;
use crate::objective::mave::{MaveObjective, Scratch};
use crate::optim::sgd::HeavyBall;
use crate::optim::step_size::StepSize;
use crate::optim::trace::{Iteration, Observer, Progress, StopReason};
use crate::parallel::in_hot_pool;
use crate::rng::{Purpose, Rng, stream};

/// Stochastic MAVE. Every field has a setter; see [`PublishedSmave::new`] for the defaults.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedSmave {
    n_components: usize,
    max_iter: usize,
    refresh_every: Option<usize>,
    batch_size: Option<usize>,
    step_size: Option<f64>,
    step_decay: f64,
    momentum: f64,
    normalize: bool,
    ridge: f64,
    n_neighbors: Option<usize>,
    weighting: Weighting,
    #[serde(skip)]
    start: Option<Mat<f64>>,
    tolerance: Option<f64>,
    standardize: bool,
    seed: u64,
}

/// Neighbor entries held at a time; a longer period is looked up in parts.
const MAX_ENTRIES: usize = 1 << 26;

/// Anchors at which the slopes of the final basis are averaged.
const SLOPE_ANCHORS: usize = 500;

impl PublishedSmave {
    /// Algorithm 1 with the paper's defaults: T = 100, τ = 25,
    /// m = min(200, max(50, n/50)), α₀ = 0.2, γ = 0.02, β = 0.9, ε = 1e-5,
    /// uniform weights, normalized gradients, a uniform random start, X as it is.
    pub fn new(n_components: usize) -> Self {
        Self {
            n_components,
            max_iter: 100,
            refresh_every: Some(25),
            batch_size: None,
            step_size: None,
            step_decay: 0.02,
            momentum: 0.9,
            normalize: true,
            ridge: 1e-5,
            n_neighbors: None,
            weighting: Weighting::Uniform,
            start: None,
            tolerance: None,
            standardize: false,
            seed: 0,
        }
    }

    /// The simplified regime that the paper's convergence results analyze: neighborhoods never
    /// rebuilt, no momentum, no normalization, a constant step.
    pub fn theory(n_components: usize) -> Self {
        Self::new(n_components).refresh_every(None).momentum(0.0).normalize(false).step_decay(0.0)
    }

    /// T, the number of iterations.
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.max_iter = max_iter;
        self
    }

    /// τ, iterations between rebuilds of the neighborhoods; `None` never rebuilds.
    pub fn refresh_every(mut self, iterations: impl Into<Option<usize>>) -> Self {
        self.refresh_every = iterations.into();
        self
    }

    /// m, anchors per iteration; by default min(200, max(50, n/50)), never more than n.
    pub fn batch_size(mut self, batch_size: impl Into<Option<usize>>) -> Self {
        self.batch_size = batch_size.into();
        self
    }

    /// α₀, the first step. By default 0.2 with normalized gradients, and 0.2 / n without,
    /// because the gradient is then that of a sum over n anchors.
    pub fn step_size(mut self, step_size: impl Into<Option<f64>>) -> Self {
        self.step_size = step_size.into();
        self
    }

    /// γ, the decay of the step; 0 keeps it constant.
    pub fn step_decay(mut self, step_decay: f64) -> Self {
        self.step_decay = step_decay;
        self
    }

    /// β, the momentum; 0 turns it off.
    pub fn momentum(mut self, momentum: f64) -> Self {
        self.momentum = momentum;
        self
    }

    /// Whether gradients are divided by their norm.
    pub fn normalize(mut self, normalize: bool) -> Self {
        self.normalize = normalize;
        self
    }

    /// ε, the ridge of the local regressions.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = ridge;
        self
    }

    /// k, neighbors per anchor, the anchor among them; by default ⌈n^{4/(d+4)}⌉ clipped to [20, n/3].
    pub fn n_neighbors(mut self, n_neighbors: impl Into<Option<usize>>) -> Self {
        self.n_neighbors = n_neighbors.into();
        self
    }

    /// How neighbors are weighted.
    pub fn weighting(mut self, weighting: Weighting) -> Self {
        self.weighting = weighting;
        self
    }

    /// B₀, the start, p x d in the coordinates of the fit; by default uniformly
    /// random. Its columns are orthonormalized.
    pub fn start(mut self, start: impl Into<Option<Mat<f64>>>) -> Self {
        self.start = start.into();
        self
    }

    /// Ends the fit early once the subspace turned by less than this angle (radians)
    /// between two rebuilds; off by default.
    pub fn tolerance(mut self, angle: impl Into<Option<f64>>) -> Self {
        self.tolerance = angle.into();
        self
    }

    /// Whether columns are centered and scaled to unit variance first. Sensible
    /// whenever units differ; off by default here, as published.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// The seed of the start and of the batches.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    fn fit_here(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        let plan = self.plan(data)?;
        let mut trace = Vec::new();
        let ((basis, eigenvalues, stop_reason), standardization) =
            with_columns(data, self.standardize, |x| {
                let objective = MaveObjective::new(x, data.responses(), self.ridge)?.counting(data.weights());
                let (basis, stop_reason) = self.ascend(&objective, &plan, &mut trace, observer)?;
                let (basis, eigenvalues) = self.finish(&objective, &plan, basis)?;
                Ok((basis, eigenvalues, stop_reason))
            })?;
        Ok(Reduction {
            method: self.name().into(),
            basis,
            eigenvalues,
            standardization,
            names: data.names().to_vec(),
            n_samples: data.n_samples(),
            n_neighbors: Some(plan.k),
            seed: Some(self.seed),
            trace,
            stop_reason,
            starts: Vec::new(),
            loo_error: None,
        })
    }

    /// The loop of Algorithm 1.
    fn ascend(
        &self,
        objective: &MaveObjective<'_>,
        plan: &Plan,
        trace: &mut Vec<Iteration>,
        observer: &mut dyn Observer,
    ) -> Result<(Mat<f64>, StopReason)> {
        let p = objective.design().n_cols();
        let mut b = plan.start.clone();
        let mut ascent = HeavyBall::new(p, self.n_components, plan.step, self.momentum, self.normalize);
        let mut scratch = Scratch::default();
        let kept = observer.checkpoint().and_then(|checkpoint| checkpoint.recall(PIECE));
        if let Some((basis, velocity, found)) = kept.and_then(|kept: Kept| kept.of(p, self.n_components)) {
            b = basis;
            ascent.resume(velocity);
            *trace = found;
        }
        let done = trace.len();
        for period in self.periods().skip_while(|period| period.start < done) {
            if let Some(checkpoint) = observer.checkpoint().filter(|checkpoint| checkpoint.is_due()) {
                checkpoint.keep(PIECE, &Kept::new(&b, ascent.velocity(), trace))?;
            }
            // Neighborhoods of this whole period are those of the projection at its beginning.
            let at_rebuild = b.clone();
            let z = project_finite(objective, b.as_ref(), period.start)?;
            let index = build_index(&z, plan.k);
            let mut lookahead = Lookahead::empty(period.start);
            for t in period.clone() {
                if t == lookahead.iterations.end {
                    lookahead = Lookahead::next(t..period.end, self, plan, &*index, &z, objective.weights());
                }
                let anchors = lookahead.batch(t);
                let evaluation = objective.evaluate_with(b.as_ref(), &lookahead.hoods, anchors, &mut scratch);
                let (n, m) = (plan.n as f64, anchors.len() as f64);
                let mut gradient = evaluation.gradient;
                gradient *= n / m;
                b = ascent
                    .advance(&b, &gradient, t)
                    .ok_or(Error::NotFinite { what: "the gradient or the step", iteration: t })?;

                let last = t + 1 == period.end;
                let moved = if last { Some(largest_angle(at_rebuild.as_ref(), b.as_ref())?) } else { None };
                trace.push(Iteration {
                    iteration: t,
                    objective: evaluation.value / m,
                    gradient_norm: norm(gradient.as_ref()),
                    moved,
                });
                let iteration = trace.last().expect("just pushed");
                let progress = Progress { iteration, max_iter: self.max_iter, basis: b.as_ref() };
                if observer.on_iteration(progress).is_break() {
                    return Ok((b, StopReason::Cancelled));
                }
                if let (Some(moved), Some(tolerance)) = (moved, self.tolerance)
                    && moved < tolerance
                {
                    return Ok((b, StopReason::Settled));
                }
            }
        }
        Ok((b, StopReason::MaxIterations))
    }

    /// Rotates the basis to its principal axes.
    fn finish(
        &self,
        objective: &MaveObjective<'_>,
        plan: &Plan,
        b: Mat<f64>,
    ) -> Result<(Mat<f64>, Vec<f64>)> {
        let z = project_finite(objective, b.as_ref(), self.max_iter)?;
        let index = build_index(&z, plan.k);
        let mut rng = stream(self.seed, Purpose::Slopes, 0);
        let mut anchors = plan.draw(&mut rng, SLOPE_ANCHORS.min(plan.n));
        anchors.sort_unstable();
        let hoods = Neighborhoods::find(&*index, &z, &anchors, plan.k, self.weighting, objective.weights());
        let outer = objective.average_slope_outer(&z, &hoods);
        principal_basis(b.as_ref(), outer.as_ref())
            .ok_or(Error::NotFinite { what: "the average slope", iteration: self.max_iter })
    }

    /// The iterations between rebuilds. Algorithm 1 rebuilds after iteration t
    /// when t > 0 and τ divides t: the first period is one longer than the others.
    fn periods(&self) -> impl Iterator<Item = Range<usize>> {
        let tau = self.refresh_every.unwrap_or(usize::MAX);
        let (mut start, all) = (0usize, self.max_iter);
        std::iter::from_fn(move || {
            // The next multiple of τ that is positive and not before `start`, inclusive.
            let last = start.max(1).div_ceil(tau).saturating_mul(tau);
            let end = last.saturating_add(1).min(all);
            let period = start..end;
            start = end;
            Some(period).filter(|period| !period.is_empty())
        })
    }

    /// Settings checked against the data, and what follows from both.
    fn plan(&self, data: &Dataset<'_>) -> Result<Plan> {
        let rows =
            data.weights().map(|weights| (0..weights.len()).filter(|&row| weights[row] > 0.0).collect());
        let n = rows.as_ref().map_or(data.n_samples(), Vec::len);
        let (p, d) = (data.n_features(), self.n_components);
        check_dimension(d, data)?;
        check_rows(d, data)?;
        let initial = self.step_size.unwrap_or(if self.normalize { 0.2 } else { 0.2 / n as f64 });
        require("step_size", initial, initial > 0.0 && initial.is_finite(), "positive and finite")?;
        let decay = self.step_decay;
        require("step_decay", decay, decay >= 0.0 && decay.is_finite(), "finite, zero or more")?;
        require(
            "momentum",
            self.momentum,
            (0.0..1.0).contains(&self.momentum),
            "at least 0 and less than 1",
        )?;
        require("ridge", self.ridge, self.ridge >= 0.0 && self.ridge.is_finite(), "finite, zero or more")?;
        require("max_iter", self.max_iter, self.max_iter > 0, "at least 1")?;
        if let Some(tau) = self.refresh_every {
            require("refresh_every", tau, tau > 0, "at least 1; use None to never rebuild")?;
        }
        if let Some(angle) = self.tolerance {
            require("tolerance", angle, angle > 0.0, "a positive angle in radians; use None to turn it off")?;
        }
        let m = self.batch_size.unwrap_or((n / 50).clamp(50, 200).min(n));
        require("batch_size", m, (1..=n).contains(&m), &format!("between 1 and the number of rows, {n}"))?;
        let counted = data.n_counted();
        let k = self.n_neighbors.unwrap_or_else(|| neighborhood_size(counted, d, MIN_NEIGHBORS_PROJECTED));
        let requirement = format!("between 2 and the number of rows, {counted}");
        require("n_neighbors", k, (2..=counted).contains(&k), &requirement)?;
        let start = match &self.start {
            None => random_frame(p, d, &mut stream(self.seed, Purpose::Start, 0)),
            Some(start) => {
                expect_size("rows of the start against columns of X", p, start.nrows())?;
                expect_size("columns of the start against dimensions asked for", d, start.ncols())?;
                orthonormalize(start.as_ref()).ok_or(Error::RankDeficient { what: "start", columns: d })?
            }
        };
        Ok(Plan { n, rows, m, k, step: StepSize { initial, decay }, start })
    }
}

impl Estimator for PublishedSmave {
    fn name(&self) -> &'static str {
        "smave-published"
    }

    fn fit_observed(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        in_hot_pool(|| self.fit_here(data, observer))
    }
}

/// The name of an ascent among the pieces of a checkpoint.
const PIECE: &str = "ascent";

/// An ascent where neighborhoods are about to be rebuilt.
#[derive(Serialize, Deserialize)]
struct Kept {
    basis: Stored,
    velocity: Stored,
    trace: Vec<Iteration>,
}

impl Kept {
    fn new(basis: &Mat<f64>, velocity: &Mat<f64>, trace: &[Iteration]) -> Self {
        Self { basis: basis.as_ref().into(), velocity: velocity.as_ref().into(), trace: trace.to_vec() }
    }

    /// Basis, velocity and trace, if they are of that shape.
    fn of(self, p: usize, d: usize) -> Option<(Mat<f64>, Mat<f64>, Vec<Iteration>)> {
        Some((self.basis.matrix(p, d)?, self.velocity.matrix(p, d)?, self.trace))
    }
}

/// What a fit will do, decided once.
struct Plan {
    n: usize,
    /// Rows that count, if some do not.
    rows: Option<Vec<usize>>,
    m: usize,
    k: usize,
    step: StepSize,
    start: Mat<f64>,
}

impl Plan {
    /// J_t: the anchors of iteration t, uniform without replacement.
    fn batch(&self, seed: u64, t: usize) -> Vec<usize> {
        self.draw(&mut stream(seed, Purpose::Batch, t as u64), self.m)
    }

    /// Some of the rows that count.
    fn draw(&self, rng: &mut Rng, count: usize) -> Vec<usize> {
        let mut drawn = sample(rng, self.n, count).into_vec();
        if let Some(rows) = &self.rows {
            drawn.iter_mut().for_each(|row| *row = rows[*row]);
        }
        drawn
    }
}

/// The batches of the next iterations, and the neighborhoods they will ask for.
struct Lookahead {
    iterations: Range<usize>,
    /// For each iteration, its anchors as entries of `hoods`.
    batches: Vec<Vec<usize>>,
    hoods: Neighborhoods,
}

impl Lookahead {
    fn empty(at: usize) -> Self {
        let hoods = Neighborhoods::from_lists([]).expect("nothing to refuse");
        Self { iterations: at..at, batches: Vec::new(), hoods }
    }

    /// As many of `iterations` as fit into memory, at least one.
    fn next(
        iterations: Range<usize>,
        smave: &PublishedSmave,
        plan: &Plan,
        index: &dyn NeighborIndex,
        z: &Points,
        weights: Option<&[f64]>,
    ) -> Self {
        let affordable = (MAX_ENTRIES / (plan.m * plan.k)).max(1);
        let iterations = iterations.start..iterations.end.min(iterations.start + affordable);
        let mut batches: Vec<Vec<usize>> = iterations.clone().map(|t| plan.batch(smave.seed, t)).collect();
        let mut anchors = batches.concat();
        anchors.sort_unstable();
        anchors.dedup();
        for anchor in batches.iter_mut().flatten() {
            *anchor = anchors.binary_search(anchor).expect("collected above");
        }
        let hoods = Neighborhoods::find(index, z, &anchors, plan.k, smave.weighting, weights);
        Self { iterations, batches, hoods }
    }

    fn batch(&self, t: usize) -> &[usize] {
        &self.batches[t - self.iterations.start]
    }
}

/// Z = X B, or an error if a projection overflowed.
fn project_finite(objective: &MaveObjective<'_>, b: MatRef<'_, f64>, iteration: usize) -> Result<Points> {
    let z = objective.design().project(b, Rows::All)?;
    if z.values().iter().all(|v| v.is_finite()) {
        Ok(z)
    } else {
        Err(Error::NotFinite { what: "the projection of X", iteration })
    }
}

fn require(name: &'static str, value: impl ToString, holds: bool, requirement: &str) -> Result<()> {
    if holds {
        Ok(())
    } else {
        Err(Error::InvalidParameter { name, value: value.to_string(), requirement: requirement.into() })
    }
}
