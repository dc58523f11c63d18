//! `--unique-checks=deferred`: no duplicate goes unnoticed, neither one that the server finds nor one that it does not.

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::run;
use crate::servers::{Server, pair};

const DEFERRED: [&str; 2] = ["--foreign-keys=deferred", "--unique-checks=deferred"];

#[test]
fn duplicates_that_the_server_finds_are_told_as_ever() {
    let server = &pair().hortator;
    // In an empty table, with both checks off, the server's bulk mode would tell of these at a commit, and not which.
    for (rows, line, message) in [
        ("(1,1);\nINSERT INTO t VALUES (2,2),(1,3)", 4, "Duplicate entry '1' for key 'PRIMARY'"),
        ("(1,1),(2,1)", 3, "Duplicate entry '1' for key 'u'"),
        ("(1,1);\nINSERT INTO t VALUES (2,2);\nINSERT INTO t VALUES (3,2)", 5, "Duplicate entry '2' for key 'u'"),
        ("(1,1);\nTRUNCATE t;\nINSERT INTO t VALUES (2,2),(3,2)", 5, "Duplicate entry '2' for key 'u'"),
        ("(1,1);\nDELETE FROM t;\nINSERT INTO t VALUES (2,2),(3,2)", 5, "Duplicate entry '2' for key 'u'"),
    ] {
        for definition in ["", " PARTITION BY HASH (id) PARTITIONS 3"] {
            let key = if definition.is_empty() { "u" } else { "u,id" };
            if !definition.is_empty() && !message.contains("PRIMARY") {
                continue;
            }
            server.reset();
            let text = format!(
                "SET foreign_key_checks = 0, unique_checks = 0;\n\
                 CREATE TABLE t (id INT PRIMARY KEY, u INT, UNIQUE KEY u ({key})) ENGINE=InnoDB{definition};\n\
                 INSERT INTO t VALUES {rows};\n"
            );
            let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
            let more = ["--chunk-bytes", "1", "--threads", "3", dump.to_str().unwrap()];
            let outcome = run(load_into(server, &[&DEFERRED[..], &more].concat()));
            let told = format!("ERROR 1062 (23000) at line {line} in file: '{}': {message}", dump.display());
            assert_tells(&outcome, 1, &[&told, "unique keys: DEFERRED AND NOT VALIDATED"]);
        }
    }
}

#[test]
fn going_on_after_errors_and_putting_off_do_not_go_together() {
    let server = &pair().hortator;
    let outcome = run(load_into(server, &[DEFERRED[1], "--force"]));
    assert_tells(&outcome, 2, &["'--unique-checks <WHEN>' cannot be used with '--force'"]);
}

/// The server buffers additions to keys whose pages are not in memory, and then never looks for duplicates. MariaDB 11 has no
/// such buffer: it finds them.
#[test]
fn duplicates_that_the_server_does_not_find() {
    let settings = [
        ("innodb_change_buffering", "all"),
        ("innodb_buffer_pool_load_at_startup", "OFF"),
        ("innodb_stats_auto_recalc", "OFF"),
        ("innodb_flush_log_at_trx_commit", "0"),
        ("debug_no_sync", "1"),
    ];
    let server = Server::start(&settings);
    // Values that are there, in pages of the key that have room: full ones are read, and the duplicate is found.
    let value = |seq: u64| seq * 7919 % 1_000_003;
    let row = |id: u64| format!("({},{},'new')", 400_000 + id, value(id * 10_000));
    let rows = |from: u64| (from..from + 5).map(row).collect::<Vec<_>>().join(",\n");
    // The first rows of a load are checked as ever.
    let text = format!(
        "INSERT INTO t (id, u, v) VALUES (300000,1000003,'first');\nINSERT INTO t (id, u, v) VALUES\n{};\n\
         INSERT INTO t (id, u, v) VALUES\n{};\n",
        rows(1),
        rows(6)
    );
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let dump = dump.to_str().unwrap();
    let prepare = || {
        server.reset();
        let mut root = server.connect();
        for statement in [
            "USE hortator_case",
            "CREATE TABLE t (id INT PRIMARY KEY, u INT NOT NULL, v VARCHAR(9), pad CHAR(100) DEFAULT 'x', UNIQUE KEY u (u))",
            "INSERT INTO t (id, u) SELECT seq, seq * 7919 % 1000003 FROM seq_1_to_200000",
        ] {
            root.execute(statement.as_bytes()).unwrap();
        }
        // So that no page is in memory.
        server.sandbox().node(0).stop().unwrap();
        server.sandbox().node(0).start().unwrap();
    };
    let new_rows = || server.rows_of_case("SELECT COUNT(*) FROM t IGNORE INDEX (u) WHERE v = 'new'")[0][0].clone();

    prepare();
    let outcome = run(load_into(&server, &[&DEFERRED[..], &[dump]].concat()));
    let has_buffer = !server.rows_of_case("SHOW VARIABLES LIKE 'innodb_change_buffering'").is_empty();
    let told = [
        "t: 20 row(s) have duplicate values in a unique key (constraint u)",
        "at line 3 in file: '",
        &format!("dump.sql': u = {}\n", value(10_000)),
        "at line 13 in file: '",
        &format!("dump.sql': u = {}\n", value(100_000)),
        &format!(
            "u = {} (no line: no row of the dump has these values as literals; the row existed before",
            value(50_000)
        ),
        "unique keys: deferred, 1 of 2 constraint(s) violated",
    ];
    if has_buffer {
        assert_eq!(new_rows(), "10", "{}", outcome.messages);
        assert_tells(&outcome, 1, &told);
    } else {
        assert_eq!(new_rows(), "0", "{}", outcome.messages);
        assert_tells(&outcome, 1, &["ERROR 1062 (23000) at line 2"]);
    }

    prepare();
    let outcome = run(load_into(&server, &[dump]));
    assert_tells(&outcome, 1, &["ERROR 1062 (23000) at line 2", "unique keys: checked by the server"]);
    assert_eq!(new_rows(), "0");
}
