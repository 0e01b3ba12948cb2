//! $F_\varepsilon(B)$ and its Riemannian gradient over any set of anchors.
//!
//! $$ F_\varepsilon(B) = \sum_j (\mu^{(j)})^\top B (B^\top G^{(j)} B + \varepsilon I)^{-1} B^\top \mu^{(j)} $$
//!
//! is maximal where the average local residual variance $D_n$ is minimal (paper,
//! Prop. "Stiefel reformulation": $D_n + F$ does not depend on B). One
//! evaluation is three parts:
//!
//! | part | what | cost |
//! |---|---|---|
//! | project | $Z = X B$ | n p d |
//! | localize | $C_i = \sum_j w_{ij} r_{ij} u_j^\top$, $F$ | m k d^2 |
//! | pull back | $\mathrm{grad} = 2 X^\top C - 2 \varepsilon B \sum_j u_j u_j^\top$ | n p d |
//!
//! The gradient is that of Prop. "Riemannian gradient", summed over the m
//! anchors; it is horizontal, $B^\top \mathrm{grad} = 0$, without a projection.
//!
//! Anchors are cut into chunks, each with a copy of C; the cut depends on the
//! sizes alone and copies are added in order, so threads leave no trace.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::data::design::{Design, Rows, expect_size};
use crate::error::Result;
use crate::linalg::{Mat, MatRef, Points};
use crate::local::neighborhoods::{Neighborhood, Neighborhoods};
use crate::objective::regression::LocalRegression;

/// The MAVE criterion of one data set.
#[derive(Clone, Copy)]
pub struct MaveObjective<'a> {
    x: &'a dyn Design,
    y: &'a [f64],
    ridge: f64,
}

/// The criterion at one basis, summed over the anchors asked for.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The sum of explained local variances.
    pub value: f64,
    /// Riemannian gradient of `value`, p x d.
    pub gradient: Mat<f64>,
    /// The sum of $u_j u_j^\top$, d x d.
    pub slope_outer: Mat<f64>,
}

/// Memory that evaluations reuse.
#[derive(Debug, Default)]
pub struct Scratch {
    z: Option<Points>,
    /// z and y of each row together, as the local regressions read them.
    zy: Option<Points>,
    /// Copies of C, one per chunk of anchors.
    copies: Vec<Points>,
}

/// What a chunk of anchors adds up.
struct Partial {
    value: f64,
    slope_outer: Vec<f64>,
}

impl<'a> MaveObjective<'a> {
    /// The criterion for `y` given `x`, with local ridge ε.
    ///
    /// # Errors
    /// When the lengths of `x` and `y` differ.
    pub fn new(x: &'a dyn Design, y: &'a [f64], ridge: f64) -> Result<Self> {
        expect_size("length of y against rows of X", x.n_rows(), y.len())?;
        Ok(Self { x, y, ridge })
    }

    /// The covariates.
    pub fn design(&self) -> &'a dyn Design {
        self.x
    }

    /// Value and gradient at `b` over the given entries of `hoods`.
    ///
    /// # Errors
    /// When `b` does not fit X, or `hoods` mention rows or `anchors` entries that do not exist.
    pub fn evaluate(
        &self,
        b: MatRef<'_, f64>,
        hoods: &Neighborhoods,
        anchors: &[usize],
    ) -> Result<Evaluation> {
        expect_size("rows of B against columns of X", self.x.n_cols(), b.nrows())?;
        let missing_row = hoods.row_bound().max(self.y.len());
        expect_size("rows mentioned by the neighborhoods against rows of X", self.y.len(), missing_row)?;
        let missing_anchor = anchors.iter().map(|a| a + 1).max().unwrap_or(0).max(hoods.len());
        expect_size("anchors against neighborhoods", hoods.len(), missing_anchor)?;
        Ok(self.evaluate_with(b, hoods, anchors, &mut Scratch::default()))
    }

    /// [`MaveObjective::evaluate`] without checks, reusing memory.
    pub(crate) fn evaluate_with(
        &self,
        b: MatRef<'_, f64>,
        hoods: &Neighborhoods,
        anchors: &[usize],
        scratch: &mut Scratch,
    ) -> Evaluation {
        let (n, d) = (self.y.len(), b.ncols());
        let z = sized(&mut scratch.z, n, d);
        self.x.project_into(b, Rows::All, z);
        let (value, slope_outer) = self.localize(z, hoods, anchors, &mut scratch.zy, &mut scratch.copies);

        let mut gradient = Mat::zeros(b.nrows(), d);
        self.x.pull_back_into(&scratch.copies[0], Rows::All, gradient.as_mut());
        let ridge_term = b * &slope_outer;
        for j in 0..d {
            for (g, ridge_term) in gradient.col_as_slice_mut(j).iter_mut().zip(ridge_term.col_as_slice(j)) {
                *g = 2.0 * (*g - self.ridge * ridge_term);
            }
        }
        Evaluation { value, gradient, slope_outer }
    }

    /// The sum of values and of slope outer products at projections `z`; C is left in `copies[0]`.
    fn localize(
        &self,
        z: &Points,
        hoods: &Neighborhoods,
        anchors: &[usize],
        zy: &mut Option<Points>,
        copies: &mut Vec<Points>,
    ) -> (f64, Mat<f64>) {
        let (n, d) = (z.len(), z.dim());
        let zy = sized(zy, n, d + 1);
        interleave_into(z, self.y, zy);
        let zy = &*zy;
        let entries: usize = anchors.iter().map(|&a| hoods.get(a).rows.len()).sum();
        let chunks = chunk_count(entries, n * d).min(anchors.len()).max(1);
        copies.retain(|copy| (copy.len(), copy.dim()) == (n, d));
        copies.resize_with(chunks.max(copies.len()), || Points::zeros(n, d));
        let copies = &mut copies[..chunks];

        let per_chunk = anchors.len().div_ceil(chunks).max(1);
        let partials: Vec<Partial> = copies
            .par_iter_mut()
            .enumerate()
            .map(|(index, c)| {
                c.values_mut().fill(0.0);
                let first = (index * per_chunk).min(anchors.len());
                let last = (first + per_chunk).min(anchors.len());
                Arch::new().dispatch(LocalizeChunk {
                    ridge: self.ridge,
                    zy,
                    hoods,
                    anchors: &anchors[first..last],
                    c: c.values_mut(),
                })
            })
            .collect();

        let (total, others) = copies.split_first_mut().expect("at least one chunk");
        if !others.is_empty() {
            const BLOCK: usize = 2048;
            total.values_mut().par_chunks_mut(BLOCK).enumerate().for_each(|(block, total)| {
                for other in &*others {
                    for (t, o) in total.iter_mut().zip(&other.values()[block * BLOCK..]) {
                        *t += o;
                    }
                }
            });
        }
        let value = partials.iter().map(|p| p.value).sum();
        let outer = Mat::from_fn(d, d, |i, j| partials.iter().map(|p| p.slope_outer[i * d + j]).sum());
        (value, outer)
    }

    /// The average outer product of the slopes at the given anchors, d x d,
    /// from projections `z` already at hand.
    pub(crate) fn average_slope_outer(&self, z: &Points, hoods: &Neighborhoods) -> Mat<f64> {
        let anchors: Vec<usize> = (0..hoods.len()).collect();
        let (_, mut outer) = self.localize(z, hoods, &anchors, &mut None, &mut Vec::new());
        outer *= 1.0 / anchors.len().max(1) as f64;
        outer
    }
}

/// Points of the given shape, reused if they have it already.
fn sized(slot: &mut Option<Points>, len: usize, dim: usize) -> &mut Points {
    match slot.take() {
        Some(points) if (points.len(), points.dim()) == (len, dim) => slot.insert(points),
        _ => slot.insert(Points::zeros(len, dim)),
    }
}

/// Writes z_i and then y_i for each row i.
fn interleave_into(z: &Points, y: &[f64], zy: &mut Points) {
    const ROWS: usize = 1024;
    let d = z.dim();
    zy.values_mut().par_chunks_mut(ROWS * (d + 1)).enumerate().for_each(|(chunk, out)| {
        let first = chunk * ROWS;
        for (offset, out) in out.chunks_exact_mut(d + 1).enumerate() {
            out[..d].copy_from_slice(z.point(first + offset));
            out[d] = y[first + offset];
        }
    });
}

/// The local regressions of some anchors; C is added to `c`.
struct LocalizeChunk<'a> {
    ridge: f64,
    zy: &'a Points,
    hoods: &'a Neighborhoods,
    anchors: &'a [usize],
    c: &'a mut [f64],
}

impl WithSimd for LocalizeChunk<'_> {
    type Output = Partial;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Partial {
        let Self { ridge, zy, hoods, anchors, c } = self;
        let d = zy.dim() - 1;
        let mut partial = Partial { value: 0.0, slope_outer: vec![0.0; d * d] };
        let mut fit = LocalRegression::new(d);
        for &anchor in anchors {
            let hood = hoods.get(anchor);
            fit.fit(simd, zy, hood, ridge);
            partial.value += fit.value();
            let u = fit.slope();
            for (row, ui) in partial.slope_outer.chunks_exact_mut(d).zip(u) {
                for (sum, uj) in row.iter_mut().zip(u) {
                    *sum += ui * uj;
                }
            }
            match d {
                1 => scatter::<1>(hood, fit.residuals(), u, c),
                2 => scatter::<2>(hood, fit.residuals(), u, c),
                3 => scatter::<3>(hood, fit.residuals(), u, c),
                4 => scatter::<4>(hood, fit.residuals(), u, c),
                _ => scatter_any(hood, fit.residuals(), u, c),
            }
        }
        partial
    }
}

/// Adds $w_i r_i u^\top$ to row i of C for each neighbor i, in D dimensions known to the compiler.
#[inline(always)]
fn scatter<const D: usize>(hood: Neighborhood<'_>, residuals: &[f64], slope: &[f64], c: &mut [f64]) {
    let u: &[f64; D] = slope.first_chunk().expect("a slope of D coordinates");
    let c = c.as_chunks_mut::<D>().0;
    let mut add = |row: u32, weighted: f64| {
        let c = &mut c[row as usize];
        for i in 0..D {
            c[i] += weighted * u[i];
        }
    };
    match hood.weights {
        None => {
            let equal = 1.0 / hood.rows.len() as f64;
            hood.rows.iter().zip(residuals).for_each(|(&row, r)| add(row, equal * r));
        }
        Some(weights) => {
            hood.rows.iter().zip(residuals).zip(weights).for_each(|((&row, r), w)| add(row, w * r));
        }
    }
}

/// The same in any number of dimensions.
#[inline(always)]
fn scatter_any(hood: Neighborhood<'_>, residuals: &[f64], u: &[f64], c: &mut [f64]) {
    let equal = 1.0 / hood.rows.len() as f64;
    for (q, (&row, r)) in hood.rows.iter().zip(residuals).enumerate() {
        let weighted = r * hood.weights.map_or(equal, |w| w[q]);
        let at = row as usize * u.len();
        for (c, u) in c[at..at + u.len()].iter_mut().zip(u) {
            *c += weighted * u;
        }
    }
}

/// Chunks that `entries` neighbors are worth when each chunk costs a copy of
/// `copy_len` numbers: a power of two, which any usual number of threads divides
/// evenly, with enough work for each, at most 16.
fn chunk_count(entries: usize, copy_len: usize) -> usize {
    let worth = (entries / (copy_len / 2).max(4096)).clamp(1, 16);
    1 << worth.ilog2()
}
