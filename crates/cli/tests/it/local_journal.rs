//! Loads that keep a local journal: killed, and resumed with the file, without it, and with one that says nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hortator_mysql::Connection;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Outcome, Running, run};
use crate::random::Dice;
use crate::resumed_corners::end_statement;
use crate::servers::{DATABASE, Server};

/// An ended load on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// None of it can be done twice. The load waits at line 10, for whoever uses the table `held`.
const DUMP: &str = "\
CREATE TABLE m (id INT PRIMARY KEY, n INT) ENGINE=MyISAM;
INSERT INTO m VALUES (1, 0), (2, 0);
UPDATE m SET n = n + 1;
CREATE USER clerk@localhost;
GRANT SELECT ON *.* TO clerk@localhost;
UPDATE m SET n = n + 10;
DROP USER clerk@localhost;
CREATE TABLE e (a INT);
CREATE TABLE f LIKE e;
DROP TABLE held;
UPDATE m SET n = n * 2;
";

const WAITING: &str = "DROP TABLE held%";

/// What the server says of a load without its file.
const LOST: [&str; 4] = ["in doubt", "the local journal", "which cannot be used", "--in-doubt=reapply"];

fn durable() -> Server {
    Server::start(&[("innodb_flush_log_at_trx_commit", "1")])
}

fn case(server: &Server) -> Connection {
    let mut connection = server.connect();
    connection.select_db(DATABASE.as_bytes()).unwrap();
    connection
}

/// A dump, and the folder of the journals of its loads.
struct Case<'s> {
    server: &'s Server,
    _folder: TempDir,
    file: String,
    journals: TempDir,
}

impl<'s> Case<'s> {
    fn new(server: &'s Server, text: &str) -> Case<'s> {
        let (folder, path) = dump_file("dump.sql", text.as_bytes());
        let file = path.to_str().unwrap().to_owned();
        Case { server, _folder: folder, file, journals: tempfile::tempdir().unwrap() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = load_into(self.server, &[arguments, &[&self.file]].concat());
        command.arg("--local-journal-dir").arg(self.journals.path());
        command
    }

    fn load(&self, arguments: &[&str]) -> Outcome {
        run(self.command(arguments))
    }

    /// A load that waits for the table `held`, and what it waits for.
    fn waiting(&self) -> (Running, Connection) {
        self.server.reset();
        let mut other = case(self.server);
        other.execute(b"CREATE TABLE held (id INT)").unwrap();
        self.waiting_with(other)
    }

    fn waiting_with(&self, mut other: Connection) -> (Running, Connection) {
        other.execute(b"START TRANSACTION").unwrap();
        other.fetch(b"SELECT COUNT(*) FROM held").unwrap();
        let running = Running::start(self.command(&[]));
        self.server.wait_until(&format!(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '{WAITING}' AND STATE LIKE '%lock%'"
        ));
        (running, other)
    }

    /// The same, killed there. The statement has not run.
    fn killed(&self) {
        let (running, _other) = self.waiting();
        signal(&running, Signal::KILL);
        running.finish_within(LIMIT);
        end_statement(self.server, WAITING);
    }

    fn journal_files(&self) -> Vec<PathBuf> {
        fs::read_dir(self.journals.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    fn journal(&self) -> PathBuf {
        let files = self.journal_files();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    /// All of it is there once, and nothing else.
    fn assert_complete(&self, outcome: &Outcome) {
        assert_tells(outcome, 0, &[]);
        assert_eq!(self.numbers(), "22,22");
        let left = "SELECT CONCAT((SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'hortator'), \
                    (SELECT COUNT(*) FROM mysql.user WHERE User = 'clerk'), \
                    (SELECT GROUP_CONCAT(TABLE_NAME ORDER BY TABLE_NAME) FROM information_schema.TABLES \
                     WHERE TABLE_SCHEMA = DATABASE()))";
        assert_eq!(self.server.rows_of_case(left), [["00e,f,m"]]);
        assert_eq!(self.journal_files(), [] as [PathBuf; 0]);
    }

    fn numbers(&self) -> String {
        self.server.rows_of_case("SELECT GROUP_CONCAT(n ORDER BY id) FROM m")[0][0].clone()
    }

    /// Neither `--resume` nor a wrong answer to its question changes anything.
    fn assert_lost(&self, reason: &str) {
        for options in [&["--resume"][..], &["--resume", "--in-doubt=applied"]] {
            assert_tells(&self.load(options), 1, &[&LOST[..], &[reason]].concat());
        }
        assert_eq!(self.numbers(), "11,11");
    }

    fn change_anchor(&self, old: &str, new: &str) {
        let changed = format!(
            "UPDATE hortator.chunks SET recovery_hint = REPLACE(recovery_hint, '{old}', '{new}') WHERE first = 0"
        );
        assert_eq!(self.server.connect().execute(changed.as_bytes()).unwrap().affected_rows, 1);
    }
}

fn signal(running: &Running, signal: Signal) {
    let pid = i32::try_from(running.pid()).ok().and_then(Pid::from_raw).expect("a process has an id");
    kill_process(pid, signal).expect("the process is ours");
}

fn seed() -> u64 {
    let seed = std::env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(std::process::id()));
    eprintln!("HORTATOR_SEED={seed}");
    seed
}

#[test]
fn a_killed_load_goes_on_with_its_file() {
    let server = durable();
    let case = Case::new(&server, DUMP);
    case.killed();
    assert_eq!(fs::metadata(case.journal()).unwrap().permissions().mode() & 0o777, 0o600);
    let status = case.load(&["--status"]);
    let shown = String::from_utf8_lossy(&status.rows).into_owned();
    assert!(shown.contains("dump.sql:10") && shown.contains("m: 2 rows"), "{shown}{}", status.messages);
    case.assert_complete(&case.load(&["--resume"]));
}

#[test]
fn without_the_file() {
    let server = durable();
    let case = Case::new(&server, DUMP);
    case.killed();
    let (file, elsewhere) = (case.journal(), tempfile::tempdir().unwrap());
    let moved = elsewhere.path().join(file.file_name().unwrap());
    fs::copy(&file, &moved).unwrap();
    fs::remove_file(&file).unwrap();
    case.assert_lost(&format!("{} on host ", file.display()));
    case.assert_lost("it does not exist");
    let shown = String::from_utf8_lossy(&case.load(&["--status"]).rows).into_owned();
    assert!(shown.contains("which cannot be used: it does not exist"), "{shown}");
    // A new place will do.
    let mut command = load_into(&server, &["--resume", &case.file]);
    command.arg("--local-journal-dir").arg(elsewhere.path());
    case.assert_complete(&run(command));
}

/// Definitions at the beginning, and then rows for hours: nobody needs the file to resume.
#[test]
fn rows_behind_definitions_do_not_depend_on_the_file() {
    let server = durable();
    let case = Case::new(&server, "CREATE TABLE e (a INT);\nCREATE TABLE f LIKE e;\nINSERT INTO held VALUES (1);\n");
    server.reset();
    let mut other = self::case(&server);
    other.execute(b"CREATE TABLE held (id INT)").unwrap();
    other.execute(b"LOCK TABLES held WRITE").unwrap();
    let running = Running::start(case.command(&[]));
    server.wait_until("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table%'");
    server.wait_until("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = 'f'");
    server.wait_until("SELECT COUNT(*) = 0 FROM hortator.chunks WHERE first = 0 AND state = 3");
    signal(&running, Signal::KILL);
    running.finish_within(LIMIT);
    end_statement(&server, "INSERT INTO held%");
    other.execute(b"UNLOCK TABLES").unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = load_into(&server, &["--resume", &case.file]);
    command.arg("--local-journal-dir").arg(elsewhere.path());
    assert_tells(&run(command), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM held"), [["1"]]);
}

/// What may run again runs again, whatever of it had run.
#[test]
fn what_may_run_again() {
    let server = durable();
    let text = "CREATE OR REPLACE TABLE m (id INT PRIMARY KEY, n INT) ENGINE=MyISAM;\nREPLACE INTO m VALUES (1, 11), (2, 11);\n\
                UPDATE m SET n = 11;\nCREATE OR REPLACE TABLE e (a INT);\nCREATE OR REPLACE TABLE f LIKE e;\nDROP TABLE held;\n\
                UPDATE m SET n = n * 2;\n";
    let case = Case::new(&server, text);
    case.killed();
    fs::remove_file(case.journal()).unwrap();
    case.assert_lost("it does not exist");
    case.assert_complete(&case.load(&["--resume", "--in-doubt=reapply"]));
}

#[test]
fn a_file_that_is_damaged() {
    let server = durable();
    let case = Case::new(&server, DUMP);
    case.killed();
    let file = case.journal();
    let whole = fs::read(&file).unwrap();
    let used = whole.iter().position(|byte| *byte == 0).unwrap();
    let mut dice = Dice::new(seed());
    let mut lengths: Vec<usize> = (0..6).map(|_| usize::try_from(dice.below(used as u64)).unwrap()).collect();
    lengths.extend([0, used, whole.len() - 1]);
    for length in lengths {
        fs::write(&file, &whole[..length]).unwrap();
        case.assert_lost("it is damaged");
    }
    let mut changed = whole.clone();
    changed[used / 2] ^= 1;
    fs::write(&file, &changed).unwrap();
    case.assert_lost("it is damaged");
    // The load was killed while it wrote the last line: it had sent nothing yet.
    let line = whole[..used - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    let mut torn = whole.clone();
    torn[line + usize::try_from(dice.below((used - line) as u64)).unwrap()..].fill(0);
    fs::write(&file, &torn).unwrap();
    case.assert_complete(&case.load(&["--resume"]));
}

#[test]
fn a_file_of_another_machine_server_or_user() {
    let server = durable();
    let case = Case::new(&server, DUMP);
    case.killed();
    let boot_id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    case.change_anchor(boot_id.trim(), "another");
    case.assert_lost("restarted");
    case.change_anchor("another", boot_id.trim());
    let server_id = server.rows_of_case("SELECT @@GLOBAL.server_id")[0][0].clone();
    server.connect().execute(b"SET GLOBAL server_id = 7777").unwrap();
    case.assert_lost("this server is ");
    server.connect().execute(format!("SET GLOBAL server_id = {server_id}").as_bytes()).unwrap();
    let (file, kept) = (case.journal(), case.journals.path().join("kept"));
    fs::rename(&file, &kept).unwrap();
    fs::create_dir(&file).unwrap();
    case.assert_lost("cannot be read");
    fs::remove_dir(&file).unwrap();
    fs::rename(&kept, &file).unwrap();
    case.assert_complete(&case.load(&["--resume"]));
}

#[test]
fn where_there_can_be_no_file() {
    let server = durable();
    let mut case = Case::new(&server, DUMP);
    let (folder, not_a_folder) = dump_file("file", b"");
    case.journals = tempfile::tempdir_in(folder.path()).unwrap();
    let command = |case: &Case<'_>, arguments: &[&str]| {
        let mut command = load_into(&server, &[arguments, &[&case.file]].concat());
        command.arg("--local-journal-dir").arg(not_a_folder.join("x"));
        command
    };
    server.reset();
    case.server.connect().execute(format!("CREATE TABLE {DATABASE}.held (id INT)").as_bytes()).unwrap();
    let outcome = run(command(&case, &[]));
    assert_tells(&outcome, 0, &["all later checkpoints are on the server", "cannot write the local journal"]);
    case.assert_complete(&outcome);
    for options in [&["--no-local-journal"][..], &["--local-journal-dir", "/proc/no"]] {
        server.reset();
        let mut other = self::case(&server);
        other.execute(b"CREATE TABLE held (id INT)").unwrap();
        other.execute(b"START TRANSACTION").unwrap();
        other.fetch(b"SELECT COUNT(*) FROM held").unwrap();
        let running = Running::start(load_into(&server, &[options, &[&case.file]].concat()));
        server.wait_until(&format!(
            "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE '{WAITING}' AND STATE LIKE '%lock%'"
        ));
        signal(&running, Signal::KILL);
        running.finish_within(LIMIT);
        end_statement(&server, WAITING);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM hortator.chunks WHERE first = 0 AND state = 3"), [["0"]]);
        drop(other);
        case.assert_complete(&run(load_into(&server, &["--resume", &case.file])));
    }
}

/// A folder that gets full while the load runs.
#[test]
fn a_disk_that_is_full() {
    let own = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    let mut may_mount = Command::new("unshare");
    may_mount.args([own, "mount", "-t", "tmpfs", "none", "/mnt"]).stderr(Stdio::null());
    if !may_mount.status().is_ok_and(|status| status.success()) {
        eprintln!("not tested: this user may not mount a file system of its own");
        return;
    }
    let server = durable();
    server.reset();
    let mut text =
        "CREATE TABLE m (id INT PRIMARY KEY, n INT) ENGINE=MyISAM;\nINSERT INTO m VALUES (1, 0);\n".to_owned();
    (0..3000).for_each(|_| text += "UPDATE m SET n = n + 1;\n");
    let case = Case::new(&server, &text);
    let load = case.command(&[]);
    let mut command = Command::new("unshare");
    command.args([own, "sh", "-c", "mount -t tmpfs -o size=24k none \"$0\" && exec \"$@\""]);
    command.arg(case.journals.path()).arg(load.get_program()).args(load.get_args()).stdin(Stdio::null());
    let outcome = run(command);
    assert_tells(&outcome, 0, &["all later checkpoints are on the server", "cannot write the local journal"]);
    assert_eq!(case.numbers(), "3000");
}

#[test]
fn two_loads_at_once() {
    let server = durable();
    let text = |table: &str| {
        format!(
            "CREATE TABLE {table} (n INT) ENGINE=MyISAM;\nINSERT INTO {table} VALUES (1);\nUPDATE {table} SET n = n + 10;\n\
             DROP TABLE held;\nUPDATE {table} SET n = n * 2;\n"
        )
    };
    let first = Case::new(&server, &text("m"));
    let mut second = Case::new(&server, &text("other").replace("held", "held2"));
    let kept = std::mem::replace(&mut second.journals, tempfile::tempdir().unwrap());
    drop(kept);
    let (running, other) = first.waiting();
    let mut beside = case(&server);
    beside.execute(b"CREATE TABLE held2 (id INT)").unwrap();
    let mut command = load_into(&server, &[&second.file]);
    command.arg("--local-journal-dir").arg(first.journals.path());
    beside.execute(b"START TRANSACTION").unwrap();
    beside.fetch(b"SELECT COUNT(*) FROM held2").unwrap();
    let running_beside = Running::start(command);
    server.wait_until(
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'DROP TABLE held2%' AND STATE LIKE '%lock%'",
    );
    assert_eq!(first.journal_files().len(), 2);
    for (running, like) in [(running, "DROP TABLE held"), (running_beside, "DROP TABLE held2")] {
        signal(&running, Signal::KILL);
        running.finish_within(LIMIT);
        end_statement(&server, like);
    }
    drop((other, beside));
    assert_tells(&first.load(&["--resume"]), 0, &[]);
    let mut command = load_into(&server, &["--resume", &second.file]);
    command.arg("--local-journal-dir").arg(first.journals.path());
    assert_tells(&run(command), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT m.n, other.n FROM m, other"), [["22", "22"]]);
    assert_eq!(first.journal_files(), [] as [PathBuf; 0]);
}

/// A load that ends in order leaves everything on the server, and no file.
#[test]
fn ends_in_order() {
    let server = durable();
    let case = Case::new(&server, &DUMP.replace("DROP TABLE held", "SELECT no_such_column FROM e"));
    server.reset();
    assert_tells(&case.load(&[]), 1, &["line 10", "checkpoints of load"]);
    assert_eq!(case.journal_files(), [] as [PathBuf; 0]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM hortator.chunks WHERE first = 0 AND state = 3"), [["0"]]);
    server.connect().execute(format!("ALTER TABLE {DATABASE}.e ADD no_such_column INT").as_bytes()).unwrap();
    case.assert_complete(&case.load(&["--resume"]));
    // Ctrl-C.
    let case = Case::new(&server, DUMP);
    let (running, other) = case.waiting();
    signal(&running, Signal::INT);
    assert_eq!(running.finish_within(LIMIT).status, Some(130));
    assert_eq!(case.journal_files(), [] as [PathBuf; 0]);
    drop(other);
    case.assert_complete(&case.load(&["--resume"]));
    // Given up.
    case.killed();
    case.journal();
    assert_tells(&run(load_into(&server, &["--discard-checkpoint"])), 0, &[]);
    assert_eq!(case.journal_files(), [] as [PathBuf; 0]);
}

/// The server is gone when the load ends: the file stays until it can be used.
#[test]
fn a_server_that_is_gone() {
    let server = durable();
    let case = Case::new(&server, DUMP);
    let (running, other) = case.waiting();
    // The lock goes with the server, so that the statement never runs.
    server.sandbox().node(0).kill().unwrap();
    drop(other);
    signal(&running, Signal::INT);
    assert!(running.finish_within(LIMIT).status.is_some_and(|status| status != 0));
    case.journal();
    server.sandbox().node(0).start().unwrap();
    case.assert_complete(&case.load(&["--resume"]));
}

/// Where a confirmed statement may be lost with the server, the server's own records tell what it has.
#[test]
fn servers_that_confirm_too_early() {
    let lazy = Server::start(&[("innodb_flush_log_at_trx_commit", "2")]);
    let server = durable();
    let set = "SET GLOBAL innodb_flush_log_at_trx_commit = 2;\nCREATE TABLE f LIKE e;";
    for (server, text) in [(&lazy, DUMP.to_owned()), (&server, DUMP.replace("CREATE TABLE f LIKE e;", set))] {
        let case = Case::new(server, &text);
        let (running, other) = case.waiting();
        assert_eq!(case.journal_files(), [] as [PathBuf; 0]);
        signal(&running, Signal::KILL);
        running.finish_within(LIMIT);
        end_statement(server, WAITING);
        drop(other);
        case.assert_complete(&case.load(&["--resume"]));
    }
}

/// The server brings SETVAL to its disk with a later commit only: there must be one before what stands behind it counts.
#[test]
fn what_a_killed_server_forgets() {
    let server = durable();
    let text =
        DUMP.replace("CREATE TABLE f LIKE e;", "CREATE TABLE f LIKE e;\nDO SETVAL(s, 100);\nUPDATE m SET n = n + 0;");
    let case = Case::new(&server, &format!("CREATE SEQUENCE s;\n{text}"));
    let (running, other) = case.waiting();
    signal(&running, Signal::KILL);
    server.sandbox().node(0).kill().unwrap();
    running.finish_within(LIMIT);
    server.sandbox().node(0).start().unwrap();
    drop(other);
    assert_tells(&case.load(&["--resume"]), 0, &[]);
    assert_eq!(case.numbers(), "22,22");
    assert_eq!(server.rows_of_case("SELECT NEXT VALUE FOR s"), [["101"]]);
}

/// A path in the journal's folder that is in the way of nobody.
#[test]
fn a_folder_that_is_made() {
    let server = durable();
    server.reset();
    let case = Case::new(
        &server,
        "CREATE TABLE m (id INT, n INT) ENGINE=MyISAM;\nCREATE USER clerk@localhost;\nDROP USER clerk@localhost;\n",
    );
    let folder = case.journals.path().join("a/b");
    let mut command = load_into(&server, &[&case.file]);
    command.arg("--local-journal-dir").arg(&folder);
    assert_tells(&run(command), 0, &[]);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), fs::read_dir(&folder).unwrap().count()), (0o700, 0));
}
