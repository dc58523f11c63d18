//! The measurement: each shape is loaded with each contender in turn, round by round, on one private server.
//!
//! Each run begins on a server at rest without schemas but an empty one (or, for a reload, one that holds the dump
//! already). Each round begins with another contender. After the first round the end states are compared with the
//! client's.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Serialize;

use super::end_state::{self, EndState};
use super::script::Dump;
use super::{Shape, report};
use crate::measure::{self, Usage};
use crate::server::Server;
use crate::{Error, contenders, quiesce};

/// The schema that every dump is loaded into, unless it names others.
pub(super) const SCHEMA: &str = "bench";

/// A program that loads dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Contender {
    /// The server's own client: what the others are compared with.
    Client,
    /// `hortator load` of this program.
    Hortator,
    /// `hortator load` of another build.
    Baseline,
}

impl Contender {
    /// How the report calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Hortator => "hortator",
            Self::Baseline => "baseline",
        }
    }
}

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// How often each contender loads each shape.
    pub rounds: usize,
    /// The dumps' size; 1 is that of the quick experiment.
    pub scale: f64,
    /// The shapes.
    pub shapes: Vec<&'static Shape>,
    /// Where dumps and logs go.
    pub folder: PathBuf,
    /// This program.
    pub hortator: PathBuf,
    /// Another build of it, as a further contender.
    pub baseline: Option<PathBuf>,
    /// Raised when the experiment is to end.
    pub stop: Arc<AtomicBool>,
}

/// One timed run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// What the loading program used.
    pub loader: Usage,
    /// CPU time of the server meanwhile.
    pub server_cpu: Duration,
    /// CPU time of everything else on the machine meanwhile.
    pub other_cpu: Duration,
}

/// What a contender's loads left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "lowercase")]
pub enum Verdict {
    /// The client's end state, row for row.
    Same {
        /// Rows compared.
        rows: u64,
        /// Definitions compared.
        definitions: usize,
    },
    /// Another end state.
    Differs {
        /// The first differences from the client's; `first` in them is the client.
        differences: Vec<String>,
    },
    /// The program failed.
    Failed {
        /// Its message.
        message: String,
    },
}

/// What a contender did with one shape.
#[derive(Debug)]
pub struct Loads {
    /// Which contender.
    pub contender: Contender,
    /// Every run, in the order of time; empty unless the end state is the client's.
    pub runs: Vec<Run>,
    /// What the runs left; none when the client has failed before.
    pub verdict: Option<Verdict>,
}

/// What was measured of one shape.
#[derive(Debug)]
pub struct Measured {
    /// Which shape.
    pub shape: &'static Shape,
    /// What was loaded.
    pub dump: Dump,
    /// One entry for each contender, the client first.
    pub loads: Vec<Loads>,
}

impl Measured {
    /// What a contender did.
    #[must_use]
    pub fn of(&self, contender: Contender) -> Option<&Loads> {
        self.loads.iter().find(|loads| loads.contender == contender)
    }
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// How often each contender loaded each shape.
    pub rounds: usize,
    /// The dumps' size.
    pub scale: f64,
    /// Who took part.
    pub contenders: Vec<Contender>,
    /// One entry for each shape.
    pub shapes: Vec<Measured>,
    /// The versions of server and contenders.
    pub versions: Vec<String>,
}

impl Outcome {
    /// Whether each contender loaded each shape, with the client's end state.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let mut verdicts = self.shapes.iter().flat_map(|shape| &shape.loads).map(|loads| &loads.verdict);
        verdicts.all(|verdict| matches!(verdict, Some(Verdict::Same { .. })))
    }
}

impl Experiment {
    /// Measures all shapes, with a line to `say` for each step.
    ///
    /// # Errors
    /// Any [`Error`] but a contender's failure, which is a [`Verdict`].
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        if contenders::version("mariadb").is_none() {
            return Err(Error::Missing { program: "mariadb", remedy: "on Debian: apt-get install mariadb-client" });
        }
        say("server: starting");
        let server = Server::temporary(Arc::clone(&self.stop))?;
        let mut shapes = Vec::new();
        for (index, shape) in self.shapes.iter().enumerate() {
            let dump = shape.generate(&self.folder, self.scale)?;
            let (megabytes, statements) = (dump.bytes as f64 / 1e6, report::thousands(dump.statements));
            say(&format!("{}: {megabytes:.1} MB, {statements} statements", shape.name));
            if index == 0 {
                self.prepare(&server, shape, &dump)?;
                // The first load grows the server's files: it is not measured. A failure shows again in the first round.
                let _ = self.load(Contender::Client, &server, &dump);
            }
            let measured = self.measure(&server, shape, dump, say)?;
            say(&report::line(&measured));
            shapes.push(measured);
        }
        let versions = self.versions(&server)?;
        Ok(Outcome { rounds: self.rounds, scale: self.scale, contenders: self.contenders(), shapes, versions })
    }

    fn contenders(&self) -> Vec<Contender> {
        let baseline = self.baseline.is_some().then_some(Contender::Baseline);
        [Contender::Client, Contender::Hortator].into_iter().chain(baseline).collect()
    }

    fn versions(&self, server: &Server) -> Result<Vec<String>, Error> {
        let mut versions = vec![format!("server {}", server.connect()?.version().text)];
        versions.extend(contenders::version("mariadb"));
        versions.extend(self.hortator.to_str().and_then(contenders::version));
        if let Some(baseline) = &self.baseline {
            let version = baseline.to_str().and_then(contenders::version).unwrap_or_default();
            versions.push(format!("baseline {version} ({})", baseline.display()));
        }
        Ok(versions)
    }

    fn measure(
        &self,
        server: &Server,
        shape: &'static Shape,
        dump: Dump,
        say: &mut dyn FnMut(&str),
    ) -> Result<Measured, Error> {
        let new = |contender| Loads { contender, runs: Vec::new(), verdict: None };
        let mut loads: Vec<Loads> = self.contenders().into_iter().map(new).collect();
        // The client is first in the first round, so that its state is there to compare with.
        let mut client_state = None;
        for round in 0..self.rounds {
            for place in 0..loads.len() {
                let loads_count = loads.len();
                let current = &mut loads[(place + round) % loads_count];
                let is_out = !matches!(current.verdict, None | Some(Verdict::Same { .. }));
                let has_reference = client_state.is_some() || (round == 0 && current.contender == Contender::Client);
                if is_out || !has_reference {
                    continue;
                }
                match self.timed_run(current.contender, server, shape, &dump) {
                    Ok(run) => {
                        let (name, seconds) = (current.contender.name(), run.loader.wall.as_secs_f64());
                        say(&format!("{}, round {}/{}: {name} {seconds:.2} s", shape.name, round + 1, self.rounds));
                        current.runs.push(run);
                    }
                    Err(Error::Failed { status, output, .. }) => {
                        say(&format!("{}: {} failed ({status}): {output}", shape.name, current.contender.name()));
                        current.runs.clear();
                        current.verdict = Some(Verdict::Failed { message: output });
                        continue;
                    }
                    Err(error) => return Err(error),
                }
                if round == 0 {
                    let state = EndState::read(server)?;
                    let reference = client_state.get_or_insert_with(|| state.clone());
                    let verdict = self.judge(server, &dump, reference, &state)?;
                    if matches!(verdict, Verdict::Differs { .. }) {
                        current.runs.clear();
                    }
                    current.verdict = Some(verdict);
                }
            }
        }
        Ok(Measured { shape, dump, loads })
    }

    /// Compares a state, which `server` still holds, with the client's.
    fn judge(&self, server: &Server, dump: &Dump, client: &EndState, state: &EndState) -> Result<Verdict, Error> {
        let mut differences = client.differences(state);
        if differences.is_empty() {
            return Ok(Verdict::Same { rows: state.row_count(), definitions: state.definition_count() });
        }
        // The client loads once more on a server of its own, to find which rows of large tables differ.
        let beside = Server::temporary(Arc::clone(&self.stop))?;
        create_schema(&beside)?;
        self.load(Contender::Client, &beside, dump)?;
        differences.extend(client.differing_rows(&beside, state, server)?);
        Ok(Verdict::Differs { differences })
    }

    /// Brings the server into the state in which the shape's load begins.
    fn prepare(&self, server: &Server, shape: &Shape, dump: &Dump) -> Result<(), Error> {
        let mut connection = server.connect()?;
        end_state::drop_all(&mut connection)?;
        create_schema(server)?;
        if shape.is_reload {
            self.load(Contender::Client, server, dump)?;
        }
        quiesce::wait(&mut [connection], || server.cpu_time(), &self.stop)
    }

    fn timed_run(&self, contender: Contender, server: &Server, shape: &Shape, dump: &Dump) -> Result<Run, Error> {
        let machine_cpu = || measure::machine_cpu_time().map_err(Error::io("reading the machine's CPU time"));
        self.prepare(server, shape, dump)?;
        let (server_before, machine_before) = (server.cpu_time()?, machine_cpu()?);
        let loader = self.load(contender, server, dump)?;
        let server_cpu = server.cpu_time()? - server_before;
        let other_cpu = (machine_cpu()? - machine_before).saturating_sub(server_cpu + loader.cpu);
        Ok(Run { loader, server_cpu, other_cpu })
    }

    fn load(&self, contender: Contender, server: &Server, dump: &Dump) -> Result<Usage, Error> {
        let hortator = |program: &Path| {
            let mut command = server.client(program, &["load"]);
            command.args(["-D", SCHEMA]).arg(&dump.path).stdin(Stdio::null());
            command
        };
        let mut command = match contender {
            Contender::Client => client(server, dump)?,
            Contender::Hortator => hortator(&self.hortator),
            Contender::Baseline => hortator(self.baseline.as_deref().unwrap_or(&self.hortator)),
        };
        let log = self.folder.join(format!("{}.log", contender.name()));
        measure::run(&mut command, &log, &self.stop)
    }
}

fn client(server: &Server, dump: &Dump) -> Result<Command, Error> {
    let file = std::fs::File::open(&dump.path).map_err(Error::io(format!("opening {}", dump.path.display())))?;
    let mut command = server.client("mariadb", &[]);
    command.args(["-D", SCHEMA]).stdin(Stdio::from(file));
    Ok(command)
}

fn create_schema(server: &Server) -> Result<(), Error> {
    let statement = format!("CREATE DATABASE `{SCHEMA}`");
    server.connect()?.execute(statement.as_bytes()).map(drop).map_err(Error::server("creating the schema"))
}
