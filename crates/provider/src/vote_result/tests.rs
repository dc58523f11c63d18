//! The winner of a vote, and when it is known.

use super::InconsistencyVote::{Applied, Failed, Unknown};
use super::*;

#[test]
fn equal_messages_have_equal_hashes() {
    let apply_error = ApplyError::new(5, b"Can't find record in 't', Error_code: 1032;");
    assert_eq!(apply_error, ApplyError::new(5, b"Can't find record in 't', Error_code: 1032;"));
    assert_ne!(apply_error.error, ApplyError::new(5, b"Can't find record in 'u', Error_code: 1032;").error);
    assert_ne!(ApplyError::new(5, b"").error, 0);
}

#[track_caller]
fn decided(votes: &[InconsistencyVote], error: u64, agreeing: u32) {
    assert_eq!(tally(votes), Some(VoteResult { error, agreeing }), "{votes:?}");
}

#[test]
fn the_majority_decides() {
    decided(&[Applied, Applied, Failed(7)], 0, 2);
    decided(&[Applied, Failed(7), Failed(7)], 7, 2);
    decided(&[Failed(7), Failed(7), Failed(7)], 7, 3);
    decided(&[Applied, Failed(7), Failed(7), Failed(7), Applied], 7, 3);
}

#[test]
fn a_tie_counts_as_applied() {
    decided(&[Applied, Failed(7)], 0, 1);
    decided(&[Failed(7), Applied, Failed(7), Applied], 0, 2);
    decided(&[Applied, Failed(7), Failed(8)], 0, 1);
}

#[test]
fn a_single_vote_never_skips() {
    assert_eq!(tally(&[Failed(7)]), None);
    decided(&[Failed(7), Applied], 0, 1);
}

#[test]
fn a_write_set_that_failed_everywhere_is_skipped() {
    decided(&[Failed(7), Failed(8)], ANY_ERROR, 2);
    decided(&[Failed(7), Failed(8), Failed(9)], ANY_ERROR, 3);
    decided(&[Failed(7), Failed(8), Failed(8)], 8, 2);
    assert_eq!(tally(&[Failed(7), Failed(8), Unknown]), None);
    let decision = tally(&[Failed(7), Failed(8)]).unwrap();
    assert!(decision.is_skipped_by(7) && decision.is_skipped_by(8));
}

#[test]
fn only_nodes_with_the_same_error_skip() {
    let failed = tally(&[Failed(7), Failed(7), Applied]).unwrap();
    assert!(failed.is_skipped_by(7) && !failed.is_skipped_by(8));
    assert!(!tally(&[Applied, Applied, Failed(7)]).unwrap().is_skipped_by(7));
}

#[test]
fn the_result_is_known_when_missing_votes_cannot_change_it() {
    assert_eq!(tally(&[Failed(7), Unknown]), None);
    assert_eq!(tally(&[Applied, Failed(7), Unknown]), None);
    assert_eq!(tally(&[Failed(7), Failed(7), Unknown, Unknown]), None);
    decided(&[Applied, Applied, Failed(7)], 0, 2);
    decided(&[Failed(7), Unknown, Failed(7)], 7, 2);
    decided(&[Applied, Unknown, Applied, Failed(7), Applied], 0, 3);
}

/// A full disk.
const FULL: u64 = OF_RESOURCES | 9;

#[test]
fn errors_of_resources_decide_nothing() {
    decided(&[Applied, Failed(FULL), Failed(FULL)], 0, 1);
    decided(&[Applied, Failed(FULL), Failed(FULL), Failed(FULL), Failed(FULL)], 0, 1);
    decided(&[Applied, Failed(7), Failed(FULL)], 0, 1);
    assert_eq!(tally(&[Failed(FULL), Failed(FULL), Unknown]), None);
    // The error of the data decides, and the node with the full disk has not applied it either.
    decided(&[Applied, Failed(7), Failed(7), Failed(FULL)], 7, 2);
    assert!(VoteResult { error: 7, agreeing: 2 }.is_skipped_by(FULL));
}

#[test]
fn a_statement_that_no_node_has_room_for_is_skipped_if_its_client_knows() {
    decided(&[Failed(FULL), Failed(FULL | OWN_STATEMENT), Failed(FULL)], ANY_ERROR, 3);
    decided(&[Failed(FULL), Failed(FULL)], 0, 0);
    decided(&[Failed(7 | OWN_STATEMENT), Failed(7)], 7, 2);
}

#[test]
fn the_marks_of_an_error_do_not_hide_its_cause() {
    let full = ApplyError::new(5, b"The table 't' is full, Error_code: 1114;");
    assert_ne!(full.error & OF_RESOURCES, 0);
    assert_eq!(full.of_own_statement().cause(), full.error);
    assert_eq!(ApplyError::new(5, b"Can't find record in 't', Error_code: 1032;").error & OF_RESOURCES, 0);
}
