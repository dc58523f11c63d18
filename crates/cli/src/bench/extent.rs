//! How much an experiment measures: quick or full, rounds, seconds; and where.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use hortator_bench::deployment::Deployment;
use hortator_bench::extent::{Extent, TimedExtent};
use hortator_bench::options::NodeSetting;
use hortator_bench::stress::Parents;

use super::{folder, stop_on_signals};

/// Quick or full.
#[derive(Debug, Args)]
pub struct SizeArgs {
    /// One round, at a small size (default)
    #[arg(long)]
    quick: bool,
    /// Three rounds, at the size of the report
    #[arg(long, conflicts_with = "quick")]
    pub full: bool,
    /// Runs of each cell [default: 1; with --full: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    rounds: Option<u16>,
}

impl SizeArgs {
    fn rounds(&self) -> usize {
        self.rounds.map_or_else(|| self.by_size(1, 3), usize::from)
    }

    pub fn by_size<T>(&self, quick: T, full: T) -> T {
        if self.full { full } else { quick }
    }
}

/// Arguments of experiments that run programs to their end.
#[derive(Debug, Args)]
pub struct LoadExtentArgs {
    #[command(flatten)]
    size: SizeArgs,
    /// Folder for dumps and logs; the dumps are kept for later experiments [default: beside the sandboxes in the user's
    /// state folder]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

impl Deref for LoadExtentArgs {
    type Target = SizeArgs;

    fn deref(&self) -> &SizeArgs {
        &self.size
    }
}

/// Arguments of experiments that measure for a time.
#[derive(Debug, Args)]
pub struct ExtentArgs {
    #[command(flatten)]
    size: SizeArgs,
    /// Measured seconds of a run, or of a window [default: see the command's description]
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<Duration>,
    /// Folder for dumps and logs; the dumps are kept for later experiments [default: beside the sandboxes in the user's
    /// state folder]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

impl Deref for ExtentArgs {
    type Target = SizeArgs;

    fn deref(&self) -> &SizeArgs {
        &self.size
    }
}

impl LoadExtentArgs {
    /// The extent, until Ctrl-C.
    pub fn extent(&self) -> anyhow::Result<Extent> {
        extent(&self.size, self.dir.as_deref())
    }
}

impl ExtentArgs {
    /// The extent, until Ctrl-C.
    pub fn extent(&self) -> anyhow::Result<Extent> {
        extent(&self.size, self.dir.as_deref())
    }

    /// The same with the measured time.
    pub fn timed(&self, quick: Duration, full: Duration) -> anyhow::Result<TimedExtent> {
        Ok(self.extent()?.timed(self.time(quick, full)))
    }

    pub fn time(&self, quick: Duration, full: Duration) -> Duration {
        self.seconds.unwrap_or_else(|| self.by_size(quick, full))
    }
}

fn extent(size: &SizeArgs, dir: Option<&Path>) -> anyhow::Result<Extent> {
    Ok(Extent { rounds: size.rounds(), folder: folder(dir)?, stop: stop_on_signals()? })
}

/// The same in a folder below.
pub fn within(extent: Extent, name: &str) -> Extent {
    Extent { folder: extent.folder.join(name), ..extent }
}

/// Arguments of experiments with several servers.
#[derive(Debug, Args)]
pub struct NodeArgs {
    /// A setting of one node of each cluster, pair and ring, which overrides the experiment's; may be given several times
    #[arg(long, value_name = "NODE:NAME=VALUE", value_parser = node_setting)]
    pub node_set: Vec<NodeSetting>,
}

fn node_setting(text: &str) -> Result<NodeSetting, String> {
    NodeSetting::parse(text)
        .ok_or_else(|| "give NODE:NAME=VALUE, with nodes from 1, and NAME without dashes before it".to_owned())
}

/// The size of a dump: positive, and not so large that it is a slip.
pub fn scale(text: &str) -> Result<f64, String> {
    let scale: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.001..=1000.0).contains(&scale) { Ok(scale) } else { Err("the scale is from 0.001 to 1000".to_owned()) }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match (0.1..=3600.0).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("give 0.1 to 3600".to_owned()),
    }
}

/// Servers by their name.
pub fn deployment(text: &str) -> Result<Deployment, String> {
    Deployment::named(text).ok_or_else(|| format!("the servers are {}", names(&Deployment::ALL)))
}

/// Parents by their name.
pub fn parents(text: &str) -> Result<Parents, String> {
    Parents::named(text).ok_or_else(|| format!("the parents are {}", names(&Parents::ALL)))
}

pub fn names<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}
