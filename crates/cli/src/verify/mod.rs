//! `hortator verify`: compares two endpoints, with the result as text, JSON and exit status.

mod endpoint;
mod progress_line;
mod replicated;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use clap::error::ErrorKind;
use hortator_check::compare::{self, Options, Progress};

use crate::connection_args::ConnectionArgs;
use endpoint::EndpointArg;
pub use endpoint::split_password;
use progress_line::ProgressLine;

/// The default number of connections per endpoint.
const THREADS: u16 = 4;
/// The exit status when the two endpoints differ.
const DIFFERENT: u8 = 3;

/// The default for how long a source may take to come to its position, in seconds.
const TIMEOUT_S: u64 = 60;

/// Arguments of `hortator verify`.
#[derive(Debug, Args)]
#[command(after_help = "A and B: HOST[:PORT][/SCHEMA], mysql://[USER[:PASSWORD]@]HOST[:PORT][/SCHEMA], socket:FILE, \
                        sandbox:NAME[/NODE], or group:SUFFIX for the option files' groups with that suffix. After \
                        `?`, add connection options of that endpoint, such as ?database=shop&ssl-ca=ca.pem. Options \
                        elsewhere on the command line apply to both endpoints.\n\n\
                        With --replicate FILE, give no endpoints: the sources and the target of replicate.toml are \
                        compared, row for row, by the names of the target.\n\n\
                        Exit status: 0 equal, 1 failed, 2 wrong command line, 3 different.")]
pub struct VerifyArgs {
    /// First endpoint: a server, or a schema on it
    #[arg(value_name = "A", value_parser = endpoint::parse, required_unless_present = "replicate")]
    first: Option<EndpointArg>,

    /// Second endpoint
    #[arg(value_name = "B", value_parser = endpoint::parse, required_unless_present = "replicate")]
    second: Option<EndpointArg>,

    /// Compare the sources of a `hortator replicate` with its target, each at one place of its log, while it runs
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["first", "second", "definitions_only", "ignore_counters", "row_times", "lock"]
    )]
    replicate: Option<PathBuf>,

    /// With --replicate: sources to compare [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "replicate")]
    source: Vec<String>,

    /// With --replicate: how long a source may take to be applied up to the place at which it is compared
    #[arg(long, value_name = "SECONDS", default_value_t = TIMEOUT_S, requires = "replicate")]
    timeout: u64,

    /// Schemas to compare, of the target with --replicate [default: all but the servers' own]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    databases: Vec<String>,

    /// Tables to compare, as TABLE or SCHEMA.TABLE; skips objects that do not belong to a table [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    tables: Vec<String>,

    /// Connections per endpoint that read rows
    #[arg(short = 't', long, value_name = "N", default_value_t = THREADS, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,

    /// Compare only rows, not definitions
    #[arg(long, conflicts_with = "definitions_only")]
    rows_only: bool,

    /// Compare only definitions, not rows
    #[arg(long)]
    definitions_only: bool,

    /// Ignore the next values of AUTO_INCREMENT and of sequences, which differ between nodes of a cluster
    #[arg(long)]
    ignore_counters: bool,

    /// Compare also the start and end times of system-versioned rows
    #[arg(long)]
    row_times: bool,

    /// Rows that a connection reads at a time
    #[arg(long, hide = true, value_name = "ROWS")]
    range_rows: Option<u64>,

    /// Lock out writers while the snapshots are opened (FLUSH TABLES WITH READ LOCK)
    #[arg(long)]
    lock: bool,

    /// Print the result as a JSON object
    #[arg(long)]
    json: bool,

    /// Print no progress line and no result; see the exit status
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// When an endpoint cannot be reached or read, or a name exists at neither.
pub fn run(args: VerifyArgs) -> anyhow::Result<ExitCode> {
    if let Some(file) = &args.replicate {
        return replicated::run(file, &args);
    }
    // clap has seen to it that both are there.
    let (Some(first), Some(second)) = (&args.first, &args.second) else { bail!("give two endpoints") };
    let [first, second] = [first, second].map(|endpoint| endpoint.resolve(&args.connection));
    let endpoints = [first.context("the first endpoint")?, second.context("the second endpoint")?];
    if !args.databases.is_empty()
        && let Some(schema) = endpoints.iter().find_map(|endpoint| endpoint.schema.as_deref())
    {
        let message = format!("--databases conflicts with the schema `{schema}` of an endpoint or of --database\n");
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
    let report = with_progress(args.quiet, |progress| compare::compare(&endpoints, &options, progress))?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report).context("the result as JSON")?);
    } else if !args.quiet {
        print!("{}", text::of(&report));
    }
    Ok(ExitCode::from(if report.same { 0 } else { DIFFERENT }))
}

/// Compares, with a line on the terminal that shows how far it is, unless nothing is to be shown.
fn with_progress<T>(is_quiet: bool, compare: impl FnOnce(&Arc<Progress>) -> T) -> T {
    let progress = Arc::new(Progress::default());
    let line = (!is_quiet).then(|| ProgressLine::start(progress.clone())).flatten();
    let outcome = compare(&progress);
    if let Some(line) = line {
        line.finish();
    }
    outcome
}
