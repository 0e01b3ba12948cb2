//! The number of directions: found where there are some, none where there is nothing.

use std::ops::ControlFlow;

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{Dataset, Error, SelectDimension};

fn two_directions(link: Link, seed: u64) -> Dataset<'static> {
    let made = Simulation::new(link, Covariance::Ar1, 800, 8).seed(seed).draw().unwrap();
    Dataset::new(made.x, made.y).unwrap()
}

#[test]
fn two_directions_are_counted_by_all_three_criteria() {
    for link in [Link::Interaction, Link::Rational] {
        let choice = SelectDimension::new(4).repeats(1).run(&two_directions(link, 1)).unwrap();
        assert_eq!((choice.chosen, choice.curve.len()), (2, 5), "{link}: {:?}", choice.curve);
        assert_eq!(choice.ladle.unwrap().chosen, 2, "{link}");
        assert_eq!(choice.augmentation.unwrap().chosen, 2, "{link}");
        assert!(choice.nested.is_none());
    }
}

#[test]
fn pure_noise_has_no_directions() {
    for seed in 0..3 {
        let made = Simulation::new(Link::Polynomial, Covariance::Ar1, 400, 6).seed(seed).draw().unwrap();
        let other =
            Simulation::new(Link::Sinusoidal, Covariance::Ar1, 400, 6).seed(100 + seed).draw().unwrap();
        let noise = Dataset::new(made.x, other.y).unwrap();
        let choice = SelectDimension::new(3).repeats(1).second_opinions(false).run(&noise).unwrap();
        assert_eq!(choice.chosen, 0, "{:?}", choice.curve);
    }
}

/// The noise has variance 0.25, which no honest error can be below by more than chance; without the choice of d
/// there is hardly a difference here, so the nested error must be near the curve's.
#[test]
fn the_nested_error_is_that_of_rows_not_seen() {
    let data = two_directions(Link::Interaction, 3);
    let choice = SelectDimension::new(3).repeats(1).nested(true).second_opinions(false).run(&data).unwrap();
    let nested = choice.nested.unwrap();
    assert_eq!(nested.dims, [2; 5]);
    let least = choice.curve[choice.least];
    assert!(
        (nested.error - least.error).abs() < 3.0 * least.standard_error,
        "{} {}",
        nested.error,
        least.error
    );
    assert!(nested.error > 0.2 && choice.ladle.is_none());
}

#[test]
fn threads_do_not_show_and_cancelling_works() {
    let data = two_directions(Link::Exponential, 4);
    let select = SelectDimension::new(2).repeats(1).folds(3);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| select.run(&data)).unwrap();
    assert_eq!(one, pool(3).install(|| select.run(&data)).unwrap());
    let stop_early = |done: usize, total: usize| {
        assert_eq!(total, 4);
        if done < 1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    assert!(matches!(select.run_watched(&data, &stop_early, None), Err(Error::Cancelled)));
}

#[test]
fn impossible_candidates_are_refused() {
    let data = two_directions(Link::Exponential, 5);
    for (select, text) in [
        (SelectDimension::new(0), "to 0 dimensions"),
        (SelectDimension::new(9), "to 9 dimensions"),
        (SelectDimension::new(2).folds(1), "folds = 1"),
        (SelectDimension::new(2).repeats(0), "repeats = 0"),
    ] {
        let message = select.run(&data).unwrap_err().to_string();
        assert!(message.contains(text), "{message}");
    }
    // As many directions as covariates, where nothing can be left over.
    let made = Simulation::new(Link::Rational, Covariance::Identity, 200, 2).seed(1).draw().unwrap();
    let small = Dataset::new(made.x, made.y).unwrap();
    assert!(SelectDimension::new(2).repeats(1).run(&small).unwrap().chosen <= 2);
}
