//! One quantity at the rows shown, with what a page says about it.

use crate::escape::json_string;
use crate::number::{at_place, place};

/// A named quantity at the rows shown.
#[derive(Clone, Debug)]
pub struct Column {
    /// How the script refers to it.
    pub key: String,
    /// How the reader knows it.
    pub name: String,
    /// Its values.
    pub values: Vec<f64>,
    /// The response it belongs to, if to one only.
    pub response: Option<usize>,
    place: i32,
}

impl Column {
    /// A quantity.
    pub fn new(
        key: impl Into<String>,
        name: impl Into<String>,
        values: Vec<f64>,
        response: Option<usize>,
    ) -> Self {
        let (low, high) = range(&values);
        Self { key: key.into(), name: name.into(), values, response, place: place(low, high) }
    }

    /// The least and the largest value; zeros if there are none.
    pub fn range(&self) -> (f64, f64) {
        range(&self.values)
    }

    /// A value as short as its spread allows, for a label.
    pub fn written(&self, value: f64) -> String {
        at_place(value, self.place + 2)
    }

    /// The column as JSON for a script element, values to five digits of their spread.
    pub fn json(&self) -> String {
        let written = |&v: &f64| if v.is_finite() { at_place(v, self.place) } else { "null".into() };
        let values: Vec<String> = self.values.iter().map(written).collect();
        format!(
            "{{\"key\":{},\"name\":{},\"response\":{},\"values\":[{}]}}",
            json_string(&self.key),
            json_string(&self.name),
            self.response.map_or("null".into(), |r| r.to_string()),
            values.join(",")
        )
    }
}

fn range(values: &[f64]) -> (f64, f64) {
    let extremes =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    if extremes.0 > extremes.1 { (0.0, 0.0) } else { extremes }
}
