//! Reads the ranges of all tables, several at a time, each at both endpoints in parallel.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use hortator_mysql::Connection;

use super::checksums::Checksums;
use super::ranges::Range;
use super::report::{Findings, TableRows};
use super::row_diff;
use super::snapshot::{self, Connected, run_both};
use super::tables::TablePlan;
use super::{Endpoint, Error, Options, Progress, Which};

/// The number of differing ranges of a table that are kept; the first of them is shown.
const DIFFERING_LIMIT: usize = 16;

/// One range to read.
struct Job {
    plan: usize,
    number: u64,
    range: Range,
}

/// The result for one table.
#[derive(Default)]
struct Found {
    rows: [u64; 2],
    ranges: u64,
    differing: u64,
    /// Number, range and both endpoints' checksums of the first differing ranges, ordered by number.
    first: Vec<(u64, Range, [Checksums; 2])>,
}

/// Shared by the threads.
struct Shared<'a> {
    plans: &'a [TablePlan],
    progress: &'a Progress,
    found: Mutex<Vec<Found>>,
    failed: Mutex<Option<Error>>,
    has_failed: AtomicBool,
}

/// Compares the rows of all tables.
pub(super) fn compare_rows(
    endpoints: &[Endpoint; 2],
    connected: &mut Connected,
    plans: &[TablePlan],
    options: &Options,
    progress: &Progress,
    findings: &mut Findings,
) -> Result<(), Error> {
    let [first, second] =
        run_both(|| snapshot::readers(&endpoints[0], options), || snapshot::readers(&endpoints[1], options));
    let action = "opening snapshots";
    let mut first = first.map_err(|error| connected.error(Which::First, action, error))?;
    let mut second = second.map_err(|error| connected.error(Which::Second, action, error))?;
    for (which, readers) in Which::BOTH.into_iter().zip([&first, &second]) {
        findings.snapshot(which, readers.snapshot);
    }
    progress.expect(plans.iter().map(|plan| plan.expected_rows).sum());
    let shared = Shared {
        plans,
        progress,
        found: Mutex::new(plans.iter().map(|_| Found::default()).collect()),
        failed: Mutex::new(None),
        has_failed: AtomicBool::new(false),
    };
    let (sender, receiver) = sync_channel(first.connections.len());
    let receiver = Mutex::new(receiver);
    let cut = thread::scope(|scope| {
        for pair in first.connections.iter_mut().zip(&mut second.connections) {
            let (shared, receiver, connected) = (&shared, &receiver, &*connected);
            scope.spawn(move || shared.work(pair, receiver, connected));
        }
        let cut = shared.split(endpoints, connected, &sender);
        // Readers end when no sender is left.
        drop(sender);
        cut
    });
    let Shared { found, failed, .. } = shared;
    // A reader's error is the cause, if there is one.
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    cut?;
    for (plan, found) in plans.iter().zip(found.into_inner().unwrap_or_else(PoisonError::into_inner)) {
        let mut shown = [Vec::new(), Vec::new()];
        for (_, range, checksums) in &found.first {
            let readers = (&mut first.connections[0], &mut second.connections[0]);
            row_diff::rows(plan, range, checksums, readers, connected, &mut shown)?;
            if shown.iter().any(|rows| rows.len() >= row_diff::SHOWN_ROWS) {
                break;
            }
        }
        if found.differing > 0 {
            findings.rows(plan, found.rows, found.differing, found.ranges, shown);
        }
        findings.table(TableRows {
            table: plan.name.clone(),
            rows: found.rows,
            by_key: plan.key.is_some(),
            ranges: found.ranges,
            differing_ranges: found.differing,
        });
    }
    Ok(())
}

impl Shared<'_> {
    /// Splits tables into ranges and sends them: first the tables that are read in one pass, the longest first, because
    /// they cannot be split among readers.
    fn split(&self, endpoints: &[Endpoint; 2], connected: &Connected, sender: &SyncSender<Job>) -> Result<(), Error> {
        let mut order: Vec<usize> = (0..self.plans.len()).collect();
        order.sort_by_key(|plan| {
            let plan = &self.plans[*plan];
            (plan.key.is_some(), std::cmp::Reverse(plan.expected_rows))
        });
        let failed = |action: &str, error| connected.error(Which::First, action, error);
        let mut connection = snapshot::open(&endpoints[0]).map_err(|error| failed("connecting", error))?;
        for index in order {
            let plan = &self.plans[index];
            let mut next = Some(Range::default());
            let mut number = 0;
            while let Some(mut range) = next {
                if let Some(key) = &plan.key {
                    let cut = range.end_after(&mut connection, &plan.sources[0], key, plan.range_rows);
                    cut.map_err(|error| failed(&format!("finding the ranges of {}", plan.name), error))?;
                }
                next = range.next();
                number += 1;
                // If all readers have failed, no receiver is left.
                if self.has_failed.load(Ordering::Relaxed) || sender.send(Job { plan: index, number, range }).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads ranges until there are no more.
    fn work(
        &self,
        (first, second): (&mut Connection, &mut Connection),
        receiver: &Mutex<Receiver<Job>>,
        connected: &Connected,
    ) {
        loop {
            let job = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(job) = job else { return };
            if self.has_failed.load(Ordering::Relaxed) {
                // Drain the channel, so that the sender does not block.
                continue;
            }
            if let Err(error) = self.read(&job, first, second, connected) {
                self.has_failed.store(true, Ordering::Relaxed);
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    }

    /// Reads one range at both endpoints.
    fn read(
        &self,
        job: &Job,
        first: &mut Connection,
        second: &mut Connection,
        connected: &Connected,
    ) -> Result<(), Error> {
        let plan = &self.plans[job.plan];
        self.progress.begin(plan.name.clone());
        let read = |connection: &mut Connection, which: Which| {
            let mut checksums = Checksums::new();
            let query = job.range.select(&plan.sources[which.index()], plan.key.as_ref());
            let done = connection.query(&query, &mut checksums);
            done.map(|_| checksums)
                .map_err(|error| connected.error(which, &format!("reading rows of {}", plan.name), error))
        };
        let [here, there] = run_both(|| read(first, Which::First), || read(second, Which::Second));
        let checksums = [here?, there?];
        self.progress.read(checksums[0].rows);
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let found = &mut all[job.plan];
        found.ranges += 1;
        for (total, checksums) in found.rows.iter_mut().zip(&checksums) {
            *total += checksums.rows;
        }
        if checksums[0] != checksums[1] {
            found.differing += 1;
            found.first.push((job.number, job.range.clone(), checksums));
            found.first.sort_by_key(|(number, ..)| *number);
            found.first.truncate(DIFFERING_LIMIT);
        }
        Ok(())
    }
}
