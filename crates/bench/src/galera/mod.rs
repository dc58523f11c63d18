//! The dump of the demo loaded into a Galera cluster on one machine: the client and `hortator load`, until all nodes
//! have every row.
//!
//! As in [`crate::experiment`], each run loads into an empty schema on idle servers, the rounds interleave the
//! contenders, and the states are compared: here those of all nodes, with the state that the client left on the first
//! node. The same cores apply every row on each node, so the lower bound is the work of as many single servers; one
//! load into a single server measures it.

mod contenders;
mod report;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hortator_check::state::{self, State};
use hortator_sandbox::Topology;

use crate::employees::{self, Dump, SCHEMA};
use crate::experiment::Verdict;
use crate::measure::{self, Usage};
use crate::nodes::{CLUSTER_SETTINGS, Nodes};
use crate::server::Server;
use crate::{Error, server_copy};

pub use contenders::Contender;
pub use report::{markdown, table};

/// The parameters of the experiment.
#[derive(Debug)]
pub struct Experiment {
    /// Runs of each contender.
    pub rounds: usize,
    /// The dump's size; 1 is all of the sample's rows.
    pub scale: f64,
    /// Nodes of the cluster.
    pub nodes: usize,
    /// Connections of `hortator load`; None for its default.
    pub threads: Option<usize>,
    /// The folder of the dump (kept for later experiments) and of the logs.
    pub folder: PathBuf,
    /// This program, to run `load` with.
    pub hortator: PathBuf,
    /// Set to end the experiment.
    pub stop: Arc<AtomicBool>,
}

/// One timed run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The contender.
    pub contender: Contender,
    /// From the start to the program's end.
    pub program: Duration,
    /// From the start until every node had every row.
    pub all: Duration,
    /// The resources of the program.
    pub loader: Usage,
    /// CPU time of all servers together during the run.
    pub server_cpu: Duration,
    /// CPU time of everything else on the machine during the run.
    pub other_cpu: Duration,
    /// The time for which flow control stopped the cluster.
    pub paused: Duration,
}

/// The result of the experiment.
#[derive(Debug)]
pub struct Outcome {
    /// The loaded dump.
    pub dump: Dump,
    /// Nodes of the cluster.
    pub nodes: usize,
    /// Every timed run, in order of time.
    pub runs: Vec<Run>,
    /// The versions of the server and the programs.
    pub versions: Vec<String>,
    /// Whether every contender left, on every node, the state that the client left on the first.
    pub verdict: Verdict,
}

impl Experiment {
    /// Runs the experiment, and calls `say` with a line for each step.
    ///
    /// # Errors
    /// Any [`Error`]; the servers are removed then.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        if crate::contenders::version("mariadb").is_none() {
            return Err(Error::Missing { program: "mariadb", remedy: "on Debian: apt-get install mariadb-client" });
        }
        fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        say(&format!("dump: generating it, or reusing it, in {}", self.folder.display()));
        let dump = employees::cached(&self.folder, self.scale)?;
        say(&format!("dump: {} rows, {} MB, checksum {:032x}", dump.rows, dump.bytes / 1_000_000, dump.checksum));

        say(&format!("servers: starting a cluster of {} nodes and a single server", self.nodes));
        let cluster = Nodes::start(Topology::Galera(self.nodes), &CLUSTER_SETTINGS, &self.stop)?;
        let single = Server::temporary(Arc::clone(&self.stop))?;
        let mut versions = vec![format!("server {}", single.connect()?.version().text), cluster.provider()?];
        versions.extend(crate::contenders::version("mariadb"));
        versions.extend(self.hortator.to_str().and_then(crate::contenders::version));

        let mut rounds = Rounds {
            of: self,
            dump: &dump,
            cluster: &cluster,
            single: &single,
            runs: Vec::new(),
            first: None,
            rows: 0,
        };
        say("warming up: one load with the client into each");
        rounds.load(Contender::Client)?;
        rounds.load(Contender::Single)?;
        let mut differences = Vec::new();
        for round in 0..self.rounds {
            let mut order = Contender::ALL.to_vec();
            order.rotate_left(round % Contender::ALL.len());
            if round == 0 {
                // The first round begins with the baseline.
                order = Contender::ALL.to_vec();
            }
            for contender in order {
                say(&format!("round {}/{}: {}", round + 1, self.rounds, contender.title()));
                let run = rounds.run(contender)?;
                say(&format!("  until all nodes had all rows: {:.2} s", run.all.as_secs_f64()));
                if round == 0 && contender != Contender::Single {
                    differences.extend(rounds.compare(contender)?);
                }
                if !differences.is_empty() {
                    let verdict = Verdict::Differs(differences);
                    return Ok(Outcome { runs: rounds.runs, dump, nodes: self.nodes, versions, verdict });
                }
            }
        }
        let definitions = rounds.first.as_ref().map_or(0, |state| state.counts().values().sum());
        let verdict = Verdict::Same { rows: rounds.rows, definitions };
        Ok(Outcome { runs: rounds.runs, dump, nodes: self.nodes, versions, verdict })
    }
}

struct Rounds<'a> {
    of: &'a Experiment,
    dump: &'a Dump,
    cluster: &'a Nodes,
    single: &'a Server,
    runs: Vec<Run>,
    /// The state that the client left on the first node.
    first: Option<State>,
    rows: u64,
}

impl Rounds<'_> {
    /// Runs the program of a contender.
    fn load(&self, contender: Contender) -> Result<Usage, Error> {
        let mut command =
            contender.command(&self.of.hortator, self.of.threads, self.cluster, self.single, self.dump)?;
        command.current_dir(&self.dump.folder);
        let log = self.of.folder.join(format!("galera-{}.log", contender.title().replace([' ', '='], "-")));
        measure::run(&mut command, &log, &self.of.stop)
    }

    fn run(&mut self, contender: Contender) -> Result<Run, Error> {
        let is_single = contender == Contender::Single;
        if is_single {
            self.single.quiesce_without(SCHEMA)?;
        } else {
            self.cluster.quiesce_without(SCHEMA)?;
        }
        let machine_cpu = || measure::machine_cpu_time().map_err(Error::io("reading the machine's CPU time"));
        let server_cpu = || if is_single { self.single.cpu_time() } else { self.cluster.cpu_time() };
        let (cpu_before, machine_before) = (server_cpu()?, machine_cpu()?);
        let paused_before = self.cluster.paused()?;
        let loader = self.load(contender)?;
        // The wall time of a program ends with the program, without our own bookkeeping.
        let all = if is_single {
            loader.wall
        } else {
            let at_the_end = Instant::now();
            self.cluster.wait_until_applied()?;
            loader.wall + at_the_end.elapsed()
        };
        let server_cpu = server_cpu()? - cpu_before;
        let other_cpu = (machine_cpu()? - machine_before).saturating_sub(server_cpu + loader.cpu);
        let paused = self.cluster.paused()?.saturating_sub(paused_before);
        let run = Run { contender, program: loader.wall, all, loader, server_cpu, other_cpu, paused };
        self.runs.push(run.clone());
        let mut connection = if is_single { self.single.connect()? } else { self.cluster.connect(0)? };
        let rows = server_copy::loaded_rows(&mut connection)?;
        if rows != self.dump.rows {
            return Err(Error::Incomplete { contender: contender.title(), rows, expected: self.dump.rows });
        }
        Ok(run)
    }

    /// The differences of all nodes from the state that the client left on the first.
    fn compare(&mut self, contender: Contender) -> Result<Vec<String>, Error> {
        let mut differences = Vec::new();
        for node in 0..self.of.nodes {
            let described = state::describe(&mut self.cluster.connect(node)?, SCHEMA);
            let described = described.map_err(Error::server("reading the state"))?;
            let Some(first) = &self.first else {
                self.rows = described.row_count();
                self.first = Some(described);
                continue;
            };
            let found = first.differences(&described);
            differences
                .extend(found.into_iter().map(|found| format!("{}, node {}: {found}", contender.title(), node + 1)));
        }
        Ok(differences)
    }
}
