//! A cluster of three nodes, with Hortator's provider or Galera, under fire: for longer than in the usual tests.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use anyhow::{Context, bail};

/// The default number of minutes.
const MINUTES: u64 = 10;
/// The test of each provider, by the name of the provider's table column.
const PROVIDERS: [(&str, &str, &str); 2] = [
    ("ours", "Hortator", "fire::nothing_confirmed_by_three_nodes_of_ours_is_lost"),
    ("galera", "Galera", "fire::three_nodes_of_galera_end_up_equal"),
];

#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    minutes: u64,
    /// `ours`, `galera`, or `both`.
    provider: String,
    seed: Option<u64>,
    /// Provider options for Hortator's nodes.
    options: Option<String>,
    /// Only these faults, by their names, separated by semicolons.
    faults: Option<String>,
    report: Option<PathBuf>,
}

fn parse(mut arguments: impl Iterator<Item = String>) -> anyhow::Result<Wanted> {
    let provider = "ours".to_owned();
    let mut wanted = Wanted { minutes: MINUTES, provider, seed: None, options: None, faults: None, report: None };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--provider" => wanted.provider = value()?,
            "--seed" => wanted.seed = Some(value()?.parse().context("--seed takes a number")?),
            "--options" => wanted.options = Some(value()?),
            "--faults" => wanted.faults = Some(value()?),
            "--report" => wanted.report = Some(PathBuf::from(value()?)),
            minutes => match minutes.parse() {
                Ok(minutes) if minutes > 0 => wanted.minutes = minutes,
                _ => bail!(
                    "`{minutes}` is neither a number of minutes nor --provider, --seed, --options, --faults or --report"
                ),
            },
        }
    }
    if !["ours", "galera", "both"].contains(&wanted.provider.as_str()) {
        bail!("--provider is ours, galera or both, not `{}`", wanted.provider);
    }
    Ok(wanted)
}

/// Runs the test for that time with each requested provider, with both in parallel, so that they have the same machine;
/// the figures are its last output, and the report.
pub(crate) fn run(repository: &Path, arguments: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let wanted = parse(arguments)?;
    // A run can be repeated, and both providers get the same seed.
    let seed = wanted.seed.unwrap_or_else(|| u64::from(std::process::id()));
    let folder = tempfile::tempdir().context("cannot create a folder for the figures")?;
    let is_wanted = |provider: &str| wanted.provider == "both" || wanted.provider == provider;
    let tests = || {
        let mut tests = Command::new(env!("CARGO"));
        tests.current_dir(repository);
        tests.args(["test", "--locked", "--release", "--package", "hortator-sandbox", "--test", "it"]);
        tests
    };
    if !tests().arg("--no-run").status().context("cannot run cargo")?.success() {
        bail!("the tests cannot be built, see above");
    }
    let mut running = Vec::new();
    for (provider, name, test) in PROVIDERS.into_iter().filter(|(provider, ..)| is_wanted(provider)) {
        let figures = folder.path().join(provider);
        let mut tests = tests();
        tests.env("HORTATOR_FIRE_SECONDS", (wanted.minutes * 60).to_string());
        tests.env("HORTATOR_SEED", seed.to_string()).env("HORTATOR_FIGURES", &figures);
        // Each node has a network and a disk of its own, for which the test needs root's rights.
        tests.env("HORTATOR_FIRE_MACHINES", "1");
        tests.envs(wanted.options.iter().map(|options| ("HORTATOR_FIRE_OPTIONS", options)));
        tests.envs(wanted.faults.iter().map(|faults| ("HORTATOR_FIRE_FAULTS", faults)));
        tests.args(["--", "--exact", test, "--include-ignored", "--nocapture"]);
        running.push((name, figures, tests.spawn().context("cannot run cargo")?));
    }
    let mut columns = Vec::new();
    let mut failed = Vec::new();
    for (name, figures, mut tests) in running {
        if !tests.wait().with_context(|| format!("cannot wait for the test of {name}"))?.success() {
            failed.push(name);
        }
        // A run that fails early has no figures.
        columns.extend(fs::read_to_string(&figures).ok().map(|text| (name, text)));
    }
    if let Some(report) = &wanted.report {
        let date = Command::new("date").args(["-u", "+%F"]).output().context("cannot run date")?.stdout;
        let date = String::from_utf8_lossy(&date).trim().to_owned();
        fs::write(report, page(&date, &wanted, seed, &columns))
            .with_context(|| format!("cannot write {}", report.display()))?;
    }
    if !failed.is_empty() {
        bail!("{}: the check failed, see above", failed.join(", "));
    }
    Ok(())
}

fn page(date: &str, wanted: &Wanted, seed: u64, columns: &[(&str, String)]) -> String {
    let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (minutes, provider) = (wanted.minutes, &wanted.provider);
    let (options, own) = match &wanted.options {
        Some(options) => {
            (format!(" --options '{options}'"), format!("`{options}` on Hortator's nodes, else the default"))
        }
        None => (String::new(), "default".to_owned()),
    };
    let faults = wanted.faults.iter().map(|faults| format!(" --faults '{faults}'")).collect::<String>();
    let mut text = format!(
        "# Three nodes under faults\n\n\
         {date}, {cores} cores. Three nodes, innodb_flush_log_at_trx_commit=0, {own} options of each provider. Fourteen\n\
         clients transfer money, append to lists and write rows on all nodes. Four more run transactions at all isolation\n\
         levels, some of them as fragments, and their histories are checked for the anomalies of A. Adya's levels. A client\n\
         whose node does not answer continues on the next node. Meanwhile the test kills nodes (one, all at once, one after\n\
         the other), shuts them down, pauses them (SIGSTOP), locks their tables, isolates them (with the provider's own switch), and brings them\n\
         back each time. Each node is in a network namespace of its own: packets are dropped between one node and the others,\n\
         between two, between all, and in one direction only (iptables). Each node has a disk of its own: it is slow at times,\n\
         and at a power loss the server is killed and loses, page by page and at random, what it had not synced\n\
         (crates/sandbox/tests/it/disk/disk.c, an LD_PRELOAD library). On Hortator's nodes, one client changes the definition\n\
         of a table, nodes receive all tables, join as new members or have two votes, disks are full, and a node loses its power\n\
         with log.sync=no.\n\
         The clients remember all confirmed transactions, and the test looks for them on every node at the end. Run it again\n\
         with:\n\n    \
         cargo xtask fire {minutes} --provider {provider} --seed {seed}{options}{faults}\n\n\
         A seed reproduces the same faults and clients, not the same timing. With this setting, Galera does not promise to\n\
         keep transactions when all nodes are down. The test starts Galera's nodes as an operator has to, the most advanced\n\
         one first. It just starts Hortator's nodes.{}\n\n",
        if columns.len() > 1 { " Both ran at the same time on the same machine." } else { "" }
    );
    text.push_str(&table(columns));
    text
}

/// The figures as columns, in the order of the first.
fn table(columns: &[(&str, String)]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut text = format!("| | {} |\n|---|{}\n", names.join(" | "), "---:|".repeat(columns.len()));
    let value = |figures: &str, wanted: &str| {
        let mut pairs = figures.lines().filter_map(|line| line.split_once('|'));
        pairs.find(|(what, _)| *what == wanted).map_or(String::new(), |(_, value)| value.to_owned())
    };
    let first = columns.first().map_or("", |(_, figures)| figures);
    for (what, _) in first.lines().filter_map(|line| line.split_once('|')) {
        let values: Vec<String> = columns.iter().map(|(_, figures)| value(figures, what)).collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "| {what} | {} |", values.join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Wanted, String> {
        parse(line.split_whitespace().map(str::to_owned)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_words_are_understood() {
        let provider = "ours".to_owned();
        let plain = Wanted { minutes: 10, provider, seed: None, options: None, faults: None, report: None };
        assert_eq!(parsed(""), Ok(plain));
        let all = Wanted {
            minutes: 30,
            provider: "both".to_owned(),
            seed: Some(7),
            options: Some("log.sync=no".to_owned()),
            faults: Some("stop".to_owned()),
            report: Some("x.md".into()),
        };
        assert_eq!(parsed("30 --provider both --seed 7 --options log.sync=no --faults stop --report x.md"), Ok(all));
        for line in ["0", "long", "--provider", "--provider theirs", "--seed x", "--options", "--faults"] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn figures_stand_side_by_side() {
        let columns = [("Hortator", "lost|0\nfaults|2\n".to_owned()), ("Galera", "lost|7\n".to_owned())];
        assert_eq!(table(&columns), "| | Hortator | Galera |\n|---|---:|---:|\n| lost | 0 | 7 |\n| faults | 2 |  |\n");
    }
}
