//! What a report is about, computed once: coordinates, predictions, errors, and the rows shown.

use smave::data::Rows as Which;
use smave::{Dataset, Error, Mat, Model, Points, Predictor, Regression, Result};

use crate::column::Column;
use crate::held_out::{Origin, Predicted, Rows, predict};
use crate::thin::thin;

/// Points in each plot, at the most.
const MAX_POINTS: usize = 20_000;

/// Points in all plots together, at the most: they decide the size of the page.
const MAX_POINTS_IN_ALL: usize = 160_000;

/// Rows that are looked at, at the most.
const MAX_ROWS: usize = 100_000;

/// Covariates whose values are shown for a point, and can color the points.
const COVARIATES_SHOWN: usize = 8;

/// Directions whose values are shown for a point.
const DIRECTIONS_SHOWN: usize = 5;

/// Places at which the curve of the summary plot is computed.
const CURVE_POINTS: usize = 120;

/// One response at the rows looked at.
#[derive(Clone, Debug)]
pub struct Response {
    pub name: String,
    pub y: Vec<f64>,
    pub predicted: Option<Predicted>,
    pub accuracy: Option<Accuracy>,
    /// A local linear regression of it on the first direction.
    pub curve: Vec<(f64, f64)>,
}

/// How well a response is predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// Mean squared error.
    pub error: f64,
    /// Share of the variance that is predicted.
    pub r2: f64,
    /// Whether it is the leave-one-out error of the model; otherwise that of the predictions shown.
    pub leave_one_out: bool,
}

/// Everything that sentences, plots and tables draw on.
#[derive(Clone, Debug)]
pub struct Facts {
    pub n_samples: usize,
    pub responses: Vec<Response>,
    /// Coordinates of the rows looked at.
    z: Points,
    /// The rows looked at, as numbered in the data.
    looked_at: Vec<usize>,
    /// Those of the rows looked at that are shown, as places in `looked_at`.
    shown: Vec<usize>,
}

impl Facts {
    /// Computes all of it.
    pub fn new(model: &Model, data: &Dataset<'_>) -> Result<Self> {
        check(model, data)?;
        let all = model.reduction.transform(data.x())?;
        let (n, d) = (data.n_samples(), all.dim());
        let coordinate =
            |z: &Points, c: usize| z.values().iter().skip(c).step_by(d).copied().collect::<Vec<f64>>();
        let coordinates: Vec<Vec<f64>> = (0..d).map(|c| coordinate(&all, c)).collect();
        let quantities: Vec<&[f64]> =
            data.raw_responses().iter().chain(coordinates.iter().map(|z| &z[..])).collect();
        let looked_at = thin(n, &quantities, MAX_ROWS);
        let at = |values: &[f64]| looked_at.iter().map(|&row| values[row]).collect::<Vec<f64>>();
        let z = looked_at.iter().flat_map(|&row| all.point(row).iter().copied()).collect();
        let z = Points::from_values(z, d).unwrap_or(all);
        let weights = data.weights().map(at);
        let mut responses = Vec::new();
        for (j, y) in data.raw_responses().iter().enumerate() {
            let y = at(y);
            let rows = Rows { z: &z, y: &y, weights: weights.as_deref() };
            let predicted = predict(model, j, n, rows)?;
            let accuracy = accuracy(model, j, rows, predicted.as_ref());
            let curve = curve(rows);
            let name = name_of(model, j, data.n_responses());
            responses.push(Response { name, y, predicted, accuracy, curve });
        }
        let residuals: Vec<Vec<f64>> = responses.iter().filter_map(Response::residuals).collect();
        let coordinates: Vec<Vec<f64>> = (0..d).map(|c| coordinate(&z, c)).collect();
        let ys = responses.iter().map(|response| &response.y[..]);
        let quantities: Vec<&[f64]> =
            ys.chain(coordinates.iter().chain(&residuals).map(|v| &v[..])).collect();
        let limit = MAX_POINTS.min(MAX_POINTS_IN_ALL / (4 * responses.len())).max(1000);
        let shown = thin(looked_at.len(), &quantities, limit);
        Ok(Self { n_samples: n, responses, z, looked_at, shown })
    }

    /// How many rows are shown.
    pub fn n_shown(&self) -> usize {
        self.shown.len()
    }

    /// The rows shown, as numbered in the data from 0.
    pub fn rows(&self) -> Vec<usize> {
        self.shown.iter().map(|&place| self.looked_at[place]).collect()
    }

    /// What is known of the rows shown: directions, responses with predictions and residuals, the first of the
    /// covariates in the order given.
    pub fn columns(&self, data: &Dataset<'_>, order: &[usize]) -> Result<Vec<Column>> {
        let at = |values: &[f64]| self.shown.iter().map(|&place| values[place]).collect::<Vec<f64>>();
        let mut columns = Vec::new();
        for (j, response) in self.responses.iter().enumerate() {
            let name = &response.name;
            columns.push(Column::new(format!("y{j}"), name, at(&response.y), Some(j)));
            if let Some((predicted, residuals)) = response.predicted.as_ref().zip(response.residuals()) {
                let values = at(&predicted.values);
                columns.push(Column::new(format!("p{j}"), format!("predicted {name}"), values, Some(j)));
                columns.push(Column::new(
                    format!("r{j}"),
                    format!("residual of {name}"),
                    at(&residuals),
                    Some(j),
                ));
            }
        }
        for c in 0..self.z.dim().min(DIRECTIONS_SHOWN) {
            let values = self.shown.iter().map(|&place| self.z.point(place)[c]).collect();
            columns.push(Column::new(format!("z{c}"), format!("direction {}", c + 1), values, None));
        }
        // A product with columns of the identity copies what is shown, and not all covariates of so many rows.
        let top = &order[..order.len().min(COVARIATES_SHOWN)];
        let pick = Mat::from_fn(data.n_features(), top.len(), |i, j| f64::from(top[j] == i));
        let picked = data.x().project(pick.as_ref(), Which::Subset(&self.rows()))?;
        for (j, &i) in top.iter().enumerate() {
            let values = (0..picked.len()).map(|row| picked.point(row)[j]).collect();
            columns.push(Column::new(format!("x{j}"), &data.names()[i], values, None));
        }
        Ok(columns)
    }
}

impl Response {
    fn residuals(&self) -> Option<Vec<f64>> {
        let predicted = self.predicted.as_ref()?;
        Some(self.y.iter().zip(&predicted.values).map(|(y, value)| y - value).collect())
    }
}

fn name_of(model: &Model, j: usize, n_responses: usize) -> String {
    match model.targets.get(j) {
        Some(name) => name.clone(),
        None if n_responses == 1 => "y".into(),
        None => format!("y{}", j + 1),
    }
}

fn check(model: &Model, data: &Dataset<'_>) -> Result<()> {
    model.reduction.expect_covariates(data)?;
    let (expected, found) = (model.predictors.len(), data.n_responses());
    if expected == 0 || expected == found {
        return Ok(());
    }
    Err(Error::ShapeMismatch { what: "responses against those of the model".into(), expected, found })
}

/// The error of the model where the rows are its own, otherwise that of the predictions.
fn accuracy(model: &Model, j: usize, rows: Rows<'_>, predicted: Option<&Predicted>) -> Option<Accuracy> {
    let weight = |i: usize| rows.weights.map_or(1.0, |weights| weights[i]);
    let total: f64 = (0..rows.y.len()).map(weight).sum();
    let mean = rows.y.iter().enumerate().map(|(i, y)| weight(i) / total * y).sum::<f64>();
    let mean_square =
        |of: &dyn Fn(usize) -> f64| (0..rows.y.len()).map(|i| weight(i) / total * of(i) * of(i)).sum::<f64>();
    let variance = mean_square(&|i| rows.y[i] - mean);
    let own = predicted.is_none_or(|predicted| predicted.origin != Origin::NewRows);
    let leave_one_out = model.predictors.get(j).map(Predictor::loo_error).filter(|_| own);
    let shown = || predicted.map(|predicted| mean_square(&|i| rows.y[i] - predicted.values[i]));
    let error = leave_one_out.or_else(shown)?;
    let r2 = 1.0 - error / variance;
    r2.is_finite().then_some(Accuracy { error, r2, leave_one_out: leave_one_out.is_some() })
}

/// A local linear regression on the first coordinate alone, along its range; empty where there are too few rows.
fn curve(rows: Rows<'_>) -> Vec<(f64, f64)> {
    let first: Vec<f64> = (0..rows.z.len()).map(|i| rows.z.point(i)[0]).collect();
    let range = first.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
    let step = (range.1 - range.0) / (CURVE_POINTS - 1) as f64;
    if !(step > 0.0 && step.is_finite()) {
        return Vec::new();
    }
    let grid: Vec<f64> = (0..CURVE_POINTS).map(|i| range.0 + i as f64 * step).collect();
    let line = |values| Points::from_values(values, 1);
    let fitted = || {
        let weights = rows.weights.map(<[f64]>::to_vec);
        let smooth =
            Predictor::weighted(line(first)?, rows.y.to_vec(), weights, Regression::LocalLinear).ok()?;
        smooth.predict(&line(grid.clone())?).ok()
    };
    let found = fitted().unwrap_or_default();
    grid.into_iter().zip(found).map(|(z, found)| (z, found.value)).filter(|p| p.1.is_finite()).collect()
}
