//! What `--plan` predicts of rows, held against what the load then does.

use crate::errors::{dump_file, load_into};
use crate::programs::run;
use crate::servers::{Server, pair};
use crate::target;

/// A table's definition, and rows for it, which are one statement.
const TABLES: &[(&str, &str)] = &[
    ("(id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB", "VALUES (1, 'a'), (2, 'b')"),
    ("(id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=MyISAM", "VALUES (1, 'a'), (2, 'b')"),
    ("(id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=Aria", "VALUES (1, 'a'), (2, 'b')"),
    ("(id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=MEMORY", "VALUES (1, 'a'), (2, 'b')"),
    ("(id INT NOT NULL, v VARCHAR(20) NOT NULL) ENGINE=CSV", "VALUES (1, 'a'), (2, 'b')"),
    ("(id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB", "(v) VALUES ('a'), ('b')"),
    ("(id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(20)) ENGINE=MyISAM", "VALUES (1, 'a'), (2, 'b')"),
    ("(id INT PRIMARY KEY, v VARCHAR(20) DEFAULT (@x)) ENGINE=InnoDB", "(id) VALUES (1), (2)"),
    ("(id INT PRIMARY KEY, v DOUBLE DEFAULT (RAND())) ENGINE=InnoDB", "VALUES (1, 0.5), (2, 1.5)"),
    ("(id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB", "VALUES (1, CONCAT('a', 'b')), (2, 'b')"),
    (
        "(id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB PARTITION BY HASH (id) PARTITIONS 3",
        "VALUES (1, 'a'), (2, 'b')",
    ),
    ("(id INT PRIMARY KEY, v VARCHAR(20)) ENGINE=InnoDB WITH SYSTEM VERSIONING", "VALUES (1, 'a'), (2, 'b')"),
    ("(id INT PRIMARY KEY, v GEOMETRY) ENGINE=InnoDB", "VALUES (1, POINT(1, 2)), (2, NULL)"),
    (
        "(id INT PRIMARY KEY, v VARCHAR(20), w INT AS (id + 1) STORED) ENGINE=InnoDB",
        "(id, v) VALUES (1, 'a'), (2, 'b')",
    ),
];

#[test]
fn rows_travel_as_the_plan_says() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let mut found = Vec::new();
    for (definition, rows) in TABLES {
        for settings in ["", "SET NAMES latin1;\n", "SET sql_mode = 'NO_BACKSLASH_ESCAPES';\n"] {
            let text = format!("CREATE TABLE t {definition};\n{settings}INSERT INTO t {rows};\n");
            let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
            server.reset();
            let plan = run(load_into(server, &["--plan", dump.to_str().unwrap()]));
            assert_eq!(plan.status, Some(0), "{}", plan.messages);
            let shown = String::from_utf8(plan.rows).unwrap();
            // Rows of a barrier are of no table in the plan.
            let line = shown.lines().find(|line| line.contains(".t ")).unwrap_or_default();
            let foretold = line.contains("bulk execute");
            let loaded = run(load_into(server, &["--json", dump.to_str().unwrap()]));
            assert_eq!(loaded.status, Some(0), "{text}{}", loaded.messages);
            let summary: serde_json::Value = serde_json::from_slice(&loaded.rows).unwrap();
            let is_so = summary["binary_statements"] != 0;
            if foretold != is_so {
                found.push(format!("{text}  the plan: {line}\n  bulk executions: {}", summary["binary_statements"]));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_lock_for_each_insert_is_told() {
    if target::mysql().is_some() {
        return;
    }
    let server = Server::start(&[("innodb_autoinc_lock_mode", "0")]);
    server.reset();
    let told = "InnoDB locks a table with an AUTO_INCREMENT column for each INSERT";
    for (columns, is_told) in [("id INT AUTO_INCREMENT PRIMARY KEY", true), ("id INT PRIMARY KEY", false)] {
        let text = format!("CREATE TABLE t ({columns});\nINSERT INTO t VALUES (1), (2);\n");
        let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
        let plan = run(load_into(&server, &["--plan", dump.to_str().unwrap()]));
        assert_eq!(plan.status, Some(0), "{}", plan.messages);
        assert_eq!(String::from_utf8(plan.rows).unwrap().contains(told), is_told, "{columns}");
    }
}
