//! Loads that are ended early and resumed: exactly once for every row, whatever was killed.

mod corners;
mod dump;
mod recorded;

use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::compare::assert_same;
use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Contender, Dump, Outcome, Running, load, run};
use crate::random::Dice;
use crate::servers::{DATABASE, Server, pair};
use dump::Size;

/// Chunks small enough that there are many of them.
const CHUNK: [&str; 2] = ["--chunk-bytes", "4096"];

/// An ended load and a server's restart, on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

fn size_of_many_kills() -> (u64, Size) {
    let kills = std::env::var("HORTATOR_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(12);
    (kills, Size { statements: 60 + 12 * kills, rows: 60, with_aria: false })
}

fn seed() -> u64 {
    let seed = std::env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok());
    seed.unwrap_or_else(|| u64::from(std::process::id()))
}

fn signal(running: &Running, signal: Signal) {
    let pid = i32::try_from(running.pid()).ok().and_then(Pid::from_raw).expect("a process has an id");
    kill_process(pid, signal).expect("the process is ours");
}

fn resume(server: &Server, file: &str) -> Command {
    load_into(server, &[&CHUNK[..], &["--resume", file]].concat())
}

/// What the client makes of the dump is what is there; and nothing else.
fn assert_like_client(server: &Server, text: &[u8]) {
    let pair = pair();
    pair.client.reset();
    let client = load(Contender::Client, &pair.client, Dump::Bytes(text), false);
    assert_eq!(client.status, Some(0), "{}", client.messages);
    let (theirs, ours) = (pair.client.state(false), server.state(false));
    let mut differences = Vec::new();
    for (name, state) in &theirs {
        differences.extend(ours.get(name).map_or(vec!["no schema".to_owned()], |found| state.differences(found)));
    }
    assert_same(&differences);
    assert_no_records(server);
}

fn assert_no_records(server: &Server) {
    let left = server.rows_of_case("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'hortator'");
    assert_eq!(left[0][0], "0", "records are left behind");
}

#[test]
fn killed_again_and_again() {
    let (kills, size) = size_of_many_kills();
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={kills}");
    let mut dice = Dice::new(seed);
    let text = dump::dump(seed, size);
    let (_folder, path) = dump_file("dump.sql", &text);
    let file = path.to_str().unwrap();
    let server = Server::start(&[("innodb_flush_log_at_trx_commit", "1"), ("innodb_buffer_pool_size", "64M")]);
    server.reset();
    let node = server.sandbox().node(0);
    let start = || Running::start(load_into(&server, &[&CHUNK[..], &[file]].concat()));
    let mut running = start();
    // The kill that the load which was started last waits for first.
    let mut first = 0;
    for kill in 0..kills {
        thread::sleep(Duration::from_millis(30 + dice.below(250)));
        let what = dice.below(4);
        eprintln!("kill {kill}: {what}");
        if what == 0 || what == 3 {
            node.kill().unwrap();
        }
        let ends = match what {
            0 => None,
            1 => Some(Signal::TERM),
            _ => Some(Signal::KILL),
        };
        if let Some(end) = ends
            && !running.has_ended()
        {
            signal(&running, end);
        }
        if what == 0 || what == 3 {
            node.start().unwrap();
        }
        if ends.is_some() || running.has_ended() {
            let outcome = running.finish_within(LIMIT);
            if outcome.status == Some(0) && kill == first {
                eprintln!("over before it was killed");
                server.reset();
                running = start();
                first = kill + 1;
                continue;
            }
            if outcome.status == Some(0) {
                eprintln!("over after {kill} kills of {kills}");
                return assert_like_client(&server, &text);
            }
            if is_over(&server, &outcome) {
                return assert_like_client(&server, &text);
            }
            running = go_on(&server, file, &outcome);
        }
    }
    assert!(first < kills, "each load was over before it was killed");
    let mut outcome = running.finish_within(LIMIT);
    while outcome.status != Some(0) && !is_over(&server, &outcome) {
        outcome = go_on(&server, file, &outcome).finish_within(LIMIT);
    }
    assert_like_client(&server, &text);
}

fn has_tables(server: &Server) -> bool {
    let tables = server.rows_of_case("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()");
    tables[0][0] != "0"
}

/// The load before was killed behind its last statement, when its records were gone.
fn is_over(server: &Server, resumed: &Outcome) -> bool {
    resumed.status == Some(1) && resumed.messages.contains("nothing to resume") && has_tables(server)
}

/// Goes on; from the beginning where the load was ended before anything was recorded.
fn go_on(server: &Server, file: &str, ended: &Outcome) -> Running {
    if ended.status == Some(1) && ended.messages.contains("nothing to resume") {
        assert!(!has_tables(server), "something is loaded, and no record of it: {}", ended.messages);
        return Running::start(load_into(server, &[&CHUNK[..], &[file]].concat()));
    }
    let first = ended.messages.lines().next().unwrap_or_default();
    eprintln!("ended with {:?}: {first}", ended.status);
    let is_lost = ["cannot connect", "lost the connection", "interrupted"].iter().any(|words| first.contains(words));
    assert!(is_lost || (ended.status.is_none() && first.is_empty()), "{}", ended.messages);
    Running::start(resume(server, file))
}

#[test]
fn killed_beside_tables_that_cannot_roll_back() {
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed}");
    let text = dump::dump(seed, Size { statements: 60, rows: 40, with_aria: true });
    assert_survives_kills(&mut Dice::new(seed), &text);
}

/// Transactions that are larger than a chunk, and end in different ways.
#[test]
fn killed_within_large_transactions() {
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    let mut text = "SET autocommit = 0;\n".to_owned();
    for table in 0..8 {
        let number = if dice.below(2) == 0 { "AUTO_INCREMENT" } else { "NOT NULL" };
        text += &format!("CREATE TABLE t{table} (id INT {number} PRIMARY KEY, v VARCHAR(200));\n");
        for statement in 0..30_u64 {
            let row = |row| match number {
                "NOT NULL" => format!("({}, '{}')", statement * 20 + row, "x".repeat(100)),
                _ => format!("(NULL, '{}')", "y".repeat(100)),
            };
            let rows: Vec<_> = (0..20).map(row).collect();
            text += &format!("INSERT INTO t{table} VALUES {};\n", rows.join(", "));
        }
        let update = format!("UPDATE t{table} SET v = 'changed' WHERE id < 50;\n");
        let more = format!("INSERT INTO t{table} VALUES (20000, 'more');\n");
        text += &match dice.below(8) {
            0 => "ROLLBACK;\n".to_owned(),
            1 => format!("{update}ROLLBACK;\n"),
            2 => format!("CREATE TABLE u{table} (id INT);\n{more}ROLLBACK;\n"),
            3 => format!("COMMIT AND CHAIN;\n{more}ROLLBACK;\n"),
            4 => format!("ROLLBACK AND CHAIN;\n{more}COMMIT;\n"),
            5 => format!("FLUSH STATUS;\n{more}ROLLBACK;\n"),
            6 => format!("SELECT COUNT(*) FROM t{table};\n{update}COMMIT;\n"),
            _ => "COMMIT;\n".to_owned(),
        };
        text += &format!("INSERT INTO t{table} (id, v) VALUES (10000, 'last');\nCOMMIT;\n");
    }
    assert_survives_kills(&mut dice, text.as_bytes());
}

#[test]
fn killed_within_binlogs() {
    let seed = seed();
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    for format in ["ROW", "STATEMENT", "MIXED"] {
        eprintln!("binlog_format={format}");
        let text = binlog_of(&mut dice, format);
        assert_survives_kills(&mut dice, &text);
    }
}

/// The binlog of a server on which transactions ran, as `mariadb-binlog` prints it.
fn binlog_of(dice: &mut Dice, format: &str) -> Vec<u8> {
    let source = Server::start(&[("log_bin", "binlog"), ("binlog_format", format)]);
    let mut connection = source.connect();
    let mut run =
        |text: &str| connection.execute(text.as_bytes()).map(drop).unwrap_or_else(|error| panic!("{text}: {error}"));
    run(&format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"));
    run(&format!("USE {DATABASE}"));
    for table in ["t", "u"] {
        run(&format!(
            "CREATE TABLE {table} (id INT AUTO_INCREMENT PRIMARY KEY, a INT, at TIMESTAMP(6) DEFAULT NOW(6))"
        ));
    }
    for _ in 0..150 {
        run("BEGIN");
        for _ in 0..=dice.below(5) {
            let table = if dice.below(2) == 0 { "t" } else { "u" };
            let a = dice.below(1000);
            run(&match dice.below(6) {
                0 => format!("UPDATE {table} SET a = a + 1 WHERE id % 7 = {}", a % 7),
                1 => format!("DELETE FROM {table} WHERE a = {a}"),
                2 => format!("INSERT INTO {table} (a) SELECT a FROM t ORDER BY id LIMIT 2"),
                3 => format!("INSERT INTO {table} (id, a) VALUES (NULL, {a}), (NULL, LAST_INSERT_ID())"),
                _ => format!("INSERT INTO {table} (a) VALUES ({a}), ({a} + 1)"),
            });
        }
        run(if dice.below(8) == 0 { "ROLLBACK" } else { "COMMIT" });
    }
    let mut command = Command::new("mariadb-binlog");
    command.args(["--no-defaults", "--read-from-remote-server", "-u", "root", "-S"]).arg(source.socket());
    let printed = command.arg("binlog.000001").output().unwrap();
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    printed.stdout
}

/// Kills a load and resumes it, several times.
fn assert_survives_kills(dice: &mut Dice, text: &[u8]) {
    let (_folder, path) = dump_file("dump.sql", text);
    let file = path.to_str().unwrap();
    let server = Server::start(&[]);
    server.reset();
    let mut running = Running::start(load_into(&server, &[&CHUNK[..], &[file]].concat()));
    let mut kills = 0;
    let mut patience_ms = 100;
    // The server goes on with the statement that a killed load has sent, so that each is whole.
    loop {
        thread::sleep(Duration::from_millis(patience_ms + dice.below(2 * patience_ms + 1)));
        if !running.has_ended() && kills < 5 {
            signal(&running, Signal::KILL);
            kills += 1;
        }
        let outcome = running.finish_within(LIMIT);
        match outcome.status {
            Some(0) if kills > 0 => break,
            // It was over before it was killed.
            Some(0) => {
                patience_ms /= 2;
                server.reset();
                running = Running::start(load_into(&server, &[&CHUNK[..], &[file]].concat()));
            }
            // It was killed behind its last statement, when its records were gone.
            Some(1) if is_over(&server, &outcome) => break,
            _ => running = go_on(&server, file, &outcome),
        }
    }
    assert_like_client(&server, text);
}

/// A load that fails at its last statement, so that it stays on record.
const FAILING: &str = "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2);\nINSERT INTO t VALUES (3);\n\
                       UPDATE t SET id = id + 10;\nINSERT INTO later VALUES (1);\n";

fn load_failing(server: &Server, file: &str) -> Outcome {
    server.reset();
    let outcome = run(load_into(server, &[file]));
    assert_eq!(outcome.status, Some(1), "{}", outcome.messages);
    outcome
}

#[test]
fn a_failure_that_is_mended() {
    let pair = pair();
    let server = &pair.hortator;
    let (_folder, path) = dump_file("dump.sql", FAILING.as_bytes());
    let file = path.to_str().unwrap();
    let failed = load_failing(server, file);
    assert!(failed.messages.contains("--resume"), "{}", failed.messages);
    server.connect().execute(b"CREATE TABLE hortator_case.later (id INT)").unwrap();
    let outcome = run(load_into(server, &["--resume", file]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM t"), [["11,12,13"]]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM later"), [["1"]]);
    assert_no_records(server);
    // A second resume finds nothing.
    assert_tells(&run(load_into(server, &["--resume", file])), 1, &["nothing to resume", "dump.sql"]);
}

#[test]
fn an_input_that_has_changed() {
    let pair = pair();
    let server = &pair.hortator;
    let (folder, path) = dump_file("dump.sql", FAILING.as_bytes());
    let file = path.to_str().unwrap();
    load_failing(server, file);
    // Other rows in what is loaded, of the same length: the hash tells.
    std::fs::write(&path, FAILING.replace("(1), (2)", "(4), (5)")).unwrap();
    assert_tells(&run(load_into(server, &["--resume", file])), 1, &["differs from the dump that was loaded", "line 2"]);
    // Another size: the record is of another input, and is named.
    std::fs::write(&path, FAILING.replace("INTO later", "INTO t")).unwrap();
    let outcome = run(load_into(server, &["--resume", file]));
    assert_tells(&outcome, 1, &["nothing to resume", "--resume="]);
    let id = outcome.messages.split("--resume=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM t"), [["11,12,13"]]);
    // Named, it goes on: what is loaded is the same.
    let outcome = run(load_into(server, &[&format!("--resume={id}"), file]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id ORDER BY id) FROM t"), [["1,11,12,13"]]);
    assert_tells(&run(load_into(server, &["--resume=17", file])), 1, &["nothing to resume", "17"]);
    drop(folder);
}

#[test]
fn shown_and_forgotten() {
    let pair = pair();
    let server = &pair.hortator;
    let (_folder, path) = dump_file("dump.sql", FAILING.as_bytes());
    let file = path.to_str().unwrap();
    load_failing(server, file);
    let status = run(load_into(server, &["--status"]));
    let told = String::from_utf8(status.rows).unwrap();
    for words in ["dump.sql", "interrupted", "3 rows", "hortator_case.t: 3 rows", "--resume", "--discard-checkpoint="] {
        assert!(told.contains(words), "{words} is missing in: {told}");
    }
    let json = run(load_into(server, &["--status", "--json"]));
    let found: serde_json::Value = serde_json::from_slice(&json.rows).unwrap();
    assert_eq!((&found[0]["rows"], &found[0]["tables"][0][1]), (&3.into(), &3.into()), "{found}");
    // A load of the same input from the beginning takes the record's place.
    assert_eq!(run(load_into(server, &[file])).status, Some(1));
    let again = run(load_into(server, &["--status", "--json"]));
    let found: serde_json::Value = serde_json::from_slice(&again.rows).unwrap();
    assert_eq!(
        found.as_array().unwrap().len(),
        0,
        "its first statement failed, so there is nothing to go on with: {found}"
    );
    load_failing(server, file);
    let forgotten = run(load_into(server, &["--discard-checkpoint"]));
    assert!(String::from_utf8_lossy(&forgotten.rows).contains("discarded the checkpoints"), "{}", forgotten.messages);
    assert_no_records(server);
    assert_tells(&run(load_into(server, &["--resume", file])), 1, &["nothing to resume"]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["3"]]);
}

#[test]
fn without_records() {
    let pair = pair();
    let server = &pair.hortator;
    let (_folder, path) = dump_file("dump.sql", FAILING.as_bytes());
    let file = path.to_str().unwrap();
    server.reset();
    let outcome = run(load_into(server, &["--no-checkpoint", file]));
    assert_eq!(outcome.status, Some(1), "{}", outcome.messages);
    assert!(!outcome.messages.contains("--resume"), "{}", outcome.messages);
    assert_no_records(server);
    // An account with rights on its own schema only loads all the same, and is told.
    server.reset();
    let mut root = server.connect();
    root.execute(b"CREATE OR REPLACE USER small@localhost IDENTIFIED BY 'x'").unwrap();
    root.execute(b"GRANT ALL ON hortator_case.* TO small@localhost").unwrap();
    let (_folder, good) = dump_file("good.sql", b"CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\n");
    let as_small = |more: &[&str]| {
        let mut command = load_into(server, &[more, &["-u", "small", good.to_str().unwrap()]].concat());
        command.env("MYSQL_PWD", "x");
        run(command)
    };
    let outcome = as_small(&[]);
    assert_tells(&outcome, 0, &["warning", "--no-checkpoint"]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["1"]]);
    // Asked for, records are not done without.
    assert_tells(&as_small(&["--checkpoint-schema", "elsewhere"]), 1, &["elsewhere", "denied"]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["1"]]);
}

#[test]
fn what_a_server_cannot_tell() {
    let pair = pair();
    let server = &pair.hortator;
    let text = "DELIMITER //\nCREATE TABLE t (id INT)//\n\
                CREATE PROCEDURE p() BEGIN INSERT INTO t VALUES (1); DO SLEEP(300); END//\n\
                CALL p()//\nINSERT INTO t VALUES (2)//\n";
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    let interrupted = || {
        server.reset();
        let running = Running::start(load_into(server, &[file]));
        server.wait_until("SELECT COUNT(*) = 1 FROM hortator_case.t");
        signal(&running, Signal::KILL);
        running.finish_within(LIMIT);
        for row in server.connect().fetch(b"SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE '%SLEEP(300)%' AND ID <> CONNECTION_ID()").unwrap() {
            let id = String::from_utf8(row[0].clone().unwrap()).unwrap();
            server.connect().execute(format!("KILL {id}").as_bytes()).unwrap();
        }
    };
    interrupted();
    assert_tells(&run(load_into(server, &["--resume", file])), 1, &["in doubt", "cannot tell", "--in-doubt", "line 4"]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["1"]]);
    let outcome = run(load_into(server, &["--resume", "--in-doubt=applied", file]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    assert_eq!(server.rows_of_case("SELECT GROUP_CONCAT(id) FROM t"), [["1,2"]]);
    assert_no_records(server);
}

#[test]
fn a_session_that_is_gone() {
    let pair = pair();
    let server = &pair.hortator;
    let text = "CREATE TABLE t (id INT);\nCREATE TEMPORARY TABLE u (id INT);\nINSERT INTO u VALUES (1);\n\
                INSERT INTO nowhere VALUES (1);\n";
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    load_failing(server, file);
    assert_tells(&run(load_into(server, &["--resume", file])), 1, &["temporary tables", "line 2"]);
}

#[test]
fn two_at_once() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (_folder, path) = dump_file(
        "dump.sql",
        b"CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\nSELECT SLEEP(300), COUNT(*) FROM t;\n",
    );
    let file = path.to_str().unwrap();
    let running = Running::start(load_into(server, &[file]));
    server.wait_until("SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT SLEEP(300)%'");
    assert_tells(&run(load_into(server, &["--resume", file])), 1, &["still has a session", "KILL"]);
    assert!(String::from_utf8(run(load_into(server, &["--status"])).rows).unwrap().contains("running (connection"));
    signal(&running, Signal::INT);
    assert_tells(&running.finish_within(LIMIT), 130, &["interrupted"]);
}

#[test]
fn records_in_the_dump() {
    let pair = pair();
    let server = &pair.hortator;
    for statement in [
        "CREATE DATABASE IF NOT EXISTS hortator",
        "DROP TABLE `hortator`.`chunks`",
        "INSERT INTO hortator.chunks VALUES (1)",
    ] {
        server.reset();
        let text = format!("CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\n{statement};\n");
        let (_folder, path) = dump_file("dump.sql", text.as_bytes());
        let file = path.to_str().unwrap();
        assert_tells(&run(load_into(server, &[file])), 1, &["checkpoint schema", "--checkpoint-schema", "line 3"]);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["1"]]);
    }
    // Kept elsewhere they are not in the way.
    server.reset();
    let (_folder, path) = dump_file("dump.sql", b"CREATE DATABASE hortator;\nCREATE TABLE hortator.loads (id INT);\n");
    let outcome = run(load_into(server, &["--checkpoint-schema", "records", path.to_str().unwrap()]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    let left = server.rows_of_case("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'records'");
    assert_eq!(left[0][0], "0");
}
