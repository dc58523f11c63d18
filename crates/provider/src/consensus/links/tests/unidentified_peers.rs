//! Unidentified peers: other programs, other versions, silence, garbage; while nodes stay linked.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use super::*;
use crate::consensus::wire::tests::Rng;
use crate::consensus::wire::{FrameReader, HANDSHAKE_LIMIT_BYTES, HANDSHAKE_VERSION, IncomingFrame, encode_signal};
use crate::protocol::ProtocolRange;

fn call(nodes: &Nodes, which: usize) -> TcpStream {
    TcpStream::connect(address(nodes, which)).unwrap()
}

/// The reason that a node sent before it closed.
fn rejection(nodes: &mut Nodes, mut stream: TcpStream) -> String {
    stream.set_nonblocking(true).unwrap();
    let mut bytes = Vec::new();
    let end = Instant::now() + WAIT_LIMIT;
    // A reset connection counts as closed.
    while stream.read_to_end(&mut bytes).is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
        assert!(Instant::now() < end, "not closed; seen: {:?}", nodes.lately());
        nodes.turn();
    }
    let mut frame_reader = FrameReader::new(HANDSHAKE_LIMIT_BYTES, ProtocolRange::SPOKEN);
    frame_reader.read_buffer().extend_from_slice(&bytes);
    match std::iter::from_fn(|| frame_reader.next().unwrap()).last() {
        Some(IncomingFrame::Signal(Signal::Rejected { text })) => text,
        other => panic!("no reason was given: {other:?}"),
    }
}

#[test]
fn another_program_is_rejected_and_logged_once() {
    let mut nodes = Nodes::linked(2);
    for _ in 0..20 {
        let mut stream = call(&nodes, 0);
        stream.write_all(b"GET / HTTP/1.1\r\nHost: n1\r\n\r\n").unwrap();
        let text = rejection(&mut nodes, stream);
        assert!(text.contains("another program uses this address"), "{text}");
    }
    assert_eq!(nodes.refusals(0).len(), 1, "{:?}", nodes.refusals(0));
}

#[test]
fn both_sides_report_another_version() {
    let mut nodes = Nodes::new(&[tag(1)]);
    let mut hello = Vec::new();
    encode_signal(&mut hello, &Signal::Hello(tag(2))).unwrap();
    hello[2] = HANDSHAKE_VERSION.0 + 1;
    let crc = crc32fast::hash(&hello[..12]);
    hello[12..16].copy_from_slice(&crc.to_le_bytes());
    // The peer dials the node.
    let mut stream = call(&nodes, 0);
    stream.write_all(&hello).unwrap();
    nodes.until("it is noted", |nodes| !nodes.refusals(0).is_empty());
    let text = rejection(&mut nodes, stream);
    let both =
        format!("handshake has version {}, this node's has version {HANDSHAKE_VERSION}", HANDSHAKE_VERSION.0 + 1);
    assert!(text.contains(&both), "{text}");
    assert!(nodes.refusals(0)[0].contains(&both));
    // The node dials the peer, which replies with its own hello.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    nodes.at(0).dial(&address);
    nodes.turn();
    let (mut stream, _) = listener.accept().unwrap();
    stream.write_all(&hello).unwrap();
    nodes.until("it is noted", |nodes| nodes.refusals(0).len() == 2);
    assert!(rejection(&mut nodes, stream).contains(&both));
}

#[test]
fn a_text_of_another_node_is_logged_on_one_line() {
    let mut nodes = Nodes::new(&[tag(1)]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    nodes.at(0).dial(&listener.local_addr().unwrap().to_string());
    nodes.turn();
    let (mut stream, _) = listener.accept().unwrap();
    let mut bytes = Vec::new();
    encode_signal(&mut bytes, &Signal::Rejected { text: format!("no\n[ERROR] {}", "x".repeat(5_000)) }).unwrap();
    stream.write_all(&bytes).unwrap();
    nodes.until("it is noted", |nodes| !nodes.refusals(0).is_empty());
    let text = nodes.refusals(0)[0];
    assert!(text.contains("no\u{fffd}[ERROR] xxx") && !text.contains('\n') && text.len() < 1_000, "{text}");
}

#[test]
fn silent_connections_time_out_and_are_limited() {
    let mut nodes = Nodes::new(&[tag(1), tag(2)]);
    let silent: Vec<TcpStream> = (0..UNIDENTIFIED_PEERS_LIMIT + 10).map(|_| call(&nodes, 0)).collect();
    let held = |nodes: &Nodes| nodes.links[0].as_ref().unwrap().streams.len();
    nodes.until("the limit is noted", |nodes| {
        nodes.refusals(0).iter().any(|text| text.contains("without a handshake is reached"))
    });
    assert_eq!(held(&nodes), UNIDENTIFIED_PEERS_LIMIT);
    // A node can still link.
    nodes.dial(1, 0);
    nodes.until("it is linked", |nodes| nodes.ups(0) == 1);
    nodes.until("the silent ones are gone", |nodes| held(nodes) == 1);
    assert!(nodes.refusals(0).iter().any(|text| text.contains("has sent no hello for 5s")));
    assert_eq!(nodes.downs(0), Vec::<&str>::new());
    drop(silent);
}

#[test]
fn half_a_hello_times_out() {
    let mut nodes = Nodes::new(&[tag(1)]);
    let mut hello = Vec::new();
    encode_signal(&mut hello, &Signal::Hello(tag(2))).unwrap();
    let mut closed = call(&nodes, 0);
    closed.write_all(&hello[..hello.len() / 2]).unwrap();
    drop(closed);
    nodes.until("it is noted", |nodes| nodes.refusals(0) == ["the other side closed the connection"]);
    let mut open = call(&nodes, 0);
    open.write_all(&hello[..hello.len() / 2]).unwrap();
    nodes.until("it is noted", |nodes| nodes.refusals(0).len() == 2);
    assert!(nodes.at(0).streams.is_empty());
}

#[test]
fn a_linked_node_that_sends_invalid_frames_is_dropped() {
    let mut nodes = Nodes::new(&[tag(1)]);
    let mut stream = call(&nodes, 0);
    let mut bytes = Vec::new();
    encode_signal(&mut bytes, &Signal::Hello(tag(2))).unwrap();
    wire::encode(&mut bytes, &Frame::ReadIndex { request_id: 1 }, HANDSHAKE_VERSION).unwrap();
    bytes.extend_from_slice(b"HG nonsense, and more of it");
    stream.write_all(&bytes).unwrap();
    nodes.until("it is down", |nodes| !nodes.downs(0).is_empty());
    assert_eq!(nodes.request_ids(0, 2), [1], "what came before still counts");
    assert!(nodes.downs(0)[0].contains("checksum of a frame's head"), "{:?}", nodes.downs(0));
    assert!(rejection(&mut nodes, stream).contains("checksum"));
}

#[test]
fn random_bytes_on_the_port_while_nodes_talk() {
    let mut rng = Rng::seeded();
    let started = Instant::now();
    let mut nodes = Nodes::linked(3);
    let (ups, downs) = (nodes.ups(0), nodes.downs(0).len());
    let mut hello = Vec::new();
    encode_signal(&mut hello, &Signal::Hello(tag(9))).unwrap();
    let mut unidentified: Vec<TcpStream> = Vec::new();
    for request_id in 0..1_500 {
        if rng.below(3) == 0 {
            let mut stream = call(&nodes, 0);
            let mut bytes: Vec<u8> = (0..rng.below(3_000)).map(|_| rng.next() as u8).collect();
            if rng.below(2) == 0 {
                let mut damaged = hello.clone();
                damaged.truncate(1 + rng.below(hello.len() as u64 - 1) as usize);
                let at = rng.below(damaged.len() as u64) as usize;
                damaged[at] ^= 1 << rng.below(8);
                bytes.splice(..0, damaged);
            }
            // The connection may be closed already.
            let _ = stream.write_all(&bytes);
            unidentified.push(stream);
        }
        if unidentified.len() > 20 {
            unidentified.remove(rng.below(20) as usize);
        }
        assert!(nodes.say(0, 2, request_id) && nodes.say(1, 1, request_id) && nodes.say(2, 1, request_id));
        nodes.turn();
    }
    nodes.until("all came", |nodes| {
        [(1, 1), (0, 2), (0, 3)].iter().all(|(at, from)| nodes.request_ids(*at, *from).len() == 1_500)
    });
    for (at, from) in [(1, 1), (0, 2), (0, 3)] {
        assert!(nodes.request_ids(at, from).into_iter().eq(0..1_500));
    }
    assert_eq!((nodes.ups(0), nodes.downs(0).len()), (ups, downs), "{:?}", nodes.lately());
    let most = 8 + started.elapsed().as_secs() / 5 + 1;
    assert!(nodes.refusals(0).len() as u64 <= most, "the log is flooded: {:?}", nodes.refusals(0));
}
