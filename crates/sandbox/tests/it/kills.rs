//! Servers that are killed while clients write: confirmed transactions stay, and none is partly there.
//!
//! The storage engine flushes its own log once a second here, so that only the provider's log has the last
//! transactions. [`client`] writes, [`journal`] compares, [`watch`] reads while a server starts.
//!
//! HORTATOR_KILLS is the number of rounds, HORTATOR_SEED the seed; with HORTATOR_KILLED=galera the packaged Galera is
//! killed instead, and its losses are counted. `cargo xtask provider-kills` sets these.

mod async_replica;
mod binary_log;
mod client;
mod definitions;
pub mod dice;
mod journal;
mod report;
mod tables;
mod watch;

use std::env;
use std::fs;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Builder, Node, Sandbox};

use crate::provider;
pub use binary_log::arguments;
use client::{Client, Shared};
use dice::Dice;
use journal::{Found, Journal};
use report::Report;
pub use tables::fetch;
use tables::{CLIENTS, number};
use watch::{Seen, watch};

/// After this many rounds the tables are created again, so that the comparisons stay small.
const ROUNDS_PER_TABLES: usize = 5;

pub fn from_environment(name: &str) -> Option<u64> {
    env::var(name).ok().map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}: no number")))
}

pub fn seed() -> u64 {
    from_environment("HORTATOR_SEED").unwrap_or_else(|| u64::from(std::process::id()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    Ours,
    Galera,
}

/// A server that is killed repeatedly, and the journals of its clients.
struct Killed<'a> {
    provider: Provider,
    sandbox: &'a Sandbox,
    dice: Dice,
    shared: Shared,
    report: Report,
}

#[test]
fn nothing_confirmed_is_lost() {
    let provider = match env::var("HORTATOR_KILLED").as_deref() {
        Ok("galera") => Provider::Galera,
        Ok(other) if other != "ours" => panic!("HORTATOR_KILLED={other}: ours or galera"),
        _ => Provider::Ours,
    };
    let rounds = from_environment("HORTATOR_KILLS").unwrap_or(3);
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={rounds}");
    let builder = match provider {
        Provider::Ours => {
            provider::build();
            // Small files, so that the log uses several.
            Builder::cluster(1).set("wsrep_provider_options", "log.segment=4M")
        }
        Provider::Galera => Builder::galera(1),
    };
    let builder = builder.set("innodb_flush_log_at_trx_commit", "0").set("innodb_lock_wait_timeout", "5");
    let sandbox = builder.start_temporary().unwrap();
    let mut killed = Killed {
        provider,
        sandbox: &sandbox,
        dice: Dice::new(seed),
        shared: Shared::default(),
        report: Report::default(),
    };
    for round in 0..usize::try_from(rounds).unwrap() {
        if round % ROUNDS_PER_TABLES == 0 {
            tables::make(&mut killed.node().connect().unwrap());
        }
        killed.round(round);
    }
    let name = if provider == Provider::Ours { "Hortator" } else { "Galera" };
    eprintln!("\n{}", killed.report.table(name));
}

impl Killed<'_> {
    fn node(&self) -> Node<'_> {
        self.sandbox.node(0)
    }

    fn round(&mut self, round: usize) {
        let journals = self.write_until_killed();
        let log_from = fs::metadata(self.node().error_log()).unwrap().len();
        let started = Instant::now();
        self.kill_while_it_recovers();
        let counted = self.shared.counted.load(Ordering::SeqCst);
        let seen = self.start_watched();
        self.report.starts.push(started.elapsed());
        self.report.rounds += 1;
        self.report.refused_reads += seen.refusals;
        let stale = seen.lowest.is_some_and(|lowest| lowest < counted);
        self.report.stale_reads += usize::from(stale) + seen.wrong_totals;
        if self.provider == Provider::Ours {
            assert!(
                !stale && seen.wrong_totals == 0,
                "round {round}: {counted} was confirmed, and a client saw {seen:?}"
            );
            self.applied_again(log_from);
        }
        self.look(round, &journals);
        if self.provider == Provider::Ours {
            self.check_places();
        }
    }

    /// All clients write; then the server is killed. Returns the journals.
    fn write_until_killed(&mut self) -> Vec<Journal> {
        let (node, shared) = (self.node(), &self.shared);
        let mut connection = node.connect().unwrap();
        connection.execute(b"USE kills").unwrap();
        let rows = tables::read(&mut connection);
        shared.counted.store(number(&mut connection, "SELECT v FROM counter"), Ordering::SeqCst);
        let seeds: Vec<u64> = (0..CLIENTS).map(|_| self.dice.next()).collect();
        let until_kill = Duration::from_millis(self.dice.between(50, 1500).unsigned_abs());
        let connected = Barrier::new(CLIENTS + 1);
        let node = self.sandbox.node(0);
        let (journals, refusals) = thread::scope(|scope| {
            let mut clients = Vec::new();
            for (number, (seed, rows)) in seeds.into_iter().zip(rows).enumerate() {
                let connected = &connected;
                clients.push(scope.spawn(move || {
                    let mut connection = node.connect().unwrap();
                    connection.execute(b"USE kills").unwrap();
                    let mut client = Client::new(number, connection, seed, rows, shared);
                    connected.wait();
                    client.write();
                    (client.journal, client.refusals)
                }));
            }
            connected.wait();
            // The kill comes at a random moment.
            thread::sleep(until_kill);
            node.kill().unwrap();
            let ended = clients
                .into_iter()
                .map(|client| client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            ended.collect::<(Vec<Journal>, Vec<usize>)>()
        });
        self.report.kills += 1;
        self.report.refusals += refusals.into_iter().sum::<usize>();
        self.report.confirmed += journals.iter().map(Journal::confirmed).sum::<usize>();
        journals
    }

    /// Starts the server and kills it within a second, sometimes.
    fn kill_while_it_recovers(&mut self) {
        while self.dice.chance(40) {
            let wait = Duration::from_millis(self.dice.below(2500).unsigned_abs());
            let node = self.sandbox.node(0);
            thread::scope(|scope| {
                let start = scope.spawn(move || node.start());
                // Also at a random moment.
                thread::sleep(wait);
                while !start.is_finished() {
                    node.kill().unwrap();
                }
                let _killed_or_up = start.join().unwrap();
            });
            node.kill().unwrap();
            self.report.kills += 1;
            self.report.kills_in_recovery += 1;
        }
    }

    /// Starts the server while a client reads.
    fn start_watched(&self) -> Seen {
        let node = self.node();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let watcher = scope.spawn(|| watch(node, &is_over));
            let started = node.start();
            is_over.store(true, Ordering::SeqCst);
            let seen = watcher.join().unwrap();
            started.unwrap();
            seen
        })
    }

    /// Reads from the error log how much was applied again; everything confirmed must be in the log.
    fn applied_again(&mut self, log_from: u64) {
        let log = fs::read(self.node().error_log()).unwrap();
        let log = String::from_utf8_lossy(&log[usize::try_from(log_from).unwrap()..]).into_owned();
        let told = log.rsplit_once("the tables are applied up to ").expect("it says where it goes on").1;
        let number =
            |text: &str| -> i64 { text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap() };
        let tables_at = number(told.split_once(':').unwrap().1);
        let end = number(told.split_once("the log ends at seqno ").unwrap().1);
        let told = self.shared.seqno.load(Ordering::SeqCst);
        assert!(end >= told, "the log ends at seqno {end}, and a client was told {told}");
        self.report.applied_again += (end - tables_at).max(0);
        // The server's messages about DDL in progress do not matter.
        let bad = log.lines().find(|line| line.contains("panic") || line.contains("[ERROR] WSREP"));
        assert_eq!(bad, None, "in the error log");
    }

    fn look(&mut self, round: usize, journals: &[Journal]) {
        let mut connection = self.node().connect().unwrap();
        connection.execute(b"USE kills").unwrap();
        let rows = tables::read(&mut connection);
        let mut told = Vec::new();
        let mut lost = 0;
        for (number, (journal, rows)) in journals.iter().zip(&rows).enumerate() {
            match journal.compare(rows) {
                Found::All(with_unsettled) => {
                    self.report.unsettled += usize::from(journal.has_unsettled());
                    self.report.unsettled_there += usize::from(with_unsettled);
                    continue;
                }
                Found::Lost(count) => lost += count,
                Found::Torn => self.report.torn += 1,
            }
            told.push(format!(
                "client {number}: {:?}\n{}",
                journal.compare(rows),
                journal.differences(rows).join("\n")
            ));
        }
        self.report.lost += lost;
        self.report.rounds_with_loss += usize::from(lost > 0);
        let broken = tables::broken_rules(&mut connection);
        self.report.rules_broken += broken.len();
        told.extend(broken);
        if self.provider == Provider::Ours {
            assert!(told.is_empty(), "round {round}:\n{}", told.join("\n"));
            wait_until_empty(&mut connection);
        }
    }

    /// The next seqnos follow the last one without a gap.
    fn check_places(&mut self) {
        let mut connection = self.node().connect().unwrap();
        connection.execute(b"USE kills").unwrap();
        let committed = |connection: &mut _| -> i64 {
            fetch(connection, "SHOW STATUS LIKE 'wsrep_last_committed'")[0][1].parse().unwrap()
        };
        // What the storage engine has committed is counted a moment later.
        let mut before = committed(&mut connection);
        loop {
            thread::sleep(Duration::from_millis(100));
            match committed(&mut connection) {
                now if now == before => break,
                now => before = now,
            }
        }
        let told = self.shared.seqno.load(Ordering::SeqCst);
        assert!(before > told, "{before} are committed, and a client was told {told} before the kill");
        let statements =
            ["CREATE TABLE place (id INT PRIMARY KEY)", "INSERT INTO place VALUES (1), (2)", "DROP TABLE place"];
        for (statement, place) in statements.into_iter().zip(before + 1..) {
            connection.execute(statement.as_bytes()).unwrap();
            assert_eq!(committed(&mut connection), place, "{statement}");
        }
    }
}

/// Fragments of abandoned transactions are rolled back soon.
fn wait_until_empty(connection: &mut hortator_mysql::Connection) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while number(connection, "SELECT COUNT(*) FROM mysql.wsrep_streaming_log") > 0 {
        let left = "SELECT node_uuid, trx_id, seqno, flags FROM mysql.wsrep_streaming_log";
        assert!(Instant::now() < deadline, "parts are left: {:?}", fetch(connection, left));
        thread::sleep(Duration::from_millis(10));
    }
}
