//! Colors: one list for light and dark pages, and a scale that goes by rank.
//!
//! The page names colors by CSS variables and sets them for each scheme; a figure of its own has the light ones
//! written in, because programs that draw SVG need not know variables. The scale is viridis without the end that
//! the background would swallow: no yellow on white, no violet on black.

/// Steps of the scale.
pub const STEPS: usize = 16;

/// Variable, light, dark.
const THEME: [(&str, &str, &str); 8] = [
    ("paper", "#ffffff", "#15181d"),
    ("panel", "#f5f6f8", "#1e232a"),
    ("ink", "#1b1f24", "#e4e7eb"),
    ("muted", "#5b6470", "#a3acb8"),
    ("grid", "#e3e6ea", "#313842"),
    ("accent", "#b3261e", "#ff8a7a"),
    ("main", "#2a5d9f", "#7fb2ef"),
    ("warn", "#8a5300", "#f0b95a"),
];

/// Viridis at equal distances.
const VIRIDIS: [[f64; 3]; 9] = [
    [68.0, 1.0, 84.0],
    [71.0, 45.0, 123.0],
    [59.0, 82.0, 139.0],
    [44.0, 114.0, 142.0],
    [33.0, 145.0, 140.0],
    [40.0, 174.0, 128.0],
    [94.0, 201.0, 98.0],
    [173.0, 220.0, 48.0],
    [253.0, 231.0, 37.0],
];

/// Viridis at `t` from 0 to 1.
fn viridis(t: f64) -> String {
    let place = t.clamp(0.0, 1.0) * (VIRIDIS.len() - 1) as f64;
    let i = (place as usize).min(VIRIDIS.len() - 2);
    let mix = |c: usize| (VIRIDIS[i][c] + (place - i as f64) * (VIRIDIS[i + 1][c] - VIRIDIS[i][c])).round();
    format!("#{:02x}{:02x}{:02x}", mix(0) as u8, mix(1) as u8, mix(2) as u8)
}

/// A set of colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

/// Each variable and its value.
pub fn variables(scheme: Scheme) -> Vec<(String, String)> {
    let own = THEME.iter().map(|(name, light, dark)| {
        (name.to_string(), if scheme == Scheme::Light { light } else { dark }.to_string())
    });
    let scale = (0..STEPS).map(|step| {
        let t = step as f64 / (STEPS - 1) as f64;
        let t = if scheme == Scheme::Light { 0.82 * t } else { 0.28 + 0.72 * t };
        (format!("c{step}"), viridis(t))
    });
    own.chain(scale).collect()
}

/// The step of each value: equal shares of the values for each, the same for equal values. By rank, because a few
/// extreme values must not wash out the others.
pub fn steps_by_rank(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut steps = vec![0; values.len()];
    let mut first = 0;
    for equal in order.chunk_by(|&a, &b| values[a] == values[b]) {
        let middle = first as f64 + 0.5 * equal.len() as f64;
        let step = (middle / values.len() as f64 * STEPS as f64) as usize;
        equal.iter().for_each(|&row| steps[row] = step.min(STEPS - 1));
        first += equal.len();
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance as in WCAG 2.
    fn luminance(color: &str) -> f64 {
        let part = |i: usize| {
            let v = f64::from(u8::from_str_radix(&color[i..i + 2], 16).unwrap()) / 255.0;
            if v <= 0.03928 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5)
    }

    #[test]
    fn text_and_points_stand_out_from_the_background() {
        for scheme in [Scheme::Light, Scheme::Dark] {
            let colors = variables(scheme);
            let paper = luminance(&colors[0].1);
            for (name, color) in &colors {
                let other = luminance(color);
                let contrast = (paper.max(other) + 0.05) / (paper.min(other) + 0.05);
                // 4.5 is asked of text, less of marks.
                let least = match name.as_str() {
                    "paper" | "panel" | "grid" => continue,
                    name if name.starts_with('c') => 1.7,
                    _ => 4.5,
                };
                assert!(contrast > least, "{scheme:?} {name} {contrast}");
            }
        }
    }

    #[test]
    fn equal_values_have_equal_colors_and_ranks_fill_the_scale() {
        let values: Vec<f64> = (0..160).map(|i| (f64::from(i)).exp()).collect();
        let steps = steps_by_rank(&values);
        assert_eq!((steps[0], steps[80], steps[159]), (0, 8, 15));
        assert_eq!(steps_by_rank(&[3.0, 3.0, 3.0]), [8, 8, 8]);
        assert!(steps_by_rank(&[]).is_empty());
    }
}
