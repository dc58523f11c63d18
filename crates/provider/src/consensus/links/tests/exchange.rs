//! Linked nodes: order, size, ends and reconnects.

use super::*;
use crate::consensus::raft::Term;
use crate::consensus::wire::BATCH_LIMIT_BYTES;

#[test]
fn three_nodes_exchange_frames_in_order() {
    let mut nodes = Nodes::linked(3);
    for request_id in 0..200 {
        for from in 0..3 {
            for to in 0..3 {
                if from != to {
                    assert!(nodes.say(from, to as u64 + 1, request_id));
                }
            }
        }
        if request_id % 20 == 0 {
            nodes.turn();
        }
    }
    let wanted: Vec<u64> = (0..200).collect();
    for to in 0..3 {
        for from in (0..3).filter(|from| *from != to) {
            let sender = from as u64 + 1;
            nodes.until("all have come", |nodes| nodes.request_ids(to, sender).len() >= 200);
            assert_eq!(nodes.request_ids(to, sender), wanted);
        }
    }
}

#[test]
fn both_dial_at_once_and_one_connection_stays() {
    for (one, other) in [(1, 2), (2, 1)] {
        let mut nodes = Nodes::new(&[tag(one), tag(other)]);
        nodes.dial(0, 1);
        nodes.dial(1, 0);
        nodes.until_settled();
        nodes.turn_for(Duration::from_millis(1_500));
        for which in 0..2 {
            assert_eq!(nodes.at(which).streams.len(), 1);
            assert_eq!(nodes.ups(which), nodes.downs(which).len() + 1);
            assert!(nodes.downs(which).len() <= 1, "{:?}", nodes.lately());
        }
        assert!(nodes.say(0, other, 5) && nodes.say(1, one, 6));
        nodes.until("both came", |nodes| nodes.request_ids(0, other) == [6] && nodes.request_ids(1, one) == [5]);
    }
}

#[test]
fn two_addresses_of_one_node_make_one_link() {
    let mut nodes = Nodes::new(&[tag(1), tag(2)]);
    let port = address(&nodes, 1).port();
    nodes.at(0).dial(&format!("tcp://127.0.0.1:{port}"));
    nodes.at(0).dial(&format!("localhost:{port}"));
    nodes.until_settled();
    nodes.turn_for(Duration::from_millis(1_500));
    assert_eq!(nodes.at(0).peers().count(), 1);
    assert_eq!(nodes.at(0).streams.len(), 1, "{:?}", nodes.at(0).streams);
    assert!(nodes.ups(0) <= 3, "{:?}", nodes.lately());
}

#[test]
fn the_own_address_is_not_dialled_again() {
    let mut nodes = Nodes::linked(2);
    let port = address(&nodes, 0).port();
    nodes.at(0).dial(&format!("localhost:{port}"));
    nodes.turn_for(Duration::from_millis(1_500));
    assert_eq!(nodes.at(0).streams.len(), 1);
    assert!(nodes.refusals(0).is_empty(), "{:?}", nodes.lately());
}

#[test]
fn a_restarted_node_is_linked_again() {
    let mut nodes = Nodes::linked(2);
    let address = nodes.address(1);
    nodes.links[1] = None;
    nodes.until("it is missed", |nodes| nodes.downs(0).last() == Some(&"the other side closed the connection"));
    assert!(!nodes.say(0, 2, 1), "there is no link");
    nodes.until("the attempts are noted", |nodes| nodes.refusals(0).iter().any(|text| text.contains("refused")));
    nodes.turn_for(Duration::from_millis(1_500));
    assert_eq!(nodes.refusals(0).len(), 1, "each attempt was noted: {:?}", nodes.lately());
    let new_life = Hello { instance_id: Uuid([9; 16]), ..tag(2) };
    nodes.links[1] = Some(Links::open(&address, new_life.clone()).unwrap().0);
    nodes.until_settled();
    assert_eq!(nodes.at(0).peers().map(|peer| peer.instance_id).collect::<Vec<_>>(), [new_life.instance_id]);
    assert!(nodes.say(0, 2, 7));
    nodes.until("it hears", |nodes| nodes.request_ids(1, 1) == [7]);
}

#[test]
fn a_new_instance_replaces_the_old_link() {
    let mut nodes = Nodes::new(&[tag(1), tag(2), Hello { instance_id: Uuid([7; 16]), ..tag(2) }]);
    nodes.dial(1, 0);
    nodes.until("the old one is linked", |nodes| nodes.ups(0) == 1);
    nodes.dial(2, 0);
    nodes.until("the new one is", |nodes| nodes.ups(0) == 2);
    assert_eq!(nodes.downs(0), ["the node has restarted"]);
}

#[test]
fn many_small_frames_arrive_in_order() {
    let mut nodes = Nodes::linked(2);
    for request_id in 0..100_000 {
        assert!(nodes.say(0, 2, request_id));
        if request_id % 1_000 == 0 {
            nodes.turn();
        }
    }
    nodes.until("all have come", |nodes| nodes.events[1].len() >= 100_000);
    assert!(nodes.request_ids(1, 1).into_iter().eq(0..100_000));
    assert!(nodes.downs(0).is_empty() || nodes.ups(0) == 2);
}

#[test]
fn a_frame_of_64_mib_arrives_and_small_ones_after_it() {
    // Before the link is up: a silent node is disconnected.
    let mut payload = (0..=250).collect::<Vec<u8>>().repeat((64 << 20) / 251 + 1);
    payload.truncate(64 << 20);
    let mut nodes = Nodes::linked(2);
    let frame = Frame::Forward { term: Term(1), session: Uuid::UNDEFINED, number: 1, payload };
    assert!(nodes.at(0).send(NodeId(2), &frame));
    assert!(nodes.say(0, 2, 1), "a heartbeat has room behind a large frame");
    nodes.until("both have come", |nodes| nodes.request_ids(1, 1) == [1]);
    let is_it = |event: &Event| matches!(event, Event::Message { frame: came, .. } if *came == frame);
    assert!(nodes.events[1].iter().any(is_it));
    assert_eq!(nodes.at(0).queued_bytes(NodeId(2)), 0);
}

#[test]
fn a_full_queue_ends_the_link_and_it_comes_back() {
    let mut nodes = Nodes::linked(2);
    let before = nodes.ups(0);
    let payload = vec![1; BATCH_LIMIT_BYTES];
    let frame = Frame::Forward { term: Term(1), session: Uuid::UNDEFINED, number: 1, payload };
    let mut taken = 0;
    while nodes.at(0).send(NodeId(2), &frame) {
        taken += 1;
        assert!(taken * BATCH_LIMIT_BYTES <= QUEUE_LIMIT_BYTES + (2 << 20), "no limit");
    }
    assert!(taken * BATCH_LIMIT_BYTES >= QUEUE_LIMIT_BYTES - (2 << 20));
    assert!(!nodes.say(0, 2, 1), "nothing goes out behind a gap");
    nodes.until("it is linked again", |nodes| nodes.ups(0) > before);
    assert!(nodes.downs(0).last().unwrap().contains("bytes are queued for the node, more than"));
    nodes.until_settled();
    assert!(nodes.say(0, 2, 2));
    nodes.until("it hears", |nodes| nodes.request_ids(1, 1) == [2]);
}

#[test]
fn an_isolated_node_has_no_links_until_isolation_ends() {
    let mut nodes = Nodes::linked(3);
    nodes.at(0).isolate(true);
    nodes.until("all know", |nodes| !nodes.downs(0).is_empty() && !nodes.downs(1).is_empty());
    nodes.turn_for(Duration::from_millis(1_200));
    assert_eq!(nodes.at(0).peers().count(), 0);
    assert_eq!(nodes.at(1).peers().map(|peer| peer.node).collect::<Vec<_>>(), [NodeId(3)]);
    assert!(!nodes.say(0, 2, 1) && !nodes.say(1, 1, 1));
    nodes.at(0).isolate(false);
    nodes.until_settled();
    assert!(nodes.say(0, 2, 2));
    nodes.until("it hears", |nodes| nodes.request_ids(1, 1) == [2]);
}

#[test]
fn idle_links_stay_and_a_silent_node_is_dropped() {
    let mut nodes = Nodes::linked(2);
    let before = nodes.downs(0).len();
    nodes.turn_for(SILENCE_TIMEOUT + Duration::from_secs(1));
    assert_eq!(nodes.downs(0).len(), before);
    // The second node stops, as by SIGSTOP: the system still accepts input for it.
    let silent = nodes.links[1].take();
    nodes.until("it is given up", |nodes| nodes.downs(0).len() > before);
    assert!(nodes.downs(0).last().unwrap().contains("the node has sent nothing for 5s"));
    nodes.links[1] = silent;
    nodes.until_settled();
}

#[test]
fn a_waker_ends_the_wait_and_nothing_else_does() {
    let (mut links, waker) = Links::open("127.0.0.1:0", tag(1)).unwrap();
    let mut events = Vec::new();
    links.poll(Duration::from_millis(300), &mut events);
    assert!(events.is_empty());
    waker.wake();
    waker.wake();
    links.poll(WAIT_LIMIT, &mut events);
    assert_eq!(events, [Event::Woken], "a wake before the wait counts, once");
    let other = waker.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        other.wake();
    });
    events.clear();
    links.poll(WAIT_LIMIT, &mut events);
    assert_eq!(events, [Event::Woken]);
    thread.join().unwrap();
}

#[test]
fn a_removed_address_is_not_dialled_again() {
    let mut nodes = Nodes::new(&[tag(1), tag(2)]);
    nodes.dial(0, 1);
    nodes.until_settled();
    let address = nodes.address(1);
    nodes.at(0).hang_up(&address);
    nodes.until("both know", |nodes| nodes.downs(0).len() == 1 && nodes.downs(1).len() == 1);
    nodes.turn_for(Duration::from_millis(1_200));
    assert_eq!((nodes.ups(0), nodes.ups(1)), (1, 1));
    assert_eq!(nodes.at(0).dialled().count(), 0);
}

#[test]
fn a_slow_or_unknown_name_blocks_no_other() {
    let mut nodes = Nodes::linked(2);
    let before = (nodes.ups(0), nodes.downs(0).len());
    nodes.at(0).dial("no-such-node.invalid:4567");
    for request_id in 0..500 {
        assert!(nodes.say(0, 2, request_id));
        nodes.turn();
    }
    nodes.until("all came", |nodes| nodes.request_ids(1, 1).len() == 500);
    assert_eq!((nodes.ups(0), nodes.downs(0).len()), before);
}
