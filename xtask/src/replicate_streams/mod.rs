//! `cargo xtask replicate-streams`: streams that others wrote, applied by `hortator replicate`.
//!
//! The statements of the server's own tests run on a source, each connection of a test as a session of its own. What the
//! source's log has of them is applied to a target. At several places and at the end both are compared: schemas, rows,
//! accounts. Where they differ, or the target stops, the file runs again with a stock replica beside the target: what the
//! replica does, too, is no fault of Hortator's. `docs/replicate-streams.md` has the result.
//!
//! `sysbench` and `checksum` in place of a suite run Debian's sysbench and pt-table-checksum on sources.

mod agent;
mod arguments;
mod checksum;
mod page;
mod reasons;
mod replica;
mod rules;
mod servers;
mod sessions;
mod sysbench;
mod trial;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};

use crate::cargo::cargo;
use crate::mtr::suites_folder;
use crate::mtr_as_dumps::extract::{Purpose, extract};
use crate::mtr_as_dumps::suites::{self, Source};
use arguments::Arguments;
use page::Line;
use trial::{Trial, Verdict};

/// A file in a format of the log.
struct Job {
    source: Source,
    format: String,
}

/// What all threads share.
struct Run<'a> {
    arguments: &'a Arguments,
    suites: &'a Path,
    hortator: PathBuf,
    jobs: Vec<Job>,
    next: AtomicUsize,
    lines: Mutex<BTreeMap<(String, String), Line>>,
}

/// Runs what the command line names. Fails where the target differs without an error.
pub(crate) fn run(repository: &Path, arguments: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let arguments = Arguments::parse(arguments)?;
    let suites = suites_folder(repository)?;
    let hortator = match &arguments.hortator {
        Some(path) => path.clone(),
        None => build(repository)?,
    };
    match arguments.names.first().map(String::as_str) {
        Some("sysbench") => return sysbench::run(suites, &hortator, arguments.timeout),
        Some("checksum") => return checksum::run(suites, &hortator, arguments.timeout),
        _ => {}
    }
    let sources = suites::sources(suites, &arguments.names)?;
    let jobs = arguments
        .formats
        .iter()
        .flat_map(|format| sources.iter().map(|source| Job { source: source.clone(), format: format.clone() }));
    let jobs: Vec<Job> = jobs.take(arguments.limit.unwrap_or(usize::MAX)).collect();
    let run = Run {
        arguments: &arguments,
        suites,
        hortator,
        jobs,
        next: AtomicUsize::new(0),
        lines: Mutex::new(BTreeMap::new()),
    };
    crate::jobs::run(arguments.jobs, || run.work())?;
    run.report()
}

impl Run<'_> {
    /// Takes one file after the other, with servers of its format.
    fn work(&self) -> anyhow::Result<()> {
        let mut trial: Option<Trial> = None;
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let name = &job.source.name;
            let verdict = match extract(self.suites, &job.source.path, Purpose::Stream) {
                Err(reason) => Verdict::Skipped(reason),
                Ok(dump) => {
                    let kept = trial.take().filter(|trial| trial.format() == job.format);
                    let mut servers = match kept {
                        Some(trial) => trial,
                        None => Trial::new(self.arguments, self.suites, &self.hortator, &job.format)?,
                    };
                    let verdict = servers.run(&dump.statements);
                    // Servers that cannot be used any more are no result of Hortator's.
                    match verdict {
                        Ok(verdict) => {
                            trial = Some(servers);
                            verdict
                        }
                        Err(error) => Verdict::Skipped(format!("the servers: {error:#}")),
                    }
                }
            };
            let line = Line::new(name, &job.format, &verdict);
            eprintln!("{line}");
            if let Some(folder) = &self.arguments.keep {
                fs::create_dir_all(folder)?;
                fs::write(folder.join(format!("{name}.{}", job.format)), format!("{verdict:#?}\n"))?;
            }
            self.lines.lock().expect("no job panics").insert((name.clone(), job.format.clone()), line);
        }
        Ok(())
    }

    fn report(self) -> anyhow::Result<()> {
        let lines: Vec<Line> = self.lines.into_inner().expect("no job panics").into_values().collect();
        let text = page::markdown(&lines);
        match &self.arguments.page {
            Some(path) => fs::write(path, &text).with_context(|| format!("writing {}", path.display()))?,
            None => println!("{text}"),
        }
        let unexplained = lines.iter().filter(|line| line.is_unexplained()).count();
        if unexplained > 0 {
            bail!("{unexplained} files end in another way than on a stock replica, without a known reason");
        }
        Ok(())
    }
}

/// Builds the binary under test.
fn build(repository: &Path) -> anyhow::Result<PathBuf> {
    let mut cargo = cargo();
    cargo.current_dir(repository).args(["build", "--locked", "--release", "--package", "hortator"]);
    if !cargo.status().context("cannot run cargo")?.success() {
        bail!("hortator cannot be built, see above");
    }
    Ok(repository.join("target/release/hortator"))
}
