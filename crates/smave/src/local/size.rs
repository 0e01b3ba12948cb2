//! How large a neighborhood is: the k-NN counterpart of Silverman's bandwidth.
//!
//! In q dimensions Silverman's $h \propto n^{-1/(q+4)}$ covers about
//! $n h^q = n^{4/(q+4)}$ points, so (paper, appendix "Implementation Details")
//!
//! $$ k = \lceil n^{4/(q+4)} \rceil \text{ clipped to } [k_{\min}, n/3], $$
//!
//! with q = d and $k_{\min} = 20$ for methods that localize after projection.

use crate::data::dataset::count_rows;
use crate::linalg::Points;

/// Smallest neighborhood of the methods that localize in the projected space.
pub const MIN_NEIGHBORS_PROJECTED: usize = 20;

/// Smallest neighborhood of the methods that localize among all covariates.
pub const MIN_NEIGHBORS_AMBIENT: usize = 50;

/// The standard deviation of a normal variable whose median absolute deviation is 1.
const NORMAL: f64 = 1.4826;

/// Silverman's bandwidth $h = \hat\sigma n^{-1/(q+4)}$ for n points in q dimensions, $\hat\sigma$ being
/// the median over coordinates of the median absolute deviation, scaled by 1.4826 to
/// estimate a standard deviation. Where more than half of the points share a coordinate, as with most indicators, it is
/// the standard deviation itself. Points are counted by weight if there are weights.
pub fn silverman_bandwidth(points: &Points, weights: Option<&[f64]>) -> f64 {
    let (n, q) = (count_rows(weights, points.len()), points.dim());
    let deviations = (0..q)
        .map(|c| {
            let column: Vec<f64> = points.values().iter().skip(c).step_by(q).copied().collect();
            let center = middle(column.clone(), weights);
            let deviation = middle(column.iter().map(|v| (v - center).abs()).collect(), weights);
            if deviation > 0.0 { deviation } else { standard_deviation(points, c, weights) / NORMAL }
        })
        .collect();
    NORMAL * median(deviations) * (n as f64).powf(-1.0 / (q as f64 + 4.0))
}

/// The standard deviation of the coordinates, on average, points counted by weight if there are weights.
pub(crate) fn mean_deviation(points: &Points, weights: Option<&[f64]>) -> f64 {
    let d = points.dim();
    (0..d).map(|c| standard_deviation(points, c, weights)).sum::<f64>() / d as f64
}

/// The standard deviation of one coordinate.
fn standard_deviation(points: &Points, coordinate: usize, weights: Option<&[f64]>) -> f64 {
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let n: f64 = weights.map_or(points.len() as f64, |weights| weights.iter().sum());
    let values = points.values().iter().skip(coordinate).step_by(points.dim()).enumerate();
    let mean = values.clone().map(|(i, v)| weight(i) * v).sum::<f64>() / n;
    (values.map(|(i, v)| weight(i) * (v - mean) * (v - mean)).sum::<f64>() / n).sqrt()
}

/// $1.2 \bar\sigma n^{-1/(q+4)}$ for n points in q dimensions, $\bar\sigma$ being [`mean_deviation`]: what methods use that
/// walk through dimensions.
pub(crate) fn walking_bandwidth(points: &Points, weights: Option<&[f64]>) -> f64 {
    let n = count_rows(weights, points.len()) as f64;
    1.2 * mean_deviation(points, weights) * n.powf(-1.0 / (points.dim() as f64 + 4.0))
}

/// The median, each value counted by its weight if there are weights.
fn middle(values: Vec<f64>, weights: Option<&[f64]>) -> f64 {
    let Some(weights) = weights else { return median(values) };
    let mut sorted: Vec<(f64, f64)> = values.into_iter().zip(weights.iter().copied()).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * weights.iter().sum::<f64>();
    let mut below = 0.0;
    for (place, &(value, weight)) in sorted.iter().enumerate() {
        below += weight;
        if below > half {
            return value;
        }
        // Exactly half below: the middle of this and the next that counts.
        if below == half && weight > 0.0 {
            let next = sorted[place + 1..].iter().find(|(_, weight)| *weight > 0.0);
            return next.map_or(value, |(next, _)| 0.5 * (value + next));
        }
    }
    sorted.last().map_or(0.0, |(value, _)| *value)
}

/// The middle value, or the mean of the two in the middle.
fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    let odd = values.len() % 2 == 1;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if odd {
        return upper;
    }
    0.5 * (below.iter().copied().fold(f64::NEG_INFINITY, f64::max) + upper)
}

/// k for n samples localized in `dimension` coordinates.
///
/// When the two limits contradict each other (n < 3 `min`), the lower one
/// wins, capped at n - 1: few rows must degrade, not fail.
pub fn neighborhood_size(n_samples: usize, dimension: usize, min: usize) -> usize {
    let exponent = 4.0 / (dimension as f64 + 4.0);
    let raw = (n_samples as f64).powf(exponent).ceil() as usize;
    raw.min(n_samples / 3).max(min).min(n_samples.saturating_sub(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_sizes() {
        let k = |n, q| neighborhood_size(n, q, MIN_NEIGHBORS_PROJECTED);
        assert_eq!(k(1000, 2), 100);
        assert_eq!(k(2000, 2), 159);
        assert_eq!(k(5000, 2), 293);
        assert_eq!(k(100_000, 2), 2155);
        assert_eq!(k(1_000_000, 2), 10_000);
    }

    #[test]
    fn bandwidth_measures_spread_by_the_median() {
        // MADs 1 and 10 with an outlier that must not count; their median is 5.5.
        let points =
            Points::from_values(vec![1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0, 1e9, -1e9], 2).unwrap();
        let first = [2.0, 1.0, 0.0, 1.0, 1e9 - 3.0];
        assert_eq!(median(first.to_vec()), 1.0);
        let h = silverman_bandwidth(&points, None);
        assert!((h - 1.4826 * 5.5 * 5f64.powf(-1.0 / 6.0)).abs() < 1e-12, "{h}");
    }

    #[test]
    fn an_indicator_has_a_spread() {
        let points = Points::from_values(vec![0.0, 0.0, 0.0, 1.0], 1).unwrap();
        let h = silverman_bandwidth(&points, None);
        assert!((h - 0.1875f64.sqrt() * 4f64.powf(-0.2)).abs() < 1e-15, "{h}");
        assert_eq!(silverman_bandwidth(&Points::from_values(vec![2.0; 5], 1).unwrap(), None), 0.0);
    }

    #[test]
    fn weights_count_points() {
        let weights = [1.0, 3.0, 0.0, 2.0];
        let few = Points::from_values(vec![1.0, 4.0, 9.0, 2.0], 1).unwrap();
        let many = Points::from_values(vec![1.0, 4.0, 4.0, 4.0, 2.0, 2.0], 1).unwrap();
        assert_eq!(silverman_bandwidth(&few, Some(&weights)), silverman_bandwidth(&many, None));
        assert!((mean_deviation(&few, Some(&weights)) - mean_deviation(&many, None)).abs() < 1e-14);
        assert_eq!(middle(vec![5.0, 1.0, 3.0], Some(&[1.0, 1.0, 0.0])), 3.0);
    }

    #[test]
    fn limits_apply_and_the_lower_one_wins() {
        assert_eq!(neighborhood_size(300, 1, 20), 96, "300^(4/5) = 95.9");
        assert_eq!(neighborhood_size(120, 1, 20), 40, "n/3");
        assert_eq!(neighborhood_size(5000, 60, 20), 20, "k_min");
        assert_eq!(neighborhood_size(50, 2, 20), 20, "n/3 = 16 < k_min");
        assert_eq!(neighborhood_size(50, 100, 50), 49, "k_min = 50 capped at n - 1");
        assert_eq!(neighborhood_size(12, 2, 20), 11);
        assert_eq!(neighborhood_size(2, 2, 20), 1);
    }
}
