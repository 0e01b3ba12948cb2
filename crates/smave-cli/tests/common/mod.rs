//! Running the program as a user would.
#![allow(dead_code)]

use std::path::Path;
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin_cmd;

/// Runs; a line is what would be typed after `smave`.
pub fn smave(folder: &Path, args: &[&str]) -> Output {
    cargo_bin_cmd!("smave").current_dir(folder).args(args).output().unwrap()
}

/// The program, to be started and not waited for.
pub fn program(folder: &Path, line: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("smave"));
    command.current_dir(folder).args(line.split_whitespace());
    command
}

/// What it wrote to standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Runs and expects success; gives standard output.
pub fn succeed(folder: &Path, args: &[&str]) -> String {
    let output = smave(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    stdout(&output)
}

/// Runs and expects the exit code; gives standard error.
pub fn fail(folder: &Path, code: i32, args: &[&str]) -> String {
    let output = smave(folder, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stdout(&output));
    String::from_utf8(output.stderr).unwrap()
}

/// Runs what is typed and expects success; gives standard output.
pub fn run(folder: &Path, line: &str) -> String {
    succeed(folder, &line.split_whitespace().collect::<Vec<_>>())
}

/// A table `data.csv` of 600 rows, x1 to x6 and y, and its true basis `b.csv`.
pub fn simulate(folder: &Path) {
    let args = "simulate --link interaction --cov ar1 --n 600 --p 6 --seed 1 --out data.csv --truth b.csv";
    let text = run(folder, args);
    assert!(text.contains("600 rows") && text.contains("6 x 2"), "{text}");
}
