//! Quantiles of held-out errors, with the correction that makes them valid for the next row.

use crate::error::{Error, Result};

/// The $\lceil (m + 1) \text{level} \rceil$-th smallest of m sorted errors: if the next error is as likely to have any rank
/// among them as any other, it is no larger with at least the probability `level`.
///
/// # Errors
/// When `level` is not between 0 and 1, or no error is large enough to vouch for it.
pub(super) fn quantile(sorted: &[f64], level: f64) -> Result<f64> {
    if !(level > 0.0 && level < 1.0) {
        return Err(Error::InvalidParameter {
            name: "level",
            value: level.to_string(),
            requirement: "between 0 and 1, for example 0.9".into(),
        });
    }
    let count = sorted.len();
    // A product like 100 * 0.95 must not be rounded up past itself.
    let rank = ((count + 1) as f64 * level - 1e-9).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().ok_or_else(|| Error::InvalidParameter {
        name: "level",
        value: level.to_string(),
        requirement: format!(
            "at most {:.4}: there are {count} held-out errors",
            count as f64 / (count + 1) as f64
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_next_row() {
        let errors: Vec<f64> = (1..=19).map(f64::from).collect();
        assert_eq!(quantile(&errors, 0.9).unwrap(), 18.0);
        assert_eq!(quantile(&errors, 0.95).unwrap(), 19.0);
        assert_eq!(quantile(&errors, 0.01).unwrap(), 1.0);
        assert!(quantile(&errors, 0.96).unwrap_err().to_string().contains("at most 0.95"));
        assert!(quantile(&errors, 0.0).is_err() && quantile(&errors, f64::NAN).is_err());
        assert!(quantile(&[], 0.5).is_err());
    }
}
