//! `hortator bench semisync`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use hortator_bench::extent::Extent;
use hortator_bench::semisync::{Deployment, Experiment, Keys, Storage, page};

use super::extent::{NodeArgs, names};
use super::page_output::PageArgs;
use super::{folder, stop_on_signals};

/// Rows of a run.
const QUICK_ROWS: u64 = 30_000;
const FULL_ROWS: u64 = 1_000_000;
/// What takes inserts undisturbed, and what loses a server, with `--quick`.
const QUICK_SERVERS: [Deployment; 6] = [
    Deployment::Alone,
    Deployment::AloneWithBinlog,
    Deployment::Pair,
    Deployment::Ring,
    Deployment::Galera(2),
    Deployment::Hortator(2),
];
const QUICK_FAILOVERS: [Deployment; 3] = [Deployment::Ring, Deployment::Galera(3), Deployment::Hortator(3)];
/// Factors; the first of each is the centre.
const QUICK_THREADS: [u16; 2] = [400, 16];
const FULL_THREADS: [u16; 3] = [400, 100, 16];
const FULL_APPLIERS: [u16; 3] = [16, 4, 1];

/// Arguments of `hortator bench semisync`.
///
/// The first value of each factor is the centre. Each other value is measured with the centre of all other factors.
#[derive(Debug, Args)]
pub struct SemisyncArgs {
    /// One round of 30,000 rows a run (default)
    #[arg(long)]
    quick: bool,
    /// Three rounds of 1,000,000 rows a run, with all servers and factors: a day
    #[arg(long, conflicts_with = "quick")]
    full: bool,
    /// Rows of each run [default: 30,000; with --full: 1,000,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=2_000_000))]
    rows: Option<u64>,
    /// Runs of each cell [default: 1; with --full: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
    /// Connections, on all servers together [default: 400, 16; with --full: 400, 100, 16]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=800))]
    threads: Vec<u16>,
    /// Whether a commit is on disk before it is confirmed, 0 or 1 [default: 1; with --full: 1, 0]
    #[arg(long, value_name = "0|1", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(0..=1))]
    flush: Vec<u8>,
    /// Threads of each server that apply the commits of others [default: 16; with --full: 16, 4, 1]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=64))]
    appliers: Vec<u16>,
    /// Where the servers keep their data: tmpfs, disk [default: tmpfs; with --full: tmpfs, disk]
    #[arg(long, value_name = "STORAGE", value_delimiter = ',', value_parser = storage)]
    storage: Vec<Storage>,
    /// Keys by one counter for each server, or by a range for each thread: counter, ranges [default: counter; with --full:
    /// counter, ranges]
    #[arg(long, value_name = "KEYS", value_delimiter = ',', value_parser = keys)]
    keys: Vec<Keys>,
    /// Servers that take inserts, of alone, alone-binlog, pair (semi-synchronous), ring (two, both ways), G2, G3 (Galera), H2
    /// and H3 (Hortator's provider); without --failover no server is killed [default: all but G3 and H3; with --full: all]
    #[arg(long, value_name = "SERVERS", value_delimiter = ',', value_parser = deployment)]
    only: Vec<Deployment>,
    /// Servers of which one is killed, of pair, ring, G3 and H3; without --only nothing else is measured [default: ring, G3, H3;
    /// with --full: all]
    #[arg(long, value_name = "SERVERS", value_delimiter = ',', value_parser = failover)]
    failover: Vec<Deployment>,
    /// A tmpfs for the servers' data
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    tmpfs: PathBuf,
    /// Folder for logs, and for the servers' data on disk [default: beside the sandboxes in the user's state folder]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    page: PageArgs,
}

fn storage(text: &str) -> Result<Storage, String> {
    named(text, &Storage::ALL, "kinds of storage")
}

fn keys(text: &str) -> Result<Keys, String> {
    named(text, &Keys::ALL, "kinds of keys")
}

fn deployment(text: &str) -> Result<Deployment, String> {
    named(text, &Deployment::ALL, "servers")
}

fn failover(text: &str) -> Result<Deployment, String> {
    named(text, &Deployment::WITH_FAILOVER, "servers of which one can be lost")
}

fn named<T: Copy + ToString>(text: &str, all: &[T], what: &str) -> Result<T, String> {
    let found = all.iter().copied().find(|value| value.to_string() == text);
    found.ok_or_else(|| format!("the {what} are {}", names(all)))
}

pub(super) fn run(args: &SemisyncArgs) -> anyhow::Result<ExitCode> {
    args.page.check_with(&args.nodes.node_set)?;
    let experiment = experiment(args)?;
    let outcome = experiment.run(&mut args.page.progress())?;
    args.page.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}

fn experiment(args: &SemisyncArgs) -> anyhow::Result<Experiment> {
    let is_full = args.full;
    let numbers = |given: &[u16], quick: &[u16], full: &[u16]| -> Vec<usize> {
        or(given, if is_full { full } else { quick }).into_iter().map(usize::from).collect()
    };
    let (deployments, failovers): (&[_], &[_]) = match (args.only.is_empty() && args.failover.is_empty(), is_full) {
        (false, _) => (&args.only, &args.failover),
        (true, false) => (&QUICK_SERVERS, &QUICK_FAILOVERS),
        (true, true) => (&Deployment::ALL, &Deployment::WITH_FAILOVER),
    };
    // All values of a factor with --full, else its centre.
    let some = |all: usize| if is_full { all } else { 1 };
    Ok(Experiment {
        deployments: deployments.to_vec(),
        failovers: failovers.to_vec(),
        rows: args.rows.unwrap_or(if is_full { FULL_ROWS } else { QUICK_ROWS }),
        threads: numbers(&args.threads, &QUICK_THREADS, &FULL_THREADS),
        flush: or(&args.flush, &[1, 0][..some(2)]).into_iter().map(|flush| flush == 1).collect(),
        appliers: numbers(&args.appliers, &FULL_APPLIERS[..1], &FULL_APPLIERS),
        storage: or(&args.storage, &Storage::ALL[..some(2)]),
        keys: or(&args.keys, &Keys::ALL[..some(2)]),
        tmpfs: args.tmpfs.clone(),
        catch_up_limit: Experiment::CATCH_UP_LIMIT,
        extent: Extent {
            rounds: args.rounds.map_or(if is_full { 3 } else { 1 }, usize::from),
            folder: folder(args.dir.as_deref())?,
            stop: stop_on_signals()?,
        },
    })
}

/// What the user gave, or else the default.
fn or<T: Clone>(given: &[T], default: &[T]) -> Vec<T> {
    if given.is_empty() { default.to_vec() } else { given.to_vec() }
}
