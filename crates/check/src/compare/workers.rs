//! Reads the ranges of all tables, several at a time, each on both sides at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use hortator_mysql::Connection;

use super::differing;
use super::moment::{self, Connected, at_once};
use super::ranges::Range;
use super::report::{Findings, TableRows};
use super::sums::Sums;
use super::tables::TablePlan;
use super::{Error, Options, Progress, Side, Which};

/// Ranges of a table that are remembered because they differ; the first of them is shown.
const DIFFERING_LIMIT: usize = 16;

/// One range to be read.
struct Job {
    plan: usize,
    number: u64,
    range: Range,
}

/// What was found of one table.
#[derive(Default)]
struct Found {
    rows: [u64; 2],
    ranges: u64,
    differing: u64,
    /// Number, range and both sides' sums of the first that differ, in the order of the numbers.
    first: Vec<(u64, Range, [Sums; 2])>,
}

/// What the threads share.
struct Shared<'a> {
    plans: &'a [TablePlan],
    progress: &'a Progress,
    found: Mutex<Vec<Found>>,
    failed: Mutex<Option<Error>>,
    has_failed: AtomicBool,
}

/// Compares the rows of all tables.
pub(super) fn compare_rows(
    sides: &[Side; 2],
    connected: &mut Connected,
    plans: &[TablePlan],
    options: &Options,
    progress: &Progress,
    findings: &mut Findings,
) -> Result<(), Error> {
    let [first, second] = at_once(|| moment::readers(&sides[0], options), || moment::readers(&sides[1], options));
    let doing = "opening snapshots";
    let mut first = first.map_err(|error| connected.error(Which::First, doing, error))?;
    let mut second = second.map_err(|error| connected.error(Which::Second, doing, error))?;
    for (which, readers) in Which::BOTH.into_iter().zip([&first, &second]) {
        findings.moment(which, readers.moment);
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
        let cut = shared.cut(sides, connected, &sender);
        // Readers end when nobody can send any more.
        drop(sender);
        cut
    });
    let Shared { found, failed, .. } = shared;
    // What a reader met is the cause, where there is one.
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    cut?;
    for (plan, found) in plans.iter().zip(found.into_inner().unwrap_or_else(PoisonError::into_inner)) {
        let mut shown = [Vec::new(), Vec::new()];
        for (_, range, sums) in &found.first {
            let readers = (&mut first.connections[0], &mut second.connections[0]);
            differing::rows(plan, range, sums, readers, connected, &mut shown)?;
            if shown.iter().any(|rows| rows.len() >= differing::SHOWN_ROWS) {
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
    /// Cuts tables into ranges and hands them out: first those that are one pass, the longest in front, as nobody can help
    /// with them.
    fn cut(&self, sides: &[Side; 2], connected: &Connected, sender: &SyncSender<Job>) -> Result<(), Error> {
        let mut order: Vec<usize> = (0..self.plans.len()).collect();
        order.sort_by_key(|plan| {
            let plan = &self.plans[*plan];
            (plan.key.is_some(), std::cmp::Reverse(plan.expected_rows))
        });
        let failed = |doing: &str, error| connected.error(Which::First, doing, error);
        let mut connection = moment::open(&sides[0]).map_err(|error| failed("connecting", error))?;
        for index in order {
            let plan = &self.plans[index];
            let mut next = Some(Range::default());
            let mut number = 0;
            while let Some(mut range) = next {
                if let Some(key) = &plan.key {
                    let cut = range.end_after(&mut connection, &plan.sources[0], key, plan.range_rows);
                    cut.map_err(|error| failed(&format!("looking for ranges of {}", plan.name), error))?;
                }
                next = range.next();
                number += 1;
                // Nobody takes it any more where all readers have failed.
                if self.has_failed.load(Ordering::Relaxed) || sender.send(Job { plan: index, number, range }).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Takes ranges until there are no more.
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
                // The channel is emptied, so that whoever fills it does not wait.
                continue;
            }
            if let Err(error) = self.read(&job, first, second, connected) {
                self.has_failed.store(true, Ordering::Relaxed);
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    }

    /// Reads one range on both sides.
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
            let mut sums = Sums::new();
            let query = job.range.select(&plan.sources[which.index()], plan.key.as_ref());
            let done = connection.query(&query, &mut sums);
            done.map(|_| sums).map_err(|error| connected.error(which, &format!("reading rows of {}", plan.name), error))
        };
        let [here, there] = at_once(|| read(first, Which::First), || read(second, Which::Second));
        let sums = [here?, there?];
        self.progress.read(sums[0].rows);
        let mut all = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let found = &mut all[job.plan];
        found.ranges += 1;
        for (total, sums) in found.rows.iter_mut().zip(&sums) {
            *total += sums.rows;
        }
        if sums[0] != sums[1] {
            found.differing += 1;
            found.first.push((job.number, job.range.clone(), sums));
            found.first.sort_by_key(|(number, ..)| *number);
            found.first.truncate(DIFFERING_LIMIT);
        }
        Ok(())
    }
}
