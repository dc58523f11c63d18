//! Files of earlier releases get their current names.

use std::fs::{self, File};

use super::*;

#[test]
fn files_of_the_oldest_releases_get_their_current_names() {
    let folder = tempfile::tempdir().unwrap();
    let names = || {
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let put = |name: &str| fs::write(folder.path().join(name), name).unwrap();
    put("hortator.group");
    rename_all(folder.path()).unwrap();
    assert_eq!(names(), ["hortator.group"], "no lock file: not of that release");

    for name in ["hortator-lock", "hortator-3.spare", "hortator.state", "hortator-00000000000000000001.log", "t.state"]
    {
        put(name);
    }
    // Of a later release; the oldest ran again after it.
    put("hortator.state.log");
    let held = File::open(folder.path().join("hortator-lock")).unwrap();
    held.lock().unwrap();
    let before = names();
    assert_eq!(rename_all(folder.path()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(names(), before);

    drop(held);
    rename_all(folder.path()).unwrap();
    let now = [
        "hortator-00000000000000000001.log",
        "hortator-3.spare.log",
        "hortator.raft.log",
        "hortator.state.log",
        "t.state",
    ];
    assert_eq!(names(), now);
    assert_eq!(fs::read_to_string(folder.path().join("hortator.state.log")).unwrap(), "hortator.state");
}

#[test]
fn files_of_later_releases_get_their_current_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["hortator-lock.log", "hortator-5.cut.log", "hortator-7.anew.log", "hortator.group.log"] {
        fs::write(path(name), name).unwrap();
    }
    let held = File::open(path("hortator-lock.log")).unwrap();
    held.lock().unwrap();
    assert_eq!(rename_all(folder.path()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert!(path("hortator.group.log").exists());

    drop(held);
    rename_all(folder.path()).unwrap();
    for (old, new) in [
        ("hortator-5.cut.log", "hortator-5.truncate.log"),
        ("hortator-7.anew.log", "hortator-7.reset.log"),
        ("hortator.group.log", "hortator.raft.log"),
    ] {
        assert!(!path(old).exists(), "{old}");
        assert_eq!(fs::read_to_string(path(new)).unwrap(), old);
    }
}
