//! When keys of empty tables are dropped, and when they are built: see [`crate::deferred_keys`].
//!
//! ```text
//!   CREATE TABLE, or the first rows ──► candidate ── rows of enough ──► dropped ── any statement but ──► built
//!   of a table that is empty                         text                          rows, SET, USE, …
//! ```
//!
//! Both are chunks for a worker, with the place of a definition of the table. Rows of literals, SET, USE, LOCK TABLES and
//! statements of constants need no key of any table. Whatever else comes may need one, be it by FORCE INDEX in a view that
//! it names: all keys are built before it. UNLOCK TABLES and ENABLE KEYS, with which dumps end the rows of a table, have
//! them built too, so that it begins beside the rows of the next.
//!
//! On a cluster, the builds come together, one after the other and never beside rows: at the end of the stream, or before a
//! statement that may need a key. There a definition counts as such only if [`may_need_keys`] says so.

use std::collections::{BTreeMap, HashMap, HashSet};

use hortator_core::Mode;
use hortator_mysql::catalog::{Table, TableKind, TableName};

use super::{AnalyzedStatement, Coordinator};
use crate::analysis::{StatementInfo, Trait};
use crate::apply::{Chunk, ChunkStatement, Stopped, Work};
use crate::deferred_keys::{
    AUTO_BYTES, BUILDS_LIMIT, DeferIndexes, DeferredKeys, HOLDS_ROWS, Origin, WAS_THERE, may_need_keys,
};
use crate::lexer::Location;
use crate::planner::write_sets;
use crate::session::SessionState;

/// Tables remembered; the keys of others stay.
const TABLES_LIMIT: usize = 10_000;
/// Variables that change what a statement means beyond what the server prints of its table. Of the first, what is in the
/// binary log of the statement, or whether it is; then, which nodes of a cluster run it; then, which words FULLTEXT keys
/// leave out.
const OF_SESSION: [&str; 10] = [
    "sql_log_bin",
    "gtid_domain_id",
    "gtid_seq_no",
    "server_id",
    "skip_replication",
    "binlog_format",
    "wsrep_on",
    "wsrep_osu_method",
    "innodb_ft_enable_stopword",
    "innodb_ft_user_stopword_table",
];

/// The tables whose keys are, or may be, deferred at this place of the stream.
#[derive(Debug)]
pub(super) struct DeferredIndexes<'l> {
    keys: &'l DeferredKeys,
    /// Tables of which it is decided: those that this load has created, and those that it has found.
    judged: HashSet<TableName>,
    /// Those among them that were empty, and whose keys are as the server or the dump had them.
    candidates: HashMap<TableName, Candidate>,
    /// Tables whose keys are dropped, by the place of their CREATE TABLE, or of their first rows.
    dropped: BTreeMap<TableName, Location>,
    /// How many tables have got their keys built.
    builds: usize,
    /// A build stops a whole cluster.
    stops_cluster: bool,
}

#[derive(Debug)]
struct Candidate {
    origin: Origin,
    place: Location,
    /// Text of its rows so far.
    bytes: usize,
}

impl<'l> DeferredIndexes<'l> {
    /// For a load from its beginning, or one that goes on with what an earlier run has left missing.
    pub(super) fn new(keys: &'l DeferredKeys) -> Self {
        let missing = keys.missing();
        let dropped: BTreeMap<TableName, Location> =
            missing.into_iter().map(|missing| (missing.table.clone(), missing.location())).collect();
        let judged = dropped.keys().cloned().collect();
        let stops_cluster = keys.stops_cluster();
        Self { keys, judged, candidates: HashMap::new(), dropped, builds: 0, stops_cluster }
    }

    /// A worker is to create a table that is not there.
    pub(super) fn created(&mut self, table: &TableName, location: &Location, session: &SessionState) {
        let _is_new = self.judge(table);
        self.empty(table, Origin::Created, location, session);
    }

    /// Whether nothing is decided of a table yet; from here on, it is.
    fn judge(&mut self, table: &TableName) -> bool {
        self.keys.mode() != DeferIndexes::Never
            && self.judged.len() < TABLES_LIMIT
            && !self.judged.contains(table)
            && self.judged.insert(table.clone())
    }

    /// A table is empty.
    fn empty(&mut self, table: &TableName, origin: Origin, place: &Location, session: &SessionState) {
        let means_as_ours = !OF_SESSION.iter().any(|name| session.has_changed(name));
        // ALTER TABLE writes the strings of a definition anew, by the mode of its own session.
        let has_same_strings = !session.has_mode("NO_BACKSLASH_ESCAPES");
        let is_wanted = self.keys.mode() != DeferIndexes::Never && self.candidates.len() < TABLES_LIMIT;
        if is_wanted && means_as_ours && has_same_strings {
            self.candidates.insert(table.clone(), Candidate { origin, place: place.clone(), bytes: 0 });
        }
    }

    /// A table is gone, or may be another one; `None`: any may be.
    pub(super) fn forget(&mut self, table: Option<&TableName>) {
        match table {
            Some(table) => drop(self.candidates.remove(table)),
            None => self.candidates.clear(),
        }
    }

    /// Rows of a table come: whether its keys are to be dropped before them.
    fn take_to_drop(&mut self, table: &TableName, bytes: usize) -> Option<(Origin, Location)> {
        let candidate = self.candidates.get_mut(table)?;
        candidate.bytes += bytes;
        if self.keys.mode() == DeferIndexes::Auto && candidate.bytes < AUTO_BYTES {
            return None;
        }
        let Candidate { origin, place, .. } = self.candidates.remove(table)?;
        self.dropped.insert(table.clone(), place.clone());
        Some((origin, place))
    }
}

impl Coordinator<'_> {
    /// A chunk with rows of a table is to be admitted: drops the keys of the table before it, if they are to be built later.
    pub(super) fn defer_keys(&mut self, table: &TableName, bytes: usize) -> Result<(), Stopped> {
        match self.deferred_indexes.take_to_drop(table, bytes) {
            Some((origin, place)) => self.admit_keys(Work::DropKeys { table: table.clone(), origin }, table, place),
            None => Ok(()),
        }
    }

    /// Rows come of a table that the server has shown. If this load has neither created it nor filled it before, its keys
    /// can be built later while it is empty.
    pub(super) fn look_at_found(&mut self, table: &Table, first: &Location) -> Result<(), Stopped> {
        let is_of_innodb = table.kind == TableKind::Base { transactional: true } && table.engine == b"InnoDB";
        if !is_of_innodb || table.has_triggers || !self.deferred_indexes.judge(&table.name) {
            return Ok(());
        }
        if self.deferred_indexes.stops_cluster {
            self.deferred_indexes.keys.keep(&table.name, WAS_THERE.to_owned());
            return Ok(());
        }
        // Rows of the main session that are not committed are there too.
        let is_filling = self.uncommitted.contains_key(&table.name);
        if !is_filling && self.ask(first, |catalog| catalog.is_empty(&table.name))? {
            self.deferred_indexes.empty(&table.name, Origin::Found, first, self.main.state());
        } else {
            self.deferred_indexes.keys.keep(&table.name, HOLDS_ROWS.to_owned());
        }
        Ok(())
    }

    /// A statement comes that may need keys of tables: has all built that are dropped.
    pub(super) fn build_keys(&mut self) -> Result<(), Stopped> {
        self.admit_first_rows()?;
        if self.deferred_indexes.dropped.is_empty() {
            return Ok(());
        }
        let is_alone = self.deferred_indexes.stops_cluster;
        if is_alone {
            self.admit_open()?;
            self.pool.drain(&mut || self.main.keep_alive())?;
        }
        while let Some((table, place)) = self.deferred_indexes.dropped.pop_first() {
            self.admit_keys(Work::BuildKeys(table.clone()), &table, place)?;
        }
        if is_alone { self.pool.drain(&mut || self.main.keep_alive()) } else { Ok(()) }
    }

    /// A definition comes. Beside it, and beside the rows of the table that it creates, a single server builds keys; a
    /// cluster builds them later, unless the definition may need one.
    pub(super) fn build_keys_before(
        &mut self,
        statement: &AnalyzedStatement,
        tables: &[TableName],
        references: &[TableName],
    ) -> Result<(), Stopped> {
        if self.deferred_indexes.stops_cluster {
            self.admit_first_rows()?;
            let is_missing = |table: &TableName| self.deferred_indexes.dropped.contains_key(table);
            if !may_need_keys(&statement.info, &statement.text, tables, references, is_missing) {
                return Ok(());
            }
        }
        self.build_keys()
    }

    /// A statement that is not sent has ended the rows of a table, as dumps write it.
    pub(super) fn build_keys_behind(&mut self, info: &StatementInfo) -> Result<(), Stopped> {
        let ends_rows = info.is(Trait::Unlocks) || info.is(Trait::SwitchesKeys);
        if ends_rows && !self.deferred_indexes.stops_cluster { self.build_keys() } else { Ok(()) }
    }

    /// The rows that are gathered may be the first of their table, and go before its keys.
    fn admit_first_rows(&mut self) -> Result<(), Stopped> {
        let DeferredIndexes { candidates, dropped, .. } = &self.deferred_indexes;
        let are_rows_open = self.open.as_ref().is_some_and(|open| open.keys_of().is_none());
        if are_rows_open && !(candidates.is_empty() && dropped.is_empty()) { self.admit_open() } else { Ok(()) }
    }

    /// Gives it to a worker, with the place of a change of the table's definition.
    fn admit_keys(&mut self, work: Work, table: &TableName, place: Location) -> Result<(), Stopped> {
        let mut write_set = write_sets::define(std::slice::from_ref(table), &[], true);
        if matches!(work, Work::BuildKeys(_)) {
            let places = if self.deferred_indexes.stops_cluster { 1 } else { BUILDS_LIMIT };
            write_set.add(write_sets::key_build(self.deferred_indexes.builds % places), Mode::Exclusive);
            self.deferred_indexes.builds += 1;
        }
        let statements = vec![ChunkStatement { text: Vec::new(), location: place, tuples: None }];
        let chunk = Chunk { work, session: self.main.state().clone(), dialect: self.main.dialect(), statements };
        self.connect_workers()?;
        self.pool.admit(write_set, size_of::<ChunkStatement>(), chunk, &mut || self.main.keep_alive())
    }
}
