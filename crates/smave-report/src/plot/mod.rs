//! A small plotting kit that writes SVG by hand.
//!
//! A [`Plot`] has two forms. Within the page it takes colors from the variables of the page, and its size from the
//! column it stands in; as a file of its own it carries the same rules with colors written in. Nothing in it needs a
//! script.

pub mod axis;
pub mod color;
pub mod dots;
pub mod frame;
pub mod line;
pub mod scatter;
pub mod text;

use std::fmt::Write;

use crate::escape::markup;
use color::{STEPS, Scheme, variables};
use text::{BOLD, TITLE, fit};

/// Width of every plot, in its own units: a unit is about 0.8 pixels on a phone, a pixel and more on a desk.
pub const WIDTH: f64 = 440.0;

/// Rules for the parts of plots, shared by page and files.
const RULES: &str = include_str!("plot.css");

/// A plot under construction, or done.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Short and without blanks: the name of a file, or an identifier on the page.
    pub name: String,
    title: String,
    description: String,
    height: f64,
    body: String,
    /// What the script of the page must know, as attributes of the root.
    attributes: String,
}

/// Where a text is anchored.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

impl Plot {
    /// An empty plot with its title. The description is for those who cannot see it.
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        description: impl Into<String>,
        height: f64,
    ) -> Self {
        let title = title.into();
        let mut plot = Self {
            name: name.into(),
            title: title.clone(),
            description: description.into(),
            height,
            body: String::new(),
            attributes: String::new(),
        };
        plot.text(0.0, 17.0, "title", Anchor::Start, &fit(&title, BOLD * TITLE, WIDTH));
        plot
    }

    /// Sets a data attribute of the root.
    pub fn attribute(&mut self, name: &str, value: &str) {
        let _ = write!(self.attributes, " data-{name}=\"{}\"", markup(value));
    }

    /// Writes text with its baseline at y.
    pub fn text(&mut self, x: f64, y: f64, class: &str, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let _ = write!(
            self.body,
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{}</text>",
            markup(text)
        );
    }

    /// Draws a straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        let _ = write!(self.body, "<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>");
    }

    /// Draws a line through points.
    pub fn path(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let mut d = String::new();
        for (x, y) in points {
            let _ = write!(d, "{}{x:.1} {y:.1}", if d.is_empty() { "M" } else { "L" });
        }
        let _ = write!(self.body, "<path class=\"{class}\" d=\"{d}\"/>");
    }

    /// Draws a circle.
    pub fn circle(&mut self, class: &str, center: (f64, f64), radius: f64) {
        let (x, y) = center;
        let _ = write!(self.body, "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>");
    }

    /// Appends what is already SVG.
    pub fn raw(&mut self, svg: &str) {
        self.body.push_str(svg);
    }

    /// The plot within a page.
    pub fn inline(&self) -> String {
        let Self { name, attributes, body, height, .. } = self;
        format!(
            "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
             aria-labelledby=\"{name}-title {name}-desc\"{attributes}>\
             <title id=\"{name}-title\">{}</title><desc id=\"{name}-desc\">{}</desc>{body}</svg>",
            markup(&self.title),
            markup(&self.description)
        )
    }

    /// The plot as a file of its own, on white.
    pub fn standalone(&self) -> String {
        file(&self.title, &self.description, WIDTH, self.height, &self.body)
    }

    /// Plots as one file, on white: so many side by side, the others below.
    pub fn together(title: &str, plots: &[Self], columns: usize) -> String {
        let mut body = String::new();
        let (mut wide, mut high) = (WIDTH, 0.0);
        for row in plots.chunks(columns.max(1)) {
            let top = if high > 0.0 { high + GAP } else { 0.0 };
            for (place, plot) in row.iter().enumerate() {
                let left = place as f64 * (WIDTH + GAP);
                let _ = write!(body, "<g transform=\"translate({left} {top})\">{}</g>", plot.body);
                (wide, high) = (wide.max(left + WIDTH), high.max(top + plot.height));
            }
        }
        let descriptions: Vec<&str> = plots.iter().map(|plot| &plot.description[..]).collect();
        file(title, &descriptions.join(" "), wide, high, &body)
    }
}

/// Between plots in one file.
const GAP: f64 = 32.0;

/// A file of that size, colors filled in.
fn file(title: &str, description: &str, width: f64, height: f64, body: &str) -> String {
    let mut rules = rules();
    for (name, color) in variables(Scheme::Light) {
        rules = rules.replace(&format!("var(--{name})"), &color);
    }
    let (wide, high) = (width + 16.0, height + 16.0);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" viewBox=\"-8 -8 {wide} {high}\" \
         width=\"{wide}\" height=\"{high}\"><title>{}</title><desc>{}</desc><style>{rules}</style>\
         <rect x=\"-8\" y=\"-8\" width=\"{wide}\" height=\"{high}\" fill=\"#ffffff\"/>{body}</svg>\n",
        markup(title),
        markup(description)
    )
}

/// All rules for the parts of plots, colors by variable.
pub fn rules() -> String {
    let mut rules = RULES.to_string();
    for step in 0..STEPS {
        let _ = write!(rules, ".plot .c{step}{{stroke:var(--c{step})}}");
        let _ = write!(rules, ".plot rect.c{step}{{fill:var(--c{step});stroke:none}}");
    }
    rules
}
