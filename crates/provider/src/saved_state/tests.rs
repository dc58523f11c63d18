//! The file comes back as it was written, and says what is wrong with it.

use super::*;

fn state() -> SavedState {
    SavedState { history: Uuid([3; 16]), member: Uuid([4; 16]), stopped_at: 12, begins_at: -1, failed_at: -1 }
}

#[test]
fn what_was_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    assert!(SavedState::read(folder.path()).unwrap().is_none());
    state().write(folder.path()).unwrap();
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(state()));
    assert_eq!(state().position(), Some(Gtid { history: Uuid([3; 16]), seqno: 12 }));
    assert_eq!(SavedState { stopped_at: -1, ..state() }.position(), None);
}

#[test]
fn every_damage_is_an_error_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    state().write(folder.path()).unwrap();
    let path = folder.path().join(FILE_NAME);
    let good = fs::read_to_string(&path).unwrap();
    for (from, to, message) in [
        ("version: 1", "version: 2", "has version 2, and this release reads 1"),
        ("stopped_at: 12", "stopped_at: twelve", "line 5: `stopped_at: twelve` is not understood"),
        ("member: ", "member ", "line 4: "),
        ("begins_at: -1\n", "", "line 0: "),
    ] {
        fs::write(&path, good.replace(from, to)).unwrap();
        let error = SavedState::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
