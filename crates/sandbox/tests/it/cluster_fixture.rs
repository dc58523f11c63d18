//! Shared by tests of a whole cluster: the status of its nodes, clients that write all the time, and the conditions
//! that hold after they have stopped.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use hortator_mysql::{ConnectOptions, Connection};
use hortator_sandbox::{Builder, Node, Sandbox, Temporary};

use crate::{provider, run};

/// The time limit for a cluster to notice an event on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_secs(180);
/// A client gives up a node that does not answer for this long.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(20);

/// Waits until the condition holds.
pub fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + WAIT_TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited {WAIT_TIMEOUT:?} for {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// The node has no quorum, and its clients get error 1047.
pub fn is_non_primary(node: Node<'_>) -> bool {
    node.wsrep_status().is_some_and(|status| !status.is_primary())
}

/// The cluster size that the node sees.
pub fn size(node: Node<'_>) -> Option<String> {
    node.wsrep_status().and_then(|status| status.size)
}

/// Removes the provider's files, as its messages advise for a node that is to rejoin as a new node.
pub fn remove_provider_files(node: Node<'_>) {
    for file in fs::read_dir(node.data_dir()).unwrap().map(|entry| entry.unwrap().path()) {
        if file.file_name().unwrap().to_str().unwrap().starts_with("hortator") {
            fs::remove_file(file).unwrap();
        }
    }
}

/// The ids of the rows of d.t on the node, after it has applied everything that was confirmed anywhere before.
pub fn ids(node: Node<'_>) -> Vec<String> {
    let mut connection = node.connect().unwrap();
    connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
    let rows = connection.fetch(b"SELECT id FROM d.t ORDER BY id").unwrap();
    rows.into_iter().flatten().map(|id| String::from_utf8(id.unwrap()).unwrap()).collect()
}

/// Runs these definitions on the first node, and waits until all nodes are through with them. Without that, a node may
/// have the table already and still fail the certification of its client's first rows.
pub fn define(cluster: &Sandbox, definitions: &[&str]) {
    run(cluster.node(0), definitions);
    for node in cluster.nodes() {
        run(node, &["SET SESSION wsrep_sync_wait = 1", "SELECT COUNT(*) FROM mysql.wsrep_cluster"]);
    }
}

/// A new cluster whose nodes all have an empty table d.t.
pub fn with_table(builder: Builder) -> Temporary {
    provider::build();
    let cluster = builder.start_temporary().unwrap();
    define(&cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    cluster
}

/// Creates d.t and a procedure that fills it: each row is a transaction of some 450 bytes.
pub fn create_to_fill(node: Node<'_>) {
    run(
        node,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, filling VARCHAR(500))",
            "CREATE PROCEDURE d.fill(first INT, last INT) WHILE first <= last DO INSERT IGNORE INTO d.t VALUES (first, \
             REPEAT('x', 300)); SET first = first + 1; END WHILE",
        ],
    );
}

/// Inserts rows, one transaction each. Returns the ids of all rows. A node that has no leader for a moment refuses
/// statements, and is asked again.
pub fn fill(node: Node<'_>, first: u32, last: u32) -> Vec<String> {
    let statement = format!("CALL d.fill({first}, {last})");
    wait_for("all rows", || match node.connect().unwrap().execute(statement.as_bytes()) {
        Ok(_) => true,
        Err(error) => {
            eprintln!("{}: {error}", node.name());
            false
        }
    });
    (1..=last).map(|id| id.to_string()).collect()
}

/// The node's error log after its first `from` bytes.
pub fn since(node: Node<'_>, from: usize) -> String {
    let log = fs::read(node.error_log()).unwrap();
    String::from_utf8_lossy(&log[from.min(log.len())..]).into_owned()
}

/// The log contains all words, and no sign of a crash.
pub fn assert_logged(log: &str, words: &[&str]) {
    for word in words {
        assert!(log.contains(word), "`{word}` is missing in:\n{log}");
    }
    assert!(!log.contains("panicked") && !log.contains("got signal") && !log.contains("a bug in"), "{log}");
}

/// Clients of some nodes, one each, that insert row after row, whatever happens to their node.
pub struct Writers {
    ends: Arc<AtomicBool>,
    confirmed: Vec<Arc<AtomicU64>>,
    threads: Vec<JoinHandle<Vec<u64>>>,
}

impl Writers {
    /// Creates their table, and starts them.
    pub fn on(sandbox: &Sandbox, nodes: &[usize]) -> Self {
        run(sandbox.node(nodes[0]), &["CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT PRIMARY KEY, node INT)"]);
        let ends = Arc::new(AtomicBool::new(false));
        let confirmed: Vec<_> = nodes.iter().map(|_| Arc::default()).collect();
        let threads = nodes.iter().zip(&confirmed).map(|(node, confirmed)| {
            let (ends, confirmed) = (Arc::clone(&ends), Arc::clone(confirmed));
            let (mut options, node) = (sandbox.node(*node).connect_options(), *node as u64);
            options.connect_timeout = CLIENT_TIMEOUT;
            options.read_timeout = Some(CLIENT_TIMEOUT);
            thread::spawn(move || write(&options, node, &ends, &confirmed))
        });
        let threads = threads.collect();
        Self { ends, confirmed, threads }
    }

    fn counts(&self) -> Vec<u64> {
        self.confirmed.iter().map(|count| count.load(Ordering::SeqCst)).collect()
    }

    /// Waits until each client has more rows confirmed.
    pub fn wait_for_more(&self) {
        let before = self.counts();
        wait_for("all writers", || self.counts().iter().zip(&before).all(|(now, before)| *now >= before + 5));
    }

    /// Waits until the client of that node, by its place in the list, has more rows confirmed.
    pub fn wait_for_more_of(&self, which: usize) {
        let before = self.counts()[which];
        wait_for("a writer", || self.counts()[which] >= before + 5);
    }

    /// Stops the clients. All nodes have all confirmed rows, and the same rows.
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

/// All rows, after everything that was confirmed anywhere before is applied.
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
            // The node does not run, or takes no statements now.
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
    }
    told
}
