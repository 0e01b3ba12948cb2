//! Writes the manual pages and what shells need to complete, from the same definition the program parses with.

use std::fs;
use std::io::{Error, Result};
use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;

#[allow(dead_code)]
#[path = "src/args.rs"]
mod args;

fn main() -> Result<()> {
    println!("cargo:rerun-if-changed=src/args.rs");
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or(Error::other("OUT_DIR is not set"))?);
    let (completions, manual) = (out.join("completions"), out.join("man"));
    fs::create_dir_all(&completions)?;
    fs::create_dir_all(&manual)?;
    let command = args::Args::command();
    for shell in [Shell::Bash, Shell::Elvish, Shell::Fish, Shell::PowerShell, Shell::Zsh] {
        clap_complete::generate_to(shell, &mut command.clone(), "smave", &completions)?;
    }
    clap_mangen::generate_to(command.clone(), &manual)?;
    // A list of the pages for the program to print.
    let pages = command.get_subcommands().map(|command| command.get_name());
    let line = |name: &str, file: &str| {
        format!("    (\"{name}\", include_str!(concat!(env!(\"OUT_DIR\"), \"/man/{file}.1\"))),\n")
    };
    let lines: String = pages.map(|name| line(name, &format!("smave-{name}"))).collect();
    let list = format!("&[\n{}{lines}]\n", line("", "smave"));
    fs::write(out.join("pages.rs"), list)
}
