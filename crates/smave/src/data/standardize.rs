//! Centering and scaling, fitted once, undone exactly, and never applied to X itself.
//!
//! With center c and scale s, $\tilde X = (X - 1 c^\top) S^{-1}$ and so
//!
//! $$ \tilde X B = X (S^{-1} B) - 1 (c^\top S^{-1} B), \qquad
//!    \tilde X^\top C = S^{-1} \bigl( X^\top C - c (1^\top C) \bigr). $$
//!
//! A [`Standardized`] view folds both into small matrices: no copy of X, and a
//! cost of p d on top of the product itself.

use crate::data::dense::Dense;
use crate::data::design::{Design, Inspection, Moments, Rows, expect_size};
use crate::error::{Error, Result};
use crate::linalg::{Mat, MatMut, MatRef, Points};

/// A center and a positive scale per column.
#[derive(Clone, Debug, PartialEq)]
pub struct Standardization {
    center: Vec<f64>,
    scale: Vec<f64>,
}

impl Standardization {
    /// Leaves `n_cols` columns as they are.
    pub fn identity(n_cols: usize) -> Self {
        Self { center: vec![0.0; n_cols], scale: vec![1.0; n_cols] }
    }

    /// Center and scale as given; scales must be positive and all numbers finite.
    pub fn new(center: Vec<f64>, scale: Vec<f64>) -> Result<Self> {
        expect_size("scales against centers", center.len(), scale.len())?;
        for (c, s) in center.iter().zip(&scale) {
            if !(c.is_finite() && s.is_finite() && *s > 0.0) {
                return Err(Error::InvalidParameter {
                    name: "center and scale",
                    value: format!("({c}, {s})"),
                    requirement: "finite, with a positive scale".into(),
                });
            }
        }
        Ok(Self { center, scale })
    }

    /// Mean zero and variance one in every column of `x` that varies; a
    /// constant column is centered only. Rows are counted by weight if there are weights.
    pub fn fit(x: &dyn Design, weights: Option<&[f64]>) -> Result<Self> {
        let Moments { mean, mut sd } = x.moments(weights);
        let constant = x.inspect().constant;
        for ((mean, sd), constant) in mean.iter().zip(&mut sd).zip(constant) {
            if constant || *sd == 0.0 {
                *sd = 1.0;
            }
            if !(mean.is_finite() && sd.is_finite()) {
                return Err(Error::NotFinite { what: "the mean or variance of a column of X", iteration: 0 });
            }
        }
        Ok(Self { center: mean, scale: sd })
    }

    /// What is subtracted from each column.
    pub fn center(&self) -> &[f64] {
        &self.center
    }

    /// What each column is divided by.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// `S^-1 B`: directions for standardized columns as directions for the original ones.
    pub fn unscale(&self, b: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(b.nrows(), b.ncols(), |i, j| b[(i, j)] / self.scale[i])
    }

    /// `S W`: directions for the original columns as directions for standardized ones.
    pub fn rescale(&self, directions: MatRef<'_, f64>) -> Mat<f64> {
        Mat::from_fn(directions.nrows(), directions.ncols(), |i, j| directions[(i, j)] * self.scale[i])
    }

    /// The view of `x` through this standardization.
    pub fn apply<'a>(&'a self, x: &'a dyn Design) -> Result<Standardized<'a>> {
        expect_size("columns of X against columns standardized", self.center.len(), x.n_cols())?;
        Ok(Standardized { inner: x, standardization: self })
    }
}

/// A response in standard deviations from its mean, rows counted by weight if there are weights.
pub(crate) fn standardized(y: &[f64], weights: Option<&[f64]>) -> Result<Vec<f64>> {
    let scaling = Standardization::fit(&Dense::new(y, y.len(), 1)?, weights)?;
    Ok(y.iter().map(|v| (v - scaling.center[0]) / scaling.scale[0]).collect())
}

/// A design with its columns centered and scaled on the fly.
pub struct Standardized<'a> {
    inner: &'a dyn Design,
    standardization: &'a Standardization,
}

impl Design for Standardized<'_> {
    fn n_rows(&self) -> usize {
        self.inner.n_rows()
    }

    fn n_cols(&self) -> usize {
        self.inner.n_cols()
    }

    fn project_into(&self, b: MatRef<'_, f64>, rows: Rows<'_>, z: &mut Points) {
        let b = self.standardization.unscale(b);
        self.inner.project_into(b.as_ref(), rows, z);
        let center = &self.standardization.center;
        let shift: Vec<f64> =
            (0..b.ncols()).map(|j| b.col(j).iter().zip(center).map(|(b, c)| b * c).sum()).collect();
        let width = z.dim().max(1);
        for point in z.values_mut().chunks_exact_mut(width) {
            for (z, shift) in point.iter_mut().zip(&shift) {
                *z -= shift;
            }
        }
    }

    fn copy_rows_into(&self, rows: Rows<'_>, out: &mut Points) {
        self.inner.copy_rows_into(rows, out);
        let Standardization { center, scale } = self.standardization;
        for point in out.values_mut().chunks_exact_mut(center.len().max(1)) {
            for ((v, center), scale) in point.iter_mut().zip(center).zip(scale) {
                *v = (*v - center) / scale;
            }
        }
    }

    fn pull_back_into(&self, c: &Points, rows: Rows<'_>, mut g: MatMut<'_, f64>) {
        self.inner.pull_back_into(c, rows, g.as_mut());
        let mut total = vec![0.0; c.dim()];
        for point in c.values().chunks_exact(c.dim().max(1)) {
            for (total, c) in total.iter_mut().zip(point) {
                *total += c;
            }
        }
        let Standardization { center, scale } = self.standardization;
        for (j, total) in total.iter().enumerate() {
            for i in 0..g.nrows() {
                g[(i, j)] = (g[(i, j)] - center[i] * total) / scale[i];
            }
        }
    }

    fn inspect(&self) -> Inspection {
        self.inner.inspect()
    }

    fn moments(&self, weights: Option<&[f64]>) -> Moments {
        let Moments { mut mean, mut sd } = self.inner.moments(weights);
        let Standardization { center, scale } = self.standardization;
        for i in 0..mean.len() {
            mean[i] = (mean[i] - center[i]) / scale[i];
            sd[i] /= scale[i];
        }
        Moments { mean, sd }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::dense::Dense;
    use crate::linalg::norm;

    #[test]
    fn view_equals_a_standardized_copy() {
        let (n, p, d) = (40, 6, 2);
        let mut values: Vec<f64> =
            (0..n * p).map(|i| 3.0 * (0.7 * i as f64).sin() + 10.0 * (i % p) as f64).collect();
        values.chunks_exact_mut(p).for_each(|row| row[2] = 5.0);
        let x = Dense::new(&values[..], n, p).unwrap();
        let standardization = Standardization::fit(&x, None).unwrap();
        let Moments { mean, sd } = x.moments(None);
        assert_eq!(standardization.scale()[2], 1.0, "a constant column is not scaled");
        let copy: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(i, v)| (v - mean[i % p]) / if i % p == 2 { 1.0 } else { sd[i % p] })
            .collect();
        let copy = Dense::new(copy, n, p).unwrap();
        let view = standardization.apply(&x).unwrap();

        let b = Mat::from_fn(p, d, |i, j| (1.1 * i as f64 - j as f64).cos());
        let c = Points::from_values((0..n * d).map(|i| (0.3 * i as f64).cos()).collect(), d).unwrap();
        let some: Vec<usize> = (0..n).step_by(3).collect();
        let c_some =
            Points::from_values(some.iter().flat_map(|&i| c.point(i).to_vec()).collect(), d).unwrap();
        for (rows, c) in [(Rows::All, &c), (Rows::Subset(&some), &c_some)] {
            let (z, expected) =
                (view.project(b.as_ref(), rows).unwrap(), copy.project(b.as_ref(), rows).unwrap());
            for (z, e) in z.values().iter().zip(expected.values()) {
                assert!((z - e).abs() < 1e-12);
            }
            let (g, expected) = (view.pull_back(c, rows).unwrap(), copy.pull_back(c, rows).unwrap());
            assert!(norm((&g - &expected).as_ref()) < 1e-11);
            let (mut found, mut expected) = (Points::zeros(c.len(), p), Points::zeros(c.len(), p));
            view.copy_rows_into(rows, &mut found);
            copy.copy_rows_into(rows, &mut expected);
            let identity = copy.project(Mat::<f64>::identity(p, p).as_ref(), rows).unwrap();
            for ((v, e), same) in found.values().iter().zip(expected.values()).zip(identity.values()) {
                assert!((v - e).abs() < 1e-12 && e == same);
            }
        }
        let Moments { mean, sd } = view.moments(None);
        for i in 0..p {
            assert!(mean[i].abs() < 1e-13);
            assert!((sd[i] - if i == 2 { 0.0 } else { 1.0 }).abs() < 1e-13);
        }
    }

    #[test]
    fn scales_must_be_positive() {
        assert!(Standardization::new(vec![0.0], vec![0.0]).is_err());
        assert!(Standardization::new(vec![f64::NAN], vec![1.0]).is_err());
        assert!(Standardization::new(vec![0.0, 1.0], vec![1.0]).is_err());
    }
}
