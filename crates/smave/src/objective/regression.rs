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
//! Neighbors are first copied next to each other, one coordinate after another, so that all
//! sums run over contiguous memory; z and y of a row lie together, so that each neighbor is
//! one access to memory. Cost: k d^2.

use pulp::Simd;

use crate::linalg::{Points, solve_positive_definite};
use crate::local::neighborhoods::Neighborhood;
use crate::simd::{dot, sum_from};

/// Space for one local regression, and its result.
#[derive(Clone, Debug)]
pub(crate) struct LocalRegression {
    /// Centered coordinates, k of the first, k of the second, ..., then the k centered responses.
    columns: Vec<f64>,
    /// The coordinates times the weights; unused when weights are equal.
    weighted_z: Vec<f64>,
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
            columns: Vec::new(),
            weighted_z: Vec::new(),
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

    /// Regresses y on z over one neighborhood; point i of `zy` holds z_i and then y_i.
    #[inline(always)]
    pub fn fit<S: Simd>(&mut self, simd: S, zy: &Points, hood: Neighborhood<'_>, ridge: f64) {
        let (d, k) = (self.slope.len(), hood.rows.len());
        self.columns.resize((d + 1) * k, 0.0);
        match d {
            1 => gather::<2>(zy, hood.rows, &mut self.columns),
            2 => gather::<3>(zy, hood.rows, &mut self.columns),
            3 => gather::<4>(zy, hood.rows, &mut self.columns),
            4 => gather::<5>(zy, hood.rows, &mut self.columns),
            _ => gather_any(zy, hood.rows, &mut self.columns),
        }
        let equal = 1.0 / k as f64;
        for (column, mean) in self.columns.chunks_exact_mut(k).zip(&mut self.means) {
            *mean = center(simd, column, hood.weights, equal);
        }
        let (z, y) = self.columns.split_at(d * k);
        // Equal weights come out of the sums; others go into one factor first.
        let (left, scale) = match hood.weights {
            None => (z, equal),
            Some(weights) => {
                self.weighted_z.clear();
                for z in z.chunks_exact(k) {
                    self.weighted_z.extend(z.iter().zip(weights).map(|(z, w)| z * w));
                }
                (&*self.weighted_z, 1.0)
            }
        };
        for a in 0..d {
            let za = &left[a * k..(a + 1) * k];
            self.moment[a] = scale * dot(simd, za, y);
            for b in 0..=a {
                let m = dot(simd, za, &z[b * k..(b + 1) * k]);
                self.gram[a * d + b] = scale * m;
                self.gram[b * d + a] = scale * m;
            }
            self.gram[a * d + a] += ridge;
        }
        self.slope.copy_from_slice(&self.moment);
        if !solve_positive_definite(&mut self.gram, &mut self.slope) {
            // All neighbors lie in one place (and there is no ridge): no slope is better than another.
            self.slope.fill(0.0);
        }
        self.value = self.slope.iter().zip(&self.moment).map(|(u, v)| u * v).sum();
    }
}

/// Copies the points of `rows` one coordinate after another, for E coordinates known to the compiler.
#[inline(always)]
fn gather<const E: usize>(points: &Points, rows: &[u32], columns: &mut [f64]) {
    let points = points.values().as_chunks::<E>().0;
    let mut out = columns.chunks_exact_mut(rows.len());
    let columns: [&mut [f64]; E] = std::array::from_fn(|_| out.next().expect("E columns"));
    for (q, &row) in rows.iter().enumerate() {
        let point = &points[row as usize];
        for c in 0..E {
            columns[c][q] = point[c];
        }
    }
}

/// The same for any number of coordinates.
#[inline(always)]
fn gather_any(points: &Points, rows: &[u32], columns: &mut [f64]) {
    let k = rows.len();
    for (q, &row) in rows.iter().enumerate() {
        for (c, v) in points.point(row as usize).iter().enumerate() {
            columns[c * k + q] = *v;
        }
    }
}

/// Subtracts the weighted mean, and returns it.
#[inline(always)]
fn center<S: Simd>(simd: S, values: &mut [f64], weights: Option<&[f64]>, equal: f64) -> f64 {
    let mean = match weights {
        None => {
            // The first value is as good an origin as zero, and safe from cancellation.
            let origin = values[0];
            origin + equal * sum_from(simd, values, origin)
        }
        Some(weights) => dot(simd, values, weights),
    };
    for v in values {
        *v -= mean;
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::neighborhoods::Neighborhoods;

    fn points(n: usize, d: usize) -> Points {
        Points::from_values((0..n * d).map(|i| (0.9 * (i * i) as f64).sin()).collect(), d).unwrap()
    }

    fn with_response(z: &Points, y: &[f64]) -> Points {
        let values = y.iter().enumerate().flat_map(|(i, y)| [z.point(i), &[*y]].concat()).collect();
        Points::from_values(values, z.dim() + 1).unwrap()
    }

    #[test]
    fn a_linear_response_is_fitted_exactly() {
        for d in 1..7 {
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
        let zy = Points::from_values(vec![1.0, 10.0, 2.0, 20.0, 4.0, 40.0], 2).unwrap();
        let hoods = Neighborhoods::from_lists([vec![(0, 1.0), (2, 3.0)]]).unwrap();
        let mut fit = LocalRegression::new(1);
        fit.fit(pulp::Scalar, &zy, hoods.get(0), 0.0);
        assert_eq!((fit.means(), fit.slope()), (&[3.25, 32.5][..], &[10.0][..]));
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
