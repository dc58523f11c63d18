//! Statements that had begun when a load was killed: what the server is asked, and what is then taken for certain.

use std::time::Duration;

use hortator_mysql::Connection;
use rustix::process::{Pid, Signal, kill_process};

use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::signal;
use crate::programs::{Running, run};
use crate::resumed_corners::end_statement;
use crate::servers::{DATABASE, Server, pair};
use crate::target;

/// An ended load on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Tables that are there before the load.
const TABLES: &[&str] = &[
    "CREATE TABLE a (id INT)",
    "CREATE TABLE b (id INT)",
    "CREATE TABLE c (id INT)",
    "INSERT INTO a VALUES (1), (2)",
    "CREATE TABLE p (id INT) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (100))",
    "CREATE TABLE m (id INT) ENGINE=MyISAM",
    "INSERT INTO m VALUES (1), (2)",
    "CREATE VIEW v AS SELECT id FROM m",
    "CREATE VIEW w AS SELECT 1 AS id",
];

const UNKNOWN: &[&str] = &["in doubt", "cannot tell", "line 2", "--in-doubt"];

/// A load that was killed while it waited for us.
struct Killed<'s> {
    server: &'s Server,
    options: &'static [&'static str],
    _folder: tempfile::TempDir,
    file: String,
}

impl Killed<'_> {
    /// Goes on; `by_hand` is done before.
    fn go_on(&self, by_hand: &[&str], options: &[&str], status: i32, words: &[&str]) {
        let mut connection = case(self.server);
        by_hand.iter().for_each(|statement| drop(connection.execute(statement.as_bytes()).unwrap()));
        let arguments = [self.options, &["--resume"], options, &[&self.file]].concat();
        assert_tells(&run(load_into(self.server, &arguments)), status, words);
    }

    fn tables(&self) -> String {
        let tables = "SELECT GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME) FROM information_schema.TABLES \
                      WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('a', 'b', 'c', 'x', 'y', 'w')";
        self.server.rows_of_case(tables)[0][0].clone()
    }

    fn rows(&self, table: &str) -> String {
        self.server.rows_of_case(&format!("SELECT GROUP_CONCAT(id ORDER BY id) FROM {table}"))[0][0].clone()
    }
}

fn case(server: &Server) -> Connection {
    let mut connection = server.connect();
    connection.select_db(DATABASE.as_bytes()).unwrap();
    connection
}

fn kill_load(running: Running) {
    let pid = i32::try_from(running.pid()).ok().and_then(Pid::from_raw).expect("a process has an id");
    kill_process(pid, Signal::KILL).expect("the process is ours");
    running.finish_within(LIMIT);
}

/// Kills a load while `statement` waits: for the definition of the table `held`, or for a user lock `gate` of its own.
fn killed<'s>(server: &'s Server, options: &'static [&'static str], held: &str, statement: &str) -> Killed<'s> {
    killed_among(server, options, held, &format!("{statement};\n"), statement)
}

/// The same, where `statement` is what is sent of several.
fn killed_among<'s>(
    server: &'s Server,
    options: &'static [&'static str],
    held: &str,
    several: &str,
    statement: &str,
) -> Killed<'s> {
    server.reset();
    let mut connection = case(server);
    TABLES.iter().for_each(|table| drop(connection.execute(table.as_bytes()).unwrap()));
    connection.execute(b"START TRANSACTION").unwrap();
    connection.fetch(format!("SELECT COUNT(*), GET_LOCK('gate', 0) FROM {held}").as_bytes()).unwrap();
    let text = format!("CREATE TABLE f (id INT);\n{several}INSERT INTO f VALUES (1);\n");
    let (folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap().to_owned();
    let running = Running::start(load_into(server, &[options, &[&file]].concat()));
    let like = format!("{}%", statement.replace('\'', "''"));
    server.wait_until(&format!(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '{like}' AND STATE LIKE '%lock%'"
    ));
    kill_load(running);
    end_statement(server, &like);
    Killed { server, options, _folder: folder, file }
}

#[test]
fn several_tables_that_are_dropped() {
    let pair = pair();
    let server = &pair.hortator;
    // Nothing of it is there: it is run again.
    let load = killed(server, &[], "b", "DROP TABLE a, b, c");
    load.go_on(&[], &[], 0, &[]);
    assert_eq!((load.tables(), load.rows("f")), ("w".to_owned(), "1".to_owned()));
    // All of it is.
    let load = killed(server, &[], "b", "DROP TABLE a, b, c");
    load.go_on(&["DROP TABLE a, b, c"], &[], 0, &[]);
    assert_eq!(load.tables(), "w");
    // A part of it is, whichever.
    for (dropped, rest) in [("a", "b, c"), ("b", "a, c"), ("a, b", "c")] {
        let load = killed(server, &[], "b", "DROP TABLE a, b, c");
        load.go_on(&[&format!("DROP TABLE {dropped}")], &[], 1, UNKNOWN);
        assert_eq!(load.rows("f"), "NULL");
        load.go_on(&[&format!("DROP TABLE {rest}")], &[], 0, &[]);
        assert_eq!((load.tables(), load.rows("f")), ("w".to_owned(), "1".to_owned()));
    }
}

#[test]
fn tables_that_change_names() {
    let pair = pair();
    let server = &pair.hortator;
    let load = killed(server, &[], "a", "RENAME TABLE a TO x");
    load.go_on(&["RENAME TABLE a TO x"], &[], 0, &[]);
    assert_eq!(load.tables(), "b,c,w,x");
    let load = killed(server, &[], "a", "RENAME TABLE a TO x");
    load.go_on(&[], &[], 0, &[]);
    assert_eq!(load.tables(), "b,c,w,x");
    let load = killed(server, &[], "b", "RENAME TABLE a TO x, b TO y");
    load.go_on(&["RENAME TABLE a TO x"], &[], 1, UNKNOWN);
    load.go_on(&["RENAME TABLE b TO y"], &["--in-doubt=applied"], 0, &[]);
    assert_eq!((load.tables(), load.rows("f")), ("c,w,x,y".to_owned(), "1".to_owned()));
}

#[test]
fn a_partition_that_changes_places() {
    let pair = pair();
    let statement = "ALTER TABLE p EXCHANGE PARTITION p0 WITH TABLE a";
    let load = killed(&pair.hortator, &[], "a", statement);
    load.go_on(&[statement], &[], 1, UNKNOWN);
    assert_eq!(load.rows("p"), "1,2", "it was changed back");
    load.go_on(&[], &["--in-doubt=applied"], 0, &[]);
    assert_eq!((load.rows("p"), load.rows("a")), ("1,2".to_owned(), "NULL".to_owned()));
}

#[test]
fn a_definition_that_may_not_be_seen() {
    let pair = pair();
    let server = &pair.hortator;
    let mut root = server.connect();
    root.execute(b"DROP USER IF EXISTS dropper@localhost").unwrap();
    root.execute(b"CREATE USER dropper@localhost IDENTIFIED BY ''").unwrap();
    root.execute(b"GRANT CREATE, DROP, INSERT ON hortator_case.* TO dropper@localhost").unwrap();
    root.execute(b"GRANT ALL ON hortator.* TO dropper@localhost").unwrap();
    let load = killed(server, &["-u", "dropper"], "w", "DROP VIEW w");
    load.go_on(&["DROP VIEW w"], &[], 1, UNKNOWN);
    load.go_on(&[], &["--in-doubt=applied"], 0, &[]);
    assert_eq!((load.tables(), load.rows("f")), ("a,b,c".to_owned(), "1".to_owned()));
    root.execute(b"DROP USER dropper@localhost").unwrap();
}

#[test]
fn statements_within_statements() {
    let pair = pair();
    if target::mysql().is_some() {
        // It knows neither.
        return;
    }
    for statement in [
        "SET STATEMENT sql_mode = '' FOR INSERT INTO a SELECT GET_LOCK('gate', 300)",
        "ANALYZE INSERT INTO a SELECT GET_LOCK('gate', 300)",
    ] {
        let load = killed(&pair.hortator, &[], "c", statement);
        load.go_on(&["INSERT INTO a VALUES (1)"], &[], 1, UNKNOWN);
        assert_eq!(load.rows("a"), "1,1,2", "{statement}");
    }
}

#[test]
fn changes_of_rows() {
    let pair = pair();
    let server = &pair.hortator;
    // A transaction's: not recorded as done, it is not there.
    let load = killed(server, &[], "c", "UPDATE a SET id = id + 10 WHERE GET_LOCK('gate', 300) = 1");
    load.go_on(&[], &[], 0, &[]);
    assert_eq!((load.rows("a"), load.rows("f")), ("11,12".to_owned(), "1".to_owned()));
    // Tables that cannot roll back, by another name.
    let mut statements = vec![
        "UPDATE m SET id = id + 10 WHERE GET_LOCK('gate', 300) = 1",
        "UPDATE v SET id = id + 10 WHERE GET_LOCK('gate', 300) = 1",
    ];
    if target::mysql().is_none() {
        // MySQL keeps its accounts in InnoDB.
        statements.push("UPDATE mysql.global_priv SET Priv = Priv WHERE GET_LOCK('gate', 300) = 1");
    }
    for statement in statements {
        let load = killed(server, &[], "c", statement);
        load.go_on(&[], &[], 1, UNKNOWN);
        assert_eq!(load.rows("f"), "NULL", "{statement}");
    }
}

/// Keys of one table, and what is sent of them.
const KEYS: &str = "ALTER TABLE a ADD PRIMARY KEY (id);\nALTER TABLE a ADD KEY (id);\nCREATE INDEX i ON a (id);\n";
const KEYS_AS_ONE: &str = "ALTER TABLE a ADD PRIMARY KEY (id), ADD KEY (id), ADD INDEX i (id)";

#[test]
fn keys_that_are_sent_as_one() {
    if target::mysql().is_some() {
        // There they go one by one.
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let keys = || {
        let names = "SELECT GROUP_CONCAT(INDEX_NAME ORDER BY INDEX_NAME) FROM information_schema.STATISTICS \
                     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'a'";
        server.rows_of_case(names)[0][0].clone()
    };
    // Nothing of it is there; all of it is, and running any of it again would be an error.
    for by_hand in [&[][..], &[KEYS_AS_ONE]] {
        let load = killed_among(server, &[], "a", KEYS, KEYS_AS_ONE);
        let recorded =
            server.rows_of_case("SELECT `first`, `last` FROM hortator.chunks WHERE `state` = 0 AND `first` > 1");
        assert_eq!(recorded, [["2", "4"]], "all of them are on record as one");
        load.go_on(by_hand, &[], 0, &[]);
        assert_eq!((keys(), load.rows("f")), ("i,id,PRIMARY".to_owned(), "1".to_owned()), "{by_hand:?}");
    }
    // The dump now says something else: of keys that are there, and of keys of another table.
    for (by_hand, found, instead) in [(&[KEYS_AS_ONE][..], "INDEX i", "INDEX j"), (&[], " a ", " b ")] {
        let load = killed_among(server, &[], "a", KEYS, KEYS_AS_ONE);
        let text = std::fs::read_to_string(&load.file).unwrap();
        std::fs::write(&load.file, text.replace(found, instead)).unwrap();
        load.go_on(by_hand, &[], 1, &["differs from the dump that was loaded", "line 4"]);
        std::fs::write(&load.file, text).unwrap();
        load.go_on(&[], &[], 0, &[]);
        assert_eq!((keys(), load.rows("f")), ("i,id,PRIMARY".to_owned(), "1".to_owned()), "{instead}");
    }
}

#[test]
fn keys_that_were_under_way_when_the_server_was_killed() {
    let server = Server::start(&[]);
    for killed_load in [false, true] {
        let node = server.sandbox().node(0);
        server.reset();
        let mut connection = case(&server);
        connection.execute(b"CREATE TABLE a (id INT)").unwrap();
        connection.execute(b"START TRANSACTION").unwrap();
        connection.fetch(b"SELECT COUNT(*) FROM a").unwrap();
        let (_folder, path) =
            dump_file("dump.sql", format!("CREATE TABLE f (id INT);\n{KEYS}INSERT INTO f VALUES (1);\n").as_bytes());
        let file = path.to_str().unwrap();
        let running = Running::start(load_into(&server, &[file]));
        server.wait_until("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE '%metadata lock%'");
        // It would not wait for as long as a start may take.
        signal(&running, Signal::STOP);
        node.kill().unwrap();
        if killed_load {
            signal(&running, Signal::KILL);
        }
        node.start().unwrap();
        if !killed_load {
            signal(&running, Signal::CONT);
        }
        let outcome = running.finish_within(LIMIT);
        if killed_load {
            assert_tells(&run(load_into(&server, &["--resume", file])), 0, &[]);
        } else {
            assert_tells(&outcome, 0, &[]);
        }
        assert_eq!(
            server.rows_of_case("SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE()"),
            [["3"]]
        );
        assert_eq!(server.rows_of_case("SELECT id FROM f"), [["1"]]);
    }
}

#[test]
fn rows_that_the_server_numbers() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let mut connection = case(server);
    connection.execute(b"CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT UNIQUE)").unwrap();
    connection.execute(b"INSERT INTO n VALUES (500, 50)").unwrap();
    connection.execute(b"START TRANSACTION").unwrap();
    connection.fetch(b"SELECT * FROM n WHERE v BETWEEN 20 AND 40 FOR UPDATE").unwrap();
    let rows: String = (1..=40).map(|value| format!("INSERT INTO n (v) VALUES ({value});\n")).collect();
    let (_folder, path) = dump_file("dump.sql", format!("CREATE TABLE f (id INT);\n{rows}").as_bytes());
    let file = path.to_str().unwrap();
    let running = Running::start(load_into(server, &[file]));
    server.wait_until(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'INSERT INTO n%' AND TIME_MS > 200",
    );
    kill_load(running);
    end_statement(server, "INSERT INTO n (v)%");
    drop(connection);
    assert_tells(&run(load_into(server, &["--resume", file])), 0, &[]);
    let found = server.rows_of_case("SELECT COUNT(*), SUM(id = 500 + v), MIN(v), MAX(v) FROM n WHERE id > 500");
    assert_eq!(found, [["40", "40", "1", "40"]]);
}

/// What leaves nothing on record behind it, and may stand between the last record and a definition without one.
const WITHOUT_RECORD: &[&str] = &[
    "",
    "ROLLBACK;\n",
    "COMMIT AND CHAIN;\nROLLBACK AND NO CHAIN;\n",
    "BEGIN;\nINSERT INTO a VALUES (9);\nROLLBACK;\n",
    "BEGIN;\nUPDATE a SET id = 9;\nROLLBACK;\n",
    "START TRANSACTION READ ONLY;\nSELECT COUNT(*) FROM a;\nCOMMIT;\n",
    "BEGIN;\nSAVEPOINT s;\nROLLBACK TO s;\nRELEASE SAVEPOINT s;\nCOMMIT;\n",
    "SET autocommit = 0;\nUPDATE a SET id = 9;\nROLLBACK;\nSET autocommit = 1;\n",
    "SET autocommit = 0;\nLOCK TABLES a WRITE;\nINSERT INTO a VALUES (8);\nUNLOCK TABLES;\nSET autocommit = 1;\n",
    "XA START 'x';\nXA END 'x';\nXA ROLLBACK 'x';\n",
    "HANDLER a OPEN;\nHANDLER a CLOSE;\n",
    "PREPARE s FROM 'SELECT 1';\nDEALLOCATE PREPARE s;\n",
    "CHECK TABLE a;\nANALYZE TABLE a;\n",
    "SET @a = 1;\nUSE hortator_case;\nDO 1;\nSELECT COUNT(*) FROM a;\nSHOW WARNINGS;\nLOCK TABLES a READ;\nUNLOCK TABLES;\n",
];

#[test]
fn a_definition_that_had_overtaken_rows() {
    let pair = pair();
    let server = &pair.hortator;
    for before in WITHOUT_RECORD {
        server.reset();
        let mut connection = case(server);
        connection.execute(b"CREATE TABLE b (id INT PRIMARY KEY)").unwrap();
        connection.execute(b"LOCK TABLES b READ").unwrap();
        let text = format!(
            "CREATE TABLE a (id INT);\n{before}INSERT INTO b VALUES (1);\nCREATE PROCEDURE p() SELECT 1;\n\
             CREATE TRIGGER r BEFORE INSERT ON a FOR EACH ROW SET NEW.id = 7;\nINSERT INTO a VALUES (1);\n"
        );
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let file = path.to_str().unwrap();
        let running = Running::start(load_into(server, &[file]));
        server.wait_until(&format!(
            "SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = '{DATABASE}' AND TRIGGER_NAME = 'r'"
        ));
        server.wait_until("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'INSERT INTO b %'");
        kill_load(running);
        end_statement(server, "INSERT INTO b %");
        connection.execute(b"UNLOCK TABLES").unwrap();
        let outcome = run(load_into(server, &["--resume", file]));
        assert_eq!(outcome.status, Some(0), "{before}: {}", outcome.messages);
        let found = server.rows_of_case("SELECT SUM(a.id = 7), SUM(a.id = 9), MAX(b.id) FROM a, b");
        assert_eq!(found, [["1", "0", "1"]], "{before}");
    }
}
