//! Files of servers of many versions, from MariaDB's test suite: where they are damaged, that is said, and else all of it is
//! read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hortator_check::state;
use hortator_replicate::apply::{Applier, InDoubt};
use hortator_replicate::binlog::{BinlogFile, Content, Event, EventReader};
use hortator_replicate::transaction::{Assembler, LogPosition};
use hortator_sandbox::{Builder, Temporary};

use crate::source::{run, texts};

const FOLDER: &str = "/usr/share/mysql/mysql-test/std_data";

/// Files that cannot be read to their end, and what is said of them: damaged ones, and those of servers before 5.0. Those of
/// headers with more bytes are from a branch of MariaDB that was never released.
const DAMAGED: [(&str, &str); 10] = [
    ("binlog_before_20574.bin", "the log is damaged"),
    ("bug11747416_32228_binlog.000001", "ends within the event at position 316"),
    (concat!("bug47142_mas", "ter-bin.000001"), "stands before the first format description"),
    ("corrupt-relay-bin.000624", "the session variables needs 16949 bytes, and 139 are left"),
    (concat!("mas", "ter-bin.000001"), "stands before the first format description"),
    ("mdev-39404-binlog.000001", "the log is damaged"),
    ("mdev-4645-binlog_checksum.binlog", "headers have 23 bytes, not 19"),
    ("mdev-4645-binlog_group_id.binlog", "headers have 27 bytes, not 19"),
    ("mdev-4645-binlog_group_id_checksum.binlog", "headers have 31 bytes, not 19"),
    ("trunc_binlog.000001", "stands before the first format description"),
];

/// How a file ends: after how many events, and the error.
fn read(path: &Path) -> (Vec<u64>, Option<String>) {
    let mut positions = Vec::new();
    let mut file = match BinlogFile::open(path) {
        Ok(file) => file,
        Err(error) => return (positions, Some(error.to_string())),
    };
    let mut reader = EventReader::default();
    loop {
        let position = file.position();
        match file.next_event().and_then(|bytes| bytes.map(|bytes| reader.read(bytes)).transpose()) {
            Ok(Some(_)) => positions.push(position),
            Ok(None) => return (positions, None),
            Err(error) => return (positions, Some(error.to_string())),
        }
    }
}

/// Where `mariadb-binlog` finds events. It stops at some events of MySQL 8.
fn positions_by_mariadb(path: &Path) -> Vec<u64> {
    let output =
        Command::new("mariadb-binlog").args(["--base64-output=decode-rows", "--verbose"]).arg(path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut positions: Vec<u64> =
        text.lines().filter_map(|line| line.strip_prefix("# at ")?.trim().parse().ok()).collect();
    positions.dedup();
    positions
}

fn paths() -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(FOLDER)
        .expect("the package mariadb-test is there")
        .map(|entry| entry.unwrap().path())
        .filter(|path| fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\xfebin")))
        .collect();
    paths.sort();
    assert!(paths.len() > 10, "{paths:?}");
    paths
}

#[test]
#[ignore = "needs the package mariadb-test"]
fn files_of_mariadbs_test_suite() {
    let names = paths();
    let mut differing = Vec::new();
    for path in &names {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (positions, error) = read(path);
        let expected = DAMAGED.iter().find(|(known, _)| *known == name).map(|(_, words)| *words);
        let is_expected = match (&error, expected) {
            (None, None) => true,
            (Some(error), Some(words)) => error.contains(words),
            _ => false,
        };
        let theirs = positions_by_mariadb(path);
        if !is_expected || (error.is_none() && !positions.starts_with(&theirs)) {
            differing.push(format!("{name}: ours {positions:?} {error:?}, mariadb-binlog {theirs:?}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// What is said of files that can be read and not applied.
const NOT_APPLIED: [(&str, &str); 3] = [
    // It goes on behind another file.
    ("binlog_savepoint.000001", "Table 'db1.t1' doesn't exist"),
    ("bug40482-bin.000001", "the source has lost events"),
    ("mdev35643_mysql_80_binlog.000001", "session variable 18 of a statement is not known"),
];
/// It was written with `explicit_defaults_for_timestamp=0`, by a server that does not write this. `mariadb-binlog` leaves it to the
/// target's default, which is another one.
const OTHER_DEFAULT: &str = "mdev29078-mysql-bin.000001";

fn server() -> Temporary {
    let server = Builder::standalone().start_temporary().unwrap();
    // As the servers of these files had it.
    run(&mut server.node(0).connect().unwrap(), &["CREATE DATABASE IF NOT EXISTS test CHARACTER SET latin1"]);
    server
}

/// Applies a file from its beginning; the error, if there is one.
fn apply(path: &Path, target: &Temporary) -> Result<(), String> {
    let mut applier = Applier::open(target.node(0).connect().unwrap(), OWN, "one", InDoubt::Ask).unwrap();
    let mut assembler = Assembler::new(LogPosition { file: b"file".to_vec(), position: 4 });
    let mut file = BinlogFile::open(path).unwrap();
    let mut reader = EventReader::default();
    while let Some(bytes) = file.next_event().unwrap() {
        let event: Event = reader.read(bytes).unwrap();
        if matches!(event.content, Content::Format(_)) {
            applier.format(&event).map_err(|error| error.to_string())?;
        }
        if let Some(one) = assembler.take(event).map_err(|error| error.to_string())? {
            applier.apply(one).map_err(|error| error.to_string())?;
        }
    }
    applier.flush().map_err(|error| error.to_string())
}

/// The same by `mariadb-binlog` and the client; whether that goes through.
fn apply_by_mariadb(path: &Path, target: &Temporary) -> bool {
    let mut dump =
        Command::new("mariadb-binlog").arg(path).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut client = Command::new("mariadb");
    client.args(["--no-defaults", "-u", "root", "-S"]).arg(target.node(0).socket()).arg("--binary-mode");
    let output = client.stdin(dump.stdout.take().unwrap()).output().unwrap();
    dump.wait().unwrap().success() && output.status.success()
}

/// The schema of the positions.
const OWN: &str = "hortator";

fn schemas(server: &Temporary) -> Vec<String> {
    let query = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN ('mysql', 'sys', 'hortator', \
                 'information_schema', 'performance_schema') ORDER BY 1";
    texts(&mut server.node(0).connect().unwrap(), query).into_iter().flatten().collect()
}

/// Each file that can be read leaves what `mariadb-binlog` and the client leave, or is refused with a message.
#[test]
#[ignore = "needs the package mariadb-test"]
fn files_of_mariadbs_test_suite_are_applied() {
    let mut differing = Vec::new();
    let mut applied = 0;
    for path in paths() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if DAMAGED.iter().any(|(known, _)| *known == name) {
            continue;
        }
        let (ours, theirs) = (server(), server());
        if name == OTHER_DEFAULT {
            let change = ["SET GLOBAL explicit_defaults_for_timestamp = 0"];
            run(&mut theirs.node(0).connect().unwrap(), &change);
        }
        let error = apply(&path, &ours).err();
        let expected = NOT_APPLIED.iter().find(|(known, _)| *known == name).map(|(_, words)| *words);
        match (&error, expected) {
            (None, None) => {}
            (Some(error), Some(words)) if error.contains(words) => continue,
            _ => {
                differing.push(format!("{name}: {error:?}, expected {expected:?}"));
                continue;
            }
        }
        applied += 1;
        let goes_through = apply_by_mariadb(&path, &theirs);
        if !goes_through || schemas(&ours) != schemas(&theirs) {
            differing.push(format!("{name}: {goes_through} {:?} {:?}", schemas(&ours), schemas(&theirs)));
            continue;
        }
        for schema in schemas(&ours) {
            let describe =
                |server: &Temporary| state::describe(&mut server.node(0).connect().unwrap(), &schema).unwrap();
            let found = describe(&theirs).differences(&describe(&ours));
            differing.extend(found.into_iter().map(|found| format!("{name}: {schema}: {found}")));
        }
    }
    assert!(differing.is_empty(), "{applied} are applied\n{}", differing.join("\n"));
    assert!(applied > 3, "{applied}");
}
