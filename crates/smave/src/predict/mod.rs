//! Regression on the reduced coordinates: predictions, intervals, and a flag where the data say nothing.
//!
//! | regression | prediction at z | neighbors |
//! |---|---|---|
//! | local linear (default) | a plane through the k nearest rows, Epanechnikov weights, at z | k by leave-one-out error among multiples of $n^{4/(d+4)}$ |
//! | nearest neighbors | the mean of the k nearest rows, weighted by one over distance (the paper's) | min(10, n/5) |
//!
//! Predictions stay within the range of the training responses: beyond it a plane knows nothing.
//!
//! **Intervals** are prediction ± a quantile of held-out errors, the $\lceil (m + 1)(1 - \alpha) \rceil$-th smallest
//! of m. Two kinds of errors:
//!
//! - those of rows set aside for it ([`Predictor::calibrate`], split conformal): at least $1 - \alpha$ of new
//!   responses lie in the interval, whatever the model, if rows are exchangeable;
//! - otherwise leave-one-out errors of the regression, given the directions. The directions have seen each row, so
//!   coverage falls short of $1 - \alpha$ by a little where n is not much larger than p.
//!
//! **Outside**: a query is flagged when it lies farther from its (d + 1)-th nearest training row than any training
//! row looked at does.

mod conformal;
pub mod knn;
mod local_linear;
mod queries;
mod training;

pub use knn::knn_regression;
pub use training::{MAX_TRAINING_ROWS, TrainingRows};

use serde::{Deserialize, Serialize};

use crate::data::dataset::count_rows;
use crate::data::design::expect_size;
use crate::error::{Error, Result};
use crate::linalg::Points;
use crate::local::index::{Neighbor, build_index, keep_nearest};
use crate::local::neighborhoods::{NearestCounted, Neighborhoods, Weighting};
use crate::objective::leave_one_out::held_out_residuals;
use crate::parallel::in_hot_pool;
use crate::rng::{Purpose, sorted_sample, stream};

use conformal::quantile;
use local_linear::{LocalLinear, candidates, ridge};
use queries::answer_each;

/// How the response is predicted from reduced coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Regression {
    /// Local linear regression, its neighborhood size chosen by leave-one-out error.
    #[default]
    LocalLinear,
    /// Distance-weighted nearest neighbors.
    NearestNeighbors,
}

/// What is predicted for one query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prediction {
    /// The expected response.
    pub value: f64,
    /// Whether the query lies farther from the training rows than they do from each other.
    pub outside: bool,
}

/// Where the errors behind the intervals come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Calibration {
    /// Leave-one-out errors of the training rows, directions given.
    LeaveOneOut,
    /// Errors at rows that nothing was fitted to.
    HeldOut,
}

/// A regression on reduced coordinates, ready for queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Predictor {
    pub(crate) regression: Regression,
    pub(crate) z: Points,
    pub(crate) y: Vec<f64>,
    /// How much each row counts; `None` if each counts once.
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) n_neighbors: usize,
    /// Squared distance to the (d + 1)-th nearest row beyond which a query is outside.
    pub(crate) reach2: f64,
    pub(crate) calibration: Calibration,
    /// Absolute held-out errors, in increasing order.
    pub(crate) errors: Vec<f64>,
    /// Mean squared leave-one-out error.
    pub(crate) loo_error: f64,
}

/// Training rows at which leave-one-out errors are computed, at the most: the share that an interval covers is then
/// exact to less than a hundredth.
const MAX_ERRORS: usize = 1000;

/// Training rows whose distances are compared, at the most.
const MAX_LOOKED_AT: usize = 1000;

/// Training rows with which k is chosen, at the most: every k is tried with the same.
const MAX_TRIED_WITH: usize = 250;

/// Neighbors, over all rows a k is tried with together, at the most.
const MAX_NEIGHBORS_LOOKED_AT: usize = 1 << 22;

/// Neighbors held in memory at a time, and rows whose neighbors always are.
const MAX_NEIGHBORS_HELD: usize = 1 << 20;
const ROWS_HELD: usize = 64;

impl Predictor {
    /// Fits the regression of `y` on the rows of `z`.
    ///
    /// # Errors
    /// When lengths differ, a number is not finite, or there are fewer than d + 3 rows.
    pub fn new(z: Points, y: Vec<f64>, regression: Regression) -> Result<Self> {
        Self::weighted(z, y, None, regression)
    }

    /// As [`Predictor::new`], with weights that count rows: weight 2 is the row twice.
    ///
    /// # Errors
    /// Also when a weight is negative or not finite.
    pub fn weighted(
        z: Points,
        y: Vec<f64>,
        weights: Option<Vec<f64>>,
        regression: Regression,
    ) -> Result<Self> {
        expect_size("length of y against rows of z", z.len(), y.len())?;
        if let Some(weights) = &weights {
            expect_size("weights against rows of z", z.len(), weights.len())?;
            if let Some(weight) = weights.iter().find(|w| !(**w >= 0.0 && w.is_finite())) {
                let requirement = "finite, zero or more".into();
                return Err(Error::InvalidParameter {
                    name: "weights",
                    value: weight.to_string(),
                    requirement,
                });
            }
        }
        let (n, d) = (count_rows(weights.as_deref(), z.len()), z.dim());
        if n < d + 3 {
            let purpose = format!("to predict from {d} coordinates");
            return Err(Error::TooFewSamples { needed: d + 3, found: n, purpose });
        }
        if !z.values().iter().chain(&y).all(|v| v.is_finite()) {
            return Err(Error::NotFinite { what: "a coordinate or response", iteration: 0 });
        }
        let mut predictor = Self {
            regression,
            n_neighbors: (n / 5).clamp(1, 10),
            reach2: 0.0,
            calibration: Calibration::LeaveOneOut,
            errors: Vec::new(),
            loo_error: f64::NAN,
            z,
            y,
            weights,
        };
        in_hot_pool(|| predictor.tune());
        Ok(predictor)
    }

    /// Settles k, how far away is outside, and the errors behind intervals.
    fn tune(&mut self) {
        if self.regression == Regression::LocalLinear {
            self.choose_neighbors();
        }
        self.reach2 = self.farthest_reach();
        let rows = self.some_rows(MAX_ERRORS);
        self.errors = self.held_out(&rows, self.n_neighbors);
        self.loo_error = self.mean_square(&rows, &self.errors);
        self.errors.iter_mut().for_each(|error| *error = error.abs());
        self.errors.sort_by(f64::total_cmp);
    }

    /// Number of coordinates d.
    pub fn dim(&self) -> usize {
        self.z.dim()
    }

    /// Neighbors k of each prediction.
    pub fn n_neighbors(&self) -> usize {
        self.n_neighbors
    }

    /// How the response is predicted.
    pub fn regression(&self) -> Regression {
        self.regression
    }

    /// The training rows in reduced coordinates.
    pub fn coordinates(&self) -> &Points {
        &self.z
    }

    /// The training responses.
    pub fn responses(&self) -> &[f64] {
        &self.y
    }

    /// Where the errors behind the intervals come from.
    pub fn calibration(&self) -> Calibration {
        self.calibration
    }

    /// Mean squared leave-one-out error of the regression, in the units of y squared.
    pub fn loo_error(&self) -> f64 {
        self.loo_error
    }

    /// Takes the errors at rows that neither the directions nor the regression have seen as the basis of intervals.
    ///
    /// # Errors
    /// When sizes do not fit or there is no row.
    pub fn calibrate(&mut self, z: &Points, y: &[f64]) -> Result<()> {
        expect_size("length of y against rows of z", z.len(), y.len())?;
        if y.is_empty() {
            let purpose = "to calibrate intervals".into();
            return Err(Error::TooFewSamples { needed: 1, found: 0, purpose });
        }
        let found = self.predict(z)?;
        self.errors = found.iter().zip(y).map(|(found, y)| (y - found.value).abs()).collect();
        self.errors.sort_by(f64::total_cmp);
        self.calibration = Calibration::HeldOut;
        Ok(())
    }

    /// Half the width of an interval that covers this share of new responses.
    ///
    /// # Errors
    /// When `level` is not between 0 and 1, or so near 1 that the errors at hand cannot vouch for it.
    pub fn half_width(&self, level: f64) -> Result<f64> {
        quantile(&self.errors, level)
    }

    /// Predictions at `queries`, in their order. Cost per query: the search, and k d^2.
    ///
    /// # Errors
    /// When queries have another number of coordinates, or one that is not finite.
    pub fn predict(&self, queries: &Points) -> Result<Vec<Prediction>> {
        expect_size("coordinates of the queries against those of the model", self.dim(), queries.dim())?;
        if !queries.values().iter().all(|v| v.is_finite()) {
            return Err(Error::NotFinite { what: "a coordinate of a query", iteration: 0 });
        }
        let counts = self.weights.as_deref();
        let k = self.n_neighbors.max(self.rank()).min(count_rows(counts, self.z.len()));
        let index = build_index(&self.z, k);
        let range = self.y.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        let finish = |value: f64, found: &mut [Neighbor]| Prediction {
            value: value.clamp(range.0, range.1),
            outside: ranked_distance2(found, self.rank()) > self.reach2,
        };
        Ok(match self.regression {
            Regression::LocalLinear => {
                LocalLinear::new(&self.z, &self.y).predict(&*index, queries, k, counts, finish)
            }
            Regression::NearestNeighbors => {
                let counted = counts.map(|counts| NearestCounted::new(&*index, counts, self.n_neighbors));
                answer_each(&*index, queries, k, Vec::new, |weights, query, found| {
                    if let Some(counted) = &counted {
                        counted.find(query, Weighting::Uniform, found, weights);
                        let pairs = found.iter().zip(weights.iter().copied());
                        return finish(knn::counted_mean(pairs, &self.y), found);
                    }
                    // More may have been asked for than take part.
                    let mut nearest = found.clone();
                    keep_nearest(&mut nearest, self.n_neighbors);
                    finish(knn::weighted_mean(&nearest, &self.y), found)
                })
            }
        })
    }

    /// The rank of the neighbor whose distance tells how far away a query is.
    fn rank(&self) -> usize {
        self.dim() + 1
    }

    /// The candidate with the least leave-one-out error: from the middle downwards and, unless that helps, upwards, as
    /// long as it gets better. Large neighborhoods cost most and are rarely wanted.
    fn choose_neighbors(&mut self) {
        let sizes = candidates(count_rows(self.weights.as_deref(), self.z.len()), self.dim());
        let error = |k: usize| {
            let rows = self.some_rows((MAX_NEIGHBORS_LOOKED_AT / k).clamp(50, MAX_TRIED_WITH));
            self.mean_square(&rows, &self.held_out(&rows, k))
        };
        let middle = (sizes.len() - 1) / 2;
        let first = (error(sizes[middle]), sizes[middle]);
        let descend = |best: (f64, usize), sizes: &mut dyn Iterator<Item = &usize>| {
            sizes
                .map(|&k| (error(k), k))
                .scan(best, |best, next| {
                    let better = next.0 < best.0;
                    *best = next;
                    better.then_some(next)
                })
                .last()
                .unwrap_or(best)
        };
        let mut best = descend(first, &mut sizes[..middle].iter().rev());
        if best.1 == first.1 {
            best = descend(first, &mut sizes[middle + 1..].iter());
        }
        self.n_neighbors = best.1;
    }

    /// Leave-one-out errors at some training rows.
    fn held_out(&self, rows: &[usize], k: usize) -> Vec<f64> {
        let counts = self.weights.as_deref();
        match self.regression {
            Regression::LocalLinear => {
                let index = build_index(&self.z, k);
                let ridge = ridge(&self.z);
                // Some rows at a time: all their neighbors together can be larger than X.
                let parts = rows.chunks((MAX_NEIGHBORS_HELD / k).max(ROWS_HELD)).flat_map(|rows| {
                    let weighting = Weighting::Epanechnikov;
                    let hoods = Neighborhoods::find(&*index, &self.z, rows, k, weighting, counts);
                    held_out_residuals(&self.z, &self.y, &hoods, rows, ridge)
                });
                parts.collect()
            }
            Regression::NearestNeighbors => {
                let index = build_index(&self.z, k + 1);
                let (mut found, mut weights) = (Vec::new(), Vec::new());
                let counted = counts.map(|counts| NearestCounted::new(&*index, counts, k + 1));
                let error = |&row: &usize| {
                    match (&counted, counts) {
                        (Some(counted), Some(counts)) => {
                            counted.find(self.z.point(row), Weighting::Uniform, &mut found, &mut weights);
                            // Of a row that counts several times, once is left out.
                            let own = found.iter().position(|neighbor| neighbor.row as usize == row);
                            if let Some(own) = own {
                                weights[own] *= 1.0 - 1.0 / counts[row].max(1.0);
                            }
                        }
                        _ => {
                            index.nearest(self.z.point(row), k + 1, &mut found);
                            weights = found.iter().map(|n| f64::from(n.row as usize != row)).collect();
                            if weights.iter().all(|w| *w > 0.0) {
                                // Among many equal points a row need not be its own neighbor.
                                weights[k] = 0.0;
                            }
                        }
                    }
                    self.y[row] - knn::counted_mean(found.iter().zip(weights.iter().copied()), &self.y)
                };
                rows.iter().map(error).collect()
            }
        }
    }

    /// The largest distance, squared, of a training row from its (d + 1)-th nearest other.
    fn farthest_reach(&self) -> f64 {
        let k = (self.rank() + 1).min(self.z.len());
        let index = build_index(&self.z, k);
        let mut found = Vec::new();
        let reach = |row: usize| {
            index.nearest(self.z.point(row), k, &mut found);
            // The row itself is one of them.
            ranked_distance2(&mut found, k)
        };
        self.some_rows(MAX_LOOKED_AT).into_iter().map(reach).fold(0.0, f64::max)
    }

    /// A random part of the training rows that count, in increasing order.
    fn some_rows(&self, most: usize) -> Vec<usize> {
        let counts = |row: &usize| self.weights.as_ref().is_none_or(|weights| weights[*row] > 0.0);
        let all: Vec<usize> = (0..self.z.len()).filter(counts).collect();
        let places = sorted_sample(&mut stream(0, Purpose::Subset, 2), all.len(), most);
        places.into_iter().map(|place| all[place]).collect()
    }

    /// The mean of squared errors at some rows, counted by weight.
    fn mean_square(&self, rows: &[usize], errors: &[f64]) -> f64 {
        let weight = |row: usize| self.weights.as_ref().map_or(1.0, |weights| weights[row]);
        let total: f64 = rows.iter().map(|&row| weight(row)).sum();
        rows.iter().zip(errors).map(|(&row, error)| weight(row) * error * error).sum::<f64>() / total
    }
}

/// The squared distance of the neighbor of some rank, counted from 1.
fn ranked_distance2(found: &mut [Neighbor], rank: usize) -> f64 {
    let place = rank.min(found.len()) - 1;
    found.select_nth_unstable_by(place, |a, b| a.distance2.total_cmp(&b.distance2)).1.distance2
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A smooth surface over the plane.
    fn surface(n: usize, noise: f64, seed: u64) -> (Points, Vec<f64>) {
        use rand::RngExt;
        use rand_distr::StandardNormal;
        let mut rng = stream(seed, Purpose::Rows, 0);
        let values: Vec<f64> = (0..2 * n).map(|_| rng.sample(StandardNormal)).collect();
        let z = Points::from_values(values, 2).unwrap();
        let y = (0..n).map(|i| {
            let e: f64 = rng.sample(StandardNormal);
            z.point(i)[0].sin() + 0.5 * z.point(i)[1] + noise * e
        });
        (z.clone(), y.collect())
    }

    #[test]
    fn a_plane_is_predicted_exactly_and_extrapolation_is_held_back_and_flagged() {
        let (z, _) = surface(300, 0.0, 1);
        let y: Vec<f64> = (0..300).map(|i| 3.0 + z.point(i)[0] - 2.0 * z.point(i)[1]).collect();
        let largest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let predictor = Predictor::new(z, y, Regression::LocalLinear).unwrap();
        let queries = Points::from_values(vec![0.1, 0.2, 50.0, -50.0], 2).unwrap();
        let found = predictor.predict(&queries).unwrap();
        assert!((found[0].value - 2.7).abs() < 1e-4, "{}", found[0].value);
        assert!(!found[0].outside && found[1].outside);
        assert_eq!(found[1].value, largest);
    }

    #[test]
    fn both_regressions_approach_the_surface_and_report_their_error() {
        let (z, y) = surface(3000, 0.3, 2);
        let (new, truth) = surface(500, 0.0, 3);
        for (regression, bound) in [(Regression::LocalLinear, 0.01), (Regression::NearestNeighbors, 0.03)] {
            let predictor = Predictor::new(z.clone(), y.clone(), regression).unwrap();
            let found = predictor.predict(&new).unwrap();
            let error = found.iter().zip(&truth).map(|(f, y)| (f.value - y).powi(2)).sum::<f64>() / 500.0;
            assert!(error < bound, "{regression:?} {error}");
            assert!((predictor.loo_error() - 0.09).abs() < 0.02, "{}", predictor.loo_error());
            assert!(found.iter().filter(|f| f.outside).count() < 10);
        }
    }

    #[test]
    fn intervals_cover_what_they_say() {
        let (mut by_loo, mut by_split) = (0.0, 0.0);
        for seed in 0..20 {
            let (z, y) = surface(400, 0.5, 100 + seed);
            let (new, responses) = surface(400, 0.5, 200 + seed);
            let covered = |predictor: &Predictor| {
                let half = predictor.half_width(0.9).unwrap();
                let found = predictor.predict(&new).unwrap();
                let inside = found.iter().zip(&responses).filter(|(f, y)| (f.value - **y).abs() <= half);
                inside.count() as f64 / 400.0
            };
            let mut predictor = Predictor::new(z, y, Regression::LocalLinear).unwrap();
            assert_eq!(predictor.calibration(), Calibration::LeaveOneOut);
            by_loo += covered(&predictor) / 20.0;
            let (held, held_y) = surface(200, 0.5, 300 + seed);
            predictor.calibrate(&held, &held_y).unwrap();
            assert_eq!(predictor.calibration(), Calibration::HeldOut);
            by_split += covered(&predictor) / 20.0;
        }
        assert!((0.87..0.93).contains(&by_loo) && (0.87..0.93).contains(&by_split), "{by_loo} {by_split}");
    }

    #[test]
    fn degenerate_rows_are_survived_and_bad_ones_refused() {
        let same = Points::from_values(vec![1.0; 20], 1).unwrap();
        let y: Vec<f64> = (0..20).map(f64::from).collect();
        for regression in [Regression::LocalLinear, Regression::NearestNeighbors] {
            let predictor = Predictor::new(same.clone(), y.clone(), regression).unwrap();
            let queries = Points::from_values(vec![1.0, 2.0], 1).unwrap();
            let found = predictor.predict(&queries).unwrap();
            assert!(found.iter().all(|f| (0.0..=19.0).contains(&f.value)) && found[1].outside);
            assert!(predictor.predict(&Points::zeros(1, 2)).is_err());
            let nan = Points::from_values(vec![f64::NAN], 1).unwrap();
            assert!(predictor.predict(&nan).is_err());
            assert!(predictor.half_width(0.99).is_err() && predictor.half_width(1.5).is_err());
        }
        assert!(Predictor::new(Points::zeros(3, 1), vec![0.0; 3], Regression::LocalLinear).is_err());
        assert!(Predictor::new(Points::zeros(9, 1), vec![f64::NAN; 9], Regression::LocalLinear).is_err());
        assert!(Predictor::new(Points::zeros(9, 1), vec![0.0; 8], Regression::LocalLinear).is_err());
    }
}
