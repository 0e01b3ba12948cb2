//! Figures as pixels.
//!
//! The font travels with the crate, so that a figure looks the same on a machine with no fonts; those of the machine
//! are asked only for characters that it lacks.

use std::io;
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use smave::{Error, Result};

/// Pixels per unit: enough for print at the width of a column.
const SCALE: f32 = 2.0;

/// Whether the font has a character: Latin, Greek, Cyrillic and a few signs, to be sure.
fn is_embedded(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{17f}' | '\u{370}'..='\u{45f}') || "‐–—‘’“”•…′←↑→↓−≈≤≥\u{fffd}".contains(c)
}

/// Draws `svg`, whose `name` an error tells.
pub fn png(name: &str, svg: &str) -> Result<Vec<u8>> {
    let fail = |reason: String| Error::Io {
        action: "draw",
        path: format!("{name}.png").into(),
        source: io::Error::other(reason),
    };
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.load_font_data(dejavu::sans::bold().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    if !svg.chars().all(is_embedded) {
        fonts.load_system_fonts();
    }
    let options =
        Options { font_family: "DejaVu Sans".into(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| fail(error.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixels = Pixmap::new(width, height)
        .ok_or_else(|| fail(format!("{width} x {height} pixels are no picture")))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| fail(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many pixels are dark.
    fn ink(svg: &str) -> usize {
        let png = png("test", svg).unwrap();
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        let pixels = Pixmap::decode_png(&png).unwrap();
        pixels.pixels().iter().filter(|p| p.alpha() > 200 && p.red() < 100).count()
    }

    #[test]
    fn text_is_drawn_and_so_is_a_point() {
        let page = |body: &str| {
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 90 40\" width=\"90\" height=\"40\">{body}</svg>"
            )
        };
        assert_eq!(ink(&page("")), 0);
        assert!(ink(&page("<text x=\"5\" y=\"20\" font-size=\"14\">β = 0.5</text>")) > 100);
        let point = "<path d=\"M20 20h.01\" stroke=\"black\" stroke-width=\"8\" stroke-linecap=\"round\"/>";
        assert!((150..260).contains(&ink(&page(point))));
    }

    #[test]
    fn what_is_not_svg_is_an_error() {
        assert!(png("bad", "<svg").unwrap_err().to_string().contains("cannot draw bad.png"));
    }
}
