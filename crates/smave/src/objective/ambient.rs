//! Local linear regression in the space of all covariates: the slopes that OPG averages.
//!
//! With A the neighbors, centered and scaled by root weights (k x p), and b the responses
//! likewise, the ridge slope is
//!
//! $$ (A^\top A + \varepsilon I)^{-1} A^\top b = A^\top (A A^\top + \varepsilon I)^{-1} b, $$
//!
//! the left form when there are at least as many neighbors as covariates, the right one when
//! there are fewer. Cost per anchor: k p min(k, p) + min(k, p)^3.

use faer::linalg::matmul::triangular::{BlockStructure, matmul as triangular_matmul};
use faer::linalg::solvers::Solve;
use faer::{Accum, Par, Side};
use rayon::prelude::*;

use crate::data::design::{Design, Rows};
use crate::error::{Error, Result};
use crate::linalg::{Mat, MatRef, Points, symmetric_eigen};
use crate::local::neighborhoods::{Neighborhood, Neighborhoods};

/// ε, or how it is chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ridge {
    /// The same at each anchor.
    Absolute(f64),
    /// This share of the average local variance of a covariate.
    Relative(f64),
}

/// The slope at each anchor, one point of p coordinates after another; zero where there is none.
pub(crate) fn ambient_slopes(x: &Points, y: &[f64], hoods: &Neighborhoods, ridge: Ridge) -> Points {
    let p = x.dim();
    let mut slopes = Points::zeros(hoods.len(), p);
    slopes.values_mut().par_chunks_mut(p).enumerate().for_each(|(a, out)| {
        if let Some(slope) = slope(x, y, hoods.get(a), ridge) {
            out.copy_from_slice(slope.col_as_slice(0));
        }
    });
    slopes
}

fn slope(x: &Points, y: &[f64], hood: Neighborhood<'_>, ridge: Ridge) -> Option<Mat<f64>> {
    let (k, p) = (hood.rows.len(), x.dim());
    let weight = |q: usize| hood.weights.map_or(1.0 / k as f64, |w| w[q]);
    let mut mean_x = vec![0.0; p];
    let mut mean_y = 0.0;
    for (q, &row) in hood.rows.iter().enumerate() {
        mean_y += weight(q) * y[row as usize];
        for (mean, v) in mean_x.iter_mut().zip(x.point(row as usize)) {
            *mean += weight(q) * v;
        }
    }
    let mut a = Vec::with_capacity(k * p);
    let mut b = Mat::zeros(k, 1);
    for (q, &row) in hood.rows.iter().enumerate() {
        let root = weight(q).sqrt();
        a.extend(x.point(row as usize).iter().zip(&mean_x).map(|(v, mean)| root * (v - mean)));
        b[(q, 0)] = root * (y[row as usize] - mean_y);
    }
    let ridge = match ridge {
        Ridge::Absolute(ridge) => ridge,
        Ridge::Relative(share) => share * a.iter().map(|v| v * v).sum::<f64>() / p as f64,
    };
    let a = MatRef::from_row_major_slice(&a, k, p);
    let found = if k >= p {
        let gram = gram_plus(a.transpose(), ridge);
        gram.llt(Side::Lower).ok()?.solve(a.transpose() * &b)
    } else {
        let gram = gram_plus(a, ridge);
        a.transpose() * gram.llt(Side::Lower).ok()?.solve(&b)
    };
    let finite = found.col_as_slice(0).iter().all(|v| v.is_finite());
    finite.then_some(found)
}

/// The lower half of M M' + ridge I.
fn gram_plus(m: MatRef<'_, f64>, ridge: f64) -> Mat<f64> {
    let mut gram = Mat::zeros(m.nrows(), m.nrows());
    let whole = BlockStructure::Rectangular;
    let lower = BlockStructure::TriangularLower;
    triangular_matmul(gram.as_mut(), lower, Accum::Replace, m, whole, m.transpose(), whole, 1.0, Par::Seq);
    for i in 0..gram.nrows() {
        gram[(i, i)] += ridge;
    }
    gram
}

/// The average outer product of the slopes, p x p, up to a factor; `None` if all are zero.
fn outer_product(slopes: &Points) -> Option<Mat<f64>> {
    // In many dimensions kernel weights, and slopes with them, are so small that squares would vanish.
    let largest = slopes.values().iter().fold(0.0, |a: f64, v| a.max(v.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return None;
    }
    let scaled = Points::from_values(slopes.values().iter().map(|v| v / largest).collect(), slopes.dim())?;
    let mut outer = scaled.as_mat().transpose() * scaled.as_mat();
    // Two factors, one at a time: their product may be too small to exist.
    outer *= largest / slopes.len() as f64;
    outer *= largest;
    if outer.norm_max() > 0.0 { Some(outer) } else { Some(scaled.as_mat().transpose() * scaled.as_mat()) }
}

/// The rows of X themselves, in f64: what a method that is local in R^p has to look at.
pub(crate) fn all_columns(x: &dyn Design) -> Result<Points> {
    let p = x.n_cols();
    let points = x.project(Mat::<f64>::identity(p, p).as_ref(), Rows::All)?;
    if points.values().iter().all(|v| v.is_finite()) {
        Ok(points)
    } else {
        Err(Error::NotFinite { what: "X", iteration: 0 })
    }
}

/// The leading eigenvectors and eigenvalues of the average outer product of slopes.
pub(crate) fn leading_directions(slopes: &Points, d: usize) -> Result<(Mat<f64>, Vec<f64>)> {
    let failed =
        || Error::NotFinite { what: "the average slope (no row has a neighbor that matters)", iteration: 0 };
    let outer = outer_product(slopes).ok_or_else(failed)?;
    let (values, vectors) = symmetric_eigen(outer.as_ref()).ok_or_else(failed)?;
    Ok((vectors.as_ref().subcols(0, d).to_owned(), values[..d].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(n: usize, p: usize) -> (Points, Vec<f64>) {
        let x = Points::from_values((0..n * p).map(|i| ((i * i) as f64 * 0.37).sin()).collect(), p).unwrap();
        let y = (0..n)
            .map(|i| 1.0 + x.point(i).iter().enumerate().map(|(c, v)| (c as f64 - 1.5) * v).sum::<f64>());
        let y = y.collect();
        (x, y)
    }

    #[test]
    fn a_linear_function_has_its_own_slope() {
        let (x, y) = data(40, 4);
        let hoods =
            Neighborhoods::from_lists([(0..40).map(|i| (i, 1.0 + f64::from(i % 4))).collect()]).unwrap();
        let slopes = ambient_slopes(&x, &y, &hoods, Ridge::Absolute(0.0));
        for (c, slope) in slopes.point(0).iter().enumerate() {
            assert!((slope - (c as f64 - 1.5)).abs() < 1e-10);
        }
    }

    /// Both forms of the ridge slope, by making the number of neighbors pass the number of covariates.
    #[test]
    fn few_and_many_neighbors_follow_the_same_formula() {
        let (x, mut y) = data(30, 8);
        y.iter_mut().enumerate().for_each(|(i, y)| *y += (i as f64).cos());
        for k in [3u32, 7, 8, 20] {
            let list: Vec<(u32, f64)> = (0..k).map(|i| (i, 1.0 + f64::from(i))).collect();
            let hoods = Neighborhoods::from_lists([list]).unwrap();
            let hood = hoods.get(0);
            let w = hood.weights.unwrap();
            let mean = |v: &dyn Fn(usize) -> f64| -> f64 { (0..k as usize).map(|i| w[i] * v(i)).sum() };
            let means: Vec<f64> = (0..8).map(|c| mean(&|i| x.point(i)[c])).collect();
            let y_mean = mean(&|i| y[i]);
            let g = Mat::from_fn(8, 8, |a, b| {
                mean(&|i| (x.point(i)[a] - means[a]) * (x.point(i)[b] - means[b]))
                    + if a == b { 0.01 } else { 0.0 }
            });
            let mu = Mat::from_fn(8, 1, |a, _| mean(&|i| (x.point(i)[a] - means[a]) * (y[i] - y_mean)));
            let expected = g.partial_piv_lu().solve(&mu);
            let found = ambient_slopes(&x, &y, &hoods, Ridge::Absolute(0.01));
            for (c, found) in found.point(0).iter().enumerate() {
                assert!((found - expected[(c, 0)]).abs() < 1e-10, "{k}");
            }
        }
    }

    #[test]
    fn tiny_slopes_keep_their_directions() {
        let slopes = Points::from_values(vec![3e-200, 0.0, 0.0, 1e-200], 2).unwrap();
        let outer = outer_product(&slopes).unwrap();
        assert!((outer[(0, 0)] / outer[(1, 1)] - 9.0).abs() < 1e-12);
        assert!(outer_product(&Points::zeros(3, 2)).is_none());
    }
}
