//! The demo: one dump, loaded in several ways in turn on one server, timed, and the ends compared.
//!
//! Each run goes into an empty schema on a server at rest, and the rounds interleave the ways (each round begins with
//! another one), so that what the machine does besides falls on all alike. Counting rows and comparing states stands
//! outside the timed part. A load that leaves another state than the client's has no time worth telling: the experiment
//! ends there.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hortator_check::state::{self, State};

use crate::employees::{self, Dump, SCHEMA};
use crate::measure::{self, Usage};
use crate::server::Server;
use crate::ways::{self, Course, Way};
use crate::{Error, server_copy};

/// The sandbox that stays when the server is to be kept.
pub const KEPT_NAME: &str = "bench-employees";

/// What is to be done.
#[derive(Debug)]
pub struct Experiment {
    /// How often each way runs.
    pub rounds: usize,
    /// The dump's size; 1 is all of the sample's rows.
    pub scale: f64,
    /// Connections of `hortator load`; its own choice when absent.
    pub threads: Option<usize>,
    /// The ways to run; those whose program is not installed are left out and said so.
    pub ways: Vec<Way>,
    /// Where the dump is made and found again, and where logs go.
    pub folder: PathBuf,
    /// Whether the server stays as the sandbox [`KEPT_NAME`], with the last schema loaded.
    pub keep: bool,
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
    /// From the start to the last row.
    pub wall: Duration,
    /// What the loading program took; none for the server's own copy.
    pub loader: Option<Usage>,
    /// What the server used meanwhile.
    pub server_cpu: Duration,
    /// What everything else on the machine used meanwhile: where this is much, the times are not to be trusted.
    pub other_cpu: Duration,
}

/// What came out.
#[derive(Debug)]
pub struct Outcome {
    /// What was loaded.
    pub dump: Dump,
    /// Every timed run, in the order of time.
    pub runs: Vec<Run>,
    /// The versions of what took part.
    pub versions: Vec<String>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
    /// Whether `hortator load` left the state that the client left.
    pub verdict: Verdict,
}

/// Whether two ways left the same state.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Not both ways ran.
    NotCompared,
    /// Every definition and every row is the same.
    Same {
        /// Rows compared.
        rows: u64,
        /// Definitions compared.
        definitions: usize,
    },
    /// What differs, one entry each.
    Differs(Vec<String>),
}

impl Experiment {
    /// Does it all, with a line to `say` for each step.
    ///
    /// # Errors
    /// Any [`Error`]; the server is gone then, unless it is to be kept.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        let (ways, left_out) = self.installed()?;
        fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        say(&format!("dump: making or finding it in {}", self.folder.display()));
        let dump = employees::cached(&self.folder, self.scale)?;
        say(&format!("dump: {} rows, {} MB, checksum {:032x}", dump.rows, dump.bytes / 1_000_000, dump.checksum));

        say("server: starting");
        let server = if self.keep { Server::kept(KEPT_NAME, Arc::clone(&self.stop)) } else { self.temporary_server() }?;
        let course = Course {
            dump: &dump,
            hortator: &self.hortator,
            threads: self.threads,
            work: &self.folder,
            stop: &self.stop,
        };
        let versions = self.versions(&server, &ways)?;
        self.warm_up(&course, &server, &ways, say)?;

        let mut rounds = Rounds { course: &course, server: &server, runs: Vec::new(), states: Vec::new() };
        let mut verdict = Verdict::NotCompared;
        let mut states = 0;
        for round in 0..self.rounds {
            let mut order = ways.clone();
            order.rotate_left(round % ways.len());
            for way in order {
                rounds.run(way, &format!("round {}/{}: {}", round + 1, self.rounds, way.title()), say)?;
                if rounds.states.len() > states {
                    states = rounds.states.len();
                    verdict = self.compare(&rounds, say)?;
                }
                if matches!(verdict, Verdict::Differs(_)) {
                    return Ok(Outcome { runs: rounds.runs, dump, versions, left_out, verdict });
                }
            }
        }
        course.clean_up()?;
        Ok(Outcome { runs: rounds.runs, dump, versions, left_out, verdict })
    }

    fn temporary_server(&self) -> Result<Server, Error> {
        Server::temporary(Arc::clone(&self.stop))
    }

    /// The ways that can run here, and a line for each that can't.
    fn installed(&self) -> Result<(Vec<Way>, Vec<String>), Error> {
        if ways::version("mariadb").is_none() {
            return Err(Error::Missing { program: "mariadb", remedy: "on Debian: apt-get install mariadb-client" });
        }
        let (mut ways, mut left_out) = (self.ways.clone(), Vec::new());
        if ways.contains(&Way::Myloader) && (ways::version("myloader").is_none() || ways::version("mydumper").is_none())
        {
            ways.retain(|way| *way != Way::Myloader);
            left_out.push("myloader: not installed (on Debian: apt-get install mydumper)".to_owned());
        }
        Ok((ways, left_out))
    }

    fn versions(&self, server: &Server, ways: &[Way]) -> Result<Vec<String>, Error> {
        let mut versions = vec![format!("server {}", server.connect()?.version().text)];
        versions.extend(ways::version("mariadb"));
        versions.extend(self.hortator.to_str().and_then(ways::version));
        if ways.contains(&Way::Myloader) {
            versions.extend(ways::version("myloader"));
        }
        Ok(versions)
    }

    /// Loads once with the client, untimed: the server's files have then grown, and the rows are there to be copied and
    /// to be dumped by mydumper.
    fn warm_up(
        &self,
        course: &Course<'_>,
        server: &Server,
        ways: &[Way],
        say: &mut dyn FnMut(&str),
    ) -> Result<(), Error> {
        say("warming up: one load with the client");
        course.run(Way::Client, server)?;
        if ways.contains(&Way::Myloader) {
            say("warming up: mydumper's directory for myloader");
            course.dump_for_myloader(server)?;
        }
        if ways.contains(&Way::ServerCopy) {
            server_copy::move_to_source(server)?;
        }
        Ok(())
    }

    /// Compares the last state that came with the first.
    fn compare(&self, rounds: &Rounds<'_>, say: &mut dyn FnMut(&str)) -> Result<Verdict, Error> {
        let [(first, one), .., (second, other)] = rounds.states.as_slice() else { return Ok(Verdict::NotCompared) };
        let mut differences = one.differences(other);
        if differences.is_empty() {
            let definitions = one.counts().values().sum();
            return Ok(Verdict::Same { rows: one.row_count(), definitions });
        }
        say(&format!("the states differ: loading once more with the {} beside it, to find the rows", first.title()));
        let beside = self.temporary_server()?;
        rounds.course.run(*first, &beside)?;
        let mut here = beside.connect()?;
        let mut there = rounds.server.connect()?;
        let rows = one.differing_rows(&mut here, other, &mut there);
        differences.extend(rows.map_err(Error::server("reading the rows that differ"))?);
        differences.insert(0, format!("first: {}, second: {}", first.title(), second.title()));
        Ok(Verdict::Differs(differences))
    }
}

/// The timed runs, and the states that the first ones left.
struct Rounds<'a> {
    course: &'a Course<'a>,
    server: &'a Server,
    runs: Vec<Run>,
    states: Vec<(Way, State)>,
}

impl Rounds<'_> {
    fn run(&mut self, way: Way, heading: &str, say: &mut dyn FnMut(&str)) -> Result<(), Error> {
        self.server.rest_without(SCHEMA)?;
        let machine_cpu = || measure::machine_cpu_time().map_err(Error::io("reading the machine's CPU time"));
        let (cpu_before, machine_before) = (self.server.cpu_time()?, machine_cpu()?);
        let start = Instant::now();
        let loader = self.course.run(way, self.server)?;
        // A program's wall time ends with it, without our own bookkeeping.
        let wall = loader.map_or(start.elapsed(), |usage| usage.wall);
        let server_cpu = self.server.cpu_time()? - cpu_before;
        let ours = server_cpu + loader.map_or(Duration::ZERO, |usage| usage.cpu);
        let other_cpu = (machine_cpu()? - machine_before).saturating_sub(ours);
        say(&format!("{heading}: {:.2} s", wall.as_secs_f64()));
        self.runs.push(Run { way, wall, loader, server_cpu, other_cpu });

        let mut connection = self.server.connect()?;
        let rows = server_copy::loaded_rows(&mut connection)?;
        if rows != self.course.dump.rows {
            return Err(Error::Incomplete { way: way.title(), rows, expected: self.course.dump.rows });
        }
        let compared = matches!(way, Way::Client | Way::Hortator | Way::Deferred);
        if compared && self.states.iter().all(|(described, _)| *described != way) {
            let described = state::describe(&mut connection, SCHEMA).map_err(Error::server("reading the state"))?;
            self.states.push((way, described));
        }
        Ok(())
    }
}
