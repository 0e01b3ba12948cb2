//! What a reader should conclude, and what not, in plain sentences driven by the numbers.

use smave::estimator::reduction::AGREEMENT;
use smave::optim::StopReason;
use smave::predict::Calibration;
use smave::{DimensionChoice, Explanation};

use crate::facts::{Accuracy, Response};
use crate::figures::Source;
use crate::held_out::Origin;
use crate::number::{brief, count, counted};

/// Below this a p-value is called evidence.
const SIGNIFICANT: f64 = 0.05;

/// Names in a list, at the most.
const NAMES: usize = 8;

/// A sentence, and whether it is a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    pub text: String,
    pub warning: bool,
}

fn say(text: String) -> Sentence {
    Sentence { text, warning: false }
}

fn warn(text: String) -> Sentence {
    Sentence { text, warning: true }
}

/// What the fit supports.
pub fn conclusions(source: &Source<'_>) -> Vec<Sentence> {
    let reduction = &source.model.reduction;
    let (d, p) = (reduction.n_components(), reduction.n_features());
    let mut out = vec![say(format!(
        "{} {} reduced to {}, by the method “{}” from {}.",
        counted(p, "covariate"),
        if p == 1 { "was" } else { "were" },
        counted(d, "direction"),
        reduction.method(),
        counted(reduction.n_samples(), "row")
    ))];
    for (j, response) in source.facts.responses.iter().enumerate() {
        prediction(source, j, response, &mut out);
    }
    covariates(source, &mut out);
    if let Some(explanation) = source.explanation {
        angles(explanation, &mut out);
    }
    stability(source, &mut out);
    if let Some(choice) = source.choice {
        dimension(choice, d, &mut out);
    }
    if d == p && p > 1 {
        out.push(warn("There are as many directions as covariates: nothing was reduced.".into()));
    }
    out
}

fn prediction(source: &Source<'_>, j: usize, response: &Response, out: &mut Vec<Sentence>) {
    let name = &response.name;
    let Some(Accuracy { error, r2, leave_one_out }) = response.accuracy else {
        out.push(warn(format!("How well {name} is predicted cannot be told from these rows.")));
        return;
    };
    let origin = response.predicted.as_ref().map(|predicted| predicted.origin);
    let how = match (leave_one_out, origin) {
        (true, _) => "leave-one-out".into(),
        (_, Some(Origin::NewRows)) => "on rows the model was not fitted to".into(),
        (_, Some(Origin::Folds(folds))) => format!("{folds} folds"),
        _ => "in-sample, which flatters".into(),
    };
    let rmse = brief(error.max(0.0).sqrt());
    if r2 <= 0.0 {
        out.push(warn(format!(
            "{name} is predicted no better than by its mean ({how}; root mean squared error {rmse}): the directions \
             are of no use for prediction."
        )));
    } else {
        let r2_text = brief((100.0 * r2).round());
        let one = source.model.reduction.n_components() == 1;
        let them = if one { "It predicts" } else { "Together they predict" };
        let text = format!(
            "{them} {r2_text}% of the variance of {name} ({how}; root mean squared error {rmse}, in units of {name})."
        );
        out.push(if r2 < 0.1 { warn(format!("{text} That is little.")) } else { say(text) });
    }
    if let Some(predictor) = source.model.predictors.get(j) {
        let calibration = match predictor.calibration() {
            Calibration::HeldOut => "from rows set aside for it",
            _ => "from leave-one-out errors",
        };
        if let Ok(half) = predictor.half_width(0.9) {
            let half = brief(half);
            out.push(say(format!(
                "A new value of {name} lies within {half} of its prediction in about 90% of cases ({calibration})."
            )));
        }
    }
    if let Some(outside) = response.predicted.as_ref().map(|p| p.n_outside).filter(|n| *n > 0) {
        let rows = counted(outside, "row");
        out.push(warn(format!(
            "{rows} of those shown lie outside of the rows the model was fitted to: predictions of {name} there are \
             extrapolation."
        )));
    }
}

/// The names at some places, not too many of them.
fn list(source: &Source<'_>, places: &[usize]) -> String {
    let names = source.model.reduction.names();
    let mut named: Vec<String> = places.iter().take(NAMES).map(|&i| names[i].clone()).collect();
    if places.len() > NAMES {
        named.push(format!("and {} more", count(places.len() - NAMES)));
    }
    named.join(", ")
}

fn covariates(source: &Source<'_>, out: &mut Vec<Sentence>) {
    let p = source.order.len();
    let Some(explanation) = source.explanation else {
        let top = list(source, &source.order[..p.min(5)]);
        out.push(say(format!(
            "Most relevant: {top}. No intervals or tests were computed, so chance is not ruled out for any of them."
        )));
        return;
    };
    let evident: Vec<usize> =
        source.order.iter().copied().filter(|&i| explanation.covariates[i].p_value <= SIGNIFICANT).collect();
    match evident.len() {
        0 => out.push(warn(format!(
            "No covariate has a p-value of {SIGNIFICANT} or less: the data do not say which ones matter."
        ))),
        m => {
            let rest = match p - m {
                0 => String::new(),
                1 => " The data show no effect of the other one.".into(),
                rest => format!(" The data show no effect of the other {}.", count(rest)),
            };
            let verb = if m == 1 { "matters" } else { "matter" };
            out.push(say(format!(
                "{} {verb} (p ≤ {SIGNIFICANT}, most relevant first): {}.{rest}",
                counted(m, "covariate"),
                list(source, &evident)
            )));
        }
    }
}

fn angles(explanation: &Explanation, out: &mut Vec<Sentence>) {
    let Some(largest) = explanation.angles.last().map(|angle| angle.to_degrees()) else { return };
    let text = format!(
        "The true subspace lies within {}° of the one found ({}% level, bootstrap).",
        brief(largest.round()),
        brief(100.0 * explanation.level)
    );
    let wide = largest > AGREEMENT.to_degrees();
    out.push(if wide {
        warn(format!("{text} That is wide: at least one direction is not well determined."))
    } else {
        say(text)
    });
}

fn stability(source: &Source<'_>, out: &mut Vec<Sentence>) {
    let reduction = &source.model.reduction;
    let (agreeing, all) = (reduction.n_agreeing(), reduction.starts().len());
    if all > 1 {
        let text = format!("{agreeing} of {all} starts ended at this subspace.");
        if agreeing == 1 {
            out.push(warn(format!(
                "{text} No other start supports it: fit again with other seeds or more starts before trusting it."
            )));
        } else if 2 * agreeing < all {
            out.push(warn(format!(
                "{text} Fewer than half: there may be another subspace that is almost as good."
            )));
        } else {
            out.push(say(format!("{text} It does not depend on where the search began.")));
        }
    }
    let turn = reduction.trace().last().and_then(|step| step.moved).unwrap_or(0.0);
    if turn > AGREEMENT && reduction.stop_reason() != StopReason::Cancelled {
        out.push(warn(format!(
            "The last iteration still turned the subspace by {}°: it is not well determined.",
            brief(turn.to_degrees().round())
        )));
    }
    match reduction.stop_reason() {
        StopReason::Cancelled => out.push(warn("The fit was cancelled before it ended.".into())),
        StopReason::MaxIterations if !reduction.trace().is_empty() => {
            out.push(say("The fit used all its iterations; see below whether it had settled.".into()));
        }
        _ => {}
    }
}

fn dimension(choice: &DimensionChoice, d: usize, out: &mut Vec<Sentence>) {
    let chosen = choice.chosen;
    if chosen == d {
        out.push(say(format!("Cross-validation chooses {}, as fitted.", counted(chosen, "direction"))));
    } else if chosen == 0 {
        out.push(warn("Cross-validation finds no signal: it prefers the mean to any direction.".into()));
    } else {
        let verb = if d == 1 { "was" } else { "were" };
        out.push(warn(format!(
            "Cross-validation chooses {}, while {d} {verb} fitted.",
            counted(chosen, "direction")
        )));
    }
    let largest = choice.curve.iter().map(|at| at.dim).max().unwrap_or(0);
    if chosen == largest && chosen > 0 {
        out.push(warn(format!("{chosen} is the largest number of directions tried: more may be needed.")));
    }
    let ladle = choice.ladle.as_ref().map(|ladle| ("the ladle", ladle.chosen));
    let augmentation = choice.augmentation.as_ref().map(|other| ("predictor augmentation", other.chosen));
    let others: Vec<String> = (ladle.into_iter().chain(augmentation))
        .filter(|(_, other)| *other != chosen)
        .map(|(name, other)| format!("{name} says {other}"))
        .collect();
    if !others.is_empty() {
        out.push(warn(format!("A second opinion differs: {}.", others.join(", "))));
    }
    if let Some(nested) = &choice.nested {
        out.push(say(format!(
            "Choice and fit together have a mean squared error of {} ± {} on rows that neither has seen.",
            brief(nested.error),
            brief(nested.standard_error)
        )));
    }
}

/// What the fit does not support.
pub fn caveats(source: &Source<'_>) -> Vec<String> {
    let reduction = &source.model.reduction;
    let mut out = vec![
        "That a covariate causes the response. Association is not causation, and a covariate may stand for another one \
         that was not measured."
            .to_string(),
    ];
    out.push(if reduction.n_components() == 1 {
        "That the sign of the direction means something. It is chosen so that the largest loading is positive.".into()
    } else {
        "That single directions mean something of their own. They are one basis of a subspace: signs and rotations are \
         arbitrary, only the span is identified."
            .into()
    });
    let scaled = reduction.standardization().scale().iter().any(|scale| *scale != 1.0);
    out.push(if scaled {
        "That relevance is a property of a covariate alone. It holds for covariates scaled as in the fit (here to unit \
         variance), and is shared among covariates that go together."
            .into()
    } else {
        "That relevance is a property of a covariate alone. Covariates were not scaled, so it changes with their units, \
         and it is shared among covariates that go together."
            .to_string()
    });
    let held_out = |response: &Response| {
        response.predicted.as_ref().is_some_and(|predicted| predicted.origin == Origin::NewRows)
    };
    if !source.facts.responses.iter().all(held_out) {
        out.push(
            "That new rows are predicted as well as these. The directions have seen every row, so the leave-one-out \
             error is slightly optimistic; rows set aside give an honest one."
                .into(),
        );
    }
    if source.explanation.is_some() {
        let p = reduction.n_features();
        let by_chance = SIGNIFICANT * p as f64;
        let tests = if by_chance >= 1.0 {
            format!(
                " Of {} tests, about {} fall below {SIGNIFICANT} by chance alone.",
                count(p),
                by_chance.round()
            )
        } else {
            String::new()
        };
        out.push(format!(
            "That a large p-value shows no effect, or a small one a large effect. Each tests no effect given the other \
             covariates.{tests}"
        ));
    }
    out.push(
        "That predictions hold far from the data. Beyond the rows fitted to they are held within the range of the \
         response and flagged as outside."
            .into(),
    );
    out
}
