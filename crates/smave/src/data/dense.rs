//! Dense covariates in row-major order, f64 or f32, borrowed or owned.
//!
//! Both products stream X once. Rows are taken four at a time and columns of B
//! (or of G) two at a time, so that each number loaded serves several sums; f32
//! rows are widened four at a time into a buffer that stays in the cache.
//!
//! Chunks of rows have a size that depends on the shape alone and partial
//! results are added in chunk order, so the number of threads cannot be seen
//! in the result. Cost: n p d per product.

use std::borrow::Cow;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::data::design::{Design, Inspection, Moments, Rows, expect_size};
use crate::error::Result;
use crate::linalg::{Element, MatMut, MatRef, Points};
use crate::simd::{add_block, dot_block};

/// An n x p matrix, row after row.
#[derive(Clone, Debug)]
pub struct Dense<'a, T: Element> {
    values: Cow<'a, [T]>,
    n_rows: usize,
    n_cols: usize,
}

impl<'a, T: Element> Dense<'a, T> {
    /// Sees `values` (a slice, without a copy, or a `Vec`) as `n_rows` rows of `n_cols` values.
    pub fn new(values: impl Into<Cow<'a, [T]>>, n_rows: usize, n_cols: usize) -> Result<Self> {
        let values = values.into();
        // An overflowing product cannot be the length of a slice.
        expect_size("length of X against rows times columns", n_rows.saturating_mul(n_cols), values.len())?;
        Ok(Self { values, n_rows, n_cols })
    }

    /// All values, row after row.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The values of one row.
    #[inline(always)]
    fn row(&self, row: usize) -> &[T] {
        &self.values[row * self.n_cols..(row + 1) * self.n_cols]
    }

    /// Rows per chunk of work: some 16k values, so that a small matrix is one
    /// chunk, and never more than 64 chunks to add up.
    fn chunk(&self, n_rows: usize) -> usize {
        (16_384 / self.n_cols.max(1)).max(n_rows.div_ceil(64)).max(16)
    }
}

impl<T: Element> Design for Dense<'_, T> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn n_cols(&self) -> usize {
        self.n_cols
    }

    fn project_into(&self, b: MatRef<'_, f64>, rows: Rows<'_>, z: &mut Points) {
        let (count, d) = (rows.count(self.n_rows), b.ncols());
        assert_eq!((b.nrows(), z.len()), (self.n_cols, count), "shapes of project");
        let width = z.dim();
        assert!(width >= d, "points of {width} coordinates cannot hold {d}");
        let columns: Vec<Vec<f64>> = (0..d).map(|c| b.col(c).iter().copied().collect()).collect();
        let chunk = self.chunk(count);
        z.values_mut().par_chunks_mut(chunk * width.max(1)).enumerate().for_each(|(c, z)| {
            let first = c * chunk;
            let range = first..first + z.len() / width;
            Arch::new().dispatch(ProjectRows {
                source: RowSource { x: self, rows, range },
                columns: &columns,
                z,
                width,
            });
        });
    }

    fn copy_rows_into(&self, rows: Rows<'_>, out: &mut Points) {
        let count = rows.count(self.n_rows);
        assert_eq!((out.len(), out.dim()), (count, self.n_cols), "shapes of copy_rows");
        let source = RowSource { x: self, rows, range: 0..count };
        let mut buffer = Vec::new();
        for (r, out) in out.values_mut().chunks_exact_mut(self.n_cols).enumerate() {
            out.copy_from_slice(source.widened(r, &mut buffer));
        }
    }

    fn pull_back_into(&self, c: &Points, rows: Rows<'_>, mut g: MatMut<'_, f64>) {
        let (count, d, p) = (rows.count(self.n_rows), c.dim(), self.n_cols);
        assert_eq!((g.nrows(), g.ncols(), c.len()), (p, d, count), "shapes of pull_back");
        let chunk = self.chunk(count);
        let partial: Vec<Vec<f64>> = (0..count.div_ceil(chunk))
            .into_par_iter()
            .map(|index| {
                let range = index * chunk..((index + 1) * chunk).min(count);
                Arch::new().dispatch(PullBackRows { source: RowSource { x: self, rows, range }, c })
            })
            .collect();
        let mut total = vec![0.0; p * d];
        for part in &partial {
            for (total, part) in total.iter_mut().zip(part) {
                *total += part;
            }
        }
        g.copy_from(MatRef::from_column_major_slice(&total, p, d));
    }

    fn inspect(&self) -> Inspection {
        let chunk = self.chunk(self.n_rows);
        let first_row: &[T] = if self.n_rows == 0 { &[] } else { self.row(0) };
        let parts: Vec<(Option<usize>, Vec<bool>)> = self
            .values
            .par_chunks(chunk * self.n_cols.max(1))
            .map(|part| {
                let bad = part.iter().position(|v| !v.widen().is_finite());
                let mut constant = vec![true; self.n_cols];
                for row in part.chunks_exact(self.n_cols) {
                    for ((same, value), first) in constant.iter_mut().zip(row).zip(first_row) {
                        *same &= value == first;
                    }
                }
                (bad, constant)
            })
            .collect();
        let mut inspection = Inspection { first_non_finite: None, constant: vec![true; self.n_cols] };
        for (index, (bad, constant)) in parts.into_iter().enumerate() {
            inspection.first_non_finite = inspection.first_non_finite.or(bad.map(|offset| {
                let at = index * chunk * self.n_cols + offset;
                (at / self.n_cols, at % self.n_cols, self.values[at].widen())
            }));
            for (all, part) in inspection.constant.iter_mut().zip(constant) {
                *all &= part;
            }
        }
        inspection
    }

    fn moments(&self, weights: Option<&[f64]>) -> Moments {
        let n = weights.map_or(self.n_rows.max(1) as f64, |weights| weights.iter().sum());
        // Two passes: the second sums squares around the mean, where nothing cancels.
        let mean: Vec<f64> =
            self.column_sums(|v, _| v, &vec![0.0; self.n_cols], weights).iter().map(|s| s / n).collect();
        let squares = self.column_sums(|v, m| (v - m) * (v - m), &mean, weights);
        Moments { mean, sd: squares.iter().map(|s| (s / n).sqrt()).collect() }
    }
}

impl<T: Element> Dense<'_, T> {
    /// The sum of `term(value, reference of its column)`, times the weight of the row, over each column.
    fn column_sums(
        &self,
        term: impl Fn(f64, f64) -> f64 + Sync,
        reference: &[f64],
        weights: Option<&[f64]>,
    ) -> Vec<f64> {
        let p = self.n_cols.max(1);
        let rows_per_part = self.chunk(self.n_rows);
        let partial: Vec<Vec<f64>> = self
            .values
            .par_chunks(rows_per_part * p)
            .enumerate()
            .map(|(index, part)| {
                let mut sums = vec![0.0; self.n_cols];
                for (offset, row) in part.chunks_exact(p).enumerate() {
                    let weight = weights.map_or(1.0, |weights| weights[index * rows_per_part + offset]);
                    for ((sum, value), reference) in sums.iter_mut().zip(row).zip(reference) {
                        *sum += weight * term(value.widen(), *reference);
                    }
                }
                sums
            })
            .collect();
        (0..self.n_cols).map(|c| partial.iter().map(|part| part[c]).sum()).collect()
    }
}

/// Rows that go through the inner loops together.
const BLOCK: usize = 4;

/// The rows of X that a chunk of work runs over.
struct RowSource<'a, T: Element> {
    x: &'a Dense<'a, T>,
    rows: Rows<'a>,
    range: Range<usize>,
}

impl<T: Element> RowSource<'_, T> {
    /// Row r of the product's rows, as f64.
    #[inline(always)]
    fn widened<'b>(&'b self, r: usize, buffer: &'b mut Vec<f64>) -> &'b [f64] {
        let row = match self.rows {
            Rows::All => r,
            Rows::Subset(rows) => rows[r],
        };
        T::widen_slice(self.x.row(row), buffer)
    }

    /// The block of rows that begins with row r.
    #[inline(always)]
    fn block<'b>(&'b self, r: usize, buffers: &'b mut [Vec<f64>; BLOCK]) -> [&'b [f64]; BLOCK] {
        let [b0, b1, b2, b3] = buffers;
        [self.widened(r, b0), self.widened(r + 1, b1), self.widened(r + 2, b2), self.widened(r + 3, b3)]
    }
}

/// Writes `x_r'b` for each row r and each column b to the beginning of point r of `z`.
struct ProjectRows<'a, T: Element> {
    source: RowSource<'a, T>,
    columns: &'a [Vec<f64>],
    z: &'a mut [f64],
    /// Coordinates per point of `z`.
    width: usize,
}

impl<T: Element> WithSimd for ProjectRows<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { source, columns, z, width } = self;
        let d = columns.len();
        let mut buffers: [Vec<f64>; BLOCK] = Default::default();
        let mut r = source.range.start;
        let mut blocks = z.chunks_exact_mut(BLOCK * width);
        for z in &mut blocks {
            let rows = source.block(r, &mut buffers);
            let (pairs, single) = columns.as_chunks::<2>();
            for (pair, [first, second]) in pairs.iter().enumerate() {
                for (i, dots) in dot_block(simd, rows, [first, second]).iter().enumerate() {
                    z[i * width + 2 * pair..][..2].copy_from_slice(dots);
                }
            }
            if let [last] = single {
                for (i, [dot]) in dot_block(simd, rows, [last]).into_iter().enumerate() {
                    z[i * width + d - 1] = dot;
                }
            }
            r += BLOCK;
        }
        for z in blocks.into_remainder().chunks_exact_mut(width) {
            let row = source.widened(r, &mut buffers[0]);
            for (z, column) in z.iter_mut().zip(columns) {
                [[*z]] = dot_block(simd, [row], [column]);
            }
            r += 1;
        }
    }
}

/// The sum over rows r of `x_r c_r'`, one column of length p after another.
struct PullBackRows<'a, T: Element> {
    source: RowSource<'a, T>,
    c: &'a Points,
}

impl<T: Element> WithSimd for PullBackRows<'_, T> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Vec<f64> {
        let Self { source, c } = self;
        let (p, d) = (source.x.n_cols, c.dim());
        let mut g = vec![0.0; p * d];
        let mut buffers: [Vec<f64>; BLOCK] = Default::default();
        let mut r = source.range.start;
        while r + BLOCK <= source.range.end {
            let weights = &c.values()[r * d..(r + BLOCK) * d];
            // Rows outside every neighborhood of a small batch carry no weight.
            if weights.iter().any(|&w| w != 0.0) {
                let rows = source.block(r, &mut buffers);
                let mut pairs = g.chunks_exact_mut(2 * p);
                for (pair, g) in (&mut pairs).enumerate() {
                    let (first, second) = g.split_at_mut(p);
                    let weights =
                        std::array::from_fn(|i| [weights[i * d + 2 * pair], weights[i * d + 2 * pair + 1]]);
                    add_block(simd, rows, weights, [first, second]);
                }
                if d % 2 == 1 {
                    let weights = std::array::from_fn(|i| [weights[i * d + d - 1]]);
                    add_block(simd, rows, weights, [pairs.into_remainder()]);
                }
            }
            r += BLOCK;
        }
        for r in r..source.range.end {
            let row = source.widened(r, &mut buffers[0]);
            for (g, w) in g.chunks_exact_mut(p).zip(c.point(r)) {
                add_block(simd, [row], [[*w]], [g]);
            }
        }
        g
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Mat;

    fn wave(len: usize, step: f64) -> Vec<f64> {
        (0..len).map(|i| (step * i as f64).sin()).collect()
    }

    /// Both products against three nested loops, over shapes that meet every remainder.
    #[test]
    fn products_equal_their_definition() {
        for (n, p, d) in [(1, 1, 1), (3, 8, 2), (4, 7, 1), (9, 17, 3), (130, 33, 5), (70, 1000, 2)] {
            let x = Dense::new(wave(n * p, 0.37), n, p).unwrap();
            let b = Mat::from_fn(p, d, |i, j| (1.3 * i as f64 + j as f64).cos());
            let c = Points::from_values(wave(n * d, 0.71), d).unwrap();
            let subset: Vec<usize> = (0..2 * n).map(|i| (i * i + 1) % n).collect();
            for rows in [Rows::All, Rows::Subset(&subset), Rows::Subset(&[])] {
                let index: Vec<usize> = match rows {
                    Rows::All => (0..n).collect(),
                    Rows::Subset(rows) => rows.to_vec(),
                };
                let c = Points::from_values(
                    index.iter().enumerate().flat_map(|(r, _)| c.point(r % n).to_vec()).collect(),
                    d,
                )
                .unwrap();
                let z = x.project(b.as_ref(), rows).unwrap();
                let g = x.pull_back(&c, rows).unwrap();
                for column in 0..d {
                    for (r, &i) in index.iter().enumerate() {
                        let expected: f64 = (0..p).map(|l| x.values()[i * p + l] * b[(l, column)]).sum();
                        assert!((z.point(r)[column] - expected).abs() < 1e-11, "project {n} {p} {d}");
                    }
                    for l in 0..p {
                        let expected: f64 = index
                            .iter()
                            .enumerate()
                            .map(|(r, &i)| x.values()[i * p + l] * c.point(r)[column])
                            .sum();
                        assert!((g[(l, column)] - expected).abs() < 1e-11, "pull back {n} {p} {d}");
                    }
                }
            }
        }
    }

    #[test]
    fn single_precision_loses_single_precision_only() {
        let (n, p, d) = (50, 40, 3);
        let wide = wave(n * p, 0.61);
        let narrow: Vec<f32> = wide.iter().map(|&v| v as f32).collect();
        let (wide, narrow) = (Dense::new(wide, n, p).unwrap(), Dense::new(narrow, n, p).unwrap());
        let b = Mat::from_fn(p, d, |i, j| (1.3 * i as f64 + j as f64).cos());
        let (z, w) =
            (wide.project(b.as_ref(), Rows::All).unwrap(), narrow.project(b.as_ref(), Rows::All).unwrap());
        let worst = z.values().iter().zip(w.values()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // Forty terms of size one, each rounded to 2^-25 at most.
        assert!(worst < 40.0 * 2f64.powi(-25) && worst > 0.0);
    }

    #[test]
    fn moments_survive_a_large_offset() {
        let x = Dense::new(vec![1e9 + 1.0, 2.0, 1e9 + 3.0, 2.0], 2, 2).unwrap();
        let moments = x.moments(None);
        assert_eq!(moments.mean, vec![1e9 + 2.0, 2.0]);
        assert_eq!(moments.sd, vec![1.0, 0.0]);
        // The first row three times.
        let moments = x.moments(Some(&[3.0, 1.0]));
        assert_eq!(moments.mean, vec![1e9 + 1.5, 2.0]);
        assert_eq!(moments.sd, vec![0.75f64.sqrt(), 0.0]);
    }

    #[test]
    fn inspection_finds_the_first_bad_value_and_constant_columns() {
        let mut values = wave(3000 * 30, 0.1);
        for row in values.chunks_exact_mut(30) {
            row[4] = 7.0;
        }
        let clean = Dense::new(values.clone(), 3000, 30).unwrap().inspect();
        assert_eq!(clean.first_non_finite, None);
        assert_eq!(clean.constant.iter().filter(|&&c| c).count(), 1);
        assert!(clean.constant[4]);
        values[2900 * 30 + 3] = f64::NAN;
        values[2500 * 30 + 29] = f64::INFINITY;
        let bad = Dense::new(values, 3000, 30).unwrap().inspect().first_non_finite;
        assert_eq!(bad, Some((2500, 29, f64::INFINITY)));
    }

    #[test]
    fn shapes_are_checked() {
        assert!(Dense::new(vec![0.0; 5], 2, 3).is_err());
        assert!(Dense::new(Vec::<f64>::new(), usize::MAX, usize::MAX).is_err());
        let x = Dense::new(vec![0.0; 6], 2, 3).unwrap();
        assert!(x.project(Mat::zeros(2, 1).as_ref(), Rows::All).is_err());
        assert!(x.project(Mat::zeros(3, 1).as_ref(), Rows::Subset(&[2])).is_err());
        assert!(x.pull_back(&Points::zeros(3, 1), Rows::All).is_err());
    }
}
