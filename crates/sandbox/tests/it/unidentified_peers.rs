//! Connections to the group port from anything but a node of the cluster, while clients write on all nodes.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use hortator_sandbox::{Builder, Node, Temporary};

use crate::cluster_fixture::{Writers, assert_logged, remove_provider_files, since, wait_for};
use crate::kills::arguments;
use crate::manual_server::Own;
use crate::{provider, run};

/// A frame's fixed part: the magic bytes, version, kind, the body's length and checksum, and its own checksum. The same
/// in every version.
const HEAD_BYTES: usize = 16;
/// The frame kind that gives the reason for closing.
const REJECTED: u8 = 2;
/// The version of handshakes, which all nodes speak as a protocol version too.
const VERSION: u8 = 7;
/// The number of parallel connections.
const CALLERS: usize = 300;
/// The maximum number of log lines: one or two for each kind of connection, and some more over time.
const LINES_LIMIT: usize = 80;
/// Memory that the server itself may use meanwhile, for the inserted rows.
const GROWTH_LIMIT_KB: u64 = 64 << 10;

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc)))
}

fn head(version: u8, kind: u8, length: u32, body_crc: u32) -> Vec<u8> {
    let mut head = vec![b'H', b'G', version, kind];
    head.extend_from_slice(&length.to_le_bytes());
    head.extend_from_slice(&body_crc.to_le_bytes());
    head.extend_from_slice(&crc32(&head).to_le_bytes());
    head
}

fn call(node: Node<'_>) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", node.ports().group)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream
}

/// The node's answer until it closes the connection.
fn answer(mut stream: TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A reset connection counts as closed.
    let _ = stream.read_to_end(&mut bytes);
    bytes
}

/// The reason in the last frame of the answer.
fn reason(bytes: &[u8]) -> String {
    let mut rest = bytes;
    while rest.len() > HEAD_BYTES {
        let (head, behind) = rest.split_at(HEAD_BYTES);
        let length = u32::from_le_bytes(head[4..8].try_into().unwrap()) as usize;
        if head[3] == REJECTED {
            return String::from_utf8_lossy(&behind[4..length]).into_owned();
        }
        rest = &behind[length..];
    }
    panic!("no reason was given: {bytes:?}");
}

fn descriptors(node: Node<'_>) -> usize {
    fs::read_dir(format!("/proc/{}/fd", node.pid().unwrap())).unwrap().count()
}

fn memory_kb(node: Node<'_>) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", node.pid().unwrap())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A node of another cluster, in a group of its own.
fn foreigner() -> Temporary {
    let other = Builder::cluster(1).start_temporary().unwrap();
    run(other.node(0), &["CREATE DATABASE own"]);
    other
}

/// Starts its server with another cluster's name and addresses.
fn start_elsewhere(other: &Temporary, arguments: &[String], name: &str, port: u16) -> Own {
    let mut arguments = arguments.to_vec();
    arguments.extend([
        format!("--wsrep-cluster-name={name}"),
        format!("--wsrep-cluster-address=gcomm://127.0.0.1:{port}"),
        "--wsrep-node-name=foreigner".to_owned(),
    ]);
    Own::start(other.node(0), &arguments, &[])
}

/// The first message of a node without state to a cluster: a handshake that every node of the cluster accepts.
fn greeting(other: &Temporary, arguments: &[String]) -> Vec<u8> {
    remove_provider_files(other.node(0));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut arguments = arguments.to_vec();
    let port = listener.local_addr().unwrap().port();
    arguments.push(format!("--wsrep-cluster-address=gcomm://127.0.0.1:{port}"));
    let own = Own::spawn(&arguments, &[]);
    let (mut stream, _) = listener.accept().unwrap();
    let mut bytes = vec![0; HEAD_BYTES];
    stream.read_exact(&mut bytes).unwrap();
    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    bytes.resize(HEAD_BYTES + length, 0);
    stream.read_exact(&mut bytes[HEAD_BYTES..]).unwrap();
    drop(own);
    bytes
}

#[test]
fn unidentified_peers_do_not_disturb_the_cluster() {
    provider::build();
    // No election on a busy machine.
    let builder = Builder::cluster(3).set("wsrep_provider_options", "raft.election_timeout=PT5S");
    let cluster = builder.start_temporary().unwrap();
    let other = foreigner();
    let called = cluster.node(1);
    let writers = Writers::on(&cluster, &[0, 1, 2]);
    writers.wait_for_more();
    let members = || cluster.nodes().map(|node| node.wsrep_status().unwrap().size.unwrap()).collect::<Vec<_>>();
    let from: Vec<usize> = cluster.nodes().map(|node| since(node, 0).len()).collect();
    let foreign = arguments(other.node(0));
    other.stop().unwrap();
    let (descriptors_before, memory_before) = (descriptors(called), memory_kb(called));

    // Nodes with another history, and with another cluster name. Both sides report it.
    let theirs = since(other.node(0), 0).len();
    let elsewhere = start_elsewhere(&other, &foreign, "sandbox", called.ports().group);
    let both = [(other.node(0), theirs), (called, from[1])];
    let both_say = |what: &str| both.iter().all(|(node, from)| since(*node, *from).contains(what));
    wait_for("another history", || both_say("history UUIDs differ: foreigner"));
    elsewhere.shut_down();
    let elsewhere = start_elsewhere(&other, &foreign, "elsewhere", called.ports().group);
    wait_for("another name", || both_say("cluster names differ: foreigner is in `elsewhere`, node2 in `sandbox`"));
    elsewhere.shut_down();

    // Another program; half a frame header; a handshake that never ends; one that announces 4 GiB; one of another
    // version.
    let mut web = call(called);
    web.write_all(b"GET / HTTP/1.1\r\nHost: node\r\n\r\n").unwrap();
    assert!(reason(&answer(web)).contains("another program uses this address"));
    let mut torn = call(called);
    torn.write_all(&head(VERSION, 1, 100, 0)[..9]).unwrap();
    let mut endless = call(called);
    endless.write_all(&[head(VERSION, 1, 100, 0), vec![0; 50]].concat()).unwrap();
    let mut huge = call(called);
    huge.write_all(&head(VERSION, 1, u32::MAX, 0)).unwrap();
    assert!(reason(&answer(huge)).contains("is larger than the limit"));
    let mut newer = call(called);
    newer.write_all(&[head(6, 1, 4, crc32(b"what")), b"what".to_vec()].concat()).unwrap();
    assert!(reason(&answer(newer)).contains(&format!("handshake has version 6, this node's has version {VERSION}")));
    drop(torn);

    // Many at once, most of them silent.
    let mut crowd: Vec<TcpStream> = (0..CALLERS).map(|_| call(called)).collect();
    for (number, stream) in crowd.iter_mut().enumerate().filter(|(number, _)| number % 3 == 0) {
        // The node may have closed it in favour of a later one.
        let _ = stream.write_all(&vec![number as u8; 10_000]);
    }
    writers.wait_for_more();
    wait_for("the silent ones to be given up", || descriptors(called) <= descriptors_before + 5);
    drop((crowd, endless));

    // Connections that complete the handshake, and continue with garbage, with a length without data, or with nothing.
    let greeting = greeting(&other, &foreign);
    let garbage: Vec<u8> = (0..100_000u32).map(|number| (number.wrapping_mul(number) >> 7) as u8).collect();
    let announced = head(VERSION, 18, 1 << 30, 0);
    for further in [&garbage, &announced] {
        let mut stream = call(called);
        stream.write_all(&greeting).unwrap();
        let _ = stream.write_all(further);
        let told = answer(stream);
        assert!(told.len() > HEAD_BYTES, "it is greeted");
    }
    writers.wait_for_more();

    // All nodes are still members, and no write was delayed.
    assert_eq!(members(), ["3", "3", "3"]);
    wait_for("all connections to be given up", || descriptors(called) <= descriptors_before + 5);
    let grown = memory_kb(called).saturating_sub(memory_before);
    assert!(grown < GROWTH_LIMIT_KB, "{grown} KiB more than before");
    let log = since(called, from[1]);
    let words = [
        "another program uses this address",
        "handshake has version 6",
        "is larger than the limit",
        "connections without a handshake is reached",
    ];
    assert_logged(&log, &words);
    assert!(log.lines().count() < LINES_LIMIT, "{} lines:\n{log}", log.lines().count());
    for (node, from) in cluster.nodes().zip(from) {
        let log = since(node, from);
        assert!(!log.contains("The node leaves") && !log.contains("is the Raft leader"), "{}:\n{log}", node.name());
    }
    writers.stop(&cluster);
}
