//! The outcome as a page.

use super::experiment::{INSERTS, STATEMENT_ROWS};
use super::{Experiment, Loader, Outcome, loads_report, sweep_report};
use crate::child_inserts::Parents;
use crate::deployment::{self, Deployment};
use crate::employees::ForeignKeys;
use crate::page::{ContenderNote, Page};
use crate::report::thousands;
use crate::rules::{self, Facts};

/// The factor between loads into a cluster with foreign keys and without: 2,278 s and 90 s.
pub(super) const REPORTED_FACTOR: f64 = 25.3;

/// The page of an experiment.
#[must_use]
pub fn page(experiment: &Experiment, outcome: &Outcome) -> Page {
    let mut page = Page {
        experiment: "foreign-keys".to_owned(),
        title: "Foreign keys and a load into a cluster".to_owned(),
        question: "Why is a load with foreign keys into Galera so slow, and is only a load hit?".to_owned(),
        reported: vec![
            "Percona XtraDB Cluster 5.6.21 and 5.6.24 on a virtual machine with 8 cores, 16 GB, RAID 10 of 6 disks (2015): the \
             client loaded the employees sample in 2,278 s with foreign keys and in 90 s without; with foreign keys and \
             without Galera's library in 77 s. Factor 25.3. mysqldump's form of it was not slow: it switches the checks off."
                .to_owned(),
        ],
        command: command(experiment),
        settings: deployment::settings(),
        contenders: contenders(experiment),
        limits: limits(),
        ..Page::default()
    };
    if outcome.rows > 0 {
        page.settings.push(format!("{} rows of the sample, scale {}", thousands(outcome.rows), experiment.scale));
    }
    let facts = Facts { measured: &outcome.measured, versions: &outcome.versions, left_out: &outcome.left_out };
    let mut page = rules::page(page, &facts);
    page.answers = loads_report::answers(experiment, &page);
    page.answers.extend(sweep_report::answers(experiment, &page));
    page.sections = loads_report::section(experiment, &page).into_iter().collect();
    page.sections.extend(sweep_report::sections(experiment, &page));
    page
}

fn command(experiment: &Experiment) -> String {
    let Experiment { scale, extent, parents, only, .. } = experiment;
    let (rounds, time) = (extent.rounds, extent.time);
    let parents: Vec<String> = parents.iter().map(Parents::to_string).collect();
    let only = if only.is_empty() { String::new() } else { format!(" --only {}", only.join(",")) };
    format!(
        "hortator bench foreign-keys --scale {scale} --rounds {rounds} --seconds {} --parents {}{only}",
        time.as_secs_f64(),
        parents.join(",")
    )
}

fn contenders(experiment: &Experiment) -> Vec<ContenderNote> {
    let mut notes: Vec<ContenderNote> = experiment.deployments().into_iter().map(Deployment::note).collect();
    let survives = "what its servers promise".to_owned();
    for loader in Loader::of(ForeignKeys::With) {
        let (name, description) = (loader.to_string(), loader.description().to_owned());
        notes.push(ContenderNote { name, description, survives: survives.clone() });
    }
    let description = format!(
        "One connection on node 1, which inserts salaries and titles in turn, {} to {} rows a statement, autocommit.",
        STATEMENT_ROWS[0],
        thousands(STATEMENT_ROWS[STATEMENT_ROWS.len() - 1])
    );
    notes.push(ContenderNote { name: INSERTS.to_owned(), description, survives });
    notes
}

fn limits() -> Vec<String> {
    vec![
        "All nodes share this machine: its cores apply each row once for each node.".to_owned(),
        "\"No foreign keys\" keeps the indexes that foreign keys would create: only the checks are missing.".to_owned(),
        "The report does not say how many nodes it had, nor how many rows a statement: only the ratios compare."
            .to_owned(),
    ]
}
