//! The measurement: each shape is loaded with each contender in turn, round by round, on one private server.
//!
//! Each run begins on a server at rest without schemas but an empty one (or, for a reload, one that holds the dump
//! already). Each round begins with another contender. In the first round the end states are compared with the client's.

use std::cell::RefCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use super::Shape;
use super::end_state::{self, EndState};
use super::script::Dump;
use crate::extent::Extent;
use crate::load_run::LoadRun;
use crate::measure::{self, Usage};
use crate::nodes::Nodes;
use crate::progress::Observer;
use crate::quiesce::AtRest;
use crate::rounds::{self, Cell, Figures, Measured, Task};
use crate::{Error, programs};

/// The schema that every dump is loaded into, unless it names others.
pub(super) const SCHEMA: &str = "bench";
/// The factor that names the shape.
pub(super) const SHAPE: &str = "shape";
/// Characters of a reason.
const REASON_LIMIT_CHARS: usize = 600;

/// A program that loads dumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The server's own client: what the others are compared with.
    Client,
    /// `hortator load` of this program.
    Hortator,
    /// `hortator load` of another build.
    Baseline,
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Hortator => "hortator",
            Self::Baseline => "baseline",
        })
    }
}

/// What is to be measured.
#[derive(Debug)]
pub struct Experiment {
    /// The dumps' size; 1 is that of the quick experiment.
    pub scale: f64,
    /// The shapes.
    pub shapes: Vec<&'static Shape>,
    /// This program.
    pub hortator: PathBuf,
    /// Another build of it, as a further contender.
    pub baseline: Option<PathBuf>,
    /// Rounds, folder and end.
    pub extent: Extent,
}

/// The result.
#[derive(Debug)]
pub struct Outcome {
    /// All runs.
    pub measured: Measured,
    /// The versions of server and contenders.
    pub versions: Vec<String>,
    /// The dumps, by the name of their shape.
    pub dumps: Vec<(&'static Shape, Dump)>,
}

/// A shape and the server that loads it.
struct Prepared {
    server: Rc<Nodes>,
    shape: &'static Shape,
    dump: Dump,
    /// What the client's first load has left.
    client: RefCell<Option<EndState>>,
}

impl Experiment {
    /// Runs it. The observer hears of each step. A contender that fails, or leaves another end state than the client, has no
    /// figure.
    ///
    /// # Errors
    /// When nothing can be measured here. All other errors stand with the runs.
    pub fn run(&self, observer: &mut dyn Observer) -> Result<Outcome, Error> {
        programs::check_client()?;
        let cells: Vec<Cell> = self.shapes.iter().map(|shape| cell(shape)).collect();
        let tasks = rounds::plan(&cells, &self.contenders(), self.extent.rounds);
        let (mut server, mut versions, mut dumps) = (None, Vec::new(), Vec::new());
        let prepare = |cell: &Cell, say: &mut dyn FnMut(&str)| {
            let shape = self.shape(cell)?;
            let dump = shape.generate(&self.extent.folder, self.scale)?;
            say(&format!("{}: {:.1} MB, {} statements", shape.name, dump.bytes as f64 / 1e6, dump.statements));
            dumps.retain(|(known, _): &(&Shape, Dump)| known.name != shape.name);
            dumps.push((shape, dump.clone()));
            let server = match &server {
                Some(server) => Rc::clone(server),
                None => {
                    let started = Rc::new(self.start(shape, &dump, say)?);
                    versions = self.versions(&started)?;
                    Rc::clone(server.insert(started))
                }
            };
            Ok(Prepared { server, shape, dump, client: RefCell::new(None) })
        };
        let measured = rounds::run_prepared(&tasks, observer, prepare, |task, prepared| self.measure(task, prepared));
        Ok(Outcome { measured, versions, dumps })
    }

    /// The client first: its load gives the expected state.
    pub(super) fn contenders(&self) -> Vec<Contender> {
        let baseline = self.baseline.is_some().then_some(Contender::Baseline);
        [Contender::Client, Contender::Hortator].into_iter().chain(baseline).collect()
    }

    fn shape(&self, wanted: &Cell) -> Result<&'static Shape, Error> {
        let found = self.shapes.iter().find(|shape| cell(shape) == *wanted).copied();
        found.ok_or_else(|| Error::Answer(format!("no such shape: {wanted:?}")))
    }

    /// A server whose files have grown: the first load does that.
    fn start(&self, shape: &Shape, dump: &Dump, say: &mut dyn FnMut(&str)) -> Result<Nodes, Error> {
        say("server: starting");
        let server = Nodes::alone(&self.extent.stop)?;
        let _rest = self.set_up(&server, shape, dump)?;
        // It is not measured. A failure shows again in the first round.
        match self.load(Contender::Client, &server, dump) {
            Err(Error::Interrupted) => Err(Error::Interrupted),
            _ => Ok(server),
        }
    }

    fn versions(&self, server: &Nodes) -> Result<Vec<String>, Error> {
        let mut versions = server.versions()?;
        versions.extend(programs::client_version());
        versions.extend(self.hortator.to_str().and_then(programs::version));
        if let Some(baseline) = &self.baseline {
            let version = baseline.to_str().and_then(programs::version).unwrap_or_default();
            versions.push(format!("baseline {version} ({})", baseline.display()));
        }
        Ok(versions)
    }

    /// Brings the server into the state in which the shape's load begins.
    fn set_up(&self, server: &Nodes, shape: &Shape, dump: &Dump) -> Result<AtRest, Error> {
        end_state::drop_all(&mut server.connect(0)?)?;
        create_schema(server)?;
        if shape.is_reload {
            self.load(Contender::Client, server, dump)?;
        }
        server.quiesce()
    }

    fn measure(&self, task: &Task<Contender>, prepared: &Prepared) -> Result<Figures, Error> {
        self.extent.check_stop()?;
        let contender = task.contender;
        let Prepared { server, shape, dump, client } = prepared;
        if contender != Contender::Client && client.borrow().is_none() {
            return Err(Error::Answer(
                "the client's load has failed: there is no end state to compare with".to_owned(),
            ));
        }
        let rest = self.set_up(server, shape, dump)?;
        let run = LoadRun::measure(rest, server, || self.load(contender, server, dump).map(Some));
        let run = run.map_err(shortened)?;
        let mut rows = 0;
        if task.round == 1 {
            let state = EndState::read(server)?;
            rows = state.row_count();
            self.judge(contender, prepared, &state)?;
        }
        let mut figures = run.figures(rows);
        // The rows of a dump that changes rows say nothing about its size.
        figures.retain(|name, _| name != crate::figures::RATE && name != crate::figures::ROW_CPU);
        Ok(figures)
    }

    /// Compares a state, which the server still holds, with the client's.
    fn judge(&self, contender: Contender, prepared: &Prepared, state: &EndState) -> Result<(), Error> {
        let mut client = prepared.client.borrow_mut();
        let expected = client.get_or_insert_with(|| state.clone());
        let mut differences = expected.differences(state);
        if differences.is_empty() {
            return Ok(());
        }
        // The client loads once more on a server of its own, to find which rows of large tables differ.
        let beside = Nodes::alone(&self.extent.stop)?;
        create_schema(&beside)?;
        self.load(Contender::Client, &beside, &prepared.dump)?;
        differences.extend(expected.differing_rows(&beside, state, &prepared.server)?);
        Err(shortened(Error::Answer(format!(
            "other end state (first: client, second: {contender}): {}",
            differences.join("; ")
        ))))
    }

    fn load(&self, contender: Contender, server: &Nodes, dump: &Dump) -> Result<Usage, Error> {
        let hortator = |program: &Path| {
            let mut command = server.client_program(program, &["load"]);
            command.args(["-D", SCHEMA]).arg(&dump.path).stdin(Stdio::null());
            command
        };
        let mut command = match contender {
            Contender::Client => client(server, dump)?,
            Contender::Hortator => hortator(&self.hortator),
            Contender::Baseline => hortator(self.baseline.as_deref().unwrap_or(&self.hortator)),
        };
        measure::run(&mut command, &self.extent.folder.join(format!("{contender}.log")), &self.extent.stop)
    }
}

/// The cell of a shape.
pub(super) fn cell(shape: &Shape) -> Cell {
    rounds::cell(&[(SHAPE, shape.name.to_owned())])
}

/// One line of bounded length, for a table.
fn shortened(error: Error) -> Error {
    match error {
        Error::Failed { .. } | Error::Answer(_) => {
            let text = error.to_string().replace('\n', " ");
            Error::Answer(text.chars().take(REASON_LIMIT_CHARS).collect())
        }
        other => other,
    }
}

fn client(server: &Nodes, dump: &Dump) -> Result<Command, Error> {
    let file = std::fs::File::open(&dump.path).map_err(Error::io(format!("opening {}", dump.path.display())))?;
    let mut command = server.client();
    command.args(["-D", SCHEMA]).stdin(Stdio::from(file));
    Ok(command)
}

fn create_schema(server: &Nodes) -> Result<(), Error> {
    let statement = format!("CREATE DATABASE `{SCHEMA}`");
    server.connect(0)?.execute(statement.as_bytes()).map(drop).map_err(Error::server("creating the schema"))
}
