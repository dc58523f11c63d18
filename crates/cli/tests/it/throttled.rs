//! `--throttle`: loads that are paused and slowed down, what they hold meanwhile, and that nothing is missing afterwards.

mod order;
mod replicas;

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use hortator_mysql::Connection;
use rustix::process::Signal;
use serde_json::Value;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::{STATEMENTS, long_dump, signal};
use crate::programs::{Outcome, Running, hortator};
use crate::servers::{DATABASE, Server, pair};

/// Holds a load of [`long_dump`] up, so that it is not over before the test acts.
const SLOWLY: [&str; 2] = ["--throttle", "rate=3000"];
/// Faster than any machine.
const FAST: &str = "rate=100000000";
const POLL: Duration = Duration::from_millis(20);
/// Five minutes, of which an idle machine needs a moment.
const TRIES: u32 = 15_000;

/// The events of progress so far.
fn events(running: &Running) -> Vec<Value> {
    let messages = running.messages_so_far();
    // The last line may be on its way.
    let whole = messages.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let events = whole.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["event"] == "progress").collect()
}

/// Waits until the load tells that it is held back like this, from now on in so many events one after the other.
fn wait_until_held(running: &mut Running, words: &str, times: usize) -> Value {
    let before = events(running).len();
    for _ in 0..TRIES {
        let told = events(running);
        let is_held = |event: &Value| event["throttled"].as_str().is_some_and(|reason| reason.contains(words));
        if told.len() >= before + times && told[told.len() - times..].iter().all(is_held) {
            return told[told.len() - 1].clone();
        }
        assert!(!running.has_ended(), "it has ended: {}", running.messages_so_far());
        thread::sleep(POLL);
    }
    panic!("`{words}` is not told: {}", running.messages_so_far());
}

fn start(server: &Server, arguments: &[&str]) -> Running {
    let common = ["--progress=json", "--json", "--chunk-bytes", "65536"];
    Running::start(load_into(server, &[&common[..], arguments].concat()))
}

fn summary(outcome: &Outcome) -> Value {
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    serde_json::from_slice(&outcome.rows).expect("the summary is JSON")
}

/// All rows are there.
fn assert_whole(server: &Server) {
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [[(STATEMENTS * 2).to_string()]]);
}

/// Nothing is open and nothing comes while the load tells so again and again.
fn assert_stands_still(server: &Server, running: &mut Running, words: &str) {
    wait_until_held(running, words, 1);
    server.wait_until("SELECT COUNT(*) = 0 FROM information_schema.INNODB_TRX");
    let rows = || server.rows_of_case("SELECT COUNT(*) FROM t");
    let before = rows();
    wait_until_held(running, words, 3);
    assert_eq!(rows(), before);
    server.wait_until("SELECT COUNT(*) = 0 FROM information_schema.INNODB_TRX");
}

/// Writes limits, so that nobody reads half of them.
fn limit(file: &Path, text: &str) {
    let new = file.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(&new, file).unwrap();
}

#[test]
fn paused_and_resumed_by_a_file() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (folder, dump) = dump_file("dump.sql", &long_dump());
    let file = folder.path().join("limits");
    // There need be no file at first.
    let arguments = ["--throttle-file", file.to_str().unwrap(), dump.to_str().unwrap()];
    let mut running = start(server, &[&SLOWLY[..], &arguments].concat());
    server.wait_until("SELECT COUNT(*) > 1000 FROM hortator_case.t");
    limit(&file, "pause # for the backup\n");
    assert_stands_still(server, &mut running, "paused: as asked for");
    // What is not understood changes nothing.
    limit(&file, "go on\n");
    wait_until_held(&mut running, "paused", 2);
    let loaded = server.rows_of_case("SELECT COUNT(*) FROM t").concat().concat();
    fs::remove_file(&file).unwrap();
    server.wait_until(&format!("SELECT COUNT(*) > {loaded} FROM hortator_case.t"));
    limit(&file, FAST);
    let summary = summary(&running.finish());
    assert_whole(server);
    assert!(summary["throttle"]["paused_s"].as_f64().unwrap() > 0.0, "{summary}");
    assert!(summary["throttle"]["notes"][0].as_str().unwrap().contains("`go on` is no limit"), "{summary}");
}

#[test]
fn paused_from_the_beginning_and_interrupted() {
    let pair = pair();
    let server = &pair.hortator;
    // By workers, by the main session, and within transactions of the dump.
    let rows = "INSERT INTO t VALUES (1), (2);\n";
    for dump in [
        rows.to_owned(),
        "UPDATE t SET id = 2;\n".to_owned(),
        format!("SET autocommit = 0;\n{rows}UPDATE t SET id = id + 10;\nCOMMIT;\n"),
        format!("BEGIN;\n{rows}COMMIT;\n"),
        "CREATE VIEW v AS SELECT 1;\n".to_owned(),
    ] {
        server.reset();
        server.connect().execute(b"CREATE TABLE hortator_case.t (id INT)").unwrap();
        let (_folder, path) = dump_file("dump.sql", dump.as_bytes());
        let mut running = start(server, &["--throttle", "pause", path.to_str().unwrap()]);
        assert_stands_still(server, &mut running, "paused: as asked for");
        signal(&running, Signal::INT);
        let outcome = running.finish();
        assert_eq!(outcome.status, Some(130), "{dump}: {}", outcome.messages);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["0"]], "{dump}");
    }
}

#[test]
fn a_file_lifts_the_pause_of_the_command_line() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (folder, dump) = dump_file("dump.sql", &long_dump());
    let file = folder.path().join("limits");
    let arguments = ["--throttle", "pause", "--throttle-file", file.to_str().unwrap(), dump.to_str().unwrap()];
    let mut running = start(server, &arguments);
    wait_until_held(&mut running, "paused: as asked for", 3);
    limit(&file, "pause=no");
    let summary = summary(&running.finish());
    assert_whole(server);
    assert!(summary["throttle"]["paused_s"].as_f64().unwrap() > 0.0, "{summary}");
}

/// Without a terminal and without events, too.
#[test]
fn a_pause_is_told_in_a_log() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (folder, dump) = dump_file("dump.sql", b"CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\n");
    let file = folder.path().join("limits");
    limit(&file, "pause");
    let arguments = ["--throttle-file", file.to_str().unwrap(), dump.to_str().unwrap()];
    let running = Running::start(load_into(server, &arguments));
    let is_told = |_| {
        thread::sleep(POLL);
        running.messages_so_far().contains("hortator: paused: as asked for\n")
    };
    assert!((0..TRIES).any(is_told), "{}", running.messages_so_far());
    limit(&file, "");
    assert_tells(&running.finish(), 0, &["throttle (no limits): paused the threads of the load for "]);
}

#[test]
fn a_transaction_of_the_dump_is_not_held_up_in_the_middle() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let [mut held, mut definer] = [server.connect(), server.connect()];
    definer.execute(b"CREATE TABLE hortator_case.held (id INT PRIMARY KEY)").unwrap();
    definer.execute(b"INSERT INTO hortator_case.held VALUES (1)").unwrap();
    held.execute(b"START TRANSACTION").unwrap();
    held.fetch(b"SELECT id FROM hortator_case.held FOR UPDATE").unwrap();
    let (folder, path) = dump_file(
        "dump.sql",
        b"CREATE TABLE t (id INT);\nINSERT INTO t VALUES (0);\nBEGIN;\nUPDATE t SET id = id + 1;\n\
          SELECT id FROM held FOR UPDATE;\nUPDATE t SET id = id + 20;\nCOMMIT;\nUPDATE t SET id = 0;\n",
    );
    let file = folder.path().join("limits");
    // Of four workers, two wait all the time, so that the load tells when it knows of the pause.
    limit(&file, "threads=2");
    let arguments = ["--threads", "4", "--throttle-file", file.to_str().unwrap(), path.to_str().unwrap()];
    let mut running = start(server, &arguments);
    server.wait_until(
        "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'SELECT id FROM held FOR%'",
    );
    limit(&file, "pause");
    wait_until_held(&mut running, "paused: as asked for", 1);
    held.execute(b"COMMIT").unwrap();
    server.wait_until("SELECT id = 21 FROM hortator_case.t");
    wait_until_held(&mut running, "paused: as asked for", 3);
    assert_eq!(server.rows_of_case("SELECT id FROM t"), [["21"]]);
    server.wait_until("SELECT COUNT(*) = 0 FROM information_schema.INNODB_TRX");
    limit(&file, "");
    assert_tells(&running.finish(), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT id FROM t"), [["0"]]);
}

/// Statements of others that run until they are ended.
struct Others(Vec<(u32, thread::JoinHandle<()>)>);

impl Others {
    fn start(server: &Server, statements: usize) -> Self {
        let start = |_| {
            let mut connection: Connection = server.connect();
            let id = connection.id();
            (id, thread::spawn(move || drop(connection.execute(b"SELECT SLEEP(3000)"))))
        };
        let others = Self((0..statements).map(start).collect());
        let query = "SELECT COUNT(*) = {} FROM information_schema.PROCESSLIST WHERE INFO = 'SELECT SLEEP(3000)'";
        server.wait_until(&query.replace("{}", &statements.to_string()));
        others
    }

    fn end(self, server: &Server) {
        for (id, thread) in self.0 {
            server.connect().execute(format!("KILL {id}").as_bytes()).unwrap();
            thread.join().unwrap();
        }
    }
}

#[test]
fn statements_of_others() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (_folder, dump) = dump_file("dump.sql", &long_dump());
    let others = Others::start(server, 4);
    let mut running = start(server, &["--throttle", "threads=4", dump.to_str().unwrap()]);
    wait_until_held(&mut running, "paused: the server runs", 3);
    server.wait_until("SELECT COUNT(*) = 0 FROM information_schema.INNODB_TRX WHERE trx_rows_modified > 0");
    others.end(server);
    let summary = summary(&running.finish());
    assert_whole(server);
    assert_eq!(summary["throttle"]["limits"], "threads=4");
}

/// A server that has told its running statements before, and does not any more, may be one with too much to do.
#[test]
fn a_server_that_does_not_tell_any_more() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let mut root = server.connect();
    root.execute(b"CREATE OR REPLACE USER throttled@localhost").unwrap();
    root.execute(b"GRANT ALL ON *.* TO throttled@localhost").unwrap();
    let (folder, dump) = dump_file("dump.sql", &long_dump());
    let file = folder.path().join("limits");
    let mut command = hortator("load");
    command.arg("--no-defaults").arg("-S").arg(server.socket()).args(["-u", "throttled", "-D", DATABASE]);
    command.args(["--progress=json", "--json", "--chunk-bytes", "65536", "--threads", "2"]);
    command.args(SLOWLY).arg("--throttle-file").arg(&file).arg(dump);
    let mut running = Running::start(command);
    server.wait_until("SELECT COUNT(*) > 1000 FROM hortator_case.t");
    limit(&file, "pause");
    wait_until_held(&mut running, "paused: as asked for", 1);
    let connections = "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'throttled'";
    let before = server.rows_of_case(connections).concat();
    limit(&file, "pause,threads=7,rate=1000");
    server.wait_until(&format!("SELECT COUNT(*) > {} FROM ({connections}) AS open", before.len()));
    let mut samplers = server.rows_of_case(connections).concat();
    samplers.retain(|id| !before.contains(id));
    assert_eq!(samplers.len(), 1, "{samplers:?}");
    // It would take minutes.
    limit(&file, "threads=7,rate=1000");
    let loaded = server.rows_of_case("SELECT COUNT(*) FROM t").concat().concat();
    server.wait_until(&format!("SELECT COUNT(*) > {loaded} FROM hortator_case.t"));
    root.execute(b"ALTER USER throttled@localhost ACCOUNT LOCK").unwrap();
    root.execute(format!("KILL {}", samplers[0]).as_bytes()).unwrap();
    assert_stands_still(server, &mut running, "paused: the server does not tell its running statements (threads=7): ");
    root.execute(b"ALTER USER throttled@localhost ACCOUNT UNLOCK").unwrap();
    limit(&file, &format!("threads=7,{FAST}"));
    let summary = summary(&running.finish());
    assert_whole(server);
    assert!(summary["throttle"]["paused_s"].as_f64().unwrap() > 0.0, "{summary}");
}

/// The statements of the load itself are no reason to stop.
#[test]
fn fewer_threads_than_workers() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (_folder, dump) = dump_file("dump.sql", &long_dump());
    let running = start(server, &["--threads", "6", "--throttle", "threads=2", dump.to_str().unwrap()]);
    let summary = summary(&running.finish());
    assert_whole(server);
    assert!(summary["throttle"]["paused_s"].as_f64().unwrap() > 0.0, "six workers ran: {summary}");
}

#[test]
fn a_rate_that_changes() {
    let pair = pair();
    let server = &pair.hortator;
    for slow in ["rate=2", "bytes=10"] {
        server.reset();
        let (folder, dump) = dump_file("dump.sql", &long_dump());
        let file = folder.path().join("limits");
        limit(&file, slow);
        // At this rate it would take hours.
        let mut running = start(server, &["--throttle-file", file.to_str().unwrap(), dump.to_str().unwrap()]);
        let held = wait_until_held(&mut running, "slowed down to the rate", 3);
        assert!(held["rows"].as_u64().unwrap() < STATEMENTS, "{held}");
        limit(&file, "rate=100000000,bytes=4G");
        let summary = summary(&running.finish());
        assert_whole(server);
        assert!(summary["throttle"]["rate_delayed_s"].as_f64().unwrap() > 0.0, "{summary}");
        assert_eq!(summary["throttle"]["limits"], "rate=100000000,bytes=4294967296");
    }
}

#[test]
fn statements_of_the_main_session_keep_the_rate() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let changes: String = (0..5000).map(|number| format!("UPDATE t SET id = {number};\nSELECT 1;\n")).collect();
    let dump = format!("CREATE TABLE t (id INT);\nINSERT INTO t VALUES (1);\n{changes}");
    let (folder, path) = dump_file("dump.sql", dump.as_bytes());
    let file = folder.path().join("limits");
    limit(&file, "rate=1");
    let mut running = start(server, &["--throttle-file", file.to_str().unwrap(), path.to_str().unwrap()]);
    wait_until_held(&mut running, "slowed down to the rate", 3);
    limit(&file, "");
    assert_eq!(running.finish().status, Some(0));
    assert_eq!(server.rows_of_case("SELECT id FROM t"), [["4999"]]);
}

#[test]
fn limits_that_cannot_be_used() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let (folder, dump) = dump_file("dump.sql", b"CREATE TABLE t (id INT);\n");
    let dump = dump.to_str().unwrap();
    let fifo = folder.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let bad = folder.path().join("bad");
    fs::write(&bad, "rate=much").unwrap();
    let needs_replicas = folder.path().join("lag");
    fs::write(&needs_replicas, "lag=5").unwrap();
    for (arguments, status, words) in [
        (["--throttle", "rate=much"], 2, &["rate=much", "threads=N"][..]),
        (["--throttle", "lag=5"], 2, &["lag=5", "--throttle-replicas"]),
        (["--throttle-replicas", "db2"], 2, &["--throttle-replicas", "--throttle lag=SECONDS"]),
        (["--throttle-heartbeat", "a.b"], 2, &["--throttle-replicas"]),
        (["--throttle-file", folder.path().to_str().unwrap()], 1, &["--throttle-file", "not a regular file"]),
        (["--throttle-file", fifo.to_str().unwrap()], 1, &["--throttle-file", "not a regular file"]),
        (["--throttle-file", bad.to_str().unwrap()], 1, &["--throttle-file", "rate=much"]),
        (["--throttle-file", needs_replicas.to_str().unwrap()], 1, &["lag=5", "--throttle-replicas"]),
    ] {
        let outcome = Running::start(load_into(server, &[&arguments[..], &[dump]].concat())).finish();
        assert_tells(&outcome, status, words);
        assert!(server.rows_of_case("SHOW TABLES").is_empty(), "a statement has run: {arguments:?}");
    }
}
