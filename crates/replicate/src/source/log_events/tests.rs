//! Files that MySQL 9.7.4 wrote, as transactions for MariaDB. What is expected of JSON is what that server printed.

use super::*;
use crate::binlog::{GtidSet, GtidState};
use crate::transaction::{Assembler, End, Transaction};

/// The transactions of a file, and the GTIDs before it.
fn transactions(bytes: &[u8]) -> (Vec<Transaction>, GtidSet) {
    let begin = LogPosition { file: b"binlog.000004".to_vec(), position: 4 };
    let (mut events, mut assembler) = (LogEvents::default(), Assembler::new(begin));
    let (mut found, mut before) = (Vec::new(), GtidSet::default());
    let mut rest = &bytes[4..];
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[9..13].try_into().unwrap()) as usize;
        let (one, behind) = rest.split_at(length);
        rest = behind;
        let event = events.read(one.to_vec(), assembler.position()).unwrap();
        if let Content::PreviousGtids(set) = &event.content {
            before = set.clone();
        }
        found.extend(assembler.take(event).unwrap());
        while let Some(event) = events.next_within(assembler.position()).unwrap() {
            found.extend(assembler.take(event).unwrap());
        }
    }
    assert!(!assembler.is_within());
    (found, before)
}

fn has(transaction: &Transaction, text: &str) -> bool {
    transaction.events.iter().any(|event| event.bytes.windows(text.len()).any(|window| window == text.as_bytes()))
}

#[test]
fn a_file_with_all_that_is_mysqls() {
    let (all, before) = transactions(include_bytes!("../../../testdata/mysql/binlog.000004"));
    let uuid = "63190aae-e77e-11f1-be67-02fc00000001";
    let mut state = GtidState::MySql(before);
    let kinds = |one: &Transaction| {
        let kinds: Vec<String> = one.events.iter().map(|event| event.header.kind.to_string()).collect();
        kinds.join(" ")
    };
    let found: Vec<String> = all
        .iter()
        .map(|one| {
            one.advance(&mut state);
            let gtid = one.mysql_gtid.as_ref().unwrap().to_string().replace(uuid, "");
            format!("{gtid} {:?} {}", one.end, kinds(one))
        })
        .collect();
    assert_eq!(
        found,
        [
            ":69 ByItself Query",
            ":70 ByItself Query",
            ":71 Commit Table_map Write_rows",
            ":72 Commit Table_map Write_rows",
            ":tagged:1 Commit Table_map Write_rows",
            ":73 Commit Table_map Write_rows Table_map Update_rows",
            ":74 Commit Table_map Update_rows",
            ":75 Commit Table_map Delete_rows",
            ":76 Commit Query Table_map Write_rows",
        ]
    );
    assert_eq!(state.to_string(), format!("{uuid}:1-76:b:1:tagged:1:tagx:1"));
    for (index, text) in [
        (2, r#"{"a": 1, "long": [1, 2.5, "ä\n", null, true, -70000, 5000000000, 1e100, 1242069072117012.5, 1e15]}"#),
        (2, "null"),
        (
            3,
            r#"{"b": "base64:type15:AP8Q", "d": 1.50, "da": "2024-02-29", "dt": "2024-02-29 01:02:03.456789", "ti": "-12:34:56.789000"}"#,
        ),
        (4, "[[], {}]"),
        (5, r#""compressed""#),
        // A partial update, of which the log has the changes only.
        (
            6,
            r#"{"a": "changed", "long": [2.5, "ä\n", null, true, -70000, 5000000000, 1e100, 1242069072117012.5, 1e15]}"#,
        ),
    ] {
        assert!(has(&all[index], text), "{text} in {:?}", String::from_utf8_lossy(&all[index].events[1].bytes));
    }
    let is_safe: Vec<bool> = all.iter().map(Transaction::can_roll_back).collect();
    assert_eq!(is_safe, [false, false, true, true, true, true, true, true, false], "the last one creates a table");
    assert!(all[8].text().starts_with(b"CREATE TABLE `u`") && all[8].text().trim_ascii_end().ends_with(b")"));
    assert_eq!(all[8].end, End::Commit);
    // No event has a checksum any more: the length is that of what it says.
    for event in all.iter().flat_map(|one| &one.events).filter(|event| !matches!(event.content, Content::Query(_))) {
        assert_eq!(event.bytes.len(), event.header.length_bytes as usize, "{}", event.header.kind);
    }
}

#[test]
fn a_payload_that_is_damaged() {
    let bytes = include_bytes!("../../../testdata/mysql/binlog.000004");
    let mut at = 4;
    let mut events = LogEvents::default();
    let place = LogPosition::default();
    loop {
        let length = u32::from_le_bytes(bytes[at + 9..at + 13].try_into().unwrap()) as usize;
        let mut event = bytes[at..at + length].to_vec();
        at += length;
        if event[4] != 40 {
            events.read(event, &place).unwrap();
            continue;
        }
        // In the middle of what is compressed, with a checksum that is right.
        let middle = length / 2;
        event[middle..middle + 8].fill(0xff);
        let end = length - 4;
        let checksum = crc32fast::hash(&event[..end]);
        event[end..].copy_from_slice(&checksum.to_le_bytes());
        let mut read = events.read(event, &place).map(|_| ());
        while read.is_ok() {
            match events.next_within(&place) {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it is taken for whole"),
                Err(error) => read = Err(error),
            }
        }
        let error = read.unwrap_err().to_string();
        assert!(error.contains("Transaction_payload") && error.contains("compressed"), "{error}");
        return;
    }
}
