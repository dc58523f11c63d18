//! When keys of new tables are dropped, and when they are built: see [`crate::deferred_keys`].
//!
//! ```text
//!   CREATE TABLE ──► candidate ── rows of enough text ──► dropped ── any statement but rows, SET, USE, … ──► built
//! ```
//!
//! Both are chunks for a worker, with the place of a definition of the table. Rows of literals, SET, USE, LOCK TABLES and
//! statements of constants need no key of any table. Whatever else comes may need one, be it by FORCE INDEX in a view that
//! it names: all keys are built before it. UNLOCK TABLES and ENABLE KEYS, with which dumps end the rows of a table, have
//! them built too, so that it begins beside the rows of the next.

use std::collections::{BTreeMap, HashMap};

use hortator_core::Mode;
use hortator_mysql::catalog::TableName;

use super::Coordinator;
use crate::analysis::{StatementInfo, Trait};
use crate::apply::{Chunk, ChunkStatement, Stopped, Work};
use crate::deferred_keys::{AUTO_BYTES, BUILDS_LIMIT, DeferIndexes, DeferredKeys};
use crate::lexer::Location;
use crate::planner::write_sets;
use crate::session::SessionState;

/// New tables remembered; the keys of others stay.
const CANDIDATES_LIMIT: usize = 10_000;
/// Variables that change what is in the binary log of a statement, or whether it is: statements of ours would be logged
/// otherwise than the table's own.
const OF_BINLOG: [&str; 6] =
    ["sql_log_bin", "gtid_domain_id", "gtid_seq_no", "server_id", "skip_replication", "binlog_format"];

/// The tables whose keys are, or may be, deferred at this place of the stream.
#[derive(Debug, Default)]
pub(super) struct DeferredIndexes {
    mode: DeferIndexes,
    /// Tables that this load has created, and whose keys are as the dump has them.
    candidates: HashMap<TableName, Candidate>,
    /// Tables whose keys are dropped, by their CREATE TABLE's place.
    dropped: BTreeMap<TableName, Location>,
    /// How many tables have got their keys built.
    builds: usize,
}

#[derive(Debug)]
struct Candidate {
    created: Location,
    /// Text of its rows so far.
    bytes: usize,
}

impl DeferredIndexes {
    /// For a load from its beginning, or one that goes on with what an earlier run has left missing.
    pub(super) fn new(deferred_keys: &DeferredKeys) -> Self {
        let missing = deferred_keys.missing();
        let dropped = missing.into_iter().map(|missing| (missing.table.clone(), missing.location())).collect();
        Self { mode: deferred_keys.mode(), dropped, ..Self::default() }
    }

    /// A worker is to create a table that is not there.
    pub(super) fn created(&mut self, table: &TableName, location: &Location, session: &SessionState) {
        let is_logged_as_ours = !OF_BINLOG.iter().any(|name| session.has_changed(name));
        // ALTER TABLE writes the strings of a definition anew, by the mode of its own session.
        let has_same_strings = !session.has_mode("NO_BACKSLASH_ESCAPES");
        if self.mode != DeferIndexes::Never
            && is_logged_as_ours
            && has_same_strings
            && self.candidates.len() < CANDIDATES_LIMIT
        {
            self.candidates.insert(table.clone(), Candidate { created: location.clone(), bytes: 0 });
        }
    }

    /// A table is gone, or may be another one; `None`: any may be.
    pub(super) fn forget(&mut self, table: Option<&TableName>) {
        match table {
            Some(table) => drop(self.candidates.remove(table)),
            None => self.candidates.clear(),
        }
    }

    /// Rows of a table come: whether its keys are to be dropped before them, and where it was created.
    fn take_to_drop(&mut self, table: &TableName, bytes: usize) -> Option<Location> {
        let candidate = self.candidates.get_mut(table)?;
        candidate.bytes += bytes;
        if self.mode == DeferIndexes::Auto && candidate.bytes < AUTO_BYTES {
            return None;
        }
        let Candidate { created, .. } = self.candidates.remove(table)?;
        self.dropped.insert(table.clone(), created.clone());
        Some(created)
    }
}

impl Coordinator<'_> {
    /// A chunk with rows of a table is to be admitted: drops the keys of the table before it, if they are to be built later.
    pub(super) fn defer_keys(&mut self, table: &TableName, bytes: usize) -> Result<(), Stopped> {
        match self.deferred_indexes.take_to_drop(table, bytes) {
            Some(created) => self.admit_keys(Work::DropKeys(table.clone()), table, created),
            None => Ok(()),
        }
    }

    /// A statement comes that may need keys of tables: has all built that are dropped.
    pub(super) fn build_keys(&mut self) -> Result<(), Stopped> {
        let DeferredIndexes { candidates, dropped, .. } = &self.deferred_indexes;
        if candidates.is_empty() && dropped.is_empty() {
            return Ok(());
        }
        if self.open.as_ref().is_some_and(|open| open.keys_of().is_none()) {
            // Its rows may be the first of their table, and go before its keys.
            self.admit_open()?;
        }
        while let Some((table, created)) = self.deferred_indexes.dropped.pop_first() {
            self.admit_keys(Work::BuildKeys(table.clone()), &table, created)?;
        }
        Ok(())
    }

    /// A statement that is not sent has ended the rows of a table, as dumps write it.
    pub(super) fn build_keys_behind(&mut self, info: &StatementInfo) -> Result<(), Stopped> {
        if info.is(Trait::Unlocks) || info.is(Trait::SwitchesKeys) { self.build_keys() } else { Ok(()) }
    }

    /// Gives it to a worker, with the place of a change of the table's definition.
    fn admit_keys(&mut self, work: Work, table: &TableName, created: Location) -> Result<(), Stopped> {
        let mut write_set = write_sets::define(std::slice::from_ref(table), &[], true);
        if matches!(work, Work::BuildKeys(_)) {
            write_set.add(write_sets::key_build(self.deferred_indexes.builds % BUILDS_LIMIT), Mode::Exclusive);
            self.deferred_indexes.builds += 1;
        }
        let statements = vec![ChunkStatement { text: Vec::new(), location: created, tuples: None }];
        let chunk = Chunk { work, session: self.main.state().clone(), dialect: self.main.dialect(), statements };
        self.connect_workers()?;
        self.pool.admit(write_set, size_of::<ChunkStatement>(), chunk, &mut || self.main.keep_alive())
    }
}
