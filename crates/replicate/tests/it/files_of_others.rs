//! Files of servers of many versions, from MariaDB's test suite: where they are damaged, that is said, and else all of it is
//! read.

use std::fs;
use std::path::Path;
use std::process::Command;

use hortator_replicate::binlog::{BinlogFile, EventReader};

const FOLDER: &str = "/usr/share/mysql/mysql-test/std_data";

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

/// Where `mariadb-binlog` finds events, and whether it is content.
fn read_by_mariadb(path: &Path) -> (Vec<u64>, bool) {
    let output = Command::new("mariadb-binlog").args(["--verify-binlog-checksum", "--force-if-open"]).arg(path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let positions = text.lines().filter_map(|line| line.strip_prefix("# at ")?.trim().parse().ok()).collect();
    (positions, output.status.success())
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
    let mut table = String::new();
    let mut differing = Vec::new();
    for path in &names {
        let (positions, error) = read(path);
        let (theirs, is_content) = read_by_mariadb(path);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        table += &format!("{name}: {} events, {}\n", positions.len(), error.as_deref().unwrap_or("to its end"));
        let mut distinct = theirs.clone();
        distinct.dedup();
        // What it finds before an error is what is found here; where it is content, so is this.
        let is_same = distinct.iter().all(|position| positions.contains(position)) || error.is_some();
        if !is_same || (is_content && error.is_some()) {
            differing.push(format!("{name}: ours {positions:?} {error:?}, mariadb-binlog {distinct:?} {is_content}"));
        }
    }
    println!("{table}");
    assert!(differing.is_empty(), "{table}\n{}", differing.join("\n"));
}
