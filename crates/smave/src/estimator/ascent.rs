//! One ascent on frozen neighborhoods: what refined MAVE and SMAVE do between two renewals.

use crate::error::{Error, Result};
use crate::linalg::Mat;
use crate::local::neighborhoods::Neighborhoods;
use crate::manifold::subspace::largest_angle;
use crate::objective::mave::{MaveObjective, Scratch};
use crate::optim::lbfgs::Lbfgs;

/// How far an ascent goes.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// Steps at the most.
    pub steps: usize,
    /// The gain, relative to the value, below which it ends.
    pub gain: f64,
}

/// Where an ascent led.
pub(crate) struct Ascended {
    pub basis: Mat<f64>,
    /// The average explained local variance, and the norm of its gradient.
    pub value: f64,
    pub gradient_norm: f64,
    /// The largest angle by which the subspace turned.
    pub turned: f64,
}

/// Ascends from `b`; covariates in `out` stay as they are. `iteration` is for the error.
///
/// # Errors
/// When the criterion is not a finite number.
pub(crate) fn ascend(
    objective: &MaveObjective<'_>,
    b: &Mat<f64>,
    hoods: &Neighborhoods,
    out: &[usize],
    effort: Effort,
    lbfgs: &mut Lbfgs,
    iteration: usize,
) -> Result<Ascended> {
    let entries: Vec<usize> = (0..hoods.len()).collect();
    // Averages, so that what is learned with few anchors is of use with all.
    let share = 1.0 / hoods.total_weight();
    let mut scratch = Scratch::default();
    let evaluate = |b: &Mat<f64>| {
        let found = objective.evaluate_with(b.as_ref(), hoods, &entries, &mut scratch);
        let mut gradient = found.gradient * faer::Scale(share);
        for &i in out {
            gradient.row_mut(i).fill(0.0);
        }
        (share * found.value, gradient)
    };
    let ascent = lbfgs.maximize(evaluate, b.clone(), effort.steps, effort.gain);
    let (value, gradient_norm) = (ascent.value, ascent.gradient_norm);
    if !(value.is_finite() && gradient_norm.is_finite()) {
        return Err(Error::NotFinite { what: "the criterion", iteration });
    }
    let turned = largest_angle(b.as_ref(), ascent.basis.as_ref())?;
    Ok(Ascended { basis: ascent.basis, value, gradient_norm, turned })
}
