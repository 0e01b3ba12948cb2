//! The rows behind a regression on the reduced coordinates, from which it is made when it is needed.

use crate::data::dataset::Dataset;
use crate::error::Result;
use crate::estimator::Reduction;
use crate::linalg::Points;
use crate::predict::{Predictor, Regression};
use crate::rng::{Purpose, sorted_sample, stream};

/// Training rows that are kept for predictions, at the most; of more, a random part.
pub const MAX_TRAINING_ROWS: usize = 100_000;

/// Reduced coordinates, responses and weights of the rows that a reduction was fitted to.
#[derive(Clone, Debug)]
pub struct TrainingRows {
    z: Points,
    y: Vec<Vec<f64>>,
    weights: Option<Vec<f64>>,
}

impl TrainingRows {
    /// The rows of `data`, which `reduction` was fitted to.
    ///
    /// # Errors
    /// When `data` has other columns than the reduction.
    pub fn new(reduction: &Reduction, data: &Dataset<'_>) -> Result<Self> {
        let mut z = reduction.transform(data.x())?;
        let mut y = data.raw_responses().iter().map(<[f64]>::to_vec).collect::<Vec<_>>();
        let mut weights = data.weights().map(<[f64]>::to_vec);
        if z.len() > MAX_TRAINING_ROWS {
            let mut rng = stream(reduction.seed().unwrap_or(0), Purpose::Subset, 4);
            let rows = sorted_sample(&mut rng, z.len(), MAX_TRAINING_ROWS);
            y.iter_mut().for_each(|y| *y = rows.iter().map(|&row| y[row]).collect());
            weights = weights.map(|weights| rows.iter().map(|&row| weights[row]).collect());
            let values = rows.iter().flat_map(|&row| z.point(row).to_vec()).collect();
            z = Points::from_values(values, z.dim()).unwrap_or(z);
        }
        Ok(Self { z, y, weights })
    }

    /// The regression of each response.
    ///
    /// # Errors
    /// When there are too few rows.
    pub fn predictors(self, regression: Regression) -> Result<Vec<Predictor>> {
        let Self { z, y, weights } = self;
        let predictor = |y| Predictor::weighted(z.clone(), y, weights.clone(), regression);
        y.into_iter().map(predictor).collect()
    }
}
