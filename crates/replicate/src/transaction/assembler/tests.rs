//! Sequences of events, written as words, and the transactions that they are.

use super::*;
use crate::binlog::{EventKind, Gtid, QueryEvent, RowsEvent, RowsForm};

/// An event of its word: `gtid` and `alone` are MariaDB's, `mysql` is MySQL's; anything else is a statement.
fn event(word: &str, end_position: u32) -> Event {
    let gtid = |flags| {
        let body = [&7u64.to_le_bytes()[..], &0u32.to_le_bytes(), &[flags, 0, 0, 0, 0, 0, 0]].concat();
        Content::Gtid(GtidEvent::read(1, &body).unwrap())
    };
    let (kind, content) = match word {
        "gtid" => (EventKind::GTID, gtid(4)),
        "alone" => (EventKind::GTID, gtid(1)),
        "xa" => (EventKind::GTID, gtid(0x40)),
        "mysql" => (EventKind::MYSQL_GTID, Content::MySqlGtid(None)),
        "value" => (EventKind::INTVAR, Content::IntVar { kind: 2, value: 5 }),
        "rows" => (EventKind::WRITE_ROWS_V1, Content::Rows(rows())),
        "xid" => (EventKind::XID, Content::Xid(3)),
        "load" => (EventKind::BEGIN_LOAD_QUERY, Content::Other),
        "incident" => (EventKind::INCIDENT_EVENT, Content::Other),
        "heartbeat" => (EventKind::HEARTBEAT, Content::Other),
        "annotate" => (EventKind::ANNOTATE_ROWS, Content::Other),
        text => (EventKind::QUERY, Content::Query(Box::new(query(text)))),
    };
    let header = EventHeader { timestamp_s: 1, kind, server_id: 1, length_bytes: 10, end_position, flags: 0 };
    Event { header, content, bytes: Vec::new() }
}

fn query(text: &str) -> QueryEvent {
    QueryEvent::of_text(&text.replace('_', " "))
}

fn rows() -> RowsEvent {
    RowsEvent::empty(RowsForm::Write)
}

/// Each transaction as the number of its events, how it ends, and its position; then what stops the source, or what is open.
fn check(words: &str, expected: &str) {
    let mut assembler = Assembler::new(LogPosition { file: b"f".to_vec(), position: 0 });
    let mut found = Vec::new();
    for (index, word) in words.split_whitespace().enumerate() {
        let end = u32::try_from(10 * (index + 1)).unwrap();
        match assembler.take(event(word, end)) {
            Ok(None) => {}
            Ok(Some(one)) => {
                let gtid = if one.gtid.is_some() { "gtid " } else { "" };
                found.push(format!("{gtid}{} {:?} {}", one.events.len(), one.end, one.position.position));
            }
            Err(Error::Refused { reason, end_position, .. }) => {
                found.push(format!("{end_position}: {reason}"));
                break;
            }
        }
    }
    if assembler.is_within() {
        found.push("open".to_owned());
    }
    let text = found.join("; ");
    assert!(text.starts_with(expected) && (text == expected || expected.contains(": ")), "{words}: {text}");
}

#[test]
fn transactions() {
    check("gtid rows rows xid", "gtid 2 Commit 40");
    check("gtid annotate rows heartbeat rows COMMIT alone CREATE_TABLE_t", "gtid 2 Commit 60; gtid 1 ByItself 80");
    check("gtid value INSERT_1 rows ROLLBACK", "gtid 3 Rollback 50");
    check("alone value INSERT_INTO_myisam gtid rows", "gtid 2 ByItself 30; open");
    check("mysql BEGIN rows xid mysql DROP_TABLE_t", "1 Commit 40; 1 ByItself 60");
    check("BEGIN rows xid CREATE_TABLE_t", "1 Commit 30; 1 ByItself 40");
    check("value INSERT_1", "2 ByItself 20");
    check("gtid xid", "gtid 0 Commit 20");
}

#[test]
fn what_stops_a_source() {
    check("gtid rows xid gtid load", "gtid 1 Commit 30; 50: LOAD DATA in statement format");
    check("xa", "10: XA transactions are not supported");
    check("mysql XA_START_'x'", "20: XA transactions are not supported");
    check("incident", "10: the source has lost events");
    check("rows", "10: rows outside of a transaction");
    check("mysql rows", "20: rows outside of a transaction");
    check("xid", "10: a transaction ends that has not begun");
    check("gtid rows gtid", "30: a transaction begins within another");
    check("gtid rows BEGIN", "30: BEGIN within a transaction");
}

#[test]
fn a_transaction_that_does_not_go_on() {
    let mut assembler = Assembler::new(LogPosition { file: b"f".to_vec(), position: 0 });
    assert_eq!(assembler.abandon(), None);
    for word in ["gtid", "rows"] {
        assert!(assembler.take(event(word, 10)).unwrap().is_none());
    }
    assert_eq!(assembler.abandon(), Some(false));
    for word in ["gtid", "rows"] {
        assert!(assembler.take(event(word, 10)).unwrap().is_none());
    }
    assert!(assembler.take_part(0).is_none(), "of these events, none has any bytes");
    assert!(assembler.take(event("xid", 20)).unwrap().is_some());
    assert_eq!(assembler.abandon(), None);
}

#[test]
fn positions_beyond_four_gigabytes() {
    let mut assembler = Assembler::new(LogPosition { file: b"f".to_vec(), position: (1 << 32) - 100 });
    let one = |assembler: &mut Assembler, end| assembler.take(event("CREATE_TABLE_t", end)).unwrap().unwrap().position;
    assert_eq!(one(&mut assembler, u32::MAX).position, (1 << 32) - 1);
    assert_eq!(one(&mut assembler, 50).position, (1 << 32) + 50);
    // An event that does not know its end.
    assert_eq!(one(&mut assembler, 0).position, (1 << 32) + 60);
    let gtid = Gtid { domain: 0, server_id: 1, seqno: 7 };
    assert_eq!(("0-1-7".parse(), "0-1".parse::<Gtid>().is_err()), (Ok(gtid), true));
}

/// With a start by GTID, the log's end is known by a heartbeat alone.
#[test]
fn a_heartbeat_tells_how_far_the_log_is_read() {
    let mut assembler = Assembler::new(LogPosition { file: b"f".to_vec(), position: 4 });
    let mut at = |word: &str, end_position: u32| {
        assembler.take(event(word, end_position)).unwrap();
        assembler.position().position
    };
    assert_eq!(at("heartbeat", 500), 500);
    assert_eq!(at("heartbeat", 0), 500, "one without a position");
    assert_eq!(at("alone", 540), 540);
    assert_eq!(at("TRUNCATE_t", 600), 600);
}

#[test]
fn places_of_a_log() {
    let at = |file: &str, position| LogPosition { file: file.into(), position };
    for (one, other, expected) in [
        (at("bin.000001", 5), at("bin.000001", 4), true),
        (at("bin.000001", 4), at("bin.000001", 4), false),
        (at("bin.000002", 4), at("bin.000001", 900), true),
        (at("bin.1000000", 4), at("bin.999999", 900), true),
        (at("bin.999999", 900), at("bin.1000000", 4), false),
    ] {
        assert_eq!(one.is_behind(&other), expected, "{one:?}, {other:?}");
    }
}
