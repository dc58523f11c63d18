//! One file: its statements on the source, and what target and replica make of them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::agent::{Agent, Progress};
use super::arguments::Arguments;
use super::replica;
use super::rules::{is_run, points};
use super::servers::{Picture, Role, start};
use super::sessions::Sessions;
use crate::mtr_as_dumps::dump::Statement;
use crate::mtr_as_dumps::server::Server;

/// Comparisons of a file besides the one at its end.
const POINTS_LIMIT: usize = 6;
/// Transactions of a file that are passed over.
const SKIPS_LIMIT: usize = 25;

/// What a file came to.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It has nothing to run, or the servers did not bear it.
    Skipped(String),
    /// The target was equal at all places; so many statements have succeeded.
    Equal(usize),
    /// It was not.
    Unequal { ours: Found, replica: Found },
}

/// What was found at a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// What has stopped it, each passed over.
    pub(super) stops: Vec<String>,
    /// What differs from the source before anything was passed over.
    pub(super) differences: Vec<String>,
    /// Why it did not come to the end.
    pub(super) end: Option<String>,
}

impl Found {
    pub(super) fn is_equal(&self) -> bool {
        *self == Found::default()
    }
}

/// Who applies the source's log.
enum Applier<'a> {
    Hortator(&'a Agent),
    Stock { source: &'a Server },
}

impl Applier<'_> {
    fn catch_up(&self, target: &Server) -> anyhow::Result<Progress> {
        match self {
            Applier::Hortator(agent) => agent.catch_up(),
            Applier::Stock { source } => replica::catch_up(target, source),
        }
    }

    fn skip(&self, target: &Server) -> anyhow::Result<bool> {
        match self {
            Applier::Hortator(agent) => agent.skip(),
            Applier::Stock { .. } => Ok(replica::skip(target).is_ok()),
        }
    }
}

/// Servers of one format of the log.
pub(super) struct Trial {
    format: String,
    suites: PathBuf,
    hortator: PathBuf,
    limit: Duration,
    source: Server,
    target: Server,
    replica: Option<Server>,
}

impl Trial {
    pub(super) fn new(arguments: &Arguments, suites: &Path, hortator: &Path, format: &str) -> anyhow::Result<Trial> {
        Ok(Trial {
            format: format.to_owned(),
            suites: suites.to_owned(),
            hortator: hortator.to_owned(),
            limit: arguments.timeout,
            source: start(Role::Source, format, suites)?,
            target: start(Role::Target, format, suites)?,
            replica: None,
        })
    }

    pub(super) fn format(&self) -> &str {
        &self.format
    }

    /// Runs a file; where the target does not end equal, again with a replica.
    pub(super) fn run(&mut self, statements: &[Statement]) -> anyhow::Result<Verdict> {
        let (ours, _, succeeded) = self.once(statements, false)?;
        if ours.is_equal() {
            return Ok(Verdict::Equal(succeeded));
        }
        let (again, replica, succeeded) = self.once(statements, true)?;
        if again.is_equal() && ours.stops.is_empty() && ours.end.is_none() {
            // Something was still under way at the source.
            return Ok(Verdict::Equal(succeeded));
        }
        let ours = if again.is_equal() { ours } else { again };
        Ok(Verdict::Unequal { ours, replica })
    }

    fn once(&mut self, statements: &[Statement], has_replica: bool) -> anyhow::Result<(Found, Found, usize)> {
        self.source.reset().context("the source")?;
        self.source.connect()?.execute(b"RESET MASTER")?;
        self.target.reset().context("the target")?;
        let mut stock = self.replica.take();
        if has_replica {
            let mut server = match stock {
                Some(server) => server,
                None => start(Role::Replica, &self.format, &self.suites)?,
            };
            server.reset().context("the replica")?;
            replica::start(&server, &self.source)?;
            stock = Some(server);
        }
        let agent = Agent::start(&self.hortator, &[self.source.socket()], &self.target.socket())?;
        let replica = if has_replica { stock.as_ref() } else { None };
        let found = self.stream(statements, &agent, replica);
        drop(agent);
        if let (true, Some(server)) = (has_replica, &mut stock)
            && replica::stop(server).is_err()
        {
            server.spoil();
        }
        self.replica = stock;
        if found.is_err() {
            self.source.spoil();
            self.target.spoil();
        }
        found
    }

    fn stream(
        &self,
        statements: &[Statement],
        agent: &Agent,
        replica: Option<&Server>,
    ) -> anyhow::Result<(Found, Found, usize)> {
        let (mut ours, mut theirs) = (Found::default(), Found::default());
        let statements: Vec<&Statement> = statements.iter().filter(|statement| is_run(statement)).collect();
        let points = points(&statements, POINTS_LIMIT);
        let mut sessions = Sessions::new(&self.source);
        let deadline = Instant::now() + self.limit;
        let compare = |ours: &mut Found, theirs: &mut Found| -> anyhow::Result<()> {
            self.compare(&Applier::Hortator(agent), &self.target, ours)?;
            match replica {
                Some(server) => self.compare(&Applier::Stock { source: &self.source }, server, theirs),
                None => Ok(()),
            }
        };
        for (index, statement) in statements.iter().enumerate() {
            if Instant::now() > deadline || ours.end.is_some() {
                break;
            }
            if points.contains(&index) {
                compare(&mut ours, &mut theirs)?;
            }
            match statement.text.is_empty() {
                true => sessions.end(&statement.connection),
                false => sessions.run(&statement.connection, &statement.text)?,
            }
        }
        let succeeded = sessions.end_all()?;
        compare(&mut ours, &mut theirs)?;
        Ok((ours, theirs, succeeded))
    }

    /// Lets a target catch up, passes over what stops it, and compares it with the source.
    fn compare(&self, applier: &Applier<'_>, target: &Server, found: &mut Found) -> anyhow::Result<()> {
        while found.end.is_none() {
            match applier.catch_up(target)? {
                Progress::CaughtUp => break,
                Progress::Late(said) => found.end = Some(said),
                Progress::Stopped(said) => {
                    found.stops.push(said);
                    if found.stops.len() > SKIPS_LIMIT {
                        found.end = Some(format!("{SKIPS_LIMIT} transactions were passed over"));
                    } else if !applier.skip(target)? {
                        found.end = Some("it cannot be passed over".to_owned());
                    }
                }
            }
        }
        // What is passed over differs.
        if found.end.is_some() || !found.stops.is_empty() {
            return Ok(());
        }
        let mut differences = Picture::take(&self.source).differences(&Picture::take(target));
        if !differences.is_empty() {
            // Something may have been under way at the source.
            applier.catch_up(target)?;
            differences = Picture::take(&self.source).differences(&Picture::take(target));
        }
        differences.retain(|difference| !found.differences.contains(difference));
        found.differences.extend(differences);
        Ok(())
    }
}
