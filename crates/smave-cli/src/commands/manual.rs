//! `smave man` and `smave completions`: print what the build has written.

use std::io::Write;

use anyhow::{Result, bail};

use crate::args::{CompletionsArgs, ManArgs, Shell};

/// The page of the program, with no name, and of each command.
static PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Prints a page.
pub fn man(args: &ManArgs, out: &mut impl Write) -> Result<()> {
    let wanted = args.command.as_deref().unwrap_or_default();
    let Some((_, page)) = PAGES.iter().find(|(name, _)| *name == wanted) else {
        let names: Vec<&str> = PAGES.iter().map(|(name, _)| *name).skip(1).collect();
        bail!("there is no command '{wanted}': choose one of {}", names.join(", "));
    };
    Ok(out.write_all(page.as_bytes())?)
}

/// Prints a script for a shell.
pub fn completions(args: &CompletionsArgs, out: &mut impl Write) -> Result<()> {
    let script = match args.shell {
        Shell::Bash => include_str!(concat!(env!("OUT_DIR"), "/completions/smave.bash")),
        Shell::Elvish => include_str!(concat!(env!("OUT_DIR"), "/completions/smave.elv")),
        Shell::Fish => include_str!(concat!(env!("OUT_DIR"), "/completions/smave.fish")),
        Shell::Powershell => include_str!(concat!(env!("OUT_DIR"), "/completions/_smave.ps1")),
        Shell::Zsh => include_str!(concat!(env!("OUT_DIR"), "/completions/_smave")),
    };
    Ok(out.write_all(script.as_bytes())?)
}
