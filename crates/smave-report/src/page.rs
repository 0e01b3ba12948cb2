//! The page: sections in order, with style, script and data inside.

use std::fmt::Write;

use crate::Provenance;
use crate::escape::{clip, json_string, markup};
use crate::figures::{Captioned, Figures, Source};
use crate::plot::color::{Scheme, variables};
use crate::plot::rules;
use crate::sentences::{caveats, conclusions};
use crate::tables;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole page.
pub fn page(title: &str, source: &Source<'_>, figures: &Figures, provenance: &Provenance) -> String {
    let title = markup(title);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<main>\n<header>\n<h1>{title}</h1>\n</header>\n{}</main>\n\
         <div id=\"tip\" role=\"status\" hidden></div>\n\
         <script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        style(),
        sections(source, figures, provenance),
        data(source, provenance)
    )
}

fn style() -> String {
    let set = |scheme| {
        variables(scheme).iter().fold(String::new(), |all, (name, color)| all + &format!("--{name}:{color};"))
    };
    let (light, dark) = (set(Scheme::Light), set(Scheme::Dark));
    // Paper is white, whatever the screen was.
    format!(
        ":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{}\n{STYLE}",
        rules()
    )
}

fn sections(source: &Source<'_>, figures: &Figures, provenance: &Provenance) -> String {
    let mut out = String::new();
    section(&mut out, "conclusions", "What to conclude", &conclusion_lists(source));
    let summary = format!("{}{}", color_choice(source), gallery(&figures.summary));
    section(&mut out, "summary", "Sufficient summary", &summary);
    let loadings = format!("{}{}", gallery(&figures.loadings), tables::covariates(source));
    section(&mut out, "loadings", "Covariates and their loadings", &loadings);
    if let Some(dimension) = &figures.dimension {
        section(&mut out, "choice", "How many directions", &gallery(std::slice::from_ref(dimension)));
    }
    let convergence = match figures.convergence.is_empty() {
        true => "<p>The method does not iterate and has no starts.</p>".into(),
        false => format!("{}{}", gallery(&figures.convergence), tables::starts(source)),
    };
    section(&mut out, "convergence", "Convergence and starts", &convergence);
    let predictions = match figures.predictions.is_empty() {
        true => "<p>There are too few rows to predict any of them.</p>".into(),
        false => gallery(&figures.predictions),
    };
    section(&mut out, "predictions", "Predictions and residuals", &predictions);
    let mut made = String::new();
    if let Some(text) = &provenance.command {
        made.push_str(&commands(text));
    }
    made.push_str(&tables::provenance(source, provenance));
    section(&mut out, "provenance", "How it was made", &made);
    out
}

/// Commands, one a line, to be copied as they are; a long one scrolls, and the keyboard can reach it.
fn commands(text: &str) -> String {
    let what = if text.lines().count() > 1 { "These commands give" } else { "This command gives" };
    let lines: Vec<String> = text.lines().map(|line| format!("<code>{}</code>", markup(line))).collect();
    format!(
        "<p>{what} the same result again:</p><pre tabindex=\"0\" role=\"region\" aria-label=\"Commands\">{}</pre>",
        lines.join("\n")
    )
}

fn section(out: &mut String, id: &str, heading: &str, content: &str) {
    let _ = write!(
        out,
        "<section id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<h2 id=\"{id}-heading\">{heading}</h2>\n{content}\n</section>\n"
    );
}

fn conclusion_lists(source: &Source<'_>) -> String {
    let mut out = String::from("<div class=\"pair\"><ul class=\"conclusions\">");
    for sentence in conclusions(source) {
        let (class, mark) =
            if sentence.warning { (" class=\"warning\"", "<strong>Caution.</strong> ") } else { ("", "") };
        let _ = write!(out, "<li{class}>{mark}{}</li>", markup(&sentence.text));
    }
    out.push_str("</ul><div><h3>What not to conclude</h3><ul class=\"caveats\">");
    for caveat in caveats(source) {
        let _ = write!(out, "<li>{}</li>", markup(&caveat));
    }
    out + "</ul></div></div>"
}

/// Shown by the script: without it there is nothing to choose.
fn color_choice(source: &Source<'_>) -> String {
    let mut out = String::from(
        "<p id=\"color\" hidden><label for=\"color-by\">Color points by</label> \
         <select id=\"color-by\"><option value=\"\">each plot’s own choice</option>",
    );
    for column in source.columns {
        let _ = write!(
            out,
            "<option value=\"{}\">{}</option>",
            markup(&column.key),
            markup(&clip(&column.name, 40))
        );
    }
    out + "</select> <span>Point at a point, or tap it, to see its row and to find it in the other plots. In a plot that \
           has the focus, arrow keys go from point to point.</span></p>"
}

fn gallery(figures: &[Captioned]) -> String {
    let mut out = String::from("<div class=\"gallery\">");
    for Captioned { plot, caption, colored } in figures {
        // Apart from the rest, because the reader may choose another.
        let colored = colored.as_ref().map_or(String::new(), |name| {
            format!(" <span class=\"colored\">Colored by {}, by rank.</span>", markup(name))
        });
        let _ = write!(
            out,
            "\n<figure id=\"{}\">{}<figcaption>{}{colored}</figcaption></figure>",
            plot.name,
            plot.inline(),
            markup(caption)
        );
    }
    out + "</div>"
}

/// What the script reads.
fn data(source: &Source<'_>, provenance: &Provenance) -> String {
    // Without those left out, rows have other numbers than in the file.
    let row = if provenance.n_dropped.unwrap_or(0) > 0 { "row, of those kept" } else { "row" };
    let rows: Vec<String> = source.facts.rows().iter().map(|row| (row + 1).to_string()).collect();
    let columns: Vec<String> = source.columns.iter().map(|column| column.json()).collect();
    format!(
        "{{\"row\":{},\"rows\":[{}],\"columns\":[{}]}}",
        json_string(row),
        rows.join(","),
        columns.join(",\n")
    )
}
