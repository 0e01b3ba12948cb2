//! Local linear regression around one anchor, in the projected space.
//!
//! With weights $w_i$ that sum to one over the neighbors i of anchor j, and
//! $\tilde z_i = z_i - \bar z$, $\tilde y_i = y_i - \bar y$,
//!
//! $$ M = \sum_i w_i \tilde z_i \tilde z_i^\top + \varepsilon I, \quad
//!    v = \sum_i w_i \tilde z_i \tilde y_i, \quad u = M^{-1} v, \quad f = v^\top u, \quad
//!    r_i = \tilde y_i - u^\top \tilde z_i. $$
//!
//! u is the ridge slope of the paper's Lemma "Local regression subproblem", f the
//! anchor's term of $F_\varepsilon$. Because $\sum_i w_i r_i = 0$, the anchor's
//! gradient $\mu - G B u$ is $\sum_i w_i r_i x_i$: no p x p matrix is needed.
//!
//! Each row is stored as z, y, 1 and padding to a whole number of vector registers. One pass over
//! the neighbors, each one access to memory, adds up $w v$ and $w v v_a$ for each coordinate a,
//! v being the row less the first neighbor's: an origin so near that nothing cancels. Cost: k d^2.

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use pulp::Simd;

use crate::linalg::{MatMut, MatRef, Points, solve_positive_definite};
use crate::local::neighborhoods::Neighborhood;

/// Coordinates from which the library's product of matrices is faster than sums of ours.
const MANY: usize = 16;

/// Numbers per row in d dimensions: z, y, 1 and zeros, a multiple of four.
pub(crate) fn row_width(d: usize) -> usize {
    (d + 2).next_multiple_of(4)
}

/// Each point of `z` followed by the response of its row and 1, as [`LocalRegression::fit`] reads them.
pub(crate) fn with_response(z: &Points, y: &[f64]) -> Points {
    let d = z.dim();
    let mut rows = empty_rows(z.len(), d);
    for (i, out) in rows.values_mut().chunks_exact_mut(row_width(d)).enumerate() {
        out[..d].copy_from_slice(z.point(i));
    }
    set_response(&mut rows, d, y);
    rows
}

/// Rows of d coordinates and a response that are yet to be filled in.
pub(crate) fn empty_rows(n: usize, d: usize) -> Points {
    let mut rows = Points::zeros(n, row_width(d));
    rows.values_mut().chunks_exact_mut(row_width(d)).for_each(|row| row[d + 1] = 1.0);
    rows
}

/// Puts a response into rows of d coordinates.
pub(crate) fn set_response(rows: &mut Points, d: usize, y: &[f64]) {
    rows.values_mut().chunks_exact_mut(row_width(d)).zip(y).for_each(|(row, y)| row[d] = *y);
}

/// Space for one local regression, and its result.
#[derive(Clone, Debug)]
pub(crate) struct LocalRegression {
    /// The sum of w v, then that of w v v_a for each coordinate a.
    sums: Vec<f64>,
    /// For more coordinates than a few: neighbors less the origin.
    shifted: Vec<f64>,
    gram: Vec<f64>,
    moment: Vec<f64>,
    slope: Vec<f64>,
    /// Of the coordinates, then of the response.
    means: Vec<f64>,
    value: f64,
}

impl LocalRegression {
    /// For regressions in `dim` coordinates.
    pub fn new(dim: usize) -> Self {
        Self {
            sums: vec![0.0; (dim + 1) * row_width(dim)],
            shifted: Vec::new(),
            gram: vec![0.0; dim * dim],
            moment: vec![0.0; dim],
            slope: vec![0.0; dim],
            means: vec![0.0; dim + 1],
            value: 0.0,
        }
    }

    /// The slope u.
    pub fn slope(&self) -> &[f64] {
        &self.slope
    }

    /// The explained variance f = v'u.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The weighted means of the coordinates, then of the response.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The fitted response at a point.
    pub fn at(&self, z: &[f64]) -> f64 {
        let d = self.slope.len();
        let rise = self.slope.iter().zip(z).zip(&self.means).map(|((u, z), mean)| u * (z - mean));
        self.means[d] + rise.sum::<f64>()
    }

    /// How much of the fit at a row of the last neighborhood is that row's own response, its weight being `weight`.
    pub fn leverage(&self, row: &[f64], weight: f64) -> f64 {
        let d = self.slope.len();
        // The quadratic form of M^-1, by its Cholesky factor, which has replaced M.
        let mut solved = vec![0.0; d];
        let mut quadratic = 0.0;
        for i in 0..d {
            let mut entry = row[i] - self.means[i];
            for (l, solved) in solved[..i].iter().enumerate() {
                entry -= self.gram[l * d + i] * solved;
            }
            solved[i] = entry / self.gram[i * d + i];
            quadratic += solved[i] * solved[i];
        }
        weight * (1.0 + quadratic)
    }

    /// Regresses y on z over one neighborhood; `rows` are laid out as [`row_width`] says.
    #[inline(always)]
    pub fn fit<S: Simd>(&mut self, _: S, rows: &Points, hood: Neighborhood<'_>, ridge: f64) {
        let d = self.slope.len();
        match d {
            1 => add_up::<2, 4>(rows, hood, &mut self.sums),
            2 => add_up::<3, 4>(rows, hood, &mut self.sums),
            3 => add_up::<4, 8>(rows, hood, &mut self.sums),
            4 => add_up::<5, 8>(rows, hood, &mut self.sums),
            5 => add_up::<6, 8>(rows, hood, &mut self.sums),
            6 => add_up::<7, 8>(rows, hood, &mut self.sums),
            7..MANY => add_up_pairs(rows, hood, &mut self.sums, &mut self.shifted),
            _ => add_up_product(rows, hood, &mut self.sums, &mut self.shifted),
        }
        let width = rows.dim();
        let total = 1.0 / self.sums[d + 1];
        let (first, second) = self.sums.split_at(width);
        let origin = rows.point(hood.rows[0] as usize);
        for (c, mean) in self.means.iter_mut().enumerate() {
            *mean = origin[c] + total * first[c];
        }
        // The half above the diagonal is all that is solved for.
        for (a, (sums, gram)) in second.chunks_exact(width).zip(self.gram.chunks_exact_mut(d)).enumerate() {
            let mean = total * first[a];
            self.moment[a] = total * (sums[d] - mean * first[d]);
            for (m, (sum, first)) in gram[a..].iter_mut().zip(sums[a..].iter().zip(&first[a..])) {
                *m = total * (sum - mean * first);
            }
            gram[a] += ridge;
        }
        self.slope.copy_from_slice(&self.moment);
        if !solve_positive_definite(&mut self.gram, &mut self.slope) {
            // All neighbors lie in one place (and there is no ridge): no slope is better than another.
            self.slope.fill(0.0);
        }
        self.value = self.slope.iter().zip(&self.moment).map(|(u, v)| u * v).sum();
    }
}

/// The sums with one row's part added. They go in and out by value: through a reference they would
/// not stay in registers.
#[inline(always)]
fn plus<const E: usize, const L: usize>(
    mut sums: [[f64; L]; E],
    row: &[f64; L],
    origin: &[f64; L],
    weight: f64,
) -> [[f64; L]; E] {
    let mut v = [0.0; L];
    let mut weighted = [0.0; L];
    for c in 0..L {
        v[c] = row[c] - origin[c];
        weighted[c] = weight * v[c];
        sums[0][c] += weighted[c];
    }
    for a in 1..E {
        for c in 0..L {
            sums[a][c] += weighted[c] * v[a - 1];
        }
    }
    sums
}

/// The sums over one neighborhood, for E - 1 coordinates and rows of L numbers known to the compiler.
#[inline(always)]
fn add_up<const E: usize, const L: usize>(rows: &Points, hood: Neighborhood<'_>, sums: &mut [f64]) {
    let rows = rows.values().as_chunks::<L>().0;
    let mut origin = rows[hood.rows[0] as usize];
    origin[E] = 0.0;
    // Two sets of sums hide the latency of the additions.
    let mut even = [[0.0; L]; E];
    let mut odd = [[0.0; L]; E];
    let (pairs, last) = hood.rows.as_chunks::<2>();
    match hood.weights {
        None => {
            for [i, j] in pairs {
                even = plus(even, &rows[*i as usize], &origin, 1.0);
                odd = plus(odd, &rows[*j as usize], &origin, 1.0);
            }
            for i in last {
                even = plus(even, &rows[*i as usize], &origin, 1.0);
            }
        }
        Some(weights) => {
            let (weight_pairs, last_weight) = weights.as_chunks::<2>();
            for ([i, j], [v, w]) in pairs.iter().zip(weight_pairs) {
                even = plus(even, &rows[*i as usize], &origin, *v);
                odd = plus(odd, &rows[*j as usize], &origin, *w);
            }
            for (i, w) in last.iter().zip(last_weight) {
                even = plus(even, &rows[*i as usize], &origin, *w);
            }
        }
    }
    for ((sum, even), odd) in sums.iter_mut().zip(even.as_flattened()).zip(odd.as_flattened()) {
        *sum = even + odd;
    }
}

/// The same for any number of coordinates, of which only the half from the diagonal on is added up; `space` is for two
/// neighbors.
#[inline(always)]
fn add_up_pairs(rows: &Points, hood: Neighborhood<'_>, sums: &mut [f64], space: &mut Vec<f64>) {
    let width = rows.dim();
    let d = sums.len() / width - 1;
    let origin = rows.point(hood.rows[0] as usize);
    space.resize(2 * width, 0.0);
    let (v, u) = space.split_at_mut(width);
    sums.fill(0.0);
    // Two at a time: half of the work is reading and writing the sums.
    for (q, pair) in hood.rows.chunks(2).enumerate() {
        let weight = |place: usize| hood.weights.map_or(1.0, |weights| weights[2 * q + place]);
        let mut weights = [weight(0), 0.0];
        shift(rows.point(pair[0] as usize), origin, d, v);
        match pair.get(1) {
            Some(&row) => {
                weights[1] = weight(1);
                shift(rows.point(row as usize), origin, d, u);
            }
            None => u.fill(0.0),
        }
        let (first, second) = sums.split_at_mut(width);
        for ((sum, v), u) in first.iter_mut().zip(&*v).zip(&*u) {
            *sum += weights[0] * v + weights[1] * u;
        }
        for (a, sums) in second.chunks_exact_mut(width).enumerate() {
            let factors = [weights[0] * v[a], weights[1] * u[a]];
            // By symmetry only the diagonal and what stands behind it is read; in whole registers.
            let begin = a / 4 * 4;
            let (v4, u4) = (v[begin..].as_chunks::<4>().0, u[begin..].as_chunks::<4>().0);
            for ((sums, v), u) in sums[begin..].as_chunks_mut::<4>().0.iter_mut().zip(v4).zip(u4) {
                for c in 0..4 {
                    sums[c] += factors[0] * v[c] + factors[1] * u[c];
                }
            }
        }
    }
}

/// A row less the origin, but for the 1 that counts it.
#[inline(always)]
fn shift(row: &[f64], origin: &[f64], d: usize, out: &mut [f64]) {
    for ((out, row), origin) in out.iter_mut().zip(row).zip(origin) {
        *out = row - origin;
    }
    out[d + 1] = 1.0;
}

/// The same as one product of matrices; `space` is for what is multiplied.
#[inline(always)]
fn add_up_product(rows: &Points, hood: Neighborhood<'_>, sums: &mut [f64], space: &mut Vec<f64>) {
    let (k, width) = (hood.rows.len(), rows.dim());
    let d = sums.len() / width - 1;
    let origin = rows.point(hood.rows[0] as usize);
    space.resize(k * (width + d + 1), 0.0);
    let (shifted, weighted) = space.split_at_mut(k * width);
    let places = shifted.chunks_exact_mut(width).zip(weighted.chunks_exact_mut(d + 1));
    for (q, (v, weighted)) in places.enumerate() {
        let weight = hood.weights.map_or(1.0, |weights| weights[q]);
        shift(rows.point(hood.rows[q] as usize), origin, d, v);
        weighted[0] = weight;
        for (weighted, v) in weighted[1..].iter_mut().zip(&*v) {
            *weighted = weight * v;
        }
    }
    matmul(
        MatMut::from_column_major_slice_mut(sums, width, d + 1),
        Accum::Replace,
        MatRef::from_column_major_slice(shifted, width, k),
        MatRef::from_row_major_slice(weighted, k, d + 1),
        1.0,
        Par::Seq,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::neighborhoods::Neighborhoods;

    fn points(n: usize, d: usize) -> Points {
        Points::from_values((0..n * d).map(|i| (0.9 * (i * i) as f64).sin()).collect(), d).unwrap()
    }

    fn with_response(z: &Points, y: &[f64]) -> Points {
        let padding = vec![0.0; row_width(z.dim()) - z.dim() - 2];
        let row = |(i, y): (usize, &f64)| [z.point(i), &[*y, 1.0], &padding].concat();
        Points::from_values(y.iter().enumerate().flat_map(row).collect(), row_width(z.dim())).unwrap()
    }

    #[test]
    fn a_linear_response_is_fitted_exactly() {
        for d in (1..9).chain([15, 16, 17]) {
            let z = points(30, d);
            let response =
                |z: &[f64]| 2.0 + z.iter().enumerate().map(|(c, z)| (c + 1) as f64 * z).sum::<f64>();
            let y: Vec<f64> = (0..30).map(|i| response(z.point(i))).collect();
            let hoods =
                Neighborhoods::from_lists([(3..25).map(|i| (i, 1.0 + f64::from(i % 3))).collect()]).unwrap();
            let mut fit = LocalRegression::new(d);
            fit.fit(pulp::Scalar, &with_response(&z, &y), hoods.get(0), 0.0);
            for (c, u) in fit.slope().iter().enumerate() {
                assert!((u - (c + 1) as f64).abs() < 1e-9, "{d} {u}");
            }
        }
    }

    #[test]
    fn means_are_weighted() {
        let zy = with_response(&Points::from_values(vec![1.0, 2.0, 4.0], 1).unwrap(), &[10.0, 20.0, 40.0]);
        let hoods = Neighborhoods::from_lists([vec![(0, 1.0), (2, 3.0)]]).unwrap();
        let mut fit = LocalRegression::new(1);
        fit.fit(pulp::Scalar, &zy, hoods.get(0), 0.0);
        assert_eq!((fit.means(), fit.slope()), (&[3.25, 32.5][..], &[10.0][..]));
    }

    /// Far from zero, where squares of coordinates would lose all digits of the local variance.
    #[test]
    fn a_distant_neighborhood_is_fitted_as_well() {
        for d in [2, 8, 17] {
            let near = points(40, d);
            let far = Points::from_values(near.values().iter().map(|v| 1e8 + v).collect(), d).unwrap();
            let y: Vec<f64> = (0..40).map(|i| (0.3 * i as f64).cos()).collect();
            let hoods = Neighborhoods::from_lists([(0..40).map(|i| (i, 1.0)).collect()]).unwrap();
            let slope = |z: &Points| {
                let mut fit = LocalRegression::new(d);
                fit.fit(pulp::Scalar, &with_response(z, &y), hoods.get(0), 1e-5);
                fit.slope().to_vec()
            };
            for (a, b) in slope(&near).iter().zip(slope(&far)) {
                assert!((a - b).abs() < 1e-5, "{a} {b}");
            }
        }
    }

    #[test]
    fn coinciding_neighbors_give_no_slope() {
        let z = Points::from_values(vec![1.0; 10], 2).unwrap();
        let hoods = Neighborhoods::from_lists([(0..5).map(|i| (i, 1.0)).collect()]).unwrap();
        let mut fit = LocalRegression::new(2);
        fit.fit(pulp::Scalar, &with_response(&z, &[1.0, 2.0, 3.0, 4.0, 5.0]), hoods.get(0), 0.0);
        assert_eq!((fit.slope(), fit.value()), (&[0.0, 0.0][..], 0.0));
    }
}
