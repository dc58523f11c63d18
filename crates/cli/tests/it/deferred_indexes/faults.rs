//! Builds that fail: killed from outside, without a folder to sort in, with a server that ends in the middle.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::ended::{Held, assert_like_client, start_and_hold};
use super::fulltext::{FOUND, held_dump};
use super::{ALWAYS, LIMIT, POINT, indexes};
use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::signal;
use crate::programs::{Running, run};
use crate::servers::{Server, pair};
use crate::target;

const TOLD: &str = "hortator_case.t: a, g, v, vw, w in ";

/// A session that reads the table, so that its keys cannot be built.
fn reader(server: &Server) -> hortator_mysql::Connection {
    let mut reader = server.connect();
    for statement in ["START TRANSACTION", "SELECT COUNT(*) FROM hortator_case.t"] {
        reader.execute(statement.as_bytes()).unwrap();
    }
    reader
}

/// The connection that waits to build, other than `but`.
fn waiting_build(server: &Server, but: &str) -> String {
    let waiting = format!(
        "FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER TABLE%ADD KEY%' AND STATE LIKE 'Waiting%' AND ID <> {but}"
    );
    server.wait_until(&format!("SELECT COUNT(*) {waiting}"));
    server.rows_of_case(&format!("SELECT ID {waiting}"))[0][0].clone()
}

#[test]
fn killed_from_outside() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &pair.hortator;
    let text = held_dump("CREATE TABLE behind (id INT);\n");
    for kill in ["KILL QUERY", "KILL"] {
        server.reset();
        let held = Held::new(server);
        let (_folder, dump) = dump_file("dump.sql", &text);
        let file = dump.to_str().unwrap();
        let running = start_and_hold(server, &[file]);
        let reader = reader(server);
        drop(held);
        let id = waiting_build(server, "0");
        server.connect().execute(format!("{kill} {id}").as_bytes()).unwrap();
        if kill == "KILL" {
            // A connection that is lost is no fault of the statement: the load goes on over another.
            waiting_build(server, &id);
            drop(reader);
            assert_tells(&running.finish_within(LIMIT), 0, &[TOLD]);
        } else {
            let outcome = running.finish_within(LIMIT);
            let told = [
                "ERROR 1317 (70100) at line 1 in file: '",
                "somebody has killed the statement",
                "--resume",
                "ADD FULLTEXT KEY `v` (`v`) COMMENT 'it''s'; ALTER TABLE `hortator_case`.`t` ADD FULLTEXT KEY `vw`",
            ];
            assert_tells(&outcome, 1, &told);
            assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["2001"]]);
            assert_eq!(indexes(server, "t"), "0");
            drop(reader);
            assert_tells(&run(load_into(server, &["--resume", file])), 0, &[TOLD]);
        }
        assert_like_client(server, &pair.client, &text);
        assert_eq!(server.rows_of_case(FOUND), pair.client.rows_of_case(FOUND));
    }
}

/// Keys that are sorted in files, then a row that may be held. With FULLTEXT keys, MariaDB 10.11 crashes where it cannot make
/// such a file.
pub fn sorted_dumps() -> [String; 2] {
    ["KEY v (v), KEY w (w, v)", "KEY v (v), FULLTEXT KEY w (w), FULLTEXT KEY again (v)"].map(|keys| {
        let mut text = format!(
            "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(300), w VARCHAR(300), p INT, KEY p (p), {keys}, CONSTRAINT held FOREIGN KEY (p) \
             REFERENCES hortator_held.held (id)) ENGINE=InnoDB ROW_FORMAT=DYNAMIC;\n"
        );
        for number in 0..40 {
            let row = |row| format!("({}, '{row}{}', '{row} {}', NULL)", number * 50 + row, "v".repeat(280), "w".repeat(280));
            let rows: Vec<String> = (0..50).map(row).collect();
            text += &format!("INSERT INTO t VALUES {};\n", rows.join(", "));
        }
        text + "INSERT INTO t VALUES (9000, 'v', 'w', 1);\nCREATE TABLE behind (id INT);\n"
    })
}

/// Makes a folder in which a server may sort.
pub fn folder_to_sort_in(parent: &Path) -> PathBuf {
    let sorting = parent.join("sorting");
    fs::create_dir(&sorting).unwrap();
    // The server may run as another user.
    for path in [parent, &sorting] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    sorting
}

/// The folder in which the server sorts is gone when it builds the keys.
#[test]
fn no_folder_to_sort_in() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &Server::start(&[("innodb_flush_log_at_trx_commit", "1"), ("innodb_sort_buffer_size", "64K")]);
    for text in sorted_dumps() {
        server.reset();
        let held = Held::new(server);
        let (folder, dump) = dump_file("dump.sql", text.as_bytes());
        let file = dump.to_str().unwrap();
        let sorting = folder_to_sort_in(folder.path());
        let set = format!("SET GLOBAL innodb_tmpdir = '{}'", sorting.display());
        server.connect().execute(set.as_bytes()).unwrap();
        let running = start_and_hold(server, &[file]);
        fs::remove_dir_all(&sorting).unwrap();
        drop(held);
        let outcome = running.finish_within(LIMIT);
        let told = [
            "at line 1 in file: '",
            "the rows of hortator_case.t are loaded, but its deferred indexes could not be built",
            "then resume the load with --resume, or run: ALTER TABLE `hortator_case`.`t` ADD KEY `v` (`v`), ADD ",
        ];
        assert_tells(&outcome, 1, &told);
        let node = server.sandbox().node(0);
        if node.pid().is_none() {
            node.start().unwrap();
        } else {
            assert_tells(&outcome, 1, &["set innodb_tmpdir to a larger directory"]);
        }
        server.connect().execute(b"SET GLOBAL innodb_tmpdir = DEFAULT").unwrap();
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["2001"]]);
        assert_eq!(indexes(server, "t"), "0");
        assert_tells(&run(load_into(server, &["--resume", file])), 0, &["hortator_case.t: v, w"]);
        assert_like_client(server, &pair.client, text.as_bytes());
    }
}

/// A dump whose FULLTEXT keys take their time.
pub fn long_build() -> Vec<u8> {
    let mut text = "CREATE TABLE t (id INT PRIMARY KEY, a INT, v TEXT, g POINT NOT NULL, KEY a (a), SPATIAL KEY g (g), FULLTEXT KEY v \
                    (v), FULLTEXT KEY again (v)) ENGINE=InnoDB;\n"
        .to_owned();
    for statement in 0..200_u64 {
        let row = |row: u64| {
            let id = statement * 50 + row;
            let words: Vec<String> = (1..30).map(|word| format!("w{}", id * word * 7919 % 20_011)).collect();
            format!("({id}, {}, '{}', {POINT})", id % 97, words.join(" "))
        };
        let rows: Vec<String> = (0..50).map(row).collect();
        text += &format!("INSERT INTO t VALUES {};\n", rows.join(","));
    }
    text.into_bytes()
}

/// A query of a word in the table of [`long_build`], and what it finds. A server that has added the rows one by one may not
/// find all of them yet.
pub const LONG_FOUND: (&str, [&str; 2]) =
    ("SELECT COUNT(*), SUM(id) FROM t WHERE MATCH(v) AGAINST('w7919')", ["12", "68155"]);

/// Starts a load of [`long_build`], and lets `event` happen in the middle of a build, until it says that it has; gives how the
/// load went on. A load whose builds are over before is started again.
pub fn in_a_build(
    server: &Server,
    start: impl Fn() -> Running,
    mut event: impl FnMut(&Running) -> bool,
) -> crate::programs::Outcome {
    let is_building = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER TABLE%ADD%' AND \
                       STATE LIKE 'altering table%'";
    for _ in 0..20 {
        server.reset();
        drop(Held::new(server));
        let mut running = start();
        let mut watcher = server.connect();
        while !running.has_ended() {
            let rows = watcher.fetch(is_building.as_bytes()).unwrap();
            if rows[0][0].as_deref() == Some(b"1") && event(&running) {
                return running.finish_within(LIMIT);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
    panic!("no build was seen");
}

#[test]
fn a_server_that_is_killed_in_a_build() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &Server::start(&[("innodb_flush_log_at_trx_commit", "1")]);
    let text = long_build();
    let (_folder, dump) = dump_file("dump.sql", &text);
    let file = dump.to_str().unwrap();
    let node = server.sandbox().node(0);
    let kill = |running: &Running| {
        // It would not wait for as long as a start may take.
        signal(running, Signal::STOP);
        node.kill().unwrap();
        node.start().unwrap();
        signal(running, Signal::CONT);
        true
    };
    let outcome = in_a_build(server, || Running::start(load_into(server, &[ALWAYS, file])), kill);
    assert_tells(&outcome, 0, &["hortator_case.t: a, g, v, again in "]);
    assert_like_client(server, &pair.client, &text);
    assert_eq!(server.rows_of_case(LONG_FOUND.0), [LONG_FOUND.1]);
}
