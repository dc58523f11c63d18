//! The servers that an experiment compares: one server, or a cluster on this machine.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hortator_sandbox::Topology;

use crate::equal_settings::EqualSettings;
use crate::nodes::{CLUSTER_SETTINGS, Nodes};
use crate::page::ContenderNote;
use crate::provider::contender::COMMON_SETTINGS;
use crate::provider::{Contender, Durability};
use crate::server::SETTINGS;
use crate::{Error, options};

/// The setting that every deployment has its own value of.
const FLUSH: &str = "innodb_flush_log_at_trx_commit";

/// Servers of one kind. A commit is on disk before it is confirmed, everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deployment {
    /// One server without a provider.
    Alone,
    /// So many nodes with the installed Galera.
    Galera(usize),
    /// So many nodes with Hortator's provider.
    Hortator(usize),
}

impl fmt::Display for Deployment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone => f.write_str("alone"),
            Self::Galera(nodes) => write!(f, "G{nodes}"),
            Self::Hortator(nodes) => write!(f, "H{nodes}"),
        }
    }
}

impl Deployment {
    /// A server alone, and one node and three nodes of each provider.
    pub const ALL: [Self; 5] = [Self::Alone, Self::Galera(1), Self::Galera(3), Self::Hortator(1), Self::Hortator(3)];

    /// The deployment of this name, as `G3`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deployment| deployment.to_string() == name)
    }

    /// The number of servers.
    #[must_use]
    pub fn nodes(self) -> usize {
        match self {
            Self::Alone => 1,
            Self::Galera(nodes) | Self::Hortator(nodes) => nodes,
        }
    }

    /// Its kind and its promise, for a report.
    #[must_use]
    pub fn note(self) -> ContenderNote {
        let (provider, flushed) = match self {
            Self::Alone => ("No provider", "flush 1"),
            Self::Galera(_) => ("Galera", "flush 1 on each node"),
            Self::Hortator(_) => ("Hortator's provider", "log.sync=yes, flush 0"),
        };
        let (nodes, lost) = match self.nodes() {
            1 => ("one server".to_owned(), "a crash of the server"),
            nodes => (format!("{nodes} nodes on this machine"), "the loss of any minority of the nodes"),
        };
        let (description, survives) = (format!("{provider}, {nodes}."), format!("{lost} and a power cut: {flushed}"));
        ContenderNote { name: self.to_string(), description, survives }
    }

    fn server(self) -> Contender {
        match self {
            Self::Alone => Contender::NoProvider,
            Self::Galera(_) => Contender::Galera,
            Self::Hortator(_) => Contender::Hortator,
        }
    }

    pub(crate) fn topology(self) -> Topology {
        self.server().topology(self.nodes())
    }

    /// Starts its servers on empty data.
    pub(crate) fn start(self, stop: &Arc<AtomicBool>) -> Result<Nodes, Error> {
        self.start_with(Durability::Synced, &[], stop)
    }

    /// The settings of its servers beyond [`SETTINGS`].
    pub(crate) fn server_settings(self, durability: Durability) -> Vec<(&'static str, &'static str)> {
        let appliers: &[_] = if self.nodes() > 1 { &CLUSTER_SETTINGS } else { &[] };
        [&COMMON_SETTINGS, appliers, self.server().settings(durability)].concat()
    }

    /// The same with a durability. The further settings override all others.
    pub(crate) fn start_with(
        self,
        durability: Durability,
        further: &[(&'static str, &'static str)],
        stop: &Arc<AtomicBool>,
    ) -> Result<Nodes, Error> {
        let further = [&self.server_settings(durability)[..], further].concat();
        Nodes::start(self.topology(), &further, stop)
    }
}

/// Those of the deployments whose programs this machine has, and a line for each of the others.
pub(crate) fn installed(wanted: &[Deployment]) -> Result<(Vec<Deployment>, Vec<String>), Error> {
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    for deployment in wanted {
        match options::builder(deployment.topology()).check_installed() {
            Ok(()) => found.push(*deployment),
            Err(reason) => left_out.push(format!("{deployment} is left out: {reason}")),
        }
    }
    if found.is_empty() {
        return Err(Error::Answer(format!("there is nothing to measure: {}", left_out.join("; "))));
    }
    Ok((found, left_out))
}

/// The settings of all servers, for a report.
pub(crate) fn settings() -> Vec<String> {
    let common = SETTINGS.iter().filter(|(name, _)| *name != FLUSH).chain(&COMMON_SETTINGS);
    let mut settings: Vec<String> = common.map(|(name, value)| format!("{name}={value}")).collect();
    settings.extend(CLUSTER_SETTINGS.iter().map(|(name, value)| format!("{name}={value} on three nodes")));
    settings.push(format!("no binary log; \"flush\" is {FLUSH}"));
    settings
}

/// The servers of the deployment that is measured at the moment. Those before it end first.
#[derive(Debug, Default)]
pub(crate) struct Current {
    running: Option<((Deployment, Durability), Result<Nodes, String>)>,
    settings: EqualSettings,
    /// Of servers, providers and programs, each once.
    pub(crate) versions: Vec<String>,
}

impl Current {
    /// The servers of a deployment whose commits are on disk. If they are new, `prepare` comes first; servers that failed once
    /// are not tried again.
    pub(crate) fn nodes(
        &mut self,
        deployment: Deployment,
        stop: &Arc<AtomicBool>,
        say: &mut dyn FnMut(&str),
        prepare: impl FnOnce(&Nodes) -> Result<(), Error>,
    ) -> Result<&Nodes, Error> {
        self.nodes_of(deployment, Durability::Synced, stop, say, prepare)
    }

    /// The same with a durability.
    pub(crate) fn nodes_of(
        &mut self,
        deployment: Deployment,
        durability: Durability,
        stop: &Arc<AtomicBool>,
        say: &mut dyn FnMut(&str),
        prepare: impl FnOnce(&Nodes) -> Result<(), Error>,
    ) -> Result<&Nodes, Error> {
        let wanted = (deployment, durability);
        if self.running.as_ref().is_none_or(|(running, _)| *running != wanted) {
            self.running = None;
            say(&format!("{deployment}: starting"));
            let started = deployment.start_with(durability, &[], stop).and_then(|nodes| {
                self.take_versions(&nodes)?;
                self.settings.check(&deployment.to_string(), &nodes)?;
                prepare(&nodes)?;
                Ok(nodes)
            });
            let kept = match started {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                started => started.map_err(|error| format!("{deployment} did not start: {error}")),
            };
            self.running = Some((wanted, kept));
        }
        match &self.running {
            Some((_, Ok(nodes))) => Ok(nodes),
            Some((_, Err(reason))) => Err(Error::Answer(reason.clone())),
            None => Err(Error::Answer(format!("{deployment} did not start"))),
        }
    }

    /// Ends servers on which a run failed, so that the next run starts new ones; their error logs go to the folder.
    pub(crate) fn give_up(&mut self, folder: &Path, say: &mut dyn FnMut(&str)) {
        if let Some((_, Ok(nodes))) = &self.running {
            match nodes.copy_error_logs(folder) {
                Ok(()) => say(&format!("the nodes' error logs are in {}", folder.display())),
                Err(error) => say(&format!("cannot copy the nodes' error logs: {error}")),
            }
            self.running = None;
        }
    }

    fn take_versions(&mut self, nodes: &Nodes) -> Result<(), Error> {
        for version in nodes.versions()? {
            if !self.versions.contains(&version) {
                self.versions.push(version);
            }
        }
        Ok(())
    }
}
