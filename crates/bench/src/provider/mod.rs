//! How fast a single node with Hortator's provider is, beside one with Galera's and a server with none.
//!
//! On one machine, with the same settings but for those by which each keeps the same promise ([`Promise`]). One server runs
//! at a time: it is started on empty data, does all workloads, and is gone; the rounds interleave the servers. On a machine
//! that does other things besides, the server's CPU time for a row is the steadier figure than rows by the second.

mod contender;
mod inserts;
mod report;
mod spent;
mod workload;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::employees::{self, Dump};
use crate::server::{self, Server};
use crate::{Error, measure, server_copy, ways};
use spent::Clocks;

pub use contender::{Contender, Promise};
pub use report::{markdown, table};
pub use spent::Spent;
pub use workload::{Inserts, Workload};

/// The warm-up of inserts is this part of what is measured.
const WARM_UP_PART: u32 = 5;

/// What is to be done.
#[derive(Debug)]
pub struct Experiment {
    /// How often each server does each workload.
    pub rounds: usize,
    /// For how long inserts are measured.
    pub time: Duration,
    /// What the servers are given to do.
    pub workloads: Vec<Workload>,
    /// The dump's size; 1 is all of the sample's rows.
    pub scale: f64,
    /// Where the dump is made and found again, and where logs go.
    pub folder: PathBuf,
    /// Raised when the experiment is to end.
    pub stop: Arc<AtomicBool>,
}

/// One workload done once by one server.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Under which promise.
    pub promise: Promise,
    /// What was done.
    pub workload: Workload,
    /// By which server.
    pub contender: Contender,
    /// Rows that it confirmed.
    pub rows: u64,
    /// What it took.
    pub spent: Spent,
}

impl Run {
    /// Confirmed rows by the second.
    #[must_use]
    pub fn rows_per_s(&self) -> f64 {
        self.rows as f64 / self.spent.wall.as_secs_f64()
    }

    /// Microseconds of the server's CPU for each confirmed row.
    #[must_use]
    pub fn cpu_us_per_row(&self) -> f64 {
        self.spent.server_cpu.as_secs_f64() * 1e6 / self.rows as f64
    }
}

/// What came out.
#[derive(Debug)]
pub struct Outcome {
    /// How often each server did each workload.
    pub rounds: usize,
    /// For how long inserts were measured.
    pub time: Duration,
    /// What was loaded, if that was a workload.
    pub dump: Option<Dump>,
    /// Every run, in the order of time.
    pub runs: Vec<Run>,
    /// The versions of what took part.
    pub versions: Vec<String>,
}

impl Experiment {
    /// Does it all, with a line to `say` for each step.
    ///
    /// # Errors
    /// Any [`Error`]; the server is gone then.
    pub fn run(&self, say: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        let dump = if self.workloads.contains(&Workload::Load) { Some(self.dump(say)?) } else { None };
        let mut outcome =
            Outcome { rounds: self.rounds, time: self.time, dump, runs: Vec::new(), versions: Vec::new() };
        for round in 0..self.rounds {
            for promise in Promise::ALL {
                let mut order = Contender::ALL;
                order.rotate_left(round % Contender::ALL.len());
                for contender in order {
                    let title = format!("{}, {}", promise.title(), contender.title());
                    say(&format!("round {}/{}: {title}: starting", round + 1, self.rounds));
                    let server = contender.start(promise, &self.stop)?;
                    take_versions(contender, &server, &mut outcome.versions)?;
                    for workload in &self.workloads {
                        let (rows, spent) = self.cell(*workload, outcome.dump.as_ref(), &server)?;
                        let run = Run { promise, workload: *workload, contender, rows, spent };
                        say(&format!("  {}", report::line(&run)));
                        outcome.runs.push(run);
                    }
                }
            }
        }
        Ok(outcome)
    }

    fn dump(&self, say: &mut dyn FnMut(&str)) -> Result<Dump, Error> {
        fs::create_dir_all(&self.folder).map_err(Error::io(format!("creating {}", self.folder.display())))?;
        say(&format!("dump: making or finding it in {}", self.folder.display()));
        employees::cached(&self.folder, self.scale)
    }

    /// Rows that were confirmed, and what that took.
    fn cell(&self, workload: Workload, dump: Option<&Dump>, server: &Server) -> Result<(u64, Spent), Error> {
        server.rest_without(inserts::SCHEMA)?;
        match (workload, dump) {
            (Workload::Inserts(shape), _) => {
                inserts::run(server, shape, self.time / WARM_UP_PART, self.time, &self.stop)
            }
            (Workload::Load, Some(dump)) => self.load(dump, server),
            (Workload::Load, None) => unreachable!("the dump is made when it is to be loaded"),
        }
    }

    fn load(&self, dump: &Dump, server: &Server) -> Result<(u64, Spent), Error> {
        let mut command = ways::server_client(dump, server)?;
        command.current_dir(&dump.folder);
        let before = Clocks::read(server)?;
        measure::run(&mut command, &self.folder.join("provider-load.log"), &self.stop)?;
        let spent = Clocks::read(server)?.since(&before);
        let rows = server_copy::loaded_rows(&mut server.connect()?)?;
        if rows != dump.rows {
            return Err(Error::Incomplete { way: ways::Way::Client.title(), rows, expected: dump.rows });
        }
        Ok((rows, spent))
    }
}

/// Of the server when it is the first, and of its provider.
fn take_versions(contender: Contender, server: &Server, versions: &mut Vec<String>) -> Result<(), Error> {
    let mut connection = server.connect()?;
    let found = match contender {
        Contender::Alone => format!("server {}", connection.version().text),
        Contender::Hortator | Contender::Galera => server::provider(&mut connection)?,
    };
    if !versions.contains(&found) {
        versions.push(found);
    }
    Ok(())
}
