//! Who waits is told; what tables hold against a decision is seen, and nothing else.

use std::thread;

use super::*;

const FAULT: Fault = Fault { seqno: 5, error: 7 };

fn against(agreeing: u32) -> Decision {
    Decision { error: 7, agreeing }
}

#[test]
fn who_waits_is_told_what_is_decided_and_of_two_decisions_the_first() {
    let inconsistency = Inconsistency::new(-1);
    thread::scope(|scope| {
        inconsistency.raise(FAULT, false);
        let waiting = scope.spawn(|| inconsistency.wait(FAULT));
        assert_eq!(inconsistency.fault(), Some(FAULT));
        inconsistency.learn(&[(4, against(1)), (5, against(2)), (5, against(3))]);
        assert_eq!(waiting.join().unwrap(), Some(against(2)));
    });
    assert_eq!(inconsistency.fault(), None);
    assert_eq!(inconsistency.wait(FAULT), Some(against(2)), "and who comes later, at once");
}

#[test]
fn who_waits_goes_when_nobody_decides() {
    for end in [Inconsistency::refuse, Inconsistency::end] {
        let inconsistency = Inconsistency::new(-1);
        thread::scope(|scope| {
            inconsistency.raise(FAULT, false);
            let waiting = scope.spawn(|| inconsistency.wait(FAULT));
            end(&inconsistency);
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}

#[test]
fn tables_that_hold_what_failed_elsewhere_are_known() {
    let inconsistency = Inconsistency::new(-1);
    inconsistency.learn(&[(5, against(2)), (6, Decision { error: 0, agreeing: 2 })]);
    assert_eq!(inconsistency.held_wrongly(4), None, "it has not come there");
    assert_eq!(inconsistency.held_wrongly(9), Some(5));
    inconsistency.forget_to(9);
    assert_eq!(inconsistency.held_wrongly(9), Some(5), "that is not forgotten before it is seen to");
    inconsistency.heed_to(5);
    assert_eq!(inconsistency.held_wrongly(9), None);
    inconsistency.forget_to(9);
    assert_eq!((inconsistency.decision(5), inconsistency.decision(6)), (None, None));
}

#[test]
fn what_was_heeded_before_a_restart_is() {
    let inconsistency = Inconsistency::new(5);
    inconsistency.begin_at(6);
    inconsistency.learn(&[(5, against(2)), (7, against(2))]);
    assert_eq!(inconsistency.held_wrongly(6), None);
    assert_eq!(inconsistency.held_wrongly(7), Some(7));
    // Its tables are behind that, and what failed there may not fail this time.
    inconsistency.begin_at(4);
    assert_eq!(inconsistency.held_wrongly(4), None);
    assert_eq!(inconsistency.held_wrongly(5), Some(5));
}

#[test]
fn tables_of_another_are_as_that_one_has_heeded() {
    let inconsistency = Inconsistency::new(50);
    inconsistency.learn(&[(60, against(2))]);
    inconsistency.tables_came(5);
    inconsistency.learn(&[(5, against(2)), (7, against(2))]);
    assert_eq!(inconsistency.held_wrongly(100), Some(7));
}
