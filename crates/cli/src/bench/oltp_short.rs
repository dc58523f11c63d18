//! `hortator bench oltp-short`.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use hortator_bench::cpu_set::CpuList;
use hortator_bench::oltp_short::{Contender, DiskLimit, Experiment, Mix, find_sysbench, page};

use super::extent::{ExtentArgs, NodeArgs, names};
use super::page_output::PageArgs;

/// The contenders with `--quick`, by name.
const QUICK_CONTENDERS: [&str; 5] = ["alone", "G1", "G3:1", "G3:3", "H3:3"];
/// A window.
const QUICK_TIME: Duration = Duration::from_secs(5);
const FULL_TIME: Duration = Duration::from_secs(150);
/// Rows of each table.
const QUICK_ROWS: u64 = 50_000;
const FULL_ROWS: u64 = 400_000;
/// Windows until the rate is steady.
const QUICK_WINDOWS: u16 = 3;
const FULL_WINDOWS: u16 = 15;
/// The ramp.
const QUICK_THREADS: [u16; 2] = [4, 32];
const FULL_THREADS: [u16; 7] = [1, 4, 16, 32, 64, 128, 256];

/// Arguments of `hortator bench oltp-short`.
#[derive(Debug, Args)]
pub struct OltpShortArgs {
    /// Servers, of alone, G1, G3:1, G3:2, G3:3 (Galera, and how many nodes are written), H1, H3:1, H3:2 and H3:3 (Hortator's
    /// provider) [default: alone, G1, G3:1, G3:3, H3:3; with --full: all]
    #[arg(long, value_name = "SERVERS", value_delimiter = ',', value_parser = contender)]
    only: Vec<Contender>,
    /// Transactions: short (one kind of query each) and stock (all 18 queries in each) [default: short; with --full: both]
    #[arg(long, value_name = "MIX", value_delimiter = ',', value_parser = mix)]
    mix: Vec<Mix>,
    /// Limits of the disk: own (400 reads and 400 writes a second for each server), shared (for all servers together) and raw
    /// (none) [default: own; with --full: own and shared]
    #[arg(long, value_name = "LIMIT", value_delimiter = ',', value_parser = limit)]
    disk: Vec<DiskLimit>,
    /// Rows of each of the ten tables; buffer pool and redo log grow with them [default: 50,000; with --full: 400,000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    rows: Option<u64>,
    /// Windows of 32 threads at most, until three in a row are within 10 % [default: 3; with --full: 15]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    windows: Option<u16>,
    /// Threads after that, a window each [default: 4, 32; with --full: 1, 4, 16, 32, 64, 128, 256]
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Vec<u16>,
    /// A setting of all servers, which overrides the experiment's; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    set: Vec<(String, String)>,
    /// CPUs of the first node, as 0-1; given again, of the next; the last list is also for further nodes [default: all]
    #[arg(long, value_name = "CPUS", value_parser = cpus)]
    cpus: Vec<CpuList>,
    /// Measure also where no disk limits the servers: tmpfs, overlay
    #[arg(long)]
    any_file_system: bool,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    extent: ExtentArgs,
    #[command(flatten)]
    page: PageArgs,
}

pub(super) fn run(args: OltpShortArgs) -> anyhow::Result<ExitCode> {
    args.page.check_with(&args.nodes.node_set)?;
    let sysbench = find_sysbench()?;
    let OltpShortArgs {
        only,
        mix,
        disk,
        rows,
        windows,
        threads,
        set,
        cpus,
        any_file_system,
        nodes: _,
        extent,
        page: output,
    } = args;
    let quick: Vec<Contender> = QUICK_CONTENDERS.into_iter().filter_map(Contender::named).collect();
    let threads = or(threads, extent.by_size(&QUICK_THREADS[..], &FULL_THREADS));
    let experiment = Experiment {
        contenders: or(only, &extent.by_size(quick, Contender::all())),
        mixes: or(mix, extent.by_size(&[Mix::Short][..], &Mix::ALL)),
        limits: or(disk, extent.by_size(&[DiskLimit::Own][..], &[DiskLimit::Own, DiskLimit::Shared])),
        rows: rows.unwrap_or(extent.by_size(QUICK_ROWS, FULL_ROWS)),
        settings: set,
        window_s: (extent.time(QUICK_TIME, FULL_TIME).as_secs_f64().ceil() as u64).max(1),
        windows: windows.unwrap_or(extent.by_size(QUICK_WINDOWS, FULL_WINDOWS)).into(),
        threads: threads.into_iter().map(usize::from).collect(),
        cpus,
        sysbench,
        allows_any_file_system: any_file_system,
        extent: extent.extent()?,
    };
    let outcome = experiment.run(&mut output.progress())?;
    output.write(&page(&experiment, &outcome), outcome.measured.unfinished.is_some())
}

/// What the user gave, each once, or else the default.
fn or<T: Clone + PartialEq>(given: Vec<T>, default: &[T]) -> Vec<T> {
    let mut values: Vec<T> = Vec::new();
    for value in if given.is_empty() { default.to_vec() } else { given } {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

fn contender(text: &str) -> Result<Contender, String> {
    Contender::named(text).ok_or_else(|| {
        let names: Vec<String> = Contender::all().iter().map(|contender| contender.name()).collect();
        format!("the servers are {}", names.join(", "))
    })
}

fn mix(text: &str) -> Result<Mix, String> {
    let found = Mix::ALL.into_iter().find(|mix| mix.to_string() == text);
    found.ok_or_else(|| format!("the transactions are {}", names(&Mix::ALL)))
}

fn limit(text: &str) -> Result<DiskLimit, String> {
    let found = DiskLimit::ALL.into_iter().find(|limit| limit.to_string() == text);
    found.ok_or_else(|| format!("the limits are {}", names(&DiskLimit::ALL)))
}

fn cpus(text: &str) -> Result<CpuList, String> {
    CpuList::parse(text).ok_or_else(|| "give numbers and ranges of CPUs, as 0-1,4".to_owned())
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| "give NAME=VALUE".to_owned())?;
    Ok((name.to_owned(), value.to_owned()))
}
