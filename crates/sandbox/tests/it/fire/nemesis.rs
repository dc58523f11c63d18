//! The faults, and the recovery of the nodes.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Node, Sandbox, State};

use super::Provider;
use super::work::Shared;
use crate::kills::dice::Dice;

/// The time limit for a cluster to be complete again.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(600);
/// After this time the nodes of an incomplete cluster are killed and started: Galera often needs it, ours never.
const HELP_AFTER: Duration = Duration::from_secs(60);
/// The same for ours, also on a busy machine.
const HELP_OURS_AFTER: Duration = Duration::from_secs(300);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Each once in every round, in an order from the seed.
const FAULTS: [Fault; 12] = [
    Fault::KillOne,
    Fault::KillAll,
    Fault::KillInTurn,
    Fault::KillOneByOne,
    Fault::StopOne,
    Fault::KillOneStopAnother,
    Fault::TransferState,
    Fault::PauseOne,
    Fault::PauseTwo,
    Fault::IsolateOne,
    Fault::IsolateAll,
    Fault::IsolateOneAndKillAll,
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// SIGKILL.
    KillOne,
    /// All within a moment.
    KillAll,
    /// Each node is killed and comes back, one after the other.
    KillInTurn,
    /// Each node is killed while those before it are still down.
    KillOneByOne,
    /// A clean shutdown.
    StopOne,
    /// One node is killed, another is shut down at the same time: the third continues.
    KillOneStopAnother,
    /// A node that is down loses `grastate.dat`, and receives all tables.
    TransferState,
    /// SIGSTOP.
    PauseOne,
    /// So that no majority is left.
    PauseTwo,
    IsolateOne,
    /// All nodes from each other.
    IsolateAll,
    IsolateOneAndKillAll,
}

/// The results of the faults.
#[derive(Debug, Default)]
pub struct Done {
    faults: BTreeMap<Fault, usize>,
    /// The number of times that no node was left.
    pub full_crashes: usize,
    /// The number of times that the cluster did not recover by itself.
    pub helped: usize,
    /// The times from the end of each fault until all nodes were back.
    pub returns: Vec<Duration>,
}

impl Done {
    pub fn faults(&self) -> String {
        let word = |fault: &Fault| match fault {
            Fault::KillOne => "kill one",
            Fault::KillAll => "kill all",
            Fault::KillInTurn => "kill in turn",
            Fault::KillOneByOne => "kill one by one",
            Fault::StopOne => "stop",
            Fault::KillOneStopAnother => "kill one and stop another",
            Fault::TransferState => "state transfer",
            Fault::PauseOne => "pause one",
            Fault::PauseTwo => "pause two",
            Fault::IsolateOne => "isolate one",
            Fault::IsolateAll => "isolate all",
            Fault::IsolateOneAndKillAll => "isolate one and kill all",
        };
        self.faults.iter().map(|(fault, count)| format!("{count} × {}", word(fault))).collect::<Vec<_>>().join("; ")
    }
}

pub struct Nemesis<'a> {
    sandbox: &'a Sandbox,
    provider: Provider,
    dice: Dice,
    shared: &'a Shared,
    pub done: Done,
}

impl<'a> Nemesis<'a> {
    pub fn new(sandbox: &'a Sandbox, provider: Provider, dice: Dice, shared: &'a Shared) -> Nemesis<'a> {
        Nemesis { sandbox, provider, dice, shared, done: Done::default() }
    }

    /// Injects one fault after the other for that long; in the end all nodes are back.
    pub fn rage(&mut self, fire: Duration) {
        let end = Instant::now() + fire;
        let mut left = Vec::new();
        while Instant::now() < end {
            if left.is_empty() {
                left = FAULTS.to_vec();
                // Galera's nodes that all crash while one has no grastate.dat need an operator for minutes.
                left.retain(|fault| *fault != Fault::TransferState || self.provider == Provider::Ours);
            }
            let next = usize::try_from(self.dice.below(left.len() as i64)).unwrap();
            let fault = left.swap_remove(next);
            self.inflict(fault);
            *self.done.faults.entry(fault).or_insert(0) += 1;
            let began = Instant::now();
            self.bring_back();
            let took = began.elapsed();
            self.done.returns.push(took);
            let now = self.shared.elapsed().as_secs_f64();
            eprintln!("{now:.1} s: all nodes are back after {:.1} s", took.as_secs_f64());
            self.wait(1000, 4000);
        }
    }

    fn inflict(&mut self, fault: Fault) {
        let node = self.sandbox.node(usize::try_from(self.dice.below(super::NODES as i64)).unwrap());
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
                self.sandbox.node(node.number() % super::NODES).stop().unwrap();
                self.wait(1000, 5000);
            }
            Fault::TransferState => {
                if self.dice.chance(50) { node.stop() } else { node.kill() }.unwrap();
                fs::remove_file(node.data_dir().join("grastate.dat")).unwrap();
                self.wait(200, 2000);
            }
            Fault::PauseOne => {
                node.pause().unwrap();
                self.wait(500, 9000);
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
                for next in 0..super::NODES {
                    self.sandbox.node((first + next) % super::NODES).kill().unwrap();
                    self.wait(0, 1500);
                    self.bring_back();
                    self.wait(0, 1500);
                }
            }
            Fault::KillOneByOne => {
                let first = node.number();
                for next in 0..super::NODES {
                    self.sandbox.node((first + next) % super::NODES).kill().unwrap();
                    self.wait(0, 1500);
                }
                self.crashed();
            }
        }
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
        let help_after = match self.provider {
            Provider::Ours => HELP_OURS_AFTER,
            Provider::Galera => HELP_AFTER,
        };
        let mut deadline = Instant::now() + WAIT_TIMEOUT;
        let mut help_at = Instant::now() + help_after;
        let mut helps = 0;
        loop {
            let trouble = self.sandbox.nodes().find_map(|node| back(node).err());
            let trouble = trouble.or_else(|| self.start_down().err());
            // Not before: a node that was isolated for a moment may not have noticed.
            if self.is_whole() {
                return;
            }
            if Instant::now() > help_at {
                self.help(trouble);
                help_at = Instant::now() + help_after;
                helps += 1;
                // The start before may have waited for longer than this time. What was helped gets it once more.
                deadline = if helps == 1 { Instant::now() + WAIT_TIMEOUT } else { deadline };
            }
            assert!(Instant::now() < deadline, "the cluster does not come back:\n{}", self.statuses());
            thread::sleep(POLL_INTERVAL);
        }
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
        if self.sandbox.nodes().all(|node| node.state() == State::Crashed) {
            self.crashed();
        }
    }

    fn is_whole(&self) -> bool {
        let size = super::NODES.to_string();
        self.sandbox.nodes().all(|node| {
            node.wsrep_status().is_some_and(|status| status.is_synced() && status.size.as_ref() == Some(&size))
        })
    }

    fn statuses(&self) -> String {
        let line = |node: Node<'_>| format!("{} {} {:?}", node.name(), node.state(), node.wsrep_status());
        self.sandbox.nodes().map(line).collect::<Vec<_>>().join("\n")
    }
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
