//! What tests of a whole cluster share: how its nodes stand, clients that write all the while, and what must hold when they
//! have stopped.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hortator_mysql::{ConnectOptions, Connection};
use hortator_sandbox::{Node, Sandbox};

use crate::run;

/// How long a cluster may take to notice something on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);
/// A node that answers nothing for so long is given up by its client.
const ANSWER_LIMIT: Duration = Duration::from_secs(20);

/// Waits until it is so.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} for {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// It hears no majority, and its clients get 1047.
pub fn is_cut_off(node: Node<'_>) -> bool {
    node.standing().is_some_and(|standing| !standing.is_primary())
}

/// How many nodes it sees in its cluster.
pub fn size(node: Node<'_>) -> Option<String> {
    node.standing().and_then(|standing| standing.size)
}

/// As the messages say of a node that is to join anew, with nothing of the provider's.
pub fn forget_group(node: Node<'_>) {
    for file in fs::read_dir(node.data_dir()).unwrap().map(|entry| entry.unwrap().path()) {
        if file.file_name().unwrap().to_str().unwrap().starts_with("hortator") {
            fs::remove_file(file).unwrap();
        }
    }
}

/// The ids of the rows of d.t that the node has when it has everything that was confirmed anywhere before.
pub fn ids(node: Node<'_>) -> Vec<String> {
    let mut connection = node.connect().unwrap();
    connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
    let rows = connection.fetch(b"SELECT id FROM d.t ORDER BY id").unwrap();
    rows.into_iter().flatten().map(|id| String::from_utf8(id.unwrap()).unwrap()).collect()
}

/// What a node's error log says behind its first bytes.
pub fn since(node: Node<'_>, from: usize) -> String {
    let log = fs::read(node.error_log()).unwrap();
    String::from_utf8_lossy(&log[from.min(log.len())..]).into_owned()
}

/// All of it is there, and nothing of a fault.
pub fn assert_told(log: &str, words: &[&str]) {
    for word in words {
        assert!(log.contains(word), "`{word}` is missing in:\n{log}");
    }
    assert!(!log.contains("panicked") && !log.contains("got signal") && !log.contains("a bug in"), "{log}");
}

/// Clients of some nodes, one each, that insert a row after the other, whatever becomes of their node.
pub struct Writers {
    ends: Arc<AtomicBool>,
    confirmed: Vec<Arc<AtomicU64>>,
    threads: Vec<JoinHandle<Vec<u64>>>,
}

impl Writers {
    /// Makes their table, and lets them begin.
    pub fn on(sandbox: &Sandbox, nodes: &[usize]) -> Self {
        run(sandbox.node(nodes[0]), &["CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT PRIMARY KEY, node INT)"]);
        let ends = Arc::new(AtomicBool::new(false));
        let confirmed: Vec<_> = nodes.iter().map(|_| Arc::default()).collect();
        let threads = nodes.iter().zip(&confirmed).map(|(node, confirmed)| {
            let (ends, confirmed) = (Arc::clone(&ends), Arc::clone(confirmed));
            let (mut options, node) = (sandbox.node(*node).connect_options(), *node as u64);
            options.connect_timeout = ANSWER_LIMIT;
            options.read_timeout = Some(ANSWER_LIMIT);
            thread::spawn(move || write(&options, node, &ends, &confirmed))
        });
        let threads = threads.collect();
        Self { ends, confirmed, threads }
    }

    fn counts(&self) -> Vec<u64> {
        self.confirmed.iter().map(|count| count.load(Ordering::SeqCst)).collect()
    }

    /// Waits until each of them has had some more confirmed.
    pub fn wait_for_more(&self) {
        let before = self.counts();
        wait_for("all writers", || self.counts().iter().zip(&before).all(|(now, before)| *now >= before + 5));
    }

    /// They stop. All nodes have what they were told is committed, and the same rows.
    pub fn stop(self, sandbox: &Sandbox) {
        self.ends.store(true, Ordering::SeqCst);
        let confirmed: Vec<u64> = self.threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        assert!(!confirmed.is_empty());
        let all: Vec<_> = sandbox.nodes().map(rows).collect();
        for (node, rows) in sandbox.nodes().zip(&all) {
            assert!(*rows == all[0], "{} differs from node1: {} and {} rows", node.name(), rows.len(), all[0].len());
        }
        let is_lost = |id: &&u64| all[0].binary_search_by_key(*id, |row| row.0).is_err();
        let lost: Vec<_> = confirmed.iter().filter(is_lost).collect();
        assert!(lost.is_empty(), "of {} confirmed rows {} are lost: {lost:?}", confirmed.len(), lost.len());
    }
}

/// All rows, when everything that was confirmed anywhere before is there.
fn rows(node: Node<'_>) -> Vec<(u64, u64)> {
    let mut connection = node.connect().unwrap();
    connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
    let rows = connection.fetch(b"SELECT id, node FROM d.t ORDER BY id").unwrap();
    let number = |value: &Option<Vec<u8>>| str::from_utf8(value.as_deref().unwrap()).unwrap().parse().unwrap();
    rows.iter().map(|row| (number(&row[0]), number(&row[1]))).collect()
}

fn write(options: &ConnectOptions, node: u64, ends: &AtomicBool, confirmed: &AtomicU64) -> Vec<u64> {
    let mut told = Vec::new();
    let mut connection: Option<Connection> = None;
    for id in node * 100_000_000.. {
        if ends.load(Ordering::SeqCst) {
            break;
        }
        let open = connection.take().map_or_else(|| Connection::open(options), Ok);
        let statement = format!("INSERT INTO d.t VALUES ({id}, {node})");
        match open.and_then(|mut open| open.execute(statement.as_bytes()).map(|_| open)) {
            Ok(open) => {
                connection = Some(open);
                told.push(id);
                confirmed.fetch_add(1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(5));
            }
            // It is not there, or takes nothing for now.
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
    told
}
