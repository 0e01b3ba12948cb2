//! Curves: prediction error by dimension, and the objective by iteration.

use smave::select::DimensionError;
use smave::{DimensionChoice, Iteration};

use super::axis::Axis;
use super::frame::Frame;
use super::{Anchor, Plot};
use crate::number::short;

const HEIGHT: f64 = 300.0;

/// Points of a trace, at the most: a line on a page has no more places.
const MAX_POINTS: usize = 2000;

/// Mean squared error with its standard error, by dimension; the dimension chosen is marked.
pub fn dimension(choice: &DimensionChoice) -> Plot {
    let description = format!(
        "Cross-validated mean squared error by number of directions, with one standard error up and down; {} chosen.",
        choice.chosen
    );
    let mut plot = Plot::new("dimension", "Prediction error by number of directions", description, HEIGHT);
    // An error too large to be a number has no place in the plot.
    let finite = |at: &&DimensionError| at.error.is_finite() && at.standard_error.is_finite();
    let curve: Vec<&DimensionError> = choice.curve.iter().filter(finite).collect();
    let dims = || choice.curve.iter().map(|at| at.dim);
    let x = Axis::whole(dims().min().unwrap_or(0), dims().max().unwrap_or(0), 12);
    let ends =
        choice.curve.iter().flat_map(|at| [at.error - at.standard_error, at.error + at.standard_error]);
    let frame = Frame::new(x, Axis::covering(ends, 5), HEIGHT);
    frame.draw(&mut plot, "number of directions", "mean squared error", 50);
    if let Some(least) = curve.iter().find(|at| at.dim == choice.least) {
        let bound = least.error + least.standard_error;
        plot.line("dash", frame.at(frame.x.low, bound), frame.at(frame.x.high, bound));
    }
    plot.path("trace", curve.iter().map(|at| frame.at(at.dim as f64, at.error)));
    for at in curve {
        let d = at.dim as f64;
        plot.line(
            "bar",
            frame.at(d, at.error - at.standard_error),
            frame.at(d, at.error + at.standard_error),
        );
        plot.circle("dot", frame.at(d, at.error), 3.5);
        if at.dim == choice.chosen {
            let (x, y) = frame.at(d, at.error);
            plot.circle("mark", (x, y), 8.0);
            // Above the mark and to its right, where a curve that falls leaves room.
            let (x, anchor) =
                if x > 0.8 * frame.right { (x + 8.0, Anchor::End) } else { (x - 2.0, Anchor::Start) };
            plot.text(x, (y - 14.0).max(frame.top + 10.0), "marked", anchor, "chosen");
        }
    }
    plot
}

/// The objective by iteration; `None` if there is nothing to draw.
pub fn trace(iterations: &[Iteration]) -> Option<Plot> {
    let every = iterations.len().div_ceil(MAX_POINTS).max(1);
    let finite = |(_, step): &(usize, &Iteration)| step.objective.is_finite();
    let steps: Vec<(usize, &Iteration)> = iterations.iter().enumerate().filter(finite).collect();
    let (first, last) = (steps.first()?, steps.last()?);
    let description = format!(
        "The objective over {} iterations, from {} to {}; larger is better.",
        iterations.len(),
        short(first.1.objective),
        short(last.1.objective)
    );
    let mut plot = Plot::new("trace", "Objective by iteration", description, HEIGHT);
    // The last one is where the fit ended, and always drawn.
    let drawn =
        steps.iter().step_by(every).chain(steps.last().filter(|_| !(steps.len() - 1).is_multiple_of(every)));
    let points: Vec<(f64, f64)> = drawn.map(|(i, step)| (*i as f64, step.objective)).collect();
    let frame = Frame::new(Axis::whole(0, last.0, 6), Axis::covering(points.iter().map(|p| p.1), 5), HEIGHT);
    frame.draw(&mut plot, "iteration", "explained local variance", 50);
    plot.path("trace", points.iter().map(|&(x, y)| frame.at(x, y)));
    if points.len() <= 60 {
        points.iter().for_each(|&(x, y)| plot.circle("dot", frame.at(x, y), 2.2));
    }
    Some(plot)
}
