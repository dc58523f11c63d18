//! GTIDs and their sets, as text and as bytes of a server.

use super::*;
use crate::binlog::EventKind;

const A: &str = "63190aae-e77e-11f1-be67-02fc00000001";
const B: &str = "00000000-0000-0000-0000-000000000001";

/// `A` and `B` stand for UUIDs.
fn full(text: &str) -> String {
    text.replace('A', A).replace('B', B)
}

fn set(text: &str) -> GtidSet {
    full(text).parse().unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn sets_have_one_text() {
    for (text, expected) in [
        ("A:1-5", "A:1-5"),
        ("A:1-5:6-7", "A:1-7"),
        ("A:6-7:1-4", "A:1-4:6-7"),
        ("A:1-10:3-4:2-20", "A:1-20"),
        ("A:7,B:1,A:6", "B:1,A:6-7"),
        ("A:1-3:tag:5:2-3:other:1", "A:1-3:other:1:tag:2-3:5"),
        ("A:Tag:1", "A:tag:1"),
        (" A:1-2 ,\n B:3 ", "B:3,A:1-2"),
        ("", ""),
    ] {
        assert_eq!(set(text).to_string(), full(expected), "{text}");
    }
    assert!(A.replace('-', "").parse::<GtidSet>().unwrap_err().contains("UUID:NUMBERS"));
    for text in
        ["A", "A:", "A:0", "A:5-4", "A:1-x", "A:tag", "x:1", "A:1:tag", "0-1-100", "A:+1", "A:9223372036854775807"]
    {
        assert!(full(text).parse::<GtidSet>().is_err(), "{text}");
    }
}

#[test]
fn members_of_sets() {
    let mut all = set("A:1-3:7");
    for (gtid, expected) in [("A:4", "A:1-4:7"), ("A:6", "A:1-4:6-7"), ("A:5", "A:1-7"), ("A:t:1", "A:1-7:t:1")] {
        let gtid: MySqlGtid = full(gtid).parse().unwrap();
        assert!(!all.has(&gtid), "{gtid}");
        all.add(&gtid);
        assert!(all.has(&gtid), "{gtid}");
        assert_eq!(all.to_string(), full(expected));
    }
    for (one, other, expected) in [
        ("A:1-10", "A:2-3:5", true),
        ("A:1-10", "A:5-11", false),
        ("A:1-4:6-10", "A:4-6", false),
        ("A:1-4", "", true),
        ("", "A:1", false),
        ("A:1-4", "A:t:1", false),
        ("A:1-4,B:1", "B:1", true),
    ] {
        assert_eq!(set(one).contains(&set(other)), expected, "{one} {other}");
    }
}

#[test]
fn differences_of_sets() {
    for (one, other, expected) in [
        ("A:1-10", "A:3-4:7", "A:1-2:5-6:8-10"),
        ("A:1-10", "A:1-3:9-20", "A:4-8"),
        ("A:5", "A:1-10", ""),
        ("A:5-6:8-9", "A:6-8", "A:5:9"),
        ("A:1-3:t:1-3,B:7", "A:t:2", "A:1-3:t:1:3,B:7"),
        ("A:1-3", "", "A:1-3"),
        ("", "A:1-3", ""),
    ] {
        assert_eq!(set(one).without(&set(other)), set(expected), "{one} {other}");
    }
    assert_eq!(set("A:1-3:t:4,B:7").of_servers_in(&set("A:x:9")), set("A:1-3:t:4"));
}

/// As MySQL 9.7.4 writes PREVIOUS_GTIDS with and without tags; the same form is that of a request.
#[test]
fn sets_as_bytes() {
    let tagged = "01030000000000016319 0aaee77e11f1be6702fc00000001 00 0100000000000000 0100000000000000 2a00000000000000\
                  63190aaee77e11f1be6702fc00000001 0262 0100000000000000 0100000000000000 0200000000000000\
                  63190aaee77e11f1be6702fc00000001 0874616778 0100000000000000 0100000000000000 0200000000000000";
    let plain = "0100000000000000 63190aaee77e11f1be6702fc00000001 0200000000000000 0100000000000000 0500000000000000\
                 0700000000000000 0800000000000000";
    for (hex, text) in [(tagged, "A:1-41:b:1:tagx:1"), (plain, "A:1-4:7"), ("0000000000000000", "")] {
        let bytes = bytes(&hex.replace(' ', ""));
        assert_eq!(GtidSet::read(&bytes).unwrap(), set(text));
        assert_eq!(set(text).to_bytes(), bytes, "{text}");
        if !text.is_empty() {
            assert!(GtidSet::read(&bytes[..bytes.len() - 1]).is_err());
        }
    }
    assert!(GtidSet::read(&[2, 1, 0, 0, 0, 0, 0, 2]).unwrap_err().contains("unknown form 2"));
}

#[test]
fn events_with_gtids() {
    let tagged = "026e00000002c63214b9029d03fc22c503f902ce04f10300000002040406087461677808a00aa40c7facf19dc5f760061061041283\
                  120b44bcd9bc";
    let read = |kind, hex: &str| {
        let hex: String = hex.split_whitespace().collect();
        MySqlGtid::read(kind, &bytes(&hex))
    };
    let found = read(EventKind::TAGGED_GTID, tagged).unwrap().unwrap();
    assert_eq!(found.to_string(), full("A:tagx:1"));
    assert!(read(EventKind::TAGGED_GTID, "04").unwrap_err().contains("unknown version 2"));
    assert!(read(EventKind::TAGGED_GTID, &tagged[..40]).is_err(), "one that is cut off");
    let plain = "0063190aaee77e11f1be6702fc000000012901000000000000022800";
    let found = read(EventKind::MYSQL_GTID, plain).unwrap().unwrap();
    assert_eq!(found.to_string(), full("A:297"));
    assert_eq!(read(EventKind::ANONYMOUS_GTID, plain).unwrap(), None);
}
