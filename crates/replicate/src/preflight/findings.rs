//! What follows from what the servers say.

use std::collections::BTreeMap;

use hortator_mysql::Error;

use super::{SourceFacts, TargetFacts, of_mysql};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The source would stop, or not start.
    Problem,
    /// It works, and something is slow or may surprise.
    Warning,
}

/// Something that a person should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The source; none for the target, or for several sources.
    pub source: Option<String>,
    /// How bad it is.
    pub severity: Severity,
    /// What was found, and what to do.
    pub text: String,
}

/// How many names a finding lists.
const NAMES_LIMIT: usize = 5;

/// What follows.
pub(super) fn findings(
    target: &Result<TargetFacts, Error>,
    target_hosts: usize,
    sources: &[(String, Result<SourceFacts, Error>)],
) -> Vec<Finding> {
    let mut found = Vec::new();
    match target {
        Ok(facts) => of_target(facts, target_hosts, &mut found),
        Err(error) => found.push(problem(None, format!("the target: {error}"))),
    }
    let target = target.as_ref().ok();
    for (name, facts) in sources {
        match facts {
            Ok(facts) => {
                of_source(name, facts, &mut found);
                let of_mysql = facts.mysql.iter().flat_map(|mysql| of_mysql::findings(mysql, &facts.row_image, target));
                found.extend(of_mysql.map(|(severity, text)| Finding { source: Some(name.clone()), severity, text }));
            }
            Err(error) => found.push(problem(Some(name), error.to_string())),
        }
    }
    of_all(sources, &mut found);
    found
}

fn of_target(facts: &TargetFacts, hosts: usize, found: &mut Vec<Finding>) {
    if hosts > 1 && !facts.is_node {
        let text = "the target has several hosts, and is no node of a cluster: after a failure, the next host would not have \
                    what the first one has";
        found.push(problem(None, text.to_owned()));
    }
    if !facts.is_mariadb {
        let text = format!("the target is no MariaDB server ({}): only these can be targets so far", facts.version);
        found.push(problem(None, text));
    }
    if !has_grant(&facts.grants, &["BINLOG REPLAY", "SUPER"]) {
        let text = "the account may not apply row events on the target: GRANT BINLOG REPLAY ON *.* TO it";
        found.push(problem(None, text.to_owned()));
    }
    if facts.is_mariadb && facts.exec_mode != "STRICT" {
        let text = format!(
            "slave_exec_mode is {} on the target: rows that are missing or there already are passed over without a word",
            facts.exec_mode
        );
        found.push(Finding { source: None, severity: Severity::Warning, text });
    }
    if facts.type_conversions.contains("ALL_LOSSY") {
        let text = "slave_type_conversions allows ALL_LOSSY on the target: values that do not fit its columns are cut off \
                    without a word";
        found.push(Finding { source: None, severity: Severity::Warning, text: text.to_owned() });
    }
    if facts.is_read_only && !has_grant(&facts.grants, &["READ_ONLY ADMIN", "SUPER"]) {
        found.push(problem(None, "the target is read-only: SET GLOBAL read_only = OFF there".to_owned()));
    }
}

fn of_source(name: &str, facts: &SourceFacts, found: &mut Vec<Finding>) {
    let mut add = |severity, text: &str| {
        found.push(Finding { source: Some(name.to_owned()), severity, text: text.to_owned() });
    };
    if !facts.has_binary_log {
        add(Severity::Problem, "it writes no binary log: set log_bin");
    }
    if !has_grant(&facts.grants, &["REPLICATION SLAVE", "REPLICATION REPLICA"]) {
        add(Severity::Problem, "the account may not read the binary log: GRANT REPLICATION SLAVE ON *.* TO it");
    }
    if !has_grant(&facts.grants, &["BINLOG MONITOR", "REPLICATION CLIENT", "SUPER"]) {
        let text = "the account may not ask how long the binary log is: the status does not know how many bytes the target \
                    is behind; GRANT BINLOG MONITOR (MySQL: REPLICATION CLIENT) ON *.* TO it";
        add(Severity::Warning, text);
    }
    if facts.format != "ROW" {
        let text = format!(
            "binlog_format is {}: statements run again on the target, one by one; set binlog_format = ROW",
            facts.format
        );
        add(Severity::Warning, &text);
    }
    if facts.server_id.parse().is_ok_and(|id: u32| facts.ignored_ids.contains(&id)) {
        let text = format!(
            "ignore_server_ids has {}, which is the source's own server_id: nothing that is written there is applied. Give the \
             source and the server that is meant different ids",
            facts.server_id
        );
        add(Severity::Warning, &text);
    }
    if facts.overwrites && facts.row_image != "FULL" {
        let text = format!(
            "conflict is overwrite, and binlog_row_image is {}: an update of a row that the target does not have stops the \
             source, as its event has the changed columns only. Set binlog_row_image = FULL",
            facts.row_image
        );
        add(Severity::Warning, &text);
    }
    if !facts.without_key.is_empty() {
        let text = format!(
            "tables without a primary or unique key, where each changed row is searched in the whole table: {}",
            listed(&facts.without_key)
        );
        add(Severity::Warning, &text);
    }
}

/// The names of sources that have something in common, for each of it that several have.
fn common<'s>(
    sources: &'s [(String, Result<SourceFacts, Error>)],
    what: impl Fn(&'s SourceFacts) -> &'s str,
) -> Vec<(&'s str, String)> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, facts) in sources.iter().filter_map(|(name, facts)| Some((name, facts.as_ref().ok()?))) {
        groups.entry(what(facts)).or_default().push(name);
    }
    groups
        .into_iter()
        .filter(|(of, names)| !of.is_empty() && names.len() > 1)
        .map(|(of, names)| (of, names.join(", ")))
        .collect()
}

/// What concerns several sources.
fn of_all(sources: &[(String, Result<SourceFacts, Error>)], found: &mut Vec<Finding>) {
    for (_, names) in common(sources, |facts| &facts.identity) {
        let text = format!(
            "{names} are one server, it seems: what their rules lead to one table of the target is applied twice. Take all but one \
             out of the configuration, or give them rules that lead different tables to the target"
        );
        found.push(Finding { source: None, severity: Severity::Warning, text });
    }
    let is_ignoring = sources.iter().any(|(_, facts)| facts.as_ref().is_ok_and(|facts| !facts.ignored_ids.is_empty()));
    for (id, names) in common(sources, |facts| &facts.server_id).into_iter().filter(|_| is_ignoring) {
        let text = format!(
            "{names} have the same server_id, {id}, by which the target's log tells whose a transaction is: `ignore_server_ids` of \
             another process leaves out those of all of them. Give each server an id of its own"
        );
        found.push(Finding { source: None, severity: Severity::Warning, text });
    }
    let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, facts) in sources.iter().filter_map(|(name, facts)| Some((name, facts.as_ref().ok()?))) {
        for table in facts.tables.iter().filter(|table| !facts.with_source_column.contains(table)) {
            owners.entry(table).or_default().push(name);
        }
    }
    let shared: Vec<String> = owners
        .into_iter()
        .filter(|(_, names)| names.len() > 1)
        .map(|(table, names)| format!("{table} ({})", names.join(", ")))
        .collect();
    if !shared.is_empty() {
        let text = format!(
            "tables that several sources have: their rows go into one table of the target, and a source stops at a row \
             that another has written with the same key: {}",
            listed(&shared)
        );
        found.push(Finding { source: None, severity: Severity::Warning, text });
    }
}

fn problem(source: Option<&str>, text: String) -> Finding {
    Finding { source: source.map(str::to_owned), severity: Severity::Problem, text }
}

/// Whether the account has one of these privileges on everything.
fn has_grant(grants: &[String], privileges: &[&str]) -> bool {
    grants.iter().any(|grant| {
        let Some((list, _)) = grant.split_once(" ON *.* ") else { return false };
        list.contains("ALL PRIVILEGES") || privileges.iter().any(|privilege| list.contains(privilege))
    })
}

pub(super) fn listed(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMES_LIMIT)].join(", ");
    match names.len().checked_sub(NAMES_LIMIT) {
        Some(more) if more > 0 => format!("{shown} and {more} more"),
        _ => shown,
    }
}
