//! Entries round-trip; truncated ones are refused.

use super::*;

const STAMP: Stamp = Stamp { seqno: 41, term: Term(3), protocol: ProtocolVersion::FIRST };
const NEWEST: Stamp = Stamp { protocol: ProtocolVersion::WEIGHTS, ..STAMP };
const DECISION_7: VoteResult = VoteResult { error: 7, agreeing: 2 };

fn write_set() -> (WriteSetHead, Vec<(Key, Mode)>, Vec<u8>) {
    let head =
        WriteSetHead { flags: Flags(0x41), source: Uuid([7; 16]), trx: 12, conn: 3, last_seen: 40, request_id: 5 };
    let keys = vec![(Key::row(b"a", b"t", 0, b"1"), Mode::RowExclusive), (Key::table(b"a", b"p"), Mode::RowReference)];
    (head, keys, b"events".to_vec())
}

fn encoded(stamp: Stamp) -> Vec<u8> {
    let (head, keys, data) = write_set();
    let mut bytes =
        encode_write_set(&WriteSetHead { source: Uuid::UNDEFINED, last_seen: 0, ..head }, &keys, data.len());
    set_source(&mut bytes, &head);
    bytes.extend(&data);
    set_stamp(&mut bytes, stamp);
    bytes
}

fn members() -> Vec<Member> {
    vec![
        Member { id: Uuid([1; 16]), name: "eins".into(), incoming: "127.0.0.1:3306".into() },
        Member { id: Uuid([2; 16]), name: String::new(), incoming: String::new() },
    ]
}

fn cut() -> CommitCut {
    CommitCut {
        upto: 30,
        verdicts_from: 20,
        verdicts_upto: 40,
        failed: vec![33, 37],
        view_number: 4,
        members: members(),
    }
}

fn voters() -> Vec<Voter> {
    let voter = |node, address: &str| Voter { node: NodeId(node), address: address.into() };
    vec![voter(9, "10.0.0.1:4567"), voter(1, "b"), voter(1, "b")]
}

/// One entry of each kind, and its bytes, as of the first and the newest protocol version.
fn all() -> Vec<(Stamp, Entry, Vec<u8>)> {
    let with = |stamp| all_with(stamp).into_iter().map(move |(entry, bytes)| (stamp, entry, bytes));
    with(STAMP).chain(with(NEWEST)).collect()
}

fn all_with(stamp: Stamp) -> Vec<(Entry, Vec<u8>)> {
    let placed = |mut bytes: Vec<u8>| {
        set_stamp(&mut bytes, stamp);
        bytes
    };
    let (head, keys, data) = write_set();
    vec![
        (Entry::WriteSet { head, keys, data }, encoded(stamp)),
        (Entry::View { number: 4, members: members() }, placed(encode_view(4, &members()))),
        (Entry::CommitCut(cut()), placed(encode_commit_cut(&cut()))),
        (Entry::NoOp, placed(encode_no_op())),
        (Entry::Membership(voters()), placed(encode_membership(&voters()))),
        (Entry::VoteResult { seqno: 40, result: DECISION_7 }, placed(encode_vote_result(40, DECISION_7))),
    ]
}

#[test]
fn entries_round_trip() {
    for (stamp, entry, bytes) in all() {
        assert_eq!(decode(&bytes), Ok((stamp, entry.clone())));
        let (found, shape) = meta(&bytes).unwrap();
        assert_eq!((found, shape.term), (stamp, Term(3)));
        assert_eq!(shape.membership.is_some(), matches!(entry, Entry::Membership(_)));
        assert!(has_head(&bytes));
    }
}

#[test]
fn the_first_format_is_read() {
    // As the first release wrote it: a commit cut at 77, with a head of 64 bytes.
    let mut bytes = vec![0; 64];
    (bytes[0], bytes[1], bytes[8]) = (3, 1, 77);
    let stamp = Stamp { seqno: 77, term: Term(0), protocol: ProtocolVersion::FIRST };
    assert_eq!(decode(&bytes), Ok((stamp, Entry::CommitCut(CommitCut { upto: 77, ..CommitCut::default() }))));
    assert!(!has_head(&bytes));
}

#[test]
fn a_name_that_is_too_long_is_truncated() {
    let member = Member { id: Uuid([1; 16]), name: "n".repeat(70_000), incoming: "here".into() };
    let Ok((_, Entry::View { members, .. })) = decode(&encode_view(4, &[member])) else { panic!("no view") };
    assert_eq!((members[0].name.len(), members[0].incoming.as_str()), (65_535, "here"));
}

#[test]
fn no_part_of_an_entry_is_valid() {
    for (_, entry, bytes) in all() {
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).is_err(), "{length} of {} bytes of {entry:?}", bytes.len());
        }
        let mut longer = bytes;
        longer.push(0);
        assert!(decode(&longer).is_err());
    }
}

#[test]
fn a_newer_format_is_reported() {
    let mut bytes = encode_no_op();
    bytes[1] = FORMAT + 1;
    assert_eq!(decode(&bytes), Err(Error::Newer(FORMAT + 1)));
}

#[test]
fn damaged_bytes_are_refused_or_a_valid_entry() {
    let all = all();
    let mut state = 1u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for _ in 0..100_000 {
        let mut bytes = all[below(all.len())].2.clone();
        for _ in 0..=below(4) {
            let at = below(bytes.len());
            bytes[at] = [0, 1, 0x7f, 0x80, 0xff, below(256) as u8][below(6)];
        }
        if below(4) == 0 {
            bytes.truncate(below(bytes.len()));
        }
        if let Ok((stamp, Entry::View { number, members })) = decode(&bytes) {
            let mut again = encode_view(number, &members);
            set_stamp(&mut again, stamp);
            assert_eq!(decode(&again), Ok((stamp, Entry::View { number, members })));
        }
        let _ = meta(&bytes);
        assert_eq!(is_whole(&bytes), decode(&bytes).is_ok());
    }
}

#[test]
fn an_order_with_other_certification_rules_is_refused() {
    let members = [Member { id: Uuid([1; 16]), name: "a".to_owned(), incoming: String::new() }];
    for good in [encode_view(3, &members), encode_commit_cut(&CommitCut::default())] {
        let with_rules = |rules: u8| [&good[..4], &[rules], &good[5..]].concat();
        assert_eq!(good[4], CERTIFICATION_RULES, "the order names its rules");
        // Releases without versions had the first one.
        assert_eq!(decode(&with_rules(0)).unwrap().1, decode(&good).unwrap().1);
        let next = CERTIFICATION_RULES + 1;
        let error = decode(&with_rules(next)).unwrap_err();
        assert_eq!(error, Error::OtherRules(next.into()));
        assert!(error.to_string().contains("version 2 of the certification rules, this release has version 1"));
        assert!(!is_whole(&with_rules(next)), "nor is it taken from a node of another release");
    }
}

#[test]
fn the_stamp_s_protocol_version_decides_on_the_format() {
    for ((_, first), (_, newest)) in all_with(STAMP).into_iter().zip(all_with(NEWEST)) {
        assert_eq!((first[1], first[2]), (2, 0), "as the previous release writes it");
        assert_eq!((newest[1], newest[2]), (3, 9));
        // A leader writes its stamp into a proposal of either release.
        for mut bytes in [first.clone(), newest.clone()] {
            set_stamp(&mut bytes, NEWEST);
            assert_eq!(bytes, newest);
            set_stamp(&mut bytes, STAMP);
            assert_eq!(bytes, first);
        }
    }
}

#[test]
fn a_protocol_version_that_this_release_lacks_is_reported() {
    for (_, mut bytes) in all_with(NEWEST) {
        bytes[2] = ProtocolRange::SPOKEN.newest.0 + 1;
        let error = decode(&bytes).unwrap_err();
        assert_eq!(error, Error::OtherProtocol(ProtocolVersion(10)));
        assert!(error.to_string().contains("protocol version 10, this release speaks versions 7-9: use the newer"));
        assert!(meta(&bytes).is_err() && !is_whole(&bytes), "nor is it taken from a node of another release");
        // The format and the version belong together.
        bytes[2] = ProtocolVersion::FIRST.0;
        assert!(matches!(decode(&bytes), Err(Error::Malformed(_))));
    }
}
