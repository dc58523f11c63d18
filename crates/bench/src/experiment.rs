//! The demo: one dump, loaded by several contenders in turn on one server, with times and a comparison of the results.
//!
//! Each run loads into an empty schema on an idle server, and the rounds interleave the contenders (each round begins
//! with another one), so that other load on the machine affects all alike. Row counts and state comparisons are not
//! part of the measured time. If a load leaves another state than the client's load, the experiment ends: its time has
//! no meaning.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hortator_check::state::{self, State};

use crate::contenders::{self, Contender, RunContext};
use crate::employees::{self, Dump, SCHEMA};
use crate::measure::{self, Usage};
use crate::server::Server;
use crate::{Error, server_copy};

/// The name of the sandbox with `keep`.
pub const KEPT_NAME: &str = "bench-employees";

/// The parameters of the experiment.
#[derive(Debug)]
pub struct Experiment {
    /// Runs of each contender.
    pub rounds: usize,
    /// The dump's size; 1 is all of the sample's rows.
    pub scale: f64,
    /// Connections of `hortator load`; None for its default.
    pub threads: Option<usize>,
    /// The contenders to run; the experiment skips and reports those whose program is not installed.
    pub contenders: Vec<Contender>,
    /// The folder of the dump (kept for later experiments) and of the logs.
    pub folder: PathBuf,
    /// Whether to keep the server as the sandbox [`KEPT_NAME`], with the last loaded schema.
    pub keep: bool,
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
    /// From the start to the last row.
    pub wall: Duration,
    /// The resources of the loading program; None for the server's own copy.
    pub loader: Option<Usage>,
    /// CPU time of the server during the run.
    pub server_cpu: Duration,
    /// CPU time of everything else on the machine during the run; if it is large, the times are not reliable.
    pub other_cpu: Duration,
}

/// The result of the experiment.
#[derive(Debug)]
pub struct Outcome {
    /// The loaded dump.
    pub dump: Dump,
    /// Every timed run, in order of time.
    pub runs: Vec<Run>,
    /// The versions of the server and the programs.
    pub versions: Vec<String>,
    /// The skipped contenders, with the reason.
    pub skipped: Vec<String>,
    /// Whether `hortator load` left the same state as the client.
    pub verdict: Verdict,
}

/// Whether two contenders left the same state.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One of the two did not run.
    NotCompared,
    /// All definitions and all rows are equal.
    Same {
        /// Rows compared.
        rows: u64,
        /// Definitions compared.
        definitions: usize,
    },
    /// The differences, one entry each.
    Differs(Vec<String>),
}

impl Experiment {
    /// Runs the experiment, and calls `say` with a line for each step.
    ///
    /// # Errors
    /// Any [`Error`]; the server is removed then, unless it is to be kept.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        let (contenders, skipped) = self.installed()?;
        fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        say(&format!("dump: generating it, or reusing it, in {}", self.folder.display()));
        let dump = employees::cached(&self.folder, self.scale)?;
        say(&format!("dump: {} rows, {} MB, checksum {:032x}", dump.rows, dump.bytes / 1_000_000, dump.checksum));

        say("server: starting");
        let server = if self.keep { Server::kept(KEPT_NAME, Arc::clone(&self.stop)) } else { self.temporary_server() }?;
        let context = RunContext {
            dump: &dump,
            hortator: &self.hortator,
            threads: self.threads,
            work: &self.folder,
            stop: &self.stop,
        };
        let versions = self.versions(&server, &contenders)?;
        self.warm_up(&context, &server, &contenders, say)?;

        let mut rounds = Rounds { context: &context, server: &server, runs: Vec::new(), states: Vec::new() };
        let mut verdict = Verdict::NotCompared;
        let mut states = 0;
        for round in 0..self.rounds {
            let mut order = contenders.clone();
            order.rotate_left(round % contenders.len());
            for contender in order {
                rounds.run(contender, &format!("round {}/{}: {}", round + 1, self.rounds, contender.title()), say)?;
                if rounds.states.len() > states {
                    states = rounds.states.len();
                    verdict = self.compare(&rounds, say)?;
                }
                if matches!(verdict, Verdict::Differs(_)) {
                    return Ok(Outcome { runs: rounds.runs, dump, versions, skipped, verdict });
                }
            }
        }
        context.clean_up()?;
        Ok(Outcome { runs: rounds.runs, dump, versions, skipped, verdict })
    }

    fn temporary_server(&self) -> Result<Server, Error> {
        Server::temporary(Arc::clone(&self.stop))
    }

    /// The contenders that can run here, and a line for each that cannot.
    fn installed(&self) -> Result<(Vec<Contender>, Vec<String>), Error> {
        if contenders::version("mariadb").is_none() {
            return Err(Error::Missing { program: "mariadb", remedy: "on Debian: apt-get install mariadb-client" });
        }
        let (mut contenders, mut skipped) = (self.contenders.clone(), Vec::new());
        if contenders.contains(&Contender::Myloader)
            && (contenders::version("myloader").is_none() || contenders::version("mydumper").is_none())
        {
            contenders.retain(|contender| *contender != Contender::Myloader);
            skipped.push("myloader: not installed (on Debian: apt-get install mydumper)".to_owned());
        }
        Ok((contenders, skipped))
    }

    fn versions(&self, server: &Server, contenders: &[Contender]) -> Result<Vec<String>, Error> {
        let mut versions = vec![format!("server {}", server.connect()?.version().text)];
        versions.extend(contenders::version("mariadb"));
        versions.extend(self.hortator.to_str().and_then(contenders::version));
        if contenders.contains(&Contender::Myloader) {
            versions.extend(contenders::version("myloader"));
        }
        Ok(versions)
    }

    /// Loads once with the client, untimed: afterwards the server's files have grown, and the rows exist for the
    /// server's own copy and for mydumper.
    fn warm_up(
        &self,
        context: &RunContext<'_>,
        server: &Server,
        contenders: &[Contender],
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        say("warming up: one load with the client");
        context.run(Contender::Client, server)?;
        if contenders.contains(&Contender::Myloader) {
            say("warming up: mydumper's directory for myloader");
            context.dump_for_myloader(server)?;
        }
        if contenders.contains(&Contender::ServerCopy) {
            server_copy::move_to_source(server)?;
        }
        Ok(())
    }

    /// Compares the latest recorded state with the first.
    fn compare(&self, rounds: &Rounds<'_>, say: &mut dyn FnMut(&str)) -> Result<Verdict, Error> {
        let [(first, one), .., (second, other)] = rounds.states.as_slice() else { return Ok(Verdict::NotCompared) };
        let mut differences = one.differences(other);
        if differences.is_empty() {
            let definitions = one.counts().values().sum();
            return Ok(Verdict::Same { rows: one.row_count(), definitions });
        }
        say(&format!(
            "the states differ: loading again with the {} into a second server, to find the rows",
            first.title()
        ));
        let beside = self.temporary_server()?;
        rounds.context.run(*first, &beside)?;
        let mut here = beside.connect()?;
        let mut there = rounds.server.connect()?;
        let rows = one.differing_rows(&mut here, other, &mut there);
        differences.extend(rows.map_err(Error::server("reading the rows that differ"))?);
        differences.insert(0, format!("first: {}, second: {}", first.title(), second.title()));
        Ok(Verdict::Differs(differences))
    }
}

/// The timed runs, and the state after the first run of each contender.
struct Rounds<'a> {
    context: &'a RunContext<'a>,
    server: &'a Server,
    runs: Vec<Run>,
    states: Vec<(Contender, State)>,
}

impl Rounds<'_> {
    fn run(&mut self, contender: Contender, heading: &str, say: &mut dyn FnMut(&str)) -> Result<(), Error> {
        self.server.quiesce_without(SCHEMA)?;
        let machine_cpu = || measure::machine_cpu_time().map_err(Error::io("reading the machine's CPU time"));
        let (cpu_before, machine_before) = (self.server.cpu_time()?, machine_cpu()?);
        let start = Instant::now();
        let loader = self.context.run(contender, self.server)?;
        // The wall time of a program ends with the program, without our own bookkeeping.
        let wall = loader.map_or(start.elapsed(), |usage| usage.wall);
        let server_cpu = self.server.cpu_time()? - cpu_before;
        let ours = server_cpu + loader.map_or(Duration::ZERO, |usage| usage.cpu);
        let other_cpu = (machine_cpu()? - machine_before).saturating_sub(ours);
        say(&format!("{heading}: {:.2} s", wall.as_secs_f64()));
        self.runs.push(Run { contender, wall, loader, server_cpu, other_cpu });

        let mut connection = self.server.connect()?;
        let rows = server_copy::loaded_rows(&mut connection)?;
        if rows != self.context.dump.rows {
            return Err(Error::Incomplete { contender: contender.title(), rows, expected: self.context.dump.rows });
        }
        let compared = matches!(contender, Contender::Client | Contender::Hortator | Contender::Deferred);
        if compared && self.states.iter().all(|(described, _)| *described != contender) {
            let described = state::describe(&mut connection, SCHEMA).map_err(Error::server("reading the state"))?;
            self.states.push((contender, described));
        }
        Ok(())
    }
}
