//! How sure the directions are, and which covariates matter.
//!
//! | question | answer |
//! |---|---|
//! | how exact is a loading | an interval for each entry of the directions, in original units, by the bootstrap |
//! | how exact is the subspace | angles within which the true subspace lies |
//! | how much does a covariate matter | its relevance, the length of its row of the projector $B B^\top$ (0 to 1), with an interval |
//! | does it matter at all | a permutation p-value (`permutation.rs`) |
//!
//! **Bootstrap.** Rows are drawn with replacement and SMAVE refitted from the directions found, without screening: a
//! covariate that was left out has an interval too. The basis of each replicate is turned within its span towards the
//! basis found (orthogonal Procrustes), because a subspace has no basis of its own; what is left is the variation of
//! the subspace. An interval is the estimate ± the quantile of the absolute deviations of the replicates from
//! their mean.
//!
//! Replicates run in parallel, each with random numbers of its own: the same seed gives the same intervals on one
//! thread and on many.

mod bootstrap;
mod permutation;

use std::ops::ControlFlow;

use serde::Serialize;

use crate::checkpoint::Checkpoint;
use crate::data::dataset::Dataset;
use crate::error::{Error, Result};
use crate::estimator::reduction::Reduction;
use crate::rng::{Purpose, sorted_sample, stream};
use crate::tally::{Tally, Watch};

use bootstrap::Replicates;

/// Intervals and tests for a fitted reduction. See [`Uncertainty::new`] for the defaults.
#[derive(Clone, Debug, Serialize)]
pub struct Uncertainty {
    replicates: usize,
    permutations: usize,
    level: f64,
    max_rows: usize,
    seed: u64,
}

/// An estimate and the interval around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The estimate.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies within it.
    pub fn covers(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// What is known about one covariate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Covariate {
    /// Its name.
    pub name: String,
    /// The length of its row of the projector onto the subspace, columns scaled as in the fit.
    pub relevance: Interval,
    /// How often a covariate like it, but without effect, would look as relevant by chance.
    pub p_value: f64,
    /// Its loading in each direction, in original units.
    pub loadings: Vec<Interval>,
}

/// Intervals and tests for one reduction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The share of intervals that cover the truth.
    pub level: f64,
    /// Bootstrap replicates.
    pub replicates: usize,
    /// Covariates in the order of the data.
    pub covariates: Vec<Covariate>,
    /// Principal angles (radians, increasing) within which the true subspace lies, each at the level.
    pub angles: Vec<f64>,
}

impl Explanation {
    /// Places of the covariates, the most relevant first; of equally relevant ones that with the smallest p-value.
    pub fn ranking(&self) -> Vec<usize> {
        let key = |i: usize| (self.covariates[i].relevance.estimate, self.covariates[i].p_value);
        let mut order: Vec<usize> = (0..self.covariates.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (key(a), key(b));
            b.0.total_cmp(&a.0).then(a.1.total_cmp(&b.1))
        });
        order
    }
}

impl Default for Uncertainty {
    fn default() -> Self {
        Self::new()
    }
}

impl Uncertainty {
    /// 200 replicates, 499 permutations, intervals at 0.9, tests on at most 5000 rows.
    pub fn new() -> Self {
        Self { replicates: 200, permutations: 499, level: 0.9, max_rows: 5000, seed: 0 }
    }

    /// Bootstrap replicates, at least 20.
    pub fn replicates(mut self, replicates: usize) -> Self {
        self.replicates = replicates;
        self
    }

    /// Permutations behind each p-value, which cannot be less than one over one more than that.
    pub fn permutations(mut self, permutations: usize) -> Self {
        self.permutations = permutations;
        self
    }

    /// The share of intervals that should cover the truth.
    pub fn level(mut self, level: f64) -> Self {
        self.level = level;
        self
    }

    /// Rows the tests use at the most, drawn at random: more find smaller effects and take longer.
    pub fn max_rows(mut self, max_rows: usize) -> Self {
        self.max_rows = max_rows;
        self
    }

    /// The seed of replicates and permutations.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Explains `reduction`, which was fitted to `data`.
    ///
    /// # Errors
    /// When `data` has other covariates, a setting is out of range, or a fit fails.
    pub fn run(&self, reduction: &Reduction, data: &Dataset<'_>) -> Result<Explanation> {
        self.run_watched(reduction, data, &|_, _| ControlFlow::Continue(()), None)
    }

    /// Explains, telling `watch` after each replicate and each test how many are done. With a checkpoint, what was done
    /// before is not done again.
    ///
    /// # Errors
    /// As [`Uncertainty::run`], [`Error::Cancelled`], and when the checkpoint cannot be written.
    pub fn run_watched(
        &self,
        reduction: &Reduction,
        data: &Dataset<'_>,
        watch: &Watch<'_>,
        checkpoint: Option<&Checkpoint>,
    ) -> Result<Explanation> {
        self.check(reduction, data)?;
        let p = data.n_features();
        let tally = Tally::new(watch, self.replicates + p).keeping(checkpoint);
        let replicates = Replicates::draw(reduction, data, self.replicates, self.seed, &tally)?;
        let p_values = permutation::p_values(
            reduction,
            &data.subset(&self.test_rows(data.n_samples()))?,
            self.permutations,
            self.seed,
            &tally,
        )?;
        let scale = reduction.standardization().scale();
        let covariates = (0..p)
            .map(|i| Covariate {
                name: data.names()[i].clone(),
                relevance: replicates.relevance(i, self.level),
                p_value: p_values[i],
                loadings: (0..reduction.n_components())
                    .map(|j| replicates.loading(i, j, self.level, scale[i]))
                    .collect(),
            })
            .collect();
        let angles = replicates.angles(self.level);
        Ok(Explanation { level: self.level, replicates: self.replicates, covariates, angles })
    }

    fn check(&self, reduction: &Reduction, data: &Dataset<'_>) -> Result<()> {
        reduction.expect_covariates(data)?;
        let refuse = |name, value: String, requirement: &str| {
            Err(Error::InvalidParameter { name, value, requirement: requirement.into() })
        };
        if self.replicates < 20 {
            return refuse("replicates", self.replicates.to_string(), "at least 20");
        }
        if self.permutations < 19 {
            return refuse("permutations", self.permutations.to_string(), "at least 19");
        }
        if !(self.level > 0.0 && self.level < 1.0) {
            return refuse("level", self.level.to_string(), "between 0 and 1, for example 0.9");
        }
        if self.max_rows < 50 {
            return refuse("max_rows", self.max_rows.to_string(), "at least 50");
        }
        Ok(())
    }

    fn test_rows(&self, n: usize) -> Vec<usize> {
        sorted_sample(&mut stream(self.seed, Purpose::Subset, 3), n, self.max_rows)
    }
}
