//! How large a neighborhood is: the k-NN counterpart of Silverman's bandwidth.
//!
//! In q dimensions Silverman's $h \propto n^{-1/(q+4)}$ covers about
//! $n h^q = n^{4/(q+4)}$ points, so (paper, appendix "Implementation Details")
//!
//! $$ k = \lceil n^{4/(q+4)} \rceil \text{ clipped to } [k_{\min}, n/3], $$
//!
//! with q = d and $k_{\min} = 20$ for methods that localize after projection.

/// Smallest neighborhood of the methods that localize in the projected space.
pub const MIN_NEIGHBORS_PROJECTED: usize = 20;

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
