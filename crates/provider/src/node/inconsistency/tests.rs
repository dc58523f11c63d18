//! Who waits is told; what tables hold against a decision is seen, and nothing else.

use std::thread;

use super::*;

const FAULT: ApplyError = ApplyError { seqno: 5, error: 7 };

fn against(agreeing: u32) -> VoteResult {
    VoteResult { error: 7, agreeing }
}

#[test]
fn who_waits_is_told_what_is_decided_and_of_two_decisions_the_first() {
    let inconsistency = Inconsistency::new(-1);
    thread::scope(|scope| {
        inconsistency.raise(FAULT, false);
        let waiting = scope.spawn(|| inconsistency.wait_for_result(FAULT));
        assert_eq!(inconsistency.apply_error(), Some(FAULT));
        inconsistency.add_results(&[(4, against(1)), (5, against(2)), (5, against(3))]);
        assert_eq!(waiting.join().unwrap(), Some(against(2)));
    });
    assert_eq!(inconsistency.apply_error(), None);
    assert_eq!(inconsistency.wait_for_result(FAULT), Some(against(2)), "and who comes later, at once");
}

#[test]
fn who_waits_goes_when_nobody_decides() {
    for end in [Inconsistency::give_up, Inconsistency::close] {
        let inconsistency = Inconsistency::new(-1);
        thread::scope(|scope| {
            inconsistency.raise(FAULT, false);
            let waiting = scope.spawn(|| inconsistency.wait_for_result(FAULT));
            end(&inconsistency);
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}

#[test]
fn tables_that_hold_what_failed_elsewhere_are_known() {
    let inconsistency = Inconsistency::new(-1);
    inconsistency.add_results(&[(5, against(2)), (6, VoteResult { error: 0, agreeing: 2 })]);
    assert_eq!(inconsistency.wrongly_applied(4), None, "it has not come there");
    assert_eq!(inconsistency.wrongly_applied(9), Some(5));
    inconsistency.purge(9);
    assert_eq!(inconsistency.wrongly_applied(9), Some(5), "that is not forgotten before it is seen to");
    inconsistency.set_resolved_upto(5);
    assert_eq!(inconsistency.wrongly_applied(9), None);
    inconsistency.purge(9);
    assert_eq!((inconsistency.result(5), inconsistency.result(6)), (None, None));
}

#[test]
fn what_was_heeded_before_a_restart_is() {
    let inconsistency = Inconsistency::new(5);
    inconsistency.reset_to(6);
    inconsistency.add_results(&[(5, against(2)), (7, against(2))]);
    assert_eq!(inconsistency.wrongly_applied(6), None);
    assert_eq!(inconsistency.wrongly_applied(7), Some(7));
    // Its tables are behind that, and what failed there may not fail this time.
    inconsistency.reset_to(4);
    assert_eq!(inconsistency.wrongly_applied(4), None);
    assert_eq!(inconsistency.wrongly_applied(5), Some(5));
}

#[test]
fn tables_of_another_are_as_that_one_has_heeded() {
    let inconsistency = Inconsistency::new(50);
    inconsistency.add_results(&[(60, against(2))]);
    inconsistency.on_sst_received(5);
    inconsistency.add_results(&[(5, against(2)), (7, against(2))]);
    assert_eq!(inconsistency.wrongly_applied(100), Some(7));
}
