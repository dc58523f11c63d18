//! Loads a dump with the client and with Hortator, and tells real differences from chance.

use std::path::Path;
use std::thread;
use std::time::Duration;

use super::compare::{Difference, Load, differences, tell_order, wrong_status};
use super::dump::Dump;
use super::program::Program;
use super::server::Server;

/// Tables and connections that the first server has had before: the ids of two servers are not the same then.
const SKEW: usize = 7;

/// Two servers and what is loaded into them.
pub(super) struct Trial {
    first: Server,
    second: Server,
    hortator: Program,
    limit: Duration,
}

/// What a dump came to.
#[derive(Debug)]
pub(super) enum Verdict {
    /// The same, in so many statements with so many errors.
    Same,
    /// What differs each time.
    Differs {
        differences: Vec<Difference>,
        /// Whether a second load by Hortator differed too.
        is_certain: bool,
    },
    /// The client cannot load it.
    Skipped(String),
}

impl Trial {
    /// Starts both servers.
    pub(super) fn new(
        settings: &[(String, String)],
        suites: &Path,
        hortator: Program,
        limit: Duration,
    ) -> anyhow::Result<Trial> {
        let (first, second) = thread::scope(|scope| {
            let first = scope.spawn(|| Server::start(settings, suites, SKEW));
            let second = Server::start(settings, suites, 0);
            (first.join().expect("starting a server does not panic"), second)
        });
        Ok(Trial { first: first?, second: second?, hortator, limit })
    }

    /// Loads the dump with both, and again with what it takes to be certain.
    pub(super) fn run(&mut self, dump: &Dump) -> anyhow::Result<Verdict> {
        self.compare(dump, true)
    }

    /// The same without a second load by Hortator.
    pub(super) fn run_once(&mut self, dump: &Dump) -> anyhow::Result<Verdict> {
        self.compare(dump, false)
    }

    fn compare(&mut self, dump: &Dump, repeat: bool) -> anyhow::Result<Verdict> {
        let text = dump.text();
        let statements = dump.by_line();
        let limit = self.limit;
        let hortator = self.hortator.clone();
        let (client, ours) = thread::scope(|scope| {
            let first = &mut self.first;
            let client = scope.spawn(|| load(first, &Program::Client, &text, limit));
            // Slower here and there, and not to be called late for the first server's sake.
            let ours = load(&mut self.second, &hortator, &text, limit * 2);
            (client.join().expect("loading does not panic"), ours)
        });
        let (client, ours) = (client?, ours?);
        if client.outcome.is_late {
            return Ok(Verdict::Skipped(format!("the client takes longer than {} s", limit.as_secs())));
        }
        if client.left.is_down {
            return Ok(Verdict::Skipped("the client's server crashed".to_owned()));
        }
        let between = |one: &Load, other: &Load| differences(one, other, &statements);
        let mut found = between(&client, &ours);
        if found.is_empty() && wrong_status(&ours.outcome).is_none() {
            return Ok(Verdict::Same);
        }
        let mut chance = Vec::new();
        for server in [&mut self.second, &mut self.first].into_iter().take(if repeat { 2 } else { 1 }) {
            let again = load(server, &Program::Client, &text, limit)?;
            chance.extend(between(&client, &again));
            found.retain(|difference| !chance.iter().any(|other| difference.is_covered_by(other)));
            // What is one client's is as good as the other's.
            if found.is_empty() || between(&again, &ours).is_empty() {
                found.clear();
                break;
            }
        }
        let is_chance = |difference: &Difference| chance.iter().any(|other| difference.is_covered_by(other));
        tell_order(&mut found);
        found.extend(wrong_status(&ours.outcome));
        if found.is_empty() {
            return Ok(Verdict::Same);
        }
        if !repeat {
            return Ok(Verdict::Differs { differences: found, is_certain: true });
        }
        let ours = load(&mut self.second, &hortator, &text, limit * 2)?;
        let mut second = between(&client, &ours);
        second.retain(|difference| !is_chance(difference));
        let is_certain = !second.is_empty() || wrong_status(&ours.outcome).is_some();
        Ok(Verdict::Differs { differences: found, is_certain })
    }
}

fn load(server: &mut Server, program: &Program, dump: &[u8], limit: Duration) -> anyhow::Result<Load> {
    server.reset()?;
    let outcome = program.load(&server.socket(), dump, limit)?;
    let left = server.snapshot();
    if outcome.is_late || left.is_down {
        server.spoil();
    }
    Ok(Load { outcome, left })
}
