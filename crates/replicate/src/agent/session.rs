//! A session of a source: connected to it and to the target, until one of them fails or something else is wished.

mod files;
mod hold;
mod tables;

use std::thread;
use std::time::Duration;

use hortator_mysql::{BinlogRequest, BinlogStream, ConnectOptions, Connection};

use super::copying;
use super::hold::Reached;
use super::same_server;
use super::source_task::{SourceTask, Wish};
use super::status::SourceState;
use super::tracker::Phase;
use super::uncommitted::Uncommitted;
use crate::apply::{Applier, InDoubt, LargeTransaction, SourcePosition};
use crate::binlog::GtidState;
use crate::config::Start;
use crate::query::first_value;
use crate::rules::Rules;
use crate::source::{Arrival, LogOrder, Popped, Queue};
use crate::transaction::LogPosition;
use crate::{apply, snapshot, source};

/// How often an idle source reports, in milliseconds: a paused source is noticed within this time.
const HEARTBEAT_MS: u64 = 500;
/// A source that says nothing for this long is taken for lost. It may have to search its log for the start.
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// How long a group waits for further transactions while none comes.
const GROUP_WAIT: Duration = Duration::from_millis(2);
/// How often it is asked what is wished.
const WISH_INTERVAL: Duration = Duration::from_millis(100);

/// Why a session failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The source.
    #[error(transparent)]
    Source(#[from] source::Error),
    /// The target.
    #[error(transparent)]
    Apply(#[from] apply::Error),
    /// The copy of the source.
    #[error(transparent)]
    Snapshot(#[from] snapshot::Error),
}

/// How a session ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Something else is wished; everything that was taken is committed.
    AsWished,
    /// Everything that was asked for is committed: of files only.
    Complete,
    /// Everything up to [`Session::until`] is committed.
    Reached,
}

/// A session.
pub(super) struct Session<'t> {
    task: &'t SourceTask,
    /// The target.
    target: &'t ConnectOptions,
    /// The source.
    host: &'t ConnectOptions,
    in_doubt: InDoubt,
    /// The next transaction is passed over.
    skips: bool,
    /// How the first large transaction is applied.
    next_large: LargeTransaction,
    uncommitted: Uncommitted,
    /// Transactions and groups that are in the status.
    counted: (u64, u64),
    /// Replays and connections that are in the status.
    seen: (u64, usize),
    /// Everything up to there is taken; known while a comparison holds the source.
    taken: Option<GtidState>,
    /// Nothing behind this place of the log is taken.
    until: Option<LogPosition>,
    /// The first transaction must stand behind it in the source's log.
    behind: Option<SourcePosition>,
    /// The order of the source's files when the session began.
    order: LogOrder,
}

impl<'t> Session<'t> {
    /// A session with a host. `skips`: the next transaction is passed over. `next_large`: how the first large one
    /// is applied.
    pub(super) fn new(
        task: &'t SourceTask,
        target: &'t ConnectOptions,
        host: &'t ConnectOptions,
        in_doubt: InDoubt,
        skips: bool,
        next_large: LargeTransaction,
    ) -> Session<'t> {
        Session {
            task,
            target,
            host,
            in_doubt,
            skips,
            next_large,
            uncommitted: Uncommitted::default(),
            counted: (0, 0),
            seen: (0, 1),
            taken: None,
            until: None,
            behind: None,
            order: LogOrder::default(),
        }
    }

    /// Lets the target forget how far the source is applied, so that it is copied once more.
    ///
    /// With names of its tables, only these are.
    pub(super) fn forget_copy(&self, tables: &[String]) -> Result<(), Error> {
        let task = self.task;
        task.track(|tracker, now| tracker.set_phase(Phase::Source, now));
        let options = ConnectOptions { read_timeout: Some(SILENCE_LIMIT), ..self.host.clone() };
        let cannot = |error| source::Error::Server { doing: "connecting to the source".to_owned(), error };
        let mut connection = Connection::open(&options).map_err(cannot)?;
        let rules = rules_for(task, &mut connection)?;
        copying::forget(task, self.target, self.host, &rules, tables)?;
        task.on_forgotten(tables);
        Ok(())
    }

    /// Connects, and applies what comes.
    pub(super) fn run(&mut self) -> Result<Ended, Error> {
        let task = self.task;
        task.track(|tracker, now| tracker.set_phase(Phase::Target, now));
        let target = Connection::open(self.target)
            .map_err(|error| apply::Error::Prepare { doing: "connecting to the target".to_owned(), error })?;
        let applier = Applier::open(target, &task.target.schema, &task.options.name, self.in_doubt)?
            .ignoring(task.target.ignore_errors.clone())
            .with_conflict_policy(task.options.conflict)
            .with_next_large(self.next_large)
            .with_workers(self.target, task.target.workers_per_source, &task.target.lock_waits)?
            .ordered_by(task.target.order);
        task.track(|tracker, _| tracker.on_connected(applier.waited_for()));
        if let Some(files) = &task.options.files {
            if !copying::move_rest(task, self.target)? {
                return Ok(Ended::AsWished);
            }
            copying::refuse_listed(task, self.target)?;
            // Whether the server that wrote them folds the names of tables, they do not say.
            return self.run_files(applier.with_rules(task.options.rules.clone()), files);
        }
        task.track(|tracker, now| tracker.set_phase(Phase::Source, now));
        let options = ConnectOptions { read_timeout: Some(SILENCE_LIMIT), ..self.host.clone() };
        let cannot = |error| source::Error::Server { doing: "connecting to the source".to_owned(), error };
        let mut connection = Connection::open(&options).map_err(cannot)?;
        same_server::check(task, &mut connection)?;
        let rules = rules_for(task, &mut connection)?;
        let mut applier = applier.with_rules(rules.clone());
        let at = match applier.position() {
            Some(at) => {
                let at = at.clone();
                self.look_at_log(&mut connection, &at)?;
                let tables = copying::tables_to_copy(task, self.target)?;
                if !tables.is_empty() {
                    return self.copy_tables(applier, &rules, tables);
                }
                complete(&mut applier, &mut connection, &at)?;
                if !at.temporary.is_empty()
                    && source::has_restarted(&mut connection, &options, &at, task.options.server_id)?
                {
                    applier.forget_temporary_tables()?;
                }
                at
            }
            None => {
                let Some(start) = self.first_start(&mut applier, &mut connection, &rules)? else {
                    return Ok(Ended::AsWished);
                };
                // The source says which GTID stands at this place, and goes on behind the first transaction that has it.
                if connection.version().is_mariadb() && !start.gtid.is_empty() && !start.position.file.is_empty() {
                    self.order = LogOrder::of_source(&mut connection);
                    self.behind = Some(start.clone());
                }
                start
            }
        };
        if !copying::move_rest(task, self.target)? {
            return Ok(Ended::AsWished);
        }
        let start = source::request(&at, connection.version().flavor)?;
        let request =
            BinlogRequest { server_id: task.options.server_id, start, waits: true, heartbeat_ms: HEARTBEAT_MS };
        let stream = BinlogStream::open(connection, &request).map_err(cannot)?;
        task.tell(&format!("reads {} from {}", self.host.address, at));
        task.track(|tracker, now| tracker.on_running(&at, task.options.hosts.len() == 1, now));
        let queue = Queue::new(task.target.queue_limit_bytes).counting(task.read_bytes.clone());
        thread::scope(|scope| {
            scope.spawn(|| source::read(stream, at.position, &queue));
            self.drain(&mut applier, &queue)
        })
    }

    /// Applies what comes, and then takes nothing more.
    fn drain(&mut self, applier: &mut Applier, queue: &Queue) -> Result<Ended, Error> {
        let ended = self.apply(applier, queue);
        if let Err(Error::Apply(_)) = &ended {
            // What is at fault is the next one then, which can be skipped. Where it fails, nothing is lost.
            let _ = applier.record();
        }
        // Some may be committed before the one at fault.
        self.note(applier, false);
        queue.close();
        ended
    }

    /// The start of a source of which the target has nothing. None: something else is wished.
    fn first_start(
        &self,
        applier: &mut Applier,
        connection: &mut Connection,
        rules: &Rules,
    ) -> Result<Option<SourcePosition>, Error> {
        let task = self.task;
        if task.options.start == Start::Snapshot {
            return copying::copy(task, self.target, self.host, rules, applier);
        }
        copying::refuse_unfinished(task, self.target)?;
        let start = source::first_position(connection, self.host, &task.options.start, task.options.server_id)?;
        applier.start_at(start.clone())?;
        Ok(Some(start))
    }

    fn apply(&mut self, applier: &mut Applier, queue: &Queue) -> Result<Ended, Error> {
        let mut receiver = queue.receiver();
        loop {
            if self.until.is_none() {
                self.hold(applier)?;
            }
            let phase = if receiver.has_next() { Phase::Target } else { Phase::Source };
            match self.task.wished(phase) {
                Wish::Pause | Wish::CopyAgain | Wish::End if !applier.must_finish() => {
                    self.flush(applier)?;
                    applier.record()?;
                    // The thread that reads may wait for the source a little longer.
                    self.task.track(|tracker, now| tracker.set_state(SourceState::Paused, now));
                    return Ok(Ended::AsWished);
                }
                // It is for a source that has stopped.
                Wish::Skip => self.task.wish(Wish::Run),
                Wish::Run | Wish::Pause | Wish::CopyAgain | Wish::End => {}
            }
            let had_group = applier.has_group();
            match receiver.pop(if had_group { GROUP_WAIT } else { WISH_INTERVAL }) {
                Popped::Nothing if had_group => self.flush(applier)?,
                Popped::Nothing if applier.has_answers_due() => {
                    self.task.wished(Phase::Target);
                    applier.take_answers()?;
                }
                Popped::Nothing => {}
                Popped::Arrival(Arrival::Complete(completion)) => {
                    self.task.wished(Phase::Target);
                    self.flush(applier)?;
                    applier.record()?;
                    self.tell_completion(applier, &completion.0);
                    return Ok(Ended::Complete);
                }
                Popped::Arrival(arrival) => {
                    let reached = self.reaches(&arrival);
                    if reached != Reached::Beyond {
                        self.on_arrival(&arrival);
                        self.take(applier, arrival)?;
                    }
                    if reached != Reached::NotYet {
                        self.flush(applier)?;
                        applier.record()?;
                        return Ok(Ended::Reached);
                    }
                }
            }
        }
    }

    fn take(&mut self, applier: &mut Applier, arrival: Arrival) -> Result<(), Error> {
        if !matches!(arrival, Arrival::Idle(_)) {
            self.task.wished(Phase::Target);
        }
        match arrival {
            Arrival::Format(event) => applier.format(&event)?,
            Arrival::Part(part) => {
                self.check_first(&part.position)?;
                self.uncommitted.take_part(&part);
                if !self.skips && !self.is_ignored(part.server_id) {
                    applier.apply_part(part)?;
                }
            }
            Arrival::Transaction(transaction) => {
                self.check_first(&transaction.position)?;
                while !applier.make_room()? {
                    self.note(applier, false);
                }
                self.uncommitted.take(&transaction);
                if std::mem::take(&mut self.skips) {
                    self.task.tell(&format!("skipped: {}", String::from_utf8_lossy(&transaction.text())));
                    applier.skip(&transaction)?;
                } else if self.is_ignored(transaction.server_id) {
                    applier.pass_over(transaction)?;
                } else {
                    applier.apply(transaction)?;
                }
                self.note(applier, !applier.has_group());
            }
            Arrival::Idle(at) => {
                self.flush(applier)?;
                self.task.track(|tracker, now| tracker.on_idle(&at, now));
            }
            Arrival::Unfinished { has_parts, text, behind } => {
                self.task.tell(&text);
                if has_parts && std::mem::take(&mut self.skips) {
                    applier.skip_unfinished(behind.as_ref())?;
                } else {
                    applier.abandon(behind.as_ref())?;
                }
                self.note(applier, true);
            }
            // It ends the session before it comes here.
            Arrival::Complete(_) => {}
            Arrival::Failed(error) => {
                self.flush(applier)?;
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Looks at the source's log, which is about to be read from this place.
    fn look_at_log(&mut self, connection: &mut Connection, at: &SourcePosition) -> Result<(), Error> {
        self.order = LogOrder::of_source(connection);
        // Another host of the source has other files.
        if self.task.options.hosts.len() == 1 || at.gtid.set().is_some() {
            self.behind = source::check_history(connection, at)?.then(|| at.clone());
        }
        Ok(())
    }

    /// Looks at the first transaction, which ends there, or its first part.
    fn check_first(&mut self, end: &LogPosition) -> Result<(), Error> {
        let Some(at) = self.behind.take() else { return Ok(()) };
        Ok(source::check_first(end, &at, &self.order)?)
    }

    fn flush(&mut self, applier: &mut Applier) -> Result<(), Error> {
        if applier.has_group() {
            self.task.wished(Phase::Target);
        }
        while !applier.settle_group()? {
            self.note(applier, false);
        }
        applier.flush()?;
        self.note(applier, true);
        Ok(())
    }

    /// Whether transactions that were first made on a server are left out.
    fn is_ignored(&self, server_id: u32) -> bool {
        self.task.options.ignore_server_ids.contains(&server_id)
    }

    /// Takes note of what is committed: everything that was taken, or only the first of it.
    fn note(&mut self, applier: &mut Applier, is_all: bool) {
        // Most transactions only join a group: there is nothing new before it is committed.
        if applier.transactions() == self.counted.0 {
            return;
        }
        for text in applier.take_passed_over() {
            self.task.tell(&format!("passed over: {text}"));
            self.task.track(|tracker, _| tracker.on_passed_over());
        }
        for found in applier.take_conflicts() {
            if let Some(text) = self.task.track(|tracker, _| tracker.on_conflicts(&found, self.task.options.conflict)) {
                self.task.tell(&text);
            }
        }
        if let Some(trouble) = applier.take_trouble() {
            self.task.tell(&format!("applies over fewer connections than it could: {trouble}"));
        }
        let (replays, connections) = (applier.replays(), applier.connections());
        if (replays, connections) != self.seen {
            let new = replays - self.seen.0;
            self.task.track(|tracker, _| tracker.on_workers(new, connections));
            self.seen = (replays, connections);
        }
        let (transactions, groups) = (applier.transactions(), applier.groups());
        let new = (transactions - self.counted.0, groups - self.counted.1);
        self.counted = (transactions, groups);
        let Some(at) = applier.position() else { return };
        let committed = self.uncommitted.commit(new.0, is_all);
        self.task.track(|tracker, now| tracker.on_committed(committed, new.1, at, now));
    }
}

/// Gives a position on record its GTID, where it has none and the source goes on by the place: of several domains, the next
/// transaction tells that of one only.
fn complete(applier: &mut Applier, connection: &mut Connection, at: &SourcePosition) -> Result<(), source::Error> {
    if at.gtid.is_empty() && !at.position.file.is_empty() {
        applier.complete_position(source::with_gtid(connection, at.position.clone())?.gtid);
    }
    Ok(())
}

/// The source's rules, which fold the names of tables where it does.
fn rules_for(task: &SourceTask, connection: &mut Connection) -> Result<Rules, Error> {
    let cannot = |error| source::Error::Server { doing: "connecting to the source".to_owned(), error };
    let name_case = first_value(connection, b"SELECT @@lower_case_table_names").map_err(cannot)?;
    let rules = task.options.rules.clone();
    Ok(if name_case == "0" { rules } else { rules.folding() })
}
