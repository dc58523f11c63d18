//! An SST by mariabackup empties the data folder of a joiner while its provider runs.

use super::super::segment::FILE_PREFIX;
use super::*;

/// Does what the server's script wsrep_sst_mariabackup does: files that end in `.log` stay.
fn empty(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let file = entry.unwrap().path();
        if file.extension().is_none_or(|ending| ending != "log") {
            fs::remove_file(file).unwrap();
        }
    }
}

#[test]
fn an_open_log_continues_when_an_sst_empties_its_folder() {
    let folder = folder();
    fs::write(folder.path().join("ibdata1"), "x").unwrap();
    fs::write(folder.path().join(format!("{FILE_PREFIX}other")), "x").unwrap();
    let (log, _) = open(folder.path());
    for _ in 0..20 {
        empty(folder.path());
        append(&log, 20);
        log.flush(log.last()).unwrap();
        empty(folder.path());
        log.truncate(Index(log.last().0 - 4)).unwrap();
        log.purge(Index(log.last().0.saturating_sub(100)));
        assert!(matches!(DiskLog::open(folder.path(), small(), HISTORY), Err(Error::Locked { .. })));
    }
    let (first, last) = (log.first(), log.last());
    drop(log);
    empty(folder.path());
    assert!(segments(folder.path()).len() > 1 && !folder.path().join("ibdata1").exists());
    let (log, opened) = open(folder.path());
    assert_eq!((opened.first, opened.last, opened.torn_tail), (first, last, None));
    expect_entries(&log, first.0, last.0);
}

/// Opening must also find the markers after a crash in the middle.
#[test]
fn markers_of_incomplete_steps_are_kept_too() {
    let dir = folder();
    let (log, _) = open(dir.path());
    append(&log, 200);
    log.flush(Index(200)).unwrap();
    let cut = power::states(dir.path(), || log.truncate(Index(20)).unwrap());
    drop(log);
    let resets = power::states(dir.path(), || drop(DiskLog::install_snapshot(dir.path(), small(), [8; 16], Index(7))));
    for state in cut.iter().chain(&resets) {
        let dir = folder();
        power::write(state, dir.path());
        empty(dir.path());
        assert_eq!(power::read(dir.path()), *state);
    }
}
