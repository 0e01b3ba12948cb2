//! Numbers as people read them: short, and no shorter than they need to be.

/// Plain notation up to here; beyond, powers of ten.
const LARGEST_PLAIN: i32 = 6;

/// The exponent of the leading digit of a number that is not zero.
pub fn exponent(value: f64) -> i32 {
    // A denormal number has a logarithm too.
    value.abs().log10().floor() as i32
}

/// A number to four significant digits.
pub fn short(value: f64) -> String {
    if value == 0.0 { "0".into() } else { at_place(value, exponent(value) - 3) }
}

/// A number to three significant digits, for a sentence.
pub fn brief(value: f64) -> String {
    if value == 0.0 { "0".into() } else { at_place(value, exponent(value) - 2) }
}

/// A number rounded to a multiple of ten to the power of `place`, without trailing zeros.
pub fn at_place(value: f64, place: i32) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value == 0.0 || value.abs() < 0.5 * 10f64.powi(place) {
        return "0".into();
    }
    let leading = exponent(value);
    if (-6..=LARGEST_PLAIN).contains(&place) && leading <= LARGEST_PLAIN {
        return trimmed(&format!("{:.*}", (-place).max(0) as usize, value)).into();
    }
    // Doubles have no more than 17 digits.
    let digits = (leading - place).clamp(0, 16) as usize;
    let text = format!("{value:.digits$e}");
    match text.split_once('e') {
        Some((mantissa, power)) => format!("{}e{power}", trimmed(mantissa)),
        None => text,
    }
}

fn trimmed(number: &str) -> &str {
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    if number == "-0" { "0" } else { number }
}

/// Numbers of one column of a table: to the same decimals, so that they can be compared by eye. A zero is a zero, and
/// what the decimals would leave nothing of is written on its own.
pub fn aligned(values: &[f64]) -> Vec<String> {
    let largest = values.iter().filter(|v| v.is_finite()).fold(0.0, |most: f64, v| most.max(v.abs()));
    let place = if largest > 0.0 { exponent(largest) - 3 } else { 0 };
    let written = |&v: &f64| {
        if (-6..=0).contains(&place) && v.is_finite() && v.abs() >= 0.5 * 10f64.powi(place) {
            format!("{v:.*}", -place as usize)
        } else {
            short(v)
        }
    };
    values.iter().map(written).collect()
}

/// The place to which values that spread over `low` to `high` are written: about five digits of the spread.
pub fn place(low: f64, high: f64) -> i32 {
    // Halves first: the spread of huge values may not be a number.
    let spread = 2.0 * (high / 2.0 - low / 2.0).min(f64::MAX / 4.0);
    let size = low.abs().max(high.abs());
    if spread > size * 1e-12 && spread > 0.0 {
        exponent(spread) - 4
    } else if size > 0.0 {
        exponent(size) - 5
    } else {
        0
    }
}

/// A count with thousands set apart.
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `n` things, with their noun in the right number.
pub fn counted(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (0.123456, "0.1235"),
            (-12.5, "-12.5"),
            (123456.0, "123456"),
            (1.5e9, "1.5e9"),
            (-2.00001e-12, "-2e-12"),
            (5e-324, "4.941e-324"),
            (f64::MAX, "1.798e308"),
            (f64::NAN, "–"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn places_follow_the_spread() {
        assert_eq!(at_place(1000.12345, place(1000.0, 1000.9)), "1000.12345");
        assert_eq!(at_place(12345.678, place(-50_000.0, 50_000.0)), "12346");
        assert_eq!(at_place(1e-9, place(-1.0, 1.0)), "0");
        assert_eq!(at_place(7.0, place(7.0, 7.0)), "7");
        assert!(at_place(f64::MAX, place(f64::MIN, f64::MAX)).parse::<f64>().unwrap() > 1e308);
        assert_eq!(place(0.0, 0.0), 0);
    }

    #[test]
    fn columns_have_the_same_decimals() {
        assert_eq!(aligned(&[0.9025, -0.4, 0.0, 7.1e-4, 2e-9]), ["0.9025", "-0.4000", "0", "0.0007", "2e-9"]);
        assert_eq!(aligned(&[12.0, 0.5, f64::NAN]), ["12.00", "0.50", "–"]);
        assert_eq!(aligned(&[1.5e9, 2.0]), ["1.5e9", "2"]);
        assert_eq!(aligned(&[0.0]), ["0"]);
        assert!(aligned(&[]).is_empty());
    }

    #[test]
    fn counts_have_separators_and_plurals() {
        assert_eq!((count(7), count(1234), count(1234567)), ("7".into(), "1,234".into(), "1,234,567".into()));
        assert_eq!((counted(1, "row"), counted(2000, "row")), ("1 row".into(), "2,000 rows".into()));
    }
}
