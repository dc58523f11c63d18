//! Checks that all nodes of a cluster have the same content.

use std::collections::BTreeSet;

use hortator_check::compare::{Difference, Endpoint, Options, Progress, compare, is_system_schema};

use super::report::Findings;
use super::{Verify, inventory};

/// Most differences reported for each node.
const REPORTED_LIMIT: usize = 10;

/// Compares every node with the writer, in the schemas that the stream names.
pub(super) fn compare_all(verify: &Verify<'_>, findings: &mut Findings) {
    let names: BTreeSet<String> = inventory::schemas(verify.expectations)
        .iter()
        .map(|schema| String::from_utf8_lossy(schema).into_owned())
        .filter(|schema| !is_system_schema(schema))
        .collect();
    let writer = verify.connect;
    for (label, connect) in verify.nodes.iter().filter(|(_, connect)| connect.address != writer.address) {
        let mut node_differs = false;
        for name in &names {
            // Each node numbers rows in a series of its own.
            let options = Options { threads: verify.threads, counters: false, ..Options::default() };
            let sides =
                [writer, connect].map(|connect| Endpoint { connect: connect.clone(), schema: Some(name.clone()) });
            match compare(&sides, &options, &Progress::default()) {
                Ok(report) => {
                    let reported: Vec<_> = report.differences.iter().filter(|found| !is_switched_off(found)).collect();
                    node_differs |= !reported.is_empty();
                    for difference in reported.into_iter().take(REPORTED_LIMIT) {
                        findings.problem(format!("node {label} (second) and {} (first): {difference}", writer.address));
                    }
                }
                // A schema that the stream dropped is on neither.
                Err(hortator_check::compare::Error::NotFound { .. }) => {}
                Err(error) => {
                    node_differs = true;
                    findings.problem(format!("cannot compare node {label}: {error}"));
                    break;
                }
            }
        }
        if !node_differs {
            findings.nodes.push(label.clone());
        }
    }
}

/// A cluster leaves an event on where it was made, and switches it off on the other nodes.
fn is_switched_off(difference: &Difference) -> bool {
    let is_off = |lines: &[String]| lines.iter().any(|line| line.contains("DISABLE ON SLAVE"));
    difference.kind == "event" && (is_off(&difference.first) || is_off(&difference.second))
}
