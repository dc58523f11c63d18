//! Groups that go to workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hortator_core::WriteSet;
use hortator_mysql::{ConnectOptions, LockWaits};

use super::Applier;
use super::group::Group;
use crate::apply::error::Error;
use crate::apply::workers::{Offer, RowGroup, Step, Until, Workers, can_run_side_by_side, is_blocked_by_others_of};
use crate::binlog::{Content, FormatDescription};
use crate::keys::{KeyedTable, Order};

/// Keys of a group, before whole tables take their place.
const KEYS_LIMIT: usize = 1 << 14;

impl Applier {
    /// Applies groups over so many further connections to the target while there is a backlog, where the target's settings
    /// allow it. `lock_waits` is that of all sources.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn with_workers(
        mut self,
        target: &ConnectOptions,
        count: usize,
        lock_waits: &Arc<LockWaits>,
    ) -> Result<Applier, Error> {
        let can = count > 1
            && can_run_side_by_side(&mut self.connection)
                .map_err(|error| Error::Prepare { doing: "asking for the target's settings".to_owned(), error })?;
        self.lock_waits = lock_waits.clone();
        self.workers = can.then(|| Workers::new(target.clone(), self.table.clone(), count));
        Ok(self)
    }

    /// By which rule groups wait for each other.
    #[must_use]
    pub fn ordered_by(self, order: Order) -> Applier {
        Applier { order, ..self }
    }

    /// The number of the connection that everything behind it waits for, as it changes.
    #[must_use]
    pub fn waited_for(&self) -> Arc<AtomicU32> {
        self.waited_for.clone()
    }

    /// Why workers could not begin, once.
    pub fn take_trouble(&mut self) -> Option<String> {
        self.workers.as_mut().and_then(Workers::take_trouble)
    }

    /// How often a group of transactions was rolled back to run again.
    #[must_use]
    pub fn replays(&self) -> u64 {
        self.workers.as_ref().map_or(0, Workers::again)
    }

    /// Connections to the target that are open.
    #[must_use]
    pub fn connections(&self) -> usize {
        1 + self.workers.as_ref().map_or(0, Workers::connected)
    }

    pub(super) fn has_groups_under_way(&self) -> bool {
        self.workers.as_ref().is_some_and(|workers| !workers.is_idle())
    }

    /// What is known of tables may not hold any more.
    pub(super) fn forget_tables(&mut self) {
        self.target_tables.forget();
        self.keyed_tables.forget();
        self.resolver.forget_tables();
    }

    /// Gives a full group to the workers, or applies it.
    pub(super) fn hand_over(&mut self) -> Result<(), Error> {
        let again = self.replays();
        self.pace.on_again(u32::try_from(again - self.paced_replays).unwrap_or(u32::MAX));
        self.paced_replays = again;
        let goes = self.workers.is_some() && self.pace.is_side_by_side();
        match if goes { self.offer()? } else { None } {
            Some(offered) => {
                let mut until = Until::Admitted(Some(offered));
                while !self.step(&mut until)? {}
                Ok(())
            }
            None => self.flush(),
        }
    }

    /// Waits until all groups that workers have are committed.
    pub(super) fn wait_for_groups(&mut self) -> Result<(), Error> {
        while !self.settle_group()? {}
        Ok(())
    }

    /// Waits until some groups that workers have are committed; true where none is left.
    ///
    /// # Errors
    /// See [`Applier::apply`].
    pub fn settle_group(&mut self) -> Result<bool, Error> {
        if self.has_groups_under_way() { self.step(&mut Until::Idle) } else { Ok(true) }
    }

    /// Waits until workers have committed groups, or can take another one; true for the latter, and while none is to be given
    /// to them.
    ///
    /// # Errors
    /// See [`Applier::apply`].
    pub fn make_room(&mut self) -> Result<bool, Error> {
        if !self.group.is_filling() && self.has_groups_under_way() { self.step(&mut Until::Room) } else { Ok(true) }
    }

    /// The group with its keys and its size. `None`: it must run alone.
    fn offer(&mut self) -> Result<Option<Offer>, Error> {
        let Some((description, bytes)) = self.format.clone() else { return Ok(None) };
        let (from, at) = match self.workers.as_ref().and_then(Workers::end) {
            Some(end) => (end.clone(), end),
            None => match (&self.on_record, &self.committed) {
                (Some(from), Some(at)) => (from.clone(), at.clone()),
                _ => return Ok(None),
            },
        };
        let group = std::mem::take(&mut self.group);
        let Some(keys) = self.keys_of(&group, &description)? else {
            self.group = group;
            return Ok(None);
        };
        self.pace.on_group(self.workers.as_ref().is_some_and(|workers| workers.would_wait(&keys)));
        let Group { transactions, bytes: size, .. } = group;
        let to = Applier::behind(at, &transactions);
        Ok(Some((keys, size, Arc::new(RowGroup { transactions, format: bytes, from, to }))))
    }

    /// What the rows of a group use. `None`: there are none, or they must run alone.
    fn keys_of(&mut self, group: &Group, format: &FormatDescription) -> Result<Option<WriteSet>, Error> {
        let place = "looking at the target's tables";
        let mut keys = WriteSet::with_keys_limit(KEYS_LIMIT);
        // Those of the statement: mostly one.
        let mut tables: Vec<(u64, Arc<KeyedTable>)> = Vec::new();
        for event in group.events() {
            match &event.content {
                Content::TableMap(map) => {
                    self.use_own_charset(place)?;
                    let (known, connection) = (&mut self.target_tables, &mut self.connection);
                    let found = self.keyed_tables.get(map, |name| known.keys(connection, name));
                    let found = found.map_err(|error| self.failed(error, place))?;
                    let Some(table) = found else { return Ok(None) };
                    tables.push((map.table_id, table));
                }
                // They lock no parents.
                Content::Rows(_) if event.is_without_foreign_key_checks() => return Ok(None),
                Content::Rows(rows) => {
                    let table = tables.iter().rev().find(|(table_id, _)| *table_id == rows.table_id);
                    let Some((_, table)) = table else { return Ok(None) };
                    table.add(event, format, self.order, &mut keys);
                    if rows.ends_statement {
                        tables.clear();
                    }
                }
                _ => return Ok(None),
            }
        }
        Ok((!keys.is_empty()).then_some(keys))
    }

    /// Does what there is to do until groups are committed; true where there is no need to wait any more.
    fn step(&mut self, until: &mut Until) -> Result<bool, Error> {
        let mut is_done = false;
        loop {
            let Some(workers) = &mut self.workers else { return Ok(true) };
            match workers.step(until) {
                Step::Admitted | Step::Idle => {
                    is_done = true;
                    break;
                }
                Step::Committed(groups) => {
                    for group in groups {
                        self.recorded(group.to.clone(), group.transactions.len() as u64);
                        self.groups += 1;
                    }
                    break;
                }
                Step::Apply(seqno, group) => {
                    self.waited_for.store(self.connection.id(), Ordering::Relaxed);
                    self.pace.on_again(1);
                    // An error empties the group that is being filled: it is about another one.
                    let filling = std::mem::take(&mut self.group);
                    let done = self.commit_or_split(&group.transactions);
                    self.group = filling;
                    done?;
                    let Some(workers) = &mut self.workers else { return Ok(true) };
                    workers.applied(seqno);
                    break;
                }
                Step::Stalled { connection, others } => {
                    self.waited_for.store(connection, Ordering::Relaxed);
                    let asked = is_blocked_by_others_of(&mut self.connection, &self.lock_waits, connection, &others);
                    match asked {
                        Ok(true) => workers.clear_the_way(),
                        Ok(false) => {}
                        Err(error) => return Err(self.failed(error, "waiting for other groups")),
                    }
                }
                Step::Failed(error) => return Err(error),
            }
        }
        self.waited_for.store(self.connection.id(), Ordering::Relaxed);
        Ok(is_done)
    }
}
