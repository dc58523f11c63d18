//! Statements of the main session whose records are few: many of them share one, or need none.

use std::fmt::Write;

use super::*;

const DEFINITIONS: &str = "\
CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT);
CREATE TABLE u (id INT PRIMARY KEY, n TINYINT) ENGINE=InnoDB;
CREATE TABLE heap (a INT) ENGINE=InnoDB;
CREATE TABLE emptied (a INT, b INT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB;
CREATE VIEW v AS SELECT id, a FROM t;
CREATE VIEW w AS SELECT a FROM v WHERE a >= 0;
CREATE SEQUENCE s;
INSERT INTO heap VALUES (0);
CREATE TABLE m (id INT PRIMARY KEY, n INT, round INT) ENGINE=MyISAM;
INSERT INTO m VALUES (1, 0, 0);
";

/// One of each kind, in any order; each does something else when it is done twice or left out.
fn statement(text: &mut String, dice: &mut Dice, round: u64) {
    let _ = match dice.below(15) {
        0 | 1 => writeln!(text, "INSERT INTO t (a) VALUES ({round}), ({round}) RETURNING id;"),
        2 => writeln!(text, "INSERT INTO v (a) VALUES ({round});"),
        3 => writeln!(text, "INSERT INTO w (a) VALUES ({round}), (1);"),
        4 | 5 => {
            let _ = writeln!(text, "INSERT INTO u VALUES ({}, {});\nSHOW WARNINGS;", round * 2, round % 100);
            writeln!(text, "INSERT INTO u VALUES ({}, {});\nSHOW WARNINGS;", round * 2 + 1, round % 100)
        }
        6 => writeln!(text, "INSERT INTO t (a) VALUES ({round});\nSHOW WARNINGS;"),
        7 => writeln!(text, "DO SETVAL(s, {});\nINSERT INTO heap SELECT COUNT(*) FROM heap;", round + 1),
        8 => writeln!(
            text,
            "INSERT INTO emptied (a) VALUES (1), (2);\nTRUNCATE emptied;\nINSERT INTO emptied (a) VALUES ({round});"
        ),
        9 => writeln!(
            text,
            "CREATE DATABASE IF NOT EXISTS hortator_case_9;\nUSE hortator_case_9;\nCREATE TABLE t{round} (a INT);\n\
             INSERT INTO t{round} VALUES (1);\nDROP DATABASE IF EXISTS hortator_case_9;\nCREATE DATABASE hortator_case_9;\n\
             USE hortator_case_9;\nCREATE TABLE t (a INT);\nINSERT INTO t VALUES ({round});\nUSE hortator_case;",
        ),
        10 => writeln!(
            text,
            "DROP DATABASE IF EXISTS hortator_case_{0};\nCREATE DATABASE hortator_case_{0};\n\
             CREATE TABLE hortator_case_{0}.t (a INT);\nINSERT INTO hortator_case_{0}.t SELECT COUNT(*) FROM heap;\n\
             DROP USER IF EXISTS 'clerk{0}'@'localhost';\nCREATE USER 'clerk{0}'@'localhost';\n\
             GRANT SELECT ON *.* TO 'clerk{0}'@'localhost';\nDROP USER 'clerk{0}'@'localhost';",
            round % 3,
        ),
        11 | 12 => updates(text, dice, round),
        13 => writeln!(
            text,
            "CREATE TABLE u{round} LIKE u;\nALTER TABLE u{round} ADD a INT;\nINSERT INTO u{round} VALUES (1, 2, 3);\n\
             RENAME TABLE u{round} TO w{round};\nCREATE INDEX a ON w{round} (a);\nDROP TABLE w{round};",
        ),
        _ => writeln!(
            text,
            "CREATE USER 'agent'@'localhost';\nUPDATE m SET n = n + 7, round = {round}100;\nCREATE ROLE porter;\n\
             GRANT porter TO 'agent'@'localhost';\nCREATE DATABASE hortator_case_8;\nDROP ROLE porter;\n\
             DROP DATABASE hortator_case_8;\nDO SETVAL(s, {});\nDROP USER 'agent'@'localhost';",
            round + 1,
        ),
    };
}

/// Changes of a table that cannot roll back. Each says which it was.
fn updates(text: &mut String, dice: &mut Dice, round: u64) -> std::fmt::Result {
    (0..=dice.below(30)).try_for_each(|number| {
        writeln!(text, "UPDATE m SET n = (n * 3 + 1) % 100003, round = {round}0{number:02} WHERE id = 1;")
    })
}

/// Goes on; where a change of a table that cannot roll back is in doubt, the table says whether it is there.
fn go_on_telling(server: &Server, text: &str, file: &str, ended: &Outcome) -> Running {
    let Some((_, line)) = ended.messages.split_once("ERROR at line ").filter(|_| ended.messages.contains("in doubt"))
    else {
        return go_on(server, file, ended);
    };
    let digits = line.find(|sign: char| !sign.is_ascii_digit()).unwrap();
    let statement = text.lines().nth(line[..digits].parse::<usize>().unwrap() - 1).unwrap();
    let round = statement.split_once("round = ").unwrap_or_else(|| panic!("{}", ended.messages)).1;
    let round: String = round.chars().take_while(char::is_ascii_digit).collect();
    let is_there = server.rows_of_case("SELECT round FROM m WHERE id = 1")[0][0] == round;
    let answer = if is_there { "--in-doubt=applied" } else { "--in-doubt=reapply" };
    eprintln!("in doubt: {statement}: {answer}");
    Running::start(load_into(server, &[&CHUNK[..], &["--resume", answer, file]].concat()))
}

/// A server that is killed before that keeps the sequence without its row: then somebody has to drop it. The sequence can be
/// seen before the statement that creates it has ended.
fn has_sequence(server: &Server) -> bool {
    let mut connection = server.connect();
    let is_there = connection.fetch(format!("SHOW CREATE SEQUENCE {DATABASE}.s").as_bytes()).is_ok();
    let creating = "SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'CREATE SEQUENCE%'";
    is_there && connection.fetch(creating.as_bytes()).is_ok_and(|rows| rows.is_empty())
}

#[test]
fn killed_among_statements_of_the_main_session() {
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    let mut text = DEFINITIONS.to_owned();
    for round in 0..400 {
        statement(&mut text, &mut dice, round);
    }
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    let server = Server::start(&[("innodb_flush_log_at_trx_commit", "1")]);
    let node = server.sandbox().node(0);
    server.reset();
    let begin = || Running::start(load_into(&server, &[file]));
    let (mut running, mut runs, mut kills, mut patience_ms) = (begin(), 0, 0, 60);
    loop {
        thread::sleep(Duration::from_millis(dice.below(patience_ms)));
        if kills < 8 && !running.has_ended() {
            kills += 1;
            if dice.below(3) == 0 && has_sequence(&server) {
                node.kill().unwrap();
                signal(&running, Signal::KILL);
                node.start().unwrap();
            } else {
                signal(&running, Signal::KILL);
            }
        }
        let outcome = running.finish_within(LIMIT);
        runs += 1;
        assert!(runs < 200, "the load does not end: {}", outcome.messages);
        match outcome.status {
            Some(0) if kills > 0 => break,
            // It was over before it was killed.
            Some(0) => {
                patience_ms = patience_ms / 2 + 1;
                server.reset();
                running = begin();
            }
            // It was killed behind its last statement, when its records were gone.
            Some(1) if outcome.messages.contains("nothing to resume") && has_tables(&server) => break,
            _ => running = go_on_telling(&server, &text, file, &outcome),
        }
    }
    eprintln!("{kills} kills");
    assert_like_client(&server, text.as_bytes());
}

/// A load cannot go on behind a CALL, so that nothing behind it needs an intent. It says so, wherever it ends.
#[test]
fn behind_what_binds_the_session() {
    let pair = pair();
    let server = &pair.hortator;
    let text = "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;\nCREATE TABLE m (id INT) ENGINE=MyISAM;\n\
                CREATE PROCEDURE p(n INT) INSERT INTO t VALUES (n);\nCALL p(1);\nINSERT INTO m VALUES (1);\n\
                UPDATE m SET id = id + 1;\nLOCK TABLES t WRITE, m WRITE;\nINSERT INTO t SELECT 5;\nINSERT INTO m SELECT 5;\n\
                UNLOCK TABLES;\nBEGIN;\nINSERT INTO t SELECT 6;\nINSERT INTO m SELECT 6;\nCOMMIT;\nCALL p(2);\n\
                INSERT INTO later VALUES (1);\n";
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    load_failing(server, file);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM t"), [["1,2,5,6"]]);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM m"), [["2,5,6"]]);
    assert_tells(&run(load_into(server, &["--resume", file])), 1, &["cannot resume", "line 4"]);
}

/// Where the server takes back more than the statement that fails, what was asked about before stays, as with the client.
#[test]
fn a_timeout_that_takes_back_a_transaction() {
    let server = Server::start(&[("innodb_rollback_on_timeout", "1")]);
    let text = "SET innodb_lock_wait_timeout = 1;\nINSERT INTO t VALUES (1);\nSHOW WARNINGS;\nINSERT INTO t VALUES (2);\n\
                SHOW WARNINGS;\nINSERT INTO t VALUES (3);\nSHOW WARNINGS;\nINSERT INTO t VALUES (50);\nSHOW WARNINGS;\n\
                INSERT INTO t VALUES (4);\nSHOW WARNINGS;\n";
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    for (arguments, status, ids) in [(&[][..], 1, "1,2,3"), (&["--force"], 3, "1,2,3,4")] {
        server.reset();
        server.connect().execute(b"CREATE TABLE hortator_case.t (id INT PRIMARY KEY) ENGINE=InnoDB").unwrap();
        let mut other = server.connect();
        other.execute(b"BEGIN").unwrap();
        other.execute(b"INSERT INTO hortator_case.t VALUES (50)").unwrap();
        let outcome = run(load_into(&server, &[arguments, &[file]].concat()));
        assert_tells(&outcome, status, &["ERROR 1205", "line 8"]);
        other.execute(b"ROLLBACK").unwrap();
        assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM t"), [[ids]], "{arguments:?}");
    }
    assert_tells(&run(load_into(&server, &["--resume", file])), 1, &["nothing to resume"]);
}

/// A deadlock takes back what ran before it. It runs again, and what it has returned is not printed again.
#[test]
fn a_deadlock_behind_rows_that_are_printed() {
    let pair = pair();
    let server = &pair.hortator;
    for (text, printed) in [
        ("INSERT INTO t VALUES (1) RETURNING id;\nINSERT INTO t VALUES (2) RETURNING id + 1;\n", "id\n1\nid + 1\n3\n"),
        ("INSERT INTO t VALUES (1);\nSHOW WARNINGS;\nINSERT INTO t VALUES (2);\nSHOW WARNINGS;\n", ""),
        (
            "INSERT INTO t VALUES (1) RETURNING id;\nSHOW WARNINGS;\nINSERT INTO t VALUES (2);\nSHOW WARNINGS;\n",
            "id\n1\n",
        ),
    ] {
        server.reset();
        let mut other = server.connect();
        other.execute(b"CREATE TABLE hortator_case.t (id INT PRIMARY KEY) ENGINE=InnoDB").unwrap();
        other.execute(b"BEGIN").unwrap();
        // It has done more than the load.
        other.execute(b"INSERT INTO hortator_case.t VALUES (2), (3), (4), (5), (6), (7), (8)").unwrap();
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let running = Running::start(load_into(server, &[path.to_str().unwrap()]));
        // The load has row 1, and waits for row 2.
        server.wait_until(
            "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST \
             WHERE INFO LIKE 'INSERT INTO t VALUES (2)%' AND STATE = 'Update' AND TIME_MS > 300",
        );
        other.execute(b"SELECT * FROM hortator_case.t WHERE id = 1 FOR UPDATE").unwrap();
        other.execute(b"ROLLBACK").unwrap();
        let outcome = running.finish_within(LIMIT);
        assert_eq!(outcome.status, Some(0), "{text}: {}", outcome.messages);
        assert!(!outcome.messages.contains("replays: 0"), "{text}: {}", outcome.messages);
        assert_eq!(String::from_utf8_lossy(&outcome.rows), printed, "{text}");
        assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM t"), [["1,2"]], "{text}");
    }
}
