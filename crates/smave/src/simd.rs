//! The inner loops of everything hot, in vector instructions.
//!
//! Written against pulp's [`Simd`] so that one binary uses what the machine
//! has (AVX2 with FMA, NEON, or plain scalars) without unsafe code. A caller
//! dispatches once, around a whole chunk of work; these functions are inlined
//! into it. Each result depends on its own inputs alone, never on which other
//! rows shared the block.

use pulp::Simd;

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

/// The inner product of two vectors.
#[inline(always)]
pub(crate) fn dot<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let (a, a_tail) = S::as_simd_f64s(&a[..b.len()]);
    let (b, b_tail) = S::as_simd_f64s(b);
    // Four sums at a time hide the latency of the additions.
    let mut sums = [simd.splat_f64s(0.0); 4];
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    for (a, b) in a4.iter().zip(b4) {
        for lane in 0..4 {
            sums[lane] = simd.mul_add_e_f64s(a[lane], b[lane], sums[lane]);
        }
    }
    for (a, b) in a_rest.iter().zip(b_rest) {
        sums[0] = simd.mul_add_e_f64s(*a, *b, sums[0]);
    }
    if !b_tail.is_empty() {
        let (a, b) = (simd.partial_load_f64s(a_tail), simd.partial_load_f64s(b_tail));
        sums[1] = simd.mul_add_e_f64s(a, b, sums[1]);
    }
    simd.reduce_sum_f64s(simd.add_f64s(simd.add_f64s(sums[0], sums[1]), simd.add_f64s(sums[2], sums[3])))
}

/// The sum of `values - origin`.
#[inline(always)]
pub(crate) fn sum_from<S: Simd>(simd: S, values: &[f64], origin: f64) -> f64 {
    let (head, tail) = S::as_simd_f64s(values);
    let shift = simd.splat_f64s(origin);
    let mut sums = [simd.splat_f64s(0.0); 4];
    let (head4, rest) = head.as_chunks::<4>();
    for chunk in head4 {
        for lane in 0..4 {
            sums[lane] = simd.add_f64s(sums[lane], simd.sub_f64s(chunk[lane], shift));
        }
    }
    for v in rest {
        sums[0] = simd.add_f64s(sums[0], simd.sub_f64s(*v, shift));
    }
    let sum = simd.add_f64s(simd.add_f64s(sums[0], sums[1]), simd.add_f64s(sums[2], sums[3]));
    simd.reduce_sum_f64s(sum) + tail.iter().map(|v| v - origin).sum::<f64>()
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

#[cfg(test)]
mod tests {
    use super::*;
    use pulp::{Arch, WithSimd};

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
                assert!((dot(simd, &a, &b) - plain(&a, &b)).abs() < 1e-12);
                let shifted: f64 = a.iter().map(|v| v - 0.25).sum();
                assert!((sum_from(simd, &a, 0.25) - shifted).abs() < 1e-12);
                let [[ab, ac], [bb, bc]] = dot_block(simd, [&a, &b], [&b, &c]);
                for (found, expected) in
                    [(ab, plain(&a, &b)), (ac, plain(&a, &c)), (bb, plain(&b, &b)), (bc, plain(&b, &c))]
                {
                    assert!((found - expected).abs() < 1e-12);
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
    fn kernels_equal_plain_loops() {
        Arch::new().dispatch(Check);
        Check.with_simd(pulp::Scalar);
    }
}
