//! The file comes back as it was written, and says what is wrong with it.

use super::*;

fn state() -> SavedState {
    let descent = Descent::begun(Uuid([5; 16])).begun_anew(Uuid([6; 16]));
    SavedState { stopped_at: 12, heeded_to: 9, descent, ..SavedState::running(Uuid([3; 16]), Uuid([4; 16])) }
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
fn a_file_of_a_former_version_is_read_and_knows_no_generation_or_decision() {
    let folder = tempfile::tempdir().unwrap();
    let text = "# Written by a former release.\nversion: 1\nhistory: 03030303-0303-0303-0303-030303030303\n\
                member: 04040404-0404-0404-0404-040404040404\nstopped_at: 12\nbegins_at: -1\nfailed_at: -1\n";
    fs::write(folder.path().join(FILE_NAME), text).unwrap();
    let expected = SavedState { heeded_to: -1, descent: Descent::UNKNOWN, ..state() };
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(expected));
    // It did not keep the file that others look for; nobody has removed that.
    assert!(grastate::exists(folder.path()));
}

#[test]
fn every_damage_is_an_error_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    state().write(folder.path()).unwrap();
    let path = folder.path().join(FILE_NAME);
    let good = fs::read_to_string(&path).unwrap();
    for (from, to, message) in [
        ("version: 3", "version: 4", "has version 4, and this release reads 3"),
        ("generation: 0606", "generation: 06", "line 9: `generation: 06"),
        ("heeded_to: 9", "heeded_to: nine", "line 8: `heeded_to: nine`"),
        ("stopped_at: 12", "stopped_at: twelve", "line 5: `stopped_at: twelve` is not understood"),
        ("member: ", "member ", "line 4: "),
        ("begins_at: -1\n", "", "line 0: "),
    ] {
        fs::write(&path, good.replace(from, to)).unwrap();
        let error = SavedState::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
