//! Kills of a server that writes a binary log: every transaction in the tables is in the binary log, once, and an
//! asynchronous replica follows.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error};
use hortator_sandbox::{Builder, Node, Sandbox};

use super::async_replica::{APPLIERS, LOGS_APPLIED, Replica};
use super::dice::Dice;
use super::{from_environment, seed};
use crate::cluster_fixture::since;
use crate::{ask, provider, run};

const CLIENTS: usize = 8;
/// The time limit for a server that the test starts itself, on a busy machine.
const START_TIMEOUT: Duration = Duration::from_secs(300);
/// Rounds beyond those that were asked for.
const ROUNDS_LIMIT: u64 = 20;

/// Writes over several connections to each node until the first one is killed. Returns the confirmed rows.
fn write_until_killed(cluster: &Sandbox, numbers: &AtomicI64, until_kill: Duration) -> Vec<i64> {
    let nodes: Vec<Node<'_>> = cluster.nodes().collect();
    let clients_on = |index: usize| if index == 0 { CLIENTS } else { 1 };
    let clients: usize = (0..nodes.len()).map(clients_on).sum();
    let connected = Barrier::new(clients + 1);
    let is_over = AtomicI64::new(0);
    let write = |node: Node<'_>| {
        let mut connection = node.connect().unwrap();
        connected.wait();
        let mut confirmed = Vec::new();
        while is_over.load(Ordering::SeqCst) == 0 {
            let number = numbers.fetch_add(1, Ordering::SeqCst);
            match insert(&mut connection, number) {
                Ok(()) => confirmed.push(number),
                Err(Error::Lost { .. }) => return confirmed,
                Err(error) if error.is_transient() => {}
                // The other nodes elect a leader; an outcome is unknown.
                Err(_) if nodes.len() > 1 => thread::sleep(Duration::from_millis(50)),
                Err(error) => panic!("{error}"),
            }
        }
        confirmed
    };
    thread::scope(|scope| {
        let clients = nodes.iter().enumerate().flat_map(|(index, node)| (0..clients_on(index)).map(move |_| *node));
        let clients: Vec<_> = clients.map(|node| scope.spawn(move || write(node))).collect();
        connected.wait();
        // The kill comes at a random moment.
        thread::sleep(until_kill);
        nodes[0].kill().unwrap();
        is_over.store(1, Ordering::SeqCst);
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

/// Every third row is inserted by a streaming transaction; now and then a table is created or dropped, or both at once with
/// rows.
fn insert(connection: &mut Connection, number: i64) -> Result<(), Error> {
    let ddl = match number % 40 {
        7 => format!("CREATE TABLE d.n{number} (id INT PRIMARY KEY)"),
        17 => format!("DROP TABLE IF EXISTS d.n{}", number - 10),
        27 => format!("CREATE TABLE d.s{number} (id INT PRIMARY KEY) SELECT {number} AS id"),
        37 => format!("TRUNCATE TABLE d.emptied /* {number} */"),
        _ => String::new(),
    };
    if !ddl.is_empty() {
        connection.execute(ddl.as_bytes())?;
    }
    if number % 3 > 0 {
        return connection.execute(format!("INSERT INTO d.t VALUES ({number}, 1)").as_bytes()).map(drop);
    }
    connection.execute(b"SET SESSION wsrep_trx_fragment_unit = 'rows', wsrep_trx_fragment_size = 2")?;
    let done = [1, 2, 3, 4, 5].iter().try_for_each(|n| {
        let sql = if *n == 1 { "BEGIN".to_owned() } else { format!("INSERT INTO d.parts VALUES ({number}, {n})") };
        connection.execute(sql.as_bytes()).map(drop)
    });
    let done = done.and_then(|()| connection.execute(format!("INSERT INTO d.t VALUES ({number}, 1)").as_bytes()));
    let done = done.and_then(|_| connection.execute(b"COMMIT"));
    if done.as_ref().is_err_and(|error| !error.is_lost()) {
        connection.execute(b"ROLLBACK")?;
    }
    connection.execute(b"SET SESSION wsrep_trx_fragment_size = 0")?;
    done.map(drop)
}

/// What the binary log holds.
struct Logged {
    /// The number of inserts of each row of d.t.
    inserts: BTreeMap<i64, usize>,
    gtids: Vec<String>,
}

fn logged(node: Node<'_>) -> Logged {
    let data = node.data_dir();
    let mut files: Vec<_> = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Beside each, MariaDB 11.4 has an index of its GTIDs.
    let is_log = |name: &str| name.starts_with("binary.0") && !name.ends_with(".idx");
    files.retain(|file| is_log(file.file_name().unwrap().to_str().unwrap()));
    files.sort();
    let mut program = Command::new("mariadb-binlog");
    let output =
        program.args(["--no-defaults", "--verbose", "--base64-output=DECODE-ROWS"]).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut inserts, mut gtids) = (BTreeMap::new(), Vec::new());
    let mut is_insert = false;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(statement) = line.strip_prefix("### ") {
            is_insert = if statement.starts_with("INSERT") { statement.contains("`d`.`t`") } else { is_insert };
            if let Some(number) = statement.trim().strip_prefix("@1=").filter(|_| is_insert) {
                *inserts.entry(number.parse().unwrap()).or_insert(0) += 1;
            }
        } else if let Some((_, gtid)) = line.split_once("\tGTID ") {
            gtids.push(gtid.split_whitespace().next().unwrap().to_owned());
        }
    }
    Logged { inserts, gtids }
}

fn numbers_in(node: Node<'_>) -> BTreeSet<i64> {
    ask(node, "SELECT id FROM d.t").concat().iter().map(|id| id.parse().unwrap()).collect()
}

/// The node's rows and tables.
fn contents(node: Node<'_>) -> [Vec<Vec<String>>; 3] {
    ["SELECT id FROM d.t ORDER BY id", "SELECT id, n FROM d.parts ORDER BY id, n", "SHOW TABLES IN d"]
        .map(|question| ask(node, question))
}

/// The arguments of the server's last start, without those for that start only.
pub fn arguments(node: Node<'_>) -> Vec<String> {
    let line = fs::read(format!("/proc/{}/cmdline", node.pid().unwrap())).unwrap();
    let all = line.split(|byte| *byte == 0).map(|one| String::from_utf8(one.to_vec()).unwrap());
    let lasting =
        |one: &String| !one.is_empty() && one != "--wsrep-new-cluster" && !one.starts_with("--wsrep-start-position");
    all.filter(lasting).collect()
}

/// The rounds of a test: kills, and sometimes kills while the node recovers. After each of them the binary log is compared
/// with the tables, and the replica with the source. More rounds follow until `is_enough`.
fn follow_through_kills(cluster: &Sandbox, seed: u64, rounds: u64, is_enough: impl Fn() -> bool) {
    let mut dice = Dice::new(seed);
    let node = cluster.node(0);
    let replica = Replica::of(node);
    let tables =
        ["t (id BIGINT PRIMARY KEY, v INT)", "parts (id BIGINT, n INT, PRIMARY KEY (id, n))", "emptied (id INT)"];
    run(node, &["CREATE DATABASE d"]);
    tables.iter().for_each(|table| run(node, &[&format!("CREATE TABLE d.{table}")]));
    let numbers = AtomicI64::new(1);
    let mut confirmed = BTreeSet::new();
    for round in 0.. {
        if round >= rounds && is_enough() {
            break;
        }
        assert!(round < rounds + ROUNDS_LIMIT, "no round tested what it should");
        let until_kill = Duration::from_millis(dice.between(50, 1500).unsigned_abs());
        confirmed.extend(write_until_killed(cluster, &numbers, until_kill));
        while dice.chance(40) {
            let wait = Duration::from_millis(dice.below(2500).unsigned_abs());
            thread::scope(|scope| {
                let start = scope.spawn(|| node.start());
                thread::sleep(wait);
                while !start.is_finished() {
                    node.kill().unwrap();
                }
                let _killed_or_up = start.join().unwrap();
            });
            node.kill().unwrap();
        }
        node.start().unwrap_or_else(|error| panic!("round {round}: {error}"));
        // Everything that any node has confirmed is applied here.
        let mut connection = node.connect().unwrap();
        connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
        connection.fetch(b"SELECT COUNT(*) FROM d.t").unwrap();
        let Logged { inserts, gtids } = logged(node);
        let unique: BTreeSet<&String> = gtids.iter().collect();
        assert_eq!(unique.len(), gtids.len(), "round {round}: a GTID is in the binary log twice");
        let twice: Vec<_> = inserts.iter().filter(|(_, count)| **count > 1).take(9).collect();
        assert!(twice.is_empty(), "round {round}: in the binary log more than once: {twice:?}");
        let (rows, logged): (_, BTreeSet<i64>) = (numbers_in(node), inserts.into_keys().collect());
        for (what, there, other) in [
            ("confirmed, and not in the tables", &confirmed, &rows),
            ("in the binary log, and not in the tables", &logged, &rows),
            ("in the tables, and not in the binary log", &rows, &logged),
        ] {
            let missing: Vec<_> = there.difference(other).take(9).collect();
            assert!(missing.is_empty(), "round {round}: {what}: {missing:?}\n{}", since(node, 0));
        }
        replica.catch_up(node);
        let names = ["rows of d.t", "rows of d.parts", "tables"];
        for (what, (of_node, of_replica)) in names.iter().zip(contents(node).into_iter().zip(contents(replica.node())))
        {
            let [of_node, of_replica] = [of_node, of_replica].map(|rows| rows.into_iter().collect::<BTreeSet<_>>());
            let differing: Vec<_> = of_node.symmetric_difference(&of_replica).take(9).collect();
            assert!(
                differing.is_empty(),
                "round {round}: {what}: the replica differs in {differing:?}\n{}",
                since(node, 0)
            );
        }
    }
    eprintln!("{} confirmed, {} applied again without the binary log", confirmed.len(), applied_again(node));
    let log = since(node, 0);
    assert!(!log.contains("replicas of this server will not get"), "{log}");
}

/// The number of write sets that the node has applied again, and that its binary log held.
fn applied_again(node: Node<'_>) -> i64 {
    let after = |line: &str, words: &str, end: char| {
        let (_, rest) = line.split_once(words)?;
        rest.split(end).next()?.parse::<i64>().ok()
    };
    let (mut logged_upto, mut count) = (0, 0);
    for line in since(node, 0).lines() {
        if let Some(upto) = after(line, "the binary log holds everything up to seqno ", ':') {
            logged_upto = upto;
        } else if let Some((_, tables)) = line.split_once("the tables are applied up to ") {
            let tables = after(tables, ":", ',').expect("the position of the tables");
            // A kill may come between the two lines.
            count += (std::mem::take(&mut logged_upto) - tables).max(0);
        }
    }
    count
}

#[test]
fn nothing_is_in_the_binary_log_twice() {
    let rounds = from_environment("HORTATOR_KILLS").unwrap_or(3);
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={rounds}");
    provider::build();
    let builder = Builder::cluster(1).set("log_bin", "binary").set("innodb_flush_log_at_trx_commit", "0");
    let cluster = builder.start_temporary().unwrap();
    follow_through_kills(&cluster, seed, rounds, || applied_again(cluster.node(0)) > 0);
}

#[test]
fn a_replica_follows_a_node_of_a_cluster_through_its_crashes() {
    let rounds = from_environment("HORTATOR_KILLS").unwrap_or(2);
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={rounds}");
    provider::build();
    let builder = Builder::cluster(3).set("log_bin", "binary").set("innodb_flush_log_at_trx_commit", "0");
    // Also what the other nodes write.
    let cluster = builder.set(LOGS_APPLIED, "ON").set(APPLIERS, "4").start_temporary().unwrap();
    follow_through_kills(&cluster, seed, rounds, || true);
}

/// The node's server without its binary log.
fn without_binary_log(arguments: &[String], further: &[&str]) -> Child {
    let mut program = Command::new(&arguments[0]);
    program.args(&arguments[1..]).args(["--user=mysql", "--skip-log-bin"]).args(further);
    program.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn wait_until_ready(node: Node<'_>, server: &mut Child) {
    let deadline = Instant::now() + START_TIMEOUT;
    while !node.connect().is_ok_and(|mut connection| connection.execute(b"SELECT COUNT(*) FROM d.t").is_ok()) {
        assert!(Instant::now() < deadline && server.try_wait().unwrap().is_none(), "it did not come up");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_the_tables_hold_without_the_binary_log_is_named() {
    provider::build();
    let builder = Builder::cluster(1).set("log_bin", "binary").set("innodb_flush_log_at_trx_commit", "1");
    let cluster = builder.start_temporary().unwrap();
    let node = cluster.node(0);
    let arguments = arguments(node);
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    node.kill().unwrap();
    node.start().unwrap();
    let words = "replicas of this server will not get the ones in between";
    assert!(!since(node, 0).contains(words), "{}", since(node, 0));
    node.stop().unwrap();
    let mut server = without_binary_log(&arguments, &[]);
    wait_until_ready(node, &mut server);
    run(node, &["INSERT INTO d.t VALUES (2)"]);
    server.kill().unwrap();
    server.wait().unwrap();
    node.start().unwrap();
    run(node, &["INSERT INTO d.t VALUES (3)"]);
    assert!(since(node, 0).contains(words), "{}", since(node, 0));
    assert_eq!(numbers_in(node), BTreeSet::from([1, 2, 3]));
    assert_eq!(logged(node).inserts, BTreeMap::from([(1, 1), (3, 1)]));
}

/// Starts as the provider's message advises: without the binary log until everything is applied, then as usual.
fn start_as_told(cluster: &Sandbox, arguments: &[String]) {
    let node = cluster.node(0);
    let recovered = without_binary_log(arguments, &["--skip-log-error", "--wsrep-recover"]).wait_with_output().unwrap();
    let recovered = String::from_utf8_lossy(&recovered.stderr).into_owned();
    let (_, position) = recovered.rsplit_once("Recovered position: ").unwrap_or_else(|| panic!("{recovered}"));
    let position = format!("--wsrep-start-position={}", position.lines().next().unwrap());
    let mut server = without_binary_log(arguments, &[&position]);
    wait_until_ready(node, &mut server);
    node.stop().unwrap();
    assert!(server.wait().unwrap().success());
    cluster.start().unwrap();
}

#[test]
fn an_encrypted_binary_log_needs_a_start_without_it() {
    provider::build();
    let keys = tempfile::NamedTempFile::new().unwrap();
    fs::write(keys.path(), format!("1;{}\n", "0123456789abcdef".repeat(4))).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs::set_permissions(keys.path(), mode).unwrap();
    let builder = Builder::cluster(1).set("log_bin", "binary").set("innodb_flush_log_at_trx_commit", "0");
    let builder = builder.set("plugin_load_add", "file_key_management").set("encrypt_binlog", "ON");
    let builder = builder.set("file_key_management_filename", keys.path().to_str().unwrap());
    // The rows are in the two logs only when the node is killed.
    let builder =
        builder.set("innodb_flush_log_at_timeout", "600").set("wsrep_provider_options", "log.retain_time=P1D");
    let cluster = builder.start_temporary().unwrap();
    let node = cluster.node(0);
    let arguments = arguments(node);
    run(node, &["CREATE DATABASE d", "CREATE TABLE d.t (id BIGINT PRIMARY KEY)"]);
    let mut connection = node.connect().unwrap();
    for id in 0..500 {
        connection.execute(format!("INSERT INTO d.t VALUES ({id})").as_bytes()).unwrap();
    }
    node.kill().unwrap();
    let error = cluster.start().unwrap_err().to_string();
    for words in [
        "transactions must be applied again from the log",
        "is encrypted. A server with log_bin",
        "Start it with --skip-log-bin, stop it when it is ready, then start it as usual",
    ] {
        assert!(error.contains(words), "`{words}` is missing in:\n{error}");
    }
    start_as_told(&cluster, &arguments);
    assert_eq!(ask(node, "SELECT COUNT(*) FROM d.t"), [["500"]]);
}
