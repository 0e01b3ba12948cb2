//! How wide a text is, about: plots are laid out before any font is at hand.
//!
//! Widths are those of DejaVu Sans, which is wider than what most pages are set in, so that what fits here fits there.

/// Size of the numbers at ticks and of notes.
pub const TICK: f64 = 12.8;

/// Size of names and labels.
pub const LABEL: f64 = 13.0;

/// Size of titles.
pub const TITLE: f64 = 14.5;

/// A bold letter is so much wider.
pub const BOLD: f64 = 1.13;

/// The width of a letter, in sizes of the font.
fn letter(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '\'' | '|' | ' ' | '.' | ',' | ':' | ';' | 'I' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '\\' | '"' => 0.46,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => 1.0,
        '<' | '>' | '=' | '+' | '~' | '#' | '_' | '&' | 'A'..='Z' => 0.84,
        c if (c as u32) < 0x250 => 0.64,
        c if (c as u32) < 0x1100 => 0.8,
        // Han, Hangul, emoji.
        _ => 1.4,
    }
}

/// The width of a text of this size.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(letter).sum::<f64>() * size
}

/// `text` of this size, cut where it is wider than `room`.
pub fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.into();
    }
    let mut left = room - width("…", size);
    let fits = |c: &char| {
        left -= letter(*c) * size;
        left >= 0.0
    };
    let kept: String = text.chars().take_while(fits).collect();
    kept.trim_end().to_string() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_has_the_room_it_was_given() {
        for text in
            ["loading, per standard deviation", "WWWWWWWWWW", "iiiiiiiiiiiiiiiiiii", "größe 漢字 😀😀😀"]
        {
            for room in [20.0, 40.0, 80.0, 1000.0] {
                let cut = fit(text, LABEL, room);
                assert!(width(&cut, LABEL) <= room, "{cut} {room}");
                assert!(cut == text || cut.ends_with('…'));
            }
        }
        assert_eq!(fit("abc def", LABEL, width("abc …", LABEL) + 1.0), "abc…");
        assert_eq!(fit("ab", LABEL, 0.0), "…");
    }
}
