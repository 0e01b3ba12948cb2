//! Which plots there are, and what is said below each.

use smave::uncertainty::Interval;
use smave::{Dataset, DimensionChoice, Explanation, Model};

use crate::column::Column;
use crate::facts::Facts;
use crate::held_out::Origin;
use crate::number::{count, short};
use crate::plot::Plot;
use crate::plot::dots::{self, Dot};
use crate::plot::line::{self, Traced};
use crate::plot::scatter::{Guide, Scatter};

/// Covariates in a plot of loadings, at the most.
pub const COVARIATES: usize = 20;

/// Starts in their plot, at the most.
const STARTS: usize = 20;

/// A plot and what is said below it.
#[derive(Clone, Debug)]
pub struct Captioned {
    pub plot: Plot,
    pub caption: String,
    /// What points are colored by.
    pub colored: Option<String>,
}

impl Captioned {
    fn scatter(scatter: &Scatter<'_>, caption: String) -> Self {
        Self { plot: scatter.draw(), caption, colored: Some(scatter.color.name.clone()) }
    }
}

/// All plots, by section.
#[derive(Clone, Debug)]
pub struct Figures {
    pub summary: Vec<Captioned>,
    pub loadings: Vec<Captioned>,
    pub dimension: Option<Captioned>,
    pub convergence: Vec<Captioned>,
    pub predictions: Vec<Captioned>,
}

/// What plots are made from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub model: &'a Model,
    pub data: &'a Dataset<'a>,
    pub explanation: Option<&'a Explanation>,
    pub choice: Option<&'a DimensionChoice>,
    pub facts: &'a Facts,
    /// Places of the covariates, most relevant first.
    pub order: &'a [usize],
    pub columns: &'a [Column],
}

impl Figures {
    /// Draws all.
    pub fn draw(source: Source<'_>) -> Self {
        let reduction = &source.model.reduction;
        let choice = source.choice.filter(|choice| !choice.curve.is_empty());
        Self {
            summary: source.summary(),
            loadings: (0..reduction.n_components()).map(|j| source.loadings(j)).collect(),
            dimension: choice.map(|choice| Captioned {
                plot: line::dimension(choice),
                caption: format!(
                    "Mean squared error on rows not fitted to, {}, with one standard error up and down. The smallest \
                     number of directions whose error is no larger than the least error plus its standard error \
                     (dashed) is chosen.",
                    if source.facts.responses.len() > 1 {
                        "responses in standard deviations, added up"
                    } else {
                        "in the units of the response squared"
                    }
                ),
                colored: None,
            }),
            convergence: source.convergence(),
            predictions: source.predictions(),
        }
    }

    /// All plots in the order of the page.
    pub fn into_plots(self) -> Vec<Plot> {
        let Self { summary, loadings, dimension, convergence, predictions } = self;
        let all = summary.into_iter().chain(loadings).chain(dimension).chain(convergence).chain(predictions);
        all.map(|captioned| captioned.plot).collect()
    }
}

impl Source<'_> {
    fn column(&self, key: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.key == key)
    }

    /// The name of a plot of response `j`.
    fn name(&self, name: &str, j: usize) -> String {
        if self.facts.responses.len() == 1 { name.into() } else { format!("{name}-{}", j + 1) }
    }

    /// How many points of how many there are.
    fn shown(&self) -> String {
        let (shown, all) = (self.facts.n_shown(), self.facts.n_samples);
        if shown == all {
            return format!("All {} rows are shown.", count(all));
        }
        format!(
            "{} of {} rows are shown: all that are extreme in a response, a direction or a residual, and a random part \
             of the rest.",
            count(shown),
            count(all)
        )
    }

    /// For each response, itself by the first direction, and the first two directions colored by it.
    fn summary(&self) -> Vec<Captioned> {
        let mut out = Vec::new();
        let Some(z1) = self.column("z0") else { return out };
        for (j, response) in self.facts.responses.iter().enumerate() {
            let Some(y) = self.column(&format!("y{j}")) else { continue };
            let name = &response.name;
            let curve = response.curve.clone();
            let drawn = if curve.is_empty() {
                "There are too few rows for a curve."
            } else {
                "The curve is a local linear regression on this direction alone."
            };
            let scatter = Scatter {
                name: self.name("summary", j),
                title: format!("{name} against the first direction"),
                description: format!("Scatter plot of {name} by direction 1. {drawn} {}", self.shown()),
                x: z1,
                y,
                color: self.column("z1").unwrap_or(y),
                guide: if curve.is_empty() { Guide::None } else { Guide::Curve(curve) },
                response: j,
            };
            let caption = format!("{drawn} {}", self.shown());
            out.push(Captioned::scatter(&scatter, caption));
            if let Some(z2) = self.column("z1") {
                let scatter = Scatter {
                    name: self.name("directions", j),
                    // No color in the title: the reader may choose another.
                    title: if self.facts.responses.len() == 1 {
                        "First two directions".into()
                    } else {
                        format!("First two directions, and {name}")
                    },
                    description: format!("Scatter plot of direction 2 by direction 1. {}", self.shown()),
                    x: z1,
                    y: z2,
                    color: y,
                    guide: Guide::None,
                    response: j,
                };
                let caption = format!(
                    "Where the colors of {name} change smoothly from place to place, the two directions carry what it \
                     needs. {}",
                    self.shown()
                );
                out.push(Captioned::scatter(&scatter, caption));
            }
        }
        out
    }

    fn loadings(&self, j: usize) -> Captioned {
        let reduction = &self.model.reduction;
        let scale = reduction.standardization().scale();
        let dot = |&i: &usize| {
            let known = self.explanation.map(|explanation| &explanation.covariates[i]);
            let estimate = reduction.basis()[(i, j)];
            // Loadings per unit of the column as it was fitted can be compared with each other.
            let scaled = |v: Interval| Interval {
                estimate: v.estimate * scale[i],
                low: v.low * scale[i],
                high: v.high * scale[i],
            };
            Dot {
                name: reduction.names()[i].clone(),
                value: known.map_or(Interval { estimate, low: estimate, high: estimate }, |known| {
                    scaled(known.loadings[j])
                }),
                full: known.map_or(estimate != 0.0, |known| !scaled(known.loadings[j]).covers(0.0)),
                note: String::new(),
            }
        };
        let dots: Vec<Dot> = self.order.iter().take(COVARIATES).map(dot).collect();
        let some = if self.order.len() > dots.len() {
            format!("The {} most relevant of {} covariates. ", dots.len(), count(self.order.len()))
        } else {
            String::new()
        };
        let intervals = match self.explanation {
            Some(explanation) => format!(
                "Whiskers are {}% intervals from {} bootstrap replicates; a hollow dot has zero in its interval.",
                short(100.0 * explanation.level),
                explanation.replicates
            ),
            None if dots.iter().all(|dot| dot.full) => "No intervals were computed.".into(),
            None => "No intervals were computed; a hollow dot is a covariate that was left out.".into(),
        };
        Captioned {
            plot: dots::loadings(j + 1, &dots, scale.iter().any(|scale| *scale != 1.0)),
            caption: format!(
                "{some}{intervals} Covariates as they were scaled for the fit, most relevant first."
            ),
            colored: None,
        }
    }

    fn convergence(&self) -> Vec<Captioned> {
        let reduction = &self.model.reduction;
        let tolerance = tolerance(self.model);
        let trace = line::trace(reduction.trace(), tolerance).map(|(plot, traced)| Captioned {
            plot,
            caption: format!(
                "{}{} The fit ended because of this: {}.",
                match traced {
                    Traced::Turn => {
                        "The largest angle between the subspace before and after each iteration. It may rise again where the fit goes on with other covariates or neighborhoods."
                    }
                    Traced::Objective => {
                        "The local variance of the response that local fits explain, averaged over the rows of the \
                         iteration: larger is better."
                    }
                },
                match (traced, tolerance) {
                    (Traced::Turn, Some(_)) => " Dashed: small enough to end.",
                    _ => "",
                },
                self.model.reduction.stop_reason()
            ),
            colored: None,
        });
        let n_starts = reduction.starts().len();
        let starts = dots::starts(reduction.starts(), STARTS).map(|plot| Captioned {
            plot,
            caption: format!(
                "{} starts, best first; full dots ended within the dashed line and agree with the result. Error is \
                 leave-one-out mean squared error when a start was last looked at; those that fell behind were dropped \
                 early, and may be far off for that reason alone. Errors compare among starts only.",
                if n_starts > STARTS { format!("The first {STARTS} of {n_starts}") } else { "All".into() }
            ),
            colored: None,
        });
        trace.into_iter().chain(starts).collect()
    }

    /// For each response, predictions against what was observed, and residuals.
    fn predictions(&self) -> Vec<Captioned> {
        let mut out = Vec::new();
        for (j, response) in self.facts.responses.iter().enumerate() {
            let column = |letter: &str| self.column(&format!("{letter}{j}"));
            let (Some(y), Some(p), Some(r)) = (column("y"), column("p"), column("r")) else { continue };
            let Some(predicted) = &response.predicted else { continue };
            let origin = origin_sentence(predicted.origin);
            let name = &response.name;
            let panels = [
                (
                    "predicted",
                    format!("Observed against predicted {name}"),
                    y,
                    Guide::Diagonal,
                    "Dashed: equality.",
                ),
                (
                    "residuals",
                    format!("Residuals against predicted {name}"),
                    r,
                    Guide::Zero,
                    "A band of even height around the dashed line is what a good fit leaves.",
                ),
            ];
            for (kind, title, vertical, guide, note) in panels {
                let scatter = Scatter {
                    name: self.name(kind, j),
                    description: format!("Scatter plot: {title}. {origin} {}", self.shown()),
                    title,
                    x: p,
                    y: vertical,
                    color: self.column("z0").unwrap_or(y),
                    guide,
                    response: j,
                };
                let caption = format!("{origin} {note} {}", self.shown());
                out.push(Captioned::scatter(&scatter, caption));
            }
        }
        out
    }
}

/// The angle, in radians, below which the subspace has settled, if the fit had one.
fn tolerance(model: &Model) -> Option<f64> {
    model.settings["tolerance"].as_f64()
}

/// The relevance of a covariate: the length of its row of the basis, and so of the projector.
pub fn relevance(model: &Model, i: usize) -> f64 {
    let basis = model.reduction.basis();
    (0..basis.ncols()).map(|j| basis[(i, j)] * basis[(i, j)]).sum::<f64>().sqrt()
}

/// How predictions were made, for a reader.
pub fn origin_sentence(origin: Origin) -> String {
    match origin {
        Origin::Folds(folds) => format!(
            "Each row is predicted from the other rows ({folds} folds); the directions are those of the model, which has \
             seen all rows."
        ),
        Origin::NewRows => "Predictions of the model for rows that it was not fitted to.".into(),
        Origin::InSample => {
            "In-sample predictions, because there are too few rows to leave some out: they flatter the model."
                .into()
        }
    }
}
