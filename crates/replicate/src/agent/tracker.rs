//! What has become of a source, and the status that follows from it: pure, with the time as a value.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::conflict::ConflictNotes;
use super::lag::Lag;
use super::rate::Rate;
use super::status::{SourceState, SourceStatus, WaitsFor};
use super::uncommitted::Committed;
use crate::apply::{ConflictPolicy, SourcePosition, TableConflicts};
use crate::snapshot::CopyStatus;
use crate::transaction::LogPosition;

/// A statement that has run for this long is asked about.
const LONG_STATEMENT: Duration = Duration::from_secs(1);

/// A time, by both clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) at: Instant,
    /// Since 1970.
    pub(super) unix_s: u64,
}

impl Now {
    pub(super) fn read() -> Now {
        let unix_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Now { at: Instant::now(), unix_s }
    }
}

/// What a session waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// There is none.
    None,
    /// For the source.
    Source,
    /// For the target.
    Target,
}

/// A statement of a session that runs for long: the connection's number at the target, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LongStatement {
    pub(super) connection: u32,
    pub(super) since: Instant,
}

/// What the target says of such a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Explanation {
    pub(super) waits_for_lock: bool,
    pub(super) text: String,
}

/// A source.
#[derive(Debug)]
pub(super) struct Tracker {
    /// What only grows, or is set as it is; the rest is filled in when someone asks.
    status: SourceStatus,
    begin: Instant,
    /// When the state, or the pause before a retry, began.
    state_since: Instant,
    retry_at: Option<Instant>,
    at_transaction: bool,
    /// It is to be copied once more: what is applied until then counts no more.
    copies_again: bool,
    applied: SourcePosition,
    /// The host that is read, and the one whose log `applied` is a place of: others have other files.
    host: usize,
    applied_host: Option<usize>,
    lag: Lag,
    rate: Rate,
    phase: Phase,
    phase_since: Instant,
    source_wait: Duration,
    target_wait: Duration,
    connection: Option<Arc<AtomicU32>>,
    explanation: Option<(Instant, Explanation)>,
    conflicts: ConflictNotes,
}

impl Tracker {
    pub(super) fn new(name: &str, now: Now) -> Tracker {
        Tracker {
            status: SourceStatus { name: name.to_owned(), ..SourceStatus::default() },
            begin: now.at,
            state_since: now.at,
            retry_at: None,
            at_transaction: false,
            copies_again: false,
            applied: SourcePosition::default(),
            host: 0,
            applied_host: None,
            lag: Lag::default(),
            rate: Rate::default(),
            phase: Phase::None,
            phase_since: now.at,
            source_wait: Duration::ZERO,
            target_wait: Duration::ZERO,
            connection: None,
            explanation: None,
            conflicts: ConflictNotes::default(),
        }
    }

    pub(super) fn state(&self) -> SourceState {
        self.status.state
    }

    pub(super) fn phase(&self) -> Phase {
        self.phase
    }

    pub(super) fn error(&self) -> Option<&str> {
        self.status.error.as_deref()
    }

    /// What has stopped it is a transaction.
    pub(super) fn is_at_transaction(&self) -> bool {
        self.at_transaction
    }

    pub(super) fn set_state(&mut self, state: SourceState, now: Now) {
        if self.status.state != state {
            (self.status.state, self.state_since) = (state, now.at);
        }
        self.retry_at = None;
    }

    /// A session begins to connect.
    pub(super) fn on_connecting(&mut self, host: usize, address: String, now: Now) {
        (self.host, self.status.host) = (host, address);
        self.set_state(SourceState::Connecting, now);
        self.state_since = now.at;
    }

    /// The session applies, and waits for this connection to the target, as it changes.
    pub(super) fn on_connected(&mut self, connection: Arc<AtomicU32>) {
        self.connection = Some(connection);
        self.status.connections = 1;
    }

    /// The session has so many connections to the target, and groups were rolled back so often to run again.
    pub(super) fn on_workers(&mut self, new_replays: u64, connections: usize) {
        self.status.replays += new_replays;
        self.status.connections = connections as u64;
    }

    /// The session copies the source, and may be held by a person.
    pub(super) fn on_copying(&mut self, is_held: bool, now: Now) {
        self.set_state(if is_held { SourceState::Paused } else { SourceState::Copying }, now);
    }

    /// The copy is so far; none where it has ended.
    pub(super) fn set_copy(&mut self, copy: Option<CopyStatus>) {
        self.status.copy = copy;
        if copy.is_some() {
            self.status.error = None;
        }
    }

    /// How far the copy is.
    pub(super) fn copy(&self) -> Option<CopyStatus> {
        self.status.copy
    }

    /// The session applies what comes, from a position on. Where the source has one host, the position is of its log.
    pub(super) fn on_running(&mut self, at: &SourcePosition, has_one_host: bool, now: Now) {
        self.applied = at.clone();
        self.applied_host = has_one_host.then_some(self.host);
        self.copies_again = false;
        self.status.copied_tables.clear();
        self.status.error = None;
        self.set_state(SourceState::Running, now);
    }

    /// It is to be copied once more, or some of its tables, from now on.
    pub(super) fn on_copy_again(&mut self) {
        self.copies_again = true;
    }

    /// The session copies these tables of the target by themselves.
    pub(super) fn on_copying_tables(&mut self, tables: Vec<String>, now: Now) {
        self.copies_again = true;
        self.status.copied_tables = tables;
        self.set_state(SourceState::Copying, now);
    }

    /// It is not copied once more: it goes on as before.
    pub(super) fn on_copy_refused(&mut self) {
        self.copies_again = false;
    }

    /// The session has ended. The next one begins after a pause.
    pub(super) fn on_retry(&mut self, error: String, pause: Duration, now: Now) {
        self.status.retries += 1;
        self.status.error = Some(error);
        self.set_state(SourceState::Connecting, now);
        (self.state_since, self.retry_at) = (now.at, Some(now.at + pause));
    }

    /// The session has ended, and a person must see to it.
    pub(super) fn on_stop(&mut self, error: String, at_transaction: bool, is_conflict: bool, now: Now) {
        self.status.stops += 1;
        self.status.conflicts += u64::from(is_conflict);
        (self.status.error, self.at_transaction) = (Some(error), at_transaction);
        self.set_state(SourceState::Stopped, now);
    }

    /// Rows of a committed transaction did not fit, and were dealt with. Gives what is to be told of that.
    pub(super) fn on_conflicts(&mut self, found: &TableConflicts, policy: ConflictPolicy) -> Option<String> {
        let count = match policy {
            ConflictPolicy::Overwrite => &mut self.status.conflicts_overwritten,
            ConflictPolicy::Ignore | ConflictPolicy::Error => &mut self.status.conflicts_ignored,
        };
        *count += found.rows;
        self.status.conflicts += found.rows;
        self.conflicts.add(found, policy)
    }

    /// A transaction was passed over because of an error of the target.
    pub(super) fn on_passed_over(&mut self) {
        self.status.passed_over += 1;
    }

    /// A person says that it goes on: who asks next does not take the old error for a new one.
    pub(super) fn on_resume(&mut self, now: Now) {
        if self.state() == SourceState::Stopped {
            self.set_state(SourceState::Connecting, now);
        }
    }

    /// The session waits for something else now.
    pub(super) fn set_phase(&mut self, phase: Phase, now: Now) {
        if phase == self.phase {
            return;
        }
        let (source_wait, target_wait) = self.waits(now);
        (self.source_wait, self.target_wait) = (source_wait, target_wait);
        (self.phase, self.phase_since, self.explanation) = (phase, now.at, None);
        if phase == Phase::None {
            self.connection = None;
            self.status.connections = 0;
        }
    }

    /// Transactions are committed, as so many of the target, up to a position.
    pub(super) fn on_committed(&mut self, committed: Committed, groups: u64, at: &SourcePosition, now: Now) {
        self.status.transactions += committed.transactions;
        self.status.applied_bytes += committed.bytes;
        self.status.groups += groups;
        self.rate.add(self.second(now), committed.transactions);
        // The target has answered: what it is waited for from now on is something else.
        if self.phase == Phase::Target {
            (self.source_wait, self.target_wait) = self.waits(now);
            (self.phase_since, self.explanation) = (now.at, None);
        }
        self.applied = at.clone();
        self.applied_host = Some(self.host);
        if let Some(began_s) = committed.timestamp_s {
            self.lag.on_commit(began_s);
        }
    }

    /// The target has everything, and the log ends here.
    pub(super) fn on_idle(&mut self, at: &LogPosition, now: Now) {
        let applied = &mut self.applied.position;
        // What the source's log has behind the last transaction changes nothing.
        if (&at.file, at.position) > (&applied.file, applied.position) || self.applied_host != Some(self.host) {
            *applied = at.clone();
        }
        self.applied_host = Some(self.host);
        self.lag.on_idle(now.at, now.unix_s);
    }

    /// The source has said what its log had behind a position.
    pub(super) fn on_log(&mut self, bytes: Option<u64>, now: Now) {
        self.lag.on_log(bytes, now.at, now.unix_s);
    }

    /// Where the target was, for a question to a host; `None` while a running session has heard that nothing is behind it.
    pub(super) fn position_for_log(&self, now: Now) -> Option<(usize, SourcePosition)> {
        let is_idle = self.phase == Phase::Source && self.lag.is_idle(now.at);
        if self.status.copy.is_some() {
            return None;
        }
        if self.status.state == SourceState::Ended || self.status.state == SourceState::Running && is_idle {
            return None;
        }
        let mut at = self.applied.clone();
        if self.applied_host != Some(self.host) {
            at.position = LogPosition::default();
        }
        Some((self.host, at))
    }

    /// What runs at the target for long.
    pub(super) fn long_statement(&self, now: Now) -> Option<LongStatement> {
        let is_long =
            self.phase == Phase::Target && now.at.saturating_duration_since(self.phase_since) >= LONG_STATEMENT;
        let connection = self.connection.as_ref().filter(|_| is_long)?.load(Ordering::Relaxed);
        Some(LongStatement { connection, since: self.phase_since })
    }

    /// The target has said why; nothing where it does not know the statement any more.
    pub(super) fn on_explained(&mut self, statement: LongStatement, explanation: Option<Explanation>) {
        if self.phase_since == statement.since {
            self.explanation = explanation.map(|explanation| (statement.since, explanation));
        }
    }

    pub(super) fn status(&mut self, read_bytes: u64, now: Now) -> SourceStatus {
        let second = self.second(now);
        let (source_wait, target_wait) = self.waits(now);
        let (waits_for, waits) = self.waiting(now);
        let explained = self.explanation.as_ref().filter(|(since, _)| *since == self.phase_since);
        let detail = explained.filter(|_| matches!(waits_for, Some(WaitsFor::Target | WaitsFor::Lock)));
        let nothing = SourcePosition::default();
        let applied = if self.copies_again { &nothing } else { &self.applied };
        let state = match self.status.state {
            SourceState::Running if self.copies_again => SourceState::Copying,
            state => state,
        };
        SourceStatus {
            state,
            applied_file: String::from_utf8_lossy(&applied.position.file).into_owned(),
            applied_position: applied.position.position,
            applied_gtid: applied.gtid.to_string(),
            lag_s: self.lag.seconds(self.status.state, self.at_transaction, now.at, now.unix_s),
            lag_bytes: self.lag.bytes(now.at),
            transactions_per_s: self.rate.per_s(second),
            waits_for,
            waits_s: waits.as_secs(),
            waits_detail: detail.map(|(_, explanation)| explanation.text.clone()),
            read_bytes,
            source_wait_s: seconds(source_wait),
            target_wait_s: seconds(target_wait),
            ..self.status.clone()
        }
    }

    /// What it waits for, and how long it has, or will until a retry.
    fn waiting(&self, now: Now) -> (Option<WaitsFor>, Duration) {
        let since = |at: Instant| now.at.saturating_duration_since(at);
        let waits_for_lock = self.explanation.as_ref().is_some_and(|(_, said)| said.waits_for_lock);
        match (self.status.state, self.phase) {
            (SourceState::Ended, _) => (None, Duration::ZERO),
            (SourceState::Paused | SourceState::Stopped, _) => (Some(WaitsFor::Person), since(self.state_since)),
            (SourceState::Connecting, Phase::None) => match self.retry_at {
                Some(at) => {
                    // A second that has begun counts.
                    let left = at.saturating_duration_since(now.at) + Duration::from_millis(999);
                    (Some(WaitsFor::Retry), left)
                }
                None => (Some(WaitsFor::Source), since(self.state_since)),
            },
            (_, Phase::Target) if waits_for_lock => (Some(WaitsFor::Lock), since(self.phase_since)),
            (_, Phase::Target) => (Some(WaitsFor::Target), since(self.phase_since)),
            (_, Phase::Source | Phase::None) => (Some(WaitsFor::Source), since(self.phase_since)),
        }
    }

    /// What has been waited for, the present phase included.
    fn waits(&self, now: Now) -> (Duration, Duration) {
        let present = now.at.saturating_duration_since(self.phase_since);
        match self.phase {
            Phase::None => (self.source_wait, self.target_wait),
            Phase::Source => (self.source_wait + present, self.target_wait),
            Phase::Target => (self.source_wait, self.target_wait + present),
        }
    }

    fn second(&self, now: Now) -> u64 {
        now.at.saturating_duration_since(self.begin).as_secs()
    }
}

/// Milliseconds say enough.
fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests;
