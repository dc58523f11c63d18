//! Writes the file and reads it back, whole and damaged.

use super::*;

fn state() -> SavedState {
    let lineage = Lineage::initial(Uuid([5; 16])).bootstrapped(Uuid([6; 16]));
    SavedState { stopped_at: 12, resolved_upto: 9, lineage, ..SavedState::running(Uuid([3; 16]), Uuid([4; 16])) }
}

#[test]
fn the_written_file_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    assert!(SavedState::read(folder.path()).unwrap().is_none());
    state().write(folder.path()).unwrap().unwrap();
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(state()));
    assert_eq!(state().position(), Some(Gtid { history_uuid: Uuid([3; 16]), seqno: 12 }));
    assert_eq!(SavedState { stopped_at: -1, ..state() }.position(), None);
}

#[test]
fn the_first_version_is_read_without_generation_and_vote_result() {
    let folder = tempfile::tempdir().unwrap();
    let text = "# Written by a former release.\nversion: 1\nhistory: 03030303-0303-0303-0303-030303030303\n\
                member: 04040404-0404-0404-0404-040404040404\nstopped_at: 12\nbegins_at: -1\nfailed_at: -1\n";
    fs::write(folder.path().join(FILE_NAME), text).unwrap();
    let expected = SavedState { resolved_upto: -1, lineage: Lineage::UNKNOWN, ..state() };
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(expected));
    // That version wrote no grastate.dat, so its absence is no administrator's wish.
    assert!(grastate::exists(folder.path()));
}

#[test]
fn version_3_is_read_with_its_keys() {
    let folder = tempfile::tempdir().unwrap();
    state().write(folder.path()).unwrap().unwrap();
    let path = folder.path().join(FILE_NAME);
    let text = fs::read_to_string(&path).unwrap();
    let old = text.replace("version: 4", "version: 3").replace("history_uuid:", "history:");
    fs::write(&path, old.replace("resolved_upto:", "heeded_to:")).unwrap();
    fs::remove_file(folder.path().join(grastate::FILE_NAME)).unwrap();
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(state()));
    assert!(!grastate::exists(folder.path()), "its absence is an administrator's wish");
}

#[test]
fn every_damage_is_an_error_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    state().write(folder.path()).unwrap().unwrap();
    let path = folder.path().join(FILE_NAME);
    let good = fs::read_to_string(&path).unwrap();
    for (from, to, message) in [
        ("version: 4", "version: 5", "has version 5, this release reads version 4"),
        ("generation: 0606", "generation: 06", "line 9: `generation: 06"),
        ("resolved_upto: 9", "resolved_upto: nine", "line 8: `resolved_upto: nine`"),
        ("stopped_at: 12", "stopped_at: twelve", "line 5: `stopped_at: twelve` is not valid"),
        ("member: ", "member ", "line 4: "),
        ("begins_at: -1\n", "", "line 0: "),
    ] {
        fs::write(&path, good.replace(from, to)).unwrap();
        let error = SavedState::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_disk_without_room_takes_the_state_in_the_reserve() {
    let folder = tempfile::tempdir().unwrap();
    let draft = folder.path().join(FILE_NAME).with_extension("new.log");
    state().write(folder.path()).unwrap().unwrap();
    // Nothing can be written beside the files that are there.
    fs::create_dir(&draft).unwrap();
    let failed = SavedState { stopped_at: -1, failed_at: 13, ..state() };
    assert!(failed.write(folder.path()).unwrap().is_err());
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(failed));
    let later = SavedState { failed_at: 11, ..failed };
    assert!(later.write(folder.path()).unwrap().is_err());
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(later));
    // With room, the file counts again.
    fs::remove_dir(&draft).unwrap();
    state().write(folder.path()).unwrap().unwrap();
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(state()));
    // A torn write to the reserve is none.
    let reserve = folder.path().join("hortator.state.reserve.log");
    let size = fs::metadata(&reserve).unwrap().len();
    fs::write(&reserve, [&[40, 0, 0, 0][..], &[7; 60]].concat()).unwrap();
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(state()));
    state().write(folder.path()).unwrap().unwrap();
    assert_eq!(fs::metadata(&reserve).unwrap().len(), size);
    // Without a reserve, as after a start of a former release, it is an error.
    fs::remove_file(&reserve).unwrap();
    fs::create_dir(&draft).unwrap();
    assert!(failed.write(folder.path()).is_err());
    assert_eq!(SavedState::read(folder.path()).unwrap(), Some(state()));
}
