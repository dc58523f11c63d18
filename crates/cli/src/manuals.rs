//! `hortator completions` and `hortator man`: made from the definitions of the arguments, as `--help` is.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Command, ValueEnum};
use clap_complete::Generator;
use clap_complete::shells::{Bash, Fish, Zsh};

/// Arguments of `hortator completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// A shell for which completions are made.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Arguments of `hortator man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The folder, which is created if it is missing: one page for each command, as hortator-load.1
    folder: PathBuf,
}

/// Prints the script for a shell.
///
/// # Errors
/// When standard output cannot be written.
pub fn completions(command: &mut Command, args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    // First into memory: the generators panic if they cannot write.
    let mut script = Vec::new();
    let name = command.get_name().to_owned();
    match args.shell {
        Shell::Bash => generate(Bash, command, &name, &mut script),
        Shell::Zsh => generate(Zsh, command, &name, &mut script),
        Shell::Fish => generate(Fish, command, &name, &mut script),
    }
    match io::stdout().write_all(&script) {
        // The reader has read enough, as `head` has.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        written => written.map(|()| ExitCode::SUCCESS).context("writing to standard output"),
    }
}

fn generate(shell: impl Generator, command: &mut Command, name: &str, script: &mut Vec<u8>) {
    clap_complete::generate(shell, command, name, script);
}

/// Writes a page for each command.
///
/// # Errors
/// When a file cannot be written.
pub fn man_pages(command: Command, args: &ManArgs) -> anyhow::Result<ExitCode> {
    let folder = &args.folder;
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    // A page for `hortator help` would say what `hortator` says.
    let command = command.disable_help_subcommand(true);
    clap_mangen::generate_to(command, folder)
        .with_context(|| format!("writing man pages into {}", folder.display()))?;
    Ok(ExitCode::SUCCESS)
}
