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
//! Localizing runs in two parallel passes. The first solves the local regressions, anchor by
//! anchor. The second builds C block by block of rows: each block goes through all anchors,
//! which list their neighbors in row order, so blocks share nothing, stay in the cache, and
//! each row of C is a sum in the order of the anchors. Threads leave no trace.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::data::design::{Design, Rows, expect_size};
use crate::error::Result;
use crate::linalg::{Mat, MatRef, Points};
use crate::local::neighborhoods::Neighborhoods;
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

/// Memory that evaluations of one objective reuse.
#[derive(Debug, Default)]
pub struct Scratch {
    /// z and y of each row together, as the local regressions read them.
    zy: Option<Points>,
    c: Option<Points>,
}

/// What some anchors found: sums, and for each anchor what the second pass needs.
struct Solved {
    value: f64,
    slope_outer: Vec<f64>,
    /// For each anchor, the slope u and the means of z and y.
    fits: Vec<f64>,
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
        let zy = match scratch.zy.take() {
            Some(zy) if zy.dim() == d + 1 => scratch.zy.insert(zy),
            _ => scratch.zy.insert(self.with_response(&Points::zeros(n, d))),
        };
        self.x.project_into(b, Rows::All, zy);
        let solved = self.solve(zy, hoods, anchors);
        let c = match scratch.c.take() {
            Some(c) if c.dim() == d => scratch.c.insert(c),
            _ => scratch.c.insert(Points::zeros(n, d)),
        };
        weigh_rows(zy, hoods, anchors, &solved, c);
        let (value, slope_outer) = add_up(&solved, d);

        let mut gradient = Mat::zeros(b.nrows(), d);
        self.x.pull_back_into(c, Rows::All, gradient.as_mut());
        let ridge_term = b * &slope_outer;
        for j in 0..d {
            for (g, ridge_term) in gradient.col_as_slice_mut(j).iter_mut().zip(ridge_term.col_as_slice(j)) {
                *g = 2.0 * (*g - self.ridge * ridge_term);
            }
        }
        Evaluation { value, gradient, slope_outer }
    }

    /// Each point of `z` followed by the response of its row.
    fn with_response(&self, z: &Points) -> Points {
        let mut zy = Points::zeros(z.len(), z.dim() + 1);
        for (i, (out, y)) in zy.values_mut().chunks_exact_mut(z.dim() + 1).zip(self.y).enumerate() {
            out[..z.dim()].copy_from_slice(z.point(i));
            out[z.dim()] = *y;
        }
        zy
    }

    /// The local regressions of the anchors, given z and y of each row.
    fn solve(&self, zy: &Points, hoods: &Neighborhoods, anchors: &[usize]) -> Vec<Solved> {
        let solve = |anchors| Arch::new().dispatch(Solve { ridge: self.ridge, zy, hoods, anchors });
        anchors.par_chunks(ANCHORS_PER_TASK).map(solve).collect()
    }

    /// The average outer product of the slopes at the given anchors, d x d,
    /// from projections `z` already at hand.
    pub(crate) fn average_slope_outer(&self, z: &Points, hoods: &Neighborhoods) -> Mat<f64> {
        let anchors: Vec<usize> = (0..hoods.len()).collect();
        let (_, mut outer) = add_up(&self.solve(&self.with_response(z), hoods, &anchors), z.dim());
        outer *= 1.0 / anchors.len().max(1) as f64;
        outer
    }
}

/// Anchors whose regressions are one task. Part of the result: sums run within tasks, then over them.
const ANCHORS_PER_TASK: usize = 4;

/// The sums over all tasks, in order.
fn add_up(solved: &[Solved], d: usize) -> (f64, Mat<f64>) {
    let value = solved.iter().map(|s| s.value).sum();
    let outer = Mat::from_fn(d, d, |i, j| solved.iter().map(|s| s.slope_outer[i * d + j]).sum());
    (value, outer)
}

/// The first pass over some anchors.
struct Solve<'a> {
    ridge: f64,
    zy: &'a Points,
    hoods: &'a Neighborhoods,
    anchors: &'a [usize],
}

impl WithSimd for Solve<'_> {
    type Output = Solved;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Solved {
        let Self { ridge, zy, hoods, anchors } = self;
        let d = zy.dim() - 1;
        let fits = Vec::with_capacity(anchors.len() * (2 * d + 1));
        let mut solved = Solved { value: 0.0, slope_outer: vec![0.0; d * d], fits };
        let mut fit = LocalRegression::new(d);
        for &anchor in anchors {
            fit.fit(simd, zy, hoods.get(anchor), ridge);
            solved.value += fit.value();
            let u = fit.slope();
            for (row, ui) in solved.slope_outer.chunks_exact_mut(d).zip(u) {
                for (sum, uj) in row.iter_mut().zip(u) {
                    *sum += ui * uj;
                }
            }
            solved.fits.extend(u);
            solved.fits.extend(fit.means());
        }
        solved
    }
}

/// The second pass: $C_i = \sum_j w_{ij} r_{ij} u_j^\top$.
fn weigh_rows(zy: &Points, hoods: &Neighborhoods, anchors: &[usize], solved: &[Solved], c: &mut Points) {
    let d = c.dim();
    let rows_per_block = hoods.rows_per_block();
    c.values_mut().par_chunks_mut(rows_per_block * d).enumerate().for_each(|(block, c)| {
        c.fill(0.0);
        let block = WeighBlock { zy, hoods, anchors, solved, block, c };
        match d {
            1 => Arch::new().dispatch(FixedDimension::<1>(block)),
            2 => Arch::new().dispatch(FixedDimension::<2>(block)),
            3 => Arch::new().dispatch(FixedDimension::<3>(block)),
            4 => Arch::new().dispatch(FixedDimension::<4>(block)),
            _ => block.in_any_dimension(d),
        }
    });
}

/// The second pass over one block of rows.
struct WeighBlock<'a> {
    zy: &'a Points,
    hoods: &'a Neighborhoods,
    anchors: &'a [usize],
    solved: &'a [Solved],
    block: usize,
    /// C of the block, zero at the beginning.
    c: &'a mut [f64],
}

impl WeighBlock<'_> {
    /// Calls `add(c, place in the block, row, weight, fit)` for each neighbor in the block, anchor by anchor.
    #[inline(always)]
    fn for_each(self, d: usize, mut add: impl FnMut(&mut [f64], usize, usize, f64, &[f64])) {
        let Self { hoods, anchors, solved, block, c, .. } = self;
        let first = block * hoods.rows_per_block();
        let fits = solved.iter().flat_map(|s| s.fits.chunks_exact(2 * d + 1));
        for (&anchor, fit) in anchors.iter().zip(fits) {
            let equal = 1.0 / hoods.get(anchor).rows.len() as f64;
            let hood = hoods.in_block(anchor, block);
            match hood.weights {
                None => {
                    for &row in hood.rows {
                        add(c, row as usize - first, row as usize, equal, fit);
                    }
                }
                Some(weights) => {
                    for (&row, &w) in hood.rows.iter().zip(weights) {
                        add(c, row as usize - first, row as usize, w, fit);
                    }
                }
            }
        }
    }

    /// Adds $w r u^\top$ in any dimension.
    fn in_any_dimension(self, d: usize) {
        let zy = self.zy;
        self.for_each(d, |c, place, row, weight, fit| {
            let (u, means) = fit.split_at(d);
            let point = zy.point(row);
            let mut residual = point[d] - means[d];
            for i in 0..d {
                residual -= u[i] * (point[i] - means[i]);
            }
            let weighted = weight * residual;
            for (c, u) in c[place * d..(place + 1) * d].iter_mut().zip(u) {
                *c += weighted * u;
            }
        });
    }
}

/// The same in D dimensions known to the compiler.
struct FixedDimension<'a, const D: usize>(WeighBlock<'a>);

impl<const D: usize> WithSimd for FixedDimension<'_, D> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let zy = self.0.zy.values();
        self.0.for_each(
            D,
            #[inline(always)]
            |c, place, row, weight, fit| {
                let (u, means): (&[f64; D], _) = fit.split_first_chunk().expect("a slope of D coordinates");
                let point = &zy[row * (D + 1)..(row + 1) * (D + 1)];
                let mut residual = point[D] - means[D];
                for i in 0..D {
                    residual -= u[i] * (point[i] - means[i]);
                }
                let weighted = weight * residual;
                let c = &mut c.as_chunks_mut::<D>().0[place];
                for i in 0..D {
                    c[i] += weighted * u[i];
                }
            },
        );
    }
}
