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
//! each row of C is a sum in the order of the anchors. Threads leave no trace. Several responses share the projection,
//! the neighborhoods and the pull-back; only localizing is repeated.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::data::dataset::count_rows;
use crate::data::design::{Design, Rows, expect_size};
use crate::data::responses::Responses;
use crate::error::Result;
use crate::linalg::{Mat, MatRef, Points};
use crate::local::neighborhoods::Neighborhoods;
use crate::objective::leave_one_out::held_out_residuals;
use crate::objective::regression::{LocalRegression, empty_rows, row_width, set_response, with_response};

/// The MAVE criterion of one data set.
#[derive(Clone, Copy)]
pub struct MaveObjective<'a> {
    x: &'a dyn Design,
    y: Responses<'a>,
    weights: Option<&'a [f64]>,
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
    /// z, y and 1 of each row, as the local regressions read them.
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
    /// The criterion for `y` given `x`, with local ridge ε. Of several responses it is the sum.
    ///
    /// # Errors
    /// When the lengths of `x` and `y` differ.
    pub fn new(x: &'a dyn Design, y: impl Into<Responses<'a>>, ridge: f64) -> Result<Self> {
        let y = y.into();
        expect_size("length of y against rows of X", x.n_rows(), y.n_rows())?;
        Ok(Self { x, y, weights: None, ridge })
    }

    /// The same with rows counted by weight, as neighborhoods are to count them.
    pub(crate) fn counting(mut self, weights: Option<&'a [f64]>) -> Self {
        self.weights = weights;
        self
    }

    /// The weight of each row; `None` if each counts once.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// How many rows there are, counted by weight.
    pub(crate) fn n_counted(&self) -> usize {
        count_rows(self.weights, self.y.n_rows())
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
        let n = self.y.n_rows();
        let missing_row = hoods.row_bound().max(n);
        expect_size("rows mentioned by the neighborhoods against rows of X", n, missing_row)?;
        let missing_anchor = anchors.iter().map(|a| a + 1).max().unwrap_or(0).max(hoods.len());
        expect_size("anchors against neighborhoods", hoods.len(), missing_anchor)?;
        Ok(self.evaluate_with(b, hoods, anchors, &mut Scratch::default()))
    }

    /// For each response C, n x d: what each row contributes to the gradient $2 X^\top C$ (less the part of the ridge), over
    /// all of `hoods`, from projections `z` already at hand.
    pub(crate) fn row_weights(&self, z: &Points, hoods: &Neighborhoods) -> Vec<Points> {
        let d = z.dim();
        let anchors: Vec<usize> = (0..hoods.len()).collect();
        let weights = |y| {
            let zy = with_response(z, y);
            let mut c = Points::zeros(z.len(), d);
            weigh_rows(&zy, hoods, &anchors, &self.solve(&zy, d, hoods, &anchors), &mut c);
            c
        };
        self.y.iter().map(weights).collect()
    }

    /// [`MaveObjective::evaluate`] without checks, reusing memory.
    pub(crate) fn evaluate_with(
        &self,
        b: MatRef<'_, f64>,
        hoods: &Neighborhoods,
        anchors: &[usize],
        scratch: &mut Scratch,
    ) -> Evaluation {
        let (n, d) = (self.y.n_rows(), b.ncols());
        let zy = match scratch.zy.take() {
            Some(zy) if zy.dim() == row_width(d) => scratch.zy.insert(zy),
            _ => scratch.zy.insert(empty_rows(n, d)),
        };
        self.x.project_into(b, Rows::All, zy);
        let c = match scratch.c.take() {
            Some(c) if c.dim() == d => scratch.c.insert(c),
            _ => scratch.c.insert(Points::zeros(n, d)),
        };
        c.values_mut().fill(0.0);
        let (mut value, mut slope_outer) = (0.0, Mat::zeros(d, d));
        for y in self.y.iter() {
            set_response(zy, d, y);
            let solved = self.solve(zy, d, hoods, anchors);
            weigh_rows(zy, hoods, anchors, &solved, c);
            let (explained, outer) = add_up(&solved, d);
            value += explained;
            slope_outer += outer;
        }

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

    /// The local regressions of the anchors, given z and y of each row.
    fn solve(&self, zy: &Points, d: usize, hoods: &Neighborhoods, anchors: &[usize]) -> Vec<Solved> {
        let solve = |anchors| Arch::new().dispatch(Solve { ridge: self.ridge, d, zy, hoods, anchors });
        anchors.par_chunks(ANCHORS_PER_TASK).map(solve).collect()
    }

    /// The mean squared leave-one-out error ([`held_out_residuals`]) at `rows`, whose neighborhoods `hoods` are, added up over
    /// responses.
    pub(crate) fn leave_one_out(&self, z: &Points, hoods: &Neighborhoods, rows: &[usize]) -> f64 {
        let error = |y| {
            let residuals = held_out_residuals(z, y, hoods, rows, self.ridge);
            let squares = residuals.iter().enumerate().map(|(a, r)| hoods.anchor_weight(a) * r * r);
            squares.sum::<f64>() / hoods.total_weight().max(f64::MIN_POSITIVE)
        };
        self.y.iter().map(error).sum()
    }

    /// The average outer product of the slopes at the given anchors, d x d, added up over responses,
    /// from projections `z` already at hand.
    pub(crate) fn average_slope_outer(&self, z: &Points, hoods: &Neighborhoods) -> Mat<f64> {
        let anchors: Vec<usize> = (0..hoods.len()).collect();
        let d = z.dim();
        let mut outer = Mat::zeros(d, d);
        for y in self.y.iter() {
            outer += add_up(&self.solve(&with_response(z, y), d, hoods, &anchors), d).1;
        }
        outer *= 1.0 / hoods.total_weight().max(f64::MIN_POSITIVE);
        outer
    }
}

/// Anchors whose regressions are one task. Part of the result: sums run within tasks, then over them.
const ANCHORS_PER_TASK: usize = 8;

/// The sums over all tasks, in order.
fn add_up(solved: &[Solved], d: usize) -> (f64, Mat<f64>) {
    let value = solved.iter().map(|s| s.value).sum();
    let outer = Mat::from_fn(d, d, |i, j| solved.iter().map(|s| s.slope_outer[i * d + j]).sum());
    (value, outer)
}

/// The first pass over some anchors.
struct Solve<'a> {
    ridge: f64,
    d: usize,
    zy: &'a Points,
    hoods: &'a Neighborhoods,
    anchors: &'a [usize],
}

impl WithSimd for Solve<'_> {
    type Output = Solved;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Solved {
        let Self { ridge, d, zy, hoods, anchors } = self;
        let fits = Vec::with_capacity(anchors.len() * (2 * d + 1));
        let mut solved = Solved { value: 0.0, slope_outer: vec![0.0; d * d], fits };
        let mut fit = LocalRegression::new(d);
        for &anchor in anchors {
            fit.fit(simd, zy, hoods.get(anchor), ridge);
            let counts = hoods.anchor_weight(anchor);
            solved.value += counts * fit.value();
            let u = fit.slope();
            for (row, ui) in solved.slope_outer.chunks_exact_mut(d).zip(u) {
                for (sum, uj) in row.iter_mut().zip(u) {
                    *sum += counts * ui * uj;
                }
            }
            solved.fits.extend(u);
            solved.fits.extend(fit.means());
        }
        solved
    }
}

/// The second pass: adds $C_i = \sum_j w_{ij} r_{ij} u_j^\top$ to each row of `c`.
fn weigh_rows(zy: &Points, hoods: &Neighborhoods, anchors: &[usize], solved: &[Solved], c: &mut Points) {
    let d = c.dim();
    let rows_per_block = hoods.rows_per_block();
    c.values_mut().par_chunks_mut(rows_per_block * d).enumerate().for_each(|(block, c)| {
        let block = WeighBlock { zy, d, hoods, anchors, solved, block };
        match d {
            1 => Arch::new().dispatch(Collected::<1, 4>(block, c)),
            2 => Arch::new().dispatch(Collected::<2, 8>(block, c)),
            3 => Arch::new().dispatch(Collected::<3, 12>(block, c)),
            _ => Arch::new().dispatch(OneByOne(block, c)),
        }
    });
}

/// The second pass over one block of rows.
struct WeighBlock<'a> {
    zy: &'a Points,
    d: usize,
    hoods: &'a Neighborhoods,
    anchors: &'a [usize],
    solved: &'a [Solved],
    block: usize,
}

impl WeighBlock<'_> {
    fn first_row(&self) -> usize {
        self.block * self.hoods.rows_per_block()
    }

    /// Calls `add(place in the block, weight, prepared)` for each neighbor in the block, anchor by anchor,
    /// `prepared` being what `prepare` makes of the anchor's slope and means.
    #[inline(always)]
    fn for_each<'f, T>(
        &'f self,
        prepare: impl Fn(&'f [f64], &'f [f64]) -> T,
        mut add: impl FnMut(usize, f64, &T),
    ) {
        let Self { d, hoods, anchors, solved, block, .. } = self;
        let first = self.first_row();
        let fits = solved.iter().flat_map(|s| s.fits.chunks_exact(2 * d + 1));
        for (&anchor, fit) in anchors.iter().zip(fits) {
            let (u, means) = fit.split_at(*d);
            let prepared = prepare(u, means);
            let counts = hoods.anchor_weight(anchor);
            let equal = counts / hoods.get(anchor).rows.len() as f64;
            let hood = hoods.in_block(anchor, *block);
            match hood.weights {
                None => {
                    for &row in hood.rows {
                        add(row as usize - first, equal, &prepared);
                    }
                }
                Some(weights) => {
                    for (&row, &w) in hood.rows.iter().zip(weights) {
                        add(row as usize - first, counts * w, &prepared);
                    }
                }
            }
        }
    }
}

/// C of a block in few dimensions. With $r_{ij} = y_i - a_j - u_j^\top z_i$, row i needs only the sums of $w u$, $w u u^\top$
/// and $w a u$, P numbers with padding; each neighbor adds the same vector, times its weight.
struct Collected<'a, const D: usize, const P: usize>(WeighBlock<'a>, &'a mut [f64]);

impl<const D: usize, const P: usize> WithSimd for Collected<'_, D, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(block, c) = self;
        let mut sums = vec![[0.0; P]; c.len() / D];
        // Everything relative to one row, lest a distant origin cost digits.
        let origin = block.zy.point(0);
        block.for_each(
            #[inline(always)]
            |u, means| {
                let mut a = means[D] - origin[D];
                for i in 0..D {
                    a -= u[i] * (means[i] - origin[i]);
                }
                let mut vector = [0.0; P];
                let mut place = 2 * D;
                for i in 0..D {
                    vector[i] = u[i];
                    vector[D + i] = a * u[i];
                    for j in 0..=i {
                        vector[place] = u[i] * u[j];
                        place += 1;
                    }
                }
                vector
            },
            #[inline(always)]
            |place, weight, vector: &[f64; P]| {
                let sums = &mut sums[place];
                for i in 0..P {
                    sums[i] += weight * vector[i];
                }
            },
        );
        for (r, (c, sums)) in c.as_chunks_mut::<D>().0.iter_mut().zip(&sums).enumerate() {
            let row = block.zy.point(block.first_row() + r);
            let y = row[D] - origin[D];
            for i in 0..D {
                c[i] += y * sums[i] - sums[D + i];
            }
            let mut place = 2 * D;
            for i in 0..D {
                for j in 0..=i {
                    c[i] -= sums[place] * (row[j] - origin[j]);
                    if j < i {
                        c[j] -= sums[place] * (row[i] - origin[i]);
                    }
                    place += 1;
                }
            }
        }
    }
}

/// C of a block in more dimensions: each residual by itself.
struct OneByOne<'a>(WeighBlock<'a>, &'a mut [f64]);

impl WithSimd for OneByOne<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self(block, c) = self;
        let d = block.d;
        block.for_each(
            #[inline(always)]
            |u, means| (u, means),
            #[inline(always)]
            |place, weight, (u, means)| {
                let row = block.zy.point(block.first_row() + place);
                let mut residual = row[d] - means[d];
                for ((u, z), mean) in u.iter().zip(row).zip(*means) {
                    residual -= u * (z - mean);
                }
                let weighted = weight * residual;
                for (c, u) in c[place * d..(place + 1) * d].iter_mut().zip(*u) {
                    *c += weighted * u;
                }
            },
        );
    }
}
