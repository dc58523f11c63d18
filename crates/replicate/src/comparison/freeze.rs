//! Snapshots of sources and of the target that belong together.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use hortator_check::compare::{View, open_session};
use hortator_mysql::{ConnectOptions, Connection};

use super::holder::{Held, Holder};
use super::{ComparisonOptions, Source, recorded_gtid};
use crate::agent::{AgentOptions, HoldState, SourceState, SourceStatus};
use crate::apply::SourcePosition;
use crate::snapshot::{begin, snapshot_position, with_lock, without_lock};

/// How often the agent and the target are asked.
const ASK_INTERVAL: Duration = Duration::from_millis(20);
/// How long the agent may take to hold a source where it is. One that is in the middle of a statement comes later.
const FIRST_HOLD_LIMIT: Duration = Duration::from_secs(1);
/// How often snapshots are taken anew that the target has passed already.
const ATTEMPTS: usize = 10;

/// Connections in one snapshot of a source, and its position.
pub(super) type FrozenSource = (Vec<Connection>, SourcePosition);

/// Snapshots that belong together.
pub(super) struct Frozen {
    /// In the order of the sources.
    pub(super) sources: Vec<FrozenSource>,
    pub(super) target: View,
}

/// Why there are none: which source is at fault, if it is one.
#[derive(Debug)]
pub(super) struct Failed {
    source: Option<(usize, String)>,
    reason: String,
}

impl Failed {
    /// For one of the sources that were to be frozen together.
    pub(super) fn reason_for(&self, index: usize) -> String {
        match &self.source {
            Some((at_fault, name)) if *at_fault != index => format!(
                "rows of it are in one table with rows of {name}, which could not be frozen at the same time: {}",
                self.reason
            ),
            _ => self.reason.clone(),
        }
    }
}

/// Takes snapshots.
pub(super) struct Freeze<'s> {
    options: &'s AgentOptions,
    wanted: &'s ComparisonOptions,
    node: &'s ConnectOptions,
    holder: Holder<'s>,
}

impl<'s> Freeze<'s> {
    pub(super) fn new(
        options: &'s AgentOptions,
        socket: &'s Path,
        wanted: &'s ComparisonOptions,
        node: &'s ConnectOptions,
    ) -> Freeze<'s> {
        Freeze { options, wanted, node, holder: Holder::new(socket) }
    }

    /// Freezes sources, and the target when it has exactly that of all of them. The sources are applied on afterwards.
    pub(super) fn run(&mut self, sources: &[(usize, Source<'_>)]) -> Result<Frozen, Failed> {
        let frozen = self.freeze(sources);
        self.holder.release();
        frozen
    }

    fn freeze(&mut self, sources: &[(usize, Source<'_>)]) -> Result<Frozen, Failed> {
        let of_target = |doing: &str, error: &hortator_mysql::Error| Failed {
            source: None,
            reason: format!("the target ({}), {doing}: {error}", self.node.address),
        };
        let cannot_open = |error: hortator_mysql::Error| of_target("connecting", &error);
        let mut target = open_session(self.node).map_err(cannot_open)?;
        let guide = open_session(self.node).map_err(cannot_open)?;
        let end = Instant::now() + self.wanted.timeout;
        self.hold_where_they_are(sources)?;
        let mut frozen = Vec::new();
        for (index, source) in sources {
            frozen.push(self.open_source(source).map_err(|reason| failed(*index, source, reason))?);
        }
        let mut attempts = 0;
        let mut number = 0;
        // Those that are there are held until the last one is.
        while let Some((index, source)) = sources.get(number) {
            for ((_, other), (_, position)) in sources.iter().zip(&frozen) {
                // What the agent says is of use below, where the target is asked.
                self.holder.hold(&other.options.name, Some(&position.gtid));
            }
            let position = &frozen[number].1;
            match self.look(source, position, &mut target, end).map_err(|reason| failed(*index, source, reason))? {
                Look::There => number += 1,
                Look::Passed if attempts < ATTEMPTS => {
                    attempts += 1;
                    frozen[number] = self.open_source(source).map_err(|reason| failed(*index, source, reason))?;
                }
                Look::Passed => {
                    let reason =
                        "the target was always behind the snapshot of the source: another process applies the \
                                  source, or writes the table of positions"
                            .to_owned();
                    return Err(failed(*index, source, reason));
                }
                Look::Before => thread::sleep(ASK_INTERVAL),
            }
        }
        let connections = self.open_target(sources, &frozen)?;
        let name = format!("the target ({})", self.node.address);
        Ok(Frozen { sources: frozen, target: View { name, connections, guide } })
    }

    /// The agent stops taking transactions, so that the snapshots are not behind what the target has.
    fn hold_where_they_are(&mut self, sources: &[(usize, Source<'_>)]) -> Result<(), Failed> {
        let end = Instant::now() + FIRST_HOLD_LIMIT;
        for (index, source) in sources {
            loop {
                match self.holder.hold(&source.options.name, None) {
                    Held::State(HoldState::Waiting) if Instant::now() < end => thread::sleep(ASK_INTERVAL),
                    Held::State(_) | Held::NoAgent => break,
                    Held::Refused(reason) => return Err(failed(*index, source, reason)),
                }
            }
        }
        Ok(())
    }

    /// As many connections to a source as see the same, of those that are wanted.
    fn open_source(&self, source: &Source<'_>) -> Result<FrozenSource, String> {
        let cannot = |error: hortator_mysql::Error| format!("taking a snapshot: {error}");
        if !source.guide.version().is_mariadb() {
            return self.open_mysql(source);
        }
        let mut opened: Vec<FrozenSource> = Vec::new();
        for _ in 0..self.wanted.threads.max(1) {
            let mut connection = open_session(source.host).map_err(cannot)?;
            begin(&mut connection).map_err(|error| error.to_string())?;
            let position = snapshot_position(&mut connection).map_err(|error| error.to_string())?;
            match opened.iter_mut().find(|(_, at)| at.position == position.position) {
                Some((connections, _)) => connections.push(connection),
                None => opened.push((vec![connection], position)),
            }
        }
        // Where transactions came between, the largest group stays.
        let best = opened.into_iter().max_by_key(|(connections, _)| connections.len());
        best.ok_or_else(|| "taking a snapshot: no connection".to_owned())
    }

    /// The connections to a MySQL source, all of one moment.
    fn open_mysql(&self, source: &Source<'_>) -> Result<FrozenSource, String> {
        let open = || open_session(source.host).map_err(|error| format!("taking a snapshot: {error}"));
        let mut readers = (0..self.wanted.threads.max(1)).map(|_| open()).collect::<Result<Vec<_>, _>>()?;
        let text = |error: crate::snapshot::Error| error.to_string();
        if let Some(position) = without_lock(&mut readers).map_err(text)? {
            return Ok((readers, position));
        }
        let frozen = with_lock(&mut open()?, || readers.iter_mut().try_for_each(begin));
        let ((), position) = frozen.map_err(text)?;
        if position.gtid.set().is_none() {
            return Err(
                "a MySQL source without gtid_mode = ON cannot be held at a place of its log: pause it, let nothing \
                        write to it, and compare the servers with `hortator verify A B`"
                    .to_owned(),
            );
        }
        Ok((readers, position))
    }

    /// Whether the target has exactly what a snapshot has.
    fn look(
        &mut self,
        source: &Source<'_>,
        position: &SourcePosition,
        target: &mut Connection,
        end: Instant,
    ) -> Result<Look, String> {
        let name = &source.options.name;
        let held = self.holder.hold(name, Some(&position.gtid));
        let recorded = recorded_gtid(target, &self.options.schema, name);
        let recorded = recorded.map_err(|error| format!("reading its position in the target: {error}"))?;
        if recorded.as_deref() == Some(&position.gtid.to_string()) {
            return Ok(Look::There);
        }
        let has = recorded.map_or("has nothing of it yet".to_owned(), |at| format!("has it up to `{at}`"));
        match held {
            Held::State(HoldState::Passed) => return Ok(Look::Passed),
            Held::State(HoldState::Waiting | HoldState::Held) => {}
            Held::Refused(reason) => return Err(reason),
            Held::NoAgent => {
                return Err(format!(
                    "the target {has}, the source is at `{}`, and nothing runs this configuration: start \
                     `hortator replicate run`, or end all writes on the source",
                    position.gtid
                ));
            }
        }
        let status = self.holder.status(name);
        match status.as_ref().and_then(objection) {
            Some(reason) => Err(reason),
            None if Instant::now() >= end => {
                let lag =
                    status.and_then(|status| status.lag_s).map_or_else(String::new, |lag| format!(", {lag} s behind"));
                Err(format!(
                    "the target was not at `{}` within {} s, and {has}{lag}: compare when it has caught up, or give a \
                     longer --timeout",
                    position.gtid,
                    self.wanted.timeout.as_secs()
                ))
            }
            None => Ok(Look::Before),
        }
    }

    /// Connections to the target that see the positions of the snapshots: all of them, or none.
    fn open_target(
        &mut self,
        sources: &[(usize, Source<'_>)],
        frozen: &[FrozenSource],
    ) -> Result<Vec<Connection>, Failed> {
        let of_target = |error: &dyn std::fmt::Display| Failed {
            source: None,
            reason: format!("the target ({}), taking a snapshot: {error}", self.node.address),
        };
        let wanted = frozen.iter().map(|(connections, _)| connections.len()).min().unwrap_or(1);
        let mut connections = Vec::new();
        for _ in 0..wanted {
            let mut connection = open_session(self.node).map_err(|error| of_target(&error))?;
            begin(&mut connection).map_err(|error| of_target(&error))?;
            for ((index, source), (_, position)) in sources.iter().zip(frozen) {
                let name = &source.options.name;
                let recorded = recorded_gtid(&mut connection, &self.options.schema, name);
                let recorded = recorded.map_err(|error| of_target(&error))?;
                if recorded.as_deref() != Some(&position.gtid.to_string()) {
                    let reason =
                        "the source was applied further while the target was frozen: another process applies it, or \
                                  this one was held up for long. Try again"
                            .to_owned();
                    return Err(failed(*index, source, reason));
                }
            }
            connections.push(connection);
        }
        Ok(connections)
    }
}

/// Where the target stands.
enum Look {
    Before,
    There,
    Passed,
}

/// Why a source does not come to its position.
fn objection(status: &SourceStatus) -> Option<String> {
    let error = status.error.as_deref().unwrap_or_default();
    let name = &status.name;
    match status.state {
        SourceState::Running | SourceState::Connecting => None,
        SourceState::Copying => Some("the source is being copied: compare when that is done".to_owned()),
        SourceState::Paused => {
            Some(format!("the source is paused before the snapshot's place: `hortator replicate resume FILE {name}`"))
        }
        SourceState::Stopped => Some(format!(
            "the source is stopped: {error}\n  mend it, `hortator replicate resume FILE {name}`, and compare then"
        )),
        SourceState::Ended | SourceState::Complete => {
            Some("the source is not applied any more: start `hortator replicate run`".to_owned())
        }
    }
}

fn failed(index: usize, source: &Source<'_>, reason: String) -> Failed {
    Failed { source: Some((index, source.options.name.clone())), reason }
}
