//! Loads that end while indexes are missing: by Ctrl-C, a kill, a build that fails.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use rustix::process::Signal;

use super::{ALWAYS, LIMIT, indexes};
use crate::compare::assert_same;
use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::signal;
use crate::programs::{Contender, Dump, Outcome, Running, load, run};
use crate::random::Dice;
use crate::servers::{Server, pair};
use crate::target;

/// A row that another session has written and not committed: a row that refers to it stands still there.
pub struct Held {
    session: Connection,
}

impl Drop for Held {
    fn drop(&mut self) {
        // Its server may be gone.
        let _ = self.session.execute(b"COMMIT");
    }
}

impl Held {
    pub fn new(server: &Server) -> Held {
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

/// A table whose rows may refer to the held one.
pub const HELD_TABLE: &str = "CREATE TABLE t (id INT PRIMARY KEY, a INT, v VARCHAR(40), p INT, KEY p (p), KEY v (v), KEY a (a, v), \
                              CONSTRAINT held FOREIGN KEY (p) REFERENCES hortator_held.held (id)) ENGINE=InnoDB";

/// That table with its rows.
fn held_dump(tail: &str) -> Vec<u8> {
    format!("{HELD_TABLE};\n{}", held_rows(tail)).into_bytes()
}

/// Many rows, then one that waits for a row which may be held, of the same table.
pub fn held_rows(tail: &str) -> String {
    let mut text = String::new();
    for number in 0..40 {
        let rows: Vec<String> = (0..50).map(|row| format!("({}, {row}, 'v{row}', NULL)", number * 50 + row)).collect();
        text += &format!("INSERT INTO t VALUES {};\n", rows.join(", "));
    }
    text + "INSERT INTO t VALUES (9000, 1, 'last', 1);\n" + tail
}

/// Starts a load of a file, and waits until it stands at the held table, with indexes missing.
pub fn start_and_hold(server: &Server, arguments: &[&str]) -> Running {
    let running = Running::start(load_into(server, &[&[ALWAYS, "--chunk-bytes", "1000"][..], arguments].concat()));
    server.wait_until("SELECT COUNT(*) = 2000 FROM hortator_case.t");
    server.wait_until("SELECT COUNT(*) = 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'");
    assert_eq!(indexes(server, "t"), "0", "nothing is deferred");
    running
}

/// What the client makes of the dump is what is there.
pub fn assert_like_client(server: &Server, client: &Server, text: &[u8]) {
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

pub fn shown(server: &Server, statement: &str) -> String {
    server.rows_of_case(statement)[0][1].clone()
}

/// Ends a load while its indexes are missing, and gives what it left.
pub fn end_held(
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

pub fn kill(running: Running) -> Option<Outcome> {
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
        let expected = "indexes are missing: hortator_case.t (dropped at ";
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
        shown(server, definition).contains("KEY `v` (`v`),\n  KEY `a` (`a`,`v`),\n"),
        "{}",
        shown(server, definition)
    );

    // A new load of the same file replaces the record, too.
    let text = [b"CREATE TABLE IF NOT EXISTS before_it (id INT);\n".as_slice(), &text].concat();
    let (_folder, file, _) = end_held(server, &text, kill);
    let again = run(load_into(server, &[&file]));
    assert_tells(&again, 1, &["ERROR 1050", "'t' already exists"]);
    assert!(shown(server, definition).contains("KEY `v` (`v`),\n  KEY `a` (`a`,`v`),\n"));
}

/// The account may not open the sessions for indexes: nothing has run, and nothing is on record.
#[test]
fn too_few_connections() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let mut root = server.connect();
    root.execute(b"CREATE OR REPLACE USER limited@localhost WITH MAX_USER_CONNECTIONS 5").unwrap();
    root.execute(b"GRANT ALL ON *.* TO limited@localhost").unwrap();
    let (_folder, dump) = dump_file("dump.sql", &held_dump(""));
    let outcome = run(load_into(server, &["-u", "limited", ALWAYS, dump.to_str().unwrap()]));
    assert_tells(&outcome, 1, &["max_user_connections"]);
    assert!(!has_table(server, "hortator_case", "t") && !has_records(server));
    root.execute(b"DROP USER limited@localhost").unwrap();
}

/// The table is another by now, so that nobody can build its indexes.
#[test]
fn a_record_of_a_table_that_has_changed_is_discarded() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let text = held_dump("");
    for change in ["ALTER TABLE t DROP COLUMN v", "DROP TABLE t; CREATE VIEW t AS SELECT 1 AS id"] {
        let (_folder, file, _) = end_held(server, &text, kill);
        let mut somebody = server.connect();
        somebody.select_db(b"hortator_case").unwrap();
        change.split("; ").for_each(|statement| drop(somebody.execute(statement.as_bytes()).unwrap()));
        let words = ["cannot be discarded", "hortator_case.t has changed since: ALTER TABLE", "ADD KEY `v` (`v`)"];
        assert_tells(&run(load_into(server, &[&file])), 1, &words);
        assert!(has_records(server));
        let discarded = run(load_into(server, &["--discard-checkpoint"]));
        assert_tells(&discarded, 0, &["indexes are missing and stay so: hortator_case.t has changed since"]);
        assert!(String::from_utf8_lossy(&discarded.rows).contains("discarded the checkpoints of load "));
        assert!(!has_records(server));
    }
}

/// A session whose transaction has read the table: a definition of it waits for its end.
pub fn reader_of(server: &Server) -> Connection {
    let mut reader = server.connect();
    for statement in ["START TRANSACTION", "SELECT COUNT(*) FROM hortator_case.t"] {
        reader.execute(statement.as_bytes()).unwrap();
    }
    reader
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
    let reader = reader_of(server);
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

/// A build that waits for somebody's transaction says so, and goes on behind it.
#[test]
fn a_build_that_waits_for_another_session_is_told() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let text = held_dump("CREATE TABLE behind (id INT);\n");
    let (_folder, dump) = dump_file("dump.sql", &text);
    let told =
        "the deferred indexes of hortator_case.t wait for another session that uses the table: end its transaction";
    let in_words = format!("hortator: {told}\n");
    let as_event = format!("\"waiting_build\":\"{told}\"");
    for (progress, told) in [("--progress=line", in_words), ("--progress=json", as_event)] {
        server.reset();
        let held = Held::new(server);
        let running = start_and_hold(server, &[progress, dump.to_str().unwrap()]);
        let reader = reader_of(server);
        drop(held);
        let deadline = Instant::now() + LIMIT;
        while !running.messages_so_far().contains(&told) {
            assert!(Instant::now() < deadline, "{}", running.messages_so_far());
            thread::sleep(Duration::from_millis(20));
        }
        drop(reader);
        let outcome = running.finish_within(LIMIT);
        assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
        assert_eq!(indexes(server, "t"), "2");
    }
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
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(700), KEY v (v), KEY w (v, id), KEY x (v(650), id)) ENGINE=InnoDB;\n".to_owned();
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
    let status = run(load_into(&server, &["--status"]));
    let told = String::from_utf8_lossy(&status.rows);
    assert!(told.contains("indexes are missing: hortator_case.t"), "{told}");
}

/// A dump whose tables are in all states at once: rows, indexes that are built, definitions.
fn many_tables(dice: &mut Dice) -> Vec<u8> {
    let mut text = String::new();
    for table in 0..12 {
        let more = *dice.pick(&["", ", FULLTEXT KEY v2 (v)", ", FULLTEXT KEY v2 (v) COMMENT 'v', FULLTEXT KEY v3 (v)"]);
        text += &format!(
            "CREATE TABLE t{table} (id INT PRIMARY KEY, a INT, v VARCHAR(60), p INT, KEY v (v), KEY a (a) COMMENT 'a', KEY p (p), KEY av (a, v){more}) ENGINE=InnoDB;\n"
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
                1 if !is_over => signal(&running, Signal::TERM),
                2 if !is_over => signal(&running, Signal::KILL),
                _ => {}
            }
            kills += 1;
            let outcome = running.finish_within(LIMIT);
            if outcome.status == Some(0) {
                break;
            }
            if !has_records(&server) && has_table(&server, "hortator_case", "t0") {
                // It was over when it was ended.
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

pub fn has_table(server: &Server, schema: &str, table: &str) -> bool {
    let query = "SELECT COUNT(*) FROM information_schema.TABLES";
    server.rows_of_case(&format!("{query} WHERE TABLE_SCHEMA = '{schema}' AND TABLE_NAME = '{table}'")) != [["0"]]
}

fn has_records(server: &Server) -> bool {
    has_table(server, "hortator", "chunks")
        && server.rows_of_case("SELECT COUNT(*) FROM hortator.chunks WHERE first = 0")[0][0] != "0"
}
