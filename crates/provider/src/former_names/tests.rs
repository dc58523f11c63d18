//! From the names of before to those of now.

use std::fs::{self, File};

use super::*;

#[test]
fn files_get_their_names_of_now_and_no_others_do() {
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
    adopt(folder.path()).unwrap();
    assert_eq!(names(), ["hortator.group"], "no lock: not of that release");

    for name in ["hortator-lock", "hortator-3.spare", "hortator.state", "hortator-00000000000000000001.log", "t.state"]
    {
        put(name);
    }
    // Of a later release, behind which the one of the old names ran again.
    put("hortator.state.log");
    let held = File::open(folder.path().join("hortator-lock")).unwrap();
    held.lock().unwrap();
    let before = names();
    assert_eq!(adopt(folder.path()).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    assert_eq!(names(), before);

    drop(held);
    adopt(folder.path()).unwrap();
    let now = [
        "hortator-00000000000000000001.log",
        "hortator-3.spare.log",
        "hortator.group.log",
        "hortator.state.log",
        "t.state",
    ];
    assert_eq!(names(), now);
    assert_eq!(fs::read_to_string(folder.path().join("hortator.state.log")).unwrap(), "hortator.state");
}
