//! Writes the file and reads it back, whole and damaged.

use super::*;

fn pending((term, index, voters): (u64, u64, Vec<u64>)) -> PendingMembership {
    let log_id = LogId { term: Term(term), index: Index(index) };
    (log_id, Membership::of(voters.into_iter().map(NodeId)))
}

fn saved() -> HardState {
    let voters = [(1, "10.0.0.1:4567"), (2, "[fe80::1]:4567"), (u64::MAX, "db3.example:4567")];
    HardState {
        node: NodeId(1),
        term: Term(7),
        voted_for: Some(NodeId(u64::MAX)),
        committed: Index(815),
        membership_log_id: LogId { term: Term(3), index: Index(17) },
        snapshot_log_id: LogId { term: Term(2), index: Index(9) },
        voters: voters.map(|(node, address)| (NodeId(node), address.to_owned())).into(),
        weights: BTreeMap::new(),
        pending_memberships: [(7, 820, vec![1, 2]), (7, 830, vec![1, 2, u64::MAX])].map(pending).into(),
        lineage: Lineage::initial(Uuid([1; 16])).bootstrapped(Uuid([2; 16])),
        protocol: ProtocolVersion::FIRST,
    }
}

#[test]
fn the_written_file_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    assert!(HardState::read(folder.path()).unwrap().is_none());
    let pending_memberships = Vec::new();
    let (voters, lineage) = (BTreeMap::new(), Lineage::UNKNOWN);
    let alone = HardState { voted_for: None, voters, pending_memberships, lineage, ..saved() };
    let upgraded = HardState { protocol: ProtocolVersion::NAMED, ..saved() };
    let weights = [(NodeId(2), 3)].into();
    let pending_memberships = vec![pending((7, 820, vec![1, 2, 2, 2]))];
    let weighed = HardState { weights, pending_memberships, protocol: ProtocolVersion::WEIGHTS, ..saved() };
    for saved in [saved(), alone, upgraded, weighed] {
        saved.write(folder.path()).unwrap();
        assert_eq!(HardState::read(folder.path()).unwrap(), Some(saved));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn every_changed_or_missing_byte_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    saved().write(folder.path()).unwrap();
    let path = folder.path().join(FILE_NAME);
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        for flip in [1, 4, 0x80] {
            let mut bytes = good.clone();
            bytes[at] ^= flip;
            fs::write(&path, bytes).unwrap();
            assert!(HardState::read(folder.path()).is_err(), "byte {at}");
        }
        fs::write(&path, &good[..at]).unwrap();
        assert!(HardState::read(folder.path()).is_err(), "{at} bytes");
    }
    fs::write(&path, [&good[..], b"\n"].concat()).unwrap();
    assert!(HardState::read(folder.path()).is_err());
}

#[test]
fn every_damage_is_an_error_with_line_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    saved().write(folder.path()).unwrap();
    let path = folder.path().join(FILE_NAME);
    let good = fs::read_to_string(&path).unwrap();
    for (from, to, message, remedy) in [
        ("version: 4", "version: 9", "has version 9, this release reads up to version 5", "use the newer release"),
        ("version: 4", "version: one", "line 2: `version: one` is not valid", "join again"),
        ("term: 7", "term: seven", "line 4: `term: seven` is not valid", "join again"),
        ("term: 7", "term: 8", "has changed since the provider wrote it", "join again"),
        ("committed: 815\n", "", "line 6: `membership_term: 3` is not valid", "join again"),
        ("4567\npending", "4568\npending", "its checksum is", "vote twice"),
        ("pending_voters: 7 820 ", "pending_voters: 7 x820 ", "line 14: `pending_voters: 7 x820 ", "join again"),
        ("pending_voters: 7 820 ", "pending_voters: 7 821 ", "its checksum is", "vote twice"),
        ("generation: 0202", "generation: 02", "line 16: `generation: 02", "join again"),
        ("generation: 02020202", "generation: 03030303", "its checksum is", "vote twice"),
    ] {
        fs::write(&path, good.replacen(from, to, 1)).unwrap();
        let error = HardState::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(message) && error.contains(remedy), "{error}");
    }
}

#[test]
fn too_many_generations_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    saved().write(folder.path()).unwrap();
    let path = folder.path().join(FILE_NAME);
    let good = fs::read_to_string(&path).unwrap();
    let line = format!("generation: {}\n", Uuid([1; 16]));
    let many = good[..good.find("checksum").unwrap()].to_owned() + &line.repeat(7);
    fs::write(&path, format!("{many}checksum: {:08x}\n", crc32fast::hash(many.as_bytes()))).unwrap();
    assert!(matches!(HardState::read(folder.path()), Err(Error::Malformed { line: 24, .. })));
}

#[test]
fn version_1_is_read_without_generations() {
    let folder = tempfile::tempdir().unwrap();
    let text = "# Written by a former release.\nversion: 1\nnode: 0000000000000001\nterm: 7\nvoted_for: none\ncommitted: 815\n\
                membership_term: 3\nmembership_index: 17\nvoter: 0000000000000001 10.0.0.1:4567\n";
    let text = format!("{text}checksum: {:08x}\n", crc32fast::hash(text.as_bytes()));
    fs::write(folder.path().join(FILE_NAME), text).unwrap();
    let voters = [(NodeId(1), "10.0.0.1:4567".to_owned())].into();
    let snapshot_log_id = LogId { term: Term(0), index: Index(0) };
    let (pending_memberships, lineage) = (Vec::new(), Lineage::UNKNOWN);
    let expected = HardState { voted_for: None, snapshot_log_id, voters, pending_memberships, lineage, ..saved() };
    let read = HardState::read(folder.path()).unwrap().unwrap();
    assert_eq!(read, expected);
    // The next write uses this version.
    read.write(folder.path()).unwrap();
    assert_eq!(HardState::read(folder.path()).unwrap(), Some(expected));
}

#[test]
fn an_address_with_a_line_break_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    saved().write(folder.path()).unwrap();
    for address in ["", "a:1\nterm: 9", "a:1 "] {
        let other = HardState { voters: [(NodeId(2), address.to_owned())].into(), ..saved() };
        assert!(matches!(other.write(folder.path()), Err(Error::Address { node: NodeId(2), .. })));
    }
    assert_eq!(HardState::read(folder.path()).unwrap(), Some(saved()));
}

#[test]
fn the_file_has_the_previous_form_until_another_protocol_version_is_in_force() {
    let folder = tempfile::tempdir().unwrap();
    let text = |saved: &HardState| {
        saved.write(folder.path()).unwrap();
        fs::read_to_string(folder.path().join(FILE_NAME)).unwrap()
    };
    let before = text(&saved());
    assert!(before.contains("\nversion: 4\nnode: ") && !before.contains("protocol"), "{before}");
    let after = text(&HardState { protocol: ProtocolVersion::NAMED, ..saved() });
    assert!(after.contains("\nversion: 5\nprotocol_version: 8\nnode: "), "{after}");
    fs::write(folder.path().join(FILE_NAME), after.replace("protocol_version: 8", "protocol_version: 10")).unwrap();
    let error = HardState::read(folder.path()).unwrap_err().to_string();
    for words in ["protocol version 10 is in force in the cluster", "up to version 9: use the newer release"] {
        assert!(error.contains(words), "{error}");
    }
}
