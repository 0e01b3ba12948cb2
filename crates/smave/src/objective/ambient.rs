//! Local linear regression in the space of all covariates: the slopes that OPG averages.
//!
//! With A the neighbors, centered and scaled by root weights (k x p), and b the responses
//! likewise, the ridge slope is
//!
//! $$ (A^\top A + \varepsilon I)^{-1} A^\top b = A^\top (A A^\top + \varepsilon I)^{-1} b, $$
//!
//! the left form when there are at least as many neighbors as covariates, the right one when
//! there are fewer. Cost per anchor: k p min(k, p) + min(k, p)^3.
//!
//! Where neighborhoods are most of the data, [`dense_slopes`] is several times faster: the weighted sums of the products
//! of any two covariates are, for many anchors at once, one product of a matrix of weights and
//! a matrix of products.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::Solve;
use faer::{Accum, Par, Side};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;
use serde::Serialize;

use crate::data::design::{Design, Rows};
use crate::data::responses::Responses;
use crate::error::{Error, Result};
use crate::linalg::{Mat, MatMut, MatRef, Points, orthonormalize, solve_positive_definite, symmetric_eigen};
use crate::local::neighborhoods::{Neighborhood, Neighborhoods};
use crate::simd::{dot_block, upper_gram};

/// ε, or how it is chosen.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Ridge {
    /// The same at each anchor.
    Absolute(f64),
    /// This share of the average local variance of a covariate.
    Relative(f64),
}

impl Ridge {
    /// ε where the local variances of p covariates add up to `variance`.
    fn value(self, variance: f64, p: usize) -> f64 {
        match self {
            Ridge::Absolute(ridge) => ridge,
            Ridge::Relative(share) => share * variance / p as f64,
        }
    }
}

/// The slope of each response at each anchor, response after response, one point of p coordinates each;
/// zero where there is none.
pub(crate) fn ambient_slopes<'a>(
    x: &Points,
    y: impl Into<Responses<'a>>,
    hoods: &Neighborhoods,
    ridge: Ridge,
) -> Points {
    each_response(x, y.into(), hoods, |y, slopes| {
        slopes.par_chunks_mut(x.dim()).enumerate().for_each_init(Space::default, |space, (a, slope)| {
            let found =
                Arch::new().dispatch(Slope { x, y, hood: hoods.get(a), ridge, space, slope: &mut *slope });
            if !found || !slope.iter().all(|v| v.is_finite()) {
                slope.fill(0.0);
            }
        });
    })
}

/// The slopes that `fill` finds for each response.
fn each_response(
    x: &Points,
    y: Responses<'_>,
    hoods: &Neighborhoods,
    fill: impl Fn(&[f64], &mut [f64]),
) -> Points {
    let mut slopes = Points::zeros(hoods.len() * y.count(), x.dim());
    let per_response = (hoods.len() * x.dim()).max(1);
    for (y, slopes) in y.iter().zip(slopes.values_mut().chunks_exact_mut(per_response)) {
        fill(y, slopes);
    }
    slopes
}

/// [`ambient_slopes`] for neighborhoods that hold a good part of all rows. Covariates should be centered and of
/// similar spread: local variances are differences of second moments.
pub(crate) fn dense_slopes<'a>(
    x: &Points,
    y: impl Into<Responses<'a>>,
    hoods: &Neighborhoods,
    ridge: Ridge,
) -> Points {
    let p = x.dim();
    // All products of two of x, y and 1.
    let n_products = (p + 2) * (p + 3) / 2;
    let wide = n_products > WIDE;
    let anchors_per_task = if wide { 1 } else { MAX_ANCHORS };
    each_response(x, y.into(), hoods, |y, slopes| {
        slopes.par_chunks_mut(p * anchors_per_task).enumerate().for_each(|(task, slopes)| {
            let first = task * anchors_per_task;
            let sums = if wide {
                gram_products(x, y, hoods.get(first))
            } else {
                weighted_products(x, y, hoods, first..first + slopes.len() / p)
            };
            let mut gram = vec![0.0; p * p];
            for (a, slope) in slopes.chunks_exact_mut(p).enumerate() {
                let sums = sums.col_as_slice(a);
                let found =
                    Arch::new().dispatch(FromSums { sums, ridge, gram: &mut gram, slope: &mut *slope });
                if !found || !slope.iter().all(|v| v.is_finite()) {
                    slope.fill(0.0);
                }
            }
        });
    })
}

/// Anchors that one task serves, at the most.
const MAX_ANCHORS: usize = 30;

/// Rows whose products are formed at a time.
const ROWS_PER_BLOCK: usize = 64;

/// With more products than this, those of a block do not stay in the cache, and each anchor by itself is faster.
const WIDE: usize = 8192;

/// Rows of an anchor's neighborhood that are multiplied at a time.
const ROWS_PER_PRODUCT: usize = 256;

/// The sums of [`weighted_products`] for one anchor, as a product of its neighborhood with itself. Cost: k p^2.
fn gram_products(x: &Points, y: &[f64], hood: Neighborhood<'_>) -> Mat<f64> {
    let width = x.dim() + 2;
    let mut gram = Mat::<f64>::zeros(width, width);
    let mut plain = vec![0.0; width * ROWS_PER_PRODUCT];
    let mut weighted = plain.clone();
    for (block, rows) in hood.rows.chunks(ROWS_PER_PRODUCT).enumerate() {
        let places = plain.chunks_exact_mut(width).zip(weighted.chunks_exact_mut(width));
        for (q, (&row, (plain, weighted))) in rows.iter().zip(places).enumerate() {
            let equal = 1.0 / hood.rows.len() as f64;
            let weight = hood.weights.map_or(equal, |w| w[block * ROWS_PER_PRODUCT + q]);
            plain[..x.dim()].copy_from_slice(x.point(row as usize));
            plain[x.dim()..].copy_from_slice(&[y[row as usize], 1.0]);
            weighted.iter_mut().zip(&*plain).for_each(|(weighted, v)| *weighted = weight * v);
        }
        let columns = width * rows.len();
        triangular::matmul(
            gram.as_mut(),
            BlockStructure::TriangularLower,
            Accum::Add,
            MatRef::from_column_major_slice(&plain[..columns], width, rows.len()),
            BlockStructure::Rectangular,
            MatRef::from_row_major_slice(&weighted[..columns], rows.len(), width),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
    }
    // The lower half by columns is the order of the sums.
    let sums = (0..width).flat_map(|a| gram.col_as_slice(a)[a..].to_vec());
    let sums: Vec<f64> = sums.collect();
    Mat::from_fn(sums.len(), 1, |i, _| sums[i])
}

/// For each anchor (a column) the weighted sums of all products of two of x, y and 1, those of the first
/// with itself and all later ones, then of the second, and so on.
fn weighted_products(x: &Points, y: &[f64], hoods: &Neighborhoods, anchors: Range<usize>) -> Mat<f64> {
    let p = x.dim();
    let n_products = (p + 2) * (p + 3) / 2;
    let mut sums = Mat::zeros(n_products, anchors.len());
    let mut weights = Mat::zeros(ROWS_PER_BLOCK, anchors.len());
    let mut products = Mat::<f64>::zeros(n_products, ROWS_PER_BLOCK);
    let mut read = vec![0; anchors.len()];
    for begin in (0..x.len()).step_by(ROWS_PER_BLOCK) {
        let end = (begin + ROWS_PER_BLOCK).min(x.len());
        weights.fill(0.0);
        for (a, read) in read.iter_mut().enumerate() {
            // Rows are listed in increasing order.
            let hood = hoods.get(anchors.start + a);
            while *read < hood.rows.len() && (hood.rows[*read] as usize) < end {
                let equal = 1.0 / hood.rows.len() as f64;
                weights[(hood.rows[*read] as usize - begin, a)] = hood.weights.map_or(equal, |w| w[*read]);
                *read += 1;
            }
        }
        for (column, y) in y[begin..end].iter().enumerate() {
            let (x, out) = (x.point(begin + column), products.col_as_slice_mut(column));
            Arch::new().dispatch(Products { x, y: *y, out });
        }
        let rows = end - begin;
        matmul(
            sums.as_mut(),
            Accum::Add,
            products.as_ref().subcols(0, rows),
            weights.as_ref().subrows(0, rows),
            1.0,
            Par::Seq,
        );
    }
    sums
}

/// All products of two of x, y and 1, in the order of [`weighted_products`].
struct Products<'a> {
    x: &'a [f64],
    y: f64,
    out: &'a mut [f64],
}

impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { x, y, mut out } = self;
        for (a, factor) in x.iter().enumerate() {
            let (here, rest) = out.split_at_mut(x.len() - a + 2);
            for (out, v) in here.iter_mut().zip(&x[a..]) {
                *out = factor * v;
            }
            here[x.len() - a] = factor * y;
            here[x.len() - a + 1] = *factor;
            out = rest;
        }
        out.copy_from_slice(&[y * y, y, 1.0]);
    }
}

/// The ridge slope from the sums of one anchor, whose weights sum to one; false if there is none.
struct FromSums<'a> {
    sums: &'a [f64],
    ridge: Ridge,
    gram: &'a mut [f64],
    slope: &'a mut [f64],
}

impl WithSimd for FromSums<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> bool {
        let Self { sums, ridge, gram, slope } = self;
        let p = slope.len();
        let mean_y = sums[sums.len() - 2];
        let mut mean = vec![0.0; p];
        let mut rest = sums;
        for (a, mean) in mean.iter_mut().enumerate() {
            *mean = rest[p - a + 1];
            rest = &rest[p - a + 2..];
        }
        let mut rest = sums;
        let mut variance = 0.0;
        for a in 0..p {
            for b in a..p {
                gram[a * p + b] = rest[b - a] - mean[a] * mean[b];
            }
            variance += gram[a * p + a];
            slope[a] = rest[p - a] - mean[a] * mean_y;
            rest = &rest[p - a + 2..];
        }
        let ridge = ridge.value(variance, p);
        for a in 0..p {
            gram[a * p + a] += ridge;
        }
        solve(gram, slope)
    }
}

/// Memory that slopes reuse.
#[derive(Default)]
struct Space {
    mean: Vec<f64>,
    /// Of A, which is k x p, or of its transpose: whichever has fewer rows.
    rows: Vec<f64>,
    response: Vec<f64>,
    gram: Vec<f64>,
    solution: Vec<f64>,
}

/// The slope at one anchor; false if there is none.
struct Slope<'a> {
    x: &'a Points,
    y: &'a [f64],
    hood: Neighborhood<'a>,
    ridge: Ridge,
    space: &'a mut Space,
    slope: &'a mut [f64],
}

impl WithSimd for Slope<'_> {
    type Output = bool;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> bool {
        let Self { x, y, hood, ridge, space, slope } = self;
        let Space { mean, rows, response, gram, solution } = space;
        let (k, p) = (hood.rows.len(), x.dim());
        let size = k.min(p);
        let weight = |q: usize| hood.weights.map_or(1.0 / k as f64, |w| w[q]);
        mean.clear();
        mean.resize(p, 0.0);
        let mut mean_y = 0.0;
        for (q, &row) in hood.rows.iter().enumerate() {
            let w = weight(q);
            mean_y += w * y[row as usize];
            for (mean, v) in mean.iter_mut().zip(x.point(row as usize)) {
                *mean += w * v;
            }
        }
        // Every entry that is read is written first.
        rows.resize(k * p, 0.0);
        response.clear();
        let mut variance = 0.0;
        for (q, &row) in hood.rows.iter().enumerate() {
            let root = weight(q).sqrt();
            response.push(root * (y[row as usize] - mean_y));
            let centered = x.point(row as usize).iter().zip(&*mean).map(|(v, mean)| root * (v - mean));
            if k < p {
                rows[q * p..(q + 1) * p].iter_mut().zip(centered).for_each(|(out, v)| *out = v);
            } else {
                rows[q..].iter_mut().step_by(k).zip(centered).for_each(|(out, v)| *out = v);
            }
        }
        gram.resize(size * size, 0.0);
        upper_gram(simd, rows, size, gram);
        for i in 0..size {
            variance += gram[i * size + i];
        }
        let ridge = ridge.value(variance, p);
        for i in 0..size {
            gram[i * size + i] += ridge;
        }
        solution.clear();
        if k < p {
            solution.extend_from_slice(response);
        } else {
            solution.extend(rows.chunks_exact(k).map(|row| {
                let [[moment]] = dot_block(simd, [row], [response]);
                moment
            }));
        }
        let solved = solve(gram, solution);
        if k < p {
            slope.fill(0.0);
            for (row, factor) in rows.chunks_exact(p).zip(&*solution) {
                slope.iter_mut().zip(row).for_each(|(slope, v)| *slope += factor * v);
            }
        } else {
            slope.copy_from_slice(solution);
        }
        solved
    }
}

/// Systems up to this size are solved without blocks.
const MAX_UNBLOCKED: usize = 128;

/// [`solve_positive_definite`] for matrices of any size.
#[inline(always)]
fn solve(m: &mut [f64], v: &mut [f64]) -> bool {
    if v.len() <= MAX_UNBLOCKED {
        return solve_positive_definite(m, v);
    }
    // The upper half by rows is the lower half by columns.
    let m = MatRef::from_column_major_slice(m, v.len(), v.len());
    let Ok(factor) = m.llt(Side::Lower) else { return false };
    factor.solve_in_place(MatMut::from_column_major_slice_mut(v, m.nrows(), 1));
    true
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
    let mut points = Points::zeros(x.n_rows(), x.n_cols());
    x.copy_rows_into(Rows::All, &mut points);
    if points.values().iter().all(|v| v.is_finite()) {
        Ok(points)
    } else {
        Err(Error::NotFinite { what: "X", iteration: 0 })
    }
}

/// The coordinates as points.
fn transposed(points: &Points) -> Option<Points> {
    let (n, p) = (points.len(), points.dim());
    Points::from_values((0..p).flat_map(|c| (0..n).map(move |i| points.point(i)[c])).collect(), n)
}

/// The leading eigenvectors and eigenvalues of the average outer product of slopes, counted by weight if there
/// are weights.
pub(crate) fn leading_directions(
    slopes: &Points,
    d: usize,
    weights: Option<&[f64]>,
) -> Result<(Mat<f64>, Vec<f64>)> {
    if let Some(weights) = weights {
        let average = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut counted = slopes.clone();
        for (slope, weight) in counted.values_mut().chunks_exact_mut(slopes.dim()).zip(weights.iter().cycle())
        {
            slope.iter_mut().for_each(|v| *v *= (weight / average).sqrt());
        }
        return leading_directions(&counted, d, None);
    }
    let failed =
        || Error::NotFinite { what: "the average slope (no row has a neighbor that matters)", iteration: 0 };
    if d <= slopes.len() && 2 * slopes.len() <= slopes.dim() {
        // Fewer slopes than covariates: their inner products say the same.
        let inner = transposed(slopes).ok_or_else(failed)?;
        let found = outer_product(&inner).ok_or_else(failed)?;
        let (values, vectors) = symmetric_eigen(found.as_ref()).ok_or_else(failed)?;
        let spanned = slopes.as_mat().transpose() * vectors.as_ref().subcols(0, d);
        // Where they span less than d dimensions, the long way.
        if let Some(basis) = orthonormalize(spanned.as_ref()) {
            let scale = slopes.dim() as f64 / slopes.len() as f64;
            return Ok((basis, values[..d].iter().map(|v| v * scale).collect()));
        }
    }
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
    fn sums_are_the_same_for_one_anchor_and_for_many() {
        let (x, y) = data(600, 5);
        let lists = [(0..600).map(|i| (i, 1.0 + f64::from(i % 7))).collect(), vec![(3, 1.0), (599, 2.0)]];
        let hoods = Neighborhoods::from_lists(lists).unwrap();
        let many = weighted_products(&x, &y, &hoods, 0..2);
        for a in 0..2 {
            let one = gram_products(&x, &y, hoods.get(a));
            assert_eq!((one.nrows(), one.ncols()), (many.nrows(), 1));
            for i in 0..one.nrows() {
                assert!((one[(i, 0)] - many[(i, a)]).abs() < 1e-12, "{a} {i}");
            }
        }
    }

    #[test]
    fn dense_slopes_are_the_same() {
        for (n, p) in [(150, 3), (100, 8), (40, 1)] {
            let (x, mut y) = data(n, p);
            y.iter_mut().enumerate().for_each(|(i, y)| *y += (i as f64).cos());
            // Equal and other weights, most rows and few, and more anchors than a task takes.
            let list = |a: u32| (a..n as u32).step_by(1 + a as usize % 3).map(|i| (i, f64::from(1 + i % 5)));
            let lists = (0..35).map(|a| list(a % 20).collect());
            let hoods = Neighborhoods::from_lists(lists).unwrap();
            for ridge in [Ridge::Absolute(0.01), Ridge::Relative(0.02)] {
                let expected = ambient_slopes(&x, &y, &hoods, ridge);
                let found = dense_slopes(&x, &y, &hoods, ridge);
                for (found, expected) in found.values().iter().zip(expected.values()) {
                    assert!((found - expected).abs() < 1e-9, "{n} {p}");
                }
            }
        }
    }

    #[test]
    fn few_slopes_have_the_same_axes_as_their_outer_product() {
        let (slopes, _) = data(6, 20);
        let (basis, values) = leading_directions(&slopes, 3, None).unwrap();
        let (counted, _) = leading_directions(&slopes, 3, Some(&[2.0; 6])).unwrap();
        assert_eq!(counted, basis);
        let outer = outer_product(&slopes).unwrap();
        let (expected, vectors) = symmetric_eigen(outer.as_ref()).unwrap();
        let apart =
            crate::manifold::subspace::squared_distance(basis.as_ref(), vectors.as_ref().subcols(0, 3));
        assert!(apart.unwrap() < 1e-20);
        for j in 0..3 {
            assert!((values[j] / expected[j] - 1.0).abs() < 1e-10, "{} {}", values[j], expected[j]);
            let cosine: f64 = basis.col(j).iter().zip(vectors.col(j).iter()).map(|(a, b)| a * b).sum();
            assert!((cosine.abs() - 1.0).abs() < 1e-10);
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
