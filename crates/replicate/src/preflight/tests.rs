//! What is found where.

use hortator_mysql::Error;

use super::findings::findings;
use super::*;

fn good_source() -> SourceFacts {
    SourceFacts {
        is_mariadb: true,
        server_id: "1".to_owned(),
        identity: String::new(),
        ignored_ids: vec![],
        has_binary_log: true,
        format: "ROW".to_owned(),
        row_image: "FULL".to_owned(),
        overwrites: false,
        grants: vec!["GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO `repl`@`%`".to_owned()],
        tables: vec!["d.t".to_owned()],
        without_key: Vec::new(),
        with_source_column: Vec::new(),
        mysql: None,
    }
}

fn good_target() -> TargetFacts {
    TargetFacts {
        is_mariadb: true,
        version: "10.11.19-MariaDB".to_owned(),
        version_number: 101_119,
        grants: vec!["GRANT SELECT, BINLOG REPLAY ON *.* TO `h`@`%`".to_owned()],
        is_read_only: false,
        exec_mode: "STRICT".to_owned(),
        type_conversions: String::new(),
        is_node: false,
    }
}

/// What is said of one source, with the first letter of the severity.
fn check(target: &Result<TargetFacts, Error>, source: Result<SourceFacts, Error>) -> Vec<String> {
    let found = findings(target, 1, &[("a".to_owned(), source)]);
    found.iter().map(|one| format!("{:?}: {}", one.severity, one.text)).collect()
}

#[test]
fn servers_that_are_right() {
    assert_eq!(check(&Ok(good_target()), Ok(good_source())), Vec::<String>::new());
    for source in [
        SourceFacts { overwrites: true, ..good_source() },
        SourceFacts { row_image: "MINIMAL".to_owned(), ..good_source() },
    ] {
        assert_eq!(check(&Ok(good_target()), Ok(source)), Vec::<String>::new());
    }
    let all = vec!["GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost`".to_owned()];
    let target = TargetFacts { grants: all.clone(), ..good_target() };
    assert_eq!(check(&Ok(target), Ok(SourceFacts { grants: all, ..good_source() })), Vec::<String>::new());
}

#[test]
fn a_target_with_several_hosts() {
    let source = || [("a".to_owned(), Ok(good_source()))];
    let found = findings(&Ok(good_target()), 2, &source());
    assert!(found[0].text.contains("is no node of a cluster") && found[0].severity == Severity::Problem, "{found:?}");
    let node = TargetFacts { is_node: true, ..good_target() };
    assert_eq!(findings(&Ok(node), 2, &source()), []);
}

#[test]
fn what_is_wrong() {
    let lost = || Error::Unsupported("not there".to_owned());
    // Only one schema.
    let grants = vec!["GRANT ALL PRIVILEGES ON `d`.* TO `h`@`%`".to_owned()];
    for (target, source, said) in [
        (Err(lost()), Ok(good_source()), "Problem: the target: not there"),
        (Ok(good_target()), Err(lost()), "Problem: not there"),
        (
            Ok(TargetFacts { is_mariadb: false, ..good_target() }),
            Ok(good_source()),
            "Problem: the target is no MariaDB",
        ),
        (Ok(TargetFacts { grants, ..good_target() }), Ok(good_source()), "Problem: the account may not apply"),
        (
            Ok(good_target()),
            Ok(SourceFacts { grants: vec!["GRANT REPLICATION SLAVE ON *.* TO `r`@`%`".to_owned()], ..good_source() }),
            "Warning: the account may not ask how long the binary log is",
        ),
        (
            Ok(TargetFacts { type_conversions: "ALL_LOSSY,ALL_NON_LOSSY".to_owned(), ..good_target() }),
            Ok(good_source()),
            "Warning: slave_type_conversions allows ALL_LOSSY",
        ),
        (
            Ok(TargetFacts { exec_mode: "IDEMPOTENT".to_owned(), ..good_target() }),
            Ok(good_source()),
            "Warning: slave_exec_mode is IDEMPOTENT",
        ),
        (
            Ok(TargetFacts { is_read_only: true, ..good_target() }),
            Ok(good_source()),
            "Problem: the target is read-only",
        ),
        (
            Ok(good_target()),
            Ok(SourceFacts { has_binary_log: false, ..good_source() }),
            "Problem: it writes no binary log",
        ),
        (
            Ok(good_target()),
            Ok(SourceFacts { grants: vec!["GRANT BINLOG MONITOR ON *.* TO `r`@`%`".to_owned()], ..good_source() }),
            "Problem: the account may not read",
        ),
        (
            Ok(good_target()),
            Ok(SourceFacts { format: "MIXED".to_owned(), ..good_source() }),
            "Warning: binlog_format is MIXED",
        ),
        (
            Ok(good_target()),
            Ok(SourceFacts { row_image: "MINIMAL".to_owned(), overwrites: true, ..good_source() }),
            "Warning: conflict is overwrite, and binlog_row_image is MINIMAL",
        ),
        (
            Ok(good_target()),
            Ok(SourceFacts { without_key: (1..=7).map(|n| format!("d.t{n}")).collect(), ..good_source() }),
            "Warning: tables without a primary or unique key, where each changed row is searched in the whole table: d.t1, \
             d.t2, d.t3, d.t4, d.t5 and 2 more",
        ),
    ] {
        let found = check(&target, source);
        assert!(found.len() == 1 && found[0].starts_with(said), "{said}: {found:?}");
    }
}

#[test]
fn tables_of_several_sources() {
    let sources = ["a", "b"].map(|name| (name.to_owned(), Ok(good_source())));
    let found = findings(&Ok(good_target()), 1, &sources);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].text.ends_with("d.t (a, b)") && found[0].source.is_none(), "{found:?}");
}

#[test]
fn one_server_under_two_names() {
    let source = |identity: &str, id: &str, ignored_ids: &[u32]| SourceFacts {
        identity: identity.to_owned(),
        server_id: id.to_owned(),
        ignored_ids: ignored_ids.to_vec(),
        tables: Vec::new(),
        ..good_source()
    };
    let found = |sources: [SourceFacts; 3]| {
        let [a, b, c] = sources;
        let sources = [("a", a), ("b", b), ("c", c)].map(|(name, facts)| (name.to_owned(), Ok(facts)));
        findings(&Ok(good_target()), 1, &sources).into_iter().map(|one| one.text).collect::<Vec<_>>()
    };
    let one = found([source("x 1", "1", &[]), source("y 1", "1", &[]), source("x 1", "1", &[])]);
    assert!(one.len() == 1 && one[0].starts_with("a, c are one server, it seems"), "{one:?}");
    let same_id = found([source("x 1", "1", &[7]), source("y 1", "1", &[]), source("z 2", "2", &[])]);
    assert!(same_id.len() == 1 && same_id[0].starts_with("a, b have the same server_id, 1"), "{same_id:?}");
    let own = found([source("x 7", "7", &[7]), source("y 1", "1", &[7]), source("z 2", "2", &[])]);
    assert!(own.len() == 1 && own[0].starts_with("ignore_server_ids has 7, which is the source's own"), "{own:?}");
}
