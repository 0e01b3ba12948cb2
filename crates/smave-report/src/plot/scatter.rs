//! Points in the plane, colored by a third quantity.
//!
//! Points of a color share a path: a browser draws twenty thousand points in a hundred elements at once, where as many
//! circles would take it seconds. The rows are dealt out to a few layers, each with all colors, so that no color lies on
//! top of all others.

use std::fmt::Write;

use super::axis::Axis;
use super::color::{STEPS, steps_by_rank};
use super::frame::Frame;
use super::text::{TICK, fit, width};
use super::{Anchor, Plot, WIDTH};
use crate::column::Column;

/// Layers that rows are dealt out to; the script of the page does the same.
const LAYERS: usize = 8;

/// The line above the frame belongs to the label of the y axis up to here, and from here to the legend; the script of
/// the page knows it, too.
const LEGEND: f64 = 172.0;

/// Height of a scatter plot.
const HEIGHT: f64 = 380.0;

/// A line that points are compared with.
#[derive(Clone, Debug)]
pub enum Guide {
    /// None.
    None,
    /// A curve.
    Curve(Vec<(f64, f64)>),
    /// Where y = x.
    Diagonal,
    /// Where y = 0.
    Zero,
}

/// What to draw.
#[derive(Clone, Debug)]
pub struct Scatter<'a> {
    pub name: String,
    pub title: String,
    pub description: String,
    pub x: &'a Column,
    pub y: &'a Column,
    pub color: &'a Column,
    pub guide: Guide,
    /// The response it is about.
    pub response: usize,
}

impl Scatter<'_> {
    /// The plot.
    pub fn draw(&self) -> Plot {
        let curve = if let Guide::Curve(points) = &self.guide { &points[..] } else { &[] };
        let x = Axis::covering(self.x.values.iter().copied(), 6);
        let y = Axis::covering(self.y.values.iter().copied().chain(curve.iter().map(|p| p.1)), 6);
        let mut plot = Plot::new(&*self.name, &*self.title, &*self.description, HEIGHT);
        let frame = Frame::new(x, y, HEIGHT);
        frame.draw(&mut plot, &self.x.name, &self.y.name, LEGEND - 8.0);
        let width = self.stroke_width();
        plot.raw(&self.points(&frame, width));
        match &self.guide {
            Guide::None => {}
            Guide::Curve(points) => plot.path("curve", points.iter().map(|&(x, y)| frame.at(x, y))),
            Guide::Diagonal => {
                let (low, high) = (frame.x.low.max(frame.y.low), frame.x.high.min(frame.y.high));
                if low < high {
                    plot.line("dash", frame.at(low, low), frame.at(high, high));
                }
            }
            Guide::Zero => plot.line("dash", frame.at(frame.x.low, 0.0), frame.at(frame.x.high, 0.0)),
        }
        self.draw_legend(&mut plot);
        for (name, value) in [("x", &self.x.key), ("y", &self.y.key), ("color", &self.color.key)] {
            plot.attribute(name, value);
        }
        plot.attribute("response", &self.response.to_string());
        let Frame { x, y, left, right, top, bottom } = &frame;
        plot.attribute("ax", &format!("[{:e},{:e},{left},{right}]", x.low, x.high));
        plot.attribute("ay", &format!("[{:e},{:e},{bottom},{top}]", y.low, y.high));
        plot
    }

    /// Many points are small, few are large.
    fn stroke_width(&self) -> f64 {
        match self.x.values.len() {
            0..=300 => 7.0,
            301..=3000 => 5.0,
            _ => 3.5,
        }
    }

    fn points(&self, frame: &Frame, width: f64) -> String {
        let mut paths = vec![String::new(); LAYERS * STEPS];
        let steps = steps_by_rank(&self.color.values);
        for (i, ((&x, &y), step)) in self.x.values.iter().zip(&self.y.values).zip(steps).enumerate() {
            let (x, y) = frame.at(x, y);
            // A line of almost no length has round ends, and looks like a point.
            let _ = write!(paths[i % LAYERS * STEPS + step], "M{x:.1} {y:.1}h.01");
        }
        let mut out = format!("<g class=\"points\" stroke-width=\"{width}\">");
        for (place, d) in paths.iter().enumerate().filter(|(_, d)| !d.is_empty()) {
            let step = place % STEPS;
            let _ = write!(out, "<path class=\"c{step}\" d=\"{d}\"/>");
        }
        out + "</g>"
    }

    /// The name of the color column and its range, above the frame at the right.
    fn draw_legend(&self, plot: &mut Plot) {
        let (bar, y) = (64.0, 30.0);
        let (low, high) = self.color.range();
        let high = self.color.written(high);
        // Whole units, or seams show between the steps.
        let right = (WIDTH - 13.0 - width(&high, TICK)).floor();
        let start = right - bar - 5.0;
        let low = format!(": {}", self.color.written(low));
        let name = fit(&self.color.name, TICK, start - LEGEND - width(&low, TICK));
        plot.raw("<g class=\"legend\"><g class=\"scale\">");
        plot.text(start, y + 10.0, "tick", Anchor::End, &format!("{name}{low}"));
        for step in 0..STEPS {
            let each = bar / STEPS as f64;
            let x = right - bar + step as f64 * each;
            plot.raw(&format!(
                "<rect class=\"c{step}\" x=\"{x}\" y=\"{y}\" width=\"{each}\" height=\"11\"/>"
            ));
        }
        plot.raw("</g>");
        plot.text(WIDTH - 8.0, y + 10.0, "tick", Anchor::End, &high);
        plot.raw("</g>");
    }
}
