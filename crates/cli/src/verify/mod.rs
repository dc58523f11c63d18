//! `hortator verify`: two sides in, and whether they are the same as text, JSON and exit status.

mod progress_line;
mod side;
mod text;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use clap::error::ErrorKind;
use hortator_check::compare::{self, Options, Progress};

use crate::connection_args::ConnectionArgs;
use progress_line::ProgressLine;
use side::SideArg;
pub use side::split_password;

/// Connections to each side unless said otherwise.
const THREADS: u16 = 4;
/// The two sides are not the same.
const DIFFERENT: u8 = 3;

/// Arguments of `hortator verify`.
#[derive(Debug, Args)]
#[command(after_help = "A and B: HOST[:PORT][/SCHEMA], mysql://[USER[:PASSWORD]@]HOST[:PORT][/SCHEMA], socket:FILE, \
                        sandbox:NAME[/NODE], or group:SUFFIX for the option files' groups with that suffix. Behind \
                        `?`, connection options of that side, such as ?database=shop&ssl-ca=ca.pem. Options that stand \
                        elsewhere on the command line are for both sides.\n\n\
                        Exit status: 0 the same, 1 it failed, 2 wrong command line, 3 different.")]
pub struct VerifyArgs {
    /// One side: a server, or a schema on it
    #[arg(value_name = "A", value_parser = side::parse)]
    first: SideArg,

    /// The other side
    #[arg(value_name = "B", value_parser = side::parse)]
    second: SideArg,

    /// The schemas to compare [default: all but the servers' own]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    databases: Vec<String>,

    /// The tables to compare, as TABLE or SCHEMA.TABLE; leaves out what belongs to no table [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tables: Vec<String>,

    /// Connections to each side that read rows
    #[arg(short = 't', long, value_name = "N", default_value_t = THREADS, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,

    /// Compare rows, not definitions
    #[arg(long, conflicts_with = "definitions_only")]
    rows_only: bool,

    /// Compare definitions, not rows
    #[arg(long)]
    definitions_only: bool,

    /// Let the next values of AUTO_INCREMENT and of sequences differ, as they do between nodes of a cluster
    #[arg(long)]
    ignore_counters: bool,

    /// Compare also when rows of system-versioned tables came and went
    #[arg(long)]
    row_times: bool,

    /// Rows that a connection reads at a time
    #[arg(long, hide = true, value_name = "ROWS")]
    range_rows: Option<u64>,

    /// Stop all writing for the moment in which the snapshots begin (FLUSH TABLES WITH READ LOCK)
    #[arg(long)]
    lock: bool,

    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,

    /// No progress line, and nothing on standard output: the exit status tells
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// When a side cannot be reached or read, or a name is on neither.
pub fn run(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    let sides = [&args.first, &args.second].map(|side| side.resolve(&args.connection));
    let [first, second] = sides;
    let sides = [first.context("the first side")?, second.context("the second side")?];
    if !args.databases.is_empty()
        && let Some(schema) = sides.iter().find_map(|side| side.schema.as_deref())
    {
        let message = format!("--databases names schemas, and so does a side or --database (`{schema}`)\n");
        clap::Error::raw(ErrorKind::ArgumentConflict, message).exit();
    }
    let options = Options {
        databases: args.databases,
        tables: args.tables,
        threads: usize::from(args.threads),
        definitions: !args.rows_only,
        rows: !args.definitions_only,
        counters: !args.ignore_counters,
        row_times: args.row_times,
        range_rows: args.range_rows,
        lock: args.lock,
    };
    let progress = Arc::new(Progress::default());
    let line = (!args.quiet).then(|| ProgressLine::start(progress.clone())).flatten();
    let outcome = compare::compare(&sides, &options, &progress);
    if let Some(line) = line {
        line.finish();
    }
    let report = outcome?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report).context("the result as JSON")?);
    } else if !args.quiet {
        print!("{}", text::of(&report));
    }
    Ok(ExitCode::from(if report.same { 0 } else { DIFFERENT }))
}
