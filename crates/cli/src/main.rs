//! The `hortator` command: arguments in, calls, and what comes of them as text, JSON and exit status.
//!
//! One file per subcommand. Exit status: 0 all well; 1 it failed; 2 the command line is not understood; 3 a forced load
//! went through with statements that failed, or two sides are not the same; 130 interrupted.

mod bench;
mod connection_args;
mod load;
mod sandbox;
mod verify;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Rows into MariaDB and MySQL servers: in parallel, in order, and without losing one.
#[derive(Debug, Parser)]
#[command(name = "hortator", version, max_term_width = 120)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Load a SQL dump over many connections, with the state that its order gives
    Load(load::LoadArgs),
    /// Compare two servers or schemas: definitions and every row
    Verify(verify::VerifyArgs),
    /// Start and stop private servers and clusters
    Sandbox(sandbox::SandboxArgs),
    /// Rerun experiments and print their report
    Bench(bench::BenchArgs),
}

fn main() -> ExitCode {
    if let Err(error) = connection_args::hide_password_from_process_list(&Cli::command()) {
        eprintln!("hortator: {error:#}");
        return ExitCode::FAILURE;
    }
    let result = match Cli::parse().command {
        Command::Load(args) => load::run(args),
        Command::Verify(args) => verify::run(args),
        Command::Sandbox(args) => sandbox::run(args),
        Command::Bench(args) => bench::run(args),
    };
    result.unwrap_or_else(|error| {
        eprintln!("hortator: {error:#}");
        ExitCode::FAILURE
    })
}
