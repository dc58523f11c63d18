//! Packets and their bytes.

use super::*;
use crate::connection::script::{Script, packets};

/// The bytes written for a packet of `head` and `body`.
fn sent(head: &[u8], body: &[u8], portion: usize) -> Vec<u8> {
    let mut wire = Wire::new(Script::new(b"", portion));
    wire.send(head, body).unwrap();
    wire.stream.outgoing
}

fn header(length: usize, sequence: u8) -> Vec<u8> {
    let length = u32::try_from(length).unwrap().to_le_bytes();
    vec![length[0], length[1], length[2], sequence]
}

#[test]
fn short_packets_in_any_portions() {
    for portion in [1, 2, 3, 4, 5, 100] {
        assert_eq!(sent(&[3], b"select 1", portion), packets(0, &[b"\x03select 1"]), "{portion}");
    }
    assert_eq!(sent(&[], &[], 1), [0, 0, 0, 0]);
    assert_eq!(sent(&[14], &[], 1), [1, 0, 0, 0, 14]);
}

#[test]
fn a_full_chunk_is_followed_by_another_even_if_empty() {
    for (body, chunks) in [
        (CHUNK_LIMIT_BYTES - 2, vec![CHUNK_LIMIT_BYTES - 1]),
        (CHUNK_LIMIT_BYTES - 1, vec![CHUNK_LIMIT_BYTES, 0]),
        (CHUNK_LIMIT_BYTES, vec![CHUNK_LIMIT_BYTES, 1]),
        (2 * CHUNK_LIMIT_BYTES - 1, vec![CHUNK_LIMIT_BYTES, CHUNK_LIMIT_BYTES, 0]),
    ] {
        let payload = [&[3][..], &vec![b'x'; body]].concat();
        let mut expected = Vec::new();
        let mut rest = &payload[..];
        for (sequence, length) in chunks.iter().enumerate() {
            expected.extend(header(*length, u8::try_from(sequence).unwrap()));
            expected.extend(&rest[..*length]);
            rest = &rest[*length..];
        }
        assert!(rest.is_empty());
        assert!(sent(&[3], &payload[1..], 1 << 20) == expected, "{body}");
        // And back.
        let mut wire = Wire::new(Script::new(&expected, 1 << 20));
        assert!(wire.receive().unwrap() == payload, "{body}");
    }
}

#[test]
fn packets_are_handed_out_one_by_one_whatever_the_portions() {
    let long = vec![b'l'; 3 * BUFFER_BYTES];
    let bodies: [&[u8]; 5] = [b"one", b"", &long, b"four", &long[..BUFFER_BYTES - 4]];
    for portion in [1, 7, 1000, usize::MAX] {
        let mut wire = Wire::new(Script::new(&packets(0, &bodies), portion));
        for body in bodies {
            assert!(wire.receive().unwrap() == body);
        }
        let end = wire.receive().err();
        assert!(
            matches!(&end, Some(CommandError::Io(error)) if error.kind() == io::ErrorKind::UnexpectedEof),
            "{end:?}"
        );
    }
}

#[test]
fn a_packet_has_arrived_with_its_last_byte() {
    let sent = packets(0, &[b"one", b"", b"three"]);
    for portion in 1..sent.len() {
        let mut wire = Wire::new(Script::new(&sent, portion));
        let mut left = sent.len();
        assert!(!wire.has_packet(), "nothing is read");
        for body in [&b"one"[..], b"", b"three"] {
            if wire.has_packet() {
                let (read, next) = (wire.end - wire.start, HEADER_BYTES + body.len());
                assert!(read >= next, "{portion}: {read} bytes of {next} have arrived");
            }
            assert_eq!(wire.receive().unwrap(), body);
            left -= HEADER_BYTES + body.len();
        }
        assert_eq!((left, wire.has_packet()), (0, false), "{portion}");
    }
    let mut wire = Wire::new(Script::new(&sent, usize::MAX));
    wire.receive().unwrap();
    assert!(wire.has_packet(), "all are read at once");
    let mut wire = Wire::new(Script::new(&sent, HEADER_BYTES + 3 + HEADER_BYTES - 1));
    wire.receive().unwrap();
    assert!(!wire.has_packet(), "the header lacks a byte");
}

#[test]
fn numbers_go_around_and_a_wrong_one_is_refused() {
    let bodies: Vec<&[u8]> = vec![b"x"; 600];
    let mut wire = Wire::new(Script::new(&packets(0, &bodies), usize::MAX));
    for body in bodies {
        assert_eq!(wire.receive().unwrap(), body);
    }
    for body in [&b"\x00"[..], b""] {
        let mut wire = Wire::new(Script::new(&packets(5, &[body]), 1));
        let failure = wire.receive().unwrap_err();
        assert!(
            matches!(&failure, CommandError::Protocol(found) if found.contains("expected number 0, received 5")),
            "{failure:?}"
        );
    }
}

#[test]
fn the_sequence_number_of_an_error_does_not_matter() {
    let mut wire = Wire::new(Script::new(&packets(9, &[b"\xff\x01\x02bye"]), 1));
    assert_eq!(wire.receive().unwrap(), b"\xff\x01\x02bye");
}

#[test]
fn bytes_before_encryption_are_refused() {
    let mut wire = Wire::new(Script::new(&packets(0, &[b"greeting", b"injected"]), usize::MAX));
    wire.receive().unwrap();
    assert!(matches!(wire.suspend(), Err(CommandError::Protocol(_))));

    let mut wire = Wire::new(Script::new(&packets(0, &[b"greeting"]), usize::MAX));
    wire.receive().unwrap();
    let (stream, sequence) = wire.suspend().unwrap();
    let mut wire = Wire::resume(stream, sequence);
    wire.send(&[], b"x").unwrap();
    assert_eq!(wire.stream.outgoing, [1, 0, 0, 1, b'x']);
}

#[test]
fn a_large_buffer_is_shrunk() {
    let long = vec![b'l'; BUFFER_LIMIT_BYTES + 1];
    let mut wire = Wire::new(Script::new(&packets(0, &[&long, b"x"]), usize::MAX));
    wire.receive().unwrap();
    assert!(wire.buffer.len() > BUFFER_LIMIT_BYTES);
    wire.receive().unwrap();
    wire.begin();
    assert_eq!(wire.buffer.len(), BUFFER_BYTES);
}

#[test]
fn a_stream_that_takes_nothing_more_is_an_error() {
    let mut wire = Wire::new(Script::new(b"", 0));
    assert_eq!(wire.send(&[3], b"x").unwrap_err().kind(), io::ErrorKind::WriteZero);
}
