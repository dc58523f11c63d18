//! `--foreign-keys=deferred`: what is wrong with the rows is found at the end, with its line, and nothing else differs.
//!
//! That valid dumps give the client's state is held in [`crate::cases`], [`crate::features`] and [`crate::random`].

use std::io::Write;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Contender, Dump, Outcome, Running, load, run};
use crate::servers::{Server, pair};

const DEFERRED: &str = "--foreign-keys=deferred";

const PARENTS: &str = "CREATE TABLE parent (id INT PRIMARY KEY, other INT, UNIQUE KEY (other)) ENGINE=InnoDB;\n\
                       CREATE TABLE child (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id)) ENGINE=InnoDB;\n";

/// Loads a text from a file, with checks deferred.
fn deferred(server: &Server, text: &str, more: &[&str]) -> Outcome {
    server.reset();
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    run(load_into(server, &[&[DEFERRED, dump.to_str().unwrap()], more].concat()))
}

fn ids(server: &Server, table: &str) -> String {
    server.rows_of_case(&format!("SELECT GROUP_CONCAT(id ORDER BY id) FROM {table}"))[0][0].clone()
}

#[test]
fn one_row_without_a_parent() {
    let server = &pair().hortator;
    let text = format!(
        "{PARENTS}INSERT INTO parent VALUES (1, NULL);\nINSERT INTO child VALUES\n(10,1),\n(11,7),\n(12,NULL);\n"
    );
    let outcome = deferred(server, &text, &[]);
    let told =
        ["child: 1 row(s) have no parent row: (p) is not in hortator_case.parent (id) (constraint child_ibfk_1)"];
    assert_tells(&outcome, 1, &told);
    assert_tells(
        &outcome,
        1,
        &["at line 6 in file: '", "dump.sql': p = 7, id = 11\n", "1 of 1 constraint(s) violated"],
    );
    assert!(!outcome.messages.contains("id = 10") && !outcome.messages.contains("id = 12"), "{}", outcome.messages);
    assert_eq!(ids(server, "child"), "10,11,12", "everything is in, the offender too");

    // As written, the server refuses the statement, and that is told.
    server.reset();
    let as_written = load(Contender::Default, server, Dump::Bytes(text.as_bytes()), false);
    assert_tells(&as_written, 1, &["ERROR 1452", "foreign keys: checked by the server"]);
    assert_eq!(ids(server, "child"), "NULL");
}

#[test]
fn a_child_before_its_parent_is_right_in_the_end() {
    let server = &pair().hortator;
    let text = format!("{PARENTS}INSERT INTO child VALUES (10,1),(11,2);\nINSERT INTO parent VALUES (1,1),(2,2);\n");
    let outcome = deferred(server, &text, &[]);
    assert_tells(&outcome, 0, &["foreign keys: deferred, 1 constraint(s) validated"]);
    assert_eq!(ids(server, "child"), "10,11");
}

#[test]
fn many_rows_without_a_parent_are_counted() {
    let server = &pair().hortator;
    let rows: Vec<String> = (1..=5000).map(|id| format!("({id},{})", id + 4_000)).collect();
    let parents: Vec<String> = (1..=5000).map(|id| format!("({id},NULL)")).collect();
    let inserts: String =
        rows.chunks(100).map(|rows| format!("INSERT INTO child VALUES {};\n", rows.join(","))).collect();
    let text = format!("{PARENTS}INSERT INTO parent VALUES {};\n{inserts}", parents.join(","));
    let outcome = deferred(server, &text, &["--chunk-bytes", "1000"]);
    assert_tells(&outcome, 1, &["child: 4000 row(s) have no parent row: (p) is not in", "\n  and 3980 more\n"]);
    let told = outcome.messages.lines().filter(|line| line.contains("dump.sql': p = ")).count();
    assert_eq!(told, 20, "{}", outcome.messages);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM child")[0][0], "5000");
}

#[test]
fn every_kind_of_foreign_key() {
    let server = &pair().hortator;
    let text = "CREATE DATABASE hortator_other;\n\
        CREATE TABLE p (a INT, b VARCHAR(10), PRIMARY KEY (a, b)) ENGINE=InnoDB;\n\
        CREATE TABLE hortator_other.q (id INT PRIMARY KEY) ENGINE=InnoDB;\n\
        CREATE TABLE c (id INT AUTO_INCREMENT PRIMARY KEY, a INT, b VARCHAR(10), q INT, up INT,\n\
          CONSTRAINT pair FOREIGN KEY (a, b) REFERENCES p (a, b), CONSTRAINT self FOREIGN KEY (up) REFERENCES c (id),\n\
          CONSTRAINT far FOREIGN KEY (q) REFERENCES hortator_other.q (id)) ENGINE=InnoDB;\n\
        INSERT INTO p VALUES (1,'x'),(1,'it''s');\n\
        INSERT INTO hortator_other.q VALUES (1);\n\
        INSERT INTO c VALUES (1,1,'X',1,3),\n\
         (2,NULL,'nowhere',NULL,NULL),\n\
         (3,1,'it\\'s',9,NULL),\n\
         (4,2,'it''s',1,77);\n\
        INSERT INTO c (b, a) VALUES ('y',8);\n";
    let outcome = deferred(server, text, &["--threads", "4", "--chunk-bytes", "1"]);
    let told = [
        "c: 2 row(s) have no parent row: (a, b) is not in hortator_case.p (a, b) (constraint pair)\n",
        "at line 12 in file: '",
        "dump.sql': a = 2, b = it's, id = 4\n",
        "at line 13 in file: '",
        "dump.sql': a = 8, b = y, id = 5\n",
        "c: 1 row(s) have no parent row: (q) is not in hortator_other.q (id) (constraint far)\n",
        "at line 11 in file: '",
        "c: 1 row(s) have no parent row: (up) is not in hortator_case.c (id) (constraint self)\n",
        "dump.sql': up = 77, id = 4\n",
    ];
    assert_tells(&outcome, 1, &told);
    assert_eq!(ids(server, "c"), "1,2,3,4,5");
}

#[test]
fn a_dump_that_switches_checks_off_is_proven_all_the_same() {
    let server = &pair().hortator;
    let text = format!(
        "SET foreign_key_checks = 0;\n{PARENTS}INSERT INTO child VALUES (10,1),(11,2);\nINSERT INTO parent VALUES (1,1);\n"
    );
    assert_tells(
        &deferred(server, &text, &[]),
        1,
        &["child: 1 row(s) have no parent row", "at line 4", "p = 2, id = 11"],
    );

    server.reset();
    let as_written = load(Contender::Default, server, Dump::Bytes(text.as_bytes()), false);
    assert_tells(&as_written, 0, &["foreign keys: not checked, as set by the dump"]);
}

#[test]
fn what_the_dump_does_to_others_with_checks_off() {
    let server = &pair().hortator;
    for (statement, orphans) in [
        ("DELETE FROM parent WHERE id = 1", 1),
        ("UPDATE parent SET id = id + 10", 2),
        ("REPLACE INTO parent VALUES (5, 2)", 1),
        ("TRUNCATE parent", 2),
        ("DROP TABLE parent; CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB", 2),
        ("INSERT INTO parent VALUES (5, 1) ON DUPLICATE KEY UPDATE id = 50", 1),
        ("RENAME TABLE child TO kid, parent TO old; CREATE TABLE parent LIKE old", 0),
        ("ALTER TABLE parent ADD c INT; ALTER TABLE child ADD FOREIGN KEY (id) REFERENCES parent (id)", 2),
    ] {
        server.reset();
        let mut root = server.connect();
        let before = format!(
            "USE hortator_case; {PARENTS} INSERT INTO parent VALUES (1,1),(2,2); INSERT INTO child VALUES (10,1),(11,2)"
        );
        for statement in before.split(';') {
            root.execute(statement.as_bytes()).unwrap();
        }
        // No row of this dump goes into the child.
        let text = format!("SET foreign_key_checks = 0;\n{statement};\n");
        let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
        let outcome = run(load_into(server, &[DEFERRED, dump.to_str().unwrap()]));
        if orphans == 0 {
            assert_tells(&outcome, 0, &["1 constraint(s) validated"]);
        } else {
            assert_tells(
                &outcome,
                1,
                &[&format!("child: {orphans} row(s) have no parent row: ("), "no line: no row of the dump"],
            );
        }
    }
}

#[test]
fn rows_that_were_there_before_count() {
    let server = &pair().hortator;
    server.reset();
    let mut root = server.connect();
    root.execute(b"USE hortator_case").unwrap();
    root.execute(b"SET foreign_key_checks = 0").unwrap();
    for statement in PARENTS.split_terminator(";\n") {
        root.execute(statement.as_bytes()).unwrap();
    }
    root.execute(b"INSERT INTO child VALUES (1,99)").unwrap();
    let (_folder, dump) = dump_file("dump.sql", b"INSERT INTO child VALUES (2,NULL);\n");
    let outcome = run(load_into(server, &[DEFERRED, dump.to_str().unwrap()]));
    assert_tells(
        &outcome,
        1,
        &["p = 99, id = 1 (no line: no row of the dump has these values as literals; the row existed before"],
    );
}

#[test]
fn parents_that_are_not_there() {
    let server = &pair().hortator;
    let child = "CREATE TABLE child (id INT PRIMARY KEY, p INT, CONSTRAINT c FOREIGN KEY (p) REFERENCES nowhere (id)) ENGINE=InnoDB;\n";
    let text = format!("SET foreign_key_checks = 0;\n{child}");
    let outcome = deferred(server, &text, &[]);
    assert_tells(
        &outcome,
        1,
        &["(p) refers to hortator_case.nowhere (id), but the parent table does not exist (constraint c)"],
    );

    // While the dump has its checks on, a definition is refused as ever: only rows are deferred.
    assert_tells(&deferred(server, child, &[]), 1, &["ERROR 1005", "at line 1", "DEFERRED AND NOT VALIDATED"]);
    assert!(server.rows_of_case("SHOW TABLES").is_empty());

    let text = "SET foreign_key_checks = 0;\n\
        CREATE TABLE p (id INT PRIMARY KEY, k INT, KEY k (k)) ENGINE=InnoDB;\n\
        CREATE TABLE child (id INT PRIMARY KEY, p INT, CONSTRAINT c FOREIGN KEY (p) REFERENCES p (k)) ENGINE=InnoDB;\n\
        ALTER TABLE p DROP KEY k;\nINSERT INTO child VALUES (1,1);\n";
    let outcome = deferred(server, text, &[]);
    assert_tells(
        &outcome,
        1,
        &["refers to hortator_case.p (k), but the parent table has no key that starts with these columns"],
    );
}

#[test]
fn what_acts_on_other_rows_keeps_the_dump_s_checks() {
    let pair = pair();
    // Cascades, refusals and skipped rows are not checks to be deferred: each must be as with the client.
    let text = "CREATE TABLE p (id INT PRIMARY KEY, v INT) ENGINE=InnoDB;\n\
        CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB;\n\
        CREATE TABLE n (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE SET NULL) ENGINE=InnoDB;\n\
        INSERT INTO p VALUES (1,1),(2,2),(3,3),(4,4);\nINSERT INTO c VALUES (1,1),(2,2),(3,3),(4,4);\n\
        INSERT INTO n VALUES (1,1),(2,2),(3,3);\n\
        INSERT IGNORE INTO c VALUES (20,77),(21,2);\n\
        DELETE FROM p WHERE id = 1;\nREPLACE INTO p VALUES (2,20);\nUPDATE p SET id = 40 WHERE id = 4;\n\
        SELECT @@foreign_key_checks;\nSHOW VARIABLES LIKE 'foreign_key_checks';\n\
        SET foreign_key_checks = 0;\nSELECT @@foreign_key_checks;\nSET foreign_key_checks = 1;\n\
        ALTER TABLE c ADD w INT, ALGORITHM=COPY;\nINSERT INTO c VALUES (41,40,0);\nSELECT * FROM c ORDER BY id;\n";
    let terms = crate::compare::Terms {
        contenders: &[Contender::Deferred],
        force: false,
        row_times: true,
        is_stricter: false,
        ahead: &[],
    };
    let found = crate::compare::compare(&pair, Dump::Bytes(text.as_bytes()), terms).differences;
    crate::compare::assert_same(&found);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM c WHERE id < 3").len(), 0, "the cascades ran");
}

#[test]
fn a_load_that_stops_says_that_nothing_is_proven() {
    let server = &pair().hortator;
    let text = format!("{PARENTS}INSERT INTO child VALUES (10,1);\nINSERT INTO child VALUES (10,1);\n");
    let outcome = deferred(server, &text, &[]);
    assert_tells(
        &outcome,
        1,
        &["ERROR 1062", "foreign keys: DEFERRED AND NOT VALIDATED: the load did not reach its end"],
    );
    assert_eq!(ids(server, "child"), "10");

    // With --force it comes to its end, and the proof says more than the failed statement does.
    let outcome = deferred(server, &text, &["--force"]);
    assert_tells(&outcome, 1, &["ERROR 1062", "child: 1 row(s) have no parent row: (p)", "loaded, not validated"]);
    let text = format!(
        "{PARENTS}INSERT INTO child VALUES (1,1);\nINSERT INTO parent VALUES (1,1);\nINSERT INTO parent VALUES (1,1);\n"
    );
    assert_tells(&deferred(server, &text, &["--force"]), 3, &["ERROR 1062", "1 constraint(s) validated"]);
}

#[test]
fn the_summary_as_an_object() {
    let server = &pair().hortator;
    let text = format!("{PARENTS}INSERT INTO child VALUES\n(10,1);\n");
    let json = |outcome: &Outcome| serde_json::from_slice::<serde_json::Value>(&outcome.rows).unwrap();
    let outcome = deferred(server, &text, &["--json"]);
    let summary = json(&outcome);
    assert_eq!(summary["end"], "not_validated");
    let keys = &summary["foreign_keys"];
    assert_eq!((&keys["mode"], &keys["dump"]), (&"deferred".into(), &"checked".into()));
    let validation = &keys["validation"];
    assert_eq!((&validation["outcome"], &validation["constraints"]), (&"violated".into(), &1.into()));
    let broken = &validation["violations"][0];
    assert_eq!((&broken["table"], &broken["rows"]), (&"hortator_case.child".into(), &1.into()));
    assert_eq!((&broken["first"][0]["line"], &broken["first"][0]["row"]), (&4.into(), &"p = 1, id = 10".into()));

    server.reset();
    let (_folder, dump) = dump_file("dump.sql", PARENTS.as_bytes());
    let outcome = run(load_into(server, &["--json", dump.to_str().unwrap()]));
    let keys = &json(&outcome)["foreign_keys"];
    assert_eq!(keys, &serde_json::json!({"mode": "as_written", "dump": "none", "validation": null}));
}

#[test]
fn the_plan_says_who_checks() {
    let server = &pair().hortator;
    server.reset();
    let (_folder, dump) = dump_file("dump.sql", format!("{PARENTS}INSERT INTO parent VALUES (1,1);").as_bytes());
    let plan = |more: &[&str]| {
        let outcome = run(load_into(server, &[&["--plan", dump.to_str().unwrap()], more].concat()));
        String::from_utf8_lossy(&outcome.rows).into_owned()
    };
    let as_written = plan(&[]);
    assert!(
        as_written.contains("foreign keys: checked by the server; unique keys: checked by the server\n"),
        "{as_written}"
    );
    assert!(as_written.contains("foreign_key_checks = ON:"), "{as_written}");
    let deferred = plan(&[DEFERRED]);
    assert!(deferred.contains("foreign keys: deferred: the load validates each constraint at the end"), "{deferred}");
    assert!(!deferred.contains("foreign_key_checks = ON:"), "{deferred}");
    assert!(server.rows_of_case("SHOW TABLES").is_empty());
}

#[test]
fn rows_from_a_pipe_have_no_line() {
    let server = &pair().hortator;
    server.reset();
    let text = format!("{PARENTS}INSERT INTO child VALUES (10,1);\n");
    let mut command = load_into(server, &[DEFERRED]);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(text.as_bytes()).and_then(|()| std::io::Seek::rewind(&mut file)).unwrap();
    command.stdin(file);
    assert_tells(
        &run(command),
        1,
        &["p = 1, id = 10 (no line: the input is not a file that can be read a second time)"],
    );
}

#[test]
fn rows_are_found_wherever_the_dump_writes_them() {
    let server = &pair().hortator;
    let folder = tempfile::tempdir().unwrap();
    let inner = "/* a comment\n   of two lines */ INSERT /* one\nmore */ INTO `CHILD`.child VALUES (1,11);\n";
    std::fs::write(folder.path().join("inner.sql"), inner.replace("`CHILD`", "hortator_case")).unwrap();
    let text = format!(
        "{PARENTS}source inner.sql\nSET NAMES latin1;\nDELIMITER //\nINSERT INTO child (p, id) VALUES ('12', 2)//\r\n\
         SET sql_mode='NO_BACKSLASH_ESCAPES,ANSI_QUOTES'//\nINSERT INTO \"child\"\nVALUES\n(0x3,13)//\nUSE mysql//\n\
         SET foreign_key_checks=0//\n\
         INSERT INTO hortator_case.child VALUES (4,+14)//\nINSERT INTO hortator_case.child VALUES (5, ABS(-15))//\n"
    );
    server.reset();
    let dump = folder.path().join("dump.sql");
    std::fs::write(&dump, text).unwrap();
    let outcome = run(load_into(server, &[DEFERRED, dump.to_str().unwrap()]));
    let told = [
        "inner.sql': p = 11, id = 1 (line of the statement)",
        "at line 6 in file: '",
        "dump.sql': p = 12, id = 2\n",
        "dump.sql': p = 14, id = 4\n",
        "p = 15, id = 5 (no line: no row",
    ];
    assert_tells(&outcome, 1, &told);
}

#[test]
fn a_load_that_is_gone_on_with_proves_all_of_it() {
    let server = &pair().hortator;
    server.reset();
    let mut root = server.connect();
    let child_first = "CREATE TABLE hortator_case.other (id INT PRIMARY KEY) ENGINE=InnoDB";
    root.execute(child_first.as_bytes()).unwrap();
    root.execute(b"INSERT INTO hortator_case.other VALUES (5)").unwrap();
    let text = format!(
        "SET foreign_key_checks = 0;\n{PARENTS}INSERT INTO child VALUES (10,7);\nDELETE FROM parent;\n\
         INSERT INTO other VALUES (5);\nINSERT INTO parent VALUES (1,1);\n"
    );
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let dump = dump.to_str().unwrap();
    let outcome = run(load_into(server, &[DEFERRED, dump]));
    assert_tells(&outcome, 1, &["ERROR 1062", "DEFERRED AND NOT VALIDATED"]);

    // Nobody says again that checks were deferred: the load knows.
    root.execute(b"DELETE FROM hortator_case.other").unwrap();
    let outcome = run(load_into(server, &["--resume", dump]));
    let told = [
        "child: 1 row(s) have no parent row: (p) is not in",
        "at line 4 in file: '",
        "p = 7, id = 10",
        "foreign keys: deferred",
    ];
    assert_tells(&outcome, 1, &told);
    assert_eq!((ids(server, "parent"), ids(server, "other")), ("1".to_owned(), "5".to_owned()));
}

#[test]
fn a_proof_that_is_cut_short_is_made_again() {
    let server = &pair().hortator;
    for (ends, status, told) in [
        (Ends::Signal, 130, "DEFERRED AND NOT VALIDATED: the validation failed: interrupted"),
        (Ends::Connection, 1, "DEFERRED AND NOT VALIDATED: the validation failed: lost the connection"),
    ] {
        server.reset();
        let mut root = server.connect();
        root.execute(b"USE hortator_case").unwrap();
        for statement in PARENTS.split_terminator(";\n") {
            root.execute(statement.as_bytes()).unwrap();
        }
        // Rows that go in unchecked do not touch the parent; the proof does, and waits.
        root.execute(b"LOCK TABLES parent WRITE").unwrap();
        let (_folder, dump) = dump_file("dump.sql", b"INSERT INTO child VALUES (10,7);\n");
        let dump = dump.to_str().unwrap();
        let running = Running::start(load_into(server, &[DEFERRED, dump]));
        let waits = "FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table metadata lock%'";
        server.wait_until(&format!("SELECT COUNT(*) {waits}"));
        match ends {
            Ends::Signal => crate::interrupted::signal(&running, rustix::process::Signal::INT),
            Ends::Connection => {
                let rows = server.connect().fetch(format!("SELECT ID {waits}").as_bytes()).unwrap();
                let id = String::from_utf8(rows[0][0].clone().unwrap()).unwrap();
                server.connect().execute(format!("KILL CONNECTION {id}").as_bytes()).unwrap();
            }
        }
        assert_tells(&running.finish(), status, &[told]);
        assert_eq!(ids(server, "child"), "10");

        root.execute(b"UNLOCK TABLES").unwrap();
        let outcome = run(load_into(server, &["--resume", dump]));
        assert_tells(
            &outcome,
            1,
            &["child: 1 row(s) have no parent row: (p) is not in", "at line 1 in file: '", "p = 7, id = 10"],
        );
        assert_eq!(ids(server, "child"), "10", "no row went in twice");
    }
}

/// What cuts a proof short.
#[derive(Clone, Copy)]
enum Ends {
    Signal,
    Connection,
}
