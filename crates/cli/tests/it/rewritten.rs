//! `hortator load` with changes: other definers and engines, nothing in the binary log, renewed statistics.

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Outcome, run};
use crate::selection::{dump, execute, rows};
use crate::servers::{DATABASE, Server, pair};
use crate::target;

#[test]
fn a_schema_is_loaded_into_another() {
    let pair = pair();
    pair.client.reset();
    let dump = dump(&pair, &[]);
    pair.hortator.reset();
    // The tables of that name are others.
    execute(&pair.hortator, "CREATE DATABASE hc_shop; CREATE TABLE hc_shop.orders (old INT)");
    let options = ["--database-map=hc_shop=hc_new", "--skip=hc_crm.*", "--foreign-keys=deferred", "--verify", "-t4"];
    assert_tells(&load_with(&pair.hortator, &dump, &options), 0, &["changed, statements: "]);
    let counted = "SELECT (SELECT COUNT(*) FROM hc_new.orders), (SELECT COUNT(*) FROM hc_new.names), hc_new.one()";
    assert_eq!(rows(&pair.hortator, counted), ["3 2 1"]);
    assert_eq!(rows(&pair.hortator, "SELECT COUNT(*) FROM hc_shop.orders"), ["0"]);
    let parent = "SELECT REFERENCED_TABLE_SCHEMA FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = 'hc_new'
                  AND REFERENCED_TABLE_NAME IS NOT NULL";
    assert_eq!(rows(&pair.hortator, parent), ["hc_new"]);
    let swap = ["--database-map=hc_shop=hc_crm", "--database-map=hc_crm=hc_shop"];
    execute(&pair.hortator, "DROP DATABASE hc_shop");
    assert_tells(&load_with(&pair.hortator, &dump, &swap), 0, &[]);
    assert_eq!(
        rows(&pair.hortator, "SELECT id FROM hc_shop.notes UNION ALL SELECT COUNT(*) FROM hc_crm.orders"),
        ["7", "3"]
    );
}

#[test]
fn rows_without_a_parent_are_found_in_the_other_schema() {
    let pair = pair();
    pair.hortator.reset();
    let text = "CREATE DATABASE hc_shop; USE hc_shop; SET foreign_key_checks = 0;
CREATE TABLE p (id INT PRIMARY KEY); CREATE TABLE c (p INT, FOREIGN KEY (p) REFERENCES hc_shop.p (id));
INSERT INTO hc_shop.p VALUES (1);
INSERT INTO hc_shop.c VALUES (1), (7);\n";
    let options = ["--database-map=hc_shop=hc_new", "--foreign-keys=deferred"];
    let told = ["hc_new.c: 1 row(s) have no parent row: (p) is not in hc_new.p", "at line 4 in file"];
    assert_tells(&load_with(&pair.hortator, text.as_bytes(), &options), 1, &told);
}

#[test]
fn what_may_name_the_old_schema_is_refused_before_anything_runs() {
    let pair = pair();
    let head = "CREATE DATABASE IF NOT EXISTS hc_shop;\nUSE hc_shop;\nCREATE TABLE t (id INT);\n";
    let map = "--database-map=hc_shop=hc_new";
    for (text, options, told) in [
        ("CREATE VIEW v AS SELECT id FROM hc_shop.t;", &[map][..], "its definition names the schema `hc_shop`"),
        ("CREATE PROCEDURE p() EXECUTE IMMEDIATE 'DROP TABLE t';", &[map], "its dynamic SQL may name any schema"),
        (
            "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW INSERT INTO hc_shop.u VALUES (1);",
            &[map],
            "names the schema",
        ),
        ("GRANT SELECT ON hc_shop.* TO root@localhost;", &[map], "the statement names the schema `hc_shop`"),
        ("UPDATE t AS hc_shop SET hc_shop.id = 1;", &[map], "or a table or an alias of this name"),
        ("CREATE DATABASE hc_new;", &[map], "the input has the schema `hc_new` too"),
        ("", &[map, "--database-map=hc_other=hc_x"], "--database-map=hc_other=hc_x matches no name in the input"),
    ] {
        pair.hortator.reset();
        let outcome = load_with(&pair.hortator, format!("{head}{text}").as_bytes(), options);
        assert_tells(&outcome, 1, &["ERROR", told]);
        assert_eq!(rows(&pair.hortator, "SHOW DATABASES LIKE 'hc\\_%'"), [""; 0], "{text}");
    }
    pair.hortator.reset();
    let text = format!("CREATE TABLE {DATABASE}.u (id INT);\nCREATE TABLE t (id INT);\n");
    let outcome = load_with(&pair.hortator, text.as_bytes(), &["--database-map=hortator_case=hc_new"]);
    assert_tells(&outcome, 1, &["ERROR at line 2", "it names no schema", "load with --database=hc_new"]);
    assert_eq!(rows(&pair.hortator, &format!("SHOW TABLES FROM {DATABASE}")), [""; 0]);
    let both = ["--database-map=a=c", "--database-map=b=c"];
    assert_tells(&run(load_into(&pair.hortator, &both)), 1, &["map each schema to one of its own"]);
    assert_tells(&run(load_into(&pair.hortator, &["--database-map=a"])), 2, &["names no two schemas"]);
}

/// Loads a dump from a file.
fn load_with(server: &Server, dump: &[u8], options: &[&str]) -> Outcome {
    let (_folder, path) = dump_file("dump.sql", dump);
    run(load_into(server, &[options, &[path.to_str().unwrap()]].concat()))
}

const DEFINERS: &str = "
SELECT DISTINCT DEFINER FROM (
  SELECT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'hc_shop'
  UNION ALL SELECT DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'hc_shop'
  UNION ALL SELECT DEFINER FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'hc_shop'
  UNION ALL SELECT DEFINER FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'hc_shop') AS of_all ORDER BY 1";

#[test]
fn definers_are_those_that_are_asked_for() {
    let pair = pair();
    let text = String::from_utf8(dump(&pair, &[])).unwrap().replace("`root`@`localhost`", "`gone`@`10.1.2.3`");
    for (option, expected) in [
        ("--definer=strip", "root@localhost"),
        ("--definer=CURRENT_USER", "root@localhost"),
        ("--definer=hc_app@%", "hc_app@%"),
    ] {
        pair.hortator.reset();
        assert_tells(&load_with(&pair.hortator, text.as_bytes(), &[option]), 0, &["changed, statements: 6"]);
        assert_eq!(rows(&pair.hortator, DEFINERS), [expected], "{option}");
    }
    pair.hortator.reset();
    let latin1 = "CREATE TABLE t (id INT); SET NAMES latin1; CREATE DEFINER=a@b PROCEDURE p() SELECT 1;";
    let outcome = load_with(&pair.hortator, latin1.as_bytes(), &["--definer=jürgen@%"]);
    assert_tells(&outcome, 1, &["other than UTF-8 here, in which --definer cannot write `jürgen@%`"]);
    assert_eq!(rows(&pair.hortator, &format!("SHOW TABLES FROM {DATABASE}")), [""; 0]);
    assert_tells(&run(load_into(&pair.hortator, &["--definer=nobody"])), 2, &["`nobody` is no definer"]);
}

#[test]
fn tables_get_the_engine_that_is_asked_for() {
    let pair = pair();
    let text = "CREATE TABLE a (id INT PRIMARY KEY, engine INT) ENGINE=MyISAM COMMENT='ENGINE=MyISAM';
                CREATE TABLE b (id INT) ENGINE=MyISAM PARTITION BY HASH (id) (PARTITION p ENGINE = MyISAM, PARTITION q ENGINE MyISAM);
                CREATE TABLE c (id INT) ENGINE=Aria; INSERT INTO a VALUES (1, 1); INSERT INTO a VALUES (2, 1), (1, 1);";
    pair.hortator.reset();
    let options = ["--engine=myisam=InnoDB", "--engine", "MEMORY=InnoDB", "--definer=strip"];
    // The second INSERT fails as a whole: InnoDB can take it back.
    assert_tells(&load_with(&pair.hortator, text.as_bytes(), &options), 1, &["1062", "changed, statements: 2"]);
    let query = format!(
        "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{DATABASE}' ORDER BY 1"
    );
    assert_eq!(rows(&pair.hortator, &query), ["a InnoDB", "b InnoDB", "c Aria"]);
    assert_eq!(rows(&pair.hortator, &format!("SELECT id FROM {DATABASE}.a")), ["1"]);
    assert_eq!(
        rows(
            &pair.hortator,
            &format!(
                "SELECT TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{DATABASE}' AND TABLE_NAME = 'a'"
            )
        ),
        ["ENGINE=MyISAM"],
    );
    assert_tells(&run(load_into(&pair.hortator, &["--engine=InnoDB"])), 2, &["names no two engines"]);
}

#[test]
fn nothing_reaches_the_binary_log() {
    if target::mysql().is_some() {
        return;
    }
    let server = Server::start(&[("log_bin", "log")]);
    server.reset();
    let text = "CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, v INT); INSERT INTO a VALUES (1, 1), (2, 2);
                CREATE TABLE m (id INT) ENGINE=MyISAM; INSERT INTO m VALUES (1); UPDATE a SET v = 3; CREATE USER hc_bin;
                DROP USER hc_bin; CREATE VIEW v AS SELECT * FROM a; INSERT INTO a (v) VALUES (5); DROP DATABASE IF EXISTS hc_nothing;";
    // A load without the option shows that the log is looked at rightly.
    let position = || rows(&server, "SHOW BINARY LOGS");
    let before = position();
    assert_tells(
        &load_with(&server, text.as_bytes(), &["--skip-binlog", "--analyze", "-t3", "--chunk-bytes=1"]),
        0,
        &[],
    );
    assert_eq!(position(), before);
    assert_eq!(rows(&server, &format!("SELECT COUNT(*) FROM {DATABASE}.a")), ["3"]);
    execute(&server, &format!("DROP DATABASE {DATABASE}; CREATE DATABASE {DATABASE}"));
    let before = position();
    assert_tells(&load_with(&server, text.as_bytes(), &["-t3"]), 0, &[]);
    assert_ne!(position(), before);
    execute(&server, "CREATE USER hc_small@localhost; GRANT ALL ON hortator_case.* TO hc_small@localhost");
    let mut command = load_into(&server, &["--skip-binlog", "-u", "hc_small"]);
    command.stdin(std::process::Stdio::null());
    assert_tells(&run(command), 1, &["--skip-binlog needs the privilege BINLOG ADMIN", "load without --skip-binlog"]);
}

#[test]
fn statistics_are_those_of_the_loaded_rows() {
    let pair = pair();
    let values: Vec<String> = (1..=400).map(|id| format!("({id}, {})", id % 7)).collect();
    let text = format!(
        "CREATE TABLE `odd.name` (id INT PRIMARY KEY, v INT, KEY v (v)) STATS_AUTO_RECALC=0;
         INSERT INTO `odd.name` VALUES {}; CREATE TABLE gone (id INT); INSERT INTO gone VALUES (1); DROP TABLE gone;",
        values.join(",")
    );
    let query = format!(
        "SELECT n_rows FROM mysql.innodb_table_stats WHERE database_name = '{DATABASE}' AND table_name = 'odd.name'"
    );
    pair.hortator.reset();
    assert_tells(&load_with(&pair.hortator, text.as_bytes(), &[]), 0, &[]);
    assert_eq!(rows(&pair.hortator, &query), ["0"]);
    pair.hortator.reset();
    let told =
        ["statistics renewed: 1 tables", "not renewed: hortator_case.gone: Table 'hortator_case.gone' doesn't exist"];
    assert_tells(&load_with(&pair.hortator, text.as_bytes(), &["--analyze"]), 0, &told);
    assert_eq!(rows(&pair.hortator, &query), ["400"]);
}
