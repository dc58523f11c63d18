//! Proposals across changes of the leader, step by step.

use super::*;

const ME: SessionId = SessionId([1; 16]);
const LEADER: NodeId = NodeId(7);
const OTHER: NodeId = NodeId(8);

fn steps_of(act: impl FnOnce(&mut Vec<Step>)) -> Vec<Step> {
    let mut steps = Vec::new();
    act(&mut steps);
    steps
}

fn submit(proposals: &mut Proposals, request_id: u64) -> Vec<Step> {
    steps_of(|steps| proposals.submit(RequestId(request_id), steps).unwrap())
}

fn led(term: u64, leader: Leader) -> Proposals {
    let mut proposals = Proposals::new();
    assert_eq!(steps_of(|steps| proposals.on_leader_changed(Term(term), leader, steps)), []);
    proposals
}

fn forward(request_id: u64, to: NodeId, term: u64, number: u64) -> Step {
    Step::Forward { request_id: RequestId(request_id), to, term: Term(term), number }
}

#[test]
fn a_follower_forwards_and_counts() {
    let mut proposals = led(3, Leader::Other(LEADER));
    assert_eq!(submit(&mut proposals, 1), [forward(1, LEADER, 3, 1)]);
    assert_eq!(submit(&mut proposals, 2), [forward(2, LEADER, 3, 2)]);
}

#[test]
fn a_leader_appends() {
    let mut proposals = led(3, Leader::Me);
    assert_eq!(submit(&mut proposals, 1), [Step::Append { request_id: RequestId(1), term: Term(3) }]);
}

#[test]
fn proposals_wait_for_a_leader() {
    let mut proposals = Proposals::new();
    assert_eq!(submit(&mut proposals, 1), []);
    let steps = steps_of(|steps| proposals.on_leader_changed(Term(1), Leader::Other(LEADER), steps));
    assert_eq!(steps, [forward(1, LEADER, 1, 1)]);
}

#[test]
fn a_new_link_gets_all_uncommitted_proposals_again() {
    let mut proposals = led(3, Leader::Other(LEADER));
    for request_id in 1..=3 {
        submit(&mut proposals, request_id);
    }
    assert_eq!(steps_of(|steps| proposals.on_committed(Term(3), Some(RequestId(1)), steps)), []);
    let steps = steps_of(|steps| proposals.resend(steps));
    assert_eq!(steps, [forward(2, LEADER, 3, 2), forward(3, LEADER, 3, 3)]);
}

#[test]
fn a_new_leader_gets_a_proposal_only_after_its_loss() {
    let mut proposals = led(3, Leader::Other(LEADER));
    submit(&mut proposals, 1);
    submit(&mut proposals, 2);
    assert_eq!(steps_of(|steps| proposals.on_leader_changed(Term(4), Leader::Other(OTHER), steps)), []);
    // A later one may need the lost ones before it: the rollback of a transaction whose rows it writes.
    assert_eq!(submit(&mut proposals, 3), []);
    // The new leader had it in its log.
    assert_eq!(steps_of(|steps| proposals.on_committed(Term(3), Some(RequestId(1)), steps)), []);
    // The next entry is of the new term, so the rest of the old term is lost.
    let steps = steps_of(|steps| proposals.on_committed(Term(4), None, steps));
    assert_eq!(steps, [forward(2, OTHER, 4, 1), forward(3, OTHER, 4, 2)]);
}

#[test]
fn a_lost_proposal_waits_for_a_leader() {
    let mut proposals = led(3, Leader::Other(LEADER));
    submit(&mut proposals, 1);
    steps_of(|steps| proposals.on_leader_changed(Term(5), Leader::Unknown, steps));
    assert_eq!(steps_of(|steps| proposals.on_committed(Term(4), None, steps)), []);
    let steps = steps_of(|steps| proposals.on_leader_changed(Term(5), Leader::Me, steps));
    assert_eq!(steps, [Step::Append { request_id: RequestId(1), term: Term(5) }]);
}

#[test]
fn cancelling_withdraws_only_unsent_proposals() {
    let mut proposals = Proposals::new();
    submit(&mut proposals, 1);
    assert!(proposals.cancel(RequestId(1)));
    steps_of(|steps| proposals.on_leader_changed(Term(1), Leader::Other(LEADER), steps));
    submit(&mut proposals, 2);
    assert!(!proposals.cancel(RequestId(2)));
    // The leader may lack it, and would then not accept the next number.
    assert_eq!(steps_of(|steps| proposals.resend(steps)), [forward(2, LEADER, 1, 1)]);
    steps_of(|steps| proposals.on_leader_changed(Term(2), Leader::Other(OTHER), steps));
    let steps = steps_of(|steps| proposals.on_committed(Term(2), None, steps));
    assert_eq!(steps, [Step::Discard { request_id: RequestId(2) }]);
    assert!(proposals.is_empty());
}

#[test]
fn a_failed_append_is_retried_in_order() {
    let mut proposals = led(2, Leader::Me);
    submit(&mut proposals, 1);
    submit(&mut proposals, 2);
    steps_of(|steps| proposals.on_not_appended(RequestId(1), steps));
    steps_of(|steps| proposals.on_not_appended(RequestId(2), steps));
    let steps = steps_of(|steps| proposals.on_leader_changed(Term(3), Leader::Other(LEADER), steps));
    assert_eq!(steps, [forward(1, LEADER, 3, 1), forward(2, LEADER, 3, 2)]);
}

#[test]
fn proposals_without_progress_are_sent_again() {
    let mut proposals = led(2, Leader::Other(LEADER));
    submit(&mut proposals, 1);
    assert_eq!(steps_of(|steps| proposals.tick(RESEND_INTERVAL_MS - 1, steps)), []);
    assert_eq!(steps_of(|steps| proposals.tick(RESEND_INTERVAL_MS, steps)), [forward(1, LEADER, 2, 1)]);
    assert_eq!(steps_of(|steps| proposals.tick(RESEND_INTERVAL_MS + 1, steps)), []);
}

#[test]
fn a_leader_accepts_each_number_once_and_in_order() {
    let mut proposals = led(2, Leader::Me);
    let mut take = |term, number| proposals.accept_forward(ME, Term(term), number);
    assert!(!take(2, 2), "1 is missing");
    assert!(take(2, 1));
    assert!(!take(2, 1), "it has that");
    assert!(take(2, 2));
    assert!(!take(1, 3), "for another reign");
    assert!(!take(3, 3), "for another reign");
    assert!(!take(2, u64::MAX));
}

#[test]
fn a_follower_accepts_no_forward() {
    assert!(!led(2, Leader::Other(LEADER)).accept_forward(ME, Term(2), 1));
    assert!(!led(2, Leader::Unknown).accept_forward(ME, Term(2), 1));
}

#[test]
fn outstanding_proposals_are_limited() {
    let mut proposals = Proposals::new();
    for request_id in 0..OUTSTANDING_LIMIT as u64 {
        submit(&mut proposals, request_id);
    }
    let refused = proposals.submit(RequestId(u64::MAX), &mut Vec::new());
    assert_eq!(refused, Err(Full));
}
