//! The inner loops of everything hot, in vector instructions.
//!
//! Written against pulp's [`Simd`] so that one binary uses what the machine
//! has (AVX2 with FMA, NEON, or plain scalars) without unsafe code. A caller
//! dispatches once, around a whole chunk of work; these functions are inlined
//! into it. Each result depends on its own inputs alone, never on which other
//! rows shared the block.

use pulp::{Simd, WithSimd};

/// Inner products of R rows with C columns.
#[inline(always)]
pub(crate) fn dot_block<S: Simd, const R: usize, const C: usize>(
    simd: S,
    rows: [&[f64]; R],
    columns: [&[f64]; C],
) -> [[f64; C]; R] {
    let len = columns[0].len();
    let rows = rows.map(|row| S::as_simd_f64s(&row[..len]));
    let columns = columns.map(|column| S::as_simd_f64s(&column[..len]));
    let mut sums = [[simd.splat_f64s(0.0); C]; R];
    for i in 0..columns[0].0.len() {
        let column: [S::f64s; C] = std::array::from_fn(|c| columns[c].0[i]);
        for r in 0..R {
            let x = rows[r].0[i];
            for c in 0..C {
                sums[r][c] = simd.mul_add_e_f64s(x, column[c], sums[r][c]);
            }
        }
    }
    if !columns[0].1.is_empty() {
        let column: [S::f64s; C] = std::array::from_fn(|c| simd.partial_load_f64s(columns[c].1));
        for r in 0..R {
            let x = simd.partial_load_f64s(rows[r].1);
            for c in 0..C {
                sums[r][c] = simd.mul_add_e_f64s(x, column[c], sums[r][c]);
            }
        }
    }
    // Plain loops: `array::map` is not always inlined, and must be here.
    let mut dots = [[0.0; C]; R];
    for r in 0..R {
        for c in 0..C {
            dots[r][c] = simd.reduce_sum_f64s(sums[r][c]);
        }
    }
    dots
}

/// The upper half of M M', row-major, for the rows of M.
#[inline(always)]
pub(crate) fn upper_gram<S: Simd>(simd: S, m: &[f64], n_rows: usize, gram: &mut [f64]) {
    if n_rows == 0 {
        return;
    }
    let len = m.len() / n_rows;
    let row = |i: usize| &m[i.min(n_rows - 1) * len..][..len];
    for i in (0..n_rows).step_by(4) {
        for j in (i..n_rows).step_by(2) {
            let dots = dot_block(simd, [row(i), row(i + 1), row(i + 2), row(i + 3)], [row(j), row(j + 1)]);
            for (a, dots) in (i..n_rows.min(i + 4)).zip(dots) {
                for (b, dot) in (j..n_rows.min(j + 2)).zip(dots) {
                    gram[a * n_rows + b] = dot;
                }
            }
        }
    }
}

/// Adds `weights[r][c]` times row r to column c, for all r and c.
#[inline(always)]
pub(crate) fn add_block<S: Simd, const R: usize, const C: usize>(
    simd: S,
    rows: [&[f64]; R],
    weights: [[f64; C]; R],
    columns: [&mut [f64]; C],
) {
    let len = columns[0].len();
    let rows = rows.map(|row| S::as_simd_f64s(&row[..len]));
    let columns = columns.map(|column| S::as_mut_simd_f64s(&mut column[..len]));
    let splat = weights.map(|row| row.map(|w| simd.splat_f64s(w)));
    for i in 0..rows[0].0.len() {
        let x: [S::f64s; R] = std::array::from_fn(|r| rows[r].0[i]);
        for c in 0..C {
            let mut sum = columns[c].0[i];
            for r in 0..R {
                sum = simd.mul_add_e_f64s(splat[r][c], x[r], sum);
            }
            columns[c].0[i] = sum;
        }
    }
    for c in 0..C {
        for (i, sum) in columns[c].1.iter_mut().enumerate() {
            for r in 0..R {
                *sum += weights[r][c] * rows[r].1[i];
            }
        }
    }
}

/// Replaces numbers, none of them positive, by their exponentials, to within a few units in the last
/// place; below -708, where those would hardly exist, by zero.
pub(crate) struct Exponentials<'a>(pub &'a mut [f64]);

impl WithSimd for Exponentials<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        /// Added to a small number, leaves its nearest integer in the last bits.
        const TO_INTEGER: f64 = 6755399441055744.0;
        /// ln 2 in two parts, the first so short that small multiples of it are exact.
        const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
        /// One over the factorials of 13, 12, ..., 0.
        const TAYLOR: [f64; 14] = {
            let mut coefficients = [1.0; 14];
            let mut order = 1;
            while order < 14 {
                coefficients[13 - order] = coefficients[14 - order] / order as f64;
                order += 1;
            }
            coefficients
        };
        for value in self.0 {
            let x = *value;
            // exp(x) = 2^n exp(r) with |r| at most half of ln 2.
            let integer = x * std::f64::consts::LOG2_E + TO_INTEGER;
            let n = integer - TO_INTEGER;
            let r = (x - n * LN_2[0]) - n * LN_2[1];
            let mut sum = 0.0;
            for coefficient in TAYLOR {
                sum = sum * r + coefficient;
            }
            let power = f64::from_bits(integer.to_bits().wrapping_add(1023) << 52);
            *value = if x < -708.0 { 0.0 } else { sum * power };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::Arch;

    fn wave(len: usize, step: f64) -> Vec<f64> {
        (0..len).map(|i| (step * i as f64).sin()).collect()
    }

    /// Every kernel against a plain loop, for lengths that meet every remainder.
    struct Check;

    impl WithSimd for Check {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            for len in (0..40).chain([100, 293]) {
                let (a, b, c) = (wave(len, 0.7), wave(len, 1.1), wave(len, 0.3));
                let plain = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let [[ab, ac], [bb, bc]] = dot_block(simd, [&a, &b], [&b, &c]);
                for (found, expected) in
                    [(ab, plain(&a, &b)), (ac, plain(&a, &c)), (bb, plain(&b, &b)), (bc, plain(&b, &c))]
                {
                    assert!((found - expected).abs() < 1e-12);
                }
                let mut gram = [0.0; 9];
                upper_gram(simd, &[&a[..], &b, &c].concat(), 3, &mut gram);
                for (place, (s, t)) in
                    [(0, (&a, &a)), (1, (&a, &b)), (2, (&a, &c)), (4, (&b, &b)), (5, (&b, &c)), (8, (&c, &c))]
                {
                    assert!((gram[place] - plain(s, t)).abs() < 1e-12);
                }
                let (mut first, mut second) = (c.clone(), b.clone());
                add_block(simd, [&a, &b], [[2.0, -1.0], [0.5, 3.0]], [&mut first, &mut second]);
                for i in 0..len {
                    assert!((first[i] - (c[i] + 2.0 * a[i] + 0.5 * b[i])).abs() < 1e-14);
                    assert!((second[i] - (b[i] - a[i] + 3.0 * b[i])).abs() < 1e-14);
                }
            }
        }
    }

    #[test]
    fn exponentials_are_exact_to_a_few_bits() {
        let x: Vec<f64> = (0..70_000).map(|i| -0.01 * f64::from(i)).chain([-1e-300, -709.0, -1e9]).collect();
        let mut found = x.clone();
        Arch::new().dispatch(Exponentials(&mut found));
        for (x, found) in x.iter().zip(found) {
            let exact = if *x < -708.0 { 0.0 } else { x.exp() };
            assert!((found - exact).abs() <= 1e-15 * exact, "{x}: {found} {exact}");
        }
    }

    #[test]
    fn kernels_equal_plain_loops() {
        Arch::new().dispatch(Check);
        Check.with_simd(pulp::Scalar);
    }
}
