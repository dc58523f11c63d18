//! Reads the ranges of one table, several at a time, in all views.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use hortator_mysql::{Connection, Error as ServerError, RowSink};

use super::View;
use super::plan::{PlannedRows, TablePlan};
use crate::compare::Progress;
use crate::compare::checksums::Checksums;
use crate::compare::ranges::Range;
use crate::compare::row_diff::SendRows;
use crate::compare::snapshot::run_both;

/// The number of differing ranges that are kept; the first of them is shown.
const DIFFERING_LIMIT: usize = 16;

/// What a server has refused, or a connection that is lost.
#[derive(Debug)]
pub(super) struct Unread {
    /// One of the first views; `None` for the second.
    pub(super) view: Option<usize>,
    pub(super) error: ServerError,
}

/// One connection of each view.
pub(super) struct Reader<'v> {
    firsts: Vec<&'v mut Connection>,
    second: &'v mut Connection,
}

/// What was read.
#[derive(Default)]
pub(super) struct Found {
    pub(super) rows: [u64; 2],
    pub(super) ranges: u64,
    pub(super) differing: u64,
    /// The first differing ranges, ordered, with the checksums of both sides.
    pub(super) first: Vec<(Range, [Checksums; 2])>,
    numbers: Vec<u64>,
}

impl<'v> Reader<'v> {
    /// Of the first connection of each view.
    pub(super) fn of(firsts: &'v mut [View], second: &'v mut View) -> Reader<'v> {
        let firsts = firsts.iter_mut().map(|view| &mut view.connections[0]).collect();
        Reader { firsts, second: &mut second.connections[0] }
    }

    /// Reads a range on both sides.
    pub(super) fn read(
        &mut self,
        plan: &TablePlan,
        range: &Range,
        in_order: bool,
        here: &mut dyn RowSink,
        there: &mut dyn SendRows,
    ) -> Result<(), Unread> {
        let query = |rows: &PlannedRows| match in_order {
            true => range.select_in_order(&rows.source, rows.key.as_ref()),
            false => range.select(&rows.source, rows.key.as_ref()),
        };
        let Reader { firsts, second } = self;
        let [here, there] = run_both(
            || {
                for (view, rows) in &plan.parts {
                    let done = firsts[*view].query(&query(rows), here);
                    done.map_err(|error| Unread { view: Some(*view), error })?;
                }
                Ok(())
            },
            || {
                let done = second.query(&query(&plan.second), there.rows());
                done.map(drop).map_err(|error| Unread { view: None, error })
            },
        );
        here.and(there)
    }
}

/// Reads all ranges of a table.
pub(super) fn read(
    firsts: &mut [View],
    second: &mut View,
    plan: &TablePlan,
    progress: &Progress,
) -> Result<Found, Unread> {
    let mut guides = Vec::new();
    let mut readers: Vec<Reader<'_>> =
        second.connections.iter_mut().map(|second| Reader { firsts: Vec::new(), second }).collect();
    for view in firsts {
        let View { connections, guide, .. } = view;
        guides.push(guide);
        readers.truncate(connections.len());
        readers.iter_mut().zip(connections).for_each(|(reader, connection)| reader.firsts.push(connection));
    }
    let shared = Shared { plan, progress, found: Mutex::default(), failed: Mutex::new(None), stops: false.into() };
    let Some((view, rows)) = plan.parts.first() else { return Ok(Found::default()) };
    let split = thread::scope(|scope| {
        let (sender, receiver) = sync_channel::<(u64, Range)>(readers.len());
        let receiver = std::sync::Arc::new(Mutex::new(receiver));
        for reader in readers {
            let (shared, receiver) = (&shared, receiver.clone());
            scope.spawn(move || shared.work(reader, &receiver));
        }
        // Where all readers have ended, sending fails.
        drop(receiver);
        let (mut next, mut number) = (Some(Range::default()), 0);
        while let Some(mut range) = next {
            if let Some(key) = &rows.key {
                let cut = range.end_after(guides[*view], &rows.source, key, plan.range_rows);
                cut.map_err(|error| Unread { view: Some(*view), error })?;
            }
            next = range.next();
            number += 1;
            if shared.stops.load(Ordering::Relaxed) || sender.send((number, range)).is_err() {
                break;
            }
        }
        Ok(())
    });
    let Shared { found, failed, .. } = shared;
    // A reader's error is the cause, if there is one.
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    split?;
    Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Shared by the threads.
struct Shared<'a> {
    plan: &'a TablePlan,
    progress: &'a Progress,
    found: Mutex<Found>,
    failed: Mutex<Option<Unread>>,
    stops: AtomicBool,
}

impl Shared<'_> {
    /// Reads ranges until there are no more.
    fn work(&self, mut reader: Reader<'_>, receiver: &Mutex<Receiver<(u64, Range)>>) {
        loop {
            let job = receiver.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((number, range)) = job else { return };
            if self.stops.load(Ordering::Relaxed) {
                // Drain the channel, so that the sender does not block.
                continue;
            }
            let (mut here, mut there) = (Checksums::new(), Checksums::new());
            match reader.read(self.plan, &range, false, &mut here, &mut there) {
                Ok(()) => {
                    self.progress.read(here.rows);
                    self.found.lock().unwrap_or_else(PoisonError::into_inner).add(number, range, [here, there]);
                }
                Err(error) => {
                    self.stops.store(true, Ordering::Relaxed);
                    self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        }
    }
}

impl Found {
    fn add(&mut self, number: u64, range: Range, checksums: [Checksums; 2]) {
        self.ranges += 1;
        for (total, checksums) in self.rows.iter_mut().zip(&checksums) {
            *total += checksums.rows;
        }
        if checksums[0] != checksums[1] {
            self.differing += 1;
            let at = self.numbers.partition_point(|other| *other < number);
            self.numbers.insert(at, number);
            self.first.insert(at, (range, checksums));
            self.numbers.truncate(DIFFERING_LIMIT);
            self.first.truncate(DIFFERING_LIMIT);
        }
    }
}

impl SendRows for Checksums {
    fn rows(&mut self) -> &mut dyn RowSink {
        self
    }
}
