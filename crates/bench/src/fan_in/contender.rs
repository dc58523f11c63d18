//! What drains the backlogs.

use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_sandbox::Temporary;

use super::applier::Applier;
use super::recovery;
use super::sources::{LogPosition, Source};
use crate::{Error, measure};

/// What drains the backlogs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// MariaDB's own replication, one connection for each source.
    Own {
        /// `slave_parallel_threads`.
        threads: u16,
        /// `slave_parallel_mode` is `optimistic`, else `conservative`.
        is_optimistic: bool,
    },
    /// `hortator replicate`.
    Hortator,
    /// The same with the rule of older tools: `--order=schema`.
    BySchema,
    /// `mariadb-binlog | mariadb`, from the files of the log.
    Client,
    /// `hortator replicate run --from-files`.
    Files,
}

impl Contender {
    /// Those that read the log from a server.
    pub const OF_SERVERS: [Contender; 6] = [
        Contender::Own { threads: 0, is_optimistic: true },
        Contender::Own { threads: 4, is_optimistic: true },
        Contender::Own { threads: 16, is_optimistic: true },
        Contender::Own { threads: 16, is_optimistic: false },
        Contender::Hortator,
        Contender::BySchema,
    ];
    /// Those that read the files of a server that is gone.
    pub const OF_FILES: [Contender; 2] = [Contender::Client, Contender::Files];

    /// What it does.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Contender::Own { threads: 0, .. } => {
                "The target's own replication, one connection and one applier for each source."
            }
            Contender::Own { .. } => {
                "The target's own replication with slave_parallel_threads for all sources together."
            }
            Contender::Hortator => "One process outside the servers, with its defaults; its start is part of the time.",
            Contender::BySchema => {
                "The same, where transactions of one source that write to the same database wait for each other."
            }
            Contender::Client => "One connection; the usual way of point-in-time recovery.",
            Contender::Files => "One process with its defaults; its start is part of the time.",
        }
    }

    /// Whether it is not Hortator.
    #[must_use]
    pub fn is_rival(self) -> bool {
        matches!(self, Contender::Own { .. } | Contender::Client)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Contender::Own { threads: 0, .. } => f.write_str("own replication, no parallel threads"),
            Contender::Own { threads, is_optimistic } => {
                let mode = if *is_optimistic { "optimistic" } else { "conservative" };
                write!(f, "own replication, {threads} threads {mode}")
            }
            Contender::Hortator => f.write_str("hortator replicate"),
            Contender::BySchema => f.write_str("hortator replicate --order=schema"),
            Contender::Client => f.write_str("mariadb-binlog, piped into mariadb"),
            Contender::Files => f.write_str("hortator replicate run --from-files"),
        }
    }
}

/// What an agent has used.
#[derive(Clone, Copy, Debug)]
pub struct Agent {
    /// CPU time.
    pub cpu: Duration,
    /// Peak resident memory, in bytes.
    pub peak_bytes: u64,
}

impl Agent {
    /// With another run of it.
    pub(super) fn and(self, usage: measure::Usage) -> Self {
        Self { cpu: self.cpu + usage.cpu, peak_bytes: self.peak_bytes.max(usage.peak_bytes) }
    }
}

/// Drains all backlogs; gives the time that it took, and the agent's share.
pub(super) fn drain(
    contender: Contender,
    sources: &[Source],
    target: &Temporary,
    hortator: &Path,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<(Duration, Option<Agent>), Error> {
    match contender {
        Contender::Own { .. } | Contender::Hortator | Contender::BySchema => {
            let (mut applier, begin) = Applier::start(contender, sources, target, hortator, folder, stop)?;
            let ends: Vec<(&str, LogPosition)> =
                sources.iter().map(|source| (source.schema.as_str(), source.end.clone())).collect();
            applier.wait(&ends)?;
            Ok((begin.elapsed(), applier.stop()?))
        }
        Contender::Client => {
            recovery::by_client(sources, target, folder, stop).map(|(wall, agent)| (wall, Some(agent)))
        }
        Contender::Files => {
            recovery::by_hortator(sources, target, hortator, folder, stop).map(|(wall, agent)| (wall, Some(agent)))
        }
    }
}
