//! Rules that a reader with fresh eyes found to go wrong.

use hortator_sandbox::Builder;

use super::fan_in::{FanIn, run, texts};
use super::rules::{MERGE, assert_same, says_ok, skip, stops_with, with_rules, write, write_and_wait};

const RENAME: &str = "[[source.rule]]\nmatch = \"shop.*\"\nto = \"SHOP.*\"\n";
const SHARE: &str = "[[source.rule]]\nmatch = \"shop.*\"\nto = \"everything.*\"\n";

#[test]
fn statements_of_another_schema_than_the_default_one() {
    let fan_in = with_rules(1, &[], RENAME);
    let _agent = fan_in.start();
    write_and_wait(
        &fan_in,
        0,
        &[
            "CREATE DATABASE shop CHARACTER SET utf8mb4",
            "CREATE DATABASE other CHARACTER SET utf8mb4",
            "CREATE TABLE shop.u (id INT PRIMARY KEY)",
            "USE shop",
            "CREATE TABLE other.t (id INT PRIMARY KEY)",
            "CREATE TABLE t (id INT)",
            "CREATE USER reader@localhost",
            "GRANT SELECT ON t TO reader@localhost",
            "FLUSH PRIVILEGES",
            "ALTER DATABASE CHARACTER SET latin1",
            "USE other",
            "CREATE TABLE shop.c (a INT, FOREIGN KEY (a) REFERENCES u (id))",
        ],
    );
    let grants = texts(&fan_in.target, "SHOW GRANTS FOR reader@localhost");
    assert_eq!(grants[1], ["GRANT SELECT ON `shop1`.`t` TO `reader`@`localhost`"]);
    let charset = "SELECT DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ";
    assert_eq!(texts(&fan_in.target, &format!("{charset}'shop1'")), [["latin1"]]);
    assert_eq!(texts(&fan_in.target, &format!("{charset}'other'")), [["utf8mb4"]]);
    assert_same(&fan_in, 0, "SHOW CREATE TABLE shop.c", "SHOW CREATE TABLE shop1.c");
}

#[test]
fn alter_database_without_a_name() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    write_and_wait(
        &fan_in,
        0,
        &[
            "CREATE DATABASE d1 CHARACTER SET utf8mb4",
            "CREATE DATABASE d2 CHARACTER SET utf8mb4",
            "CREATE TABLE d2.t (id INT)",
            "USE d2",
            "CREATE TABLE u (id INT)",
            "USE d1",
            "ALTER DATABASE CHARACTER SET latin1",
        ],
    );
    let charsets = "SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA \
                    WHERE SCHEMA_NAME LIKE 'd_' ORDER BY 1";
    assert_same(&fan_in, 0, charsets, charsets);
}

#[test]
fn statements_of_a_schema_that_is_left_out() {
    let fan_in = with_rules(1, &[], "[[source.rule]]\nmatch = \"shop.*\"\nskip = true\n");
    let _agent = fan_in.start();
    write(
        &fan_in,
        0,
        &[
            "CREATE DATABASE shop",
            "CREATE DATABASE other",
            "CREATE TABLE other.t (id INT PRIMARY KEY) ENGINE=InnoDB",
            "USE shop",
            "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE VIEW v AS SELECT t.id FROM t",
            "SET SESSION binlog_format = STATEMENT",
            "INSERT INTO t VALUES (1)",
            "INSERT INTO other.t VALUES (1)",
        ],
    );
    stops_with(&fan_in, "s1", "the tables of its default schema `shop` are left out, and it may change others");
    run(&fan_in.target, &["INSERT INTO other.t VALUES (1)"]);
    skip(&fan_in, "s1");
    fan_in.catch_up();
    assert_same(&fan_in, 0, "SELECT * FROM other.t", "SELECT * FROM other.t");
}

#[test]
fn rows_of_other_sources_stay() {
    let fan_in = with_rules(2, &[], SHARE);
    let _agent = fan_in.start();
    let create = "CREATE TABLE t (id INT PRIMARY KEY, v INT) PARTITION BY RANGE (id) \
                  (PARTITION p VALUES LESS THAN (100), PARTITION q VALUES LESS THAN (200))";
    for source in 0..2 {
        let insert = format!("INSERT INTO t VALUES ({source}, 1)");
        write_and_wait(&fan_in, source, &["CREATE DATABASE shop", "USE shop", create, &insert]);
    }
    for (statement, said) in [
        ("DELETE FROM t", "it may change the rows of other sources in everything.* too"),
        ("ALTER TABLE t TRUNCATE PARTITION p", "it would take the rows of other sources in everything.t too"),
        ("ALTER TABLE t DROP PARTITION p", "it would take the rows of other sources"),
        ("RENAME TABLE t TO u", "it would put the rows of other sources in everything.t elsewhere"),
        ("ALTER TABLE u NOWAIT RENAME t", "it would put the rows of other sources"),
        ("ALTER TABLE t ADD COLUMN n INT FIRST", "it changes the places of columns of everything.t"),
        ("ALTER TABLE t DROP COLUMN n", "it changes the places of columns"),
    ] {
        write(&fan_in, 0, &["USE shop", "SET SESSION binlog_format = STATEMENT", statement]);
        stops_with(&fan_in, "s1", said);
        skip(&fan_in, "s1");
    }
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id, v FROM everything.t ORDER BY id"), [["0", "1"], ["1", "1"]]);
}

/// A source without rules, and another one whose tables are put beside its own.
#[test]
fn rows_beside_those_of_a_source_without_rules() {
    let mut fan_in = with_rules(2, &[], RENAME);
    let text = std::fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("to = \"shop2.*\"", "to = \"home.*\"").replace(&RENAME.replace("SHOP", "shop1"), ""));
    let _agent = fan_in.start();
    write_and_wait(&fan_in, 0, &["CREATE DATABASE home", "CREATE TABLE home.t (id INT PRIMARY KEY)"]);
    write_and_wait(&fan_in, 1, &["CREATE DATABASE shop", "CREATE TABLE shop.t (id INT PRIMARY KEY)"]);
    write_and_wait(&fan_in, 1, &["INSERT INTO shop.t VALUES (2)"]);
    for statement in ["TRUNCATE home.t", "DROP TABLE home.t", "DROP DATABASE home"] {
        write(&fan_in, 0, &[statement]);
        stops_with(&fan_in, "s1", "of other sources");
        skip(&fan_in, "s1");
    }
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id FROM home.t"), [["2"]]);
}

/// Tables of one source that become one have the same source column.
#[test]
fn tenants_are_not_truncated_together() {
    let rules = "[[source.rule]]\nmatch = \"tenant_*.*\"\nto = \"everything.*\"\nsource_column = \"shard\"\n";
    let fan_in = with_rules(1, &[], rules);
    let _agent = fan_in.start();
    for tenant in ["1", "2"] {
        write_and_wait(
            &fan_in,
            0,
            &[
                &format!("CREATE DATABASE tenant_{tenant}"),
                &format!("CREATE TABLE tenant_{tenant}.t (id INT PRIMARY KEY)"),
                &format!("INSERT INTO tenant_{tenant}.t VALUES ({tenant})"),
            ],
        );
    }
    write(&fan_in, 0, &["TRUNCATE tenant_2.t"]);
    stops_with(&fan_in, "s1", "it would take the rows of other sources in everything.t too");
    assert_eq!(texts(&fan_in.target, "SELECT id FROM everything.t ORDER BY id"), [["1"], ["2"]]);
}

#[test]
fn foreign_keys_of_merged_tables_tell_sources_apart() {
    let fan_in = with_rules(2, &[], MERGE);
    let _agent = fan_in.start();
    for source in 0..2 {
        write_and_wait(
            &fan_in,
            source,
            &[
                "CREATE DATABASE shop",
                "USE shop",
                "CREATE TABLE p (id INT PRIMARY KEY, above INT REFERENCES p (id)) ENGINE=InnoDB",
                "CREATE TABLE c (id INT PRIMARY KEY, p INT, CONSTRAINT of_p FOREIGN KEY (p) REFERENCES p (id) \
                 ON DELETE CASCADE) ENGINE=InnoDB",
                "INSERT INTO p VALUES (1, NULL), (2, 1)",
                "INSERT INTO c VALUES (1, 2), (2, 1)",
            ],
        );
    }
    write_and_wait(&fan_in, 1, &["DELETE FROM shop.p WHERE id = 2"]);
    for source in 0..2 {
        for table in ["p", "c"] {
            let of_target = format!("SELECT id FROM everything.{table} WHERE shard = 's{}' ORDER BY id", source + 1);
            assert_same(&fan_in, source, &format!("SELECT id FROM shop.{table} ORDER BY id"), &of_target);
        }
    }
    // A table whose rows refer to each other.
    let create = "CREATE TABLE shop.tree (id INT PRIMARY KEY, above INT REFERENCES tree (id)) ENGINE=InnoDB";
    for source in 0..2 {
        write_and_wait(&fan_in, source, &[create, "INSERT INTO shop.tree VALUES (1, 1), (2, 1)"]);
    }
    write_and_wait(&fan_in, 1, &["TRUNCATE shop.tree"]);
    assert_eq!(texts(&fan_in.target, "SELECT id, shard FROM everything.tree"), [["1", "s1"], ["2", "s1"]]);
    write(&fan_in, 0, &["ALTER TABLE shop.c ADD FOREIGN KEY (id) REFERENCES p (id)"]);
    stops_with(&fan_in, "s1", "it changes a unique key, a foreign key or the name of everything.c");
    skip(&fan_in, "s1");
    write(&fan_in, 0, &["CREATE TABLE shop.d (p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE SET NULL)"]);
    stops_with(&fan_in, "s1", "its foreign key to everything.p sets columns to NULL");
}

/// A table without a character set has that of its schema, and no bytes of another one.
#[test]
fn merged_tables_have_the_character_set_of_their_schema() {
    let fan_in = with_rules(2, &[("character_set_server", "utf8mb4")], MERGE);
    let _agent = fan_in.start();
    for source in 0..2 {
        write_and_wait(
            &fan_in,
            source,
            &[
                "CREATE DATABASE shop CHARACTER SET latin1",
                "CREATE TABLE shop.t (id INT PRIMARY KEY, v TEXT)",
                "INSERT INTO shop.t VALUES (1, 'é')",
                "CREATE TABLE shop.u AS SELECT 'é' AS v",
            ],
        );
    }
    assert_eq!(texts(&fan_in.target, "SELECT v, shard FROM everything.t"), [["é", "s1"], ["é", "s2"]]);
    assert_eq!(texts(&fan_in.target, "SELECT v, shard FROM everything.u"), [["é", "s1"], ["é", "s2"]]);
    assert!(texts(&fan_in.target, "SHOW TABLES FROM hortator LIKE 'replicate_%w_%'").is_empty());
}

#[test]
fn source_columns_that_cannot_hold_the_name() {
    let fan_in = with_rules(1, &[], MERGE);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &["SET GLOBAL binlog_format = ROW", "CREATE DATABASE shop"]);
    write(&fan_in, 0, &["CREATE SEQUENCE shop.s", "DO NEXTVAL(shop.s)"]);
    stops_with(&fan_in, "s1", "everything.s is a sequence, which cannot have the column `shard`");
    skip(&fan_in, "s1");
    fan_in.catch_up();
    write_and_wait(&fan_in, 0, &["CREATE TABLE shop.t (id INT PRIMARY KEY)"]);
    run(&fan_in.target, &["ALTER TABLE everything.t MODIFY shard VARCHAR(1) CHARACTER SET utf8mb4"]);
    write(&fan_in, 0, &["INSERT INTO shop.t VALUES (1)"]);
    stops_with(&fan_in, "s1", "the column `shard` of everything.t on the target cannot hold the source's name `s1`");
    for (column, said) in [
        ("MODIFY shard CHAR(20) NOT NULL", "everything.t has no column `shard` of the type VARCHAR"),
        ("MODIFY shard VARCHAR(20) CHARACTER SET ucs2 NOT NULL", "cannot hold the source's name"),
        ("RENAME TO everything.away", "Table everything.t doesn't exist on the target"),
    ] {
        run(&fan_in.target, &[&format!("ALTER TABLE everything.t {column}")]);
        says_ok(&fan_in, "resume s1");
        fan_in
            .wait_until("it to stop", |shown| super::line_of(shown, "s1").contains("stopped") && shown.contains(said));
    }
    run(&fan_in.target, &["RENAME TABLE everything.away TO everything.t"]);
    run(&fan_in.target, &["ALTER TABLE everything.t MODIFY shard VARCHAR(2) CHARACTER SET latin1 NOT NULL FIRST"]);
    says_ok(&fan_in, "resume s1");
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id, shard FROM everything.t"), [["1", "s1"]]);
}

#[test]
fn tables_with_history() {
    for (rules, schema) in [(MERGE, "everything"), (RENAME, "shop1")] {
        let fan_in = with_rules(1, &[], rules);
        let _agent = fan_in.start();
        write_and_wait(
            &fan_in,
            0,
            &[
                "CREATE DATABASE shop",
                "CREATE TABLE shop.t (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING ENGINE=InnoDB",
                "INSERT INTO shop.t VALUES (1, 1), (2, 2)",
                "UPDATE shop.t SET v = 3",
                "DELETE FROM shop.t WHERE id = 2",
                "SET SESSION system_versioning_alter_history = KEEP",
                "ALTER TABLE shop.t ADD COLUMN w INT",
                "INSERT INTO shop.t VALUES (3, 3, 3)",
            ],
        );
        let rows = |schema: &str| {
            format!("SELECT id, v, w, row_start, row_end FROM {schema}.t FOR SYSTEM_TIME ALL ORDER BY 1, 4")
        };
        assert_same(&fan_in, 0, &rows("shop"), &rows(schema));
    }
}

/// Names of a statement are in the character set of its session.
#[test]
fn names_in_latin1() {
    let fan_in = with_rules(1, &[], "[[source.rule]]\nmatch = \"dé.*\"\nto = \"dü.*\"\n");
    let _agent = fan_in.start();
    write_and_wait(&fan_in, 0, &["CREATE DATABASE dé", "CREATE TABLE dé.t (id INT PRIMARY KEY)"]);
    let mut connection = fan_in.sources[0].node(0).connect().unwrap();
    for statement in
        [&b"USE d\xc3\xa9"[..], b"SET NAMES latin1", b"CREATE TABLE d\xe9.u (id INT)", b"CREATE TABLE v (id INT)"]
    {
        connection.execute(statement).unwrap();
    }
    for statement in ["CREATE TABLE d", "CREATE TABLE v"] {
        stops_with(&fan_in, "s1", "names in it are in the character set latin1");
        stops_with(&fan_in, "s1", statement);
        skip(&fan_in, "s1");
        if statement.ends_with('d') {
            fan_in.wait_until("the next one", |shown| shown.contains("CREATE TABLE v"));
        }
    }
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SHOW TABLES FROM dü"), [["t"]]);
}

#[test]
fn a_table_with_a_source_column_that_is_replaced() {
    let fan_in = with_rules(1, &[], &RENAME.replace("SHOP.*\"", "SHOP.*\"\nsource_column = \"shard\""));
    let _agent = fan_in.start();
    write_and_wait(
        &fan_in,
        0,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.t (id INT PRIMARY KEY)",
            "INSERT INTO shop.t VALUES (1)",
            "CREATE OR REPLACE TABLE shop.t (id INT PRIMARY KEY, v INT)",
            "INSERT INTO shop.t VALUES (2, 2)",
            "CREATE TABLE shop.u LIKE shop.t",
            "INSERT INTO shop.u VALUES (3, 3)",
            "CREATE OR REPLACE TABLE shop.t AS SELECT 4 AS id",
            "CREATE TABLE shop.wider (id INT PRIMARY KEY)",
            "INSERT INTO shop.wider VALUES (5)",
            "USE shop",
            "CREATE OR REPLACE TABLE wider AS SELECT 6 AS id, 7 AS v",
            "INSERT INTO wider VALUES (8, 9)",
        ],
    );
    assert_eq!(texts(&fan_in.target, "SELECT id, shard FROM shop1.t"), [["4", "s1"]]);
    let wider = texts(&fan_in.target, "SELECT id, v, shard FROM shop1.wider ORDER BY id");
    assert_eq!(wider, [["6", "7", "s1"], ["8", "9", "s1"]]);
    assert_eq!(texts(&fan_in.target, "SELECT id, v, shard FROM shop1.u"), [["3", "3", "s1"]]);
    assert_eq!(texts(&fan_in.target, "SHOW TABLES FROM hortator"), [["replicate_positions"]]);
}

/// All sources make the same tables at the same time.
#[test]
fn sources_that_create_a_table_at_once() {
    for rules in [MERGE, SHARE] {
        let fan_in = with_rules(3, &[], rules);
        let _agent = fan_in.start();
        std::thread::scope(|scope| {
            for source in 0..3 {
                let fan_in = &fan_in;
                scope.spawn(move || {
                    write(fan_in, source, &["CREATE DATABASE shop"]);
                    for table in 0..10 {
                        let create = format!("CREATE TABLE shop.t{table} (id INT PRIMARY KEY, u INT UNIQUE)");
                        let insert = format!("INSERT INTO shop.t{table} VALUES ({source}, {source})");
                        write(fan_in, source, &[&create, &insert]);
                    }
                });
            }
        });
        fan_in.catch_up();
        for table in 0..10 {
            let ids = texts(&fan_in.target, &format!("SELECT id FROM everything.t{table} ORDER BY id"));
            assert_eq!(ids, [["0"], ["1"], ["2"]]);
        }
    }
}

#[test]
fn sources_that_create_a_schema_at_once() {
    let fan_in = with_rules(3, &[], SHARE);
    let _agent = fan_in.start();
    let mut backup = fan_in.target.node(0).connect().unwrap();
    for stage in ["START", "FLUSH", "BLOCK_DDL"] {
        backup.execute(format!("BACKUP STAGE {stage}").as_bytes()).unwrap();
    }
    (0..3).for_each(|source| write(&fan_in, source, &["CREATE DATABASE shop"]));
    // Each has looked whether the schema is there, and waits for the backup or for the others.
    let waiting = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE '%lock%'";
    fan_in.wait_until("all to wait", |_| texts(&fan_in.target, waiting) == [["3"]]);
    backup.execute(b"BACKUP STAGE END").unwrap();
    fan_in.catch_up();
    let count = "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'everything'";
    assert_eq!(texts(&fan_in.target, count), [["1"]]);
}

/// The source keeps names in small letters; its statements have them as they were typed.
#[test]
fn names_in_capital_letters() {
    let mut fan_in = FanIn::new(0, &[]);
    let builder = Builder::standalone().set("log_bin", "bin").set("binlog_format", "ROW");
    fan_in.sources.push(builder.set("lower_case_table_names", "1").start_temporary().unwrap());
    let table = "[[source]]\nname = \"s1\"\nuser = \"root\"\nstart = \"now\"\n";
    let socket = format!("socket = \"{}\"\n", fan_in.socket(0));
    fan_in.write(&[&fan_in.target_table(), table, &socket, &RENAME.replace("SHOP", "shop1")].concat());
    let _agent = fan_in.start();
    write_and_wait(
        &fan_in,
        0,
        &[
            "CREATE DATABASE Shop",
            "CREATE TABLE SHOP.Orders (id INT PRIMARY KEY)",
            "USE Shop",
            "ALTER TABLE ORDERS ADD COLUMN v INT",
            "INSERT INTO oRDERS VALUES (1, 1)",
        ],
    );
    assert_eq!(texts(&fan_in.target, "SELECT id, v FROM shop1.orders"), [["1", "1"]]);
}
