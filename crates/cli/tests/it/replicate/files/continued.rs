//! Files after a server that has been read and is lost; files under rules; files with large transactions.

use std::fs;

use super::Recovery;
use crate::replicate::fan_in::{FanIn, run, texts};

#[test]
fn a_server_that_is_lost_while_it_is_read() {
    let fan_in = FanIn::new(1, &[]);
    let source = &fan_in.sources[0];
    let agent = fan_in.start();
    run(
        source,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB", "INSERT INTO d.t VALUES (1)"],
    );
    fan_in.catch_up();
    assert_eq!(fan_in.says("stop"), (String::new(), Some(0)));
    assert_eq!(agent.end().1, Some(0));
    run(source, &["INSERT INTO d.t VALUES (2)", "FLUSH BINARY LOGS", "INSERT INTO d.t VALUES (3)"]);
    source.node(0).kill().unwrap();
    // The files of the dead server, where they are.
    let folder = source.node(0).data_dir();
    let (shown, code) = fan_in.says(&format!("run --from-files {}", folder.display()));
    assert!(shown.contains("all files are applied; bin.000002 was being written") && code == Some(0), "{shown}");
    source.node(0).start().unwrap();
    fan_in.assert_equal(&["d"]);

    // And on with the server.
    run(source, &["INSERT INTO d.t VALUES (4)"]);
    let agent = fan_in.start();
    fan_in.catch_up();
    fan_in.assert_equal(&["d"]);
    assert_eq!(fan_in.says("stop"), (String::new(), Some(0)));
    assert_eq!(agent.end().1, Some(0));
}

#[test]
fn one_table_under_another_name() {
    let recovery = Recovery::new("bin.000001:4");
    recovery.write(&[
        "CREATE TABLE d.other (id INT PRIMARY KEY) ENGINE=InnoDB",
        "INSERT INTO d.t VALUES (1, 'one'), (2, 'two')",
        "INSERT INTO d.other VALUES (1)",
        "UPDATE d.t SET v = 'good' WHERE id = 1",
    ]);
    let end = recovery.end();
    recovery.write(&["DELETE FROM d.t"]);
    recovery.copy();
    let text = fs::read_to_string(recovery.fan_in.file()).unwrap();
    let rules =
        "[[source.rule]]\nmatch = \"d.t\"\nto = \"d.t_restored\"\n[[source.rule]]\nmatch = \"*.*\"\nskip = true\n";
    fs::write(recovery.fan_in.file(), text + rules).unwrap();
    // A table of that name is not touched.
    run(&recovery.fan_in.target, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    recovery.check(&format!("--until {end}"), 0, "is reached");
    let rows = texts(&recovery.fan_in.target, "SELECT id, v FROM d.t_restored ORDER BY id");
    assert_eq!(rows, [["1", "good"], ["2", "two"]]);
    assert_eq!(texts(&recovery.fan_in.target, "SHOW TABLES FROM d").concat(), ["t", "t_restored"]);
    // Transactions that are left out count as applied.
    recovery.check(&format!("--until {end}"), 0, &format!("applied up to {end}"));
}

#[test]
fn places_in_and_at_large_transactions() {
    let recovery = Recovery::new("bin.000001:4");
    recovery.write(&["INSERT INTO d.t VALUES (1, 'x')"]);
    let before = recovery.end();
    // Nine megabytes, in parts.
    recovery.write(&["INSERT INTO d.t SELECT seq, REPEAT('large', 2000) FROM d.seq_2_to_900"]);
    let (behind, gtid) = (recovery.end(), recovery.gtid());
    recovery.write(&["DELETE FROM d.t"]);
    recovery.copy();
    let position: u64 = before.split_once(':').unwrap().1.parse().unwrap();
    recovery.check(&format!("--until bin.000001:{}", position + 6_000_000), 0, &format!("applied up to {before}"));
    assert_eq!(recovery.ids(), "1");
    recovery.check(&format!("--until {gtid}"), 0, &format!("applied up to {behind}"));
    assert_eq!(texts(&recovery.fan_in.target, "SELECT COUNT(*) FROM d.t"), [["900"]]);
}
