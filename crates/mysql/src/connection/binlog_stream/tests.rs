//! Requests byte by byte, and what ends a stream.

use super::*;
use crate::connection::script::{Script, packets};

fn request(start: BinlogStart, waits: bool) -> BinlogRequest {
    BinlogRequest { server_id: 0x0102_0304, start, waits, heartbeat_ms: 0 }
}

#[test]
fn a_request_by_position() {
    let start = BinlogStart::Position { file: b"bin.000007".to_vec(), position: 0x1234 };
    let (command, body) = dump_command(&request(start, true));
    assert_eq!(command, COM_BINLOG_DUMP);
    assert_eq!(body, [b"\x34\x12\0\0\0\0\x04\x03\x02\x01".as_slice(), b"bin.000007"].concat());
}

#[test]
fn a_request_by_gtid_that_does_not_wait() {
    let (command, body) = dump_command(&request(BinlogStart::MariaDbGtid("0-1-2".to_owned()), false));
    assert_eq!(command, COM_BINLOG_DUMP);
    assert_eq!(body, b"\x04\0\0\0\x01\0\x04\x03\x02\x01");
}

#[test]
fn a_request_by_mysqls_gtid_set() {
    let (command, body) = dump_command(&request(BinlogStart::MySqlGtid(vec![0; 8]), true));
    assert_eq!(command, COM_BINLOG_DUMP_GTID);
    assert_eq!(body, b"\x04\0\x04\x03\x02\x01\0\0\0\0\x04\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0");
}

#[test]
fn events_and_what_ends_them() {
    let err = b"\xff\xd4\x04#HY000Could not find first log file name in binary log index file";
    let sent = packets(0, &[b"\0event one", b"\0", b"\xfe\0\0\0\0"]);
    let mut wire = Wire::new(Script::new(&sent, 3));
    assert_eq!(receive_event(&mut wire).unwrap().unwrap(), b"event one");
    assert_eq!(receive_event(&mut wire).unwrap().unwrap(), b"");
    assert!(receive_event(&mut wire).unwrap().is_none());
    let mut wire = Wire::new(Script::new(&packets(0, &[err]), 3));
    let Err(CommandError::Server(error)) = receive_event(&mut wire) else { panic!("the source has refused") };
    assert_eq!(error.code, 1236);
    let mut wire = Wire::new(Script::new(&packets(0, &[b"\x03"]), 3));
    assert!(matches!(receive_event(&mut wire), Err(CommandError::Protocol(_))));
}
