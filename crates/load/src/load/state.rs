//! What the threads of a load share while it runs, and the summary of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use super::Options;
use super::phases::Verified;
use crate::apply::Pool;
use crate::checkpoint::Checkpoints;
use crate::cluster::{NodeMonitor, Targets};
use crate::deferral::{Deferral, Validations};
use crate::deferred_keys::DeferredKeys;
use crate::input::CountedTable;
use crate::progress::Progress;
use crate::rejects::Rejects;
use crate::report::{CheckpointSummary, End, Failure, Summary, TableRows};
use crate::throttle::{Throttle, ThrottleMonitor};

/// What the threads of a load share. All of it is complete when the load is opened; only counters move. What a load
/// learns at its end goes from phase to phase as a value ([`super::phases`]).
pub(super) struct LoadState {
    pub(super) threads: usize,
    pub(super) threads_reason: String,
    pub(super) start: Instant,
    pub(super) targets: Arc<Targets>,
    pub(super) monitor: NodeMonitor,
    pub(super) throttle: Arc<Throttle>,
    /// Where the user has limits for it.
    pub(super) throttle_monitor: Option<ThrottleMonitor>,
    pub(super) pool: Pool,
    pub(super) progress: Arc<Progress>,
    /// `None` for a load without checkpoints.
    pub(super) checkpoints: Option<Checkpoints>,
    pub(super) checkpoints_disabled_reason: Option<String>,
    /// Where failed statements go.
    pub(super) rejects: Option<Rejects>,
    pub(super) rows_before: u64,
    /// How often the load has lost its main session and resumed automatically.
    pub(super) restarts: AtomicU64,
    /// The load may be waiting for its input: it carries no statement out, and has more to read.
    pub(super) may_await_input: AtomicBool,
    pub(super) deferral: Deferral,
    pub(super) deferred_keys: DeferredKeys,
}

impl LoadState {
    /// Whether the whole input was tried: neither a failure nor the user has ended the load.
    pub(super) fn is_through(&self) -> bool {
        !self.pool.has_stopped() && !self.pool.is_interrupted()
    }

    /// The load ends: the deferred keys that are missing are built, whatever has ended it.
    pub(super) fn build_missing_keys(&self) {
        let Some(checkpoints) = &self.checkpoints else { return };
        for failed in self.deferred_keys.build_missing(checkpoints, &self.progress) {
            self.pool.fail(self.pool.end_position(), failed.failure(b""), true);
        }
    }

    /// The input is read: what the file of rejected statements holds is what has failed.
    pub(super) fn finish_rejects(&self) {
        let Some(rejects) = self.rejects.as_ref().filter(|_| self.is_through()) else { return };
        if let Err(error) = rejects.finish() {
            self.pool.fail(self.pool.end_position(), Failure::of_load(error.to_string()), true);
        }
    }

    /// Fails the load for tables that got fewer rows than the dump has counted: files of them are missing. Where not all of
    /// the dump is loaded as it is, that cannot be told.
    pub(super) fn compare_counted_rows(&self, options: &Options) {
        if !self.is_through() || !options.filter.is_empty() || self.pool.failures().1 > 0 {
            return;
        }
        let loaded: BTreeMap<String, u64> = self.progress.rows_by_table().into_iter().collect();
        for CountedTable { name, rows } in options.input.counted_tables() {
            // A table under another name, as lower_case_table_names gives it, has no entry.
            let Some(found) = loaded.get(&name.to_string()).filter(|found| *found < rows) else { continue };
            let message = format!(
                "table {name} got {found} rows, but the dump has counted {rows}: a file of its rows is missing; get a complete \
                 copy of the dump"
            );
            self.pool.fail(self.pool.end_position(), Failure::of_load(message), false);
        }
    }

    /// What the load did. `verified` is `None` for a load that is interrupted before it gets there: then what is known
    /// only at the end is absent.
    pub(super) fn summary(&self, verified: Option<Verified>) -> Summary {
        let Verified { validations, can_resume, all_nodes_s, analyzed, verification } = verified.unwrap_or_default();
        let (failures, failure_count) = self.pool.failures();
        let validations = validations.unwrap_or_else(|| Validations::skipped(&self.deferral));
        let progress = &self.progress;
        let barrier_reasons = progress.barriers();
        let tables = progress.rows_by_table().into_iter().map(|(table, rows)| TableRows { table, rows }).collect();
        Summary {
            end: self.end(&validations, failure_count),
            statements: Progress::value(&progress.statements),
            rows: Progress::value(&progress.rows),
            read_bytes: progress.read_bytes(),
            elapsed_s: self.start.elapsed().as_secs_f64() - verification.as_ref().map_or(0.0, |found| found.elapsed_s),
            threads: self.threads,
            threads_reason: self.threads_reason.clone(),
            all_nodes_s,
            cluster: self.monitor.summary(&self.targets),
            binary_statements: Progress::value(&progress.binary_statements),
            text_statements: Progress::value(&progress.text_statements),
            skipped: Progress::value(&progress.skipped),
            barriers: barrier_reasons.values().sum(),
            barrier_reasons,
            foreign_keys: self.deferral.report_foreign_keys(validations.foreign_keys),
            unique_checks: self.deferral.report_unique_checks(validations.unique_keys),
            deferred_indexes: self.deferred_keys.report(),
            replays: Progress::value(&progress.replays),
            warnings: Progress::value(&progress.warnings),
            checkpoint: CheckpointSummary {
                load_id: self.checkpoints.as_ref().map(Checkpoints::load_id),
                schema: self.checkpoints.as_ref().map(|checkpoints| checkpoints.schema().to_owned()),
                disabled_reason: self.checkpoints_disabled_reason.clone(),
                local_journal_given_up: self.checkpoints.as_ref().and_then(Checkpoints::local_journal_given_up),
                can_resume,
                rows_before: self.rows_before,
                restarts: self.restarts.load(Relaxed),
            },
            throttle: self.throttle_monitor.as_ref().map(ThrottleMonitor::summary),
            reject: self.rejects.as_ref().map(Rejects::summary),
            analyzed,
            verification,
            filtered: progress.filtered(),
            tables,
            failures,
            failure_count,
        }
    }

    fn end(&self, validations: &Validations, failure_count: u64) -> End {
        if self.pool.is_interrupted() {
            End::Interrupted
        } else if self.pool.has_stopped() {
            End::Failed
        } else if !validations.are_valid() {
            End::NotValidated
        } else if failure_count > 0 {
            End::WithErrors
        } else {
            End::Complete
        }
    }
}
