//! Files that are cut off or damaged anywhere: what is read of them is the beginning of what was written.

use std::fs;
use std::path::Path;
use std::time::Duration;

use hortator_replicate::config::Start;
use hortator_replicate::source::{Arrival, FileLog, Popped, Queue, read_files};
use hortator_replicate::transaction::LogPosition;
use tempfile::TempDir;

use crate::source::{files, run, source};

/// More than the files have.
const QUEUE_BYTES: usize = 64 << 20;

/// The places behind the transactions of a folder, and how reading them ends.
fn read(folder: &Path) -> (Vec<LogPosition>, Result<String, String>) {
    let start = Start::Position(LogPosition { file: b"bin.000001".to_vec(), position: 4 });
    let log = match FileLog::open(folder, &start, None, None) {
        Ok((log, _)) => log,
        Err(error) => return (Vec::new(), Err(error.to_string())),
    };
    let queue = Queue::new(QUEUE_BYTES);
    read_files(log, &queue);
    let (mut places, mut receiver) = (Vec::new(), queue.receiver());
    loop {
        match receiver.pop(Duration::ZERO) {
            Popped::Arrival(Arrival::Transaction(one)) => places.push(one.position),
            Popped::Arrival(Arrival::Complete(completion)) => return (places, Ok(completion.0)),
            Popped::Arrival(Arrival::Failed(error)) => return (places, Err(error.to_string())),
            Popped::Arrival(_) => {}
            Popped::Nothing => panic!("the last arrival says how it ends"),
        }
    }
}

/// A log of two files, of which the last is in use.
fn two_files() -> TempDir {
    let source = source(&[]);
    let mut connection = source.node(0).connect().unwrap();
    run(
        &mut connection,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100)) ENGINE=InnoDB",
            "INSERT INTO d.t VALUES (1, 'one'), (2, 'two')",
            "BEGIN",
            "UPDATE d.t SET v = 'three'",
            "DELETE FROM d.t WHERE id = 1",
            "COMMIT",
            "FLUSH BINARY LOGS",
            "INSERT INTO d.t VALUES (4, 'four')",
            "ALTER TABLE d.t ADD COLUMN n INT",
            "INSERT INTO d.t VALUES (5, 'five', 5)",
        ],
    );
    let folder = tempfile::tempdir().unwrap();
    for name in files(&mut connection) {
        fs::copy(source.node(0).data_dir().join(&name), folder.path().join(&name)).unwrap();
    }
    folder
}

#[test]
fn files_that_are_cut_off_anywhere() {
    let folder = two_files();
    let (all, end) = read(folder.path());
    assert_eq!(all.len(), 7);
    assert!(end.unwrap().contains("bin.000002 was being written"));
    for (name, is_last) in [("bin.000002", true), ("bin.000001", false)] {
        let path = folder.path().join(name);
        let bytes = fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            fs::write(&path, &bytes[..length]).unwrap();
            let (places, end) = read(folder.path());
            assert!(all.starts_with(&places), "{name} of {length} bytes: {places:?}");
            // Only the last one may end early: it is marked as in use, if it has so much.
            let may_be_well = is_last && length > 21 || length + 60 > bytes.len();
            assert!(end.is_err() || may_be_well, "{name} of {length} bytes: {end:?}");
            let whole = all.iter().filter(|at| at.file == name.as_bytes() && at.position <= length as u64).count();
            assert_eq!(
                places.iter().filter(|at| at.file == name.as_bytes()).count(),
                whole,
                "{name} of {length} bytes"
            );
        }
        fs::write(&path, &bytes).unwrap();
    }
}

#[test]
fn files_with_a_wrong_byte_anywhere() {
    let folder = two_files();
    let (all, _) = read(folder.path());
    for name in ["bin.000001", "bin.000002"] {
        let path = folder.path().join(name);
        let bytes = fs::read(&path).unwrap();
        for place in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[place] ^= 1 << (place % 8);
            fs::write(&path, &wrong).unwrap();
            let (places, end) = read(folder.path());
            assert!(all.starts_with(&places), "{name} with byte {place} changed: {places:?}");
            // The mark that the file is in use is not summed.
            assert!(end.is_err() || place == 21, "{name} with byte {place} changed: {end:?}");
        }
        fs::write(&path, &bytes).unwrap();
    }
}
