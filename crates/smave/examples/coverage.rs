//! Do intervals cover what they say? Prediction and bootstrap intervals at 90 % and p-values at 5 % on data sets of
//! which the truth is known, two from each of the paper's ten scenarios. Some minutes:
//!
//!     cargo run --release --example coverage

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{Dataset, Estimator, Mat, Model, Regression, Smave, Uncertainty};

const ROWS: usize = 2000;
const COVARIATES: usize = 20;

/// So many out of so many.
#[derive(Default)]
struct Share(usize, usize);

impl Share {
    fn count(&mut self, yes: bool) {
        self.0 += usize::from(yes);
        self.1 += 1;
    }

    fn print(&self, what: &str) {
        println!("{what:<58} {:>6} of {:>6}: {:.1}%", self.0, self.1, 100.0 * self.0 as f64 / self.1 as f64);
    }
}

fn main() -> smave::Result<()> {
    let [mut responses, mut split, mut loadings, mut relevances, mut alarms, mut found]: [Share; 6] =
        Default::default();
    let mut least_and_most = [(1.0, 0.0); 2];
    for link in Link::ALL {
        for covariance in Covariance::ALL {
            for seed in 0..2 {
                // Rows to fit to, to calibrate with, and to predict: the same truth.
                let made = Simulation::new(link, covariance, 4 * ROWS, COVARIATES).seed(seed).draw()?;
                let whole = Dataset::new(made.x, made.y)?;
                let part = |from: usize, to: usize| whole.subset(&(from..to).collect::<Vec<_>>());
                let (data, held_out, new) =
                    (part(0, ROWS)?, part(ROWS, ROWS + 500)?, part(2 * ROWS, 4 * ROWS)?);
                let fit = Smave::new(2).seed(seed).fit(&data)?;
                let mut model = Model::with_predictor(fit.clone(), &data, Regression::LocalLinear)?;
                for (kind, total) in [&mut responses, &mut split].into_iter().enumerate() {
                    if kind == 1 {
                        model.calibrate(&held_out)?;
                    }
                    let half = model.predictor()?.half_width(0.9)?;
                    let mut here = Share::default();
                    for (prediction, y) in model.predict(new.x())?.iter().zip(new.y()) {
                        here.count((prediction.value - y).abs() <= half);
                    }
                    let share = here.0 as f64 / here.1 as f64;
                    let (least, most) = &mut least_and_most[kind];
                    (*least, *most) = (share.min(*least), share.max(*most));
                    (total.0, total.1) = (total.0 + here.0, total.1 + here.1);
                }
                let explained = Uncertainty::new().seed(seed).run(&fit, &data)?;
                let scale = fit.standardization().scale();
                let truth =
                    aligned(&fit.standardization().rescale(made.basis.as_ref()), &fit.basis().to_owned());
                for (i, covariate) in explained.covariates.iter().enumerate() {
                    for (j, interval) in covariate.loadings.iter().enumerate() {
                        loadings.count(interval.covers(truth[(i, j)] / scale[i]));
                    }
                    let size = truth.row(i).norm_l2();
                    relevances.count(covariate.relevance.covers(size));
                    let small = covariate.p_value <= 0.05;
                    if size < 1e-12 { alarms.count(small) } else { found.count(small) }
                }
            }
        }
    }
    responses.print("new responses in 90% intervals, leave-one-out");
    println!("  per data set {:.1}% to {:.1}%", 100.0 * least_and_most[0].0, 100.0 * least_and_most[0].1);
    split.print("new responses in 90% intervals, calibrated on 500 rows");
    println!("  per data set {:.1}% to {:.1}%", 100.0 * least_and_most[1].0, 100.0 * least_and_most[1].1);
    loadings.print("loadings in 90% bootstrap intervals");
    relevances.print("relevances in 90% bootstrap intervals");
    alarms.print("covariates without effect with p at most 0.05");
    found.print("covariates with an effect with p at most 0.05");
    Ok(())
}

/// The orthonormal basis of span(`truth`) nearest to `estimate`.
fn aligned(truth: &Mat<f64>, estimate: &Mat<f64>) -> Mat<f64> {
    let truth = smave::linalg::orthonormalize(truth.as_ref()).expect("a true basis has full rank");
    let svd = (truth.transpose() * estimate).svd().expect("finite numbers");
    truth * svd.U() * svd.V().transpose()
}
