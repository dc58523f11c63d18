//! `hortator load`: arguments, signals, the progress line, and the summary.

mod checkpoint_args;
mod checks;
mod cluster_args;
mod deferred_indexes;
mod events;
mod filter_args;
mod private_server;
mod progress_line;
mod result_rows;
mod rows_args;
mod summary;
mod throttle_args;
mod verification;
mod wait_log;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Args;
use hortator_load::checkpoint::CheckpointMode;
use hortator_load::cluster::Targets;
use hortator_load::report::{End, Summary};
use hortator_load::{DeferIndexes, Interrupter, Load, Options, SKIP_BINLOG};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::connection_args::ConnectionArgs;
use checkpoint_args::CheckpointArgs;
use checks::ChecksArgs;
use cluster_args::ClusterArgs;
use deferred_indexes::DeferredIndexesArgs;
use events::{EventStream, ProgressMode};
use filter_args::FilterArgs;
use progress_line::ProgressLine;
use result_rows::BatchRows;
use rows_args::RowsArgs;
use throttle_args::ThrottleArgs;
use wait_log::WaitLog;

/// The exit status that a shell reports for a program ended by SIGINT.
const INTERRUPTED: u8 = 130;
/// How long an interrupted load may wait for input after its workers have ended.
const INPUT_TIMEOUT: Duration = Duration::from_millis(500);
/// How long it may take for its last statement and its records, also on a busy server.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// The pause between two looks whether it has ended.
const END_PAUSE: Duration = Duration::from_millis(20);
/// The pause between two looks for statements of an interrupted load that wait for a lock.
const LOCK_WAIT_PAUSE: Duration = Duration::from_millis(500);
/// The exit status of a forced load with errors.
const WITH_ERRORS: u8 = 3;

/// Arguments of `hortator load`.
#[derive(Debug, Args)]
pub struct LoadArgs {
    /// The files and folders of the dump, in order: plain or compressed (gzip, zstd, xz, bzip2, lz4). No file, or `-`:
    /// standard input
    files: Vec<PathBuf>,

    /// Connections that load in parallel [default: three for every two cores of the server, 16 at most]
    #[arg(short = 't', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,

    /// Continue after a statement fails; list the failed statements and exit with status 3
    #[arg(short, long)]
    force: bool,

    /// With --force: write the failed statements to FILE, as SQL to load again once their cause is mended. FILE must be
    /// new or empty; with --resume, it may be that of the interrupted load
    #[arg(long, value_name = "FILE", requires = "force", conflicts_with = "plan")]
    reject: Option<PathBuf>,

    /// Send comments to the server
    #[arg(short, long)]
    comments: bool,

    /// Keep CR LF and NUL bytes of the dump
    #[arg(long)]
    binary_mode: bool,

    #[command(flatten)]
    checks: ChecksArgs,

    #[command(flatten)]
    deferred_indexes: DeferredIndexesArgs,

    /// Verify at the end that the server has the content of the dump; exit with status 1 if it does not
    #[arg(long, conflicts_with = "plan")]
    verify: bool,

    /// Renew the statistics of the loaded tables at the end (ANALYZE TABLE)
    #[arg(long, conflicts_with = "plan")]
    analyze: bool,

    /// Write nothing to the binary log: replicas do not get the load
    #[arg(long)]
    skip_binlog: bool,

    /// Print the summary as a JSON object to standard output, and rows that the dump selects to standard error
    #[arg(long)]
    json: bool,

    /// Print the tables, their order, the barriers and what slows the load on this server; load nothing
    #[arg(long, conflicts_with = "json")]
    plan: bool,

    /// Start a private server, load into it and leave it running
    #[arg(long)]
    sandbox: bool,

    /// How to show how far the load is
    #[arg(long, value_name = "line|json", default_value = "line", conflicts_with_all = ["quiet", "plan"])]
    progress: ProgressMode,

    /// Print no progress line and no summary
    #[arg(short, long)]
    quiet: bool,

    /// Bytes of statements in a chunk, which is one transaction
    #[arg(long, hide = true, value_name = "BYTES")]
    chunk_bytes: Option<usize>,

    /// Send rows in batches of N with prepared statements, as to servers without bulk execute
    #[arg(long, hide = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    batch_rows: Option<u16>,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    rows: RowsArgs,

    #[command(flatten)]
    cluster: ClusterArgs,

    #[command(flatten)]
    throttle: ThrottleArgs,

    #[command(flatten)]
    checkpoints: CheckpointArgs,

    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// When the load cannot connect; later failures are in the summary and the exit status.
pub fn run(args: LoadArgs) -> anyhow::Result<ExitCode> {
    let mut connect = args.connection.resolve()?;
    if args.sandbox {
        let database = connect.database.take();
        connect = private_server::start()?;
        connect.database = database;
    }
    if args.skip_binlog {
        // Also for checkpoints that are discarded.
        connect.init_command = Some(SKIP_BINLOG.to_owned());
    }
    if args.checkpoints.replaces_load()
        && args.checkpoints.run_instead(Targets::open(&connect, &args.cluster.nodes)?.options(), args.json)?
    {
        return Ok(ExitCode::SUCCESS);
    }
    let input = args.rows.input(&args.files, &connect.charset)?;
    let options = Options {
        checkpoint_mode: args.checkpoints.checkpoint_mode(),
        local_journal_dir: args.checkpoints.local_journal_dir(),
        start: args.checkpoints.start(),
        in_doubt: args.checkpoints.in_doubt(),
        connect,
        nodes: args.cluster.nodes,
        is_throttled: !args.cluster.no_throttle,
        throttle: args.throttle.options().unwrap_or_else(|error| error.exit()),
        input,
        threads: args.threads.map(usize::from),
        chunk_bytes: args.chunk_bytes,
        in_flight_bytes: None,
        batch_rows: args.batch_rows.map(usize::from),
        force: args.force,
        reject: args.reject,
        comments: args.comments,
        binary_mode: args.binary_mode,
        foreign_keys: args.checks.foreign_keys(),
        unique_checks: args.checks.unique_checks(),
        defer_indexes: args.deferred_indexes.defer_indexes(),
        filter: args.filter.rules()?,
        skip_binlog: args.skip_binlog,
        analyze: args.analyze,
        verify: args.verify,
    };
    if args.plan {
        return plan(&options);
    }
    let has_events = args.progress == ProgressMode::Json;
    let shown = Shown { json: args.json, quiet: args.quiet, verify: args.verify, has_events };
    let is_asked_for = options.checkpoint_mode != CheckpointMode::Disabled;
    let may_wait = !options.throttle.is_empty() || options.defer_indexes != DeferIndexes::Never;
    let load = Load::open(options)?;
    if let Some(reason) = load.checkpoints_disabled_reason().filter(|_| is_asked_for && !args.quiet) {
        eprintln!("hortator: warning: {reason}. You cannot resume this load after an interruption");
    }
    let has_ended = end_on_signals(load.interrupter(), shown)?;
    let can_resume = load.checkpoints_disabled_reason().is_none();
    let events = has_events.then(|| EventStream::start(load.progress(), can_resume));
    let line = (!args.quiet && !has_events).then(|| ProgressLine::start(load.progress())).flatten();
    let tells_waits = may_wait && line.is_none() && !has_events && !args.quiet;
    let waits = tells_waits.then(|| WaitLog::start(load.progress()));
    let mut rows = BatchRows::new(args.json, line.as_ref().map(ProgressLine::bar));
    let outcome = load.run(&mut rows);
    has_ended.store(true, Ordering::Release);
    if let Some(line) = line {
        line.finish();
    }
    if let Some(events) = events {
        events.finish();
    }
    if let Some(waits) = waits {
        waits.finish();
    }
    let printed = rows.finish();
    let status = shown.show(&outcome?)?;
    printed.context("cannot print the rows that the dump selects")?;
    Ok(ExitCode::from(status))
}

/// What the end of a load prints.
#[derive(Clone, Copy)]
struct Shown {
    json: bool,
    quiet: bool,
    verify: bool,
    /// Events take the place of words.
    has_events: bool,
}

impl Shown {
    /// Prints failures and summary; returns the exit status.
    fn show(self, summary: &Summary) -> anyhow::Result<u8> {
        let status = status(summary);
        if self.has_events {
            events::write_end(summary, status);
        } else {
            self.show_failures(summary);
        }
        if self.json {
            println!("{}", serde_json::to_string_pretty(summary).context("the summary as JSON")?);
        } else if !self.quiet && !self.has_events {
            eprint!("{}", summary::text(summary));
        }
        Ok(status)
    }

    fn show_failures(self, summary: &Summary) {
        for failure in &summary.failures {
            eprintln!("{failure}");
        }
        for violation in summary.violations() {
            eprintln!("{violation}");
        }
        match &summary.verification {
            Some(verification) => eprint!("{}", verification::problems(verification)),
            None if self.verify => eprintln!("hortator: nothing verified: the load did not reach its end"),
            None => {}
        }
    }
}

/// The exit status.
fn status(summary: &Summary) -> u8 {
    let is_refuted = summary.verification.as_ref().is_some_and(|verification| !verification.holds);
    match summary.end {
        End::Complete | End::WithErrors if is_refuted => 1,
        End::Complete => 0,
        End::WithErrors => WITH_ERRORS,
        End::Failed | End::NotValidated => 1,
        End::Interrupted => INTERRUPTED,
    }
}

/// Prints the plan of a load.
fn plan(options: &Options) -> anyhow::Result<ExitCode> {
    let plan = hortator_load::plan(options)?;
    print!("{}", summary::plan(&plan));
    for failure in &plan.failures {
        eprintln!("{failure}");
    }
    Ok(if plan.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Ends the load cleanly at the first SIGINT or SIGTERM, and exits at the second. Set the returned flag when the load
/// has ended.
fn end_on_signals(interrupter: Interrupter, shown: Shown) -> anyhow::Result<Arc<AtomicBool>> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot wait for signals")?;
    let has_ended = Arc::new(AtomicBool::new(false));
    let ended = has_ended.clone();
    std::thread::spawn(move || {
        let mut seen = 0;
        for _ in signals.forever() {
            seen += 1;
            if seen > 1 {
                eprint!("{}", deferred_indexes::missing(&interrupter.missing_keys()));
                std::process::exit(INTERRUPTED.into());
            }
            eprintln!("hortator: interrupted: rolling back open transactions (interrupt again to exit at once)");
            eprint!("{}", deferred_indexes::to_build(interrupter.missing_keys().len()));
            let (interrupter, ended) = (interrupter.clone(), ended.clone());
            std::thread::spawn(move || end(&interrupter, shown, &ended));
        }
    });
    Ok(has_ended)
}

/// Waits until the load has ended: a moment if it may wait for input, and longer if it ends by itself.
fn wait_for_end(interrupter: &Interrupter, has_ended: &AtomicBool) {
    let begun = Instant::now();
    let limit = || if interrupter.ends_by_itself() { END_TIMEOUT } else { INPUT_TIMEOUT };
    while !has_ended.load(Ordering::Acquire) && begun.elapsed() < limit() {
        std::thread::sleep(END_PAUSE);
    }
}

/// Ends the load; exits the program if the load still waits for input.
fn end(interrupter: &Interrupter, shown: Shown, has_ended: &Arc<AtomicBool>) {
    interrupter.interrupt();
    let (waiting, ended) = (interrupter.clone(), Arc::clone(has_ended));
    std::thread::spawn(move || {
        while !ended.load(Ordering::Acquire) {
            waiting.cancel_lock_waits();
            std::thread::sleep(LOCK_WAIT_PAUSE);
        }
    });
    let mut summary = interrupter.summary();
    wait_for_end(interrupter, has_ended);
    if !has_ended.load(Ordering::Acquire) && interrupter.build_missing_keys() {
        wait_for_end(interrupter, has_ended);
        summary = interrupter.summary();
    }
    if !has_ended.load(Ordering::Acquire) {
        // The main session's transaction rolls back with its connection.
        let status = shown.show(&summary).unwrap_or(INTERRUPTED);
        std::process::exit(status.into());
    }
}
