//! Matrices, points, and the few small factorizations everything else needs.
//!
//! Tall matrices that belong to covariates (p x d: bases, gradients) are
//! [`Mat`], column-major as faer likes them. Tall matrices that belong to
//! samples (n x d: projections, residual weights) are [`Points`], stored point
//! after point, because neighbors are gathered a point at a time.

pub use faer::{Mat, MatMut, MatRef};

use faer::Side;

/// `len` points in R^`dim`, stored one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    values: Vec<f64>,
    dim: usize,
}

impl Points {
    /// All zeros.
    pub fn zeros(len: usize, dim: usize) -> Self {
        Self { values: vec![0.0; len * dim], dim }
    }

    /// Takes `values` as consecutive points of `dim` coordinates; `None` if they do not divide evenly.
    pub fn from_values(values: Vec<f64>, dim: usize) -> Option<Self> {
        (dim > 0 && values.len().is_multiple_of(dim)).then_some(Self { values, dim })
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dim).unwrap_or(0)
    }

    /// True when there is no point.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Coordinates per point.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The coordinates of point `i`.
    #[inline(always)]
    pub fn point(&self, i: usize) -> &[f64] {
        &self.values[i * self.dim..(i + 1) * self.dim]
    }

    /// All coordinates, point after point.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// All coordinates, point after point.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// All coordinates, point after point.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// The same numbers as an n x d matrix.
    pub fn as_mat(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.len(), self.dim)
    }
}

/// A number type in which X may be stored; arithmetic is in f64.
pub trait Element: Copy + Send + Sync + PartialEq + 'static {
    /// The same number as f64.
    fn widen(self) -> f64;

    /// The same numbers as f64, in `buffer` if they have to be converted.
    fn widen_slice<'a>(slice: &'a [Self], buffer: &'a mut Vec<f64>) -> &'a [f64];
}

impl Element for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }

    #[inline(always)]
    fn widen_slice<'a>(slice: &'a [Self], _: &'a mut Vec<f64>) -> &'a [f64] {
        slice
    }
}

impl Element for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn widen_slice<'a>(slice: &'a [Self], buffer: &'a mut Vec<f64>) -> &'a [f64] {
        buffer.resize(slice.len(), 0.0);
        for (wide, narrow) in buffer.iter_mut().zip(slice) {
            *wide = f64::from(*narrow);
        }
        buffer
    }
}

/// The sum of squared differences, added up in coordinate order.
///
/// This one function decides which of two points is nearer, everywhere: the
/// tree and the scan must agree to the last bit about ties.
#[inline(always)]
pub(crate) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (s, t) in a.iter().zip(b) {
        let diff = s - t;
        sum += diff * diff;
    }
    sum
}

/// The orthonormal factor of the thin QR decomposition, R with a positive
/// diagonal; `None` if the columns are not finite and linearly independent.
pub fn orthonormalize(a: MatRef<'_, f64>) -> Option<Mat<f64>> {
    if a.ncols() > a.nrows() {
        return None;
    }
    let qr = a.qr();
    let mut q = qr.compute_thin_Q();
    let r = qr.thin_R();
    let largest = (0..a.ncols()).map(|j| r[(j, j)].abs()).fold(0.0, f64::max);
    for j in 0..a.ncols() {
        let pivot = r[(j, j)];
        // Also false for NaN.
        if !(pivot.abs() > 1e-13 * largest && pivot.is_finite()) {
            return None;
        }
        if pivot < 0.0 {
            // R needs a positive diagonal, or a zero step would flip columns.
            q.col_mut(j).iter_mut().for_each(|v| *v = 0.0 - *v);
        }
    }
    Some(q)
}

/// Eigenvalues in decreasing order and their eigenvectors (columns) of a
/// symmetric matrix, of which the lower half is read. `None` if it did not
/// converge, which takes a non-finite entry.
pub fn symmetric_eigen(a: MatRef<'_, f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let n = a.nrows();
    let eigen = a.self_adjoint_eigen(Side::Lower).ok()?;
    // faer sorts in increasing order.
    let values = (0..n).rev().map(|j| eigen.S()[j]).collect();
    let vectors = Mat::from_fn(n, n, |i, j| eigen.U()[(i, n - 1 - j)]);
    Some((values, vectors))
}

/// Singular values in decreasing order; `None` if it did not converge.
pub fn singular_values(a: MatRef<'_, f64>) -> Option<Vec<f64>> {
    a.singular_values().ok()
}

/// Frobenius inner product.
pub fn inner(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> f64 {
    let mut sum = 0.0;
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            sum += a[(i, j)] * b[(i, j)];
        }
    }
    sum
}

/// An orthonormal basis of what the given rows span, all other rows being zero to the last bit: which a factorization of the
/// whole matrix would not leave them. `None` as for [`orthonormalize`].
pub(crate) fn orthonormalize_rows(a: MatRef<'_, f64>, rows: &[usize]) -> Option<Mat<f64>> {
    let small = Mat::from_fn(rows.len(), a.ncols(), |i, j| a[(rows[i], j)]);
    let small = orthonormalize(small.as_ref())?;
    let mut whole = Mat::zeros(a.nrows(), a.ncols());
    for (i, &row) in rows.iter().enumerate() {
        for j in 0..a.ncols() {
            whole[(row, j)] = small[(i, j)];
        }
    }
    Some(whole)
}

/// Frobenius norm.
pub fn norm(a: MatRef<'_, f64>) -> f64 {
    a.norm_l2()
}

/// Solves `m x = v` in place for a symmetric positive definite `m` (row-major, of which the upper half is
/// read, and overwritten by its Cholesky factor), leaving x in `v`. Returns false, with `v` unspecified, if
/// `m` is not positive definite.
///
/// Eliminates row by row, so that the inner loops add vectors instead of waiting for sums: for matrices of a
/// hundred rows or fewer, faster than anything that works in blocks.
#[inline(always)]
pub(crate) fn solve_positive_definite(m: &mut [f64], v: &mut [f64]) -> bool {
    let d = v.len();
    // Two rows at a time: half of the work is reading and writing the rows below.
    for j in (0..d).step_by(2) {
        let (first, rest) = m[j * d..].split_at_mut(d);
        let first = &mut first[j..];
        if !eliminate(first, &mut v[j..]) {
            return false;
        }
        if j + 1 == d {
            break;
        }
        let (second, below) = rest.split_at_mut(d);
        let second = &mut second[j + 1..];
        let factor = first[1];
        second.iter_mut().zip(&first[1..]).for_each(|(entry, u)| *entry -= factor * u);
        if !eliminate(second, &mut v[j + 1..]) {
            return false;
        }
        let (first, second) = (&first[2..], &second[1..]);
        for (i, lower) in below.chunks_exact_mut(d).enumerate() {
            let (f, g) = (first[i], second[i]);
            let pairs = first[i..].iter().zip(&second[i..]);
            for (entry, (u, w)) in lower[j + 2 + i..].iter_mut().zip(pairs) {
                *entry -= f * u + g * w;
            }
        }
    }
    for i in (0..d).rev() {
        let row = &m[i * d..(i + 1) * d];
        // Four sums, so that none waits for the one before it.
        let mut sums = [0.0; 4];
        for (u, v) in row[i + 1..].chunks(4).zip(v[i + 1..].chunks(4)) {
            sums.iter_mut().zip(u.iter().zip(v)).for_each(|(sum, (u, v))| *sum += u * v);
        }
        v[i] = (v[i] - sums.iter().sum::<f64>()) / row[i];
    }
    true
}

/// Makes `row`, which begins at its pivot, a row of the Cholesky factor and takes it out of the system's right
/// side; false if the pivot is not positive.
#[inline(always)]
fn eliminate(row: &mut [f64], v: &mut [f64]) -> bool {
    if row[0].is_nan() || row[0] <= 0.0 {
        return false;
    }
    let scale = 1.0 / row[0].sqrt();
    row.iter_mut().for_each(|v| *v *= scale);
    v[0] *= scale;
    let solved = v[0];
    v[1..].iter_mut().zip(&row[1..]).for_each(|(entry, u)| *entry -= solved * u);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_solve_agrees_with_faer() {
        use faer::linalg::solvers::Solve;
        for d in (1..7).chain([20, 31]) {
            let a = Mat::from_fn(d, d, |i, j| ((3 * i + 5 * j + 1) as f64).sin());
            let m = &a * a.transpose() + Mat::<f64>::identity(d, d);
            let v = Mat::from_fn(d, 1, |i, _| (i as f64).cos());
            let expected = m.llt(Side::Lower).unwrap().solve(&v);
            let mut flat: Vec<f64> = (0..d * d).map(|e| m[(e / d, e % d)]).collect();
            let mut x: Vec<f64> = (0..d).map(|i| v[(i, 0)]).collect();
            assert!(solve_positive_definite(&mut flat, &mut x));
            for i in 0..d {
                assert!((x[i] - expected[(i, 0)]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn small_solve_refuses_what_is_not_positive_definite() {
        assert!(!solve_positive_definite(&mut [1.0, 2.0, 2.0, 1.0], &mut [1.0, 1.0]));
        assert!(!solve_positive_definite(&mut [f64::NAN], &mut [1.0]));
    }

    #[test]
    fn orthonormal_factor_keeps_an_orthonormal_matrix() {
        let b = orthonormalize(
            Mat::from_fn(6, 3, |i, j| ((i * i * 7 + j * j * i + j * 3) as f64).cos()).as_ref(),
        )
        .unwrap();
        let again = orthonormalize(b.as_ref()).unwrap();
        assert!(norm((&b - &again).as_ref()) < 1e-13);
    }

    #[test]
    fn orthonormalize_refuses_dependent_and_non_finite_columns() {
        assert!(orthonormalize(Mat::from_fn(4, 2, |i, _| i as f64).as_ref()).is_none());
        assert!(
            orthonormalize(Mat::from_fn(4, 2, |i, j| if i == j { f64::NAN } else { 1.0 }).as_ref()).is_none()
        );
        assert!(orthonormalize(Mat::<f64>::zeros(3, 1).as_ref()).is_none());
        assert!(orthonormalize(Mat::<f64>::identity(2, 3).as_ref()).is_none());
    }

    #[test]
    fn eigenvalues_come_in_decreasing_order() {
        let a = Mat::from_fn(3, 3, |i, j| if i == j { [1.0, 3.0, 2.0][i] } else { 0.0 });
        let (values, vectors) = symmetric_eigen(a.as_ref()).unwrap();
        assert_eq!(values, vec![3.0, 2.0, 1.0]);
        assert!((vectors[(1, 0)].abs() - 1.0).abs() < 1e-14);
    }
}
