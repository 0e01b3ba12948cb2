//! SMAVE, the default estimator: many starts, a race, and a refinement to convergence.
//!
//! Published SMAVE ([`PublishedSmave`]) stops after 100 noisy steps from one random start. This estimator maximizes the same
//! criterion, to the end and from the right place:
//!
//! 1. **Starts** (`starts.rs`): frames that fail in different ways.
//! 2. **Race** (`race.rs`): successive halving on the leave-one-out error of the local linear regression.
//! 3. **Refine** (`refine.rs`): full-batch Riemannian L-BFGS on neighborhoods renewed every few steps,
//!    with Epanechnikov weights, until a renewal no longer turns the subspace. Where the two best of the race are
//!    different subspaces and n is at least 20 p, both are refined and the one with the less error goes on.
//! 4. **Screen** (`screen.rs`): covariates that do not pay for themselves are left out, by Akaike's criterion on
//!    the leave-one-out error. This is the guard against overfitting when n/p is small.
//! 5. **Neighborhood size**: of 2, 1 and 4 times the published $k = \lceil n^{4/(d+4)} \rceil$ the one with the least
//!    leave-one-out error, never fewer than 3 (d + 1); then refined once more.
//!
//! Starts are made and raced on a random part of the rows where there are more than 1500 and 20 p: they
//! have to lie in the right basin, no more. The refinement sees all rows, at a random part of the anchors where
//! there are many: enough that each row lies in 64 neighborhoods on average, because the terms of anchors whose
//! neighborhoods overlap that much say nearly the same. Renewals end when one turns the subspace by less than
//! 0.02 radians, or two in a row turn it hardly less than one before.
//!
//! At (n, p, d) = (1000, 50, 2) on one thread starts take some 110 ms, the race 60, and refinement, screening and
//! the choice of k 110. In general the walk costs 60 m p^2 per step for m rows, with some ten steps; each
//! renewal a search for the neighbors of the anchors; each step 2 n p d for the products with X, and k d^2 per
//! anchor. `smave bench --methods smave --ablate` runs it with each part off in turn.
//!
//! It targets the central mean subspace and needs no condition on X. The eigenvalues of the [`Reduction`] are
//! those of the average outer product of local slopes.

mod race;
pub(crate) mod refine;
mod screen;
mod starts;

use rand::seq::index::sample;
use serde::Serialize;

use crate::data::dataset::Dataset;
use crate::data::dense::Dense;
use crate::data::design::{Design, Rows, expect_size};
use crate::data::standardize::Standardization;
use crate::error::{Error, Result};
use crate::estimator::journal::Journal;
use crate::estimator::published::PublishedSmave;
use crate::estimator::reduction::{Reduction, principal_basis};
use crate::estimator::{Estimator, check_dimension, check_rows, scaling};
use crate::linalg::{Mat, Points, orthonormalize};
use crate::local::neighborhoods::Weighting;
use crate::local::size::{MIN_NEIGHBORS_PROJECTED, neighborhood_size};
use crate::objective::mave::MaveObjective;
use crate::optim::patience::Patience;
use crate::optim::trace::{Observer, StopReason};
use crate::parallel::in_hot_pool;
use crate::rng::{Purpose, sorted_sample, stream};

use race::{Runner, finalists, keep, race, recall, report};
use refine::Refiner;
use screen::screen;
use starts::guesses;

/// SMAVE. Every part can be switched off; see [`Smave::new`] for the defaults.
#[derive(Clone, Debug, Serialize)]
pub struct Smave {
    n_components: usize,
    walk: bool,
    moments: bool,
    opg: bool,
    random_starts: usize,
    overparametrized: usize,
    #[serde(skip)]
    warm_start: Option<Mat<f64>>,
    refine: bool,
    screen: bool,
    choose_neighbors: bool,
    n_neighbors: Option<usize>,
    weighting: Weighting,
    max_iter: usize,
    tolerance: f64,
    ridge: f64,
    standardize: bool,
    seed: u64,
}

/// Starts are made and raced on at most so many rows, or so many times p if that is more.
const RACE_ROWS: usize = 1500;
const RACE_ROWS_PER_COVARIATE: usize = 20;

/// Rows per covariate from which two finalists of a race are both refined.
const ROWS_PER_COVARIATE_TO_JUDGE: usize = 20;

/// Anchors of the refinement: enough that a row lies in so many neighborhoods on average, and never fewer than that.
const COVERAGE: usize = 64;
const FEWEST_ANCHORS: usize = 1000;

/// Anchors for choices: which covariates stay, which neighborhood size.
const LOOK_ANCHORS: usize = 600;

/// Renewals in a row that turn the subspace no less than one before, after which no more are made.
const PATIENCE: usize = 2;

/// Times renewals may run up to their limit: for each of two finalists, and after screening.
const PASSES: usize = 3;

/// Steps of L-BFGS between renewals.
const STEPS: usize = 8;

/// Multiples of the published k. With Epanechnikov weights four neighbors in the plane count as three.
const MULTIPLES: [f64; 3] = [2.0, 1.0, 4.0];

impl Smave {
    /// The walk, two moment-based frames, OPG where p is at most 20, two random starts and an over-parametrized one; at most 12
    /// renewals; columns scaled to unit variance.
    pub fn new(n_components: usize) -> Self {
        Self {
            n_components,
            walk: true,
            moments: true,
            opg: true,
            random_starts: 2,
            overparametrized: 1,
            warm_start: None,
            refine: true,
            screen: true,
            choose_neighbors: true,
            n_neighbors: None,
            weighting: Weighting::Epanechnikov,
            max_iter: 12,
            tolerance: 0.02,
            ridge: 1e-5,
            standardize: true,
            seed: 0,
        }
    }

    /// SMAVE exactly as published.
    pub fn published(n_components: usize) -> PublishedSmave {
        PublishedSmave::new(n_components)
    }

    /// The regime that the paper's convergence results analyze.
    pub fn theory(n_components: usize) -> PublishedSmave {
        PublishedSmave::theory(n_components)
    }

    /// Whether the walk from p dimensions down is a start.
    pub fn walk(mut self, walk: bool) -> Self {
        self.walk = walk;
        self
    }

    /// Whether frames from the inverse family are starts.
    pub fn moments(mut self, moments: bool) -> Self {
        self.moments = moments;
        self
    }

    /// Whether OPG is a start, where p is at most 20.
    pub fn opg(mut self, opg: bool) -> Self {
        self.opg = opg;
        self
    }

    /// Short runs of published SMAVE from random frames.
    pub fn random_starts(mut self, random_starts: usize) -> Self {
        self.random_starts = random_starts;
        self
    }

    /// Short runs in d + 2 dimensions, of which the d leading ones are kept.
    pub fn overparametrized(mut self, overparametrized: usize) -> Self {
        self.overparametrized = overparametrized;
        self
    }

    /// Begins with these directions (p x d, in the original units of X, as [`Reduction::directions`] gives them)
    /// instead of making and racing starts.
    pub fn warm_start(mut self, directions: impl Into<Option<Mat<f64>>>) -> Self {
        self.warm_start = directions.into();
        self
    }

    /// Whether the winner of the race is refined.
    pub fn refine(mut self, refine: bool) -> Self {
        self.refine = refine;
        self
    }

    /// Whether covariates that do not pay for themselves are left out.
    pub fn screen(mut self, screen: bool) -> Self {
        self.screen = screen;
        self
    }

    /// Whether k is chosen by leave-one-out error, or twice the published one.
    pub fn choose_neighbors(mut self, choose_neighbors: bool) -> Self {
        self.choose_neighbors = choose_neighbors;
        self
    }

    /// k, the neighbors that carry weight; by default chosen among multiples of ⌈n^{4/(d+4)}⌉ by leave-one-out error.
    pub fn n_neighbors(mut self, n_neighbors: impl Into<Option<usize>>) -> Self {
        self.n_neighbors = n_neighbors.into();
        self
    }

    /// How neighbors are weighted, in the race and everything after it; by default Epanechnikov weights.
    pub fn weighting(mut self, weighting: Weighting) -> Self {
        self.weighting = weighting;
        self
    }

    /// Renewals of the neighborhoods at the most, before screening and once more after it.
    pub fn max_iter(mut self, max_iter: usize) -> Self {
        self.max_iter = max_iter;
        self
    }

    /// The angle (radians) below which a renewal has not turned the subspace.
    pub fn tolerance(mut self, angle: f64) -> Self {
        self.tolerance = angle;
        self
    }

    /// ε, the ridge of the local regressions.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = ridge;
        self
    }

    /// Whether columns are scaled to unit variance first.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// The seed of everything random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The k of the published rule times a multiple, within what local regressions need and the rows allow.
    fn neighborhood(&self, n: usize, multiple: f64) -> usize {
        let published = neighborhood_size(n, self.n_components, MIN_NEIGHBORS_PROJECTED);
        let k = self.n_neighbors.unwrap_or((multiple * published as f64).round() as usize);
        k.max(3 * (self.n_components + 1)).min(n)
    }

    fn fit_here(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        check_dimension(self.n_components, data)?;
        check_rows(self.n_components, data)?;
        let standardization = scaling(data, self.standardize)?;
        let x = standardization.apply(data.x())?;
        let (candidates, runners) = match &self.warm_start {
            Some(directions) => (vec![self.given_start(directions, &standardization)?], Vec::new()),
            None => {
                let runners = self.race_starts(&x, data, observer)?;
                (finalists(&runners)?, runners)
            }
        };
        let objective = MaveObjective::new(&x, data.responses(), self.ridge)?.counting(data.weights());
        let anchors = self.anchors(x.n_rows(), data.n_counted());
        let mut journal = Journal::new(observer, PASSES * self.max_iter);
        let refined = self.polish(objective, &anchors, candidates, &mut journal)?;
        let trace = journal.trace;
        let starts = report(runners, refined.chosen)?;
        let (basis, eigenvalues) = principal_basis(refined.basis.as_ref(), refined.outer.as_ref())
            .ok_or(Error::NotFinite { what: "the average slope", iteration: trace.len() })?;
        Ok(Reduction {
            method: self.name().into(),
            basis,
            eigenvalues,
            standardization,
            names: data.names().to_vec(),
            n_samples: data.n_samples(),
            n_neighbors: Some(refined.k),
            seed: Some(self.seed),
            trace,
            stop_reason: refined.stop,
            starts,
            loo_error: Some(refined.error),
        })
    }

    /// The start that was given, as an orthonormal basis for the columns as they are seen.
    fn given_start(&self, directions: &Mat<f64>, standardization: &Standardization) -> Result<Mat<f64>> {
        expect_size(
            "rows of the warm start against covariates",
            standardization.scale().len(),
            directions.nrows(),
        )?;
        expect_size("columns of the warm start against dimensions", self.n_components, directions.ncols())?;
        orthonormalize(standardization.rescale(directions.as_ref()).as_ref())
            .ok_or(Error::RankDeficient { what: "warm start", columns: self.n_components })
    }

    /// Makes and races the starts, on some rows if there are very many.
    fn race_starts(
        &self,
        x: &dyn Design,
        whole: &Dataset<'_>,
        observer: &dyn Observer,
    ) -> Result<Vec<Runner>> {
        let (n, p) = (x.n_rows(), x.n_cols());
        let kept = observer.checkpoint();
        if let Some(runners) = kept.and_then(|checkpoint| recall(checkpoint, p, self.n_components)) {
            return Ok(runners);
        }
        let count = n.min(RACE_ROWS.max(RACE_ROWS_PER_COVARIATE * p));
        let mut rng = stream(self.seed, Purpose::Subset, 0);
        // In random order, so that the first few are a sample too.
        let rows = sample(&mut rng, n, count).into_vec();
        let mut points = Points::zeros(count, p);
        x.copy_rows_into(Rows::Subset(&rows), &mut points);
        let weights = whole.weights().map(|weights| rows.iter().map(|&row| weights[row]).collect());
        let x = Dense::new(points.values(), count, p)?;
        let data = Dataset::of_responses(x, whole.raw_responses().at(&rows), weights)?;
        let objective = MaveObjective::new(data.x(), data.responses(), self.ridge)?.counting(data.weights());
        let anchors: Vec<usize> = (0..count).collect();
        let guesses = guesses(self, &data, observer)?;
        let k = self.neighborhood(data.n_counted(), 2.0);
        let runners = race(guesses, objective, &anchors, k, self.weighting, observer)?;
        if let Some(checkpoint) = kept {
            keep(checkpoint, &runners)?;
        }
        Ok(runners)
    }

    /// The anchors of the refinement, out of n rows that count as so many, in increasing order.
    fn anchors(&self, n: usize, counted: usize) -> Vec<usize> {
        let k = self.neighborhood(counted, 1.0);
        let count = FEWEST_ANCHORS.max(COVERAGE * counted / k).min(n);
        let mut rng = stream(self.seed, Purpose::Subset, 1);
        sorted_sample(&mut rng, n, count)
    }

    /// Refines, leaves out covariates that do not pay, and settles the neighborhood size.
    fn polish(
        &self,
        objective: MaveObjective<'_>,
        anchors: &[usize],
        mut candidates: Vec<Mat<f64>>,
        journal: &mut Journal<'_>,
    ) -> Result<Refined> {
        let n = objective.n_counted();
        let mut k = self.neighborhood(n, MULTIPLES[0]);
        let mut stop = StopReason::MaxIterations;
        let mut refiner = Refiner::new(objective, anchors, self.weighting);
        let mut basis = candidates.remove(0);
        let mut chosen = 0;
        if self.refine {
            (basis, stop) = self.converge(&mut refiner, basis, k, journal)?;
            // Two subspaces that the race could not tell apart are judged by where they lead, unless rows are so few that
            // errors after refinement say more about overfitting than about subspaces.
            if let Some(second) = candidates.pop()
                && stop != StopReason::Cancelled
                && n >= ROWS_PER_COVARIATE_TO_JUDGE * basis.nrows()
            {
                let mut other = Refiner::new(objective, anchors, self.weighting);
                let (second, end) = self.converge(&mut other, second, k, journal)?;
                let error = |b: &Mat<f64>| Ok::<_, Error>(refiner.loo_error(&refiner.view(b, k)?));
                if end == StopReason::Cancelled || error(&second)? < error(&basis)? {
                    (refiner, basis, stop, chosen) = (other, second, end, 1);
                }
            }
        }
        if self.refine && stop != StopReason::Cancelled {
            let some = some(anchors);
            if self.screen {
                basis = screen(objective, &some, self.weighting, basis, k)?;
            }
            k = self.choose_neighborhood(objective, &some, &basis)?;
            refiner.leave_out(&basis);
            (basis, stop) = self.converge(&mut refiner, basis, k, journal)?;
        }
        let view = refiner.view(&basis, k)?;
        let (error, outer) = (refiner.loo_error(&view), refiner.slope_outer(&view));
        Ok(Refined { basis, chosen, outer, k, error, stop })
    }

    /// Of the multiples the one with the least leave-one-out error.
    fn choose_neighborhood(
        &self,
        objective: MaveObjective<'_>,
        anchors: &[usize],
        basis: &Mat<f64>,
    ) -> Result<usize> {
        let n = objective.n_counted();
        let mut best = (f64::INFINITY, self.neighborhood(n, MULTIPLES[0]));
        if !self.choose_neighbors || self.n_neighbors.is_some() {
            return Ok(best.1);
        }
        let refiner = Refiner::new(objective, anchors, self.weighting);
        for multiple in MULTIPLES {
            let k = self.neighborhood(n, multiple);
            let error = refiner.loo_error(&refiner.view(basis, k)?);
            if error < best.0 {
                best = (error, k);
            }
        }
        Ok(best.1)
    }

    /// Renews and ascends with one neighborhood size until the subspace stops turning.
    fn converge(
        &self,
        refiner: &mut Refiner<'_>,
        mut basis: Mat<f64>,
        k: usize,
        journal: &mut Journal<'_>,
    ) -> Result<(Mat<f64>, StopReason)> {
        let mut stop = StopReason::MaxIterations;
        let mut patience = Patience::default();
        for _ in 0..self.max_iter {
            let round = refiner.round(&basis, k, STEPS, journal)?;
            basis = round.basis;
            if round.cancelled {
                stop = StopReason::Cancelled;
                break;
            }
            if round.turned < self.tolerance {
                stop = StopReason::Settled;
                break;
            }
            if patience.after(round.turned) >= PATIENCE {
                stop = StopReason::Unsettled;
                break;
            }
        }
        Ok((basis, stop))
    }
}

/// A part of the anchors, for what is looked at and not fitted.
fn some(anchors: &[usize]) -> Vec<usize> {
    anchors.iter().copied().step_by(anchors.len().div_ceil(LOOK_ANCHORS).max(1)).collect()
}

/// The basis at the end, and what is known about it.
struct Refined {
    basis: Mat<f64>,
    /// Which of the candidates it comes from.
    chosen: usize,
    /// The average outer product of slopes.
    outer: Mat<f64>,
    k: usize,
    /// Leave-one-out error.
    error: f64,
    stop: StopReason,
}

impl Estimator for Smave {
    fn name(&self) -> &'static str {
        "smave"
    }

    fn fit_observed(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        in_hot_pool(|| self.fit_here(data, observer))
    }
}
