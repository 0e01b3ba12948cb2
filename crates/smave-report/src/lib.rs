//! One page that shows what a fitted smave model found.
//!
//! A [`Report`] turns a [`Model`] and its rows into a single HTML file that asks nothing of the network, and the same
//! figures into SVG and PNG files:
//!
//! ```
//! use smave::data::simulate::{Covariance, Link, Simulation};
//! use smave::{Dataset, Estimator, Model, Regression, Smave};
//! use smave_report::Report;
//!
//! let made = Simulation::new(Link::Interaction, Covariance::Ar1, 300, 5).seed(1).draw()?;
//! let data = Dataset::new(made.x, made.y)?;
//! let model = Model::with_predictor(Smave::new(2).seed(7).fit(&data)?, &data, Regression::LocalLinear)?;
//!
//! let report = Report::new(&model, &data).title("Two directions of five");
//! assert!(report.html()?.starts_with("<!doctype html>"));
//! assert_eq!(report.figures()?[0].name, "summary");
//! # Ok::<(), smave::Error>(())
//! ```
//!
//! The page says in sentences what to conclude and what not, then shows: the response against the directions, loadings
//! with intervals, the choice of the dimension, convergence and agreement of the starts, predictions and residuals, and
//! how it was all made. Everything is drawn as SVG before the page is opened; a script of a few lines adds
//! the values of a point and other colors, and nothing is lost without it.
//!
//! | module | what it holds |
//! |---|---|
//! | `facts` | coordinates, held-out predictions, and which rows are shown |
//! | `sentences` | what to conclude, what not |
//! | `plot` | axes, points, curves, whiskers as SVG |
//! | `figures` | which plots there are, and their captions |
//! | `tables`, `page` | the page around them |
//! | `png` | figures as pixels |

mod column;
mod escape;
mod facts;
mod figures;
mod held_out;
mod number;
mod page;
mod plot;
mod png;
mod sentences;
mod tables;
mod thin;

use std::sync::OnceLock;

use smave::{Dataset, DimensionChoice, Error, Explanation, Model, Result};

use facts::Facts;
use figures::{Figures, Source};
use plot::Plot;

/// A fitted model and its rows, ready to be shown.
#[derive(Debug)]
pub struct Report<'a> {
    model: &'a Model,
    data: &'a Dataset<'a>,
    explanation: Option<&'a Explanation>,
    choice: Option<&'a DimensionChoice>,
    provenance: Provenance,
    title: Option<String>,
    /// Computed at the first need: page and figures share it.
    facts: OnceLock<Facts>,
}

/// Where a result comes from, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provenance {
    /// The file the rows were read from.
    pub data: Option<String>,
    /// The command that gives the same result again.
    pub command: Option<String>,
    /// Values that were missing.
    pub n_missing: Option<usize>,
    /// Rows that were left out.
    pub n_dropped: Option<usize>,
    /// Columns that were left out.
    pub dropped_columns: Vec<String>,
}

/// One figure of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// A name without blanks, good for a file: `summary`, `loadings-1`, `dimension`, ...
    pub name: String,
    /// The figure as an SVG file.
    pub svg: String,
}

impl Figure {
    /// The figure as a PNG file, two pixels per unit of the SVG.
    ///
    /// # Errors
    /// When it cannot be drawn, for lack of memory.
    pub fn png(&self) -> Result<Vec<u8>> {
        png::png(&self.name, &self.svg)
    }
}

impl<'a> Report<'a> {
    /// A report on `model` with the rows of `data`, usually those it was fitted to. Other rows are told apart, and said
    /// to be so.
    pub fn new(model: &'a Model, data: &'a Dataset<'a>) -> Self {
        Self {
            model,
            data,
            explanation: None,
            choice: None,
            provenance: Provenance::default(),
            title: None,
            facts: OnceLock::new(),
        }
    }

    /// Adds intervals and p-values.
    pub fn explanation(mut self, explanation: &'a Explanation) -> Self {
        self.explanation = Some(explanation);
        self
    }

    /// Adds the choice of the dimension.
    pub fn dimension(mut self, choice: &'a DimensionChoice) -> Self {
        self.choice = Some(choice);
        self
    }

    /// Adds where the rows come from, and how to make the result again.
    pub fn provenance(mut self, provenance: Provenance) -> Self {
        self.provenance = provenance;
        self
    }

    /// Sets the title; without it, it names the responses.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// The page, one file with everything in it.
    ///
    /// # Errors
    /// When the data have other covariates or responses than the model, or the explanation is of another model.
    pub fn html(&self) -> Result<String> {
        self.with_source(|source, figures| {
            let names: Vec<&str> = source.facts.responses.iter().map(|r| r.name.as_str()).collect();
            let title = format!("Sufficient dimension reduction of {}", names.join(", "));
            page::page(self.title.as_deref().unwrap_or(&title), source, &figures, &self.provenance)
        })
    }

    /// The figures of the page, in its order.
    ///
    /// # Errors
    /// As [`Report::html`].
    pub fn figures(&self) -> Result<Vec<Figure>> {
        self.with_source(|_, figures| {
            let plots = figures.into_plots().into_iter();
            plots.map(|plot| Figure { svg: plot.standalone(), name: plot.name }).collect()
        })
    }

    /// The sufficient summary plot: each response against the first direction, and beside it, where there are two, the first
    /// two directions colored by it.
    ///
    /// # Errors
    /// As [`Report::html`].
    pub fn summary(&self) -> Result<Figure> {
        let columns = self.model.reduction.n_components().min(2);
        self.with_source(|_, figures| {
            let plots: Vec<Plot> = figures.summary.into_iter().map(|captioned| captioned.plot).collect();
            let svg = Plot::together("Sufficient summary plot", &plots, columns);
            Figure { svg, name: "summary".into() }
        })
    }

    fn with_source<T>(&self, make: impl FnOnce(&Source<'_>, Figures) -> T) -> Result<T> {
        let facts = match self.facts.get() {
            Some(facts) => facts,
            None => {
                let facts = Facts::new(self.model, self.data)?;
                self.facts.get_or_init(|| facts)
            }
        };
        let order = self.ranking()?;
        let columns = facts.columns(self.data, &order)?;
        let source = Source {
            model: self.model,
            data: self.data,
            explanation: self.explanation,
            choice: self.choice,
            facts,
            order: &order,
            columns: &columns,
        };
        Ok(make(&source, Figures::draw(source)))
    }

    /// Places of the covariates, most relevant first.
    fn ranking(&self) -> Result<Vec<usize>> {
        let reduction = &self.model.reduction;
        let (p, d) = (reduction.n_features(), reduction.n_components());
        let Some(explanation) = self.explanation else {
            let mut order: Vec<usize> = (0..p).collect();
            let relevance: Vec<f64> = order.iter().map(|&i| figures::relevance(self.model, i)).collect();
            order.sort_by(|&a, &b| relevance[b].total_cmp(&relevance[a]));
            return Ok(order);
        };
        let expect = |what: &str, expected, found| {
            if expected == found {
                Ok(())
            } else {
                Err(Error::ShapeMismatch { what: what.into(), expected, found })
            }
        };
        expect("covariates of the explanation against those of the model", p, explanation.covariates.len())?;
        for covariate in &explanation.covariates {
            expect("directions of the explanation against those of the model", d, covariate.loadings.len())?;
        }
        Ok(explanation.ranking())
    }
}
