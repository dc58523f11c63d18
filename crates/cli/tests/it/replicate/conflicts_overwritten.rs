//! Rows that do not fit those of the target, under `conflict = "overwrite"`: the source's row counts.

use std::fs;

use hortator_check::state;
use hortator_sandbox::Builder;

use super::conflicts::{counts, log_of, rows, under};
use super::fan_in::{FanIn, run};
use super::rules::{skip, stops_with, with_rules, write, write_and_wait};

#[test]
fn the_sources_row_counts() {
    let fan_in = under("overwrite", &[], "");
    let agent = fan_in.start();
    write(
        &fan_in,
        0,
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.t (id INT PRIMARY KEY, u INT UNIQUE, name VARCHAR(20) COLLATE utf8mb4_general_ci, w INT, UNIQUE (name, w)) ENGINE=InnoDB",
            "CREATE TABLE d1.n (a INT, b INT) ENGINE=InnoDB",
            "INSERT INTO d1.t VALUES (5, 50, 'five', 5), (6, 60, 'six', 6), (7, 70, 'seven', 7)",
            "INSERT INTO d1.n VALUES (1, 1), (2, 2)",
        ],
    );
    fan_in.catch_up();
    run(
        &fan_in.target,
        &[
            // In the way of 1: one row by the primary key, one by each other key.
            "INSERT INTO d1.t VALUES (1, NULL, NULL, NULL), (101, 10, NULL, NULL), (102, NULL, 'A ', 1)",
            // In the way of 2: another row only. In the way of 3, the update of 7: rows by two keys.
            "INSERT INTO d1.t VALUES (103, 20, 'x', NULL), (104, 77, NULL, NULL), (105, NULL, 'sEVEN', 8)",
            "DELETE FROM d1.t WHERE id IN (5, 6)",
            "DELETE FROM d1.n",
        ],
    );
    write_and_wait(
        &fan_in,
        0,
        &[
            "BEGIN",
            "INSERT INTO d1.t VALUES (1, 10, 'a', 1), (2, 20, 'b', 2)",
            "UPDATE d1.t SET u = 77, w = 8 WHERE id = 7",
            "UPDATE d1.t SET w = 55 WHERE id = 5",
            "DELETE FROM d1.t WHERE id = 6",
            "UPDATE d1.n SET b = 3 WHERE a = 1",
            "DELETE FROM d1.n WHERE a = 2",
            "COMMIT",
        ],
    );
    fan_in.assert_equal(&["d1"]);
    counts(&fan_in, "conflicts_overwritten", 7);
    // Primary keys that change: to one that another row has, and to one that is the same row's by the collation.
    write_and_wait(
        &fan_in,
        0,
        &[
            "CREATE TABLE d1.k (k VARCHAR(9) COLLATE utf8mb4_general_ci PRIMARY KEY, u INT UNIQUE, v INT) ENGINE=InnoDB",
            "INSERT INTO d1.k VALUES ('a', 1, 1), ('b', 2, 2)",
        ],
    );
    run(&fan_in.target, &["INSERT INTO d1.k VALUES ('C', 3, 9), ('d', 4, 9)"]);
    write_and_wait(
        &fan_in,
        0,
        &["UPDATE d1.k SET k = 'c', v = 5 WHERE k = 'a'", "UPDATE d1.k SET k = 'B', u = 4 WHERE k = 'b'"],
    );
    fan_in.assert_equal(&["d1"]);
    counts(&fan_in, "conflicts_overwritten", 9);
    let log = log_of(&fan_in, agent);
    assert!(log.contains("s1: conflicts in d1.t (overwrite): 5 rows of it since the start, the first: an insert of a row that the target has already, key id = 1"), "{log}");
    assert!(log.contains("an update to a key that another row of the target has, key k = 'a'"), "{log}");
}

/// A value of each type in a unique key beside the primary one.
#[test]
fn keys_of_all_types() {
    let fan_in = under("overwrite", &[], "");
    let agent = fan_in.start();
    let keys = [
        ("TINYINT", "-5"),
        ("SMALLINT UNSIGNED", "65000"),
        ("MEDIUMINT", "-8000000"),
        ("BIGINT UNSIGNED", "18446744073709551615"),
        ("FLOAT", "0.1"),
        ("DOUBLE", "-1.5e-300"),
        ("DECIMAL(30,11)", "-1234567890123.00000000001"),
        ("DECIMAL(4,4)", "0.0001"),
        ("BIT(17)", "b'10000000000000001'"),
        ("YEAR", "2155"),
        ("DATE", "'1000-12-31'"),
        ("TIME(3)", "'-838:59:58.999'"),
        ("TIME", "'-00:00:01'"),
        ("DATETIME(6)", "'9999-12-31 23:59:59.999999'"),
        ("DATETIME", "'0000-00-00 00:00:00'"),
        ("TIMESTAMP(1) NULL", "FROM_UNIXTIME(1729989000.5)"),
        ("ENUM('a','b','c')", "'c'"),
        ("SET('a','b','c','d','e','f','g','h','i')", "'a,i'"),
        ("CHAR(255)", "'x'"),
        ("VARCHAR(300) CHARACTER SET latin1", "'stra\u{df}e'"),
        ("VARCHAR(20) CHARACTER SET utf16", "'\u{4e16}'"),
        ("BINARY(4)", "X'6100'"),
        ("VARBINARY(300)", "X'00ff27'"),
        ("TEXT", "'it''s'"),
        ("INT AS (id * 2) STORED", ""),
    ];
    write(&fan_in, 0, &["CREATE DATABASE d1"]);
    for (number, (column, value)) in keys.iter().enumerate() {
        write(
            &fan_in,
            0,
            &[&format!("CREATE TABLE d1.t{number} (id INT PRIMARY KEY, k {column}, v INT, UNIQUE (k)) ENGINE=InnoDB")],
        );
        fan_in.catch_up();
        let insert = |id: u32, v: u32| match *value {
            "" => format!("INSERT INTO d1.t{number} (id, v) VALUES ({id}, {v})"),
            value => format!("INSERT INTO d1.t{number} (id, k, v) VALUES ({id}, {value}, {v})"),
        };
        let (own, other) = if value.is_empty() { (1, 1) } else { (900, 901) };
        let zone = "SET time_zone = 'Europe/Berlin', sql_mode = ''";
        let zone = if number == 15 {
            "SET time_zone = '+01:00', sql_mode = ''"
        } else {
            &zone.replace("Europe/Berlin", "SYSTEM")
        };
        run(&fan_in.target, &[zone, &insert(own, 9)]);
        if !value.is_empty() {
            // Another one, which is not in the way.
            run(&fan_in.target, &[zone, &format!("INSERT INTO d1.t{number} (id, v) VALUES ({other}, 7)")]);
        }
        write_and_wait(&fan_in, 0, &[zone, &insert(1, 1)]);
        let expected: &[&str] = if value.is_empty() { &["1 1"] } else { &["1 1", "901 7"] };
        assert_eq!(rows(&fan_in, &format!("SELECT id, v FROM d1.t{number} ORDER BY id")), expected, "{column}");
        run(&fan_in.target, &[&format!("DELETE FROM d1.t{number} WHERE id > 900")]);
    }
    fan_in.assert_equal(&["d1"]);
    counts(&fan_in, "conflicts_overwritten", keys.len() as u64);
    log_of(&fan_in, agent);
}

/// Children of a row that is overwritten stay; a row whose deletion would take children along stops the source.
#[test]
fn children_are_not_deleted() {
    let fan_in = under("overwrite", &[], "");
    let _agent = fan_in.start();
    write(
        &fan_in,
        0,
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.p (id INT PRIMARY KEY, u INT UNIQUE, v INT) ENGINE=InnoDB",
            "CREATE TABLE d1.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE) ENGINE=InnoDB",
            "CREATE TABLE d1.r (id INT PRIMARY KEY, u INT UNIQUE) ENGINE=InnoDB",
            "CREATE TABLE d1.s (id INT PRIMARY KEY, r INT, FOREIGN KEY (r) REFERENCES r (id)) ENGINE=InnoDB",
        ],
    );
    fan_in.catch_up();
    run(&fan_in.target, &["INSERT INTO d1.p VALUES (1, 1, 0), (2, 2, 0)", "INSERT INTO d1.c VALUES (1, 1), (2, 2)"]);
    run(&fan_in.target, &["INSERT INTO d1.r VALUES (1, 1), (2, 2)", "INSERT INTO d1.s VALUES (2, 2)"]);
    write_and_wait(&fan_in, 0, &["INSERT INTO d1.p VALUES (1, 1, 5)"]);
    assert_eq!(rows(&fan_in, "SELECT * FROM d1.p"), ["1 1 5", "2 2 0"]);
    write(&fan_in, 0, &["INSERT INTO d1.p VALUES (3, 2, 5)"]);
    stops_with(
        &fan_in,
        "s1",
        "the row in the way is not deleted: the foreign key of d1.c (c_ibfk_1) could delete or change the rows",
    );
    stops_with(&fan_in, "s1", "an insert of a row that the target has already, key id = 3");
    assert_eq!(rows(&fan_in, "SELECT * FROM d1.c"), ["1 1", "2 2"]);
    run(&fan_in.target, &["DELETE FROM d1.p WHERE id = 2"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    // Without actions: a row without children goes, one with children stops the source.
    write_and_wait(&fan_in, 0, &["INSERT INTO d1.r VALUES (11, 1)"]);
    // Nor where the source's last statement has not looked at children.
    write(
        &fan_in,
        0,
        &["SET foreign_key_checks = 0", "CREATE TABLE d1.z (id INT) ENGINE=InnoDB", "SET foreign_key_checks = 1"],
    );
    write(&fan_in, 0, &["INSERT INTO d1.r VALUES (12, 2)"]);
    stops_with(&fan_in, "s1", "Cannot delete or update a parent row");
    assert_eq!(rows(&fan_in, "SELECT id FROM d1.r ORDER BY id"), ["2", "11"]);
}

#[test]
fn triggers_of_the_target() {
    let fan_in = under("overwrite", &[], "");
    let _agent = fan_in.start();
    write(&fan_in, 0, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, u INT UNIQUE) ENGINE=InnoDB"]);
    fan_in.catch_up();
    run(
        &fan_in.target,
        &["CREATE DATABASE own", "CREATE TABLE own.fired (what VARCHAR(20))", "INSERT INTO d1.t VALUES (1, 9), (2, 2)"],
    );
    for event in ["INSERT", "UPDATE", "DELETE"] {
        let name = event.to_lowercase();
        run(
            &fan_in.target,
            &[&format!(
                "CREATE TRIGGER d1.on_{name} AFTER {event} ON d1.t FOR EACH ROW INSERT INTO own.fired VALUES ('{event}')"
            )],
        );
    }
    write_and_wait(&fan_in, 0, &["INSERT INTO d1.t VALUES (1, 1)"]);
    assert_eq!(rows(&fan_in, "SELECT * FROM d1.t"), ["1 1", "2 2"]);
    write(&fan_in, 0, &["INSERT INTO d1.t VALUES (3, 2)"]);
    stops_with(&fan_in, "s1", "the trigger `on_delete` of the target would fire");
    assert_eq!(rows(&fan_in, "SELECT * FROM own.fired"), [""; 0]);
}

#[test]
fn images_of_some_columns() {
    let fan_in = under("overwrite", &[], "");
    let _agent = fan_in.start();
    write(
        &fan_in,
        0,
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.t (id INT PRIMARY KEY, u INT UNIQUE, v INT DEFAULT 7, b TEXT) ENGINE=InnoDB",
            "CREATE TABLE d1.s (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
            "INSERT INTO d1.t VALUES (1, 1, 1, 'x'), (2, 2, 2, 'x')",
            "INSERT INTO d1.s VALUES (1, 1)",
            "CREATE TABLE d1.w (id INT PRIMARY KEY, u INT UNIQUE, x INT, y INT, UNIQUE (x, y)) ENGINE=InnoDB",
            "INSERT INTO d1.w VALUES (1, 1, 1, 1)",
        ],
    );
    fan_in.catch_up();
    // What an insert does not name gets its default, though the row that is there has another value.
    run(&fan_in.target, &["INSERT INTO d1.t VALUES (5, 5, 5, 'mine'), (6, 6, 6, 'mine')"]);
    write_and_wait(
        &fan_in,
        0,
        &[
            "SET binlog_row_image = MINIMAL",
            "INSERT INTO d1.t (id) VALUES (5)",
            "INSERT INTO d1.t (id, u) VALUES (4, 6)",
        ],
    );
    fan_in.assert_equal(&["d1"]);
    // The key's columns are enough for an update to a key of another row.
    run(&fan_in.target, &["INSERT INTO d1.t VALUES (9, 9, 9, 'mine')"]);
    write(&fan_in, 0, &["SET binlog_row_image = MINIMAL", "UPDATE d1.t SET u = 9 WHERE id = 1"]);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    // Of keys that do not change nothing has to be known; of one that does, all.
    run(&fan_in.target, &["INSERT INTO d1.w VALUES (9, 9, 1, 9)"]);
    write_and_wait(&fan_in, 0, &["SET binlog_row_image = MINIMAL", "UPDATE d1.w SET u = 9"]);
    fan_in.assert_equal(&["d1"]);
    run(&fan_in.target, &["INSERT INTO d1.w VALUES (9, NULL, 1, 9)"]);
    write(&fan_in, 0, &["SET binlog_row_image = MINIMAL", "UPDATE d1.w SET y = 9"]);
    stops_with(
        &fan_in,
        "s1",
        "cannot be looked up: the column `x` of its unique key `x` is not in the event (binlog_row_image)",
    );
    skip(&fan_in, "s1");
    fan_in.catch_up();
    // Without large columns the row is whole.
    run(&fan_in.target, &["DELETE FROM d1.s", "DELETE FROM d1.t WHERE id = 2"]);
    write_and_wait(&fan_in, 0, &["SET binlog_row_image = NOBLOB", "UPDATE d1.s SET v = 3"]);
    assert_eq!(rows(&fan_in, "SELECT * FROM d1.s"), ["1 3"]);
    for image in ["NOBLOB", "MINIMAL"] {
        write(&fan_in, 0, &[&format!("SET binlog_row_image = {image}"), "UPDATE d1.t SET v = v + 1 WHERE id = 2"]);
        stops_with(&fan_in, "s1", "conflict = \"overwrite\" needs the whole row to insert it");
        stops_with(
            &fan_in,
            "s1",
            "set binlog_row_image = FULL on the source; an update of a row that the target does not have, key id = 2",
        );
        assert_eq!(fan_in.says("skip s1").1, Some(0));
        fan_in.catch_up();
    }
    assert_eq!(rows(&fan_in, "SELECT id FROM d1.t ORDER BY id"), ["1", "4", "5"]);
}

/// Merged and renamed tables; tables without a primary key; columns that are generated or that nobody sees; columns that only
/// the target has.
#[test]
fn tables_of_all_sorts() {
    let rules = "[[source.rule]]\nmatch = \"m*.t\"\nto = \"all.t\"\nsource_column = \"shard\"\n\
                 [[source.rule]]\nmatch = \"d.*\"\nto = \"renamed.*\"\n";
    let mut fan_in = with_rules(1, &[], rules);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("[target]\n", "[target]\nconflict = \"overwrite\"\n"));
    run(&fan_in.target, &["CREATE DATABASE `all`"]);
    let agent = fan_in.start();
    write_and_wait(
        &fan_in,
        0,
        &[
            "CREATE DATABASE m1",
            "CREATE TABLE m1.t (id INT PRIMARY KEY, u INT, v INT, UNIQUE (u)) ENGINE=InnoDB",
            "CREATE DATABASE d",
            "CREATE TABLE d.nopk (a INT, b INT NOT NULL, c INT, UNIQUE (a), UNIQUE (b)) ENGINE=InnoDB",
            "CREATE TABLE d.g (id INT PRIMARY KEY, a INT, s INT AS (a + 1) STORED, w INT AS (a * 2) VIRTUAL, i INT INVISIBLE DEFAULT 5, UNIQUE (s)) ENGINE=InnoDB",
            "CREATE TABLE d.extra (id INT PRIMARY KEY, v INT) ENGINE=InnoDB",
            "CREATE TABLE d.prefixes (b BLOB, t TEXT, v INT, PRIMARY KEY (b(3)), UNIQUE (t(2))) ENGINE=InnoDB",
        ],
    );
    run(
        &fan_in.target,
        &[
            "INSERT INTO `all`.t (shard, id, u, v) VALUES ('s1', 1, 1, 0), ('s1', 2, 5, 0), ('other', 1, 1, 0), ('other', 2, 5, 0)",
            "INSERT INTO renamed.nopk VALUES (1, 10, 0), (2, 20, 0), (NULL, 30, 0)",
            "INSERT INTO renamed.g (id, a, i) VALUES (1, 1, 1), (7, 9, 7)",
            "ALTER TABLE renamed.extra ADD COLUMN mine INT DEFAULT 3",
            "INSERT INTO renamed.extra VALUES (1, 1, 42)",
            "INSERT INTO renamed.prefixes VALUES ('abcd', 'xy', 0), ('zzz', 'QRst', 0), ('yyy', 'q', 0)",
        ],
    );
    write_and_wait(
        &fan_in,
        0,
        &[
            "INSERT INTO m1.t VALUES (1, 5, 9)",
            // The first has rows in its way by both keys.
            "INSERT INTO d.nopk VALUES (1, 20, 9), (NULL, 30, 9), (NULL, 40, 9)",
            "INSERT INTO d.g (id, a, i) VALUES (1, 9, 6)",
            "INSERT INTO d.extra VALUES (1, 2)",
            "INSERT INTO d.prefixes VALUES ('abcx', 'qrx', 1)",
        ],
    );
    assert_eq!(
        rows(&fan_in, "SELECT shard, id, u, v FROM `all`.t ORDER BY 1, 2"),
        ["other 1 1 0", "other 2 5 0", "s1 1 5 9"]
    );
    assert_eq!(rows(&fan_in, "SELECT * FROM renamed.nopk ORDER BY b"), ["1 20 9", " 30 9", " 40 9"]);
    assert_eq!(rows(&fan_in, "SELECT id, a, s, w, i FROM renamed.g"), ["1 9 10 18 6"]);
    assert_eq!(rows(&fan_in, "SELECT * FROM renamed.extra"), ["1 2 42"]);
    assert_eq!(rows(&fan_in, "SELECT * FROM renamed.prefixes ORDER BY v"), ["yyy q 0", "abcx qrx 1"]);
    counts(&fan_in, "conflicts_overwritten", 6);
    // Without a primary key, the row of an update cannot be told from those in its way.
    run(&fan_in.target, &["INSERT INTO renamed.nopk VALUES (7, 70, 0)"]);
    write(&fan_in, 0, &["UPDATE d.nopk SET a = 7 WHERE b = 40"]);
    stops_with(
        &fan_in,
        "s1",
        "rows of renamed.nopk: the table has no primary key by which the row could be told from those in its way",
    );
    assert_eq!(fan_in.says("skip s1").1, Some(0));
    fan_in.catch_up();
    assert_eq!(fan_in.says("stop").1, Some(0));
    let (log, _) = agent.end();
    assert!(
        log.contains("conflict in all.t (overwrite): an insert of a row that the target has already, key"),
        "{log}"
    );
}

/// Where the row in the way cannot be looked up, the source stops and says why.
#[test]
fn what_cannot_be_overwritten() {
    let fan_in = under("overwrite", &[], "");
    let _agent = fan_in.start();
    write_and_wait(
        &fan_in,
        0,
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.a (id INT PRIMARY KEY, k UUID UNIQUE) ENGINE=InnoDB",
            "CREATE TABLE d1.b (k UUID PRIMARY KEY, v INT) ENGINE=InnoDB",
            "CREATE TABLE d1.h (id INT PRIMARY KEY, v INT) ENGINE=InnoDB WITH SYSTEM VERSIONING",
            "CREATE TABLE d1.v (id INT PRIMARY KEY, a INT, k INT AS (a + 1) VIRTUAL UNIQUE) ENGINE=InnoDB",
        ],
    );
    let uuid = "'01234567-89ab-1def-8123-456789abcdef'";
    run(
        &fan_in.target,
        &[
            &format!("INSERT INTO d1.a VALUES (9, {uuid})"),
            &format!("INSERT INTO d1.b VALUES ({uuid}, 9)"),
            "INSERT INTO d1.h VALUES (1, 9)",
            "INSERT INTO d1.v (id, a) VALUES (9, 9)",
        ],
    );
    for (statement, said) in [
        (&*format!("INSERT INTO d1.a VALUES (1, {uuid})"), "the column `k` of its unique key `k` is of the type uuid"),
        ("INSERT INTO d1.h VALUES (1, 1)", "does not change tables with history (WITH SYSTEM VERSIONING)"),
        ("INSERT INTO d1.v (id, a) VALUES (1, 9)", "the column `k` of its unique key `k` is computed and not stored"),
    ] {
        write(&fan_in, 0, &[statement]);
        stops_with(&fan_in, "s1", said);
        assert_eq!(fan_in.says("skip s1").1, Some(0));
        fan_in.catch_up();
    }
    // As a primary key any type will do.
    write_and_wait(&fan_in, 0, &[&format!("INSERT INTO d1.b VALUES ({uuid}, 1)")]);
    assert_eq!(rows(&fan_in, "SELECT v FROM d1.b"), ["1"]);
    assert_eq!(
        rows(&fan_in, "SELECT id FROM d1.a UNION ALL SELECT v FROM d1.h UNION ALL SELECT id FROM d1.v"),
        ["9", "9", "9"]
    );
}

/// A row that is sent in two parts.
#[test]
fn rows_larger_than_a_packet() {
    let fan_in = under("overwrite", &[("max_allowed_packet", "1M")], "");
    let agent = fan_in.start();
    write_and_wait(
        &fan_in,
        0,
        &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, u INT UNIQUE, b LONGBLOB) ENGINE=InnoDB"],
    );
    run(&fan_in.target, &["INSERT INTO d1.t VALUES (1, 1, ''), (2, 9, ''), (3, 3, '')"]);
    write_and_wait(
        &fan_in,
        0,
        &[
            "BEGIN",
            "INSERT INTO d1.t VALUES (1, 9, REPEAT('a', 1100000)), (4, 4, REPEAT('b', 1000000))",
            "INSERT INTO d1.t VALUES (3, 3, REPEAT('c', 1100000))",
            "COMMIT",
        ],
    );
    fan_in.assert_equal(&["d1"]);
    counts(&fan_in, "conflicts_overwritten", 2);
    log_of(&fan_in, agent);
}

/// The other node of a cluster has what the first one made of them.
#[test]
fn on_a_cluster() {
    let mut fan_in = FanIn::into(1, Builder::galera(2).start_temporary().unwrap());
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("[target]\n", "[target]\nconflict = \"overwrite\"\n"));
    let agent = fan_in.start();
    let table = "CREATE TABLE d1.t (id INT PRIMARY KEY, u INT UNIQUE, v VARCHAR(200)) ENGINE=InnoDB";
    write_and_wait(&fan_in, 0, &["CREATE DATABASE d1", table]);
    run(&fan_in.target, &["INSERT INTO d1.t VALUES (1, 5, ''), (2, 22, ''), (3, -33, ''), (40000, -1, '')"]);
    write_and_wait(
        &fan_in,
        0,
        &[
            "INSERT INTO d1.t VALUES (1, 22, 'x'), (3, 3, 'x')",
            "INSERT INTO d1.t SELECT seq, -seq, REPEAT('x', 200) FROM d1.seq_4_to_60000",
        ],
    );
    fan_in.assert_equal(&["d1"]);
    let expected = state::describe(&mut fan_in.sources[0].node(0).connect().unwrap(), "d1").unwrap();
    let mut other = fan_in.target.node(1).connect().unwrap();
    other.execute(b"SET SESSION wsrep_sync_wait = 15").unwrap();
    let differences = expected.differences(&state::describe(&mut other, "d1").unwrap());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    counts(&fan_in, "conflicts_overwritten", 3);
    log_of(&fan_in, agent);
}
