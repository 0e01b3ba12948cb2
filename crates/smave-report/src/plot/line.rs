//! Curves: prediction error by dimension, and the course of the iterations.

use smave::select::DimensionError;
use smave::{DimensionChoice, Iteration};

use super::axis::Axis;
use super::frame::Frame;
use super::{Anchor, Plot, WIDTH};
use crate::number::{counted, short};

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
    frame.draw(&mut plot, "number of directions", "mean squared error", WIDTH);
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

/// What a trace shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traced {
    /// How far the subspace turned in each iteration, in degrees.
    Turn,
    /// The objective.
    Objective,
}

/// The course of a fit, and what is shown of it; `None` if there is nothing to draw.
///
/// Where every iteration renews the neighborhoods, objectives are of different neighborhoods and make no curve. How
/// far the subspace turned does, and it is what ends such a fit: below `tolerance`, in radians, if it is known.
pub fn trace(iterations: &[Iteration], tolerance: Option<f64>) -> Option<(Plot, Traced)> {
    let turns = iterations.iter().all(|step| step.moved.is_some_and(f64::is_finite));
    let traced = if turns { Traced::Turn } else { Traced::Objective };
    let value = |step: &Iteration| match traced {
        Traced::Turn => step.moved.unwrap_or(f64::NAN).to_degrees(),
        Traced::Objective => step.objective,
    };
    let every = iterations.len().div_ceil(MAX_POINTS).max(1);
    let all = iterations.iter().enumerate().map(|(i, step)| (i, value(step)));
    let steps: Vec<(usize, f64)> = all.filter(|(_, value)| value.is_finite()).collect();
    let (first, last) = (steps.first()?, steps.last()?);
    let (title, label, told) = match traced {
        Traced::Turn => (
            "How far the subspace turned",
            "angle, degrees",
            "The angle by which the subspace turned, in degrees,",
        ),
        Traced::Objective => ("Objective by iteration", "explained local variance", "The objective"),
    };
    let description = format!(
        "{told} over {}, from {} to {}.",
        counted(iterations.len(), "iteration"),
        short(first.1),
        short(last.1)
    );
    let mut plot = Plot::new("trace", title, description, HEIGHT);
    // The last one is where the fit ended, and always drawn.
    let drawn =
        steps.iter().step_by(every).chain(steps.last().filter(|_| !(steps.len() - 1).is_multiple_of(every)));
    let points: Vec<(f64, f64)> = drawn.map(|&(i, value)| (i as f64, value)).collect();
    let bound =
        tolerance.filter(|v| traced == Traced::Turn && *v > 0.0 && v.is_finite()).map(f64::to_degrees);
    let zero = (traced == Traced::Turn).then_some(0.0);
    let y = Axis::covering(points.iter().map(|p| p.1).chain(zero).chain(bound), 5);
    let frame = Frame::new(Axis::whole(0, last.0, 6), y, HEIGHT);
    frame.draw(&mut plot, "iteration", label, WIDTH);
    if let Some(bound) = bound {
        plot.line("dash", frame.at(frame.x.low, bound), frame.at(frame.x.high, bound));
    }
    plot.path("trace", points.iter().map(|&(x, y)| frame.at(x, y)));
    if points.len() <= 60 {
        points.iter().for_each(|&(x, y)| plot.circle("dot", frame.at(x, y), 3.0));
    }
    Some((plot, traced))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(iteration: usize, moved: Option<f64>) -> Iteration {
        Iteration { iteration, objective: 0.5, gradient_norm: 0.1, moved }
    }

    #[test]
    fn a_curve_is_drawn_of_what_can_be_compared() {
        let turning: Vec<Iteration> = (0..4).map(|i| step(i, Some(0.1 / (i + 1) as f64))).collect();
        let (plot, traced) = trace(&turning, Some(0.02)).unwrap();
        assert_eq!(traced, Traced::Turn);
        assert!(plot.inline().contains("class=\"dash\""));
        let some: Vec<Iteration> = (0..4).map(|i| step(i, (i == 3).then_some(0.1))).collect();
        assert_eq!(trace(&some, Some(0.02)).unwrap().1, Traced::Objective);
        assert!(trace(&[], None).is_none());
    }
}
