//! Corners of going on with a load: what is asked of records on servers and by options out of the ordinary.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Outcome, Running, hortator, run};
use crate::servers::{Server, pair};
use crate::target;

/// An ended load on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Loads a dump whose last statement needs a table `later`, which is not there.
fn load_failing(server: &Server, file: &str) -> Outcome {
    server.reset();
    let outcome = run(load_into(server, &[file]));
    assert_tells(&outcome, 1, &["later", "--resume"]);
    server.connect().execute(b"CREATE TABLE hortator_case.later (id INT)").unwrap();
    outcome
}

/// Loads a dump up to its last statement, and goes on with it.
fn fail_and_go_on(server: &Server, text: &str) {
    let (_folder, path) = dump_file("dump.sql", format!("{text}INSERT INTO later VALUES (1);\n").as_bytes());
    let file = path.to_str().unwrap();
    load_failing(server, file);
    assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM later"), [["1"]]);
}

/// The number that a message gives an ended load.
fn load_id(outcome: &Outcome) -> String {
    let behind = outcome.messages.split("checkpoints of load ").nth(1).expect("the load is named");
    behind.chars().take_while(char::is_ascii_digit).collect()
}

/// Loads into the database once it is emptied.
fn load_into_anew(server: &Server, arguments: &[&str]) -> Outcome {
    server.reset();
    run(load_into(server, arguments))
}

fn load_as(server: &Server, arguments: &[&str]) -> Command {
    let mut command = hortator("load");
    command.arg("--no-defaults").arg("-S").arg(server.socket()).args(["-u", "root"]).args(arguments);
    command.env_remove("MYSQL_PWD").stdin(Stdio::null());
    command
}

#[test]
fn a_number_with_other_options() {
    let pair = pair();
    let server = &pair.hortator;
    let (_folder, path) =
        dump_file("dump.sql", b"CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\nINSERT INTO later VALUES (1);\n");
    let file = path.to_str().unwrap();
    let id = load_id(&load_failing(server, file));
    server.connect().execute(b"CREATE DATABASE elsewhere").unwrap();
    server.connect().execute(b"CREATE TABLE elsewhere.later (id INT)").unwrap();
    let resume = format!("--resume={id}");
    for (arguments, words) in [
        (&["-D", "elsewhere"][..], &["--database=hortator_case", "--database=elsewhere"][..]),
        (&[], &["--database=hortator_case", "no --database"]),
        (&["-D", "hortator_case", "--binary-mode"], &["no --binary-mode", "this run has --binary-mode"]),
        (&["-D", "hortator_case", "--comments"], &["no --comments", "this run has --comments"]),
    ] {
        let outcome = run(load_as(server, &[arguments, &[&resume, file]].concat()));
        assert_tells(&outcome, 1, &[words, &[&id]].concat());
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM elsewhere.later"), [["0"]]);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM later"), [["0"]]);
    }
    assert_tells(&run(load_as(server, &["-D", "hortator_case", &resume, file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t, later"), [["1"]]);
}

#[test]
fn a_server_that_logs_statements() {
    let server = Server::start(&[("log_bin", "binlog"), ("binlog_format", "STATEMENT")]);
    fail_and_go_on(&server, "CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\nUPDATE t SET id = id + 1;\n");
    assert_eq!(server.rows_of_case("SELECT id FROM t"), [["2"]]);
}

#[test]
fn a_server_without_autocommit() {
    let server = Server::start(&[("autocommit", "0")]);
    fail_and_go_on(
        &server,
        "CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\nCOMMIT;\nSET autocommit = 1;\nINSERT INTO t VALUES (2);\n\
         CREATE TABLE u (id INT);\nINSERT INTO u VALUES (3);\nUPDATE t SET id = id + 10;\n",
    );
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM t"), [["11,12"]]);
    assert_eq!(server.rows_of_case("SELECT id FROM u"), [["3"]]);
    // As with the client, what the dump does not commit is not there.
    server.reset();
    let text = b"CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\nCOMMIT;\nINSERT INTO t VALUES (2);\n";
    let (_folder, path) = dump_file("dump.sql", text);
    assert_tells(&run(load_into(&server, &[path.to_str().unwrap()])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT id FROM t"), [["1"]]);
}

#[test]
fn numbers_that_a_select_takes() {
    if target::mysql().is_some() {
        // It has no sequences.
        return;
    }
    let pair = pair();
    fail_and_go_on(&pair.hortator, "CREATE SEQUENCE s;\nSELECT NEXT VALUE FOR s;\nSELECT NEXT VALUE FOR s;\n");
    assert_eq!(pair.hortator.rows_of_case("SELECT NEXT VALUE FOR s"), [["3"]]);
}

/// A transaction whose rows the server numbers has left a checkpoint of the counter, and nothing else.
#[test]
fn a_transaction_of_rows_that_fails_again() {
    let pair = pair();
    let server = &pair.hortator;
    for before in ["", "INSERT INTO t (v) VALUES (7);\n"] {
        server.reset();
        let text = format!(
            "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE);\n{before}BEGIN;\n\
             INSERT INTO t (v) VALUES (1), (2);\nINSERT INTO t (v) VALUES (1);\nCOMMIT;\nINSERT INTO t (v) VALUES (9);\n",
        );
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let file = path.to_str().unwrap();
        let there = [[u64::from(!before.is_empty()).to_string()]];
        for options in [&[file][..], &["--resume", file], &["--resume", file]] {
            assert_tells(&run(load_into(server, options)), 1, &["1062"]);
            assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), there, "{before}{options:?}");
        }
        // What is in its way is gone: it goes on.
        server.connect().execute(b"ALTER TABLE hortator_case.t DROP KEY v").unwrap();
        assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
        let rows = 4 + u64::from(!before.is_empty());
        assert_eq!(server.rows_of_case("SELECT COUNT(*), MAX(id) FROM t"), [[rows.to_string(), rows.to_string()]]);
    }
}

#[test]
fn an_input_that_ends_within_a_statement() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let text =
        b"CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\nUPDATE t SET a = 2;\nINSERT INTO t VALUES (3), ('abc";
    let (_folder, path) = dump_file("dump.sql", text);
    let file = path.to_str().unwrap();
    let ended = run(load_into(server, &[file]));
    assert_tells(&ended, 1, &["line 4"]);
    assert_eq!(server.rows_of_case("SELECT a FROM t"), [["2"]]);
    // Mended, it goes on behind what is in.
    let mended = String::from_utf8_lossy(text).replace("('abc", "(4);\n");
    std::fs::write(&path, mended).unwrap();
    assert_tells(&run(load_into(server, &[&format!("--resume={}", load_id(&ended)), file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(a ORDER BY a) FROM t"), [["2,3,4"]]);
}

#[test]
fn what_failed_before_a_connection_was_lost() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let text =
        b"CREATE TABLE t (a INT);\nDROP TRIGGER nowhere;\nSELECT COUNT(*) FROM gate;\nINSERT INTO t VALUES (1);\n";
    let (_folder, path) = dump_file("dump.sql", text);
    let mut gate = server.connect();
    gate.execute(b"CREATE TABLE hortator_case.gate (id INT)").unwrap();
    gate.execute(b"LOCK TABLES hortator_case.gate WRITE").unwrap();
    let running = Running::start(load_into(server, &["--force", "--json", path.to_str().unwrap()]));
    kill_statement(server, "SELECT COUNT(*) FROM gate%");
    drop(gate);
    let outcome = running.finish_within(LIMIT);
    // The rows of the SELECT come first.
    let at = outcome.rows.iter().position(|byte| *byte == b'{').expect("the summary is there");
    let summary: serde_json::Value = serde_json::from_slice(&outcome.rows[at..]).expect("the summary is JSON");
    assert_eq!(summary["checkpoint"]["restarts"], 1, "{summary}");
    assert_eq!((&summary["failure_count"], &summary["failures"][0]["line"]), (&1.into(), &2.into()), "{summary}");
    assert_eq!(server.rows_of_case("SELECT a FROM t"), [["1"]]);
}

#[test]
fn statements_that_the_server_does_not_take() {
    let server = Server::start(&[("max_allowed_packet", "1M")]);
    // A change of rows by the main session, a definition by a worker; the longest that is taken, and the next.
    for (before, behind) in [("UPDATE t SET v = '", "'"), ("CREATE TABLE u (id INT) /*+ ", " */")] {
        for (bytes, is_taken) in [((1 << 20) - 2, true), ((1 << 20) - 1, false), (3 << 20, false)] {
            server.reset();
            let filling = "x".repeat(bytes - before.len() - behind.len());
            let text = format!(
                "CREATE TABLE t (v LONGTEXT);\nINSERT INTO t VALUES ('a');\n{before}{filling}{behind};\n\
                 UPDATE t SET v = CONCAT(v, '!');\n"
            );
            let (_folder, path) = dump_file("dump.sql", text.as_bytes());
            let outcome = run(load_into(&server, &["--json", "--comments", path.to_str().unwrap()]));
            let summary: serde_json::Value = serde_json::from_slice(&outcome.rows).expect("the summary is JSON");
            assert_eq!(summary["checkpoint"]["restarts"], 0, "{bytes}: {summary}");
            let rows = server.rows_of_case("SELECT COUNT(*) FROM t WHERE v LIKE '%!'")[0][0].clone();
            if is_taken {
                assert_eq!((outcome.status, rows.as_str()), (Some(0), "1"), "{bytes}: {summary}");
            } else {
                // Forced on, the session is still there for what follows.
                let forced = ["--json", "--comments", "--force", path.to_str().unwrap()];
                let again = load_into_anew(&server, &forced);
                let told: serde_json::Value = serde_json::from_slice(&again.rows).expect("the summary is JSON");
                assert_tells(&again, 3, &[]);
                assert_eq!((&told["failure_count"], &told["checkpoint"]["restarts"]), (&1.into(), &0.into()), "{told}");
                assert_eq!(server.rows_of_case("SELECT v FROM t"), [["a!"]], "{told}");
                assert_tells(&outcome, 1, &[]);
                let failure = &summary["failures"][0];
                assert_eq!((&failure["code"], &failure["line"]), (&1153.into(), &3.into()), "{summary}");
                assert_eq!(rows, "0", "{summary}");
            }
        }
    }
}

#[test]
fn records_of_many_tables_where_packets_are_small() {
    let server = Server::start(&[("max_allowed_packet", "16384")]);
    let tables = "CREATE TABLE t (a INT);\nCREATE TABLE u (a INT);\nINSERT INTO t VALUES (0);\n";
    let steps: String = (0..300).map(|n| format!("INSERT INTO {} SELECT {n};\n", ["t", "u"][n % 2])).collect();
    // Within the dump's transaction, with a COMMIT and without; and a transaction of ours.
    for (begin, end) in [("BEGIN;\n", "COMMIT;\n"), ("BEGIN;\n", "TRUNCATE TABLE u;\n"), ("", "")] {
        server.reset();
        let text = format!("{tables}{begin}{steps}{end}INSERT INTO t SELECT 1;\n");
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        assert_tells(&run(load_into(&server, &[path.to_str().unwrap()])), 0, &[]);
        assert_eq!(server.rows_of_case("SELECT COUNT(*), SUM(a) FROM t"), [["152", "22351"]], "{begin}{end}");
        let rows = if end.starts_with("TRUNCATE") { "0" } else { "150" };
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM u"), [[rows]], "{begin}{end}");
    }
}

#[test]
fn a_place_that_is_never_passed() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let text = b"CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\nSELECT SLEEP(30);\nINSERT INTO t VALUES (2);\n";
    let (_folder, path) = dump_file("dump.sql", text);
    let file = path.to_str().unwrap();
    let running = Running::start(load_into(server, &[file]));
    for _ in 0..3 {
        kill_statement(server, "SELECT SLEEP(30)%");
    }
    assert_tells(&running.finish_within(LIMIT), 1, &["lost the connection", "line 3", "three times", "--resume"]);
    assert_eq!(server.rows_of_case("SELECT a FROM t"), [["1"]]);
    // What is passed at last is passed.
    std::fs::write(&path, String::from_utf8_lossy(text).replace("(30)", "(.1)")).unwrap();
    let id = server.rows_of_case("SELECT load_id FROM hortator.chunks WHERE first = 0")[0][0].clone();
    assert_tells(&run(load_into(server, &[&format!("--resume={id}"), file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(a ORDER BY a) FROM t"), [["1,2"]]);
}

#[test]
fn tables_that_were_held_open() {
    let pair = pair();
    let server = &pair.hortator;
    for (open, close) in [
        ("HANDLER t OPEN", "HANDLER t CLOSE"),
        ("HANDLER hortator_case.t OPEN AS h", "HANDLER h CLOSE"),
        ("HANDLER t OPEN; HANDLER t OPEN `i`", "HANDLER T CLOSE; HANDLER i CLOSE"),
    ] {
        let text = format!(
            "CREATE TABLE t (id INT);\n{open};\n{close};\nCREATE VIEW v AS SELECT 1;\nINSERT INTO t VALUES (1);\n\
             UPDATE t SET id = id + 1;\n"
        );
        fail_and_go_on(server, &text);
        assert_eq!(server.rows_of_case("SELECT id FROM t"), [["2"]], "{open}");
    }
}

#[test]
fn rows_in_memory_that_a_restart_took() {
    let server = Server::start(&[]);
    let text = "CREATE TABLE m (id INT) ENGINE=MEMORY;\nINSERT INTO m VALUES (1), (2);\nCREATE TABLE t (id INT);\n\
                INSERT INTO t VALUES (3);\nDELETE FROM m WHERE id = 2;\nINSERT INTO later VALUES (1);\n";
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    // As long as the server runs, what the dump deleted is not missed.
    load_failing(&server, file);
    assert_tells(&run(load_into(&server, &["--resume", file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT id FROM m"), [["1"]]);
    load_failing(&server, file);
    server.sandbox().node(0).kill().unwrap();
    server.sandbox().node(0).start().unwrap();
    assert_tells(
        &run(load_into(&server, &["--resume", file])),
        1,
        &["hortator_case.m", "MEMORY", "has 0 rows", "2 rows are recorded"],
    );
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM later"), [["0"]]);
    // Put back by hand, they are taken as they are.
    server.connect().execute(b"INSERT INTO hortator_case.m VALUES (1)").unwrap();
    assert_tells(&run(load_into(&server, &["--resume", "--in-doubt=applied", file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT (SELECT id FROM m), t.id FROM t, later"), [["1", "3"]]);
}

/// Ends the sessions that still run a statement of a client that was killed: the server may have noticed that by itself.
pub fn end_statement(server: &Server, like: &str) {
    let found = format!("FROM information_schema.PROCESSLIST WHERE INFO LIKE '{like}'");
    for id in server.rows_of_case(&format!("SELECT ID {found}")) {
        let _ended = server.connect().execute(format!("KILL {}", id[0]).as_bytes());
    }
    server.wait_until(&format!("SELECT COUNT(*) = 0 {found}"));
}

/// Ends the session that runs a statement, once it does.
pub fn kill_statement(server: &Server, like: &str) {
    let found = format!("FROM information_schema.PROCESSLIST WHERE INFO LIKE '{like}'");
    server.wait_until(&format!("SELECT COUNT(*) {found}"));
    let id = server.rows_of_case(&format!("SELECT ID {found}"))[0][0].clone();
    server.connect().execute(format!("KILL {id}").as_bytes()).unwrap();
    server.wait_until(&format!("SELECT COUNT(*) = 0 FROM information_schema.PROCESSLIST WHERE ID = {id}"));
}

#[test]
fn definitions_without_a_checkpoint() {
    let pair = pair();
    let server = &pair.hortator;
    // Views that read each other, as mysqldump writes them: one that is there again needs what a later DROP has taken.
    let (_folder, path) = dump_file(
        "dump.sql",
        b"CREATE TABLE base (id INT PRIMARY KEY);\nINSERT INTO base VALUES (1);\nCREATE VIEW a AS SELECT 1 AS id;\n\
          CREATE VIEW b AS SELECT 1 AS id;\nDROP VIEW IF EXISTS a;\nCREATE VIEW a AS SELECT id FROM b;\n\
          DROP VIEW IF EXISTS b;\nCREATE VIEW b AS SELECT id FROM later;\nINSERT INTO later VALUES (7);\n",
    );
    let file = path.to_str().unwrap();
    load_failing(server, file);
    assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT id FROM a"), [["7"]]);

    fail_and_go_on(
        server,
        "CREATE TABLE base (id INT PRIMARY KEY);\nTRUNCATE TABLE base;\nCREATE OR REPLACE VIEW v AS SELECT id FROM base;\n\
         DROP VIEW IF EXISTS v;\nDROP TABLE IF EXISTS base;\n",
    );
    assert_eq!(server.rows_of_case("SHOW TABLES"), [["later"]]);

    // A name means another view in another schema.
    for select in ["USE elsewhere;", "use elsewhere"] {
        fail_and_go_on(
            server,
            &format!(
                "CREATE DATABASE elsewhere;\nDROP VIEW IF EXISTS v;\n{select}\nCREATE VIEW v AS SELECT 1 AS one;\n\
                 USE hortator_case;\n"
            ),
        );
        assert_eq!(server.rows_of_case("SELECT one FROM elsewhere.v"), [["1"]]);
        server.connect().execute(b"DROP DATABASE elsewhere").unwrap();
    }
}

#[test]
fn definitions_that_are_there_already() {
    let pair = pair();
    let server = &pair.hortator;
    // As people and tools write them; those that the load has made are not made again.
    let definitions = "CREATE EVENT e2 ON SCHEDULE AT '2037-01-01 00:00:00' DO SELECT 1;\nCREATE PROCEDURE p1() SELECT 1;\nCREATE PROCEDURE p2(n INT)\n  COMMENT 'c' SELECT n  ;\n\
         CREATE FUNCTION f1() RETURNS INT RETURN 1 /* one */;\nCREATE FUNCTION f2() RETURNS INT RETURN 2 -- two\n;\n\
         DELIMITER ;;\nCREATE PROCEDURE p3()\nBEGIN\n  SELECT 1; -- one\n  SELECT 'a''b', \"c\";\nEND ;;\n\
         /*!50003 CREATE*/ /*!50017 DEFINER=CURRENT_USER*/ /*!50003 TRIGGER r1 AFTER INSERT ON t FOR EACH ROW BEGIN\n\
         SET @a = 1; END */;;\n/*!50003 CREATE PROCEDURE `p4`()\nBEGIN SELECT 1; END */;;\n\
         /*!50106 CREATE*/ /*!50117 DEFINER=CURRENT_USER*/ /*!50106 EVENT `e1` ON SCHEDULE EVERY 1 YEAR STARTS \
         '2037-01-01 00:00:00' ON COMPLETION NOT PRESERVE DISABLE DO SELECT 1 */ ;;\nDELIMITER ;\n\
         CREATE TRIGGER r2 BEFORE INSERT ON t FOR EACH ROW SET NEW.id = NEW.id + 1;\n";
    let definitions = format!("CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\n{definitions}");
    fail_and_go_on(server, &definitions);
    let names = "SELECT GROUP_CONCAT(name ORDER BY name) FROM (SELECT ROUTINE_NAME AS name FROM information_schema.ROUTINES \
         WHERE ROUTINE_SCHEMA = DATABASE() UNION ALL SELECT TRIGGER_NAME FROM information_schema.TRIGGERS WHERE \
         TRIGGER_SCHEMA = DATABASE() UNION ALL SELECT EVENT_NAME FROM information_schema.EVENTS WHERE EVENT_SCHEMA = \
         DATABASE()) AS found";
    assert_eq!(server.rows_of_case(names), [["e1,e2,f1,f2,p1,p2,p3,p4,r1,r2"]]);
    // Strings that the server shows in another way, each at the end.
    for body in ["SELECT 'a\\'b'", "SELECT _utf8mb4'a'", "SELECT N'a'", "SELECT 'ä'"] {
        fail_and_go_on(server, &format!("CREATE TABLE t (id INT);\nCREATE PROCEDURE p() {body};\n"));
        assert_eq!(server.rows_of_case(names), [["p"]], "{body}");
    }

    // One name after the other: the last counts.
    for again in
        ["DROP FUNCTION IF EXISTS f;\nCREATE", "DROP FUNCTION IF EXISTS hortator_case.F;\nCREATE", "CREATE OR REPLACE"]
    {
        if again.contains("REPLACE") && target::mysql().is_some() {
            continue;
        }
        fail_and_go_on(
            server,
            &format!(
                "CREATE FUNCTION f() RETURNS INT RETURN 1;\nSELECT 1;\n{again} FUNCTION f() RETURNS INT RETURN 2;\n\
                 CREATE FUNCTION g() RETURNS INT RETURN 3;\n"
            ),
        );
        assert_eq!(server.rows_of_case("SELECT f(), g()"), [["2", "3"]], "{again}");
    }

    // What was there before, with another body, is the dump's to complain about.
    server.reset();
    server.connect().execute(b"CREATE PROCEDURE hortator_case.p() SELECT 1, 2").unwrap();
    let (_folder, path) = dump_file("dump.sql", b"CREATE TABLE t (id INT);\nCREATE PROCEDURE p() SELECT 2;\n");
    let file = path.to_str().unwrap();
    assert_tells(&run(load_into(server, &[file])), 1, &["already exists", "line 2"]);
    assert_tells(&run(load_into(server, &["--resume", file])), 1, &["already exists", "line 2"]);
    server.connect().execute(b"DROP PROCEDURE hortator_case.p").unwrap();
    assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
}

#[test]
fn a_definition_that_was_refused() {
    let pair = pair();
    let server = &pair.hortator;
    for refused in [
        "CREATE PROCEDURE p() SELECT 1;\nCREATE PROCEDURE p() SELECT 1;\n",
        "CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET @a = 1;\n\
         CREATE TRIGGER r BEFORE UPDATE ON t FOR EACH ROW SET @a = 1;\n",
    ] {
        server.reset();
        let (_folder, path) =
            dump_file("dump.sql", format!("CREATE TABLE t (a INT);\n{refused}CREATE TABLE u (a INT);\n").as_bytes());
        let file = path.to_str().unwrap();
        assert_tells(&run(load_into(server, &[file])), 1, &["already exists", "line 3"]);
        let status = String::from_utf8(run(load_into(server, &["--status"])).rows).unwrap();
        assert!(status.contains("dump.sql") && !status.contains("in doubt"), "{status}");
        assert_tells(&run(load_into(server, &["--resume", file])), 1, &["already exists", "line 3"]);
        assert_eq!(server.rows_of_case("SHOW TABLES"), [["t"]]);
    }
    // Of the same body, and not the dump's.
    server.reset();
    server.connect().execute(b"CREATE PROCEDURE hortator_case.p() SELECT 1").unwrap();
    let (_folder, path) = dump_file("dump.sql", b"CREATE TABLE t (a INT);\nCREATE PROCEDURE p(v INT) SELECT 1;\n");
    let file = path.to_str().unwrap();
    for resume in [&[][..], &["--resume"]] {
        assert_tells(&run(load_into(server, &[resume, &[file]].concat())), 1, &["already exists", "line 2"]);
    }
    server.connect().execute(b"DROP PROCEDURE hortator_case.p").unwrap();
    assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
}

#[test]
fn a_row_that_went_through_a_view_in_a_transaction() {
    let pair = pair();
    let server = &pair.hortator;
    let dump = |engine: &str| {
        let text = format!(
            "CREATE TABLE t (id INT PRIMARY KEY) ENGINE={engine};\nCREATE VIEW v AS SELECT id FROM t;\nBEGIN;\n\
             INSERT INTO v VALUES (57);\nINSERT INTO later VALUES (1);\nCOMMIT;\n"
        );
        dump_file("dump.sql", text.as_bytes())
    };
    let (_folder, path) = dump("MyISAM");
    let file = path.to_str().unwrap();
    load_failing(server, file);
    assert_tells(&run(load_into(server, &["--resume", file])), 1, &["in doubt", "line 4"]);
    assert_tells(&run(load_into(server, &["--resume", "--in-doubt=applied", file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT id FROM t"), [["57"]]);
    // The table behind the view can roll back.
    let (_folder, path) = dump("InnoDB");
    let file = path.to_str().unwrap();
    load_failing(server, file);
    assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT id FROM t"), [["57"]]);
}

#[test]
fn rows_of_a_transaction_around_one_that_cannot_roll_back() {
    let pair = pair();
    let server = &pair.hortator;
    let (_folder, path) = dump_file(
        "dump.sql",
        b"CREATE TABLE t (id INT PRIMARY KEY);\nCREATE TABLE m (id INT) ENGINE=MyISAM;\nBEGIN;\n\
          INSERT INTO t SELECT 1;\nINSERT INTO m SELECT 1;\nINSERT INTO t SELECT 2;\nCOMMIT;\n\
          INSERT INTO t VALUES (3), (4);\nINSERT INTO later VALUES (1);\n",
    );
    let file = path.to_str().unwrap();
    load_failing(server, file);
    assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT id FROM t ORDER BY id"), [["1"], ["2"], ["3"], ["4"]]);
    assert_eq!(server.rows_of_case("SELECT id FROM m"), [["1"]]);
}
