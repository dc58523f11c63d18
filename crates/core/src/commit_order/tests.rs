//! Turns in the commit order.

use super::*;
use crate::testing::from_seeds;

#[test]
fn a_transaction_enters_when_all_before_it_have_left() {
    let mut order = CommitOrder::new();
    for seqno in [1, 2, 5] {
        order.register(Seqno(seqno));
    }
    assert!(order.may_enter(Seqno(1)));
    assert!(!order.may_enter(Seqno(2)));
    order.leave(Seqno(1));
    assert!(order.may_enter(Seqno(2)));
    order.leave(Seqno(2));
    assert!(order.may_enter(Seqno(5)), "positions that were never registered are not waited for");
    order.leave(Seqno(5));
    assert_eq!(order.first(), None);
}

#[test]
fn an_aborted_transaction_gives_up_its_turn() {
    let mut order = CommitOrder::new();
    for seqno in 1..=3 {
        order.register(Seqno(seqno));
    }
    order.leave(Seqno(2));
    assert!(!order.may_enter(Seqno(3)), "1 is still there");
    order.leave(Seqno(1));
    assert!(order.may_enter(Seqno(3)));
    assert!(!order.may_enter(Seqno(2)), "a transaction that left has no turn");
}

#[test]
fn registered_transactions_enter_in_order() {
    from_seeds(200, |random| {
        let mut order = CommitOrder::new();
        let mut registered = Vec::new();
        let mut next = 1;
        let mut last_entered = Seqno(0);
        for _ in 0..300 {
            match random.below(5) {
                0..=2 => {
                    next += random.below(3) as u64;
                    order.register(Seqno(next));
                    registered.push(Seqno(next));
                    next += 1;
                }
                3 if !registered.is_empty() => order.leave(registered.remove(random.below(registered.len()))),
                _ => {
                    let may: Vec<Seqno> = registered.iter().copied().filter(|&seqno| order.may_enter(seqno)).collect();
                    assert_eq!(may, registered.first().copied().into_iter().collect::<Vec<_>>());
                    if let Some(&seqno) = may.first() {
                        assert!(seqno > last_entered);
                        last_entered = seqno;
                        order.leave(registered.remove(0));
                    }
                }
            }
        }
    });
}

#[test]
#[should_panic(expected = "1 registered after 2")]
fn registering_out_of_order_panics() {
    let mut order = CommitOrder::new();
    order.register(Seqno(2));
    order.register(Seqno(1));
}

#[test]
#[should_panic(expected = "1 leaves the commit order without being registered")]
fn leaving_twice_panics() {
    let mut order = CommitOrder::new();
    order.register(Seqno(1));
    order.leave(Seqno(1));
    order.leave(Seqno(1));
}
