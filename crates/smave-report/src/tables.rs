//! Tables: covariates, starts, and how the fit was made.

use std::fmt::Write;

use serde_json::Value;
use smave::Explanation;

use crate::Provenance;
use crate::escape::markup;
use crate::figures::{Source, relevance};
use crate::number::{aligned, count, short};

/// Covariates listed, at the most.
const LISTED: usize = 200;

/// Directions whose loadings are listed, at the most: a wider table is not read.
const DIRECTIONS: usize = 6;

/// A table with more rows scrolls within its box.
const TALL: usize = 40;

/// A table in a box that scrolls sideways when it is too wide, and down when it is long; the keyboard can reach it.
fn boxed(caption: &str, head: &[String], body: &str) -> String {
    let head: String = head.iter().map(|name| format!("<th scope=\"col\">{name}</th>")).collect();
    let caption = markup(caption);
    let tall = if body.matches("<tr>").count() > TALL { " tall" } else { "" };
    format!(
        "<div class=\"wide{tall}\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table>\
         <caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
}

fn cell(out: &mut String, text: &str) {
    let _ = write!(out, "<td>{}</td>", markup(text));
}

/// Covariates, most relevant first.
pub fn covariates(source: &Source<'_>) -> String {
    let reduction = &source.model.reduction;
    let d = reduction.n_components().min(DIRECTIONS);
    let mut head = vec!["Covariate".to_string(), "Relevance".into()];
    if let Some(Explanation { level, .. }) = source.explanation {
        head.extend([format!("{}% interval", short(100.0 * level)), "p\u{2011}value".into()]);
    }
    head.extend((1..=d).map(|j| format!("Loading {j}")));
    let directions = reduction.directions();
    let listed = &source.order[..source.order.len().min(LISTED)];
    let loadings: Vec<Vec<String>> =
        (0..d).map(|j| aligned(&listed.iter().map(|&i| directions[(i, j)]).collect::<Vec<f64>>())).collect();
    let mut body = String::new();
    for (place, &i) in listed.iter().enumerate() {
        let _ = write!(body, "<tr><th scope=\"row\">{}</th>", markup(&reduction.names()[i]));
        match source.explanation.map(|explanation| &explanation.covariates[i]) {
            Some(known) => {
                let relevance = known.relevance;
                cell(&mut body, &thousandths(relevance.estimate));
                let interval = format!("{} to {}", thousandths(relevance.low), thousandths(relevance.high));
                cell(&mut body, &interval);
                cell(&mut body, &p_value(known.p_value));
            }
            None => cell(&mut body, &thousandths(relevance(source.model, i))),
        }
        loadings.iter().for_each(|column| cell(&mut body, &column[place]));
        body.push_str("</tr>");
    }
    let n = source.order.len();
    let listed = if n > LISTED {
        format!("The {LISTED} most relevant of {} covariates", count(n))
    } else {
        "Covariates".into()
    };
    let more =
        if reduction.n_components() > d { format!(" The first {d} directions.") } else { String::new() };
    let caption = format!(
        "{listed}, most relevant first. Relevance is from 0 to 1; loadings are per unit of the covariate as given.{more}"
    );
    boxed(&caption, &head, &body)
}

/// To three decimals, which relevance has use for; but what is zero to the bit, as that of a covariate left out, is 0.
fn thousandths(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.3}") }
}

fn p_value(value: f64) -> String {
    if value < 0.0005 { "<0.001".into() } else { format!("{value:.3}") }
}

/// Starts, best first; empty if there are none.
pub fn starts(source: &Source<'_>) -> String {
    let starts = source.model.reduction.starts();
    if starts.is_empty() {
        return String::new();
    }
    let mut body = String::new();
    let errors = aligned(&starts.iter().take(LISTED).map(|start| start.loo_error).collect::<Vec<f64>>());
    for (start, error) in starts.iter().zip(errors) {
        let _ = write!(body, "<tr><th scope=\"row\">{}</th>", markup(&start.name));
        cell(&mut body, &error);
        cell(&mut body, &format!("{:.1}°", start.angle.to_degrees()));
        cell(&mut body, &start.rungs.to_string());
        body.push_str("</tr>");
    }
    let head = ["Start", "Leave-one-out error", "Angle to the result", "Times refined"].map(String::from);
    boxed("Starts of the search, best first", &head, &body)
}

/// Data, software and settings.
pub fn provenance(source: &Source<'_>, provenance: &Provenance) -> String {
    let reduction = &source.model.reduction;
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.into(), value));
    if let Some(file) = &provenance.data {
        row("Data", file.clone());
    }
    row("Rows fitted to", count(reduction.n_samples()));
    row("Rows of the data given", count(source.data.n_samples()));
    if source.data.weights().is_some() {
        row("Rows counted by weight", count(source.data.n_counted()));
    }
    row("Covariates", count(reduction.n_features()));
    row("Responses", source.facts.responses.iter().map(|r| r.name.as_str()).collect::<Vec<_>>().join(", "));
    if let Some(n) = provenance.n_missing {
        row("Missing values", count(n));
    }
    if let Some(n) = provenance.n_dropped {
        row("Rows left out", count(n));
    }
    if !provenance.dropped_columns.is_empty() {
        row("Columns left out", provenance.dropped_columns.join(", "));
    }
    for warning in source.data.warnings().iter().take(20) {
        row("Note", warning.to_string());
    }
    row("Method", reduction.method().into());
    row("Directions", reduction.n_components().to_string());
    row("Eigenvalues", reduction.eigenvalues().iter().map(|&v| short(v)).collect::<Vec<_>>().join(", "));
    if let Some(k) = reduction.n_neighbors() {
        row("Neighbors in a local regression", count(k));
    }
    row("Seed", reduction.seed().map_or("none".into(), |seed| seed.to_string()));
    row("The fit ended", source.model.reduction.stop_reason().to_string());
    flatten("", &source.model.settings, &mut |name, value| {
        // The commands stand above the table.
        if name != "command" || provenance.command.is_none() {
            row(&format!("Setting: {name}"), value);
        }
    });
    row("Software", format!("smave {}", env!("CARGO_PKG_VERSION")));
    let mut body = String::new();
    for (name, value) in rows {
        let _ = write!(
            body,
            "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td></tr>",
            markup(&name),
            markup(&value)
        );
    }
    boxed("Data, method and settings", &["What".into(), "Value".into()], &body)
}

/// Every value in a tree of settings, with its path.
fn flatten(path: &str, value: &Value, tell: &mut dyn FnMut(&str, String)) {
    let below = |name: &str| if path.is_empty() { name.to_string() } else { format!("{path}.{name}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(name, value)| flatten(&below(name), value, tell)),
        Value::Null if path.is_empty() => {}
        Value::Null => tell(path, "default".into()),
        Value::String(text) => tell(path, text.clone()),
        other => tell(path, other.to_string()),
    }
}
