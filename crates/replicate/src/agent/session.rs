//! A session of a source: connected to it and to the target, until one of them fails or something else is wished.

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hortator_mysql::{BinlogRequest, BinlogStream, ConnectOptions, Connection};

use super::source_task::{SourceTask, Wish};
use super::status::SourceState;
use crate::apply::{Applier, InDoubt, SourcePosition};
use crate::source::{Arrival, Popped, Queue};
use crate::{apply, source};

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
}

/// How a session ended without an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Something else is wished; everything that was taken is committed.
    AsWished,
}

/// A session.
pub(super) struct Session<'t> {
    pub(super) task: &'t SourceTask,
    /// The target.
    pub(super) target: &'t ConnectOptions,
    /// The source.
    pub(super) host: &'t ConnectOptions,
    pub(super) in_doubt: InDoubt,
    /// The next transaction is passed over.
    pub(super) skips: bool,
    /// Transactions of it that are in the status.
    pub(super) counted: u64,
}

impl Session<'_> {
    /// Connects, and applies what comes.
    pub(super) fn run(&mut self) -> Result<Ended, Error> {
        let task = self.task;
        let target = Connection::open(self.target)
            .map_err(|error| apply::Error::Prepare { doing: "connecting to the target".to_owned(), error })?;
        let mut applier = Applier::open(target, &task.target.schema, &task.options.name, self.in_doubt)?
            .with_rules(task.options.rules.clone());
        let options = ConnectOptions { read_timeout: Some(SILENCE_LIMIT), ..self.host.clone() };
        let cannot = |error| source::Error::Server { doing: "connecting to the source".to_owned(), error };
        let mut connection = Connection::open(&options).map_err(cannot)?;
        let at = match applier.position() {
            Some(at) => {
                let at = at.clone();
                // Another host of the source has other files.
                if task.options.hosts.len() == 1 {
                    source::check_history(&mut connection, &at)?;
                }
                at
            }
            None => {
                let start = source::first_position(&mut connection, &task.options.start)?;
                applier.start_at(start.clone())?;
                start
            }
        };
        note_applied(task, &at);
        let start = source::request(&at, connection.version().flavor)?;
        let request =
            BinlogRequest { server_id: task.options.server_id, start, waits: true, heartbeat_ms: HEARTBEAT_MS };
        let stream = BinlogStream::open(connection, &request).map_err(cannot)?;
        task.tell(&format!("reads {} from {}", self.host.address, at));
        task.note(|status| (status.state, status.error) = (SourceState::Running, None));
        let queue = Queue::new(task.target.queue_limit_bytes);
        thread::scope(|scope| {
            scope.spawn(|| source::read(stream, at.position, &queue));
            let ended = self.apply(&mut applier, &queue);
            if let Err(Error::Apply(_)) = &ended {
                // What is at fault is the next one then, which can be skipped. Where it fails, nothing is lost.
                let _ = applier.record();
            }
            queue.close();
            ended
        })
    }

    fn apply(&mut self, applier: &mut Applier, queue: &Queue) -> Result<Ended, Error> {
        let mut timestamp_s = None;
        loop {
            match self.task.wished() {
                Wish::Pause | Wish::End if !applier.must_finish() => {
                    applier.flush()?;
                    applier.record()?;
                    self.note(applier, None);
                    // The thread that reads may wait for the source a little longer.
                    self.task.note(|status| status.state = SourceState::Paused);
                    return Ok(Ended::AsWished);
                }
                // It is for a source that has stopped.
                Wish::Skip => self.task.wish(Wish::Run),
                Wish::Run | Wish::Pause | Wish::End => {}
            }
            let wait = if applier.has_group() { GROUP_WAIT } else { WISH_INTERVAL };
            let had_group = applier.has_group();
            match queue.pop(wait) {
                Popped::Nothing if had_group => {
                    applier.flush()?;
                    self.note(applier, timestamp_s);
                }
                Popped::Arrival(Arrival::Format(event)) => applier.format(&event)?,
                Popped::Arrival(Arrival::Part(part)) if !self.skips && !self.is_ignored(part.server_id) => {
                    applier.apply_part(part)?;
                }
                // Nothing has come, or it is left out.
                Popped::Nothing | Popped::Arrival(Arrival::Part(_)) => {}
                Popped::Arrival(Arrival::Transaction(transaction)) => {
                    timestamp_s = Some(u64::from(transaction.timestamp_s));
                    if std::mem::take(&mut self.skips) {
                        self.task.tell(&format!("skipped: {}", String::from_utf8_lossy(&transaction.text())));
                        applier.skip(&transaction)?;
                    } else if self.is_ignored(transaction.server_id) {
                        applier.pass_over(transaction)?;
                    } else {
                        applier.apply(transaction)?;
                    }
                    if !applier.has_group() {
                        self.note(applier, timestamp_s);
                    }
                }
                Popped::Arrival(Arrival::Idle(at)) => {
                    applier.flush()?;
                    self.note(applier, None);
                    // What the source's log has behind the last transaction changes nothing.
                    self.task.note(|status| {
                        status.lag_s = Some(0);
                        let applied = (status.applied_file.as_bytes(), status.applied_position);
                        if (&at.file[..], at.position) > applied {
                            status.applied_file = String::from_utf8_lossy(&at.file).into_owned();
                            status.applied_position = at.position;
                        }
                    });
                }
                Popped::Arrival(Arrival::Failed(error)) => {
                    applier.flush()?;
                    self.note(applier, timestamp_s);
                    return Err(error.into());
                }
            }
        }
    }

    /// Whether transactions that were first made on a server are left out.
    fn is_ignored(&self, server_id: u32) -> bool {
        self.task.options.ignore_server_ids.contains(&server_id)
    }

    /// Takes note of what is committed; `timestamp_s` is the source's time of the last transaction.
    fn note(&mut self, applier: &Applier, timestamp_s: Option<u64>) {
        let new = applier.transactions() - self.counted;
        self.counted += new;
        self.task.note(|status| status.transactions += new);
        if let Some(at) = applier.position() {
            note_applied(self.task, at);
        }
        if let Some(timestamp_s) = timestamp_s {
            let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            self.task.note(|status| status.lag_s = Some(now_s.saturating_sub(timestamp_s)));
        }
    }
}

fn note_applied(task: &SourceTask, at: &SourcePosition) {
    task.note(|status| {
        status.applied_file = String::from_utf8_lossy(&at.position.file).into_owned();
        status.applied_position = at.position.position;
        status.applied_gtid = at.gtid.to_string();
    });
}
