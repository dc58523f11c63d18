//! Counters of a running load: workers and coordinator write them, any thread may read them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use hortator_mysql::catalog::TableName;

use crate::apply::{Chunk, Work};
use crate::filter::FilterReport;
use crate::input;
use crate::throttle::Throttle;

/// How far a load is.
#[derive(Debug, Default)]
pub struct Progress {
    /// Statements read.
    pub statements: AtomicU64,
    /// Rows committed.
    pub rows: AtomicU64,
    /// INSERT statements sent by the binary protocol.
    pub binary_statements: AtomicU64,
    /// Statements sent by the text protocol.
    pub text_statements: AtomicU64,
    /// Statements not sent.
    pub skipped: AtomicU64,
    /// Transactions replayed.
    pub replays: AtomicU64,
    /// Tables whose deferred keys are built now.
    pub key_builds: AtomicU64,
    /// Tables whose deferred keys are to be built, and which other sessions use.
    waiting_builds: Mutex<BTreeSet<TableName>>,
    /// Warnings counted by the server.
    pub warnings: AtomicU64,
    /// Text of the statements read, in bytes.
    text_bytes: AtomicU64,
    /// Text of the chunks that wait or run, in bytes.
    in_flight_bytes: AtomicU64,
    /// What each worker is at, from worker 1.
    workers: Mutex<Vec<Option<TableName>>>,
    tables: Mutex<BTreeMap<String, u64>>,
    /// The tables into which this run loaded rows.
    loaded_tables: Mutex<BTreeSet<TableName>>,
    /// Statements that everything else waited for, by reason.
    barriers: Mutex<BTreeMap<&'static str, u64>>,
    /// What is left out, and what is changed.
    filter_report: Arc<Mutex<FilterReport>>,
    /// What holds the load back.
    throttle: Option<Arc<Throttle>>,
    /// The inputs begun so far.
    inputs: Mutex<Vec<Arc<input::Progress>>>,
}

impl Progress {
    /// For so many workers.
    #[must_use]
    pub fn new(workers: usize, throttle: Arc<Throttle>) -> Self {
        Self { workers: Mutex::new(vec![None; workers]), throttle: Some(throttle), ..Self::default() }
    }

    /// Why the load is held back by the limits of its user; `None` while it is not.
    #[must_use]
    pub fn throttled(&self) -> Option<String> {
        self.throttle.as_ref().and_then(|throttle| throttle.reason())
    }

    /// The build of a table's deferred keys waits for other sessions, or no longer.
    pub(crate) fn build_waits(&self, table: &TableName, waits: bool) {
        let mut waiting = self.waiting_builds.lock().unwrap_or_else(PoisonError::into_inner);
        if waits {
            waiting.insert(table.clone());
        } else {
            waiting.remove(table);
        }
    }

    /// That the build of a table's deferred keys waits for other sessions; `None` while none does.
    #[must_use]
    pub fn waiting_build(&self) -> Option<String> {
        let waiting = self.waiting_builds.lock().unwrap_or_else(PoisonError::into_inner);
        let table = waiting.first()?;
        Some(format!(
            "the deferred indexes of {table} wait for another session that uses the table: end its transaction"
        ))
    }

    /// Everything else waits for a statement.
    pub(crate) fn barrier(&self, reason: &'static str) {
        *self.barriers.lock().unwrap_or_else(PoisonError::into_inner).entry(reason).or_default() += 1;
    }

    /// Statements that everything else waited for, by reason.
    #[must_use]
    pub fn barriers(&self) -> BTreeMap<&'static str, u64> {
        self.barriers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Where it is counted what is left out.
    pub(crate) fn filter_report(&self) -> Arc<Mutex<FilterReport>> {
        Arc::clone(&self.filter_report)
    }

    /// What is left out so far, and what is changed.
    #[must_use]
    pub fn filtered(&self) -> FilterReport {
        self.filter_report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A worker has begun with a chunk.
    pub(crate) fn at(&self, worker: usize, chunk: &Chunk) {
        let table = match &chunk.work {
            Work::Rows { target, .. } => Some(target.table.name.clone()),
            Work::FirstRows { form, .. } => Some(form.name.clone()),
            Work::DropKeys { table, .. } | Work::BuildKeys(table) => Some(table.clone()),
            Work::Definition { .. } => None,
        };
        self.set_worker(worker, table);
    }

    /// A statement was read.
    pub(crate) fn statement_read(&self, text: &[u8]) {
        self.statements.fetch_add(1, Relaxed);
        self.text_bytes.fetch_add(text.len() as u64, Relaxed);
    }

    /// A chunk is given to the workers.
    pub(crate) fn chunk_begun(&self, chunk: &Chunk) {
        self.in_flight_bytes.fetch_add(chunk.text_bytes() as u64, Relaxed);
    }

    /// A chunk has ended, whatever became of it.
    pub(crate) fn chunk_ended(&self, chunk: &Chunk) {
        self.in_flight_bytes.fetch_sub(chunk.text_bytes() as u64, Relaxed);
    }

    /// A worker has nothing to do.
    pub(crate) fn idle(&self, worker: usize) {
        self.set_worker(worker, None);
    }

    fn set_worker(&self, worker: usize, table: Option<TableName>) {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = workers.get_mut(worker - 1) {
            *slot = table;
        }
    }

    /// Rows of a table were committed.
    pub(crate) fn loaded(&self, table: &TableName, rows: u64) {
        self.rows.fetch_add(rows, Relaxed);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        *tables.entry(table.to_string()).or_default() += rows;
        drop(tables);
        let mut loaded_tables = self.loaded_tables.lock().unwrap_or_else(PoisonError::into_inner);
        if !loaded_tables.contains(table) {
            loaded_tables.insert(table.clone());
        }
    }

    /// The tables that hold rows of this load, with those of its earlier runs as far as their names are certain.
    pub(crate) fn tables_with_rows(&self) -> Vec<TableName> {
        let mut found = self.loaded_tables.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (table, _) in self.rows_by_table() {
            if let Some((schema, name)) = table.split_once('.').filter(|(_, name)| !name.contains('.')) {
                found.insert(TableName { schema: schema.as_bytes().to_vec(), table: name.as_bytes().to_vec() });
            }
        }
        found.into_iter().collect()
    }

    /// Rows that were counted are not there any more.
    pub(crate) fn taken_back(&self, table: &TableName, rows: u64) {
        let less = |count: u64| Some(count.saturating_sub(rows));
        let _ = self.rows.fetch_update(Relaxed, Relaxed, less);
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = tables.get_mut(&table.to_string()) {
            *count = count.saturating_sub(rows);
        }
    }

    /// Rows of a table were there when this run of the load began.
    pub(crate) fn loaded_before(&self, table: String, rows: u64) {
        self.rows.fetch_add(rows, Relaxed);
        *self.tables.lock().unwrap_or_else(PoisonError::into_inner).entry(table).or_default() += rows;
    }

    /// The stream is read from its beginning again; what was committed counts on.
    pub(crate) fn restart(&self) {
        self.statements.store(0, Relaxed);
        self.skipped.store(0, Relaxed);
        self.text_bytes.store(0, Relaxed);
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).clear();
        *self.filter_report.lock().unwrap_or_else(PoisonError::into_inner) = FilterReport::default();
        self.barriers.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// An input is begun.
    pub(crate) fn follow(&self, input: Arc<input::Progress>) {
        self.inputs.lock().unwrap_or_else(PoisonError::into_inner).push(input);
    }

    /// Bytes read of all inputs as stored (compressed, if they are).
    #[must_use]
    pub fn read_bytes(&self) -> u64 {
        let inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        inputs.iter().map(|input| input.consumed_bytes()).sum()
    }

    /// Bytes of the inputs, as stored, whose statements are done: what workers still hold is not. An estimate where an
    /// input is compressed.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        let text = self.text_bytes.load(Relaxed).max(1);
        let waiting = self.in_flight_bytes.load(Relaxed).min(text);
        (self.read_bytes() as f64 * (text - waiting) as f64 / text as f64) as u64
    }

    /// Bytes of the inputs begun so far as stored, where they are all known.
    #[must_use]
    pub fn total_bytes(&self) -> Option<u64> {
        let inputs = self.inputs.lock().unwrap_or_else(PoisonError::into_inner);
        inputs.iter().map(|input| input.total_bytes()).sum()
    }

    /// The tables that rows go to now, each once.
    #[must_use]
    pub fn current_tables(&self) -> Vec<String> {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tables: Vec<String> = workers.iter().flatten().map(ToString::to_string).collect();
        tables.sort();
        tables.dedup();
        tables
    }

    /// Rows by table.
    #[must_use]
    pub fn rows_by_table(&self) -> Vec<(String, u64)> {
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        tables.iter().map(|(table, rows)| (table.clone(), *rows)).collect()
    }

    /// One counter's value.
    #[must_use]
    pub fn value(counter: &AtomicU64) -> u64 {
        counter.load(Relaxed)
    }
}
