//! The log is purged: what nodes that were away, and nodes that crash, still find in it.

use std::fs;
use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node};

use crate::cluster_fixture::{create_to_fill, define, fill, ids, wait_for};
use crate::{ask, provider, run};

/// More than two intervals of commit cuts, so that the log before them is not needed for joiners.
const ROWS: u32 = 4_500;
/// Bytes of a large transaction, and their number: twice what is needed between the commit cuts that stay in the log.
const LARGE_BYTES: u64 = 4 << 20;
const LARGE_TRANSACTIONS: u64 = 48;
/// Seconds. The engine flushes its own log this rarely: a killed server loses everything that it has committed.
const FLUSH_TIMEOUT: &str = "600";

fn with_small_log(nodes: usize, more: &str) -> Builder {
    provider::build();
    let options = format!("log.segment=64K;log.retain=256K;log.sync=no;{more}");
    let builder = Builder::cluster(nodes).set("wsrep_provider_options", &options);
    builder.set("innodb_flush_log_at_trx_commit", "0")
}

/// The index of the first entry in the log.
fn log_begins_at(node: Node<'_>) -> u64 {
    ask(node, "SHOW STATUS LIKE 'wsrep_local_cached_downto'")[0][1].parse().unwrap()
}

/// The bytes of all segments of the log, without the spare files.
fn log_bytes(node: Node<'_>) -> u64 {
    let files = fs::read_dir(node.data_dir()).unwrap().map(|entry| entry.unwrap());
    let segments = files.filter(|file| {
        let name = file.file_name().into_string().unwrap();
        name.strip_prefix("hortator-").is_some_and(|rest| rest.len() == 24 && rest.starts_with('0'))
    });
    // A purge may remove a file meanwhile.
    segments.map(|file| file.metadata().map_or(0, |found| found.len())).sum()
}

#[test]
fn a_node_that_was_away_while_a_single_node_purged_its_log_joins_again() {
    let cluster = with_small_log(3, "log.retain_time=PT5S").start_temporary().unwrap();
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    create_to_fill(first);
    third.stop().unwrap();
    second.stop().unwrap();
    fill(first, 1, ROWS);
    wait_for("a purge", || log_begins_at(first) > 100);
    second.start().unwrap();
    // The log of the first node is purged also while another node is linked.
    let expected = fill(first, ROWS + 1, 2 * ROWS);
    assert_eq!(ids(second), expected);
    wait_for("a second purge", || log_begins_at(first) > u64::from(ROWS));
    wait_for("a purge of the joiner", || log_bytes(second) < 3 << 20);
    third.start().unwrap();
    assert_eq!(ids(third), expected);
}

#[test]
fn the_log_of_a_few_large_transactions_is_purged() {
    let cluster = with_small_log(3, "log.retain_time=PT5S").start_temporary().unwrap();
    let nodes = [0, 1, 2].map(|index| cluster.node(index));
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.large (id INT PRIMARY KEY, filling LONGBLOB)"]);
    // A row changes each time, and its events have the old row and the new one.
    let write = |round: u32| {
        for nth in 0..LARGE_TRANSACTIONS {
            let filling = format!("RPAD('{round} {nth}', {}, 'x')", LARGE_BYTES / 2);
            run(nodes[0], &[&format!("REPLACE INTO d.large VALUES ({}, {filling})", nth % 2)]);
        }
    };
    let is_purged = |node| log_bytes(node) < LARGE_BYTES * LARGE_TRANSACTIONS * 2 / 3;
    write(1);
    for (nth, node) in nodes.into_iter().enumerate() {
        assert!(!is_purged(node) || log_begins_at(node) > 1, "the transactions are smaller than they should be");
        wait_for(&format!("a purge of node {}", nth + 1), || is_purged(node));
    }
    // A single node purges as well.
    nodes[2].stop().unwrap();
    nodes[1].stop().unwrap();
    let begins_at = log_begins_at(nodes[0]);
    write(2);
    wait_for("a purge of the single node", || is_purged(nodes[0]) && log_begins_at(nodes[0]) > begins_at + 32);
}

#[test]
fn the_log_holds_what_the_engine_has_not_flushed_however_small_it_is_to_be() {
    let builder = with_small_log(1, "log.retain_time=P1D").set("innodb_flush_log_at_timeout", FLUSH_TIMEOUT);
    let single = builder.start_temporary().unwrap();
    let node = single.node(0);
    create_to_fill(node);
    let mut expected = Vec::new();
    for first in (1..2 * ROWS).step_by(ROWS as usize) {
        expected = fill(node, first, first + ROWS - 1);
        // Another purge may come now.
        thread::sleep(Duration::from_secs(2));
    }
    node.kill().unwrap();
    node.start().unwrap();
    assert_eq!(ids(node), expected);
}
