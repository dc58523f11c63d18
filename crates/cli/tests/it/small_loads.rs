//! Loads of a few statements, which are on record in a file of their own machine only: killed at any point, two at once, and
//! resumed where that file says nothing.

mod on_server;
mod other_rows;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Outcome, Running, run};
use crate::random::Dice;
use crate::resumed_corners::end_statement;
use crate::servers::{DATABASE, Server};
use crate::target;

/// An ended load on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);
/// Loads that are killed at a random time, unless HORTATOR_KILLS says otherwise.
const KILLS: u64 = 60;
/// A small load takes less, and is killed somewhere in it.
const KILL_LIMIT_US: u64 = 60_000;
/// How often a small load may take so long that it goes on record on the server.
const TRIES: usize = 100;

/// No statement of it can be done twice without a trace, and no table has a key.
const DUMP: &str = "\
SET NAMES utf8mb4;
CREATE TABLE parent (id INT PRIMARY KEY);
INSERT INTO parent VALUES (1), (2);
CREATE TABLE a (n INT);
INSERT INTO a VALUES (1);
INSERT INTO a VALUES (2), (3);
CREATE USER clerk@localhost;
CREATE TABLE b LIKE a;
ALTER TABLE a ADD m INT;
DROP TABLE parent;
CREATE TABLE c (n INT, s VARCHAR(9));
LOCK TABLES c WRITE;
INSERT INTO c VALUES (1,'x'),(1,'x');
UNLOCK TABLES;
DROP USER clerk@localhost;
CREATE VIEW v AS SELECT n FROM c;
";

/// Tables with their rows, and the account.
const STATE: &str = "SELECT CONCAT_WS(' ', (SELECT GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME) FROM information_schema.TABLES \
                     WHERE TABLE_SCHEMA = DATABASE()), (SELECT COUNT(*) FROM mysql.user WHERE User = 'clerk'))";

fn durable() -> Server {
    Server::start(&[("innodb_flush_log_at_trx_commit", "1")])
}

/// A dump, and the folder of the records of its loads.
struct Case<'s> {
    server: &'s Server,
    _folder: TempDir,
    file: String,
    records: TempDir,
}

impl<'s> Case<'s> {
    fn new(server: &'s Server, text: &str) -> Case<'s> {
        let (folder, path) = dump_file("dump.sql", text.as_bytes());
        let file = path.to_str().unwrap().to_owned();
        Case { server, _folder: folder, file, records: tempfile::tempdir().unwrap() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = load_into(self.server, &[arguments, &[&self.file]].concat());
        command.arg("--local-journal-dir").arg(self.records.path());
        command
    }

    fn load(&self, arguments: &[&str]) -> Outcome {
        run(self.command(arguments))
    }

    /// `--status` or `--discard-checkpoint`.
    fn ask(&self, argument: &str) -> Outcome {
        let mut command = load_into(self.server, &[argument]);
        command.arg("--local-journal-dir").arg(self.records.path());
        run(command)
    }

    fn files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.records.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    /// A load that waits for a lock of another session on `held`, which it drops in line 3.
    fn waiting(&self) -> (Running, hortator_mysql::Connection) {
        let mut other = self.server.connect();
        other.select_db(DATABASE.as_bytes()).unwrap();
        other.execute(b"CREATE TABLE held (id INT)").unwrap();
        other.execute(b"START TRANSACTION").unwrap();
        other.fetch(b"SELECT COUNT(*) FROM held").unwrap();
        let running = Running::start(self.command(&[]));
        self.server.wait_until(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'DROP TABLE held%' AND STATE LIKE '%lock%'",
        );
        (running, other)
    }

    /// Whether a killed load is on record in its file only.
    fn is_local(&self) -> bool {
        let schemas = "SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'hortator'";
        self.server.rows_of_case(schemas) == [["0"]] && self.files().len() == 1
    }

    /// A load that waits with the commit of the first rows of `a`, or that has created `b` and may be over; and the session that
    /// holds the commit.
    fn committing(&self) -> (Running, hortator_mysql::Connection) {
        self.server.reset();
        let mut other = self.server.connect();
        // Writes of rows still begin behind this lock, and do not commit.
        other.execute(b"BACKUP STAGE START").unwrap();
        let running = Running::start(self.command(&[]));
        self.server.wait_until("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = 'a'");
        other.execute(b"BACKUP STAGE BLOCK_COMMIT").unwrap();
        self.server.wait_until(
            "SELECT EXISTS (SELECT * FROM information_schema.PROCESSLIST WHERE STATE = 'Waiting for backup lock') \
             OR EXISTS (SELECT * FROM information_schema.TABLES WHERE TABLE_NAME = 'b')",
        );
        (running, other)
    }

    /// Ends the statement that waits with its commit, if there is one.
    fn end_commit(&self) {
        let waiting = "SELECT ID FROM information_schema.PROCESSLIST WHERE STATE = 'Waiting for backup lock'";
        for id in self.server.rows_of_case(waiting) {
            let _ended = self.server.connect().execute(format!("KILL {}", id[0]).as_bytes());
        }
    }

    /// [`Case::waiting`], killed there, and the statement has not run. A slow machine may need several tries: after a second, the
    /// load is on record on the server.
    fn killed(&self) {
        for _ in 0..KILLED_TRIES {
            self.server.reset();
            let (running, _other) = self.waiting();
            signal(&running, Signal::KILL);
            running.finish_within(LIMIT);
            end_statement(self.server, "DROP TABLE held%");
            if self.is_local() {
                return;
            }
            self.files().into_iter().for_each(|file| fs::remove_file(file).unwrap());
        }
        panic!("the load is on record on the server each time");
    }
}

const KILLED_TRIES: u32 = 20;

/// For what waits in line 3, and cannot be done twice.
const WAITING: &str = "\
CREATE TABLE a (n INT);
INSERT INTO a VALUES (1);
DROP TABLE held;
CREATE TABLE b (n INT);
INSERT INTO b VALUES (1);
";

fn assert_waited(server: &Server) {
    assert_eq!(server.rows_of_case(STATE), [["a,b 0"]]);
    assert_eq!(server.rows_of_case("SELECT (SELECT COUNT(*) FROM a), (SELECT COUNT(*) FROM b)"), [["1", "1"]]);
    assert_no_records(server);
}

fn assert_no_records(server: &Server) {
    let left = server.rows_of_case("SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'hortator'");
    assert_eq!(left, [["0"]], "records are left behind");
}

fn signal(running: &Running, signal: Signal) {
    let pid = i32::try_from(running.pid()).ok().and_then(Pid::from_raw).expect("a process has an id");
    kill_process(pid, signal).expect("the process is ours");
}

fn prepare(server: &Server) {
    server.reset();
    server.connect().execute(b"DROP USER IF EXISTS clerk@localhost").unwrap();
}

/// All of [`DUMP`] is there once.
fn assert_complete(server: &Server) {
    assert_eq!(server.rows_of_case(STATE), [["a,b,c,v 0"]]);
    let rows = "SELECT (SELECT GROUP_CONCAT(n ORDER BY n) FROM a), (SELECT COUNT(m) FROM a), (SELECT COUNT(*) FROM b), \
                (SELECT GROUP_CONCAT(n, s) FROM c)";
    assert_eq!(server.rows_of_case(rows), [["1,2,3", "0", "0", "1x,1x"]]);
    assert_no_records(server);
}

/// What the server was asked to do, by its general log.
fn was_asked_for(server: &Server, like: &str) -> bool {
    let query = format!("SELECT COUNT(*) FROM mysql.general_log WHERE argument LIKE '{like}'");
    server.rows_of_case(&query) != [["0"]]
}

#[test]
fn nothing_goes_to_the_server() {
    if target::mysql().is_some() {
        return;
    }
    let server = durable();
    // A view may draw from a sequence, so that it goes on record on the server.
    let text = DUMP.replace("CREATE VIEW v AS SELECT n FROM c;\n", "");
    let case = Case::new(&server, &text);
    let mut root = server.connect();
    root.execute(b"SET GLOBAL log_output = 'TABLE'").unwrap();
    for _ in 0..TRIES {
        prepare(&server);
        root.execute(b"TRUNCATE mysql.general_log").unwrap();
        root.execute(b"SET GLOBAL general_log = 1").unwrap();
        assert_tells(&case.load(&[]), 0, &[]);
        root.execute(b"SET GLOBAL general_log = 0").unwrap();
        assert_eq!(server.rows_of_case(STATE), [["a,b,c 0"]]);
        assert_no_records(&server);
        assert_eq!(case.files(), [] as [PathBuf; 0]);
        assert!(was_asked_for(&server, "CREATE TABLE a %"));
        if !was_asked_for(&server, "%hortator%chunks%VALUES%") {
            return;
        }
    }
    panic!("{TRIES} small loads went on record on the server");
}

/// Whatever a small load had done when it was killed, nothing is done twice and nothing is missing.
#[test]
fn killed_at_any_time() {
    let seed = std::env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    let kills = std::env::var("HORTATOR_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS);
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={kills}");
    let mut dice = Dice::new(seed);
    let server = durable();
    let case = Case::new(&server, DUMP);
    for kill in 0..kills {
        prepare(&server);
        let mut outcome = kill_after(case.command(&[]), dice.below(KILL_LIMIT_US));
        let mut ends = 0;
        while outcome.status != Some(0) {
            ends += 1;
            assert!(outcome.status.is_none(), "kill {kill}: {}", outcome.messages);
            // Every other load that resumes is killed too.
            let after_us = if dice.below(2) == 0 { dice.below(KILL_LIMIT_US) } else { u64::MAX };
            outcome = kill_after(case.command(&["--resume"]), after_us);
            if outcome.status == Some(1) && outcome.messages.contains("nothing to resume") {
                // It had not begun, or was over.
                if server.rows_of_case(STATE) == [["0"]] {
                    outcome = case.load(&[]);
                }
                break;
            }
        }
        eprintln!("kill {kill}: resumed {ends} times, {:?} {}", outcome.status, outcome.messages);
        assert!(outcome.status == Some(0) || outcome.messages.contains("nothing to resume"), "{}", outcome.messages);
        assert_complete(&server);
        // A file that the server's row names no more may be left behind, and is no record.
        assert_tells(&case.load(&["--resume"]), 1, &["nothing to resume"]);
        case.files().iter().for_each(|file| fs::remove_file(file).unwrap());
    }
}

fn kill_after(command: Command, after_us: u64) -> Outcome {
    let running = Running::start(command);
    if after_us < u64::MAX {
        thread::sleep(Duration::from_micros(after_us));
        signal(&running, Signal::KILL);
    }
    running.finish_within(LIMIT)
}

/// A load that is killed while the server commits its rows: whether they are there, the table tells. Also where the load is on
/// record on the server by then, because of its first statement.
#[test]
fn killed_while_rows_are_committed() {
    let server = durable();
    let text = "CREATE TABLE a (n INT);\nINSERT INTO a VALUES (1), (2);\nCREATE TABLE b (n INT);\n";
    for (first, ends_statement) in
        [("", false), ("", true), ("FLUSH PRIVILEGES;\n", false), ("FLUSH PRIVILEGES;\n", true)]
    {
        let case = Case::new(&server, &format!("{first}{text}"));
        let (running, mut other) = case.committing();
        signal(&running, Signal::KILL);
        let killed = running.finish_within(LIMIT);
        if ends_statement {
            case.end_commit();
        }
        other.execute(b"BACKUP STAGE END").unwrap();
        let mut was_over = false;
        if killed.status != Some(0) {
            let outcome = case.load(&["--resume"]);
            // It was over when it was killed, but for the removal of its file.
            was_over = outcome.status == Some(1) && outcome.messages.contains("nothing to resume");
            assert!(was_over || outcome.status == Some(0), "{}", outcome.messages);
        }
        assert_eq!(server.rows_of_case("SELECT COUNT(*), COUNT(DISTINCT n) FROM a"), [["2", "2"]]);
        assert_eq!(server.rows_of_case(STATE), [["a,b 0"]]);
        assert_no_records(&server);
        assert!(was_over || case.files().is_empty(), "{:?}", case.files());
    }
}

/// Rows of two forms are two chunks of one table, and the second one is not the first of its table.
#[test]
fn killed_while_later_rows_are_inserted() {
    let server = durable();
    let text = "CREATE TABLE a (n INT, m INT UNIQUE);\nINSERT INTO a (n) VALUES (1);\nINSERT INTO a (m) VALUES (2);\n";
    let case = Case::new(&server, text);
    server.reset();
    let [mut backup, mut other] = [server.connect(), server.connect()];
    backup.execute(b"BACKUP STAGE START").unwrap();
    let running = Running::start(case.command(&[]));
    server.wait_until("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = 'a'");
    // The first row waits with its commit, and the second one then for the row of another session, or all is over.
    backup.execute(b"BACKUP STAGE BLOCK_COMMIT").unwrap();
    other.execute(b"START TRANSACTION").unwrap();
    let is_before = other.execute(format!("INSERT INTO {DATABASE}.a (m) VALUES (2)").as_bytes()).is_ok();
    backup.execute(b"BACKUP STAGE END").unwrap();
    let waits =
        "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'INSERT INTO a (m)%' AND COMMAND <> 'Sleep'";
    if is_before {
        server.wait_until(&format!("SELECT COUNT(*) = 1 FROM {DATABASE}.a"));
        server.wait_until(&format!("SELECT EXISTS ({waits})"));
    }
    signal(&running, Signal::KILL);
    running.finish_within(LIMIT);
    for id in server.rows_of_case(waits) {
        let _ended = server.connect().execute(format!("KILL {}", id[0]).as_bytes());
    }
    server.wait_until(&format!("SELECT NOT EXISTS ({waits})"));
    other.execute(b"ROLLBACK").unwrap();
    let outcome = case.load(&["--resume"]);
    let is_over = outcome.status == Some(1) && outcome.messages.contains("nothing to resume");
    assert!(is_over || outcome.status == Some(0), "{}", outcome.messages);
    assert_eq!(server.rows_of_case("SELECT COUNT(*), COUNT(n), COUNT(m) FROM a"), [["2", "1", "1"]]);
}

#[test]
fn a_killed_load_is_shown_and_resumed() {
    let server = durable();
    let case = Case::new(&server, WAITING);
    case.killed();
    let files = case.files();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(fs::metadata(&files[0]).unwrap().permissions().mode() & 0o777, 0o600);
    let status = case.ask("--status");
    let shown = String::from_utf8_lossy(&status.rows).into_owned();
    for words in ["dump.sql", ": interrupted, started ", "a: 1 rows", "in doubt: ", "dump.sql:3"] {
        assert!(shown.contains(words), "`{words}` is not in {shown}{}", status.messages);
    }
    assert_tells(&case.load(&["--resume"]), 0, &[]);
    assert_waited(&server);
    assert_eq!(case.files(), [] as [PathBuf; 0]);
    assert_tells(&case.load(&["--resume"]), 1, &["nothing to resume"]);
}

/// The record is of this server with this data, and of no other.
#[test]
fn another_server() {
    let server = durable();
    let case = Case::new(&server, WAITING);
    case.killed();
    let server_id = server.rows_of_case("SELECT @@GLOBAL.server_id")[0][0].clone();
    server.connect().execute(b"SET GLOBAL server_id = 7777").unwrap();
    assert_tells(&case.load(&["--resume"]), 1, &["nothing to resume"]);
    server.connect().execute(format!("SET GLOBAL server_id = {server_id}").as_bytes()).unwrap();
    let other = durable();
    other.reset();
    let mut command = load_into(&other, &["--resume", &case.file]);
    command.arg("--local-journal-dir").arg(case.records.path());
    assert_tells(&run(command), 1, &["nothing to resume"]);
    assert_tells(&case.load(&["--resume"]), 0, &[]);
    assert_waited(&server);
}

#[test]
fn two_loads_at_once_see_each_other() {
    let server = durable();
    let case = Case::new(&server, WAITING);
    server.reset();
    let (running, other) = case.waiting();
    assert_tells(&case.load(&["--resume"]), 1, &["still has a session on the server", "KILL"]);
    let status = String::from_utf8_lossy(&case.ask("--status").rows).into_owned();
    assert!(status.contains(": running (connection "), "{status}");
    let id: String = status.trim_start_matches("load ").chars().take_while(char::is_ascii_digit).collect();
    assert_tells(&case.load(&[&format!("--resume={id}")]), 1, &["still has a session on the server"]);
    assert_tells(&case.ask(&format!("--discard-checkpoint={id}")), 1, &["still has a session on the server"]);
    // All that do not run are none.
    assert_tells(&case.ask("--discard-checkpoint"), 0, &[]);
    // Another one of the same input, which fails at once, takes nothing away.
    assert_tells(&case.load(&[]), 1, &["1050"]);
    drop(other);
    assert_tells(&running.finish_within(LIMIT), 0, &[]);
    // What is left is of the second.
    assert_tells(&case.ask("--discard-checkpoint"), 0, &[]);
    assert_waited(&server);
    assert_eq!(case.files(), [] as [PathBuf; 0]);
}

#[test]
fn a_killed_load_is_given_up() {
    let server = durable();
    let case = Case::new(&server, WAITING);
    case.killed();
    assert_tells(&case.ask("--discard-checkpoint=4711"), 1, &["nothing to resume"]);
    let outcome = case.ask("--discard-checkpoint");
    assert_tells(&outcome, 0, &[]);
    assert!(String::from_utf8_lossy(&outcome.rows).contains("discarded the checkpoints of load "));
    assert_eq!(case.files(), [] as [PathBuf; 0]);
    assert_tells(&case.load(&["--resume"]), 1, &["nothing to resume"]);
    // A load from the beginning takes the place of an interrupted one.
    case.killed();
    server.connect().execute(format!("DROP TABLE {DATABASE}.a").as_bytes()).unwrap();
    assert_tells(&case.load(&[]), 0, &[]);
    assert_eq!(case.files(), [] as [PathBuf; 0]);
    assert_waited(&server);
}

/// An end in order puts the load on record where everybody finds it.
#[test]
fn a_load_that_fails_or_is_interrupted() {
    let server = durable();
    let case = Case::new(&server, &WAITING.replace("DROP TABLE held", "CREATE TABLE a (n INT)"));
    server.reset();
    assert_tells(&case.load(&[]), 1, &["1050", "line 3", "checkpoints of load"]);
    assert_eq!(case.files(), [] as [PathBuf; 0]);
    server.connect().execute(format!("RENAME TABLE {DATABASE}.a TO {DATABASE}.c").as_bytes()).unwrap();
    assert_tells(&run(load_into(&server, &["--resume", "--no-local-journal", &case.file])), 0, &[]);
    assert_eq!(server.rows_of_case(STATE), [["a,b,c 0"]]);
    assert_no_records(&server);

    let case = Case::new(&server, WAITING);
    server.reset();
    let (running, other) = case.waiting();
    signal(&running, Signal::INT);
    let outcome = running.finish_within(LIMIT);
    assert_eq!(outcome.status, Some(130), "{}", outcome.messages);
    assert_eq!(case.files(), [] as [PathBuf; 0], "{}", outcome.messages);
    drop(other);
    assert_tells(&case.load(&["--resume"]), 0, &[]);
    assert_waited(&server);
    // The first statement fails: nothing is left to resume.
    let case = Case::new(&server, "CREATE TABLE a (n INT);\n");
    assert_tells(&case.load(&[]), 1, &["1050"]);
    assert_no_records(&server);
    assert_eq!(case.files(), [] as [PathBuf; 0]);
}

#[test]
fn the_server_is_gone_at_the_end() {
    let server = durable();
    let case = Case::new(&server, WAITING);
    server.reset();
    let (running, other) = case.waiting();
    // The lock goes with the server, so that the statement never runs.
    server.sandbox().node(0).kill().unwrap();
    drop(other);
    signal(&running, Signal::INT);
    assert!(running.finish_within(LIMIT).status.is_some_and(|status| status != 0));
    // None where the machine was so slow that the server had it on record before.
    assert!(case.files().len() <= 1, "{:?}", case.files());
    server.sandbox().node(0).start().unwrap();
    assert_tells(&case.load(&["--resume"]), 0, &[]);
    assert_waited(&server);
}

/// The main session is lost: the load goes on by itself.
#[test]
fn the_main_session_is_lost() {
    let server = durable();
    let case = Case::new(&server, WAITING);
    server.reset();
    let (running, other) = case.waiting();
    end_statement(&server, "DROP TABLE held%");
    drop(other);
    assert_tells(&running.finish_within(LIMIT), 0, &[]);
    assert_waited(&server);
    assert_eq!(case.files(), [] as [PathBuf; 0]);
}
