//! Does a covariate matter: a permutation test of what is left without it.
//!
//! Take covariate i out of the directions and let the others make up for it: $B_{(i)}$, with coordinates z and leave-one-out
//! residuals r. If i matters, its values say something about r. The other covariates explain part of $X_i$, and have
//! had their chance, so only the rest counts: $e_i$, the residual of the linear regression of $X_i$ on all
//! others. It is held against r in the ways in which a covariate can matter:
//!
//! | feature | finds |
//! |---|---|
//! | $e \cdot C$ | a tilt of the directions found; C, n x d, is residual times slope, so that $X_i^\top C$ is the gradient along i ([`crate::objective::mave`]) |
//! | $e \cdot r$, $e \cdot r z$ | a trend, alone or in interaction |
//! | $(e^2 - \overline{e^2}) \cdot r$, $(e^2 - \overline{e^2}) \cdot r z$ | the same for even effects, to which gradients are blind |
//!
//! With F the features that multiply e, and H those that multiply e², the statistic is $\lVert F^\top e \rVert^2$ in the metric of
//! $(F^\top F)^{-1}$ plus the same for H and e², added up over responses if there are several. Its distribution without effect comes from shuffling $e_i$ over the rows: what
//! is left of covariate i once the others are known is then unrelated to y. The p-value is the share of shuffles, the
//! data among them, with a statistic at least as large.
//!
//! No refit per permutation: cost per covariate a short ascent, and n d per permutation. Exact when $e_i$ is
//! independent of the other covariates (normal X, or any X with independent columns).

use faer::Side;
use faer::linalg::solvers::DenseSolveCore;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use crate::data::dataset::{Dataset, count_rows};
use crate::data::design::{Design, Rows};
use crate::data::second_moment::principal_axes;
use crate::error::{Error, Result};
use crate::estimator::reduction::Reduction;
use crate::estimator::smave::refine::Refiner;
use crate::estimator::whiten::shrinkage;
use crate::linalg::{Mat, Points, orthonormalize_rows};
use crate::local::neighborhoods::Weighting;
use crate::local::size::{MIN_NEIGHBORS_PROJECTED, neighborhood_size};
use crate::objective::leave_one_out::held_out_residuals;
use crate::objective::mave::MaveObjective;
use crate::rng::{Purpose, stream};
use crate::tally::Tally;

/// Renewals without the covariate, and steps after each.
const ROUNDS: usize = 2;
const STEPS: usize = 8;

/// ε of the local regressions.
const RIDGE: f64 = 1e-5;

/// The p-value of each covariate.
pub(super) fn p_values(
    reduction: &Reduction,
    data: &Dataset<'_>,
    permutations: usize,
    seed: u64,
    tally: &Tally<'_>,
) -> Result<Vec<f64>> {
    let x = reduction.standardization().apply(data.x())?;
    let objective = MaveObjective::new(&x, data.responses(), RIDGE)?.counting(data.weights());
    let rest = unexplained(&x, data.weights())?;
    let basis = reduction.basis().to_owned();
    let n = data.n_samples();
    let counted = data.n_counted();
    let k = (2 * neighborhood_size(counted, basis.ncols(), MIN_NEIGHBORS_PROJECTED)).min(counted);
    let anchors: Vec<usize> = (0..n).collect();
    let without = |i: usize| -> Result<Option<Left>> {
        let others: Vec<usize> =
            (0..basis.nrows()).filter(|&l| l != i && basis.row(l).norm_l2() > 0.0).collect();
        if others.len() < basis.ncols() {
            // A direction that consists of this covariate alone.
            return Ok(None);
        }
        let Some(mut b) = orthonormalize_rows(basis.as_ref(), &others) else { return Ok(None) };
        let mut refiner = Refiner::new(objective, &anchors, Weighting::Epanechnikov);
        if basis.row(i).norm_l2() > 0.0 {
            refiner.leave_out(&b);
            for _ in 0..ROUNDS {
                let view = refiner.view(&b, k)?;
                b = refiner.ascend(&b, &view, STEPS)?.basis;
            }
        }
        let view = refiner.view(&b, k)?;
        let gradients = objective.row_weights(&view.z, &view.hoods);
        let mut left = Left::default();
        for (y, c) in data.responses().iter().zip(&gradients) {
            let mut residuals = held_out_residuals(&view.z, y, &view.hoods, &anchors, RIDGE);
            if let Some(weights) = data.weights() {
                // What a row says counts as often as the row; C is counted already.
                residuals.iter_mut().zip(weights).for_each(|(r, weight)| *r *= weight);
            }
            left.add(c, &residuals, &view.z);
        }
        Ok(Some(left))
    };
    // Covariates that take no part anyway share the fit as it is.
    let idle = (0..data.n_features()).find(|&i| basis.row(i).norm_l2() == 0.0);
    let as_it_is = idle.map(without).transpose()?.flatten();
    (0..data.n_features())
        .into_par_iter()
        .map(|i| {
            let test = || {
                let own;
                let left = if basis.row(i).norm_l2() == 0.0 {
                    as_it_is.as_ref()
                } else {
                    own = without(i)?;
                    own.as_ref()
                };
                let e: Vec<f64> = rest.values().iter().skip(i).step_by(rest.dim()).copied().collect();
                Ok(match left {
                    Some(left) => left.p_value(&e, permutations, seed, i),
                    None => 1.0 / (1.0 + permutations as f64),
                })
            };
            tally.task(|| format!("p-value {i}"), test)
        })
        .collect()
}

/// For each covariate what the linear regression on all others leaves. With Ω the inverse of the covariance that is
/// $X \Omega_i / \Omega_{ii}$. Where n is not much larger than p the covariance is shrunk as in whitening.
fn unexplained(x: &dyn Design, weights: Option<&[f64]>) -> Result<Points> {
    let (n, p) = (count_rows(weights, x.n_rows()), x.n_cols());
    let (mean, values, vectors) = principal_axes(x, weights)?;
    let average = values.iter().sum::<f64>() / p as f64;
    // Enough for an inverse to exist where covariates repeat each other.
    let ridge = (shrinkage(n, p) + 1e-9) * average.max(f64::MIN_POSITIVE);
    let scaled = Mat::from_fn(p, p, |i, j| vectors[(i, j)] / (values[j].max(0.0) + ridge));
    let mut omega: Mat<f64> = &scaled * vectors.transpose();
    for i in 0..p {
        let own = omega[(i, i)];
        omega.col_mut(i).iter_mut().for_each(|v| *v /= own);
    }
    let mut rest = x.project(omega.as_ref(), Rows::All)?;
    let shift: Vec<f64> = (0..p).map(|i| omega.col(i).iter().zip(&mean).map(|(o, m)| o * m).sum()).collect();
    for row in rest.values_mut().chunks_exact_mut(p) {
        row.iter_mut().zip(&shift).for_each(|(v, shift)| *v -= shift);
    }
    if rest.values().iter().all(|v| v.is_finite()) {
        Ok(rest)
    } else {
        Err(Error::NotFinite { what: "the covariance of X", iteration: 0 })
    }
}

/// What is left without a covariate, as features to hold it against.
#[derive(Default)]
struct Left {
    /// Those that multiply the covariate, for each response.
    plain: Vec<Features>,
    /// Those that multiply its square.
    even: Vec<Features>,
}

impl Left {
    /// Adds what is left of one response.
    fn add(&mut self, c: &Points, residuals: &[f64], z: &Points) {
        let with_z = |row: usize| {
            let r = residuals[row];
            [r].into_iter().chain(z.point(row).iter().map(move |z| r * z))
        };
        let n = residuals.len();
        let plain = (0..n).flat_map(|row| c.point(row).iter().copied().chain(with_z(row)));
        self.plain.push(Features::new(plain.collect(), 2 * z.dim() + 1));
        self.even.push(Features::new((0..n).flat_map(with_z).collect(), z.dim() + 1));
    }

    fn statistic(&self, e: &[f64], squares: &[f64]) -> f64 {
        let plain = self.plain.iter().map(|features| features.along(e));
        plain.chain(self.even.iter().map(|features| features.along(squares))).sum()
    }

    /// The share of shuffles of `e`, the one given among them, with at least the statistic of that one.
    fn p_value(&self, e: &[f64], permutations: usize, seed: u64, covariate: usize) -> f64 {
        let mean = e.iter().map(|v| v * v).sum::<f64>() / e.len() as f64;
        let squares = |e: &[f64]| -> Vec<f64> { e.iter().map(|v| v * v - mean).collect() };
        let own = self.statistic(e, &squares(e));
        let mut rng = stream(seed, Purpose::Permutation, covariate as u64);
        let mut shuffled = e.to_vec();
        let as_far = (0..permutations)
            .filter(|_| {
                shuffled.shuffle(&mut rng);
                self.statistic(&shuffled, &squares(&shuffled)) >= own
            })
            .count();
        (1 + as_far) as f64 / (1 + permutations) as f64
    }
}

/// An n x q matrix F.
struct Features {
    values: Points,
    /// $(F^\top F)^{-1}$, with a trace of a ridge.
    inverse: Mat<f64>,
}

impl Features {
    fn new(values: Vec<f64>, dim: usize) -> Self {
        let mut values = Points::from_values(values, dim).unwrap_or_else(|| Points::zeros(0, dim));
        // Each of the same size: some are residuals, some residuals times anything.
        let sizes: Vec<f64> = (0..dim)
            .map(|c| values.values().iter().skip(c).step_by(dim).map(|v| v * v).sum::<f64>().sqrt())
            .collect();
        for point in values.values_mut().chunks_exact_mut(dim) {
            for (v, size) in point.iter_mut().zip(&sizes) {
                *v = if *size > 0.0 { *v / size } else { 0.0 };
            }
        }
        let gram: Mat<f64> = values.as_mat().transpose() * values.as_mat();
        let regular = gram + Mat::<f64>::identity(dim, dim) * faer::Scale(1e-9);
        let inverse =
            regular.llt(Side::Lower).map_or_else(|_| Mat::zeros(dim, dim), |factor| factor.inverse());
        Self { values, inverse }
    }

    /// $e^\top F (F^\top F)^{-1} F^\top e$.
    fn along(&self, e: &[f64]) -> f64 {
        let dim = self.values.dim();
        let mut s = vec![0.0; dim];
        for (e, f) in e.iter().zip(self.values.values().chunks_exact(dim)) {
            s.iter_mut().zip(f).for_each(|(s, f)| *s += e * f);
        }
        (0..dim).map(|i| (0..dim).map(|j| s[i] * self.inverse[(i, j)] * s[j]).sum::<f64>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dense::Dense;

    #[test]
    fn residuals_are_those_of_least_squares() {
        let (n, p) = (60, 4);
        let values: Vec<f64> = (0..n * p).map(|i| ((i * i) as f64 * 0.37).sin() + (i % p) as f64).collect();
        let mixed: Vec<f64> =
            values.chunks_exact(p).flat_map(|r| [r[0], r[0] + 0.5 * r[1], r[2] - r[1], r[3]]).collect();
        let x = Dense::new(&mixed[..], n, p).unwrap();
        let rest = unexplained(&x, None).unwrap();
        for i in 0..p {
            let e: Vec<f64> = rest.values().iter().skip(i).step_by(p).copied().collect();
            for j in 0..p {
                let other: Vec<f64> = mixed.iter().skip(j).step_by(p).copied().collect();
                let inner: f64 = e.iter().zip(&other).map(|(a, b)| a * b).sum();
                let own: f64 = e.iter().map(|v| v * v).sum();
                // Uncorrelated with the others; with its own covariate as much as with itself.
                let expected = if i == j { own } else { 0.0 };
                assert!((inner - expected).abs() < 1e-6 * own, "{i} {j} {inner} {expected}");
            }
            assert!(e.iter().sum::<f64>().abs() < 1e-9);
        }
    }

    /// Standard normal numbers.
    fn normal(n: usize, index: u64) -> Vec<f64> {
        use rand::RngExt;
        use rand_distr::StandardNormal;
        let mut rng = stream(5, Purpose::Noise, index);
        (0..n).map(|_| rng.sample(StandardNormal)).collect()
    }

    #[test]
    fn trends_bends_and_interactions_are_found_and_nothing_else() {
        let n = 200;
        let z = Points::from_values(normal(n, 0), 1).unwrap();
        let c = Points::from_values(normal(n, 1), 1).unwrap();
        let noise = normal(n, 2);
        let e = normal(n, 3);
        let left_of = |c: &Points, residuals: &[f64]| {
            let mut left = Left::default();
            left.add(c, residuals, &z);
            left
        };
        let left = |effect: &dyn Fn(usize) -> f64| {
            let r: Vec<f64> = (0..n).map(|i| noise[i] + effect(i)).collect();
            left_of(&c, &r)
        };
        for effect in [
            &|i: usize| 0.7 * e[i],
            &|i: usize| 0.7 * e[i] * e[i],
            &|i: usize| e[i] * z.point(i)[0],
            &|i: usize| 0.7 * e[i] * e[i] * z.point(i)[0],
        ] as [&dyn Fn(usize) -> f64; 4]
        {
            assert_eq!(left(effect).p_value(&e, 199, 1, 0), 0.005);
        }
        let along_c = left_of(&Points::from_values(e.clone(), 1).unwrap(), &noise);
        assert_eq!(along_c.p_value(&e, 199, 1, 0), 0.005);
        let nothing = left(&|_| 0.0);
        let small =
            (0..200).filter(|&i| nothing.p_value(&normal(n, 10 + i), 99, 2, i as usize) <= 0.1).count();
        assert!((8..=35).contains(&small), "{small} of 200, 20 expected");
        let void = left_of(&Points::zeros(n, 1), &vec![0.0; n]);
        assert_eq!(void.p_value(&e, 19, 1, 0), 1.0);
    }
}
