//! `--defer-indexes`: the indexes are those of the client, in its order, however the load ends.
//!
//! That random dumps give the client's state is held in [`crate::random`].

use std::io::Write;
use std::process::Command;
use std::thread;
use std::time::Duration;

use hortator_mysql::Connection;
use rustix::process::Signal;

use crate::compare::{Terms, assert_same, compare};
use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::signal;
use crate::programs::{Contender, Dump, Outcome, Running, load, run};
use crate::random::Dice;
use crate::servers::{Server, pair};
use crate::target;

const ALWAYS: &str = "--defer-indexes=always";
const LIMIT: Duration = Duration::from_secs(300);

/// A point as a literal: the value of a function would go through the main session.
const POINT: &str = "x'00000000010100000000000000000000000000000000000000'";

/// How many indexes a table has by now, without unique ones.
const INDEXES: &str = "SELECT COUNT(DISTINCT INDEX_NAME) FROM information_schema.STATISTICS WHERE NON_UNIQUE AND INDEX_NAME <> 'p' AND TABLE_SCHEMA = 'hortator_case' AND TABLE_NAME = ";

/// A row that another session has written and not committed: a row that refers to it stands still there.
struct Held {
    session: Connection,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.session.execute(b"COMMIT").unwrap();
    }
}

impl Held {
    fn new(server: &Server) -> Held {
        let mut connection = server.connect();
        for statement in [
            "CREATE DATABASE hortator_held",
            "CREATE TABLE hortator_held.held (id INT PRIMARY KEY) ENGINE=InnoDB",
            "START TRANSACTION",
            "INSERT INTO hortator_held.held VALUES (1)",
        ] {
            connection.execute(statement.as_bytes()).unwrap();
        }
        Held { session: connection }
    }
}

/// Many rows, then one that waits for a row which may be held, of the same table.
fn held_dump(tail: &str) -> Vec<u8> {
    let mut text =
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, v VARCHAR(40), p INT, KEY p (p), KEY v (v), KEY a (a, v), \
                    CONSTRAINT held FOREIGN KEY (p) REFERENCES hortator_held.held (id)) ENGINE=InnoDB;\n"
            .to_owned();
    for number in 0..40 {
        let rows: Vec<String> = (0..50).map(|row| format!("({}, {row}, 'v{row}', NULL)", number * 50 + row)).collect();
        text += &format!("INSERT INTO t VALUES {};\n", rows.join(", "));
    }
    (text + "INSERT INTO t VALUES (9000, 1, 'last', 1);\n" + tail).into_bytes()
}

fn indexes(server: &Server, table: &str) -> String {
    server.rows_of_case(&format!("{INDEXES}'{table}'"))[0][0].clone()
}

/// Starts a load of a file, and waits until it stands at the held table, with indexes missing.
fn start_and_hold(server: &Server, arguments: &[&str]) -> Running {
    let running = Running::start(load_into(server, &[&[ALWAYS, "--chunk-bytes", "1000"][..], arguments].concat()));
    server.wait_until("SELECT COUNT(*) = 2000 FROM hortator_case.t");
    server.wait_until("SELECT COUNT(*) = 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'");
    assert_eq!(indexes(server, "t"), "0", "nothing is deferred");
    running
}

/// What the client makes of the dump is what is there.
fn assert_like_client(server: &Server, client: &Server, text: &[u8]) {
    let differences = differences(server, client, text);
    assert_same(&differences);
}

fn differences(server: &Server, client: &Server, text: &[u8]) -> Vec<String> {
    client.reset();
    drop(Held::new(client));
    let outcome = load(Contender::Client, client, Dump::Bytes(text), false);
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    let (theirs, ours) = (client.state(false), server.state(false));
    let of_schema = |(name, state): (&Vec<u8>, &hortator_check::state::State)| {
        ours.get(name).map_or(vec!["no schema".to_owned()], |found| state.differences(found))
    };
    theirs.iter().flat_map(of_schema).collect()
}

fn shown(server: &Server, statement: &str) -> String {
    server.rows_of_case(statement)[0][1].clone()
}

#[test]
fn all_kinds_of_indexes_in_all_orders() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let tables = [
        "KEY a (a), UNIQUE KEY u (a, b), KEY b (b DESC, a), KEY c (c(3)) COMMENT 'it''s \\\\ a `key`, (x)', KEY d (d) USING BTREE",
        "KEY a (a) IGNORED, FULLTEXT KEY f (c), KEY b (b), FULLTEXT KEY g (c, d)",
        "KEY a (a), SPATIAL KEY s (g), KEY b (b), KEY `we``ird, name` (c)",
        "n INT AUTO_INCREMENT, KEY a (a), KEY n (n, a), KEY b (b)",
        "KEY a (a), KEY fk (b), KEY b2 (b, a), KEY c (c), CONSTRAINT x_NUMBER FOREIGN KEY (b) REFERENCES parent (code)",
        "self INT, KEY a (a), KEY b (b), CONSTRAINT y_NUMBER FOREIGN KEY (self) REFERENCES tNUMBER (a)",
        "e INT AS (a + 1) VIRTUAL, KEY e (e), KEY a (a)",
        "KEY a (a), KEY same (a), KEY c (c, d) KEY_BLOCK_SIZE=8",
    ];
    let mut text = "SET foreign_key_checks = 0;\nCREATE TABLE early (id INT, p INT, FOREIGN KEY (p) REFERENCES parent (x));\n\
                    CREATE TABLE parent (id INT PRIMARY KEY, code INT, x INT, y INT, KEY y0 (y), KEY code (code), KEY x (x), KEY y (y));\n\
                    INSERT INTO parent VALUES (1, 1, 1, 1), (2, 2, 2, 2);\nSET foreign_key_checks = 1;\n"
        .to_owned();
    for (number, keys) in tables.iter().enumerate() {
        text += &format!(
            "CREATE TABLE t{number} (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20), d TEXT, g POINT NOT NULL, {}) ENGINE=InnoDB;\n",
            keys.replace("NUMBER", &number.to_string())
                .replace("KEY d (d)", "KEY d (d(10))")
                .replace("(c, d) KEY", "(c, d(7)) KEY"),
        );
        for row in 0..6 {
            text += &format!(
                "INSERT INTO t{number} (id, a, b, c, d, g) VALUES ({row}, {row}, {}, 'c{row}', 'd{row}', {POINT});\n",
                row % 2 + 1,
            );
        }
        text += "UNLOCK TABLES;\n";
    }
    text += "CREATE TABLE late (id INT PRIMARY KEY, y INT, FOREIGN KEY (y) REFERENCES parent (y));\nINSERT INTO late VALUES (1, 1);\n";
    let contenders = &[Contender::DeferredIndexes, Contender::OneThread];
    let terms = Terms { contenders, force: false, row_times: true, is_stricter: false, ahead: &[] };
    let found = compare(&pair, Dump::Bytes(text.as_bytes()), terms);
    assert_same(&found.differences);
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    // Some are built later, or all of this would hold by itself.
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    pair.hortator.reset();
    let outcome = run(load_into(&pair.hortator, &[ALWAYS, dump.to_str().unwrap()]));
    let told = [
        "hortator_case.t0: a, b, c, d in ",
        "hortator_case.t1: a, b in ",
        "hortator_case.t2: b, we`ird, name in ",
        "hortator_case.t3: b in ",
        "hortator_case.t4: c in ",
        "hortator_case.t5: built with each row: its non-unique keys, or keys behind them, are needed",
        "hortator_case.t6: built with each row: it has computed columns",
        "hortator_case.t7: a, same, c in ",
        "hortator_case.parent: y in ",
    ];
    assert_tells(&outcome, 0, &told);
}

#[test]
fn statements_that_need_an_index_have_it() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let begin = "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY k (a)) ENGINE=InnoDB;\n\
                 CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, what INT, KEY w (what)) ENGINE=InnoDB;\n\
                 INSERT INTO t VALUES (1, 3), (2, 1);\nINSERT INTO log (what) VALUES (7);\n";
    let statements = [
        "SELECT * FROM t FORCE INDEX (k) WHERE a > 0 ORDER BY a;",
        "SHOW CREATE TABLE t;\nSHOW INDEX FROM log;",
        "CREATE VIEW v AS SELECT a FROM t FORCE INDEX (k);\nSELECT * FROM v;",
        "INSERT INTO log (what) SELECT a FROM t USE INDEX (k);",
        "INSERT INTO log (what) VALUES ((SELECT MAX(a) FROM t FORCE INDEX (k)));",
        "SET @x = (SELECT MAX(a) FROM t FORCE INDEX (k));\nSELECT @x;",
        "UPDATE t FORCE INDEX (k) SET a = a + 1 ORDER BY a;",
        "DELETE FROM t USING t FORCE INDEX (k) WHERE a = 1;",
        "CREATE TABLE child (a INT, FOREIGN KEY (a) REFERENCES t (a));\nINSERT INTO child VALUES (3);",
        "CREATE TABLE copy LIKE t;\nSHOW CREATE TABLE copy;",
        "CREATE TABLE chosen AS SELECT * FROM t FORCE INDEX (k);",
        "ALTER TABLE t RENAME KEY k TO l;",
        "ALTER TABLE t DROP KEY k, ADD KEY m (a, id);",
        "DROP INDEX k ON t;",
        "RENAME TABLE t TO u, log TO t;",
        "TRUNCATE TABLE t;",
        "DROP TABLE t;\nCREATE TABLE t (id INT, KEY k (id));\nINSERT INTO t VALUES (1);",
        "BEGIN;\nINSERT INTO t VALUES (9, 9);\nSELECT a FROM t FORCE INDEX (k);\nROLLBACK;",
        "CREATE PROCEDURE p() SELECT a FROM t FORCE INDEX (k);\nCALL p();",
        "CREATE TRIGGER r BEFORE INSERT ON log FOR EACH ROW SET NEW.what = (SELECT MIN(a) FROM t FORCE INDEX (k));\n\
         INSERT INTO log (what) VALUES (1), (2);",
        "EXECUTE IMMEDIATE 'SELECT a FROM t FORCE INDEX (k)';",
        "HANDLER t OPEN;\nHANDLER t READ k FIRST;\nHANDLER t CLOSE;",
        "INSERT INTO t VALUES (1, 1);",
        "REPLACE INTO t VALUES (1, 5);\nINSERT INTO t VALUES (2, 8) ON DUPLICATE KEY UPDATE a = 4;",
        "LOCK TABLES t WRITE;\nALTER TABLE t DISABLE KEYS;\nINSERT INTO t VALUES (7, 7);\nALTER TABLE t ENABLE KEYS;\nUNLOCK TABLES;",
        "CREATE TEMPORARY TABLE tmp (id INT, KEY k (id));\nINSERT INTO tmp VALUES (1);\nSELECT id FROM tmp FORCE INDEX (k);",
        "SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', sql_quote_show_create = 0;\nINSERT INTO t VALUES (8, 8);",
        "INSERT INTO t VALUES (8, 8);\nINSERT INTO t VALUES (9, 9), (8, 1);\nINSERT INTO t VALUES (10, 1);",
        "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE();",
    ];
    let mut differing = Vec::new();
    for statement in statements {
        let text = format!("{begin}{statement}\nINSERT INTO t VALUES (100, 1);\n");
        let terms = Terms {
            contenders: &[Contender::DeferredIndexes],
            force: false,
            row_times: true,
            is_stricter: false,
            ahead: &[],
        };
        let found = compare(&pair, Dump::Bytes(text.as_bytes()), terms);
        differing.extend(found.differences.into_iter().map(|difference| format!("{statement}\n  {difference}")));
    }
    assert_same(&differing);
}

#[test]
fn transactions_of_rows() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let rows = |table: &str, from: u32| -> String {
        (from..from + 30).map(|id| format!("INSERT INTO {table} VALUES ({id}, 'v{id}');\n")).collect()
    };
    let table =
        |name: &str| format!("CREATE TABLE {name} (id INT PRIMARY KEY, v VARCHAR(20), KEY k (v)) ENGINE=InnoDB;\n");
    let mut text = String::new();
    for (name, end) in [
        ("a", "COMMIT"),
        ("b", "ROLLBACK"),
        ("c", "UPDATE c SET v = 'x';\nCOMMIT"),
        ("d", "SELECT v FROM d FORCE INDEX (k) LIMIT 1;\nROLLBACK"),
    ] {
        text += &format!("{}BEGIN;\n{}{end};\n{}", table(name), rows(name, 0), rows(name, 100));
    }
    text += &format!(
        "{}SET autocommit = 0;\n{}COMMIT;\nUNLOCK TABLES;\n{}COMMIT;\n",
        table("e"),
        rows("e", 0),
        rows("e", 50)
    );
    text += &format!("{}{}", table("f"), rows("f", 0));
    let terms = Terms {
        contenders: &[Contender::DeferredIndexes],
        force: false,
        row_times: true,
        is_stricter: false,
        ahead: &[],
    };
    assert_same(&compare(&pair, Dump::Bytes(text.as_bytes()), terms).differences);
}

#[test]
fn a_row_that_fails_leaves_all_indexes() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let text = "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY k (a)) ENGINE=InnoDB;\nINSERT INTO t VALUES (1, 1);\n\
                INSERT INTO t VALUES (2, 1), (1, 1);\nINSERT INTO t VALUES (3, 1);\n";
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let outcome = run(load_into(server, &[ALWAYS, "--chunk-bytes", "1", dump.to_str().unwrap()]));
    assert_tells(&outcome, 1, &["ERROR 1062", "at line 3", "indexes: 1 built after the rows, in 1 table(s)"]);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id) FROM t FORCE INDEX (k)")[0][0], "1");
    // The load goes on with the rest.
    let outcome = run(load_into(server, &["--status"]));
    assert!(!outcome.messages.contains("missing"), "{}", outcome.messages);
}

/// Ends a load while its indexes are missing, and gives what it left.
fn end_held(
    server: &Server,
    text: &[u8],
    how: impl FnOnce(Running) -> Option<Outcome>,
) -> (tempfile::TempDir, String, Option<Outcome>) {
    server.reset();
    let held = Held::new(server);
    let (folder, dump) = dump_file("dump.sql", text);
    let file = dump.to_str().unwrap().to_owned();
    let outcome = how(start_and_hold(server, &[&file]));
    drop(held);
    (folder, file, outcome)
}

fn kill(running: Running) -> Option<Outcome> {
    signal(&running, Signal::KILL);
    running.finish_within(LIMIT);
    None
}

#[test]
fn ctrl_c_builds_them_first() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let text = held_dump("INSERT INTO t VALUES (9001, 1, 'more', NULL);\n");
    let (_folder, file, outcome) = end_held(server, &text, |running| {
        signal(&running, Signal::INT);
        Some(running.finish_within(LIMIT))
    });
    let told =
        ["building the deferred indexes of 1 table(s)", "interrupted after 2,000 rows", "hortator_case.t: v, a in "];
    assert_tells(&outcome.unwrap(), 130, &told);
    assert_eq!(indexes(server, "t"), "2");
    let resumed = run(load_into(server, &["--resume", &file]));
    assert_tells(&resumed, 0, &["loaded 2,002 rows"]);
    assert_like_client(server, &pair.client, &text);
}

#[test]
fn a_killed_load_is_resumed() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    for option in [ALWAYS, "--defer-indexes=never"] {
        let text = held_dump("INSERT INTO t VALUES (9001, 1, 'more', NULL);\n");
        let (_folder, file, _) = end_held(server, &text, kill);
        assert_eq!(indexes(server, "t"), "0");
        let status = run(load_into(server, &["--status"]));
        let told = String::from_utf8_lossy(&status.rows);
        let expected = "indexes are missing: hortator_case.t (created at ";
        assert!(told.contains(expected) && told.contains("ADD KEY `v` (`v`), ADD KEY `a` (`a`,`v`)"), "{told}");
        let resumed = run(load_into(server, &["--resume", option, &file]));
        assert_tells(&resumed, 0, &["loaded 2,002 rows", "hortator_case.t: v, a in "]);
        assert_like_client(server, &pair.client, &text);
    }
}

#[test]
fn what_discards_the_record_builds_them() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let text = held_dump("");
    let (_folder, _, _) = end_held(server, &text, kill);
    let definition = "SHOW CREATE TABLE hortator_case.t";
    assert!(!shown(server, definition).contains("KEY `v`"));
    let discarded = run(load_into(server, &["--discard-checkpoint"]));
    assert_eq!(discarded.status, Some(0), "{}", discarded.messages);
    assert!(
        shown(server, definition).contains("KEY `v` (`v`),\n  KEY `a` (`a`,`v`)\n"),
        "{}",
        shown(server, definition)
    );

    // A new load of the same file replaces the record, too.
    let text = [b"CREATE TABLE IF NOT EXISTS before_it (id INT);\n".as_slice(), &text].concat();
    let (_folder, file, _) = end_held(server, &text, kill);
    let again = run(load_into(server, &[&file]));
    assert_tells(&again, 1, &["ERROR 1050", "'t' already exists"]);
    assert!(shown(server, definition).contains("KEY `v` (`v`),\n  KEY `a` (`a`,`v`)\n"));
}

/// A load comes to the build, which somebody kills while it waits for another session.
#[test]
fn a_killed_build_is_told_and_can_be_done_again() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let held = Held::new(server);
    let text = held_dump("CREATE TABLE behind (id INT);\n");
    let (_folder, dump) = dump_file("dump.sql", &text);
    let file = dump.to_str().unwrap();
    let running = start_and_hold(server, &[file]);
    let mut reader = server.connect();
    for statement in ["START TRANSACTION", "SELECT COUNT(*) FROM hortator_case.t"] {
        reader.execute(statement.as_bytes()).unwrap();
    }
    drop(held);
    let waiting =
        "FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER TABLE%ADD KEY%' AND STATE LIKE 'Waiting%'";
    server.wait_until(&format!("SELECT COUNT(*) {waiting}"));
    let id = server.rows_of_case(&format!("SELECT ID {waiting}"))[0][0].clone();
    server.connect().execute(format!("KILL QUERY {id}").as_bytes()).unwrap();
    let outcome = running.finish_within(LIMIT);
    let told = [
        "ERROR 1317 (70100) at line 1 in file: '",
        "the rows of hortator_case.t are loaded, but its deferred indexes could not be built",
        "somebody has killed the statement",
        "--resume",
        "ALTER TABLE `hortator_case`.`t` ADD KEY `v` (`v`), ADD KEY `a` (`a`,`v`)",
    ];
    assert_tells(&outcome, 1, &told);
    drop(reader);
    assert_eq!(indexes(server, "t"), "0");
    let resumed = run(load_into(server, &["--resume", file]));
    assert_tells(&resumed, 0, &["hortator_case.t: v, a in "]);
    assert_like_client(server, &pair.client, &text);
}

/// The rows fit, and the indexes do not: InnoDB's one tablespace may not grow any further.
#[test]
fn no_room_for_the_indexes() {
    if target::mysql().is_some() {
        return;
    }
    let settings = [("innodb_data_file_path", "ibdata1:12M:autoextend:max:24M"), ("innodb_file_per_table", "0")];
    let server = Server::start(&settings);
    server.reset();
    let mut text =
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(700), KEY v (v), KEY w (v, id)) ENGINE=InnoDB;\n".to_owned();
    for id in 0..8_000 {
        text += &format!("INSERT INTO t VALUES ({id}, '{id}{}');\n", "x".repeat(650));
    }
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let file = dump.to_str().unwrap();
    let outcome = run(load_into(&server, &[ALWAYS, "--chunk-bytes", "100000", file]));
    let told = [
        "at line 1 in file: '",
        "is full",
        "deferred indexes could not be built",
        "make room",
        "ADD KEY `v` (`v`), ADD KEY `w`",
        "--resume",
    ];
    assert_tells(&outcome, 1, &told);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["8000"]]);
    assert_eq!(indexes(&server, "t"), "0");
    server.connect().execute(b"CREATE TABLE hortator_case.other (id INT) ENGINE=Aria").unwrap();
    // Room is made, by rows that are not needed.
    server.connect().execute(b"DELETE FROM hortator_case.t WHERE id >= 200").unwrap();
    server.connect().execute(b"OPTIMIZE TABLE hortator_case.t").unwrap();
    let resumed = run(load_into(&server, &["--resume", file]));
    assert_tells(&resumed, 0, &["hortator_case.t: v, w in "]);
    assert_eq!(indexes(&server, "t"), "2");
}

/// A dump whose tables are in all states at once: rows, indexes that are built, definitions.
fn many_tables(dice: &mut Dice) -> Vec<u8> {
    let mut text = String::new();
    for table in 0..12 {
        text += &format!(
            "CREATE TABLE t{table} (id INT PRIMARY KEY, a INT, v VARCHAR(60), p INT, KEY v (v), KEY a (a) COMMENT 'a', KEY p (p), KEY av (a, v)) ENGINE=InnoDB;\n"
        );
        for statement in 0..dice.below(30) + 4 {
            let row = |row| {
                let id = statement * 40 + row;
                format!("({id}, {}, 'value {}', {row})", id * 7919 % 1009, id * 31 % 997)
            };
            let rows: Vec<String> = (0..40).map(row).collect();
            text += &format!("INSERT INTO t{table} VALUES {};\n", rows.join(","));
        }
        text += match dice.below(5) {
            0 => "UNLOCK TABLES;\n".to_owned(),
            1 => format!("UPDATE t{table} FORCE INDEX (a) SET p = p + 1 WHERE a > 500;\n"),
            2 => format!("ALTER TABLE t{table} ADD KEY late (p, a);\n"),
            3 => format!("CREATE VIEW v{table} AS SELECT a FROM t{table} FORCE INDEX (a);\n"),
            _ => String::new(),
        }
        .as_str();
    }
    text.into_bytes()
}

#[test]
fn killed_at_many_points() {
    if target::mysql().is_some() {
        return;
    }
    let seed = std::env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| u64::from(std::process::id()));
    let rounds = std::env::var("HORTATOR_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(4);
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    let server = Server::start(&[("innodb_flush_log_at_trx_commit", "1"), ("innodb_buffer_pool_size", "64M")]);
    let pair = pair();
    for round in 0..rounds {
        server.reset();
        drop(Held::new(&server));
        let text = many_tables(&mut dice);
        let (_folder, dump) = dump_file("dump.sql", &text);
        let file = dump.to_str().unwrap();
        let arguments = [ALWAYS, "--chunk-bytes", "4096", file];
        let mut has_begun = false;
        let command = |has_begun: bool| -> Command {
            let more: &[&str] = if has_begun { &["--resume"] } else { &[] };
            load_into(&server, &[more, &arguments].concat())
        };
        let mut kills = 0;
        loop {
            let mut running = Running::start(command(has_begun));
            if kills < 8 {
                thread::sleep(Duration::from_millis(40 + dice.below(500)));
            }
            let node = server.sandbox().node(0);
            let what = if kills < 8 { dice.below(4) } else { 3 };
            let is_over = running.has_ended();
            match what {
                0 if !is_over => {
                    node.kill().unwrap();
                    node.start().unwrap();
                }
                1 if !is_over => signal(&running, Signal::INT),
                2 if !is_over => signal(&running, Signal::KILL),
                _ => {}
            }
            kills += 1;
            let outcome = running.finish_within(LIMIT);
            if outcome.status == Some(0) {
                break;
            }
            assert!(kills < 40, "round {round}: {}", outcome.messages);
            assert!(!outcome.messages.contains("panicked"), "{}", outcome.messages);
            has_begun = !outcome.messages.contains("nothing to resume") && (has_begun || has_records(&server));
        }
        assert_like_client(&server, &pair.client, &text);
        assert!(!has_records(&server), "records are left behind");
    }
}

fn has_records(server: &Server) -> bool {
    let query =
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'hortator' AND TABLE_NAME = 'loads'";
    server.rows_of_case(query)[0][0] != "0" && server.rows_of_case("SELECT COUNT(*) FROM hortator.loads")[0][0] != "0"
}

#[test]
fn what_is_not_deferred_is_told() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let text = "CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY k (a)) ENGINE=InnoDB;\nINSERT INTO t VALUES (1, 1);\n";
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let file = dump.to_str().unwrap();
    for (options, told) in [
        (&[ALWAYS, "--plan"][..], "hortator_case.t: after the rows"),
        (&["--defer-indexes=auto", "--plan"], "hortator_case.t: with each row: it gets less than 4 MiB of rows"),
        (&[ALWAYS, "--plan", "--no-checkpoint"], "indexes: built with each row: the load writes no checkpoints"),
        (&[ALWAYS, "--plan", "--force"], "indexes: built with each row: a forced load (--force)"),
    ] {
        let outcome = run(load_into(server, &[options, &[file]].concat()));
        let plan = String::from_utf8_lossy(&outcome.rows).into_owned();
        assert!(plan.contains(told), "{options:?}: {plan}");
    }
    for (options, told) in [
        (&[ALWAYS, "--no-checkpoint"][..], "indexes: built with each row: the load writes no checkpoints"),
        (&[ALWAYS, "--force"], "indexes: built with each row: a forced load (--force)"),
        (&["--defer-indexes=auto"], "indexes: 0 built after the rows, in 0 table(s)"),
    ] {
        server.reset();
        assert_tells(&run(load_into(server, &[options, &[file]].concat())), 0, &[told]);
        assert_eq!(indexes(server, "t"), "1");
    }
    server.reset();
    let json = run(load_into(server, &[ALWAYS, "--json", file]));
    let summary: serde_json::Value = serde_json::from_slice(&json.rows).unwrap();
    assert_eq!(summary["deferred_indexes"]["built"][0]["keys"], serde_json::json!(["k"]));
}

/// With `auto`, the size of a table's rows decides.
#[test]
fn auto_defers_large_tables() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (running, mut input) = {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut command = load_into(server, &["--defer-indexes=auto"]);
        command.stdin(reader);
        (Running::start(command), writer)
    };
    for table in ["small", "large"] {
        let create =
            format!("CREATE TABLE {table} (id INT PRIMARY KEY, v VARCHAR(900), KEY k (v(20))) ENGINE=InnoDB;\n");
        input.write_all(create.as_bytes()).unwrap();
        for statement in 0..if table == "small" { 2 } else { 100 } {
            let rows: Vec<String> =
                (0..100).map(|row| format!("({}, '{row}{}')", statement * 100 + row, "x".repeat(800))).collect();
            input.write_all(format!("INSERT INTO {table} VALUES {};\n", rows.join(",")).as_bytes()).unwrap();
        }
    }
    drop(input);
    let outcome = running.finish_within(LIMIT);
    assert_tells(&outcome, 0, &["indexes: 1 built after the rows, in 1 table(s)", "hortator_case.large: k in "]);
    for table in ["small", "large"] {
        assert_eq!(indexes(server, table), "1");
    }
}
