//! The sufficient summary plot: y against the first direction, and the first
//! two directions colored by y; for each response a line of its own.

use std::path::Path;

use anyhow::{Result, bail};
use kuva::backend::svg::SvgBackend;
use kuva::plot::{ColorMap, ScatterPlot};
use kuva::render::figure::Figure;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;
use smave::Points;
use smave::data::Responses;
use smave::file::write_atomically;

/// More points than this hide each other and make the file slow to open.
const MAX_POINTS: usize = 3000;

/// Refuses a file name that promises another format, before any work is done for it.
pub fn check_name(path: &Path) -> Result<()> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension) if extension.eq_ignore_ascii_case("svg") => Ok(()),
        _ => bail!("{}: figures are written as SVG; give a name that ends in .svg", path.display()),
    }
}

/// Writes the plot for coordinates `z` and the responses, whose names `targets` are.
pub fn summary_plot(path: &Path, z: &Points, responses: Responses<'_>, targets: &[String]) -> Result<()> {
    check_name(path)?;
    let (mut panels, mut layouts) = (Vec::new(), Vec::new());
    for (y, target) in responses.iter().zip(targets) {
        let (plots, around) = panels_of(z, y, target);
        panels.extend(plots);
        layouts.extend(around);
    }
    let rows = targets.len();
    let columns = panels.len() / rows.max(1);
    let scene = Figure::new(rows, columns)
        .with_plots(panels)
        .with_layouts(layouts)
        .with_figure_size(450.0 * columns as f64, 380.0 * rows as f64)
        .render();
    let svg = SvgBackend.render_scene(&scene);
    write_atomically(path, |out| out.write_all(svg.as_bytes()))?;
    Ok(())
}

/// The panels of one response.
fn panels_of(z: &Points, y: &[f64], target: &str) -> (Vec<Vec<Plot>>, Vec<Layout>) {
    // Every so many-th row, so that the picture of ordered data is not of its beginning alone.
    let every = z.len().div_ceil(MAX_POINTS);
    let rows: Vec<usize> = (0..z.len()).step_by(every).collect();
    let colors = colors_by_rank(&rows.iter().map(|&i| y[i]).collect::<Vec<_>>());
    let points = |x: usize, value: &dyn Fn(usize) -> f64| {
        let data: Vec<(f64, f64)> = rows.iter().map(|&i| (z.point(i)[x], value(i))).collect();
        Plot::Scatter(
            ScatterPlot::new()
                .with_data(data)
                .with_colors(colors.clone())
                .with_size(2.2)
                .with_marker_opacity(0.75),
        )
    };
    let mut panels = vec![vec![points(0, &|i| y[i])]];
    let mut labels =
        vec![(format!("{target} against the first direction"), "direction 1", target.to_string())];
    if z.dim() > 1 {
        panels.push(vec![points(0, &|i| z.point(i)[1])]);
        labels.push((
            format!("first two directions, colored by {target}"),
            "direction 1",
            "direction 2".into(),
        ));
    }
    let layouts = (panels.iter().zip(labels))
        .map(|(plots, (title, x, y))| {
            Layout::auto_from_plots(plots)
                .with_title(title)
                .with_title_size(15)
                .with_x_label(x)
                .with_y_label(y)
        })
        .collect();
    (panels, layouts)
}

/// Viridis by rank: a few extreme responses must not wash out the others.
fn colors_by_rank(values: &[f64]) -> Vec<String> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut colors = vec![String::new(); values.len()];
    let last = values.len().saturating_sub(1).max(1) as f64;
    for (rank, &i) in order.iter().enumerate() {
        colors[i] = ColorMap::Viridis.map(rank as f64 / last);
    }
    colors
}
