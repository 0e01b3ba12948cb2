//! From a method's name to the estimator.

use smave::{Ade, Estimator, InverseRegression, Opg, OpgAdaptive, OpgWalk, Pca, Rmave, Smave};

use smave::data::simulate;

use crate::args::{Covariance, Link, Method};

/// What a user may set; each method takes what it knows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Number of directions.
    pub dim: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether columns are scaled to unit variance.
    pub standardize: bool,
    /// Iterations at the most.
    pub max_iter: Option<usize>,
    /// Neighbors per local regression.
    pub neighbors: Option<usize>,
    /// Angle below which a fit has settled.
    pub tolerance: Option<f64>,
    /// The part of SMAVE that is switched off.
    pub without: Option<Part>,
}

/// A part of SMAVE that can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The walk.
    Walk,
    /// Moment-based starts.
    Moments,
    /// Random and over-parametrized starts.
    Random,
    /// Leaving out covariates.
    Screen,
    /// The choice of the neighborhood size.
    Neighborhood,
    /// The refinement, and with it the two before.
    Refine,
}

impl Part {
    /// All parts, in the order of the pipeline.
    pub const ALL: [Self; 6] =
        [Self::Walk, Self::Moments, Self::Random, Self::Screen, Self::Neighborhood, Self::Refine];

    /// What a table calls SMAVE without it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Walk => "smave without the walk",
            Self::Moments => "smave without moments",
            Self::Random => "smave without random starts",
            Self::Screen => "smave without screening",
            Self::Neighborhood => "smave with k fixed",
            Self::Refine => "smave without refinement",
        }
    }
}

impl From<Link> for simulate::Link {
    fn from(link: Link) -> Self {
        match link {
            Link::Polynomial => Self::Polynomial,
            Link::Sinusoidal => Self::Sinusoidal,
            Link::Exponential => Self::Exponential,
            Link::Interaction => Self::Interaction,
            Link::Rational => Self::Rational,
        }
    }
}

impl From<Covariance> for simulate::Covariance {
    fn from(covariance: Covariance) -> Self {
        match covariance {
            Covariance::Identity => Self::Identity,
            Covariance::Ar1 => Self::Ar1,
        }
    }
}

/// The estimator of that name.
pub fn estimator(method: Method, settings: Settings) -> Box<dyn Estimator> {
    let Settings { dim, seed, standardize, max_iter, neighbors, tolerance, without } = settings;
    match method {
        Method::Smave => {
            let mut smave = Smave::new(dim).standardize(standardize).seed(seed).n_neighbors(neighbors);
            smave = match without {
                None => smave,
                Some(Part::Walk) => smave.walk(false),
                Some(Part::Moments) => smave.moments(false),
                Some(Part::Random) => smave.random_starts(0).overparametrized(0),
                Some(Part::Screen) => smave.screen(false),
                Some(Part::Neighborhood) => smave.choose_neighbors(false),
                Some(Part::Refine) => smave.refine(false),
            };
            if let Some(max_iter) = max_iter {
                smave = smave.max_iter(max_iter);
            }
            Box::new(tolerance.map_or(smave.clone(), |angle| smave.tolerance(angle)))
        }
        Method::SmavePublished => {
            let mut smave = Smave::published(dim).standardize(standardize).seed(seed);
            if let Some(max_iter) = max_iter {
                smave = smave.max_iter(max_iter);
            }
            Box::new(smave.n_neighbors(neighbors).tolerance(tolerance))
        }
        Method::Mave => Box::new(Rmave::mave(dim).standardize(standardize)),
        Method::Rmave | Method::RmaveKnn => {
            let rmave = if method == Method::Rmave { Rmave::kernel(dim) } else { Rmave::knn(dim) };
            let rmave = rmave.standardize(standardize);
            let rmave = max_iter.map_or(rmave.clone(), |max_iter| rmave.max_iter(max_iter));
            Box::new(tolerance.map_or(rmave.clone(), |angle| rmave.tolerance(angle)))
        }
        Method::Opg => Box::new(Opg::kernel(dim).standardize(standardize)),
        Method::OpgKnn => Box::new(Opg::knn(dim).standardize(standardize).n_neighbors(neighbors)),
        Method::OpgAdaptive => Box::new(OpgAdaptive::new(dim).seed(seed)),
        Method::OpgWalk => Box::new(OpgWalk::new(dim).seed(seed)),
        Method::Ade => Box::new(Ade::new(dim).standardize(standardize)),
        Method::Sir => Box::new(InverseRegression::sir(dim)),
        Method::Save => Box::new(InverseRegression::save(dim)),
        Method::Dr => Box::new(InverseRegression::dr(dim)),
        Method::Phd => Box::new(InverseRegression::phd(dim)),
        Method::PhdResidual => Box::new(InverseRegression::phd_residual(dim)),
        Method::Pca => Box::new(Pca::new(dim).standardize(standardize)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn estimators_go_by_the_names_of_the_command_line() {
        for &method in Method::value_variants() {
            let name = method.to_possible_value().unwrap();
            assert_eq!(estimator(method, Settings { dim: 1, ..Settings::default() }).name(), name.get_name());
        }
    }

    #[test]
    fn scenarios_go_by_the_names_of_the_library() {
        let name = |value: &dyn Fn() -> Option<clap::builder::PossibleValue>| {
            value().unwrap().get_name().to_string()
        };
        for (&link, ours) in Link::value_variants().iter().zip(simulate::Link::ALL) {
            assert_eq!(
                (simulate::Link::from(link), name(&|| link.to_possible_value())),
                (ours, ours.to_string())
            );
        }
        for (&covariance, ours) in Covariance::value_variants().iter().zip(simulate::Covariance::ALL) {
            assert_eq!(simulate::Covariance::from(covariance), ours);
            assert_eq!(name(&|| covariance.to_possible_value()), ours.to_string());
        }
    }
}
