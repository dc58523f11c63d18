//! Copies of a source, at its first start and again: what the session does with `snapshot`.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use hortator_mysql::catalog::TableName;
use hortator_mysql::{ConnectOptions, Connection};

use super::session::Error;
use super::source_task::{SourceTask, Wish};
use super::tracker::Phase;
use crate::apply::{self, Applier, SourcePosition};
use crate::rules::Rules;
use crate::snapshot::{
    self, CatchUp, Copied, Copy, CopyStatus, Monitor, OtherSource, Scope, Wanted, has_record, move_staged,
};

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
///
/// With names of its tables, only these: the rest of it goes on.
pub(super) fn forget(
    task: &SourceTask,
    target: &ConnectOptions,
    host: &ConnectOptions,
    rules: &Rules,
    tables: &[String],
) -> Result<(), Error> {
    let others = task.target.sources.iter().filter(|source| source.name != task.name() && source.files.is_none());
    let others: Vec<OtherSource<'_>> =
        others.map(|source| OtherSource { name: &source.name, hosts: &source.hosts, rules: &source.rules }).collect();
    let copy = of(task, target, host, rules);
    let done = if tables.is_empty() { copy.forget(&others) } else { copy.list_tables(tables, &others) };
    Ok(done?)
}

fn of<'c>(task: &'c SourceTask, target: &'c ConnectOptions, host: &'c ConnectOptions, rules: &'c Rules) -> Copy<'c> {
    Copy {
        source: host,
        target,
        schema: &task.target.schema,
        name: task.name(),
        server_id: task.options.server_id,
        rules,
        scope: Scope::All,
        monitor: task,
    }
}

/// The tables of the target that are to be copied by themselves.
pub(super) fn tables_to_copy(task: &SourceTask, target: &ConnectOptions) -> Result<Vec<TableName>, Error> {
    let cannot = |error| apply::Error::Prepare { doing: "looking for tables to copy".to_owned(), error };
    let mut target = Connection::open(target).map_err(cannot)?;
    Ok(snapshot::tables_to_copy(&mut target, &task.target.schema, task.name()).map_err(cannot)?)
}

/// Copies tables by themselves, and gives the statements by which the copy is whole. None: it shall end.
pub(super) fn copy_tables(
    task: &SourceTask,
    target: &ConnectOptions,
    host: &ConnectOptions,
    rules: &Rules,
    tables: Vec<TableName>,
    catch_up: &mut CatchUp<'_>,
) -> Result<Option<Vec<Vec<u8>>>, snapshot::Error> {
    let Some(_slot) = task.target.copies.take(task) else { return Ok(None) };
    let copied = Copy { scope: Scope::Tables(tables), ..of(task, target, host, rules) }.run(catch_up);
    let counted = task.track(|tracker, _| tracker.copy()).unwrap_or_default();
    task.track(|tracker, _| tracker.set_copy(None));
    let ends = match copied {
        Err(snapshot::Error::Ended) => return Ok(None),
        copied => copied?.ends,
    };
    task.tell(&format!("has copied {} tables, {} rows", counted.tables, counted.rows));
    Ok(Some(ends))
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
    let copied = of(task, target, host, rules).run(&mut |_| Ok(()));
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

/// Files do not have the rows of tables that are to be copied by themselves.
pub(super) fn refuse_listed(task: &SourceTask, target: &ConnectOptions) -> Result<(), Error> {
    let tables = tables_to_copy(task, target)?;
    if tables.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = tables.iter().map(snapshot::shown).collect();
    Err(snapshot::Error::Refused(format!(
        "the target is without {}, which an unfinished `copy-again` copies by themselves: let that end, by `run` without \
         --from-files",
        shown.join(", ")
    ))
    .into())
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
