//! One response, or several of the same rows.

/// The values of one or several responses, one response after another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Responses<'a> {
    values: &'a [f64],
    n_rows: usize,
}

impl<'a> Responses<'a> {
    /// `values` is a whole number of responses of so many rows.
    pub(crate) fn new(values: &'a [f64], n_rows: usize) -> Self {
        debug_assert!(n_rows > 0 && values.len().is_multiple_of(n_rows));
        Self { values, n_rows }
    }

    /// Number of rows n.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Number of responses.
    pub fn count(&self) -> usize {
        self.iter().len()
    }

    /// The values of each response.
    pub fn iter(&self) -> std::slice::ChunksExact<'a, f64> {
        self.values.chunks_exact(self.n_rows.max(1))
    }

    /// The values of all responses at some rows, one response after another.
    pub(crate) fn at(&self, rows: &[usize]) -> Vec<f64> {
        self.iter().flat_map(|y| rows.iter().map(|&row| y[row])).collect()
    }
}

impl<'a> From<&'a [f64]> for Responses<'a> {
    /// A single response.
    fn from(y: &'a [f64]) -> Self {
        Self { values: y, n_rows: y.len() }
    }
}

impl<'a> From<&'a Vec<f64>> for Responses<'a> {
    fn from(y: &'a Vec<f64>) -> Self {
        Self::from(&y[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_come_one_after_another() {
        let two = Responses::new(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3);
        assert_eq!((two.count(), two.n_rows()), (2, 3));
        assert_eq!(two.iter().nth(1).unwrap(), [4.0, 5.0, 6.0]);
        assert_eq!(two.at(&[2, 0]), [3.0, 1.0, 6.0, 4.0]);
        assert_eq!(Responses::from(&vec![1.0, 2.0]).count(), 1);
    }
}
