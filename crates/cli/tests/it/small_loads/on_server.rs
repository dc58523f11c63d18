//! Small loads that are on record on the server from the beginning, or before they lose the right to be.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;

use super::{Case, LIMIT, WAITING, assert_waited, durable, signal};
use crate::errors::{assert_tells, load_into};
use crate::programs::{Running, hortator, run};
use crate::resumed_corners::end_statement;
use crate::servers::DATABASE;

/// An account that does not see the server's own tables, and has no rights but on two schemas.
#[test]
fn an_account_that_cannot_see_the_server_is_on_record_there_from_the_beginning() {
    let server = durable();
    let case = Case::new(&server, WAITING);
    server.reset();
    let mut root = server.connect();
    for text in [
        "CREATE OR REPLACE USER clerk@localhost",
        "GRANT ALL ON hortator.* TO clerk@localhost",
        &format!("GRANT ALL ON {DATABASE}.* TO clerk@localhost"),
    ] {
        root.execute(text.as_bytes()).unwrap();
    }
    let mut other = server.connect();
    other.select_db(DATABASE.as_bytes()).unwrap();
    other.execute(b"CREATE TABLE held (id INT)").unwrap();
    other.execute(b"LOCK TABLES held WRITE").unwrap();
    let as_clerk = |arguments: &[&str]| {
        let mut command = hortator("load");
        command.args(["--no-defaults", "-u", "clerk", "-D", DATABASE, "-S"]).arg(server.socket()).args(arguments);
        command.arg(&case.file).arg("--local-journal-dir").arg(case.records.path());
        command
    };
    let running = Running::start(as_clerk(&[]));
    server.wait_until("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'DROP TABLE held%'");
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM hortator.chunks WHERE first = 0"), [["1"]]);
    let files = case.files();
    assert!(files.iter().all(|file| file.extension().is_some_and(|name| name == "journal")), "{files:?}");
    signal(&running, Signal::KILL);
    running.finish_within(LIMIT);
    end_statement(&server, "DROP TABLE held%");
    other.execute(b"UNLOCK TABLES").unwrap();
    assert_tells(&run(as_clerk(&["--resume"])), 0, &[]);
    root.execute(b"DROP USER clerk@localhost").unwrap();
    assert_waited(&server);
}

/// A statement that takes the rights of the load's own account: the load is on record on the server before.
#[test]
fn rights_that_the_dump_takes_from_its_own_account() {
    let server = durable();
    let text = "CREATE TABLE a (n INT);\nINSERT INTO a VALUES (1);\nREVOKE ALL PRIVILEGES, GRANT OPTION FROM clerk@localhost;\n\
                CREATE TABLE b (n INT);\nINSERT INTO b VALUES (1);\n";
    let case = Case::new(&server, text);
    server.reset();
    let mut root = server.connect();
    let grant = |root: &mut hortator_mysql::Connection| {
        root.execute(b"GRANT ALL ON *.* TO clerk@localhost WITH GRANT OPTION").unwrap();
    };
    root.execute(b"CREATE OR REPLACE USER clerk@localhost").unwrap();
    grant(&mut root);
    let as_clerk = |arguments: &[&str]| {
        let mut command = hortator("load");
        command.args(["--no-defaults", "-u", "clerk", "-D", DATABASE, "-S"]).arg(server.socket()).args(arguments);
        command.arg(&case.file).arg("--local-journal-dir").arg(case.records.path());
        run(command)
    };
    let outcome = as_clerk(&[]);
    if outcome.status == Some(0) {
        // What its sessions have is theirs until they end.
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM b"), [["1"]]);
    } else {
        assert_tells(&outcome, 1, &["line 4"]);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM hortator.chunks WHERE first = 0"), [["1"]]);
        grant(&mut root);
        assert_tells(&as_clerk(&["--resume"]), 0, &[]);
    }
    root.execute(b"DROP USER clerk@localhost").unwrap();
    assert_waited(&server);
}

/// A file system that has no locks, as the system's library tells it.
#[test]
fn a_file_system_without_locks() {
    let server = durable();
    let case = Case::new(&server, WAITING);
    let folder = tempfile::tempdir().unwrap();
    let (source, library) = (folder.path().join("locks.c"), folder.path().join("locks.so"));
    let text =
        "#include <errno.h>\nint flock(int file, int how) { (void)file; (void)how; errno = ENOLCK; return -1; }\n";
    fs::write(&source, text).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&library, &source]).status();
    assert!(built.is_ok_and(|status| status.success()), "a C compiler is needed");
    server.reset();
    let mut other = server.connect();
    other.select_db(DATABASE.as_bytes()).unwrap();
    other.execute(b"CREATE TABLE held (id INT)").unwrap();
    other.execute(b"LOCK TABLES held WRITE").unwrap();
    let mut command = case.command(&[]);
    command.env("LD_PRELOAD", &library);
    let running = Running::start(command);
    server.wait_until("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE INFO LIKE 'DROP TABLE held%'");
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM hortator.chunks WHERE first = 0"), [["1"]]);
    assert!(case.files().iter().all(|file| is_journal(file)), "{:?}", case.files());
    other.execute(b"UNLOCK TABLES").unwrap();
    assert_tells(&running.finish_within(LIMIT), 0, &[]);
    assert_waited(&server);
}

fn is_journal(file: &Path) -> bool {
    file.extension().is_some_and(|name| name == "journal")
}

/// A folder of records in which others have left something, or that cannot be written.
#[test]
fn other_files_in_the_folder() {
    let server = durable();
    let case = Case::new(&server, WAITING);
    case.killed();
    let whole = fs::read(&case.files()[0]).unwrap();
    // What is left of a load that was killed before it had a record is removed.
    for (name, bytes) in
        [("load-1-x.record", &whole[..9]), ("load-3-x.record", b"text\n"), ("load-5-x.record", b"\0\0")]
    {
        fs::write(case.records.path().join(name), bytes).unwrap();
    }
    fs::create_dir(case.records.path().join("load-4-x.record")).unwrap();
    assert_tells(&case.ask("--status"), 0, &[]);
    assert_tells(&case.load(&["--resume"]), 0, &[]);
    assert_waited(&server);
    assert_eq!(case.files().len(), 4);

    server.reset();
    server.connect().execute(format!("CREATE TABLE {DATABASE}.held (id INT)").as_bytes()).unwrap();
    let nowhere = case.records.path().join("load-1-x.record").join("below a file");
    assert_eq!(fs::create_dir(&nowhere).unwrap_err().kind(), ErrorKind::NotADirectory);
    let mut command = load_into(&server, &[&case.file]);
    command.arg("--local-journal-dir").arg(nowhere);
    assert_tells(&run(command), 0, &["all later checkpoints are on the server", "cannot write the local journal"]);
    assert_waited(&server);
}
