//! The box that points are drawn in: two axes with grid and labels.

use super::axis::Axis;
use super::text::{LABEL, TICK, fit, width};
use super::{Anchor, Plot, WIDTH};

/// A box with two axes, in the units of the plot.
#[derive(Clone, Debug)]
pub struct Frame {
    pub x: Axis,
    pub y: Axis,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    /// A box for a plot of this height, wide enough at its left for the labels of the y axis.
    pub fn new(x: Axis, y: Axis, height: f64) -> Self {
        let longest = y.ticks.iter().map(|&t| width(&y.label(t), TICK)).fold(0.0, f64::max);
        let left = (longest + 12.0).clamp(30.0, 140.0);
        Self { x, y, left, right: WIDTH - 8.0, top: 52.0, bottom: height - 44.0 }
    }

    /// Where a pair of values lies.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (
            self.left + self.x.share(x) * (self.right - self.left),
            self.bottom - self.y.share(y) * (self.bottom - self.top),
        )
    }

    /// Draws grid, ticks and labels. The label of the y axis stands above it, where it can be read without turning,
    /// and has so much room.
    pub fn draw(&self, plot: &mut Plot, x_label: &str, y_label: &str, y_room: f64) {
        for &tick in &self.y.ticks {
            let (_, y) = self.at(self.x.low, tick);
            plot.line("grid", (self.left, y), (self.right, y));
            plot.text(self.left - 6.0, y + 4.0, "tick", Anchor::End, &self.y.label(tick));
        }
        let labels: Vec<String> = self.x.ticks.iter().map(|&t| self.x.label(t)).collect();
        let longest = labels.iter().map(|label| width(label, TICK)).fold(0.0, f64::max);
        let room = (self.right - self.left) / labels.len().max(1) as f64;
        // Labels that would touch are left out, every second or more.
        let every = (((longest + TICK) / room).ceil() as usize).max(1);
        for (i, &tick) in self.x.ticks.iter().enumerate() {
            let (x, _) = self.at(tick, self.y.low);
            plot.line("grid", (x, self.top), (x, self.bottom));
            if i % every == 0 {
                // The last label must not stick out of the plot.
                let x = x.min(WIDTH - 0.5 * width(&labels[i], TICK));
                plot.text(x, self.bottom + 17.0, "tick", Anchor::Middle, &labels[i]);
            }
        }
        plot.path("frame", [(self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)]);
        let middle = 0.5 * (self.left + self.right);
        let x_label = fit(x_label, LABEL, self.right - self.left);
        plot.text(middle, self.bottom + 37.0, "label", Anchor::Middle, &x_label);
        plot.text(0.0, self.top - 12.0, "label", Anchor::Start, &fit(y_label, LABEL, y_room));
    }
}
