//! The outcome as a page.

use super::contender::SETTINGS;
use super::experiment::CLIENT_CPU;
use super::{Deployment, Experiment, Outcome, failover_report, inserts_report};
use crate::figures::{CORES, MEASURED};
use crate::page::{ContenderNote, Page};
use crate::report::thousands;
use crate::rules::{self, Facts};

/// What the report measured: Galera's inserts per second divided by those of semi-synchronous replication.
pub(super) const REPORTED: f64 = 2.7;
/// From this share of the CPU time on, the threads that insert may limit a figure.
const CLIENT_SHARE: f64 = 1.0 / 3.0;

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let page = Page {
        experiment: "semisync".to_owned(),
        title: "Semi-synchronous replication, Galera and Hortator's provider with many small transactions".to_owned(),
        question: "How do Galera and Hortator's provider, with parallel appliers, compare with semi-synchronous replication for \
                   many small transactions, and how long does each confirm nothing when a server is lost?"
            .to_owned(),
        reported: vec![
            "MySQL of about 5.6, versions and cores not told, 1,000,000 rows with 400 threads, half of them on each of two servers \
             of one machine with their data on tmpfs: semi-synchronous replication 4,830 inserts/s, Galera with 16 appliers \
             12,987, 2.7 times as many. Not told: sync_binlog, whether one server or both took the semi-synchronous inserts, and \
             whether the other server had everything at the end. \"Zero failover time\" is claimed and not measured."
                .to_owned(),
        ],
        command: command(experiment),
        settings: settings(),
        contenders: notes(experiment),
        limits: limits(experiment),
        ..Page::default()
    };
    let facts = Facts { measured: &outcome.measured, versions: &outcome.versions, left_out: &outcome.left_out };
    let mut page = rules::page(page, &facts);
    page.warnings.extend(client_warning(&page));
    page.answers = inserts_report::answers(experiment, outcome, &page);
    page.answers.extend(failover_report::answers(experiment, outcome, &page));
    let sections =
        [inserts_report::section(experiment, outcome, &page), failover_report::section(experiment, outcome, &page)];
    page.sections = sections.into_iter().flatten().collect();
    page
}

fn command(experiment: &Experiment) -> String {
    let Experiment { deployments, failovers, rows, threads, flush, appliers, storage, keys, extent, .. } = experiment;
    let rounds = extent.rounds;
    let flush: Vec<u8> = flush.iter().map(|is_flushed| u8::from(*is_flushed)).collect();
    // One of the two without the other is measured alone.
    let servers: String = [("only", deployments), ("failover", failovers)]
        .into_iter()
        .filter(|(_, deployments)| !deployments.is_empty())
        .map(|(name, deployments)| format!(" --{name} {}", listed(deployments)))
        .collect();
    format!(
        "hortator bench semisync --rows {rows} --rounds {rounds} --threads {} --flush {} --appliers {} --storage {} --keys {}{servers}",
        listed(threads),
        listed(&flush),
        listed(appliers),
        listed(storage),
        listed(keys),
    )
}

fn listed<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

fn settings() -> Vec<String> {
    let mut settings: Vec<String> = SETTINGS.iter().map(|(name, value)| format!("{name}={value}")).collect();
    settings.push("no binary log but with alone-binlog, pair and ring; log_slave_updates=OFF".to_owned());
    settings.push(
        "flush is innodb_flush_log_at_trx_commit, with a binary log also sync_binlog, with H log.sync".to_owned(),
    );
    settings.push(
        "appliers is wsrep_slave_threads, with pair and ring slave_parallel_threads (0 in place of 1)".to_owned(),
    );
    settings
}

fn notes(experiment: &Experiment) -> Vec<ContenderNote> {
    let is_measured = |deployment: &Deployment| {
        experiment.deployments.contains(deployment) || experiment.failovers.contains(deployment)
    };
    Deployment::ALL.into_iter().filter(is_measured).map(Deployment::note).collect()
}

fn limits(experiment: &Experiment) -> Vec<String> {
    vec![
        "All servers, and the threads that insert, share this machine: a row costs its CPU time on each server.".to_owned(),
        format!(
            "Each run inserts {} rows; its figure is of all of them, without a warm-up. A row's latency includes that it was sent \
             again after an error.",
            thousands(experiment.rows)
        ),
        "Nobody has to notice a loss in this experiment: threads whose connection is lost go to another server at once, and the \
         replica of a pair is promoted as soon as it has applied what it received. The rows on their way at the kill are not \
         sent again."
            .to_owned(),
    ]
}

/// Whether the threads that insert used much of the CPU time of a run.
fn client_warning(page: &Page) -> Option<String> {
    let shares = page.runs.iter().filter_map(|run| {
        let servers = run.figure(CORES)? * run.figure(MEASURED)?;
        let client = run.figure(CLIENT_CPU)?;
        Some((client / (client + servers).max(f64::MIN_POSITIVE), &run.contender))
    });
    let (share, contender) = shares.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (share > CLIENT_SHARE).then(|| {
        format!(
            "the threads that insert used {:.0} % of the CPU time of a run of {contender}: they may limit its figure",
            share * 100.0
        )
    })
}
