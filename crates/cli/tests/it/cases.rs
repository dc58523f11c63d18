//! The dumps of `crates/load/testdata/dumps`: one construct each, told in the comment that it begins with.
//!
//! A dump that is to fail says so: `-- fails: 1062` with the first error of the client (`client` for one that the server
//! never sees). It is loaded with and without `--force`. Where other tables than that of the failed statement may hold
//! more than the client left there, `-- ahead: t, u` names them; with `--force` there is nothing to be ahead of.
//!
//! A dump that leaves rows without a parent, with its own checks off, says how many: `-- orphans: 2`.
//!
//! These are dumps for MariaDB. `cargo xtask mysql` loads them into MySQL too. What MySQL does not have is an error there,
//! on both sides; then all that stands behind is compared, with `--force`, and `-- errors on mysql:` says what it is.
//! `-- fails: 4025; on mysql: 3819` is for an error with another number, and `-- not on mysql:` for a case that says nothing
//! there. The dumps of `testdata/mysql` are for MySQL alone: [`crate::mysql`].
//!
//! Where Hortator means to be stricter than the client, `-- stricter:` says why: the state must be the client's, and the
//! end an error of our own. Where it stops and the client goes on regardless, `-- only with force:` says why.

use std::fs;
use std::path::{Path, PathBuf};

use crate::compare::{Comparison, Terms, assert_same, compare};
use crate::programs::{Contender, Dump, Failure};
use crate::servers::{Pair, pair};
use crate::target;

/// The topics, each a folder and a test of its own.
macro_rules! topics {
    ($($topic:ident),*) => {
        pub const TOPICS: &[&str] = &[$(stringify!($topic)),*];

        $(
            #[test]
            fn $topic() {
                check_topic(stringify!($topic));
            }
        )*
    };
}

topics!(
    session,
    rows,
    keys,
    objects,
    statements,
    engines,
    text,
    values,
    charset,
    fails,
    hidden_tables,
    session_effects,
    session_defaults,
    session_readback,
    diagnostics,
    statement_order,
    several_in_one,
    function_names,
    after_a_failure,
    row_transactions,
    binlogs
);

#[test]
fn every_folder_of_cases_is_a_topic() {
    let folders = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut names: Vec<String> =
        folders.filter(|path| path.is_dir()).map(|path| path.file_name().unwrap().to_string_lossy().into()).collect();
    names.sort();
    let mut topics: Vec<&str> = TOPICS.to_vec();
    topics.sort_unstable();
    assert_eq!(names, topics);
}

#[test]
fn every_case_says_what_it_is() {
    for topic in TOPICS {
        for path in cases(topic) {
            let text = fs::read(&path).unwrap();
            let head = String::from_utf8_lossy(&text[..text.len().min(500)]).into_owned();
            let says =
                |line: &str| line.contains("-- ") && !DIRECTIVES.iter().any(|name| line.starts_with(&prefix(name)));
            let says = head.lines().take(DIRECTIVES.len() + 1).any(says);
            assert!(text.is_empty() || says, "{} has no comment at its head", path.display());
        }
    }
}

/// Without checkpoints a load has fewer means to undo what it has sent: failures must leave the same.
#[test]
fn failures_without_checkpoints() {
    let pair = pair();
    let topics = ["fails", "after_a_failure"];
    let found = topics.iter().flat_map(|topic| differences(&pair, topic, &[Contender::WithoutCheckpoints], &[]));
    assert_same(&found.collect::<Vec<_>>());
}

fn check_topic(topic: &str) {
    assert_same(&differences(&pair(), topic, &Contender::OURS, &[]));
}

/// What differs over all cases of a topic but those named (by `topic/file.sql`).
pub fn differences(pair: &Pair, topic: &str, contenders: &[Contender], but: &[&str]) -> Vec<String> {
    let cases = cases(topic);
    let mut differences = Vec::new();
    for path in cases {
        let name = format!("{topic}/{}", path.file_name().unwrap().to_string_lossy());
        if !but.contains(&&*name) {
            differences.extend(check(pair, &path, contenders).into_iter().map(|found| format!("== {name}: {found}")));
        }
    }
    differences
}

/// Loads one dump with these contenders; what differs from what its head announces.
pub fn check(pair: &Pair, path: &Path, contenders: &[Contender]) -> Vec<String> {
    let text = fs::read(path).unwrap();
    let fails = directive(&text, "fails");
    let ahead: Vec<String> =
        directive(&text, "ahead").map(|tables| tables.split(", ").map(str::to_owned).collect()).unwrap_or_default();
    let dump = Dump::File(path);
    let is_stricter = directive(&text, "stricter").is_some();
    let run =
        |force, ahead: &[String]| compare(pair, dump, Terms { contenders, force, row_times: true, is_stricter, ahead });
    if target::mysql().is_some() && directive(&text, "not on mysql").is_some() {
        return Vec::new();
    }
    if directive(&text, "only with force").is_some() {
        return run(true, &[]).differences;
    }
    if target::mysql().is_some() && directive(&text, "errors on mysql").is_some() {
        return with_errors_of_mysql(run(true, &[]));
    }
    let once = run(false, &ahead);
    let mut found = once.differences;
    let of_both = fails.as_deref().map(|fails| fails.split_once("; on mysql: ").unwrap_or((fails, fails)));
    let expected = of_both.map(|(mariadb, mysql)| if target::mysql().is_some() { mysql } else { mariadb });
    match expected {
        None => {
            found.extend(once.failures.iter().map(|failure| format!("the client fails: {failure:?}")));
            if !is_stricter {
                found.extend(deferred(pair, dump, directive(&text, "orphans").as_deref()));
            }
        }
        Some(expected) => {
            if once.failures.first().map(code).as_deref() != Some(expected) {
                found.push(format!("the client was to fail with {expected}, not {:?}", once.failures));
            }
            if !is_stricter {
                found.extend(run(true, &[]).differences);
            }
        }
    }
    found
}

/// The same with checks deferred: what is valid as written is valid then, and no less is there. `orphans` are rows that
/// the dump leaves without a parent, with its checks off: they are there, too, and told.
fn deferred(pair: &Pair, dump: Dump<'_>, orphans: Option<&str>) -> Vec<String> {
    let contenders = &[Contender::Deferred];
    let terms = Terms { contenders, force: false, row_times: true, is_stricter: false, ahead: &[] };
    let mut found = compare(pair, dump, terms).differences;
    if let Some(orphans) = orphans
        && !Contender::only_client()
    {
        let told = format!("{orphans} row(s) have no parent row: (");
        match found.iter().position(|found| found.contains("exit status Some(1) instead of 0")) {
            Some(at) if found[at].contains(&told) => drop(found.remove(at)),
            _ => found.push(format!("{orphans} orphan(s) are not told")),
        }
    }
    found
}

/// What differs in a dump that is said to have errors on MySQL.
fn with_errors_of_mysql(forced: Comparison) -> Vec<String> {
    let mut found = forced.differences;
    if forced.failures.is_empty() {
        found.push("it has no errors on MySQL: take the line away that says so".to_owned());
    }
    found
}

fn code(failure: &Failure) -> String {
    failure.code.map_or_else(|| "client".to_owned(), |code| code.to_string())
}

const DIRECTIVES: [&str; 7] =
    ["fails", "ahead", "stricter", "only with force", "orphans", "errors on mysql", "not on mysql"];

/// What a `-- name: value` line at the head of a case says.
fn directive(text: &[u8], name: &str) -> Option<String> {
    assert!(DIRECTIVES.contains(&name));
    let head = String::from_utf8_lossy(&text[..text.len().min(500)]).into_owned();
    let value = head.lines().take(DIRECTIVES.len()).find_map(|line| line.strip_prefix(&prefix(name)))?;
    Some(value.trim_end().to_owned())
}

fn prefix(directive: &str) -> String {
    format!("-- {directive}: ")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../load/testdata/dumps")
}

fn cases(topic: &str) -> Vec<PathBuf> {
    files(&folder().join(topic))
}

/// The dumps of a folder, by name.
///
/// # Panics
/// When there is none.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "sql")).collect();
    assert!(!files.is_empty(), "no dumps in {}", folder.display());
    files.sort();
    files
}
