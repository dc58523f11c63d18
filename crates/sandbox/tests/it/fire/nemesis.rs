//! The faults, and the recovery of the nodes.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Node, Sandbox, State};

use super::faults::Fault;
use super::machines::Machines;
use super::patience::Patience;
use super::verdict::DAMAGED_HISTORY;
use super::work::Shared;
use super::{NODES, Provider};
use crate::cluster_fixture::remove_provider_files;
use crate::disk::Lost;
use crate::kills::dice::Dice;
use crate::set_options;

/// The time limit for a cluster to be complete again.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(600);
/// After this time the nodes of an incomplete cluster are killed and started: Galera often needs it, ours never.
const HELP_AFTER: Duration = Duration::from_secs(60);
/// The same for ours, also on a busy machine.
const HELP_OURS_AFTER: Duration = Duration::from_secs(300);
/// A node of Galera that starts or is healed gets this time, then help: one that another node waits for may never be ready.
const GALERA_START_TIMEOUT: Duration = Duration::from_secs(90);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The results of the faults.
#[derive(Debug, Default)]
pub struct Done {
    faults: BTreeMap<Fault, usize>,
    /// What power losses took back.
    pub lost: Lost,
    /// The number of times that no node was left.
    pub full_crashes: usize,
    /// The number of times that the cluster did not recover by itself.
    pub helped: usize,
    /// Nodes that were restarted because the logs of the others were too short.
    pub restarted: usize,
    /// Nodes whose storage engine did not recover after a full disk or a power loss, and which got an empty data folder.
    pub emptied: usize,
    /// The times from the end of each fault until all nodes were back.
    pub returns: Vec<Duration>,
}

impl Done {
    pub fn faults(&self) -> String {
        self.faults.iter().map(|(fault, count)| format!("{count} × {}", fault.word())).collect::<Vec<_>>().join("; ")
    }
}

pub struct Nemesis<'a> {
    sandbox: &'a Sandbox,
    provider: Provider,
    machines: Option<&'a Machines>,
    patience: Patience,
    /// The logs hold the entries of seconds.
    pub has_small_logs: bool,
    dice: Dice,
    shared: &'a Shared,
    pub done: Done,
}

impl<'a> Nemesis<'a> {
    pub fn new(
        sandbox: &'a Sandbox,
        provider: Provider,
        machines: Option<&'a Machines>,
        patience: Patience,
        dice: Dice,
        shared: &'a Shared,
    ) -> Nemesis<'a> {
        Nemesis { sandbox, provider, machines, patience, has_small_logs: false, dice, shared, done: Done::default() }
    }

    /// Injects one fault after the other for that long; in the end all nodes are back.
    pub fn rage(&mut self, fire: Duration) {
        let end = Instant::now() + fire;
        let mut left = Vec::new();
        while Instant::now() < end {
            if left.is_empty() {
                left = Fault::round(self.provider, self.machines.is_some());
            }
            let next = usize::try_from(self.dice.below(left.len() as i64)).unwrap();
            let fault = left.swap_remove(next);
            self.inflict(fault);
            *self.done.faults.entry(fault).or_insert(0) += 1;
            let began = Instant::now();
            self.bring_back();
            if fault == Fault::Weigh {
                self.sandbox.nodes().for_each(|node| set_option(node, "pc.weight=1"));
            }
            let took = began.elapsed();
            self.done.returns.push(took);
            let now = self.shared.elapsed().as_secs_f64();
            eprintln!("{now:.1} s: all nodes are back after {:.1} s", took.as_secs_f64());
            self.wait(1000, 4000);
        }
    }

    fn inflict(&mut self, fault: Fault) {
        let node = self.sandbox.node(usize::try_from(self.dice.below(NODES as i64)).unwrap());
        eprintln!("{:.1} s: {fault:?}, {}", self.shared.elapsed().as_secs_f64(), node.name());
        match fault {
            Fault::KillOne => {
                node.kill().unwrap();
                self.wait(200, 4000);
            }
            Fault::StopOne => {
                node.stop().unwrap();
                self.wait(200, 4000);
            }
            Fault::KillOneStopAnother => {
                node.kill().unwrap();
                self.sandbox.node(node.number() % NODES).stop().unwrap();
                self.wait(1000, 5000);
            }
            Fault::TransferState => {
                if self.dice.chance(50) { node.stop() } else { node.kill() }.unwrap();
                fs::remove_file(node.data_dir().join("grastate.dat")).unwrap();
                self.wait(200, 2000);
            }
            Fault::Replace => {
                if self.dice.chance(50) { node.stop() } else { node.kill() }.unwrap();
                remove_provider_files(node);
                fs::remove_file(node.data_dir().join("grastate.dat")).unwrap();
                self.wait(200, 2000);
            }
            Fault::Weigh => {
                set_option(node, "pc.weight=2");
                let other = self.sandbox.node(usize::try_from(self.dice.below(NODES as i64)).unwrap());
                self.wait(0, 1000);
                other.kill().unwrap();
                self.wait(200, 4000);
            }
            Fault::CutOne
            | Fault::CutAll
            | Fault::CutPair
            | Fault::CutOneWay
            | Fault::CutOutgoing
            | Fault::CutIncoming => {
                self.block(fault, node.number() - 1);
                self.wait(1000, 12_000);
            }
            Fault::PowerOne => {
                self.lose_power(&[node]);
                self.wait(200, 4000);
            }
            Fault::PowerUnsynced => {
                set_option(node, "log.sync=no");
                self.wait(500, 4000);
                self.lose_power(&[node]);
                self.wait(0, 2000);
            }
            Fault::PowerAll => self.lose_all_power(),
            Fault::CutOneAndPowerAll => {
                self.block(Fault::CutOne, node.number() - 1);
                self.wait(200, 8000);
                self.lose_all_power();
            }
            Fault::SlowDisk => {
                self.slow(&[node]);
                self.wait(1000, 12_000);
            }
            Fault::SlowDisks => {
                self.slow(&self.sandbox.nodes().collect::<Vec<_>>());
                self.wait(1000, 12_000);
            }
            Fault::FullDisk => {
                self.machines().disk(node).set_full(true);
                self.wait(1000, 12_000);
                self.machines().disk(node).set_full(false);
                // What its message asks an operator to do: it may have left the cluster.
                node.kill().unwrap();
                self.empty_if_damaged(node);
            }
            Fault::PauseOne => {
                node.pause().unwrap();
                self.wait(500, 9000);
            }
            Fault::LockTables => {
                let mut lock = node.connect().unwrap();
                let locked = lock.execute(b"FLUSH TABLES WITH READ LOCK");
                self.wait(1000, 6000);
                // A node of Galera may lose its place in the cluster, although it was ready a moment ago.
                assert!(locked.is_ok() || self.provider == Provider::Galera, "{:?}", locked.err());
            }
            Fault::PauseTwo => {
                self.sandbox
                    .nodes()
                    .filter(|other| other.number() != node.number())
                    .for_each(|one| one.pause().unwrap());
                self.wait(500, 9000);
            }
            Fault::IsolateAll => {
                self.sandbox.nodes().for_each(|node| node.isolate().unwrap());
                self.wait(1000, 12_000);
            }
            Fault::IsolateOne => {
                node.isolate().unwrap();
                self.wait(1000, 12_000);
            }
            Fault::IsolateOneAndKillAll => {
                node.isolate().unwrap();
                self.wait(200, 8000);
                self.kill_all();
            }
            Fault::KillAll => self.kill_all(),
            Fault::KillInTurn => {
                let first = node.number();
                for next in 0..NODES {
                    self.sandbox.node((first + next) % NODES).kill().unwrap();
                    self.wait(0, 1500);
                    self.bring_back();
                    self.wait(0, 1500);
                }
            }
            Fault::KillOneByOne => {
                let first = node.number();
                for next in 0..NODES {
                    self.sandbox.node((first + next) % NODES).kill().unwrap();
                    self.wait(0, 1500);
                }
                self.crashed();
            }
        }
    }

    /// Of a fault that needs them.
    fn machines(&self) -> &'a Machines {
        self.machines.unwrap()
    }

    /// Cuts the network around a node.
    fn block(&mut self, fault: Fault, node: usize) {
        let network = &self.machines().network;
        let other = (node + usize::try_from(self.dice.between(1, 2)).unwrap()) % NODES;
        let is_cut = |from: usize, to: usize| match fault {
            Fault::CutOne => from == node || to == node,
            Fault::CutPair => [(node, other), (other, node)].contains(&(from, to)),
            Fault::CutOneWay => (from, to) == (node, other),
            Fault::CutOutgoing => from == node,
            Fault::CutIncoming => to == node,
            _ => true,
        };
        let pairs = (0..NODES).flat_map(|from| (0..NODES).map(move |to| (from, to))).filter(|(from, to)| from != to);
        pairs.filter(|(from, to)| is_cut(*from, *to)).for_each(|(from, to)| network.block(from, to));
    }

    fn slow(&mut self, nodes: &[Node<'_>]) {
        let delay = Duration::from_millis(self.dice.between(2, 100).unsigned_abs());
        nodes.iter().for_each(|node| self.machines().disk(*node).slow(delay));
    }

    /// Kills nodes within a moment, and takes back what they had not synced.
    fn lose_power(&mut self, nodes: &[Node<'_>]) {
        for node in nodes {
            let lost = self.machines().lose_power(*node, &mut self.dice);
            eprintln!("{} has lost its power: {lost:?}", node.name());
            self.done.lost.add(lost);
        }
    }

    fn lose_all_power(&mut self) {
        // None may continue while another is waited for.
        self.sandbox.kill().unwrap();
        self.lose_power(&self.sandbox.nodes().collect::<Vec<_>>());
        self.crashed();
        self.wait(0, 1000);
    }

    fn kill_all(&mut self) {
        self.sandbox.kill().unwrap();
        self.crashed();
        self.wait(0, 1000);
    }

    fn crashed(&mut self) {
        self.done.full_crashes += 1;
        if self.provider == Provider::Galera {
            // The minimum lengths for the readers are not valid after a loss.
            self.shared.forget_lengths();
        }
    }

    fn wait(&mut self, least_ms: i64, most_ms: i64) {
        // Faults come at random moments.
        thread::sleep(Duration::from_millis(self.dice.between(least_ms, most_ms).unsigned_abs()));
    }

    /// Waits until all nodes are in one cluster with all data.
    fn bring_back(&mut self) {
        let (help_after, most_helps) = match self.provider {
            Provider::Ours => (HELP_OURS_AFTER, 1),
            Provider::Galera => (HELP_AFTER, 6),
        };
        self.machines.iter().for_each(|machines| machines.repair());
        let logs: Vec<usize> = self.sandbox.nodes().map(|node| log_of(node).len()).collect();
        let mut deadline = Instant::now() + WAIT_TIMEOUT;
        let mut help_at = Instant::now() + help_after;
        let mut helps = 0;
        loop {
            let start_timeout = (self.provider == Provider::Galera).then_some(GALERA_START_TIMEOUT);
            let patience = self.patience.clone();
            let trouble = patience.with(start_timeout, || self.sandbox.nodes().find_map(|node| back(node).err()));
            if self.has_small_logs {
                self.restart_those_that_left();
            }
            if self.provider == Provider::Galera && self.nobody_can_be_joined() {
                // A start would wait in vain.
                self.help(None);
            }
            let trouble = trouble.or_else(|| patience.with(start_timeout, || self.start_down()).err());
            if self.machines.is_some() {
                self.empty_damaged(&logs);
            }
            // Not before: a node that was isolated for a moment may not have noticed.
            if self.is_whole() {
                return;
            }
            if Instant::now() > help_at {
                self.help(trouble);
                helps += 1;
                let runs = |node: Node<'_>| node.state() == State::Running;
                if helps > 3 && self.provider == Provider::Galera && self.sandbox.nodes().any(runs) {
                    // What an operator does whose single nodes do not come back.
                    self.kill_all();
                }
                if helps > 1 && self.provider == Provider::Galera {
                    self.empty_those_that_are_lost();
                }
                help_at = Instant::now() + help_after;
                // The start before may have waited for longer than this time. What was helped gets it once more.
                deadline = if helps <= most_helps { Instant::now() + WAIT_TIMEOUT } else { deadline };
            }
            assert!(Instant::now() < deadline, "the cluster does not come back:\n{}", self.statuses());
            thread::sleep(POLL_INTERVAL);
        }
    }

    /// A crash after definitions that found no room can leave what InnoDB refuses to recover, without a cluster too. Then
    /// its data folder is emptied, as docs/provider.md says, and the node joins as a new one.
    fn empty_if_damaged(&mut self, node: Node<'_>) {
        let Err(error) = self.sandbox.start() else { return };
        if error.to_string().contains("InnoDB: Plugin initialization aborted") {
            eprintln!("{}'s storage engine does not recover:\n{error}", node.name());
            self.empty(node);
        }
    }

    /// What the storage engine of a node that is down calls damaged since its log had these lengths, it joins without. Its
    /// data folder is kept for who wants to know why.
    fn empty_damaged(&mut self, logs: &[usize]) {
        let sandbox = self.sandbox;
        for (node, length) in sandbox.nodes().zip(logs) {
            let is_damaged = |log: String| log.get(*length..).is_some_and(|since| since.contains(DAMAGED_HISTORY));
            if node.state() == State::Crashed && is_damaged(log_of(node)) {
                let kept = env::temp_dir().join(format!("hortator-damaged-{}-{}", std::process::id(), node.name()));
                let copied = Command::new("cp").arg("-a").arg(node.data_dir()).arg(&kept).status();
                eprintln!("{}'s storage engine is damaged: {} ({copied:?})", node.name(), kept.display());
                self.empty(node);
            }
        }
    }

    /// The last step of an operator: nodes that help did not bring back join as new ones.
    fn empty_those_that_are_lost(&mut self) {
        let is_synced = |node: &Node<'_>| node.wsrep_status().is_some_and(|status| status.is_synced());
        let sandbox = self.sandbox;
        if sandbox.nodes().any(|node| is_synced(&node)) {
            // Help has ended them.
            for node in sandbox.nodes().filter(|node| matches!(node.state(), State::Crashed | State::Stopped)) {
                self.empty(node);
            }
        }
    }

    /// Removes the data of a node that is down.
    fn empty(&mut self, node: Node<'_>) {
        for entry in fs::read_dir(node.data_dir()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
        }
        self.done.emptied += 1;
    }

    /// What the message of a running node asks for that needs entries which no log holds any more.
    fn restart_those_that_left(&mut self) {
        let has_left = |node: &Node<'_>| {
            node.wsrep_status().is_some_and(|status| status.cluster.as_deref() == Some("Disconnected"))
        };
        for node in self.sandbox.nodes().filter(has_left) {
            node.kill().unwrap();
            self.done.restarted += 1;
        }
    }

    /// Nodes are down, and those that run have no quorum: they wait for each other.
    fn nobody_can_be_joined(&self) -> bool {
        let states: Vec<State> = self.sandbox.nodes().map(Node::state).collect();
        let has = |wanted: &[State]| states.iter().any(|state| wanted.contains(state));
        let is_primary = |node: Node<'_>| node.wsrep_status().is_some_and(|status| status.is_primary());
        has(&[State::Crashed, State::Stopped]) && has(&[State::Running]) && !self.sandbox.nodes().any(is_primary)
    }

    fn start_down(&self) -> Result<(), hortator_sandbox::Error> {
        if self.sandbox.nodes().any(|node| matches!(node.state(), State::Crashed | State::Stopped)) {
            return self.sandbox.start();
        }
        Ok(())
    }

    /// Recovers the cluster as an operator would: restarts the nodes that have not recovered.
    fn help(&mut self, trouble: Option<hortator_sandbox::Error>) {
        self.done.helped += 1;
        let trouble = trouble.map_or(String::new(), |error| error.to_string());
        eprintln!("the cluster is helped: {trouble}\n{}", self.statuses());
        let is_lost = |node: &Node<'_>| !node.wsrep_status().is_some_and(|status| status.is_synced());
        self.sandbox.nodes().filter(is_lost).for_each(|node| node.kill().unwrap());
        if self.sandbox.nodes().all(|node| matches!(node.state(), State::Crashed | State::Stopped)) {
            self.crashed();
        }
    }

    fn is_whole(&self) -> bool {
        let size = NODES.to_string();
        self.sandbox.nodes().all(|node| {
            node.wsrep_status().is_some_and(|status| status.is_synced() && status.size.as_ref() == Some(&size))
        })
    }

    fn statuses(&self) -> String {
        let line = |node: Node<'_>| format!("{} {} {:?}", node.name(), node.state(), node.wsrep_status());
        self.sandbox.nodes().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn log_of(node: Node<'_>) -> String {
    String::from_utf8_lossy(&fs::read(node.error_log()).unwrap_or_default()).into_owned()
}

fn set_option(node: Node<'_>, option: &str) {
    set_options(node, option);
}

/// Lets a running node take part again.
fn back(node: Node<'_>) -> Result<(), hortator_sandbox::Error> {
    if node.state() == State::Paused {
        node.resume()?;
    }
    if node.is_isolated() {
        node.heal()?;
    }
    Ok(())
}
