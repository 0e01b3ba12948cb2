//! `smave`: sufficient dimension reduction from the shell.
//!
//! Parse, run, exit code: 0 when all went well, 1 for bad input, 2 for bad
//! usage, 130 when cancelled.

mod args;
mod cancel;
mod commands;
mod figure;
mod methods;
mod progress;
mod read;

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, Parser};

use crate::args::{Args, Command};
use crate::cancel::Cancelled;

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) if error.is::<Cancelled>() => {
            eprintln!("cancelled; nothing was written");
            ExitCode::from(130)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
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
    let out = &mut std::io::stdout().lock();
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
        Command::Completions(args) => {
            clap_complete::generate(args.shell, &mut Args::command(), "smave", out);
            Ok(())
        }
        Command::Man => clap_mangen::Man::new(Args::command()).render(out).map_err(Into::into),
    }?;
    out.flush()?;
    Ok(())
}

/// `smave fit ... | head` closes our output early: that is the reader's choice, not an error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
