//! What a cell of a text file says.

/// The contents of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A finite number.
    Number(f64),
    /// Nothing, or a word for it.
    Missing,
    /// An infinity, or a number beyond the largest that exists.
    NotFinite(&'a [u8]),
    /// Anything else.
    Text(&'a [u8]),
}

/// Words for a value that is not there.
const MISSING: [&str; 9] = ["na", "n/a", "nan", "null", "none", "nil", ".", "?", "-"];

impl<'a> Cell<'a> {
    /// Reads a cell, white space around it aside; `decimal_comma` if numbers are written 3,14.
    pub fn parse(cell: &'a [u8], decimal_comma: bool) -> Self {
        let cell = cell.trim_ascii();
        if cell.is_empty() {
            return Cell::Missing;
        }
        let parsed = if decimal_comma && cell.contains(&b',') {
            let dotted: Vec<u8> = cell.iter().map(|&b| if b == b',' { b'.' } else { b }).collect();
            fast_float2::parse::<f64, _>(dotted)
        } else {
            fast_float2::parse::<f64, _>(cell)
        };
        match parsed {
            Ok(value) if value.is_finite() => Cell::Number(value),
            Ok(value) if value.is_infinite() => Cell::NotFinite(cell),
            _ if MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes())) => Cell::Missing,
            _ => Cell::Text(cell),
        }
    }
}

/// Whether a text looks like a date, with or without a time: 2024-05-31, 31/5/2024 10:00, 2024-05-31T10:00.
pub fn is_date(text: &str) -> bool {
    let day = text.split([' ', 'T']).next().unwrap_or("");
    ['-', '/', '.'].into_iter().any(|separator| {
        let parts: Vec<&str> = day.split(separator).collect();
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        let short = |part: &str| (1..=2).contains(&part.len());
        match parts[..] {
            [a, b, c] if digits(a) && digits(b) && digits(c) && short(b) => {
                (a.len() == 4 && short(c)) || (short(a) && (c.len() == 4 || c.len() == 2))
            }
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_missing_or_text() {
        let parse = |text: &'static str| Cell::parse(text.as_bytes(), false);
        assert_eq!(parse(" -1.5e3\r"), Cell::Number(-1500.0));
        assert_eq!(parse("+7"), Cell::Number(7.0));
        for missing in ["", "  ", "NA", "n/a", "NaN", "null", ".", "?"] {
            assert_eq!(parse(missing), Cell::Missing, "{missing}");
        }
        for endless in ["inf", "-Infinity", "1e999"] {
            assert_eq!(parse(endless), Cell::NotFinite(endless.as_bytes()));
        }
        for text in ["red", "3,14", "1 2", "0x10", "5%"] {
            assert_eq!(parse(text), Cell::Text(text.as_bytes()));
        }
        assert_eq!(Cell::parse(b"3,25", true), Cell::Number(3.25));
    }

    #[test]
    fn dates_are_told_from_numbers_and_codes() {
        for date in ["2024-05-31", "31/5/2024", "1.2.2020", "2024-05-31T10:00:00Z", "01/12/17 08:30"] {
            assert!(is_date(date), "{date}");
        }
        for other in ["A-1-2", "1.2.3.4", "2024", "12-34", "555-123-4567", "red", ""] {
            assert!(!is_date(other), "{other}");
        }
    }
}
