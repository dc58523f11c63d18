//! Files of servers of many versions, from MariaDB's test suite: where they are damaged, that is said, and else all of it is
//! read.

use std::fs;
use std::path::Path;
use std::process::Command;

use hortator_replicate::binlog::{BinlogFile, EventReader};

const FOLDER: &str = "/usr/share/mysql/mysql-test/std_data";

/// Files that cannot be read to their end, and what is said of them: damaged ones, and those of servers before 5.0. Those of headers with more bytes are from a branch of
/// MariaDB that was never released.
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

#[test]
#[ignore = "needs the package mariadb-test"]
fn files_of_mariadbs_test_suite() {
    let mut names: Vec<_> = fs::read_dir(FOLDER)
        .expect("the package mariadb-test is there")
        .map(|entry| entry.unwrap().path())
        .filter(|path| fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"\xfebin")))
        .collect();
    names.sort();
    assert!(names.len() > 10, "{names:?}");
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
