//! Three nodes under fire: clients write to all of them while nodes are killed, stopped and isolated. Afterwards no
//! confirmed write is missing, no transaction is partly there, and all nodes are equal.
//!
//! [`work`] is the work of the clients, [`definitions`] that of one that changes a table, [`histories`] that of clients whose histories [`isolation`] checks for anomalies,
//! [`snapshots`] an anomaly of MariaDB that they may see, [`session`] their connections, [`journal`] their records, [`nemesis`] the faults, [`pace`] the times without writes, [`verdict`] the
//! final check, [`figures`] the table of results.
//!
//! With HORTATOR_FIRE_MACHINES=1, each node has a network and a disk of its own ([`machines`]), and [`faults`] has more to
//! choose from: cuts, power losses, slow and full disks. That needs root's rights. HORTATOR_FIRE_OPTIONS are provider
//! options for Hortator's nodes.
//!
//! HORTATOR_FIRE_SECONDS is the time with faults, HORTATOR_FIRE_FAULTS their names if not all are wanted, HORTATOR_SEED the
//! seed, HORTATOR_FIGURES a file for the figures.
//! `cargo xtask fire` sets these. Losses of Galera are only counted: with innodb_flush_log_at_trx_commit=0 it
//! guarantees nothing if all nodes crash.

mod definitions;
mod faults;
mod figures;
mod histories;
mod isolation;
mod journal;
mod machines;
mod nemesis;
mod pace;
mod patience;
mod session;
mod snapshots;
mod tables;
mod verdict;
mod work;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Builder, Sandbox};

use crate::kills::dice::Dice;
use crate::kills::{fetch, from_environment, seed};
use crate::provider;
use figures::Figures;
use isolation::{Key, Transaction};
use journal::Journal;
use machines::Machines;
use nemesis::Nemesis;
use patience::Patience;
use session::Session;
use work::{Kind, Shared};

const NODES: usize = 3;
/// The time during which clients write before and after, without faults.
const QUIET: Duration = Duration::from_secs(2);
/// The kinds of clients of a run: transfers, appends, single rows.
const KINDS: [(Kind, usize); 3] = [(Kind::Bank, 8), (Kind::Lists, 4), (Kind::Entries, 2)];
/// The lines of each error log that a failed run shows.
const LINES_SHOWN: usize = 40;
/// The clients whose histories are checked.
const HISTORIES: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Provider {
    Ours,
    Galera,
}

impl Provider {
    /// The default time with faults.
    fn seconds(self) -> u64 {
        match self {
            Provider::Ours => 60,
            Provider::Galera => 20,
        }
    }
}

#[test]
fn nothing_confirmed_by_three_nodes_of_ours_is_lost() {
    provider::build();
    under_fire(Provider::Ours);
}

#[test]
fn three_nodes_of_galera_end_up_equal() {
    under_fire(Provider::Galera);
}

/// Stops the clients even when the run fails.
struct EndsClients<'a>(&'a AtomicBool);

impl Drop for EndsClients<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Keeps the error logs of a failed run.
struct KeepsLogs<'a>(&'a Sandbox, u64);

impl Drop for KeepsLogs<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            for node in self.0.nodes() {
                let kept = env::temp_dir().join(format!("hortator-fire-{}-{}.log", self.1, node.name()));
                let copied = fs::copy(node.error_log(), &kept);
                eprintln!("{}'s error log: {} ({copied:?} bytes)", node.name(), kept.display());
                // Whoever sees the output only gets the end of it.
                let log = String::from_utf8_lossy(&fs::read(node.error_log()).unwrap_or_default()).into_owned();
                let lines: Vec<&str> =
                    log.lines().filter(|line| line.contains("ERROR") || line.contains("Hortator:")).collect();
                eprintln!("{}", lines[lines.len().saturating_sub(LINES_SHOWN)..].join("\n"));
            }
        }
    }
}

/// Keeps a history with an anomaly: a line for each transaction, and one for each key in the end.
fn keep_history(seed: u64, history: &[Transaction], last: &BTreeMap<Key, Vec<i64>>) {
    let kept = env::temp_dir().join(format!("hortator-fire-{seed}-history.txt"));
    let transactions = history.iter().map(|transaction| format!("{transaction:?}\n"));
    let ends = last.iter().map(|(key, values)| format!("in the end: {key} {values:?}\n"));
    let written = fs::write(&kept, transactions.chain(ends).collect::<String>());
    eprintln!("the history: {} ({written:?})", kept.display());
}

fn under_fire(provider: Provider) {
    let seconds = from_environment("HORTATOR_FIRE_SECONDS").unwrap_or(provider.seconds());
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed} HORTATOR_FIRE_SECONDS={seconds}");
    let builder = match provider {
        Provider::Ours => Builder::cluster(NODES),
        Provider::Galera => Builder::galera(NODES),
    };
    let patience = Patience::default();
    let builder = builder
        .interrupt_flag(patience.flag())
        .set("innodb_flush_log_at_trx_commit", "0")
        .set("innodb_lock_wait_timeout", "5");
    let options = env::var("HORTATOR_FIRE_OPTIONS").ok().filter(|_| provider == Provider::Ours);
    let has_small_logs = options.as_ref().is_some_and(|options| options.contains("log.retain"));
    let builder = options.into_iter().fold(builder, |builder, options| builder.set("wsrep_provider_options", options));
    let machines = (from_environment("HORTATOR_FIRE_MACHINES") == Some(1)).then(Machines::new);
    let builder = machines.iter().fold(builder, |builder, machines| machines.under(builder));
    let sandbox = builder.set("wsrep_slave_threads", "4").start_temporary().unwrap();
    let _logs = KeepsLogs(&sandbox, seed);
    tables::make(&mut sandbox.node(0).connect().unwrap());
    for node in sandbox.nodes() {
        // Clients start when every node has all tables.
        let mut connection = node.connect().unwrap();
        connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
        let lists = fetch(&mut connection, "SELECT COUNT(*) FROM fire.list");
        assert_eq!(lists, [[tables::LISTS.to_string()]], "{}", node.name());
    }
    let mut dice = Dice::new(seed);
    let shared = Shared::new(Instant::now());
    let fire = Duration::from_secs(seconds);
    let steps = AtomicI64::new(0);
    let (journals, history, nemesis, took) = thread::scope(|scope| {
        let end = EndsClients(&shared.is_over);
        let mut clients = Vec::new();
        for kind in KINDS.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count)) {
            let (number, seed, sandbox, shared) = (clients.len(), dice.next(), &*sandbox, &shared);
            clients.push(scope.spawn(move || work::write(kind, number, sandbox, seed, shared)));
        }
        let historians: Vec<_> = (0..HISTORIES)
            .map(|number| {
                let (seed, sandbox, shared, steps) = (dice.next(), &*sandbox, &shared, &steps);
                scope.spawn(move || histories::write(number, sandbox, seed, shared, steps))
            })
            .collect();
        // Galera promises nothing for a definition that a crash interrupts.
        if provider == Provider::Ours {
            let (seed, sandbox, shared) = (dice.next(), &*sandbox, &shared);
            scope.spawn(move || definitions::change(sandbox, seed, shared));
        }
        for node in 0..NODES {
            let (seed, session, shared) = (dice.next(), Session::on(&sandbox, node), &shared);
            scope.spawn(move || work::read(session, seed, shared));
        }
        thread::sleep(QUIET);
        let mut nemesis = Nemesis::new(&sandbox, provider, machines.as_ref(), patience, dice, &shared);
        nemesis.has_small_logs = has_small_logs;
        let began = Instant::now();
        nemesis.rage(fire);
        let took = began.elapsed();
        let before = shared.pace().confirmed();
        // All nodes are back: now writes must succeed.
        thread::sleep(QUIET);
        let deadline = Instant::now() + nemesis::WAIT_TIMEOUT;
        while shared.pace().confirmed() == before {
            assert!(Instant::now() < deadline, "all nodes are back, and nobody can write");
            thread::sleep(Duration::from_millis(50));
        }
        drop(end);
        let journals: Vec<Journal> = clients.into_iter().map(|client| client.join().unwrap()).collect();
        let history: Vec<_> = historians.into_iter().flat_map(|client| client.join().unwrap()).collect();
        (journals, history, nemesis.done, took)
    });
    settle(&sandbox);
    let found = verdict::look(&sandbox, &journals, &shared);
    let last = histories::last(sandbox.node(0));
    let anomalies = isolation::check(&history, &last);
    if !anomalies.forbidden().is_empty() {
        keep_history(seed, &history, &last);
    }
    let mut figures = Figures::new(&journals, &nemesis, &shared, &found, took);
    figures.add_anomalies(&history, &anomalies);
    eprintln!("\n{}", figures.table(provider));
    figures.save();
    assert_eq!(found.differences, [""; 0], "the nodes are not equal");
    if provider == Provider::Ours {
        let (told, seen) = (found.told(), shared.told());
        assert!(told.is_empty() && seen.is_empty(), "{}\n{}", told.join("\n"), seen.join("\n"));
        assert_eq!(anomalies.forbidden(), [""; 0], "anomalies that the isolation levels forbid");
        assert_eq!(nemesis.helped, 0, "the cluster did not come back by itself");
        assert_eq!(found.crashes, [""; 0], "in the error logs");
        // Without simulated power losses nothing excuses damaged tables.
        assert!(machines.is_some() || found.crashes_by_damage.is_empty(), "{:?}", found.crashes_by_damage);
    }
}

/// Waits until everything in progress has reached every node.
fn settle(sandbox: &Sandbox) {
    let places = || -> Vec<_> {
        sandbox.nodes().map(|node| node.wsrep_status().and_then(|status| status.last_committed)).collect()
    };
    let deadline = Instant::now() + nemesis::WAIT_TIMEOUT;
    let mut before = places();
    loop {
        // Transactions of disconnected sessions end within a moment.
        thread::sleep(Duration::from_secs(1));
        let now = places();
        if now == before && now[0].is_some() && now.iter().all(|place| *place == now[0]) {
            return;
        }
        assert!(Instant::now() < deadline, "the nodes do not come to the same place: {now:?}");
        before = now;
    }
}
