//! The dump of the demo into a Galera cluster on one machine: the client against `hortator load`, until all nodes have
//! every row.
//!
//! As in [`crate::experiment`], each run goes into an empty schema on servers at rest, the rounds interleave the ways, and
//! the states are compared: here those of all nodes, with what the client left on the first. Every row is paid for on each
//! node by the same cores, so the least that there is to pay is the work of as many single servers: one load into a single
//! server tells that.

mod report;
mod ways;

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

pub use report::{markdown, table};
pub use ways::Way;

/// What is to be done.
#[derive(Debug)]
pub struct Experiment {
    /// How often each way runs.
    pub rounds: usize,
    /// The dump's size; 1 is all of the sample's rows.
    pub scale: f64,
    /// Nodes of the cluster.
    pub nodes: usize,
    /// Connections of `hortator load`; its own choice when absent.
    pub threads: Option<usize>,
    /// Where the dump is made and found again, and where logs go.
    pub folder: PathBuf,
    /// This program, to run `load` with.
    pub hortator: PathBuf,
    /// Raised when the experiment is to end.
    pub stop: Arc<AtomicBool>,
}

/// One timed run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Which way.
    pub way: Way,
    /// From the start to the program's end.
    pub program: Duration,
    /// From the start until every node had every row.
    pub all: Duration,
    /// What the program took.
    pub loader: Usage,
    /// What the servers used meanwhile, together.
    pub server_cpu: Duration,
    /// What everything else on the machine used meanwhile.
    pub other_cpu: Duration,
    /// For how long flow control stopped the cluster.
    pub paused: Duration,
}

/// What came out.
#[derive(Debug)]
pub struct Outcome {
    /// What was loaded.
    pub dump: Dump,
    /// Nodes of the cluster.
    pub nodes: usize,
    /// Every timed run, in the order of time.
    pub runs: Vec<Run>,
    /// The versions of what took part.
    pub versions: Vec<String>,
    /// Whether every way left, on every node, the state that the client left on the first.
    pub verdict: Verdict,
}

impl Experiment {
    /// Does it all, with a line to `say` for each step.
    ///
    /// # Errors
    /// Any [`Error`]; the servers are gone then.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        if crate::ways::version("mariadb").is_none() {
            return Err(Error::Missing { program: "mariadb", remedy: "on Debian: apt-get install mariadb-client" });
        }
        fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        say(&format!("dump: making or finding it in {}", self.folder.display()));
        let dump = employees::cached(&self.folder, self.scale)?;
        say(&format!("dump: {} rows, {} MB, checksum {:032x}", dump.rows, dump.bytes / 1_000_000, dump.checksum));

        say(&format!("servers: starting a cluster of {} nodes and a single server", self.nodes));
        let cluster = Nodes::start(Topology::Galera(self.nodes), &CLUSTER_SETTINGS, &self.stop)?;
        let single = Server::temporary(Arc::clone(&self.stop))?;
        let mut versions = vec![format!("server {}", single.connect()?.version().text), cluster.provider()?];
        versions.extend(crate::ways::version("mariadb"));
        versions.extend(self.hortator.to_str().and_then(crate::ways::version));

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
        rounds.load(Way::Client)?;
        rounds.load(Way::Single)?;
        let mut differences = Vec::new();
        for round in 0..self.rounds {
            let mut order = Way::ALL.to_vec();
            order.rotate_left(round % Way::ALL.len());
            if round == 0 {
                // What the others are compared with.
                order = Way::ALL.to_vec();
            }
            for way in order {
                say(&format!("round {}/{}: {}", round + 1, self.rounds, way.title()));
                let run = rounds.run(way)?;
                say(&format!("  until all nodes had all rows: {:.2} s", run.all.as_secs_f64()));
                if round == 0 && way != Way::Single {
                    differences.extend(rounds.compare(way)?);
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
    /// What the client left on the first node.
    first: Option<State>,
    rows: u64,
}

impl Rounds<'_> {
    /// Runs the program of a way.
    fn load(&self, way: Way) -> Result<Usage, Error> {
        let mut command = way.command(&self.of.hortator, self.of.threads, self.cluster, self.single, self.dump)?;
        command.current_dir(&self.dump.folder);
        let log = self.of.folder.join(format!("galera-{}.log", way.title().replace([' ', '='], "-")));
        measure::run(&mut command, &log, &self.of.stop)
    }

    fn run(&mut self, way: Way) -> Result<Run, Error> {
        let is_single = way == Way::Single;
        if is_single {
            self.single.rest_without(SCHEMA)?;
        } else {
            self.cluster.rest_without(SCHEMA)?;
        }
        let machine_cpu = || measure::machine_cpu_time().map_err(Error::io("reading the machine's CPU time"));
        let server_cpu = || if is_single { self.single.cpu_time() } else { self.cluster.cpu_time() };
        let (cpu_before, machine_before) = (server_cpu()?, machine_cpu()?);
        let paused_before = self.cluster.paused()?;
        let loader = self.load(way)?;
        // A program's wall time ends with it, without our own bookkeeping.
        let all = if is_single {
            loader.wall
        } else {
            let at_the_end = Instant::now();
            self.cluster.wait_everywhere()?;
            loader.wall + at_the_end.elapsed()
        };
        let server_cpu = server_cpu()? - cpu_before;
        let other_cpu = (machine_cpu()? - machine_before).saturating_sub(server_cpu + loader.cpu);
        let paused = self.cluster.paused()?.saturating_sub(paused_before);
        let run = Run { way, program: loader.wall, all, loader, server_cpu, other_cpu, paused };
        self.runs.push(run.clone());
        let mut connection = if is_single { self.single.connect()? } else { self.cluster.connect(0)? };
        let rows = server_copy::loaded_rows(&mut connection)?;
        if rows != self.dump.rows {
            return Err(Error::Incomplete { way: way.title(), rows, expected: self.dump.rows });
        }
        Ok(run)
    }

    /// What differs on any node from what the client left on the first.
    fn compare(&mut self, way: Way) -> Result<Vec<String>, Error> {
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
            differences.extend(found.into_iter().map(|found| format!("{}, node {}: {found}", way.title(), node + 1)));
        }
        Ok(differences)
    }
}
