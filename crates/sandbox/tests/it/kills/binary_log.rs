//! Kills of a server that writes a binary log: every confirmed transaction is in the tables and in the binary log,
//! once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error};
use hortator_sandbox::{Builder, Node, Sandbox};

use super::dice::Dice;
use super::{from_environment, seed};
use crate::{ask, provider};

const CLIENTS: usize = 8;

/// Inserts rows over several connections until the server is killed. Returns the confirmed ones.
fn write_until_killed(node: Node<'_>, numbers: &AtomicI64, until_kill: Duration) -> Vec<i64> {
    let connected = Barrier::new(CLIENTS + 1);
    let write = || {
        let mut connection = node.connect().unwrap();
        connected.wait();
        let mut confirmed = Vec::new();
        loop {
            let number = numbers.fetch_add(1, Ordering::SeqCst);
            match insert(&mut connection, number) {
                Ok(()) => confirmed.push(number),
                Err(Error::Lost { .. }) => return confirmed,
                Err(error) if error.is_transient() => {}
                Err(error) => panic!("{error}"),
            }
        }
    };
    thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(write)).collect();
        connected.wait();
        // The kill comes at a random moment.
        thread::sleep(until_kill);
        node.kill().unwrap();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

/// Every third row is inserted by a streaming transaction.
fn insert(connection: &mut Connection, number: i64) -> Result<(), Error> {
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

/// The number of inserts of each row of d.t in the binary log.
fn inserted(sandbox: &Sandbox) -> BTreeMap<i64, usize> {
    let data = sandbox.node(0).data_dir();
    let mut files: Vec<_> = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.file_name().unwrap().to_str().unwrap().starts_with("binary.0"));
    files.sort();
    let mut program = Command::new("mariadb-binlog");
    let output =
        program.args(["--no-defaults", "--verbose", "--base64-output=DECODE-ROWS"]).args(files).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut rows = BTreeMap::new();
    let mut is_insert = false;
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(statement) = line.strip_prefix("### ") {
            is_insert = if statement.starts_with("INSERT") { statement.contains("`d`.`t`") } else { is_insert };
            if let Some(number) = statement.trim().strip_prefix("@1=").filter(|_| is_insert) {
                *rows.entry(number.parse().unwrap()).or_insert(0) += 1;
            }
        }
    }
    rows
}

fn numbers_in(node: Node<'_>) -> Vec<i64> {
    ask(node, "SELECT id FROM d.t ORDER BY id").concat().iter().map(|id| id.parse().unwrap()).collect()
}

/// Starts as the provider's message advises: without the binary log until everything is applied, then as usual.
fn start_as_told(cluster: &Sandbox, arguments: &[String]) {
    let node = cluster.node(0);
    let run = |further: &[String]| {
        let mut program = Command::new(&arguments[0]);
        program.args(&arguments[1..]).args(["--user=mysql", "--skip-log-bin"]).args(further);
        program.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let recovered = run(&["--skip-log-error".to_owned(), "--wsrep-recover".to_owned()]).wait_with_output().unwrap();
    let recovered = String::from_utf8_lossy(&recovered.stderr).into_owned();
    let (_, position) = recovered.rsplit_once("Recovered position: ").unwrap_or_else(|| panic!("{recovered}"));
    let mut server = run(&[format!("--wsrep-start-position={}", position.lines().next().unwrap())]);
    let deadline = Instant::now() + Duration::from_secs(60);
    while !node.connect().is_ok_and(|mut connection| connection.execute(b"SELECT COUNT(*) FROM d.t").is_ok()) {
        assert!(Instant::now() < deadline && server.try_wait().unwrap().is_none(), "it did not come up");
        thread::sleep(Duration::from_millis(10));
    }
    node.stop().unwrap();
    assert!(server.wait().unwrap().success());
    cluster.start().unwrap();
}

/// The arguments of the server's last start, without those for that start only.
pub fn arguments(node: Node<'_>) -> Vec<String> {
    let line = fs::read(format!("/proc/{}/cmdline", node.pid().unwrap())).unwrap();
    let all = line.split(|byte| *byte == 0).map(|one| String::from_utf8(one.to_vec()).unwrap());
    let lasting =
        |one: &String| !one.is_empty() && one != "--wsrep-new-cluster" && !one.starts_with("--wsrep-start-position");
    all.filter(lasting).collect()
}

#[test]
fn nothing_is_in_the_binary_log_twice() {
    let rounds = from_environment("HORTATOR_KILLS").unwrap_or(2);
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={rounds}");
    let mut dice = Dice::new(seed);
    provider::build();
    let builder = Builder::cluster(1).set("log_bin", "binary").set("innodb_flush_log_at_trx_commit", "0");
    let cluster = builder.start_temporary().unwrap();
    let node = cluster.node(0);
    let arguments = arguments(node);
    let tables = ["t (id BIGINT PRIMARY KEY, v INT)", "parts (id BIGINT, n INT, PRIMARY KEY (id, n))"];
    crate::run(node, &["CREATE DATABASE d"]);
    tables.iter().for_each(|table| crate::run(node, &[&format!("CREATE TABLE d.{table}")]));
    let numbers = AtomicI64::new(1);
    let mut confirmed = BTreeSet::new();
    let mut refusals = 0;
    for round in 0..rounds {
        let until_kill = Duration::from_millis(dice.between(50, 1000).unsigned_abs());
        confirmed.extend(write_until_killed(node, &numbers, until_kill));
        if let Err(error) = cluster.start() {
            let error = error.to_string();
            assert!(error.contains("with log_bin on the server would write a second copy"), "{error}");
            refusals += 1;
            start_as_told(&cluster, &arguments);
        }
        let rows: BTreeSet<i64> = numbers_in(node).into_iter().collect();
        let inserted = inserted(&cluster);
        let twice: Vec<_> = inserted.iter().filter(|(_, count)| **count > 1).take(9).collect();
        assert!(twice.is_empty(), "round {round}: in the binary log more than once: {twice:?}");
        let logged: BTreeSet<i64> = inserted.into_keys().collect();
        for (what, there, other) in [
            ("confirmed, and not in the tables", &confirmed, &rows),
            ("confirmed, and not in the binary log", &confirmed, &logged),
            ("in the binary log, and not in the tables", &logged, &rows),
        ] {
            let missing: Vec<_> = there.difference(other).take(9).collect();
            assert!(missing.is_empty(), "round {round}: {what}: {missing:?}");
        }
        // Those were in progress.
        let unlogged = rows.difference(&logged).count();
        assert!(
            unlogged <= CLIENTS * usize::try_from(round + 1).unwrap(),
            "round {round}: {unlogged} are in the tables only"
        );
    }
    eprintln!("{} confirmed, {refusals} starts refused", confirmed.len());
    assert!(refusals > 0, "nothing had to be applied again");
}
