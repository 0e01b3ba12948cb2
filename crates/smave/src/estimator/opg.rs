//! OPG: the outer product of gradients.
//!
//! At each row, regress y on x locally, in the space of all covariates; average the outer products of
//! the slopes; keep the leading eigenvectors:
//!
//! $$ \hat\Sigma = \frac1n \sum_j \hat b_j \hat b_j^\top, \qquad \hat b_j = (G^{(j)} + \varepsilon I)^{-1} \mu^{(j)}. $$
//!
//! | name | weights | neighborhood |
//! |---|---|---|
//! | `opg` | Gaussian kernel | Silverman's bandwidth in R^p, spread measured by the MAD |
//! | `opg-knn` | uniform | $k = \lceil n^{4/(p+4)} \rceil$ nearest rows, clipped to [max(50, p/3), n/3] |
//!
//! Published OPG-kNN stops at 50 neighbors and has ε = 1e-5 throughout. With about as many neighbors as
//! covariates such a regression interpolates noise (m² is 1.9 of 2 at (n, p) = (1000, 50), and lower at p = 100),
//! and with far fewer it sees too little of each slope. So the neighbors here grow with p, and ε is by default a
//! tenth of the average local variance of a covariate: 0.7 at p = 50 (`smave bench --methods opg-knn`).
//! `Opg::knn(d).n_neighbors(50).ridge(1e-5)` is what was published.
//!
//! No condition on the distribution of X, no start, no iteration; but rows are near each other only
//! when p is small, and above some 20 covariates hardly anything is found. The
//! eigenvalues of the [`Reduction`] are those of $\hat\Sigma$. Cost: n^2 p to find neighbors, and
//! n k p min(k, p) for the regressions, k being the neighbors that carry weight.
//!
//! Xia, Tong, Li and Zhu (2002), An adaptive estimation of dimension reduction space. For k-NN weights:
//! Ausset, Clémençon and Portier (2021), Nearest neighbour based estimates of gradients.

use serde::Serialize;

use crate::data::dataset::{Dataset, count_rows};
use crate::error::{Error, Result};
use crate::estimator::reduction::Reduction;
use crate::estimator::{Estimator, check_dimension, spectral_reduction, with_columns};
use crate::linalg::Points;
use crate::local::index::build_index;
use crate::local::kernel::{Bandwidth, CUT, gaussian_neighborhoods};
use crate::local::neighborhoods::{Neighborhoods, Weighting};
use crate::local::size::{MIN_NEIGHBORS_AMBIENT, neighborhood_size, silverman_bandwidth};
use crate::objective::ambient::{Ridge, all_columns, ambient_slopes, leading_directions};
use crate::optim::trace::Observer;

/// ε of nearest-neighbor weights, as a share of the average local variance of a covariate.
const KNN_RIDGE: f64 = 0.1;

/// Outer product of gradients.
#[derive(Clone, Debug, Serialize)]
pub struct Opg {
    n_components: usize,
    knn: bool,
    n_neighbors: Option<usize>,
    ridge: Ridge,
    standardize: bool,
    /// Share of the largest below which kernel weights are dropped.
    cut: f64,
}

impl Opg {
    /// With Gaussian kernel weights.
    pub fn kernel(n_components: usize) -> Self {
        let ridge = Ridge::Absolute(1e-5);
        Self { n_components, knn: false, n_neighbors: None, ridge, standardize: false, cut: CUT }
    }

    /// With uniform weights on the nearest neighbors.
    pub fn knn(n_components: usize) -> Self {
        Self { knn: true, ridge: Ridge::Relative(KNN_RIDGE), ..Self::kernel(n_components) }
    }

    /// k, for nearest-neighbor weights; by default ⌈n^{4/(p+4)}⌉ clipped to [max(50, p/3), n/3].
    pub fn n_neighbors(mut self, n_neighbors: impl Into<Option<usize>>) -> Self {
        self.n_neighbors = n_neighbors.into();
        self
    }

    /// ε, the ridge of the local regressions; by default 1e-5 for kernel weights, as published, and a tenth of the
    /// average local variance of a covariate for nearest-neighbor weights.
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.ridge = Ridge::Absolute(ridge);
        self
    }

    /// Whether columns are scaled to unit variance first; off by default, as published.
    pub fn standardize(mut self, standardize: bool) -> Self {
        self.standardize = standardize;
        self
    }

    /// For those who need a start only, or a test: another share for [`CUT`].
    pub(crate) fn cut(mut self, cut: f64) -> Self {
        self.cut = cut;
        self
    }

    fn neighborhoods(&self, x: &Points, weights: Option<&[f64]>) -> Result<(Neighborhoods, Option<usize>)> {
        let (n, p) = (count_rows(weights, x.len()), x.dim());
        let anchors: Vec<usize> = (0..x.len()).collect();
        if !self.knn {
            let base = silverman_bandwidth(x, weights);
            let bandwidth = Bandwidth { base, reach: None, cut: self.cut };
            let hoods = gaussian_neighborhoods(x, &anchors, bandwidth, weights);
            return Ok((hoods, None));
        }
        let fewest = MIN_NEIGHBORS_AMBIENT.max(p.div_ceil(3));
        let k = self.n_neighbors.unwrap_or_else(|| neighborhood_size(n, p, fewest));
        if !(2..=n).contains(&k) {
            return Err(Error::InvalidParameter {
                name: "n_neighbors",
                value: k.to_string(),
                requirement: format!("between 2 and the number of rows, {n}"),
            });
        }
        Ok((Neighborhoods::find(&*build_index(x, k), x, &anchors, k, Weighting::Uniform, weights), Some(k)))
    }
}

impl Estimator for Opg {
    fn name(&self) -> &'static str {
        if self.knn { "opg-knn" } else { "opg" }
    }

    fn fit_observed(&self, data: &Dataset<'_>, observer: &mut dyn Observer) -> Result<Reduction> {
        check_dimension(self.n_components, data)?;
        let mut n_neighbors = None;
        let found = with_columns(data, self.standardize, |x| {
            let x = all_columns(x)?;
            let (hoods, k) = self.neighborhoods(&x, data.weights())?;
            n_neighbors = k;
            observer.check()?;
            let slopes = ambient_slopes(&x, data.responses(), &hoods, self.ridge);
            leading_directions(&slopes, self.n_components, hoods.anchor_weights())
        })?;
        let mut reduction = spectral_reduction(self.name(), found, data)?;
        reduction.n_neighbors = n_neighbors;
        Ok(reduction)
    }
}
