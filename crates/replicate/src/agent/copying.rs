//! The copy of a source at its first start: what the session does with `snapshot`.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use hortator_mysql::{ConnectOptions, Connection};

use super::session::Error;
use super::source_task::{SourceTask, Wish};
use super::tracker::Phase;
use crate::apply::{self, Applier, SourcePosition};
use crate::rules::Rules;
use crate::snapshot::{self, Copied, Copy, CopyStatus, Monitor, OtherSource, Wanted, has_record, move_staged};

/// Copies that run side by side: each has its connections to the target, and its memory.
const COPIES_LIMIT: usize = 4;
/// How often one that waits for its turn looks whether it is still wanted.
const WAIT_INTERVAL: Duration = Duration::from_millis(100);

/// The copies under way.
#[derive(Debug, Default)]
pub(super) struct CopySlots {
    taken: Mutex<usize>,
    changed: Condvar,
}

/// One of them.
struct CopySlot<'s>(&'s CopySlots);

impl CopySlots {
    /// Takes a slot when one is free. None: it is not wanted any more.
    fn take(&self, monitor: &dyn Monitor) -> Option<CopySlot<'_>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken >= COPIES_LIMIT {
            taken = self.changed.wait_timeout(taken, WAIT_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
            if monitor.wanted() == Wanted::End {
                return None;
            }
        }
        *taken += 1;
        Some(CopySlot(self))
    }
}

impl Drop for CopySlot<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.changed.notify_one();
    }
}

impl Monitor for SourceTask {
    fn wanted(&self) -> Wanted {
        let wanted = match self.wished(Phase::Source) {
            // It begins anew.
            Wish::End | Wish::CopyAgain => Wanted::End,
            Wish::Pause => Wanted::Hold,
            Wish::Run => Wanted::Run,
            // There is no transaction yet.
            Wish::Skip => {
                self.wish(Wish::Run);
                Wanted::Run
            }
        };
        if wanted != Wanted::End {
            self.track(|tracker, now| tracker.on_copying(wanted == Wanted::Hold, now));
        }
        wanted
    }

    fn note(&self, copy: CopyStatus) {
        self.track(|tracker, _| tracker.set_copy(Some(copy)));
    }

    fn tell(&self, text: &str) {
        SourceTask::tell(self, text);
    }
}

/// Turns the source into one that is yet to be copied.
pub(super) fn forget(
    task: &SourceTask,
    target: &ConnectOptions,
    host: &ConnectOptions,
    rules: &Rules,
) -> Result<(), Error> {
    let others = task.target.sources.iter().filter(|source| source.name != task.name() && source.files.is_none());
    let others: Vec<OtherSource<'_>> =
        others.map(|source| OtherSource { name: &source.name, hosts: &source.hosts, rules: &source.rules }).collect();
    Ok(of(task, target, host, rules).forget(&others)?)
}

fn of<'c>(task: &'c SourceTask, target: &'c ConnectOptions, host: &'c ConnectOptions, rules: &'c Rules) -> Copy<'c> {
    Copy {
        source: host,
        target,
        schema: &task.target.schema,
        name: task.name(),
        server_id: task.options.server_id,
        rules,
        monitor: task,
    }
}

/// Copies the source, and records where its log goes on. None: it shall end.
pub(super) fn copy(
    task: &SourceTask,
    target: &ConnectOptions,
    host: &ConnectOptions,
    rules: &Rules,
    applier: &mut Applier,
) -> Result<Option<SourcePosition>, Error> {
    let Some(_slot) = task.target.copies.take(task) else { return Ok(None) };
    task.tell(&format!("copies {}", host.address));
    let copied = of(task, target, host, rules).run();
    let counted = task.track(|tracker, _| tracker.copy()).unwrap_or_default();
    task.track(|tracker, _| tracker.set_copy(None));
    let Copied { position, ends } = match copied {
        Err(snapshot::Error::Ended) => return Ok(None),
        copied => copied?,
    };
    applier.start_behind_copy(position.clone(), &ends)?;
    task.tell(&format!("has copied {} tables, {} rows", counted.tables, counted.rows));
    Ok(Some(position))
}

/// Moves what a copy has left to be moved among the rows of other sources. False: it shall end.
pub(super) fn move_rest(task: &SourceTask, target: &ConnectOptions) -> Result<bool, Error> {
    let moved = move_staged(target, &task.target.schema, task.name(), task);
    task.track(|tracker, _| tracker.set_copy(None));
    Ok(moved?)
}

/// Another start does not go on from half a copy.
pub(super) fn refuse_unfinished(task: &SourceTask, target: &ConnectOptions) -> Result<(), Error> {
    let (schema, name) = (&task.target.schema, task.name());
    let cannot = |error| apply::Error::Prepare { doing: "looking for an unfinished copy".to_owned(), error };
    let mut target = Connection::open(target).map_err(cannot)?;
    if !has_record(&mut target, schema, name).map_err(cannot)? {
        return Ok(());
    }
    Err(snapshot::Error::Refused(format!(
        "the target has an unfinished copy of this source: start it with start = \"snapshot\" once more; or drop what \
         `{schema}`.`{}` lists for it, and delete its rows there",
        snapshot::RECORD_TABLE
    ))
    .into())
}
