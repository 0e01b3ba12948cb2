//! `smave`: sufficient dimension reduction from the shell.
//!
//! Parse, run, exit code: 0 when all went well, 1 for bad input, 2 for bad
//! usage, 130 when cancelled.

mod args;
mod cancel;
mod commands;
mod figure;
mod methods;
mod output;
mod progress;
mod read;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;
use smave::file::check_place;

use crate::args::{Args, Command};
use crate::cancel::Cancelled;
use crate::output::{Output, is_standard};

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Cancelled>() => {
            cancel::say_goodbye();
            ExitCode::from(cancel::EXIT_CODE)
        }
        Err(error) => {
            eprintln!("error: {}", in_words(&error));
            ExitCode::FAILURE
        }
    }
}

fn run(args: Args) -> Result<()> {
    if let Some(threads) = args.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.get())
            .build_global()
            .context("cannot start the threads asked for")?;
    }
    cancel::listen()?;
    let quiet = args.quiet;
    progress::show(!quiet);
    let outputs = args.command.outputs();
    let taken = outputs.iter().any(|path| is_standard(path));
    for path in outputs.into_iter().chain(args.json.as_deref()).filter(|path| !is_standard(path)) {
        check_place(path)?;
    }
    let out = &mut Output::new(quiet, args.json, taken);
    match args.command {
        Command::Demo(args) => commands::demo::run(&args, out),
        Command::Simulate(args) => commands::simulate::run(&args, out),
        Command::Fit(args) => commands::fit::run(&args, out),
        Command::Transform(args) => commands::transform::run(&args, out),
        Command::Dim(args) => commands::dim::run(&args, out),
        Command::Predict(args) => commands::predict::run(&args, out),
        Command::Explain(args) => commands::explain::run(&args, out),
        Command::Report(args) => commands::report::run(&args, out),
        Command::Info(args) => commands::info::run(&args, out),
        Command::Compare(args) => commands::compare::run(&args, out),
        Command::Bench(args) => commands::bench::run(&args, out),
        Command::Completions(args) => commands::manual::completions(&args, out),
        Command::Man(args) => commands::manual::man(&args, out),
    }?;
    out.flush()?;
    Ok(())
}

/// An error and its causes, each said once.
fn in_words(error: &anyhow::Error) -> String {
    let mut words = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

/// `smave fit ... | head` closes our output early: that is the reader's choice, not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
