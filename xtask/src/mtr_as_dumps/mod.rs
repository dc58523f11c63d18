//! `cargo xtask mtr-as-dumps`: the server's own tests as dumps, by the client and by `hortator load`.
//!
//! The SQL of each test becomes a dump ([`extract`]). Client and Hortator load it with `--force` into two private servers;
//! what they leave, the errors they tell and the rows they print are compared. What differs between two loads by the client
//! is chance and no difference. `docs/mtr-as-dumps.md` has the differences that are meant to be, each with its reason.
//!
//! Slow (all suites take hours on two cores), and no part of `make test`.

mod arguments;
mod commands;
mod compare;
pub(crate) mod dump;
pub(crate) mod extract;
mod line_diff;
mod program;
mod reduce;
pub(crate) mod server;
pub(crate) mod suites;
mod table;
#[cfg(test)]
mod tests;
mod trial;
mod variables;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, bail};

use crate::cargo::cargo;
use crate::mtr::suites_folder;
use arguments::{Arguments, Variant};
use compare::Difference;
use dump::Dump;
use extract::Purpose;
use program::Program;
use suites::Source;
use table::{Explained, Row};
use trial::{Trial, Verdict};

/// What a test came to.
enum Result {
    Same,
    Explained,
    Differs { differences: Vec<Difference>, is_certain: bool },
    Skipped(String),
}

/// What all jobs share.
struct Run<'a> {
    arguments: &'a Arguments,
    suites: &'a Path,
    hortator: PathBuf,
    explained: Vec<Explained>,
    sources: Vec<Source>,
    next: AtomicUsize,
    results: Mutex<BTreeMap<String, Result>>,
}

/// Runs what the command line names. Fails when a difference is not explained.
pub(crate) fn run(repository: &Path, arguments: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let arguments = Arguments::parse(arguments)?;
    let suites = suites_folder(repository)?;
    let mut sources = suites::sources(suites, &arguments.names)?;
    if let Some(limit) = arguments.limit {
        // A sample of all, and the same for the same seed.
        sources.sort_by_cached_key(|source| random(arguments.seed, &source.name));
        sources.truncate(limit);
    }
    let hortator = match &arguments.hortator {
        Some(path) => path.clone(),
        None => build(repository)?,
    };
    if let Some(folder) = &arguments.keep {
        fs::create_dir_all(folder).with_context(|| format!("making {}", folder.display()))?;
    }
    let mut explained = Vec::new();
    for page in [Some(repository.join(table::PAGE)), arguments.explained.clone()].into_iter().flatten() {
        let text = fs::read_to_string(&page).with_context(|| format!("reading {}", page.display()))?;
        explained.extend(table::explained(&text));
    }
    let run = Run {
        arguments: &arguments,
        suites,
        hortator,
        explained,
        sources,
        next: AtomicUsize::new(0),
        results: Mutex::new(BTreeMap::new()),
    };
    crate::jobs::run(arguments.jobs, || run.work())?;
    run.report()
}

impl Run<'_> {
    /// Takes one test after the other.
    fn work(&self) -> anyhow::Result<()> {
        let options = self.arguments.options.clone();
        let hortator = Program::Hortator { path: self.hortator.clone(), options };
        let mut trial = Trial::new(&self.arguments.settings, self.suites, hortator, self.arguments.timeout)?;
        while let Some(source) = self.sources.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let result = self.test(&mut trial, source).with_context(|| source.name.clone())?;
            self.say(source, &result);
            self.results.lock().expect("no job panics").insert(source.name.clone(), result);
        }
        Ok(())
    }

    fn test(&self, trial: &mut Trial, source: &Source) -> anyhow::Result<Result> {
        let dump = match self.dump(source)? {
            Ok(dump) => dump,
            Err(reason) => return Ok(Result::Skipped(reason)),
        };
        let found = self.unexplained(trial, source, &dump)?;
        let Result::Differs { differences, is_certain } = found else { return Ok(found) };
        // What comes of locks is not looked at, but what differs without them is.
        let (dump, differences, is_certain) = match dump.without_locks() {
            None => (dump, differences, is_certain),
            Some(dump) => match self.unexplained(trial, source, &dump)? {
                Result::Differs { differences, is_certain } => (dump, differences, is_certain),
                Result::Same | Result::Explained => return Ok(Result::Explained),
                Result::Skipped(reason) => return Ok(Result::Skipped(reason)),
            },
        };
        let Some(first) = differences.first() else { return Ok(Result::Explained) };
        if let Some(folder) = &self.arguments.keep {
            let path = |end: &str| folder.join(format!("{}.{end}", source.name.replace('/', "_")));
            fs::write(path("sql"), dump.text())?;
            fs::write(path("diff"), told(&differences, is_certain))?;
            if self.arguments.reduce {
                let smallest = reduce::reduce(trial, &dump, first)?;
                fs::write(path("min.sql"), smallest.text())?;
                if let Verdict::Differs { differences, is_certain } = trial.run(&smallest)? {
                    fs::write(path("min.diff"), told(&differences, is_certain))?;
                }
            }
        }
        Ok(Result::Differs { differences, is_certain })
    }

    /// What differs, without what the page explains.
    fn unexplained(&self, trial: &mut Trial, source: &Source, dump: &Dump) -> anyhow::Result<Result> {
        let (mut differences, is_certain) = match trial.run(dump)? {
            Verdict::Same => return Ok(Result::Same),
            Verdict::Skipped(reason) => return Ok(Result::Skipped(reason)),
            Verdict::Differs { differences, is_certain } => (differences, is_certain),
        };
        let is_explained =
            |difference: &Difference| self.explained.iter().any(|row| row.covers(&source.name, difference));
        differences.retain(|difference| !is_explained(difference));
        Ok(if differences.is_empty() { Result::Explained } else { Result::Differs { differences, is_certain } })
    }

    /// The dump of a source, or why there is none.
    fn dump(&self, source: &Source) -> anyhow::Result<std::result::Result<Dump, String>> {
        let dump = if source.is_dump() {
            extract::read(&source.path)?
        } else {
            match extract::extract(self.suites, &source.path, Purpose::Dump) {
                Ok(dump) => dump,
                Err(reason) => return Ok(Err(reason)),
            }
        };
        Ok(Ok(match self.arguments.variant {
            Variant::Whole => dump,
            Variant::Cut => dump.cut(random(self.arguments.seed, &source.name)),
        }))
    }

    fn say(&self, source: &Source, result: &Result) {
        let text = match result {
            Result::Same => "same".to_owned(),
            Result::Explained => "explained".to_owned(),
            Result::Differs { differences, is_certain } => {
                let first =
                    differences.first().map_or(String::new(), |first| format!("{}\n{}", first.kind, first.text));
                let certain = if *is_certain { "" } else { " (not each time)" };
                format!("DIFFERS{certain} {} {first}", differences.len())
            }
            Result::Skipped(reason) => format!("skipped: {reason}"),
        };
        eprintln!("{:<40} {text}", source.name);
    }

    /// The table and the counts; an error where a difference is not explained.
    fn report(self) -> anyhow::Result<()> {
        let results = self.results.into_inner().expect("no job panics");
        let (mut same, mut explained, mut skipped) = (0, 0, 0);
        let mut rows = Vec::new();
        for (test, result) in results {
            match result {
                Result::Same => same += 1,
                Result::Explained => explained += 1,
                Result::Skipped(_) => skipped += 1,
                Result::Differs { differences, is_certain } => rows.push(Row { test, differences, is_certain }),
            }
        }
        println!("{}", table::markdown(&rows));
        println!("{same} the same, {explained} explained, {skipped} skipped, {} not explained", rows.len());
        if rows.is_empty() { Ok(()) } else { bail!("{} tests differ without an explanation", rows.len()) }
    }
}

fn told(differences: &[Difference], is_certain: bool) -> String {
    let certain = if is_certain { "" } else { "(a second load did not differ)\n\n" };
    let texts = differences
        .iter()
        .map(|difference| format!("== {} {}\n{}\n", difference.kind, difference.key, difference.text));
    certain.to_owned() + &texts.collect::<Vec<_>>().join("\n")
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

/// A number from a seed and a name (FNV-1a, then splitmix64's last steps).
fn random(seed: u64, name: &str) -> u64 {
    let hash = name
        .bytes()
        .chain(seed.to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
