//! Work that is interrupted and taken up again ends with the same bits.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use smave::data::simulate::{Covariance, Link, Simulation};
use smave::{
    Checkpoint, Dataset, Error, Estimator, Observer, Progress, Rmave, SelectDimension, Smave, StopReason,
    Uncertainty,
};

fn data() -> Dataset<'static> {
    let made = Simulation::new(Link::Interaction, Covariance::Ar1, 400, 6).seed(3).draw().unwrap();
    Dataset::new(made.x, made.y).unwrap()
}

/// Ends a fit after so many iterations, or once it was asked so many times whether to go on.
struct Impatient<'a> {
    checkpoint: &'a Checkpoint,
    iterations: usize,
    questions: AtomicUsize,
}

impl<'a> Impatient<'a> {
    fn new(checkpoint: &'a Checkpoint, iterations: usize, questions: usize) -> Self {
        Self { checkpoint, iterations, questions: AtomicUsize::new(questions) }
    }
}

impl Observer for Impatient<'_> {
    fn on_iteration(&mut self, progress: Progress<'_>) -> ControlFlow<()> {
        let done = progress.iteration.iteration + 1;
        if done >= self.iterations { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_cancelled(&self) -> bool {
        let left =
            self.questions.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        left.is_err()
    }

    fn checkpoint(&self) -> Option<&Checkpoint> {
        Some(self.checkpoint)
    }
}

#[test]
fn a_fit_goes_on_where_it_ended() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let methods: [Box<dyn Estimator>; 4] = [
        // So small an angle that it takes many rounds.
        Box::new(Smave::new(2).tolerance(1e-9).seed(5)),
        Box::new(Smave::published(2).seed(5)),
        Box::new(Rmave::kernel(2).tolerance(1e-9).max_iter(20)),
        Box::new(Rmave::knn(2).tolerance(1e-9).max_iter(20)),
    ];
    for method in methods {
        let whole = method.fit(&data).unwrap();
        let rounds = whole.trace().len();
        assert!(rounds > 2, "{}", method.name());
        let path = folder.path().join(method.name());
        // Interrupted again and again, a few rounds further on each time.
        for stop in (1..rounds).step_by(3) {
            let checkpoint = Checkpoint::open(&path, &method.settings(), &data).unwrap();
            let checkpoint = checkpoint.every(Duration::ZERO);
            let mut impatient = Impatient::new(&checkpoint, stop, usize::MAX);
            let part = method.fit_observed(&data, &mut impatient).unwrap();
            assert_eq!(part.stop_reason(), StopReason::Cancelled, "{}", method.name());
        }
        let checkpoint = Checkpoint::open(&path, &method.settings(), &data).unwrap();
        assert!(!checkpoint.is_empty(), "{}", method.name());
        let mut patient = Impatient::new(&checkpoint, usize::MAX, usize::MAX);
        let found = method.fit_observed(&data, &mut patient).unwrap();
        assert_eq!(found.basis(), whole.basis(), "{}", method.name());
        assert_eq!(found.trace(), whole.trace(), "{}", method.name());
        assert_eq!(found.starts(), whole.starts());
        // And once more from the end: nothing is left to do, and nothing changes.
        let mut patient = Impatient::new(&checkpoint, usize::MAX, usize::MAX);
        assert_eq!(method.fit_observed(&data, &mut patient).unwrap().basis(), whole.basis());
    }
}

/// Rounds are read back, not made again: where a round leads is taken from the file.
#[test]
fn what_is_kept_is_believed() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.json");
    let smave = Smave::new(1).screen(false).seed(2);
    let checkpoint = Checkpoint::open(&path, &smave, &data).unwrap();
    let mut impatient = Impatient::new(&checkpoint, 1, usize::MAX);
    smave.fit_observed(&data, &mut impatient).unwrap();
    drop(checkpoint);
    let mut file: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    file["pieces"]["rounds"]["rounds"][0]["value"] = 12345.0.into();
    std::fs::write(&path, file.to_string()).unwrap();
    let checkpoint = Checkpoint::open(&path, &smave, &data).unwrap();
    let fit = smave.fit_observed(&data, &mut Impatient::new(&checkpoint, usize::MAX, usize::MAX)).unwrap();
    assert_eq!(fit.trace()[0].objective, 12345.0);
}

#[test]
fn starts_and_the_race_can_be_cancelled() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = Checkpoint::open(folder.path().join("c.json"), &1, &data).unwrap();
    // The first question comes from a start, a later one from the race.
    for questions in [0, 1, 10, 60] {
        let mut impatient = Impatient::new(&checkpoint, usize::MAX, questions);
        let found = Smave::new(2).fit_observed(&data, &mut impatient);
        assert!(matches!(found, Err(Error::Cancelled)), "{questions}");
    }
    for method in [Box::new(smave::OpgWalk::new(2)) as Box<dyn Estimator>, Box::new(smave::Opg::kernel(2))] {
        let found = method.fit_observed(&data, &mut Impatient::new(&checkpoint, usize::MAX, 0));
        assert!(matches!(found, Err(Error::Cancelled)), "{}", method.name());
    }
}

#[test]
fn a_bootstrap_and_a_cross_validation_go_on_where_they_ended() {
    let data = data();
    let folder = tempfile::tempdir().unwrap();
    let fit = Smave::new(2).fit(&data).unwrap();
    let explain = Uncertainty::new().replicates(20).permutations(19);
    let select = SelectDimension::new(2).folds(3).repeats(1).nested(true);
    let (whole, choice) = (explain.run(&fit, &data).unwrap(), select.run(&data).unwrap());
    let open = || Checkpoint::open(folder.path().join("c.json"), &(&explain, &select), &data).unwrap();
    let go_on = |_: usize, _: usize| ControlFlow::Continue(());
    for stop in [4, 9, 23] {
        let watch = |done: usize, _: usize| {
            if done >= stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let checkpoint = open();
        let found = explain.run_watched(&fit, &data, &watch, Some(&checkpoint));
        assert!(matches!(found, Err(Error::Cancelled)));
        assert!(checkpoint.len() >= stop - 1, "{} {stop}", checkpoint.len());
    }
    assert_eq!(explain.run_watched(&fit, &data, &go_on, Some(&open())).unwrap(), whole);
    let before = open().len();
    let stop =
        |done: usize, _: usize| if done >= 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    assert!(matches!(select.run_watched(&data, &stop, Some(&open())), Err(Error::Cancelled)));
    assert!(open().len() > before);
    assert_eq!(select.run_watched(&data, &go_on, Some(&open())).unwrap(), choice);
    let path = open().path().to_owned();
    open().remove().unwrap();
    assert!(!path.exists());
}
