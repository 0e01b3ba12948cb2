//! An axis: a range that holds the values, and round numbers along it.

use crate::number::{at_place, exponent};

/// Share of the range left free at each end, so that no point sits on the frame.
const MARGIN: f64 = 0.03;

/// Beyond this, differences of two values may not be numbers any more.
const LARGEST: f64 = 1e300;

/// A range of values with ticks at round numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Where the ticks are.
    pub ticks: Vec<f64>,
    /// Ticks are multiples of ten to this power.
    place: i32,
}

impl Axis {
    /// An axis that holds the finite ones of some values, with about `n_ticks` ticks.
    pub fn covering(values: impl IntoIterator<Item = f64>, n_ticks: usize) -> Self {
        let finite = values.into_iter().filter(|v| v.is_finite());
        let (mut low, mut high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v.clamp(-LARGEST, LARGEST)), high.max(v.clamp(-LARGEST, LARGEST)))
        });
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let size = low.abs().max(high.abs());
        // Values that differ by little more than rounding are one value, which needs room around it.
        if high - low <= size * 1e-9 || high - low < 1e-290 {
            let room = if size < 1e-280 { 0.5 } else { size * 0.1 };
            (low, high) = (low - room, high + room);
        }
        let margin = MARGIN * (high - low);
        Self::between(low - margin, high + margin, n_ticks)
    }

    /// An axis from `low` to `high`, which is larger by more than rounding.
    pub fn between(low: f64, high: f64, n_ticks: usize) -> Self {
        let (step, place) = round_step((high - low) / n_ticks.max(1) as f64);
        let (first, last) = ((low / step).ceil(), (high / step).floor());
        // Numbered, not added up: sums of steps would drift off the round numbers.
        let ticks = (0..=(last - first) as usize).map(|i| (first + i as f64) * step).collect();
        Self { low, high, ticks, place }
    }

    /// An axis of whole numbers.
    pub fn whole(low: usize, high: usize, n_ticks: usize) -> Self {
        // Of large numbers round ones are kept, of small ones all.
        let step = round_step(((high - low) as f64 / n_ticks.max(1) as f64).max(1.0)).0 as usize;
        let ticks = (low.next_multiple_of(step)..=high).step_by(step).map(|v| v as f64).collect();
        let room = (MARGIN * (high - low) as f64).max(0.4);
        Self { low: low as f64 - room, high: high as f64 + room, ticks, place: 0 }
    }

    /// The same with whole numbers of one's own choice as ticks.
    pub fn with_ticks(mut self, ticks: impl Into<Vec<f64>>) -> Self {
        (self.ticks, self.place) = (ticks.into(), 0);
        self
    }

    /// How a tick is written.
    pub fn label(&self, tick: f64) -> String {
        at_place(tick, self.place)
    }

    /// Where a value lies, from 0 at the lower end to 1 at the upper.
    pub fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }
}

/// Of 1, 2, 5 times a power of ten the nearest to `about`, by ratio, and the power.
fn round_step(about: f64) -> (f64, i32) {
    let place = exponent(about);
    // A quotient, where it can be one, is the double nearest to 0.1, 0.2, 0.5, ...
    let power = |place: i32| if place < 0 { 1.0 / 10f64.powi(-place) } else { 10f64.powi(place) };
    let lead = about / power(place);
    // The bounds are geometric means of neighbors: of 1 and 2, 2 and 5, 5 and 10.
    match [2f64, 10.0, 50.0].iter().filter(|bound| lead > bound.sqrt()).count() {
        0 => (power(place), place),
        1 => (2.0 * power(place), place),
        2 => (5.0 * power(place), place),
        _ => (power(place + 1), place + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_range() {
        let ranges = [
            (0.0, 1.0),
            (-3.7, 12.9),
            (1e6, 1e6 + 0.3),
            (-1e-9, 2e-9),
            (-1e250, 1e251),
            (3.0, 3.0),
            (0.0, 0.0),
            (f64::MIN, f64::MAX),
            (5e-324, 1e-323),
            (1.0, 1.0 + f64::EPSILON),
            (-1e300, -1e300),
        ];
        for (low, high) in ranges {
            let axis = Axis::covering([low, high], 5);
            assert!((2..=12).contains(&axis.ticks.len()), "{low} {high} {axis:?}");
            let step = axis.ticks[1] - axis.ticks[0];
            let lead = step / 10f64.powf(step.log10().floor());
            assert!([1.0, 2.0, 5.0, 10.0].iter().any(|d| (lead - d).abs() < 1e-3 * d), "{low} {high} {lead}");
            assert!(axis.ticks[0] - axis.low <= step && axis.high - axis.ticks.last().unwrap() <= step);
            assert!(axis.ticks.iter().all(|t| (axis.low..=axis.high).contains(t)));
            if high.abs() < LARGEST {
                assert!(axis.low < low && axis.high > high, "{low} {high} {axis:?}");
                assert!((0.0..=1.0).contains(&axis.share(low)) && (0.0..=1.0).contains(&axis.share(high)));
            }
        }
        assert_eq!(Axis::between(0.0, 1.0, 5).ticks, [0.0, 0.2, 0.4, 3.0 * 0.2, 0.8, 1.0]);
    }

    #[test]
    fn labels_are_short_and_tell_ticks_apart() {
        let axis = Axis::covering([0.0, 1.0], 5);
        let labels: Vec<String> = axis.ticks.iter().map(|&t| axis.label(t)).collect();
        assert_eq!(labels, ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        let axis = Axis::covering([1e6, 1e6 + 0.3], 4);
        let labels: Vec<String> = axis.ticks.iter().map(|&t| axis.label(t)).collect();
        assert!(labels.windows(2).all(|w| w[0] != w[1]), "{labels:?}");
    }

    #[test]
    fn no_values_and_whole_numbers_have_axes() {
        assert_eq!(Axis::covering([f64::NAN], 4), Axis::covering([0.0, 1.0], 4));
        assert_eq!(Axis::whole(0, 3, 8).ticks, [0.0, 1.0, 2.0, 3.0]);
        assert_eq!(Axis::whole(0, 20, 5).ticks, [0.0, 5.0, 10.0, 15.0, 20.0]);
        assert_eq!(Axis::whole(0, 1, 5).ticks, [0.0, 1.0]);
        assert_eq!(Axis::whole(1, 1, 5).ticks, [1.0]);
    }
}
