//! `hortator verify --replicate`: the sources of a configuration and its target, with the result as text, JSON and status.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::error::ErrorKind;
use hortator_check::compare::Difference;
use hortator_replicate::comparison::{Comparison, ComparisonOptions, ReplicationReport, named};
use indicatif::HumanCount;

use super::{DIFFERENT, VerifyArgs, with_progress};
use crate::connection_args::ConnectionArgs;
use crate::replicate::Setup;

/// Runs the comparison.
///
/// # Errors
/// When the configuration is wrong, the target cannot be read, or a name is not there.
pub(super) fn run(file: &Path, args: &VerifyArgs) -> anyhow::Result<ExitCode> {
    if args.connection != ConnectionArgs::default() {
        let message = "--replicate takes no connection options: the configuration has them for each server\n";
        clap::Error::raw(ErrorKind::ArgumentConflict, message).exit();
    }
    let setup = Setup::read(file)?;
    let options = ComparisonOptions {
        sources: args.source.clone(),
        tables: args.tables.clone(),
        databases: args.databases.clone(),
        threads: usize::from(args.threads),
        timeout: Duration::from_secs(args.timeout),
        range_rows: args.range_rows,
    };
    let comparison = Comparison::new(&setup.options, setup.socket.clone(), options);
    let report = with_progress(args.quiet, |progress| comparison.run(progress))?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report).context("the result as JSON")?);
    } else if !args.quiet {
        print!("{}", text_of(&report));
    }
    Ok(match (report.same, report.complete) {
        (false, _) => ExitCode::from(DIFFERENT),
        (true, false) => ExitCode::FAILURE,
        (true, true) => ExitCode::SUCCESS,
    })
}

/// For standard output.
fn text_of(report: &ReplicationReport) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for source in &report.sources {
        let _ = match (&source.position, &source.error) {
            (Some(position), _) => writeln!(text, "{}: compared at {position}", source.source),
            (None, error) => {
                let error = error.as_deref().unwrap_or_default();
                writeln!(text, "{} ({}): not compared: {error}", source.source, source.endpoint)
            }
        };
    }
    for Difference { schema, kind, name, what, first, second } in &report.differences {
        let of = if kind == "rows" { " of" } else { "" };
        let _ = writeln!(text, "{kind}{of} {schema}.{name}: {what}");
        for (side, rows) in [("source", first), ("target", second)] {
            for row in rows {
                let _ = writeln!(text, "  only on the {side}: {row}");
            }
        }
    }
    let unnamed = report.difference_count - report.differences.len() as u64;
    if unnamed > 0 {
        let _ = writeln!(text, "and {} more differences", HumanCount(unnamed));
    }
    let mut left: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for one in &report.not_compared {
        let renamed = if one.source_table == one.table { String::new() } else { format!(" ({})", one.source_table) };
        left.entry((&one.source, &one.reason)).or_default().push(format!("{}{renamed}", one.table));
    }
    for ((source, reason), tables) in left {
        let _ = writeln!(text, "not compared, {source}: {}: {reason}", named(&tables));
    }
    let unlisted = report.not_compared_count - report.not_compared.len() as u64;
    if unlisted > 0 {
        let _ = writeln!(text, "and {} more tables that were not compared", HumanCount(unlisted));
    }
    for remark in &report.remarks {
        let _ = writeln!(text, "note: {remark}");
    }
    let [here, there] = report.rows;
    let rows = match here == there {
        true => HumanCount(here).to_string(),
        false => format!("{} and {}", HumanCount(here), HumanCount(there)),
    };
    let result = match (report.same, report.complete) {
        (true, true) => "same".to_owned(),
        (true, false) => "not all could be compared".to_owned(),
        (false, _) => format!("{} differences", HumanCount(report.difference_count)),
    };
    let compared = report.sources.iter().filter(|source| source.position.is_some()).count();
    let _ = writeln!(
        text,
        "{result}: rows of {} tables of {compared} sources: {rows}; in {:.2} s",
        report.tables.len(),
        report.elapsed_s,
    );
    text
}
