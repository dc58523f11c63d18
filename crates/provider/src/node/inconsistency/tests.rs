//! Vote results for waiting threads, and detection of inconsistent tables.

use std::thread;

use super::*;

const FAULT: ApplyError = ApplyError { seqno: 5, error: 7 };

fn against(agreeing: u32) -> VoteResult {
    VoteResult { error: 7, agreeing }
}

#[test]
fn a_waiting_thread_gets_the_first_result() {
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
fn a_waiting_thread_returns_if_there_is_no_vote() {
    for end in [Inconsistency::abandon_vote, Inconsistency::close] {
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
fn wrongly_applied_seqnos_are_known() {
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
fn results_resolved_before_a_restart_stay_resolved() {
    let inconsistency = Inconsistency::new(5);
    inconsistency.reset_to(6);
    inconsistency.add_results(&[(5, against(2)), (7, against(2))]);
    assert_eq!(inconsistency.wrongly_applied(6), None);
    assert_eq!(inconsistency.wrongly_applied(7), Some(7));
    // The tables are before that seqno, which may be applied this time.
    inconsistency.reset_to(4);
    assert_eq!(inconsistency.wrongly_applied(4), None);
    assert_eq!(inconsistency.wrongly_applied(5), Some(5));
}

#[test]
fn received_tables_match_the_donors_results() {
    let inconsistency = Inconsistency::new(50);
    inconsistency.add_results(&[(60, against(2))]);
    inconsistency.on_sst_received(5);
    inconsistency.add_results(&[(5, against(2)), (7, against(2))]);
    assert_eq!(inconsistency.wrongly_applied(100), Some(7));
}
