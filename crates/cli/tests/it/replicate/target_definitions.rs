//! Definitions of the target that are not those of the source: changed by hand, made under rules, with keys of their own.

use super::fan_in::{FanIn, run, texts};
use super::rules::{MERGE, assert_same, says_ok, skip, stops_with, with_rules, write, write_and_wait};

/// One column dropped, another one added: their number and types are those of the source.
#[test]
fn columns_that_moved_on_the_target() {
    for rules in ["", MERGE] {
        let fan_in = with_rules(1, &[], rules);
        run(&fan_in.sources[0], &["SET GLOBAL binlog_row_metadata = FULL"]);
        let agent = fan_in.start();
        let schema = if rules.is_empty() { "shop" } else { "everything" };
        write_and_wait(
            &fan_in,
            0,
            &[
                "CREATE DATABASE shop",
                "CREATE TABLE shop.t (id INT PRIMARY KEY, a INT, b INT, h INT INVISIBLE DEFAULT 1) ENGINE=InnoDB",
                "INSERT INTO shop.t VALUES (1, 10, 100)",
                "CREATE TABLE shop.v (id INT PRIMARY KEY, a INT) WITH SYSTEM VERSIONING ENGINE=InnoDB",
                "INSERT INTO shop.v VALUES (1, 10)",
                "UPDATE shop.v SET a = 11",
            ],
        );
        drop(agent);
        run(&fan_in.target, &[&format!("ALTER TABLE {schema}.t DROP COLUMN a, ADD COLUMN c INT AFTER b")]);
        let _agent = fan_in.start();
        write(&fan_in, 0, &["INSERT INTO shop.t VALUES (2, 20, 200)"]);
        let said = format!(
            "column 2 of the source's table is `a`, and that of {schema}.t on the target is `b`: values would go into other \
             columns. Give the target's table the source's columns in their order, then `resume`"
        );
        stops_with(&fan_in, "s1", &said);
        let (shown, _) = fan_in.says("check");
        let said =
            format!("other columns than those of the source: {schema}.t (id, b, c, h; the source has id, a, b, h).");
        assert!(shown.contains(&said), "{shown}");
        run(&fan_in.target, &[&format!("ALTER TABLE {schema}.t CHANGE b a INT, CHANGE c b INT")]);
        says_ok(&fan_in, "resume s1");
        fan_in.catch_up();
        // Only a name that differs in its capital letters, and a column more at the end.
        run(&fan_in.target, &[&format!("ALTER TABLE {schema}.t CHANGE a A INT, ADD COLUMN more INT")]);
        write_and_wait(&fan_in, 0, &["INSERT INTO shop.t VALUES (3, 30, 300)", "ALTER TABLE shop.t CHANGE b d INT"]);
        write_and_wait(&fan_in, 0, &["INSERT INTO shop.t VALUES (4, 40, 400)"]);
        let query = "SELECT id, a, d, h FROM SCHEMA.t WHERE id > 1 ORDER BY id";
        assert_same(&fan_in, 0, &query.replace("SCHEMA", "shop"), &query.replace("SCHEMA", schema));
    }
}

/// A table that is changed while the agent runs is looked at again before long.
#[test]
fn columns_that_move_while_the_agent_runs() {
    let fan_in = FanIn::new(1, &[]);
    run(&fan_in.sources[0], &["SET GLOBAL binlog_row_metadata = FULL"]);
    let _agent = fan_in.start();
    write_and_wait(
        &fan_in,
        0,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b INT) ENGINE=InnoDB",
            "INSERT INTO d.t (a, b) VALUES (10, 100)",
        ],
    );
    run(&fan_in.target, &["ALTER TABLE d.t DROP COLUMN a, ADD COLUMN c INT"]);
    fan_in.wait_until("it to stop", |shown| {
        let is_stopped = super::line_of(shown, "s1").contains("stopped");
        if !is_stopped {
            write(&fan_in, 0, &["INSERT INTO d.t (a, b) VALUES (20, 200)"]);
        }
        is_stopped
    });
    stops_with(&fan_in, "s1", "column 2 of the source's table is `a`, and that of d.t on the target is `b`");
}

#[test]
fn schemas_of_another_character_set() {
    let rules = "[[source.rule]]\nmatch = \"shop.*\"\nto = \"everything.*\"\n";
    let fan_in = with_rules(2, &[("character_set_server", "utf8mb4")], rules);
    let _agent = fan_in.start();
    write_and_wait(&fan_in, 0, &["CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"]);
    write(&fan_in, 1, &["CREATE DATABASE shop CHARACTER SET latin1"]);
    stops_with(
        &fan_in,
        "s2",
        "the target has the schema `everything` with the collation utf8mb4_bin, and the source creates it with latin1_swedish_ci: \
         tables that name no character set would have another one than on the source",
    );
    assert_eq!(texts(&fan_in.target, "SHOW DATABASES LIKE '%replicate%'").len(), 0);
    run(&fan_in.target, &["ALTER DATABASE everything CHARACTER SET latin1"]);
    says_ok(&fan_in, "resume s2");
    fan_in.catch_up();
    // The same once more passes, as does one that says that the schema may be there: then nobody knows what the source has.
    write_and_wait(&fan_in, 0, &["CREATE DATABASE IF NOT EXISTS shop CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"]);
    write_and_wait(&fan_in, 1, &["DROP DATABASE IF EXISTS other", "CREATE TABLE shop.t (id INT PRIMARY KEY)"]);
}

#[test]
fn long_unique_keys_and_a_source_column() {
    let fan_in = with_rules(2, &[], MERGE);
    let _agent = fan_in.start();
    for source in 0..2 {
        write_and_wait(
            &fan_in,
            source,
            &[
                "CREATE DATABASE shop",
                "CREATE TABLE shop.t (id INT PRIMARY KEY, v TEXT, u BLOB, UNIQUE KEY (v) USING HASH, UNIQUE KEY (u, v)) \
                 ENGINE=InnoDB",
                "INSERT INTO shop.t VALUES (1, 'one', 'x'), (2, 'two', 'y'), (3, NULL, 'z')",
                "UPDATE shop.t SET v = CONCAT(v, '!') WHERE id = 1",
                "DELETE FROM shop.t WHERE v = 'two'",
                "SET SESSION binlog_row_image = 'MINIMAL'",
                "UPDATE shop.t SET v = CONCAT(v, '?') WHERE id = 1",
                "DELETE FROM shop.t WHERE id = 3",
            ],
        );
        let of_target = format!("SELECT id, v, u FROM everything.t WHERE shard = 's{}' ORDER BY id", source + 1);
        assert_same(&fan_in, source, "SELECT id, v, u FROM shop.t ORDER BY id", &of_target);
    }
    let key = "SELECT GROUP_CONCAT(COLUMN_NAME ORDER BY SEQ_IN_INDEX) FROM information_schema.STATISTICS \
               WHERE TABLE_SCHEMA = 'everything' AND TABLE_NAME = 't' GROUP BY INDEX_NAME ORDER BY 1";
    assert_eq!(texts(&fan_in.target, key), [["id,shard"], ["u,v,shard"], ["v,shard"]]);
    // Without a primary key, the target would not find the rows that change.
    for table in ["u (id INT, v TEXT UNIQUE)", "w (id INT, v TEXT, UNIQUE KEY (v) USING HASH, KEY (id))"] {
        write(&fan_in, 0, &[&format!("CREATE TABLE shop.{table} ENGINE=InnoDB")]);
        stops_with(&fan_in, "s1", "it has a unique key of long columns (USING HASH) and no primary key");
        skip(&fan_in, "s1");
    }
}

#[test]
fn keys_of_new_columns_and_a_source_column() {
    let fan_in = with_rules(1, &[], MERGE);
    let _agent = fan_in.start();
    write_and_wait(&fan_in, 0, &["CREATE DATABASE shop", "CREATE TABLE shop.t (v INT) ENGINE=InnoDB"]);
    for change in ["ADD COLUMN id INT NOT NULL AUTO_INCREMENT KEY", "ADD COLUMN u INT UNIQUE"] {
        write(&fan_in, 0, &[&format!("ALTER TABLE shop.t {change}")]);
        stops_with(&fan_in, "s1", "it changes a unique key, a foreign key or the name of everything.t");
        let column = if change.contains("UNIQUE") { "u" } else { "id" };
        skip(&fan_in, "s1");
        write(&fan_in, 0, &[&format!("ALTER TABLE shop.t DROP COLUMN {column}")]);
        stops_with(&fan_in, "s1", &format!("Can't DROP COLUMN `{column}`"));
        skip(&fan_in, "s1");
    }
    // Keys that are not unique.
    write_and_wait(
        &fan_in,
        0,
        &["ALTER TABLE shop.t ADD COLUMN w INT, ADD KEY of_w (w), ADD INDEX (v)", "ALTER TABLE shop.t DROP KEY of_w"],
    );
}

#[test]
fn cascades_into_tables_whose_rows_are_kept() {
    let rules = "[[source.rule]]\nmatch = \"shop.archive*\"\nskip_events = [\"delete\"]\n";
    let fan_in = with_rules(1, &[], rules);
    let _agent = fan_in.start();
    write_and_wait(&fan_in, 0, &["CREATE DATABASE shop", "CREATE TABLE shop.p (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    let create = |name: &str, action: &str| {
        format!(
            "CREATE TABLE shop.{name} (p INT, CONSTRAINT of_{name} FOREIGN KEY (p) REFERENCES p (id) {action}) ENGINE=InnoDB"
        )
    };
    write(&fan_in, 0, &["USE shop", &create("archive", "ON DELETE CASCADE")]);
    let said =
        "deletes rows of shop.archive with those of another table (ON DELETE CASCADE), and a rule leaves delete out";
    stops_with(&fan_in, "s1", said);
    run(&fan_in.target, &["CREATE TABLE shop.archive (p INT) ENGINE=InnoDB"]);
    skip(&fan_in, "s1");
    write_and_wait(
        &fan_in,
        0,
        &["INSERT INTO shop.p VALUES (1)", "INSERT INTO shop.archive VALUES (1)", "DELETE FROM shop.p"],
    );
    assert_eq!(texts(&fan_in.target, "SELECT p FROM shop.archive"), [["1"]]);
    // What changes rows only, what is applied as a whole, and a parent whose rows are kept too.
    write_and_wait(
        &fan_in,
        0,
        &[
            "USE shop",
            &create("archive2", "ON UPDATE CASCADE ON DELETE SET NULL"),
            &create("other", "ON DELETE CASCADE"),
            "CREATE TABLE archive3 (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TABLE archive4 (p INT, FOREIGN KEY (p) REFERENCES archive3 (id) ON DELETE CASCADE) ENGINE=InnoDB",
        ],
    );
    write(
        &fan_in,
        0,
        &["ALTER TABLE shop.archive2 ADD CONSTRAINT x FOREIGN KEY (p) REFERENCES shop.p (id) ON DELETE CASCADE"],
    );
    stops_with(&fan_in, "s1", "deletes rows of shop.archive2 with those of another table");
    skip(&fan_in, "s1");
    // One that is on the target already.
    run(
        &fan_in.target,
        &["ALTER TABLE shop.archive2 ADD CONSTRAINT x FOREIGN KEY (p) REFERENCES shop.p (id) ON DELETE CASCADE"],
    );
    let (shown, _) = fan_in.says("check");
    let said = "warning: s1: the foreign key x of shop.archive2 on the target deletes its rows with those of shop.p (ON DELETE \
                CASCADE), and a rule leaves delete out: drop the foreign key on the target";
    assert!(shown.contains(said) && shown.matches("ON DELETE").count() == 1, "{shown}");
}

#[test]
fn columns_of_other_types() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write_and_wait(&fan_in, 0, &["CREATE DATABASE d"]);
    for (source, target, said) in [
        (
            "a VARCHAR(50), b INT",
            "a VARCHAR(50), b VARCHAR(20)",
            "column 3 is int on the source, and `b` is varchar(20) on the target",
        ),
        (
            "a VARCHAR(50) CHARACTER SET latin1, b INT",
            "a VARCHAR(20) CHARACTER SET latin1, b INT",
            "column 2 has up to 50 bytes on the source, and `a` is varchar(20)",
        ),
        (
            "a DECIMAL(10,2), b INT",
            "a DECIMAL(8,2), b INT",
            "column 2 is decimal(10,2) on the source, and `a` is decimal(8,2)",
        ),
        ("a TEXT, b ENUM('x')", "a TEXT, b BLOB", "column 3 is enum on the source, and `b` is blob on the target"),
    ] {
        run(&fan_in.target, &[&format!("CREATE OR REPLACE TABLE d.t (id INT PRIMARY KEY, {target}) ENGINE=InnoDB")]);
        write(
            &fan_in,
            0,
            &[
                "USE d",
                "SET sql_log_bin = 0",
                &format!("CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, {source}) ENGINE=InnoDB"),
                "SET sql_log_bin = 1",
                "INSERT INTO t (id) VALUES (1)",
            ],
        );
        stops_with(&fan_in, "s1", said);
        let (shown, _) = fan_in.says("status");
        assert_eq!(shown.matches("on the source, and").count(), 1, "{shown}");
        skip(&fan_in, "s1");
        fan_in.catch_up();
    }
}
