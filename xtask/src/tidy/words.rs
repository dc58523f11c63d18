//! Rules of words: one for one thing, and none that says nothing.

use super::{Finding, SourceFile};

/// Words that say nothing of what a module or type is for.
const EMPTY_WORDS: &[&str] = &["common", "helper", "helpers", "manager", "misc", "util", "utils"];

/// What defines a name.
const DEFINERS: &[&str] = &["mod", "struct", "enum", "trait", "type", "union"];

/// What may stand before that on the line.
const VISIBILITY: &[&str] = &["pub", "crate", "super", "in", "unsafe"];

/// The words that only servers' own syntax still has, in two parts, or this file would be a finding.
const OLD_WORDS: &[&str] = &[concat!("mas", "ter"), concat!("sla", "ve")];

/// Where that syntax is needed, and what for.
const OLD_WORDS_ALLOWED: &[(&str, &str)] = &[
    ("crates/bench/src/equal_settings", "names of server variables"),
    ("crates/bench/src/nodes", "names of server variables"),
    ("crates/bench/src/semisync", "names of server variables and statements"),
    ("crates/cli/tests/it/bench_semisync", "names of server variables and statements"),
    ("crates/cli/tests/it/cluster", "names of server variables"),
    ("crates/load/src/analysis", "names of statements, functions and server variables"),
    ("docs/benchmarks/auto-increment", "names of server variables"),
    ("docs/benchmarks/cluster", "names of server variables"),
    ("docs/benchmarks/foreign-keys", "names of server variables"),
    ("docs/benchmarks/semisync", "names of server variables"),
    ("docs/benchmarks/oltp-short", "names of server variables"),
    ("docs/benchmarks/stress", "names of server variables"),
    ("docs/benchmarks/galera", "names of server variables"),
    ("crates/load/src/session/shared_reports", "names of server variables"),
    ("crates/load/src/throttle/monitor", "names of threads in the process list"),
    ("crates/load/src/throttle/replica", "statements and columns of replication"),
    ("crates/load/src/verify/nodes", "a word in definitions of events"),
    ("crates/mysql/src/connection/binlog_stream", "names of server variables and privileges"),
    ("crates/provider/src", "names of server variables and of the wsrep API"),
    ("docs/provider", "names of server variables and options"),
    ("xtask/src/mtr_as_dumps", "names of mysqltest's commands and of the suites' files"),
    ("crates/sandbox/src/semisync", "names of server variables and statements"),
    ("crates/sandbox/tests/it/fire", "names of server variables"),
    ("crates/sandbox/tests/it/streaming_order", "names of server variables"),
    ("crates/sandbox/tests/it/network", "an argument of ip(8)"),
    ("crates/sandbox/tests/it/kills/async_replica", "names of server variables and statements"),
    ("crates/sandbox/tests/it/semisync", "names of server variables"),
    ("crates/bench/src/fan_in", "statements and variables of replication"),
    ("crates/cli/tests/it/replicate", "privileges and statements of replication"),
    ("crates/cli/tests/it/mysql/replicate_snapshot", "privileges and the status of events"),
    ("crates/replicate/src/event_definition", "a clause of ALTER EVENT"),
    ("crates/replicate/src/from_mysql/statement", "a clause of CREATE EVENT"),
    ("crates/replicate/src/from_mysql/tests", "a clause of CREATE EVENT"),
    ("crates/replicate/src/apply/statement_settings", "names of server variables"),
    ("crates/replicate/src/apply/workers/locks", "names of server variables"),
    ("xtask/src/replicate_streams", "statements and variables of replication"),
    ("crates/replicate/src/binlog/gtid", "names of server variables"),
    ("crates/replicate/src/preflight", "privileges and names of server variables"),
    ("crates/replicate/src/snapshot/definitions", "a clause of ALTER EVENT"),
    ("crates/replicate/src/snapshot/tests", "a clause of ALTER EVENT"),
    ("crates/replicate/src/source/start", "statements that ask for the end of the log"),
    ("docs/replicate", "privileges and an option of mariadb-dump"),
];

/// Findings in one file. Test data are as servers and users wrote them.
pub fn check(file: &SourceFile) -> Vec<Finding> {
    if file.path.split('/').any(|folder| folder == "testdata") {
        return Vec::new();
    }
    let mut findings = check_old_words(file);
    if file.path.ends_with(".rs") {
        findings.extend(check_path(file));
        findings.extend(check_definitions(file));
    }
    findings
}

fn check_old_words(file: &SourceFile) -> Vec<Finding> {
    if OLD_WORDS_ALLOWED.iter().any(|(place, _)| file.path.starts_with(place)) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        let line = line.to_ascii_lowercase();
        for word in OLD_WORDS.iter().filter(|word| line.contains(**word)) {
            let advice =
                "say source, replica, node; where a server's syntax has it, list the place in xtask's words.rs";
            findings.push(Finding::at(&file.path, index, format!("`{word}`: {advice}")));
        }
    }
    findings
}

fn check_path(file: &SourceFile) -> Vec<Finding> {
    let parts = file.path.trim_end_matches(".rs").split('/');
    let empty = parts.filter_map(empty_word);
    empty.map(|word| Finding::new(&file.path, format!("`{word}` says nothing; name what it is for"))).collect()
}

fn check_definitions(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if !line.trim_start().starts_with(char::is_alphabetic) {
            continue;
        }
        let mut tokens = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|token| !token.is_empty());
        let first = tokens.find(|token| !VISIBILITY.contains(token));
        let defined = if first.is_some_and(|first| DEFINERS.contains(&first)) { tokens.next() } else { None };
        if let Some(word) = defined.and_then(empty_word) {
            findings.push(Finding::at(&file.path, index, format!("`{word}` says nothing; name what it is for")));
        }
    }
    findings
}

/// The first empty word in a name of either case.
fn empty_word(name: &str) -> Option<&'static str> {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() {
            words.push('_');
        }
        words.extend(letter.to_lowercase());
    }
    words.split(['_', '-']).find_map(|word| EMPTY_WORDS.iter().copied().find(|empty| *empty == word))
}
