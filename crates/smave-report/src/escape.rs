//! Text from data, made harmless in markup.
//!
//! Column names come from files and may hold anything: quotes, angle brackets, line breaks, characters that XML forbids.

/// `text` as the content of an element or of a quoted attribute, on one line.
pub fn markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\r' | '\t' => out.push(' '),
            // XML has no way to write these, not even escaped.
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            // A change of the writing direction would spill into the text that follows.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c => out.push(c),
        }
    }
    out
}

/// JSON that can stand within a script element: nothing in it can end the element, or begin a comment.
pub fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // These occur within strings only, where any character may be written by its number.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// A string as JSON for a script element.
pub fn json_string(text: &str) -> String {
    json(&serde_json::Value::from(text).to_string())
}

/// `text` cut to about so many letters of common width; what is wider counts twice.
pub fn clip(text: &str, width: usize) -> String {
    let wide = |c: char| if (c as u32) < 0x1100 { 1 } else { 2 };
    if text.chars().map(wide).sum::<usize>() <= width {
        return text.into();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let fits = wide(*c) <= left;
        left = left.saturating_sub(wide(*c));
        fits
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_cannot_be_broken_out_of() {
        let hostile = "</script><b a=\"1\" c='2'>&\n\u{1}\u{202e}é😀";
        let safe = markup(hostile);
        assert!(!safe.contains(['<', '>', '"', '\'', '\n', '\u{1}', '\u{202e}']), "{safe}");
        assert!(safe.ends_with("é😀"));
        let document = format!("<a b=\"{safe}\">{safe}</a>");
        assert!(roxmltree::Document::parse(&document).is_ok());
    }

    #[test]
    fn json_cannot_end_its_script_and_reads_back_the_same() {
        let hostile = "</script><!-- \"quoted\" \\ \u{2028} & 😀\n";
        let safe = json_string(hostile);
        assert!(!safe.contains(['<', '>', '&', '\u{2028}', '\n']), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), hostile);
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(clip("漢字漢字", 6), "漢字…");
        assert_eq!(clip("ab", 0), "…");
    }
}
