//! What the status says after what has happened.

use super::*;

fn at(begin: Now, later_ms: u64) -> Now {
    Now { at: begin.at + Duration::from_millis(later_ms), unix_s: begin.unix_s + later_ms / 1_000 }
}

fn position(file: &str, position: u64) -> SourcePosition {
    SourcePosition { position: LogPosition { file: file.as_bytes().to_vec(), position }, ..SourcePosition::default() }
}

fn waits(tracker: &mut Tracker, now: Now) -> (Option<WaitsFor>, u64) {
    let status = tracker.status(0, now);
    (status.waits_for, status.waits_s)
}

#[test]
fn what_it_waits_for() {
    let begin = Now::read();
    let mut tracker = Tracker::new("a", begin);
    tracker.on_connecting(0, "db1".to_owned(), begin);
    assert_eq!(waits(&mut tracker, at(begin, 2_000)), (Some(WaitsFor::Source), 2));
    tracker.set_phase(Phase::Target, at(begin, 2_000));
    assert_eq!(waits(&mut tracker, at(begin, 3_000)), (Some(WaitsFor::Target), 1));
    assert_eq!(tracker.long_statement(at(begin, 9_000)), None, "nothing is known of its connection");
    tracker.on_connected(Arc::new(17.into()));
    tracker.set_phase(Phase::Source, at(begin, 4_000));
    tracker.on_running(&position("bin.1", 4), true, at(begin, 4_000));
    tracker.set_phase(Phase::Source, at(begin, 5_000));
    assert_eq!(waits(&mut tracker, at(begin, 8_000)), (Some(WaitsFor::Source), 4));

    // A statement that runs for long, and what the target says of it.
    tracker.set_phase(Phase::Target, at(begin, 10_000));
    assert_eq!(tracker.long_statement(at(begin, 10_500)), None);
    let statement = tracker.long_statement(at(begin, 12_000)).unwrap();
    assert_eq!((statement.connection, statement.since), (17, at(begin, 10_000).at));
    let explanation = |waits_for_lock| Explanation { waits_for_lock, text: "COMMIT".to_owned() };
    tracker.on_explained(statement, Some(explanation(false)));
    let status = tracker.status(0, at(begin, 12_000));
    assert_eq!((status.waits_for, status.waits_detail.as_deref()), (Some(WaitsFor::Target), Some("COMMIT")));
    tracker.on_explained(statement, Some(explanation(true)));
    assert_eq!(waits(&mut tracker, at(begin, 13_000)), (Some(WaitsFor::Lock), 3));
    // The answer about one that has ended is for nobody.
    tracker.set_phase(Phase::Source, at(begin, 14_000));
    tracker.set_phase(Phase::Target, at(begin, 14_000));
    tracker.on_explained(statement, Some(explanation(true)));
    let status = tracker.status(0, at(begin, 14_000));
    assert_eq!((status.waits_for, status.waits_detail), (Some(WaitsFor::Target), None));
    assert_eq!((status.source_wait_s, status.target_wait_s), (6.0, 6.0));
    // So is that about one whose transaction is committed, where another one follows.
    tracker.on_explained(LongStatement { since: at(begin, 14_000).at, ..statement }, Some(explanation(true)));
    tracker.on_committed(Committed::default(), 1, &position("bin.1", 900), at(begin, 14_000));
    assert_eq!(waits(&mut tracker, at(begin, 14_000)), (Some(WaitsFor::Target), 0));

    tracker.set_phase(Phase::None, at(begin, 14_000));
    tracker.on_retry("lost".to_owned(), Duration::from_millis(6_400), at(begin, 14_000));
    assert_eq!(waits(&mut tracker, at(begin, 14_000)), (Some(WaitsFor::Retry), 7));
    assert_eq!(waits(&mut tracker, at(begin, 20_300)), (Some(WaitsFor::Retry), 1));
    tracker.on_connecting(0, "db1".to_owned(), at(begin, 20_400));
    assert_eq!(waits(&mut tracker, at(begin, 20_400)), (Some(WaitsFor::Source), 0));
    tracker.on_stop("bad".to_owned(), true, true, at(begin, 21_000));
    assert_eq!(waits(&mut tracker, at(begin, 23_000)), (Some(WaitsFor::Person), 2));
    let status = tracker.status(0, at(begin, 23_000));
    assert_eq!((status.retries, status.stops, status.conflicts), (1, 1, 1));
    assert_eq!((status.source_wait_s, status.target_wait_s), (6.0, 6.0), "a stopped source waits for neither");
    tracker.set_state(SourceState::Ended, at(begin, 24_000));
    assert_eq!(waits(&mut tracker, at(begin, 24_000)).0, None);
}

#[test]
fn what_is_committed() {
    let begin = Now::read();
    let mut tracker = Tracker::new("a", begin);
    tracker.on_running(&position("bin.1", 4), true, begin);
    let committed =
        |transactions| Committed { transactions, bytes: 1_000, timestamp_s: Some(begin.unix_s.saturating_sub(7)) };
    tracker.on_committed(committed(30), 1, &position("bin.1", 1_500), begin);
    tracker.on_committed(committed(1), 1, &position("bin.1", 1_700), at(begin, 500));
    let status = tracker.status(5_000, at(begin, 1_000));
    assert_eq!((status.transactions, status.groups, status.applied_bytes, status.read_bytes), (31, 2, 2_000, 5_000));
    assert_eq!((&*status.applied_file, status.applied_position), ("bin.1", 1_700));
    assert_eq!((status.lag_s, status.lag_bytes, status.transactions_per_s), (Some(8), None, 31.0));
    tracker.on_log(Some(900), at(begin, 1_000));
    assert_eq!(tracker.status(0, at(begin, 1_000)).lag_bytes, Some(900));
    tracker.on_idle(&position("bin.2", 300).position, at(begin, 2_000));
    let status = tracker.status(0, at(begin, 2_500));
    assert_eq!((&*status.applied_file, status.applied_position), ("bin.2", 300));
    assert_eq!((status.lag_s, status.lag_bytes), (Some(0), Some(0)));
}

/// A position is asked for at the host whose log it is of, and only where the answer is not known.
#[test]
fn which_position_is_asked_for() {
    let begin = Now::read();
    let mut tracker = Tracker::new("a", begin);
    let asked = |tracker: &Tracker, now| {
        let place = |at: SourcePosition| (String::from_utf8(at.position.file).unwrap(), at.position.position);
        tracker.position_for_log(now).map(|(host, at)| (host, place(at)))
    };
    let none = (String::new(), 0);
    tracker.on_connecting(0, "db1".to_owned(), begin);
    tracker.on_running(&position("bin.1", 500), false, begin);
    tracker.set_phase(Phase::Source, begin);
    // The position may be of the other host.
    assert_eq!(asked(&tracker, begin), Some((0, none.clone())));
    tracker.on_idle(&position("bin.1", 600).position, begin);
    assert_eq!(asked(&tracker, begin), None, "the stream has said it");
    let place = ("bin.1".to_owned(), 600);
    assert_eq!(asked(&tracker, at(begin, 3_000)), Some((0, place.clone())));
    tracker.set_phase(Phase::Target, begin);
    assert_eq!(asked(&tracker, begin), Some((0, place.clone())), "it has come to something");
    tracker.set_state(SourceState::Paused, begin);
    assert_eq!(asked(&tracker, begin), Some((0, place)));
    tracker.on_connecting(1, "db2".to_owned(), begin);
    assert_eq!(asked(&tracker, begin), Some((1, none)));
    // The other host has other files, also where they come earlier.
    tracker.on_running(&position("bin.1", 600), false, begin);
    tracker.on_idle(&position("bin.1", 80).position, begin);
    assert_eq!(asked(&tracker, at(begin, 3_000)), Some((1, ("bin.1".to_owned(), 80))));
}
