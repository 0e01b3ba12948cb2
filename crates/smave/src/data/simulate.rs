//! The paper's synthetic design: five links, two covariances, a sparse true basis.
//!
//! $Y = g(B_\ast^\top X) + \xi$ with $X \sim N(0, \Sigma)$, $\xi \sim N(0, \sigma^2)$, d = 2 and
//! $\sigma = 0.5$ by default. Each entry of a Gaussian p x 2 matrix is kept with
//! probability 0.2 (`density`; 1 makes every covariate matter); the draw is repeated until the matrix has full rank, and
//! its orthonormal factor is $B_\ast$.
//!
//! Chunks of rows have random streams of their own, so that rows can be made in
//! parallel, and in f32 without an f64 copy; both precisions hold the same draws.

use std::fmt;
use std::str::FromStr;

use rand::RngExt;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use crate::data::dense::Dense;
use crate::error::{Error, Result};
use crate::linalg::{Element, Mat, orthonormalize};
use crate::rng::{Purpose, stream};

/// The regression function of the two true coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// $z_1 (z_1 + z_2 + 1)$
    Polynomial,
    /// $\sin z_1 + \tfrac12 \cos 2 z_2$
    Sinusoidal,
    /// $\exp(-z_1^2) + \tfrac12 z_2$
    Exponential,
    /// $z_1 z_2 + \sin z_1 + \exp(-z_2^2 / 2)$
    Interaction,
    /// $z_1 / (0.5 + (z_2 + 1)^2)$
    Rational,
}

impl Link {
    /// All five, in the paper's order.
    pub const ALL: [Link; 5] =
        [Link::Polynomial, Link::Sinusoidal, Link::Exponential, Link::Interaction, Link::Rational];

    /// g(z1, z2).
    pub fn evaluate(self, z1: f64, z2: f64) -> f64 {
        match self {
            Link::Polynomial => z1 * (z1 + z2 + 1.0),
            Link::Sinusoidal => z1.sin() + 0.5 * (2.0 * z2).cos(),
            Link::Exponential => (-z1 * z1).exp() + 0.5 * z2,
            Link::Interaction => z1 * z2 + z1.sin() + (-z2 * z2 / 2.0).exp(),
            Link::Rational => z1 / (0.5 + (z2 + 1.0) * (z2 + 1.0)),
        }
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Link::Polynomial => "polynomial",
            Link::Sinusoidal => "sinusoidal",
            Link::Exponential => "exponential",
            Link::Interaction => "interaction",
            Link::Rational => "rational",
        }
    }
}

/// The covariance of X.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Covariance {
    /// The identity.
    Identity,
    /// $\Sigma_{ij} = 0.5^{|i - j|}$.
    Ar1,
}

impl Covariance {
    /// Both, in the paper's order.
    pub const ALL: [Covariance; 2] = [Covariance::Identity, Covariance::Ar1];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Covariance::Identity => "identity",
            Covariance::Ar1 => "ar1",
        }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Covariance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Link {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Link::ALL.into_iter().find(|link| link.name() == text).ok_or_else(|| Error::InvalidParameter {
            name: "link",
            value: text.into(),
            requirement: format!("one of {}", Link::ALL.map(Link::name).join(", ")),
        })
    }
}

impl FromStr for Covariance {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Covariance::ALL.into_iter().find(|cov| cov.name() == text).ok_or_else(|| Error::InvalidParameter {
            name: "covariance",
            value: text.into(),
            requirement: format!("one of {}", Covariance::ALL.map(Covariance::name).join(", ")),
        })
    }
}

/// One draw from the synthetic design.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// Regression function.
    pub link: Link,
    /// Covariance of X.
    pub covariance: Covariance,
    /// Samples n.
    pub n_samples: usize,
    /// Covariates p, at least 2.
    pub n_features: usize,
    /// Standard deviation of the noise, 0.5 by default.
    pub noise: f64,
    /// Probability with which an entry of the true basis is not zero before it is orthonormalized, 0.2 by default.
    pub density: f64,
    /// Seed of everything that is drawn.
    pub seed: u64,
}

/// What a simulation makes.
#[derive(Clone, Debug)]
pub struct Simulated<T: Element> {
    /// Covariates, n x p.
    pub x: Dense<'static, T>,
    /// Response.
    pub y: Vec<f64>,
    /// The true basis, p x 2, orthonormal.
    pub basis: Mat<f64>,
}

/// Number of true directions.
pub const TRUE_DIMENSION: usize = 2;

/// Rows that share a random stream.
const ROWS_PER_STREAM: usize = 1024;

impl Simulation {
    /// A design with the paper's noise and seed 0.
    pub fn new(link: Link, covariance: Covariance, n_samples: usize, n_features: usize) -> Self {
        Self { link, covariance, n_samples, n_features, noise: 0.5, density: 0.2, seed: 0 }
    }

    /// Sets the standard deviation of the noise.
    pub fn noise(mut self, noise: f64) -> Self {
        self.noise = noise;
        self
    }

    /// Sets the share of entries of the true basis that are not zero.
    pub fn density(mut self, density: f64) -> Self {
        self.density = density;
        self
    }

    /// Sets the seed.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Draws the data with X in f64.
    pub fn draw(&self) -> Result<Simulated<f64>> {
        self.draw_as(|v| v)
    }

    /// Draws the same data with X rounded to f32.
    pub fn draw_f32(&self) -> Result<Simulated<f32>> {
        self.draw_as(|v| v as f32)
    }

    fn draw_as<T: Element + Default>(&self, narrow: impl Fn(f64) -> T + Sync) -> Result<Simulated<T>> {
        let (n, p) = (self.n_samples, self.n_features);
        if p < TRUE_DIMENSION {
            let requirement = format!("at least {TRUE_DIMENSION}, the dimension of the true subspace");
            return Err(Error::InvalidParameter { name: "p", value: p.to_string(), requirement });
        }
        if n == 0 {
            return Err(Error::Empty { n_rows: n, n_cols: p });
        }
        if !(self.noise >= 0.0 && self.noise.is_finite()) {
            return Err(Error::InvalidParameter {
                name: "noise",
                value: self.noise.to_string(),
                requirement: "a finite number, zero or more".into(),
            });
        }
        // With less the draw would be repeated for too long.
        if !(0.01..=1.0).contains(&self.density) {
            return Err(Error::InvalidParameter {
                name: "density",
                value: self.density.to_string(),
                requirement: "between 0.01 and 1".into(),
            });
        }
        let basis = self.draw_basis();
        let mut x = vec![T::default(); n * p];
        let mut y = vec![0.0; n];
        x.par_chunks_mut(ROWS_PER_STREAM * p).zip(y.par_chunks_mut(ROWS_PER_STREAM)).enumerate().for_each(
            |(chunk, (x, y))| {
                let mut rng = stream(self.seed, Purpose::Rows, chunk as u64);
                let mut row = vec![0.0f64; p];
                for (x, y) in x.chunks_exact_mut(p).zip(y) {
                    for j in 0..p {
                        let e: f64 = rng.sample(StandardNormal);
                        row[j] = match self.covariance {
                            // The stationary recursion has exactly the covariance 0.5^|i-j|.
                            Covariance::Ar1 if j > 0 => 0.5 * row[j - 1] + 0.75f64.sqrt() * e,
                            _ => e,
                        };
                    }
                    let z = |c| basis.col(c).iter().zip(&row).map(|(b, x)| b * x).sum::<f64>();
                    let noise: f64 = rng.sample(StandardNormal);
                    *y = self.link.evaluate(z(0), z(1)) + self.noise * noise;
                    for (x, v) in x.iter_mut().zip(&row) {
                        *x = narrow(*v);
                    }
                }
            },
        );
        Ok(Simulated { x: Dense::new(x, n, p)?, y, basis })
    }

    fn draw_basis(&self) -> Mat<f64> {
        let mut rng = stream(self.seed, Purpose::TrueBasis, 0);
        loop {
            let sparse = Mat::from_fn(self.n_features, TRUE_DIMENSION, |_, _| {
                let value: f64 = rng.sample(StandardNormal);
                if rng.random_bool(self.density) { value } else { 0.0 }
            });
            if let Some(basis) = orthonormalize(sparse.as_ref()) {
                return basis;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::design::Design;

    #[test]
    fn links_take_their_published_values() {
        let at = |link: Link| link.evaluate(0.5, -2.0);
        assert_eq!(at(Link::Polynomial), 0.5 * -0.5);
        assert_eq!(at(Link::Sinusoidal), 0.5f64.sin() + 0.5 * 4f64.cos());
        assert_eq!(at(Link::Exponential), (-0.25f64).exp() - 1.0);
        assert_eq!(at(Link::Interaction), -1.0 + 0.5f64.sin() + (-2.0f64).exp());
        assert_eq!(at(Link::Rational), 0.5 / 1.5);
    }

    #[test]
    fn covariances_are_those_asked_for() {
        let (n, p) = (40_000, 4);
        for covariance in Covariance::ALL {
            let data = Simulation::new(Link::Polynomial, covariance, n, p).seed(3).draw().unwrap();
            for i in 0..p {
                for j in 0..=i {
                    let products = data.x.values().chunks_exact(p).map(|row| row[i] * row[j]);
                    let found = products.sum::<f64>() / n as f64;
                    let expected = match covariance {
                        Covariance::Identity => f64::from(i == j),
                        Covariance::Ar1 => 0.5f64.powi((i - j) as i32),
                    };
                    // Four standard errors, sqrt(2/n) each at the most.
                    assert!((found - expected).abs() < 4.0 * (2.0 / n as f64).sqrt(), "{covariance} {i} {j}");
                }
            }
        }
    }

    #[test]
    fn response_is_the_link_plus_noise_of_the_stated_size() {
        let simulation = Simulation::new(Link::Rational, Covariance::Ar1, 20_000, 6).seed(1);
        let data = simulation.clone().draw().unwrap();
        let z = data.x.project(data.basis.as_ref(), crate::data::Rows::All).unwrap();
        let residual: f64 = (0..20_000)
            .map(|i| (data.y[i] - Link::Rational.evaluate(z.point(i)[0], z.point(i)[1])).powi(2))
            .sum();
        assert!((residual / 20_000.0 - 0.25).abs() < 0.01);
        let quiet = simulation.noise(0.0).draw().unwrap();
        assert!((quiet.y[5] - Link::Rational.evaluate(z.point(5)[0], z.point(5)[1])).abs() < 1e-12);
    }

    #[test]
    fn true_basis_is_orthonormal_and_sparse() {
        let data = Simulation::new(Link::Polynomial, Covariance::Identity, 1, 500).seed(9).draw().unwrap();
        let gram = data.basis.transpose() * &data.basis;
        for i in 0..2 {
            for j in 0..2 {
                assert!((gram[(i, j)] - f64::from(i == j)).abs() < 1e-12);
            }
        }
        // Rows stay zero unless one of two entries was kept: expected 64%.
        let zero_rows = (0..500).filter(|&i| data.basis[(i, 0)] == 0.0 && data.basis[(i, 1)].abs() < 1e-15);
        assert!((250..400).contains(&zero_rows.count()));
        let dense =
            Simulation::new(Link::Polynomial, Covariance::Identity, 1, 500).density(1.0).draw().unwrap();
        assert!((0..500).all(|i| dense.basis[(i, 0)] != 0.0));
    }

    #[test]
    fn both_precisions_hold_the_same_draws() {
        let simulation = Simulation::new(Link::Sinusoidal, Covariance::Ar1, 3000, 3).seed(4);
        let (wide, narrow) = (simulation.draw().unwrap(), simulation.draw_f32().unwrap());
        assert_eq!(wide.y, narrow.y);
        assert!(wide.x.values().iter().zip(narrow.x.values()).all(|(a, b)| *a as f32 == *b));
    }

    #[test]
    fn impossible_designs_are_refused() {
        let small = Simulation::new(Link::Polynomial, Covariance::Identity, 10, 1).draw().unwrap_err();
        assert_eq!(
            small.to_string(),
            "p = 1 is not allowed: it must be at least 2, the dimension of the true subspace"
        );
        assert!(Simulation::new(Link::Polynomial, Covariance::Identity, 0, 5).draw().is_err());
        assert!(Simulation::new(Link::Polynomial, Covariance::Identity, 5, 5).noise(-1.0).draw().is_err());
        assert!(Simulation::new(Link::Polynomial, Covariance::Identity, 5, 5).density(0.0).draw().is_err());
        assert!("cubic".parse::<Link>().unwrap_err().to_string().contains("polynomial, sinusoidal"));
    }
}
