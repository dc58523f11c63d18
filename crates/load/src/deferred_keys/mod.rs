//! Deferred keys: the load drops the non-unique keys of a table that is new, or empty, while it holds few rows, and builds
//! them after the last. FULLTEXT and SPATIAL keys are among them.
//!
//! ```text
//!   CREATE TABLE ── first rows ──► record, DROP KEY … ── rows ──► ADD KEY …, record deleted
//!     as written                    a worker's chunk               another, beside the rows of other tables
//! ```
//!
//! The definition reaches the server as the dump has it, so that its errors and warnings are the client's, and the server
//! itself says what the keys are. The coordinator decides when ([`crate::coordinator`]), `definition` which keys, and
//! `build` sends the statements. [`DeferredKeys`] holds what is dropped and not built, for all threads of a load. What it
//! holds is on record in the database ([`crate::checkpoint`]): a load that is killed builds the keys when it is resumed.
//! A load that ends early builds them before it ends.
//!
//! On a cluster, each of these statements stops all nodes for as long as it takes (total order isolation). There the keys
//! are built one table after the other while no rows go in, at the end where no statement needs them before
//! ([`may_need_keys`]), and the report says for how long each statement stopped the cluster. *Absent*: rolling schema
//! upgrades (RSU), where each node would have to be visited.

pub(crate) mod build;
mod definition;
mod need;
mod nodes;
mod report;
mod sessions;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hortator_mysql::catalog::TableName;
use hortator_mysql::error::{CANT_DROP_FIELD_OR_KEY, LOCK_WAIT_TIMEOUT};
use hortator_mysql::{Connection, Error, Flavor, Version};

use crate::checkpoint::{CheckpointMode, Checkpoints, MissingKeysOf};
use crate::cluster::Targets;
use crate::lexer::Location;
use crate::load::Options;
use crate::progress::Progress;
use crate::report::Failure;

pub use definition::Key;
pub(crate) use need::may_need_keys;
pub use report::{BuiltKeys, DeferredKeysReport, KeptKeys};
pub(crate) use sessions::KEY_SESSIONS;
use sessions::KeySessions;

/// Tables whose keys are built at the same time on a single server.
pub(crate) const BUILDS_LIMIT: usize = 3;
/// With `auto`: text of a table's rows, of which its keys are built later.
pub const AUTO_BYTES: usize = 4 << 20;
/// Tables that the report names of those whose keys stay; more are counted.
const KEPT_LIMIT: usize = 100;
/// The first MariaDB whose ALTER TABLE is done or not done after a crash.
const ATOMIC_DDL: (u16, u16) = (10, 6);

/// When a load builds the non-unique keys of the tables that it creates, or finds empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DeferIndexes {
    /// After the rows of each table with at least so much text: 4 MiB.
    Auto,
    /// After the rows of each table.
    Always,
    /// With each row.
    #[default]
    Never,
}

/// Whose a table is, of which the keys may be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This load has created it.
    Created,
    /// It was there, and empty. Others may use it.
    Found,
}

/// Keys of a table that are dropped and not built again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingKeys {
    pub(crate) table: TableName,
    pub(crate) keys: Vec<Key>,
    /// Where its CREATE TABLE stands, or the first rows of a table that was there.
    pub(crate) file: String,
    pub(crate) line: u64,
    pub(crate) byte: u64,
}

impl MissingKeys {
    fn of(table: &TableName, keys: Vec<Key>, location: &Location) -> Self {
        let Location { file, line, byte, .. } = location;
        Self { table: table.clone(), keys, file: file.to_string(), line: *line, byte: *byte }
    }

    /// For a listing.
    pub(crate) fn describe(&self) -> MissingKeysOf {
        let Self { table, file, line, .. } = self;
        MissingKeysOf { table: table.to_string(), place: format!("{file}:{line}"), statement: build::alter_text(self) }
    }

    /// Where its CREATE TABLE stands, or its first rows.
    pub(crate) fn location(&self) -> Location {
        Location { file: self.file.as_str().into(), line: self.line, byte: self.byte, ordinal: 0 }
    }
}

/// Why keys could not be built.
pub(crate) struct BuildError {
    pub(crate) missing: MissingKeys,
    pub(crate) error: Error,
}

impl BuildError {
    /// At the table's CREATE TABLE or first rows; `text` is how that begins.
    pub(crate) fn failure(&self, text: &[u8]) -> Failure {
        let mut failure = Failure::at(&self.missing.location(), text, &self.error);
        failure.message = build::failure_message(&self.missing, &self.error);
        failure
    }
}

/// The deferred keys of a load.
#[derive(Debug)]
pub(crate) struct DeferredKeys {
    mode: DeferIndexes,
    /// Why no keys are deferred although that is asked for.
    disabled_reason: Option<&'static str>,
    targets: Arc<Targets>,
    state: Mutex<State>,
    /// A table was in use until the load lost its patience.
    has_waited: AtomicBool,
    /// Held by who builds what is missing at the end.
    end: Mutex<()>,
    sessions: KeySessions,
}

#[derive(Debug, Default)]
struct State {
    missing: BTreeMap<TableName, MissingKeys>,
    /// Those that could not be built; they stay missing.
    failed: Vec<TableName>,
    built: Vec<BuiltKeys>,
    /// The same with their definitions, on a cluster.
    built_on_cluster: Vec<MissingKeys>,
    kept: Vec<KeptKeys>,
}

impl DeferredKeys {
    /// From the options of a load, and what an earlier run of it has on record.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub(crate) fn open(
        options: &Options,
        targets: &Arc<Targets>,
        checkpoints: Option<&Checkpoints>,
        version: &Version,
    ) -> Result<Self, Error> {
        let asked = options.defer_indexes;
        let disabled_reason =
            disabled_reason(options, targets, checkpoints.is_some(), version).filter(|_| asked != DeferIndexes::Never);
        let recorded = checkpoints.map_or(Ok(Vec::new()), Checkpoints::missing_keys)?;
        let has_record = match checkpoints.filter(|_| asked != DeferIndexes::Never && disabled_reason.is_none()) {
            Some(checkpoints) => match checkpoints.prepare_missing_keys() {
                Err(Error::Server(_)) => false,
                prepared => prepared.map(|()| true)?,
            },
            None => true,
        };
        let disabled_reason = disabled_reason.or((!has_record).then_some(NO_RECORD));
        let mode = if disabled_reason.is_some() { DeferIndexes::Never } else { asked };
        let missing = recorded.into_iter().map(|missing| (missing.table.clone(), missing)).collect();
        let deferred = Self {
            mode,
            disabled_reason,
            targets: Arc::clone(targets),
            state: Mutex::new(State { missing, ..State::default() }),
            has_waited: AtomicBool::new(false),
            end: Mutex::default(),
            sessions: KeySessions::new(targets),
        };
        if let Some(checkpoints) = checkpoints.filter(|_| mode != DeferIndexes::Never) {
            deferred.sessions.open(checkpoints)?;
        }
        Ok(deferred)
    }

    pub(crate) fn mode(&self) -> DeferIndexes {
        self.mode
    }

    /// Whether each statement that builds keys stops the whole cluster.
    pub(crate) fn stops_cluster(&self) -> bool {
        self.targets.info().is_some()
    }

    /// Tables whose keys are missing now, and where the dump creates or fills them.
    pub(crate) fn missing(&self) -> Vec<MissingKeys> {
        self.lock().missing.values().cloned().collect()
    }

    /// Drops the keys of a table that can be built later. What the server refuses leaves them as they are.
    ///
    /// # Errors
    /// When the record cannot be written, or a connection is lost.
    pub(crate) fn drop_keys(
        &self,
        checkpoints: &Checkpoints,
        table: &TableName,
        origin: Origin,
        location: &Location,
    ) -> Result<(), Error> {
        self.sessions.run(checkpoints, |connection| {
            if origin == Origin::Found
                && let Some(load_id) = checkpoints.other_load_that_lacks_keys(table)?
            {
                self.keep(
                    table,
                    format!("load {load_id} has dropped its indexes and has not built them: see --status"),
                );
                return Ok(());
            }
            // Whoever uses one table may use all of them: the load waits for the first only.
            let is_patient = origin == Origin::Created || !self.has_waited.load(Relaxed);
            let patience_s = if is_patient { build::DROP_TIMEOUT_S } else { 0 };
            let reason = match build::deferrable(connection, table, origin, patience_s) {
                Ok(Ok(keys)) => {
                    return self.drop_recorded(
                        connection,
                        checkpoints,
                        &MissingKeys::of(table, keys, location),
                        origin,
                    );
                }
                Ok(Err(reason)) => reason.to_owned(),
                Err(Error::Server(refusal)) => format!("the server does not show its keys: {}", refusal.message),
                Err(lost) => return Err(lost),
            };
            self.keep(table, reason);
            Ok(())
        })
    }

    /// Drops keys, on record before that.
    fn drop_recorded(
        &self,
        connection: &mut Connection,
        checkpoints: &Checkpoints,
        missing: &MissingKeys,
        origin: Origin,
    ) -> Result<(), Error> {
        checkpoints.record_missing_keys(missing)?;
        let table = &missing.table;
        self.lock().missing.insert(table.clone(), missing.clone());
        match build::drop_keys(connection, table, &missing.keys) {
            Err(error @ Error::Server(_)) => {
                // The statement may have had its effect all the same, as on a cluster that has lost a node. What another load has
                // dropped of a table that was there is that load's.
                let is_of_others = origin == Origin::Found && error.code() == Some(CANT_DROP_FIELD_OR_KEY);
                let are_absent = |absent: Option<Vec<&Key>>| absent.is_some_and(|absent| !absent.is_empty());
                if !is_of_others && are_absent(build::absent_keys(connection, missing)?) {
                    return Ok(());
                }
                if error.code() == Some(LOCK_WAIT_TIMEOUT) {
                    self.has_waited.store(true, Relaxed);
                }
                self.lock().missing.remove(table);
                self.keep(table, format!("the server does not drop them: {error}"));
                checkpoints.forget_missing_keys(table)
            }
            dropped => dropped,
        }
    }

    /// Builds the keys of a table that are missing.
    ///
    /// # Errors
    /// What the server or the connection says. The record stays.
    pub(crate) fn build_keys(
        &self,
        checkpoints: &Checkpoints,
        table: &TableName,
        progress: &Progress,
    ) -> Result<(), Box<BuildError>> {
        let Some(missing) = self.lock().missing.get(table).cloned() else { return Ok(()) };
        let start = Instant::now();
        progress.key_builds.fetch_add(1, Relaxed);
        let built = self.sessions.run(checkpoints, |connection| {
            let on_wait = || progress.build_waits(table, true);
            let took = build::build(connection, &missing, self.stops_cluster(), on_wait)?;
            checkpoints.forget_missing_keys(table).map(|()| took)
        });
        progress.key_builds.fetch_sub(1, Relaxed);
        progress.build_waits(table, false);
        let mut state = self.lock();
        match built {
            Ok(None) => {
                state.missing.remove(table);
                drop(state);
                self.keep(table, "the table is gone".to_owned());
                Ok(())
            }
            Ok(Some(took)) => {
                state.missing.remove(table);
                let stops = if self.stops_cluster() { took } else { Vec::new() };
                if self.stops_cluster() {
                    state.built_on_cluster.push(missing.clone());
                }
                let keys = missing.keys.into_iter().map(|key| key.name).collect();
                state.built.push(BuiltKeys {
                    table: table.to_string(),
                    keys,
                    elapsed_s: start.elapsed().as_secs_f64(),
                    cluster_stops_s: stops.iter().map(Duration::as_secs_f64).collect(),
                });
                Ok(())
            }
            Err(error) => {
                if matches!(error, Error::Server(_)) && !error.is_unready() {
                    state.failed.push(table.clone());
                }
                Err(Box::new(BuildError { missing, error }))
            }
        }
    }

    /// The load ends: builds what is missing, one table after the other, but what could not be built before. One thread
    /// does so, and others wait for it. Without the server, the first says what is the matter with all.
    pub(crate) fn build_missing(&self, checkpoints: &Checkpoints, progress: &Progress) -> Vec<BuildError> {
        let _end = lock(&self.end);
        let failed = self.lock().failed.clone();
        let mut errors = Vec::new();
        for missing in self.missing().into_iter().filter(|missing| !failed.contains(&missing.table)) {
            if let Err(failed) = self.build_keys(checkpoints, &missing.table, progress) {
                let is_lost = !matches!(failed.error, Error::Server(_));
                errors.push(*failed);
                if is_lost {
                    break;
                }
            }
        }
        errors
    }

    /// What nodes of a cluster lack of the keys that are built.
    pub(crate) fn lacking_nodes(&self) -> Vec<Failure> {
        let built = self.lock().built_on_cluster.clone();
        nodes::lacking(&self.targets, &built)
    }

    /// The longest time for which a statement has stopped the cluster.
    pub(crate) fn longest_stop(&self) -> Duration {
        let state = self.lock();
        let stops = state.built.iter().flat_map(|built| &built.cluster_stops_s);
        Duration::from_secs_f64(stops.copied().fold(0.0, f64::max))
    }

    /// What became of the keys.
    pub(crate) fn report(&self) -> DeferredKeysReport {
        let state = self.lock();
        let mut built = state.built.clone();
        built.sort_by(|one, other| one.table.cmp(&other.table));
        let missing = state.missing.values().map(build::alter_text).collect();
        DeferredKeysReport {
            mode: self.mode,
            disabled_reason: self.disabled_reason,
            built,
            kept: state.kept.clone(),
            missing,
        }
    }

    /// The keys of a table stay.
    pub(crate) fn keep(&self, table: &TableName, reason: String) {
        let mut state = self.lock();
        if state.kept.len() < KEPT_LIMIT {
            state.kept.push(KeptKeys { table: table.to_string(), reason });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why a load with these options would defer no keys.
pub(crate) fn planned_reason(options: &Options, targets: &Targets, version: &Version) -> Option<&'static str> {
    let has_checkpoints = options.checkpoint_mode != CheckpointMode::Disabled;
    disabled_reason(options, targets, has_checkpoints, version)
}

/// Why a load cannot defer keys.
fn disabled_reason(
    options: &Options,
    targets: &Targets,
    has_checkpoints: bool,
    version: &Version,
) -> Option<&'static str> {
    if !has_checkpoints {
        return Some("the load writes no checkpoints, so that nothing would say which keys are missing");
    }
    server_reason(targets, version).or_else(|| options.force.then_some(FORCED))
}

/// Why the keys of a table that this load has not created stay.
pub(crate) const WAS_THERE: &str =
    "it existed before the load, and others may use it: dropping them could stop the whole cluster";
pub(crate) const HOLDS_ROWS: &str = "it holds rows, or the server does not say that it is empty";

const NO_RECORD: &str =
    "the account may not create the table that records missing indexes, in the schema of the checkpoints";
const FORCED: &str = "a forced load (--force) does not know which tables it has created";

/// Why no load can defer keys on a server.
fn server_reason(targets: &Targets, version: &Version) -> Option<&'static str> {
    if version.flavor != Flavor::MariaDb {
        Some("the server is not MariaDB")
    } else if (version.major, version.minor) < ATOMIC_DDL {
        Some("the server is older than MariaDB 10.6: it can leave ALTER TABLE half done after a crash")
    } else if targets.info().is_some_and(|node| !node.replicates_ddl()) {
        Some("wsrep_OSU_method is not TOI: an ALTER TABLE would not reach the other nodes of the cluster")
    } else {
        None
    }
}
