//! What is read off the runner's output, asked for, and written into the page.

use super::arguments::Arguments;
use super::output::{Outcome, Test, tests};
use super::provider::Provider;
use super::status::{regenerated, summary};
use super::{Run, single_node};

/// Parts of real runs: Galera's provider with the suites wsrep, and galera on one node.
const OUTPUT: &str = include_str!("../../testdata/mtr.txt");

fn parse(line: &str) -> Result<Arguments, String> {
    Arguments::parse(line.split_whitespace().map(str::to_owned)).map_err(|error| error.to_string())
}

fn test(name: &str, outcome: Outcome) -> Test {
    Test { name: name.to_owned(), combination: String::new(), outcome }
}

fn run(group: &str, provider: &'static str, tests: Vec<Test>) -> Run {
    Run { group: group.to_owned(), provider, is_whole: true, tests }
}

#[test]
fn every_line_of_a_test_is_read() {
    let failed = |comment: &str| Outcome::Failed(comment.to_owned());
    let skipped = |comment: &str| Outcome::Skipped(comment.to_owned());
    let expected = [
        ("wsrep.variables_debug", skipped("Requires debug build")),
        ("wsrep.foreign_key", Outcome::Passed),
        ("wsrep.MDEV-23081 'binlogon'", skipped("debug_sync is not available")),
        ("wsrep.wsrep-recover-sequences 'binlogoff'", Outcome::Passed),
        ("galera.MDEV-26266", skipped("disabled: cannot work reliably")),
        (
            "galera.mdev-22063 'binlogon'",
            failed("the result differs, first in: -1\t1\t9223372036854775806\t1\t1\t0\t0\t0"),
        ),
        (
            "galera.MDEV-30955",
            failed(
                "At line 59: query 'INSERT INTO t1 VALUES(1)' failed: ER_LOCK_WAIT_TIMEOUT (1205): Lock wait timeout \
             exceeded; try restarting transaction",
            ),
        ),
        ("galera.galera_bf_abort", failed("left by galera_applier_ftwrl_table: mysqltest got signal 6")),
        ("galera.lp1376747-3", failed("left by lp1376747: mysqltest got signal 6")),
        ("galera.galera_backup_stage", failed("timeout after 120 seconds")),
        ("galera.partition", Outcome::Passed),
    ];
    let found: Vec<(String, Outcome)> = tests(OUTPUT).into_iter().map(|one| (one.to_string(), one.outcome)).collect();
    let expected: Vec<(String, Outcome)> = expected.map(|(name, outcome)| (name.to_owned(), outcome)).into();
    assert_eq!(found, expected);
}

#[test]
fn the_command_line_names_suites_and_tests() {
    let default = parse("").unwrap();
    assert_eq!(default.providers, [Provider::Ours, Provider::Galera]);
    assert_eq!(default.groups[0].suites, ["wsrep"]);
    let named = parse("--provider ours galera single galera_sr.GCF-561 galera.basic").unwrap();
    assert_eq!(named.providers, [Provider::Ours]);
    let groups: Vec<_> = named.groups.iter().map(|group| (group.name.as_str(), group.is_whole)).collect();
    assert_eq!(groups, [("galera", true), ("single", true), ("named tests", false)]);
    assert_eq!(named.groups[2].suites, ["galera", "galera_sr"]);
    let one = parse("single:galera.basic").unwrap();
    assert!(one.groups[0].on_one_node && !one.groups[0].is_whole);
    for wrong in ["rpl", "rpl.basic", "galera.", "galera.a|b", "--provider", "--provider both-of-them"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn the_list_names_tests_of_the_copied_suites() {
    let tests = single_node::tests();
    assert!(tests.len() > 100, "{}", tests.len());
    for test in &tests {
        assert!(parse(&format!("single:{test}")).is_ok(), "{test}");
    }
    assert!(tests.is_sorted());
}

#[test]
fn a_run_replaces_its_own_rows_and_keeps_what_people_wrote() {
    let page = "Before.\n<!-- mtr:begin -->\nAnything.\n<!-- mtr:end -->\nAfter.\n";
    let first = [
        run(
            "wsrep",
            "Hortator",
            vec![
                test("wsrep.a", Outcome::Failed("it's a | b".to_owned())),
                test("wsrep.b", Outcome::Failed("timeout".to_owned())),
            ],
        ),
        run("galera", "Galera", vec![test("galera.c", Outcome::Failed("other".to_owned()))]),
    ];
    let page = regenerated(page, &first).unwrap();
    let row = r"| wsrep | `wsrep.a` | Hortator | `it's a \| b` |  |";
    assert!(page.contains(row), "{page}");
    let page = page.replace(row, r"| wsrep | `wsrep.a` | Hortator | `it's a \| b` | not built yet |");

    let second = [
        run(
            "wsrep",
            "Hortator",
            vec![test("wsrep.a", Outcome::Failed("something else".to_owned())), test("wsrep.b", Outcome::Passed)],
        ),
        Run { is_whole: false, ..run("galera", "Galera", Vec::new()) },
    ];
    let expected = "Before.\n<!-- mtr:begin -->\n\n\
        | tests | provider | passed | failed | skipped |\n|---|---|---:|---:|---:|\n\
        | wsrep | Hortator | 1 | 1 | 0 |\n\
        | galera | Galera | 0 | 1 | 0 |\n\n\
        | tests | failed | provider | what the runner says | why |\n|---|---|---|---|---|\n\
        | wsrep | `wsrep.a` | Hortator | `something else` | not built yet |\n\
        | galera | `galera.c` | Galera | `other` |  |\n\n\
        <!-- mtr:end -->\nAfter.\n";
    assert_eq!(regenerated(&page, &second).unwrap(), expected);
    assert!(regenerated("no markers", &second).is_err());
}

#[test]
fn the_summary_shows_what_differs_or_failed() {
    let skipped = || Outcome::Skipped("no such thing".to_owned());
    let runs = [
        run(
            "wsrep",
            "Hortator",
            vec![
                test("wsrep.a", Outcome::Failed("why".to_owned())),
                test("wsrep.b", Outcome::Passed),
                test("wsrep.c", skipped()),
            ],
        ),
        run(
            "wsrep",
            "Galera",
            vec![test("wsrep.a", Outcome::Passed), test("wsrep.b", Outcome::Passed), test("wsrep.c", skipped())],
        ),
    ];
    let expected = "wsrep, Hortator: 1 passed, 1 failed, 1 skipped\n\
        wsrep, Galera: 2 passed, 0 failed, 1 skipped\n\
        wsrep.a\n    Hortator: failed: why\n    Galera: passed\n";
    assert_eq!(summary(&runs), expected);
}
