//! What goes in comes out; what is cut short is refused.

use super::*;

fn write_set() -> (WriteSetHead, Vec<(Key, Mode)>, Vec<u8>) {
    let head = WriteSetHead { flags: Flags(0x41), source: Uuid([7; 16]), trx: 12, conn: 3, last_seen: 40 };
    let keys = vec![(Key::row(b"a", b"t", 0, b"1"), Mode::RowExclusive), (Key::table(b"a", b"p"), Mode::RowReference)];
    (head, keys, b"events".to_vec())
}

fn encoded() -> Vec<u8> {
    let (head, keys, data) = write_set();
    let mut bytes =
        encode_write_set(0, &WriteSetHead { source: Uuid::UNDEFINED, last_seen: 0, ..head }, &keys, data.len());
    place(&mut bytes, 41, &head);
    bytes.extend(&data);
    bytes
}

#[test]
fn a_write_set_comes_back() {
    let (head, keys, data) = write_set();
    assert_eq!(decode(&encoded()), Ok((41, Entry::WriteSet { head, keys, data })));
}

#[test]
fn a_view_comes_back() {
    let members = vec![
        Member { id: Uuid([1; 16]), name: "eins".into(), incoming: "127.0.0.1:3306".into() },
        Member { id: Uuid([2; 16]), name: String::new(), incoming: String::new() },
    ];
    assert_eq!(decode(&encode_view(9, 4, &members)), Ok((9, Entry::View { number: 4, members })));
}

#[test]
fn a_name_that_is_too_long_is_cut_short() {
    let member = Member { id: Uuid([1; 16]), name: "n".repeat(70_000), incoming: "here".into() };
    let Ok((9, Entry::View { members, .. })) = decode(&encode_view(9, 4, &[member])) else { panic!("no view") };
    assert_eq!((members[0].name.len(), members[0].incoming.as_str()), (65_535, "here"));
}

#[test]
fn a_cut_comes_back() {
    assert_eq!(decode(&encode_cut(77)), Ok((77, Entry::Cut)));
}

#[test]
fn no_part_of_an_entry_passes_for_one() {
    let bytes = encoded();
    for length in 0..bytes.len() {
        assert!(decode(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(decode(&longer).is_err());
}

#[test]
fn a_newer_format_is_told() {
    let mut bytes = encode_cut(1);
    bytes[1] = FORMAT + 1;
    assert_eq!(decode(&bytes), Err(Error::Newer(FORMAT + 1)));
}

#[test]
fn damaged_bytes_are_refused_or_an_entry_and_nothing_else() {
    let members = vec![Member { id: Uuid([1; 16]), name: "eins".into(), incoming: "127.0.0.1:3306".into() }];
    let mut state = 1u64;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    for _ in 0..100_000 {
        let mut bytes = [encoded(), encode_view(9, 4, &members), encode_cut(77)][below(3)].clone();
        for _ in 0..=below(4) {
            let place = below(bytes.len());
            bytes[place] = [0, 1, 0x7f, 0x80, 0xff, below(256) as u8][below(6)];
        }
        if below(4) == 0 {
            bytes.truncate(below(bytes.len()));
        }
        if let Ok((seqno, Entry::View { number, members })) = decode(&bytes) {
            assert_eq!(decode(&encode_view(seqno, number, &members)), Ok((seqno, Entry::View { number, members })));
        }
    }
}
