//! One line for each name, with a dot and perhaps whiskers: loadings and starts.

use smave::estimator::reduction::{AGREEMENT, Start};
use smave::uncertainty::Interval;

use super::axis::Axis;
use super::text::{LABEL, TICK, fit, width};
use super::{Anchor, Plot, WIDTH};
use crate::number::{aligned, short};

/// Height of a line.
const LINE: f64 = 22.0;

/// Room for names, at the most.
const NAMES: f64 = 165.0;

const TOP: f64 = 34.0;
const BELOW: f64 = 46.0;

/// One line of the plot.
#[derive(Clone, Debug)]
pub struct Dot {
    pub name: String,
    pub value: Interval,
    /// Drawn full, not hollow.
    pub full: bool,
    /// Said at the right.
    pub note: String,
}

/// Lines with dots against a common axis.
struct Dots<'a> {
    dots: &'a [Dot],
    axis: Axis,
    label: &'a str,
    /// Values at which a dashed line is drawn.
    guide: f64,
}

impl Dots<'_> {
    fn height(&self) -> f64 {
        TOP + LINE * self.dots.len() as f64 + BELOW
    }

    fn draw(&self, plot: &mut Plot) {
        let names: Vec<String> = self.dots.iter().map(|dot| fit(&dot.name, LABEL, NAMES)).collect();
        let left = names.iter().map(|name| width(name, LABEL)).fold(30.0, f64::max) + 10.0;
        let right = WIDTH - 8.0 - self.dots.iter().map(|dot| width(&dot.note, TICK)).fold(0.0, f64::max);
        let bottom = TOP + LINE * self.dots.len() as f64;
        let at = |value: f64| left + self.axis.share(value) * (right - left);
        for &tick in &self.axis.ticks {
            plot.line("grid", (at(tick), TOP), (at(tick), bottom));
            let label = self.axis.label(tick);
            // The last label must not stick out of the plot.
            let x = at(tick).min(WIDTH - 0.5 * width(&label, TICK));
            plot.text(x, bottom + 17.0, "tick", Anchor::Middle, &label);
        }
        plot.line("frame", (left, bottom), (right, bottom));
        plot.line("dash", (at(self.guide), TOP), (at(self.guide), bottom));
        for (i, (dot, name)) in self.dots.iter().zip(&names).enumerate() {
            let y = TOP + LINE * (i as f64 + 0.5);
            plot.text(left - 8.0, y + 4.5, "name", Anchor::End, name);
            let Interval { estimate, low, high } = dot.value;
            if !(estimate.is_finite() && low.is_finite() && high.is_finite()) {
                continue;
            }
            if low < high {
                plot.line("bar", (at(low), y), (at(high), y));
            }
            plot.circle(if dot.full { "dot" } else { "hollow" }, (at(estimate), y), 4.0);
            if !dot.note.is_empty() {
                plot.text(WIDTH - 2.0, y + 4.5, "note", Anchor::End, &dot.note);
            }
        }
        plot.text(0.5 * (left + right), bottom + 37.0, "label", Anchor::Middle, self.label);
    }
}

/// The loadings of one direction, most relevant covariate first; `scaled` if covariates were, to unit variance.
pub fn loadings(direction: usize, dots: &[Dot], scaled: bool) -> Plot {
    let ends = dots.iter().flat_map(|dot| [dot.value.low, dot.value.high, dot.value.estimate]);
    let axis = Axis::covering(ends.chain([0.0]), 6);
    let label = if scaled { "loading, per standard deviation" } else { "loading, per unit" };
    let dots = Dots { dots, axis, label, guide: 0.0 };
    let said: Vec<String> =
        (dots.dots.iter().take(5)).map(|dot| format!("{} {}", dot.name, short(dot.value.estimate))).collect();
    let description = format!("Loadings of the most relevant covariates: {}.", said.join(", "));
    let title = format!("Loadings of direction {direction}");
    let mut plot = Plot::new(format!("loadings-{direction}"), title, description, dots.height());
    dots.draw(&mut plot);
    plot
}

/// How far from the subspace found each start ended, best first; `None` if there are none.
pub fn starts(starts: &[Start], most: usize) -> Option<Plot> {
    let shown: Vec<&Start> = starts.iter().filter(|start| start.angle.is_finite()).take(most).collect();
    let errors = aligned(&shown.iter().map(|start| start.loo_error).collect::<Vec<f64>>());
    let dots: Vec<Dot> = (shown.iter().zip(errors))
        .map(|(start, error)| {
            let angle = start.angle.to_degrees();
            Dot {
                name: start.name.clone(),
                value: Interval { estimate: angle, low: angle, high: angle },
                full: start.angle < AGREEMENT,
                note: format!("error {error}"),
            }
        })
        .collect();
    if dots.is_empty() {
        return None;
    }
    let dots = Dots {
        dots: &dots,
        axis: Axis::between(-3.0, 93.0, 3).with_ticks([0.0, 30.0, 60.0, 90.0]),
        label: "angle to the subspace found, degrees",
        guide: AGREEMENT.to_degrees(),
    };
    let agreeing = starts.iter().filter(|start| start.angle < AGREEMENT).count();
    let description = format!(
        "Angle between where each of {} starts ended and the subspace found; {agreeing} agree with it.",
        starts.len()
    );
    let mut plot = Plot::new("starts", "Where the starts ended", description, dots.height());
    dots.draw(&mut plot);
    Some(plot)
}
