//! The `hortator` command: parses arguments, calls the subcommand, and returns text, JSON and an exit status.
//!
//! One file per subcommand. Exit status: 0 success; 1 failure; 2 invalid command line; 3 a forced load with failed
//! statements, or two different endpoints; 130 interrupted.

mod bench;
mod connection_args;
mod error_text;
mod load;
mod manuals;
mod replicate;
mod sandbox;
mod verify;
mod version;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Loads rows into MariaDB and MySQL servers: in parallel, in order, without losing any.
#[derive(Debug, Parser)]
#[command(name = "hortator", version, long_version = version::LONG.as_str(), max_term_width = 120)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Load a SQL dump, a folder of a dump tool or CSV files over many connections, with the result of the mariadb client
    Load(Box<load::LoadArgs>),
    /// Apply the binary logs of several servers to one
    Replicate(replicate::ReplicateArgs),
    /// Compare two servers or schemas, or the sources of a replication with its target: all rows
    Verify(verify::VerifyArgs),
    /// Start and stop private servers and clusters
    Sandbox(sandbox::SandboxArgs),
    /// Run reproducible experiments and print their reports
    Bench(bench::BenchArgs),
    /// Print a script that completes the command line in bash, zsh or fish
    Completions(manuals::CompletionsArgs),
    /// Write the man pages into a folder
    Man(manuals::ManArgs),
}

fn main() -> ExitCode {
    if let Err(error) = connection_args::hide_password_from_process_list(&Cli::command()) {
        eprintln!("hortator: {}", error_text::one_line(&error));
        return ExitCode::FAILURE;
    }
    let result = match Cli::parse().command {
        Command::Load(args) => load::run(*args),
        Command::Replicate(args) => replicate::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Sandbox(args) => sandbox::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Completions(args) => manuals::completions(&mut Cli::command(), &args),
        Command::Man(args) => manuals::man_pages(Cli::command(), &args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("hortator: {}", error_text::one_line(&error));
        ExitCode::FAILURE
    })
}
