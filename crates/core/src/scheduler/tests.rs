//! Scenarios of a few transactions, and long random runs compared with the oracle after every step.

use super::lock_table::LockClass;
use super::oracle::Oracle;
use super::*;
use crate::Level;
use crate::testing::{Random, from_seeds, random_uses};

use Mode::{Exclusive, IntentionExclusive, RowExclusive, RowReference, RowUpdate, Shared};

const AMPLE: usize = 1 << 30;

fn table() -> Key {
    Key::table(b"shop", b"orders")
}

fn row(image: usize) -> Key {
    Key::row_in(table(), 0, &image.to_le_bytes())
}

fn uses(key: Key, mode: Mode) -> WriteSet {
    WriteSet::new().with(key, mode)
}

/// Admits one transaction for each use, and returns the numbers of those that are ready at once.
fn admit_all(scheduler: &mut Scheduler<()>, all: &[(Key, Mode)]) -> Vec<u64> {
    for &(key, mode) in all {
        scheduler.admit(uses(key, mode), 0, ()).unwrap();
    }
    take_all(scheduler)
}

fn take_all(scheduler: &mut Scheduler<()>) -> Vec<u64> {
    scheduler.self_check();
    std::iter::from_fn(|| scheduler.take_ready()).map(|(seqno, ())| seqno.0).collect()
}

fn complete(scheduler: &mut Scheduler<()>, seqno: u64) -> Vec<u64> {
    scheduler.complete(Seqno(seqno));
    take_all(scheduler)
}

#[test]
fn writes_of_different_rows_run_in_parallel_and_of_the_same_row_in_order() {
    let mut scheduler = Scheduler::new(AMPLE);
    let all = [(row(1), RowUpdate), (row(2), RowUpdate), (row(1), RowUpdate), (row(1), RowUpdate)];
    assert_eq!(admit_all(&mut scheduler, &all), [1, 2]);
    assert_eq!(complete(&mut scheduler, 2), []);
    assert_eq!(complete(&mut scheduler, 1), [3]);
    assert_eq!(complete(&mut scheduler, 3), [4]);
}

#[test]
fn a_child_row_waits_for_its_parent_row_and_the_parents_delete_for_the_child() {
    let mut scheduler = Scheduler::new(AMPLE);
    let all = [(row(1), RowExclusive), (row(1), RowReference), (row(1), RowReference), (row(1), RowExclusive)];
    assert_eq!(admit_all(&mut scheduler, &all), [1]);
    assert_eq!(complete(&mut scheduler, 1), [2, 3], "references do not exclude each other");
    assert_eq!(complete(&mut scheduler, 3), []);
    assert_eq!(complete(&mut scheduler, 2), [4]);
}

#[test]
fn an_exclusive_table_waits_for_every_row_below_and_all_rows_after_wait_for_it() {
    let mut scheduler = Scheduler::new(AMPLE);
    let elsewhere = Key::row(b"shop", b"people", 0, b"1");
    let all = [(row(1), RowUpdate), (row(2), RowReference), (table(), Exclusive), (row(3), RowUpdate)];
    assert_eq!(admit_all(&mut scheduler, &all), [1, 2]);
    assert_eq!(admit_all(&mut scheduler, &[(elsewhere, RowUpdate)]), [5], "another table is not affected");
    assert_eq!(complete(&mut scheduler, 1), []);
    assert_eq!(complete(&mut scheduler, 2), [3]);
    assert_eq!(complete(&mut scheduler, 3), [4]);
}

#[test]
fn readers_of_a_table_and_writers_below_it_alternate() {
    let mut scheduler = Scheduler::new(AMPLE);
    let all = [(row(1), RowUpdate), (table(), Shared), (row(2), RowUpdate), (table(), Shared), (row(3), RowReference)];
    assert_eq!(admit_all(&mut scheduler, &all), [1, 5], "a read below is compatible with both");
    assert_eq!(complete(&mut scheduler, 1), [2]);
    assert_eq!(complete(&mut scheduler, 2), [3]);
    assert_eq!(complete(&mut scheduler, 3), [4]);
}

#[test]
fn a_barrier_waits_for_all_and_all_wait_for_it() {
    let mut scheduler = Scheduler::new(AMPLE);
    let other = Key::table(b"other", b"t");
    let all = [(row(1), RowUpdate), (other, Shared), (Key::server(), Exclusive), (other, Shared), (row(9), RowUpdate)];
    assert_eq!(admit_all(&mut scheduler, &all), [1, 2]);
    assert_eq!(complete(&mut scheduler, 2), []);
    assert_eq!(complete(&mut scheduler, 1), [3]);
    assert_eq!(complete(&mut scheduler, 3), [4, 5]);
}

#[test]
fn a_transaction_without_keys_does_not_wait() {
    let mut scheduler = Scheduler::new(AMPLE);
    assert_eq!(admit_all(&mut scheduler, &[(Key::server(), Exclusive)]), [1]);
    let seqno = scheduler.admit(WriteSet::new(), 0, ()).unwrap();
    assert_eq!(take_all(&mut scheduler), [seqno.0]);
}

#[test]
fn the_reason_for_a_wait_names_the_deepest_key_and_both_modes() {
    let mut scheduler = Scheduler::new(AMPLE);
    let all = [(row(1), RowReference), (table(), IntentionExclusive), (row(1), RowUpdate), (table(), Shared)];
    admit_all(&mut scheduler, &all);
    let wait = |predecessor, key, held, wanted| Wait { predecessor: Seqno(predecessor), key, held, wanted };
    assert_eq!(scheduler.waits(Seqno(3)), [wait(1, row(1), RowReference, RowUpdate)]);
    let writers = [2, 3].map(|writer| wait(writer, table(), IntentionExclusive, Shared));
    assert_eq!(scheduler.waits(Seqno(4)), writers);
    assert_eq!(scheduler.waits(Seqno(1)), [], "it runs");
    assert_eq!(scheduler.waits(Seqno(99)), [], "it does not exist");
}

#[test]
fn a_full_scheduler_returns_everything_and_admits_it_later() {
    let mut scheduler = Scheduler::new(10_000);
    let first = scheduler.admit(uses(row(1), RowUpdate), 6_000, "first").unwrap();
    let full = scheduler.admit(uses(row(2), RowUpdate), 6_000, "second").unwrap_err();
    assert_eq!((full.payload, full.size_bytes), ("second", 6_000));
    assert_eq!(full.write_set.mode(row(2)), Some(RowUpdate));
    assert_eq!(
        full.to_string(),
        "the scheduler holds 6896 of at most 10000 bytes: a transaction of 6896 has to wait until others complete"
    );
    assert_eq!((scheduler.in_flight(), scheduler.last_admitted()), (1, first), "nothing is left of it");

    scheduler.take_ready();
    scheduler.complete(first);
    assert_eq!(scheduler.held_bytes(), 0);
    let second = scheduler.admit(full.write_set, full.size_bytes, full.payload).unwrap();
    assert_eq!(second, first.next());
}

#[test]
fn a_transaction_that_exceeds_the_limit_runs_alone() {
    let mut scheduler = Scheduler::new(10);
    for payload in [1, 2] {
        let seqno = scheduler.admit(uses(row(1), RowUpdate), usize::MAX, payload).unwrap();
        assert!(scheduler.admit(WriteSet::new(), 0, 9).is_err());
        assert_eq!(scheduler.take_ready(), Some((seqno, payload)));
        scheduler.complete(seqno);
        assert!(scheduler.is_idle());
    }
}

#[test]
fn keys_count_against_the_limit() {
    let mut scheduler = Scheduler::new(AMPLE);
    scheduler.admit(WriteSet::new(), 0, ()).unwrap();
    let without = scheduler.held_bytes();
    scheduler.admit(uses(row(1), RowUpdate), 0, ()).unwrap();
    assert_eq!(scheduler.held_bytes(), 2 * without + 4 * KEY_BYTES);
}

#[test]
#[should_panic(expected = "transaction 1 is completed before it was handed out")]
fn completing_an_untaken_transaction_panics() {
    let mut scheduler = Scheduler::new(AMPLE);
    let seqno = scheduler.admit(WriteSet::new(), 0, ()).unwrap();
    scheduler.complete(seqno);
}

#[test]
#[should_panic(expected = "transaction 1 is completed but not in flight")]
fn completing_twice_panics() {
    let mut scheduler = Scheduler::new(AMPLE);
    admit_all(&mut scheduler, &[(row(1), RowUpdate)]);
    complete(&mut scheduler, 1);
    complete(&mut scheduler, 1);
}

#[test]
fn classes_exclude_each_other_as_in_the_matrix() {
    for one in Mode::ALL {
        for other in Mode::ALL {
            for level in [Level::Table, Level::Row] {
                let (second, first) = (one.at(level), other.at(level));
                let classes = [LockClass::of(second), LockClass::of(first)];
                let alternating = [
                    [LockClass::IntentionExclusive, LockClass::Shared],
                    [LockClass::Shared, LockClass::IntentionExclusive],
                ]
                .contains(&classes);
                let excludes = classes.contains(&LockClass::Exclusive) || alternating;
                assert_eq!(second.waits_for(first), excludes, "{second:?} after {first:?}");
            }
        }
    }
}

#[test]
fn keys_are_dropped_when_no_transaction_in_flight_uses_them() {
    let mut scheduler = Scheduler::new(AMPLE);
    for round in 0..100 {
        for image in 0..100 {
            scheduler.admit(uses(row(round * 50 + image), RowUpdate), 0, ()).unwrap();
        }
        assert!(scheduler.held_keys() <= 203);
        while let Some((seqno, ())) = scheduler.take_ready() {
            scheduler.complete(seqno);
        }
        assert_eq!((scheduler.held_keys(), scheduler.wait_groups.len(), scheduler.held_bytes()), (0, 0, 0));
    }
}

/// The scheduler and the oracle, side by side.
struct Pair {
    scheduler: Scheduler<Seqno>,
    oracle: Oracle,
    taken: Vec<Seqno>,
}

impl Pair {
    fn admit(&mut self, write_set: &WriteSet, size_bytes: usize) {
        let expected = self.scheduler.last_admitted().next();
        let would_wait = self.scheduler.conflicts_in_flight(write_set);
        match self.scheduler.admit(write_set.clone(), size_bytes, expected) {
            Ok(seqno) => {
                assert_eq!(seqno, expected);
                self.oracle.admit(seqno, write_set);
                assert_eq!(would_wait, !self.oracle.predecessors(seqno).is_empty());
            }
            Err(full) => {
                assert_eq!(full.payload, expected);
                assert!(!self.scheduler.is_idle());
                assert!(full.held_bytes + full.needed_bytes > full.limit_bytes);
            }
        }
    }

    fn take(&mut self) {
        let untaken = self.oracle.free().into_iter().find(|seqno| !self.taken.contains(seqno));
        assert_eq!(self.scheduler.first_ready(), untaken);
        assert_eq!(self.scheduler.take_ready(), untaken.map(|seqno| (seqno, seqno)));
        self.taken.extend(untaken);
    }

    fn complete_any(&mut self, random: &mut Random) {
        if !self.taken.is_empty() {
            let seqno = self.taken.swap_remove(random.below(self.taken.len()));
            self.scheduler.complete(seqno);
            self.oracle.complete(seqno);
        }
    }

    fn compare(&self) {
        self.scheduler.self_check();
        let transactions: Vec<_> = self.scheduler.in_flight.in_order().collect();
        let seqnos: Vec<Seqno> = transactions.iter().map(|transaction| transaction.seqno).collect();
        assert_eq!(seqnos, self.oracle.in_flight());
        assert_eq!(self.scheduler.lowest_in_flight(), seqnos.first().copied());
        let free = transactions.iter().filter(|transaction| transaction.stage != Stage::Waiting);
        let free: Vec<Seqno> = free.map(|transaction| transaction.seqno).collect();
        assert_eq!(free, self.oracle.free(), "exactly these transactions may run");
        for seqno in seqnos {
            let waits = self.scheduler.waits(seqno);
            let predecessors: Vec<Seqno> = waits.iter().map(|wait| wait.predecessor).collect();
            assert_eq!(predecessors, self.oracle.predecessors(seqno), "{seqno} waits for exactly these");
            assert!(waits.iter().all(|wait| wait.wanted.waits_for(wait.held)));
        }
    }
}

#[test]
fn at_every_step_the_ready_transactions_equal_those_of_the_oracle() {
    from_seeds(200, |random| {
        // Mostly rows, as in replication; a mixture; only tables, as in a load; anything.
        let weights = random.one_of(&[[0, 0, 1, 30], [1, 2, 8, 30], [0, 1, 20, 0], [1, 1, 1, 1]]);
        let uses_limit = random.one_of(&[1, 2, 6]);
        let keys_limit = random.one_of(&[5, crate::KEYS_LIMIT]);
        let limit_bytes = random.one_of(&[5_000, 20_000, AMPLE]);
        let haste = random.one_of(&[1, 2, 4]);
        let mut pair = Pair { scheduler: Scheduler::new(limit_bytes), oracle: Oracle::default(), taken: Vec::new() };
        for _ in 0..150 {
            match random.below(3 + haste) {
                0 => pair.take(),
                1 => pair.complete_any(random),
                _ if pair.scheduler.in_flight() > 25 => pair.complete_any(random),
                _ => {
                    let uses = random_uses(random, uses_limit, weights);
                    let empty = WriteSet::with_keys_limit(keys_limit);
                    let write_set = uses.into_iter().fold(empty, |set, (key, mode)| set.with(key, mode));
                    pair.admit(&write_set, random.below(2_000));
                }
            }
            pair.compare();
        }
        while !pair.scheduler.is_idle() {
            pair.take();
            if random.below(2) == 0 {
                pair.complete_any(random);
                pair.compare();
            }
        }
        assert_eq!((pair.scheduler.held_keys(), pair.scheduler.wait_groups.len()), (0, 0), "nothing is left behind");
        assert_eq!((pair.scheduler.held_bytes(), pair.scheduler.ready()), (0, 0), "nothing is left behind");
    });
}
