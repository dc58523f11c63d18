//! Groups under way, by what workers say of them: one case each, and random schedules.

use hortator_core::{Key, Mode};

use super::*;

fn row(number: u8) -> WriteSet {
    WriteSet::new().with(Key::row(b"s", b"t", 0, &[number]), Mode::RowExclusive)
}

/// A queue of groups that each use one row.
fn queue(rows: &[u8]) -> GroupQueue<usize> {
    let mut queue = GroupQueue::new(rows.len(), 1 << 20);
    for (index, number) in rows.iter().enumerate() {
        queue.admit(row(*number), 1, &Arc::new(index)).expect("there is room");
    }
    queue
}

/// Takes all that can run now.
fn take_all(queue: &mut GroupQueue<usize>) -> Vec<(Seqno, usize)> {
    std::iter::from_fn(|| queue.take().map(|(seqno, group)| (seqno, *group))).collect()
}

#[test]
fn groups_of_other_rows_run_at_once_and_commit_in_order() {
    let mut queue = queue(&[1, 2, 1]);
    let taken = take_all(&mut queue);
    assert_eq!(
        taken.iter().map(|(_, group)| *group).collect::<Vec<_>>(),
        [0, 1],
        "the third uses the row of the first"
    );
    let (first, second) = (taken[0].0, taken[1].0);
    queue.executed(second);
    assert_eq!(queue.turn(second), Turn::Wait);
    queue.executed(first);
    assert_eq!(queue.turn(first), Turn::Commit);
    assert_eq!(queue.turn(second), Turn::Wait, "the first has not its place yet");
    queue.can_follow(first);
    assert_eq!(queue.turn(second), Turn::Commit);
    queue.committed(second);
    assert!(queue.take_committed().is_empty(), "the first is not committed");
    queue.committed(first);
    assert_eq!(queue.take_committed().iter().map(|group| **group).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(take_all(&mut queue).iter().map(|(_, group)| *group).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_refusal_counts_only_where_nothing_was_before_it() {
    let mut queue = queue(&[1, 2]);
    let taken = take_all(&mut queue);
    queue.refused(taken[1].0);
    assert!(queue.take().is_none(), "it runs again behind the first");
    assert!(!queue.is_for_applier(true));
    queue.executed(taken[0].0);
    assert_eq!(queue.turn(taken[0].0), Turn::Commit);
    queue.committed(taken[0].0);
    assert_eq!(take_all(&mut queue), [taken[1]]);
    queue.refused(taken[1].0);
    assert!(queue.is_for_applier(true));
    assert_eq!(queue.take_committed().len(), 1);
    let (seqno, group) = queue.take_first().expect("the second");
    assert_eq!((seqno, *group), taken[1]);
    queue.applied(seqno);
    assert!(queue.is_empty());
}

#[test]
fn what_waits_for_its_turn_gives_way_to_the_first() {
    let mut queue = queue(&[1, 2, 3]);
    let taken = take_all(&mut queue);
    queue.executed(taken[1].0);
    assert!(queue.clear_the_way());
    assert_eq!(queue.turn(taken[1].0), Turn::GiveWay);
    assert!(!queue.is_way_clear(), "it has not rolled back, and the third still runs");
    queue.gave_way(taken[1].0);
    queue.executed(taken[2].0);
    assert!(!queue.is_way_clear());
    assert!(queue.take().is_none(), "the second runs again behind the first only");
    queue.executed(taken[0].0);
    assert_eq!(queue.turn(taken[0].0), Turn::Commit);
    queue.committed(taken[0].0);
    assert_eq!(take_all(&mut queue), [taken[1]]);
}

#[test]
fn a_group_that_is_the_first_when_it_has_given_way_runs_again() {
    let mut queue = queue(&[1, 2]);
    let taken = take_all(&mut queue);
    queue.executed(taken[1].0);
    assert!(queue.clear_the_way());
    queue.executed(taken[0].0);
    assert_eq!(queue.turn(taken[0].0), Turn::Commit);
    queue.committed(taken[0].0);
    queue.gave_way(taken[1].0);
    assert_eq!(take_all(&mut queue), [taken[1]]);
}

#[test]
fn workers_take_the_earliest_group() {
    // The second uses the row of the first; the third gives way to the first.
    let mut queue = queue(&[1, 1, 2, 3]);
    let first = queue.take().expect("the first").0;
    let third = queue.take().expect("the third").0;
    queue.executed(third);
    assert!(queue.clear_the_way());
    queue.gave_way(third);
    assert_eq!(queue.take().map(|(_, group)| *group), Some(3));
    queue.executed(first);
    assert_eq!(queue.turn(first), Turn::Commit);
    queue.committed(first);
    assert!(queue.is_first_left());
    assert_eq!(queue.take().map(|(_, group)| *group), Some(1), "the others wait for it");
    assert!(!queue.is_first_left());
}

#[test]
fn the_applier_takes_what_no_worker_takes() {
    let mut queue = queue(&[1, 1]);
    for group in [0, 1] {
        assert!(queue.is_for_applier(false) && queue.is_way_clear());
        let (seqno, taken) = queue.take_first().expect("one is left");
        assert_eq!(*taken, group);
        queue.applied(seqno);
    }
    assert!(queue.is_empty() && queue.take_first().is_none());
}

#[test]
fn there_is_room_for_so_many() {
    let mut queue = queue(&[1, 2]);
    assert!(queue.admit(row(3), 1, &Arc::new(2)).is_err());
}

/// Workers whose groups are refused, stalled and committed as a random number says: all groups commit, in their order, each
/// only when all before it have committed or are about to.
#[test]
fn every_schedule_ends_with_all_groups_committed_in_order() {
    let seed = std::env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1u64);
    for seed in seed..seed + 300 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = |limit: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % limit
        };
        let total = 40;
        let mut queue = GroupQueue::new(6, 1 << 20);
        let (mut admitted, mut done) = (0, Vec::new());
        let mut running: Vec<(Seqno, usize)> = Vec::new();
        let mut executed: Vec<(Seqno, usize)> = Vec::new();
        let mut committing: Vec<(Seqno, usize)> = Vec::new();
        for step in 0.. {
            assert!(step < 100_000, "seed {seed}: no end, {queue:?}");
            if done.len() == total {
                break;
            }
            match next(8) {
                0 if admitted < total => {
                    let number = u8::try_from(next(5)).expect("it is small");
                    admitted += usize::from(queue.admit(row(number), 1, &Arc::new(admitted)).is_ok());
                }
                1 if running.len() + executed.len() + committing.len()
                    < 1 + usize::try_from(seed % 3).expect("small") =>
                {
                    running.extend(queue.take().map(|(seqno, group)| (seqno, *group)));
                }
                2 if !running.is_empty() => {
                    let one = running.swap_remove(0);
                    if next(4) == 0 {
                        queue.refused(one.0);
                    } else {
                        queue.executed(one.0);
                        executed.push(one);
                    }
                }
                3 => executed.retain(|one| match queue.turn(one.0) {
                    Turn::Wait => true,
                    Turn::GiveWay => {
                        queue.gave_way(one.0);
                        false
                    }
                    Turn::Commit => {
                        queue.can_follow(one.0);
                        committing.push(*one);
                        false
                    }
                }),
                // As the lock on the position lets them: one after the other.
                4 if !committing.is_empty() => {
                    let one = committing.remove(0);
                    if next(8) == 0 {
                        queue.refused(one.0);
                        committing.drain(..).for_each(|one| queue.refused(one.0));
                    } else {
                        queue.committed(one.0);
                    }
                }
                5 => done.extend(queue.take_committed().iter().map(|group| **group)),
                6 if next(4) == 0 => drop(queue.clear_the_way()),
                7 if queue.is_for_applier(true) => {
                    done.extend(queue.take_committed().iter().map(|group| **group));
                    if queue.is_way_clear() {
                        let (seqno, group) = queue.take_first().expect("it is for the applier");
                        queue.applied(seqno);
                        done.push(*group);
                    } else {
                        queue.clear_the_way();
                    }
                }
                _ => {}
            }
        }
        assert!(done.iter().copied().eq(0..total), "seed {seed}: {done:?}");
    }
}
