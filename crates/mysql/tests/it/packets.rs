//! Packets of 16 MiB and more, and larger than the server accepts.

use hortator_mysql::{Connection, Error};

use crate::server::{MAX_ALLOWED_PACKET_BYTES, Server, one_value};

const CHUNK_BYTES: usize = 0xff_ffff;

/// A statement of exactly `length` bytes that returns the length of its literal, and that length.
fn statement(length: usize) -> (Vec<u8>, usize) {
    let (head, tail) = (b"select length('", b"')");
    let literal = length - head.len() - tail.len();
    ([head, &vec![b'x'; literal][..], tail].concat(), literal)
}

#[test]
fn statements_on_both_sides_of_a_chunks_end() {
    let (_server, mut connection) = Server::shared().connection("chunks");
    // The command's byte is part of the packet.
    for length in [CHUNK_BYTES - 2, CHUNK_BYTES - 1, CHUNK_BYTES, 2 * CHUNK_BYTES - 1, 2 * CHUNK_BYTES, 40_000_000] {
        let (sql, literal) = statement(length);
        assert_eq!(one_value(&mut connection, &sql), literal.to_string());
    }
}

#[test]
fn values_on_both_sides_of_a_chunks_end() {
    let (_server, mut connection) = Server::shared().connection("values");
    // A row's packet holds the value's length in four bytes before it, from 16 MiB on in nine.
    for length in [CHUNK_BYTES - 5, CHUNK_BYTES - 4, CHUNK_BYTES - 3, CHUNK_BYTES, CHUNK_BYTES + 1, 40_000_000] {
        let rows = connection.fetch(format!("select repeat('y', {length}), 'end'").as_bytes()).unwrap();
        let [Some(long), Some(end)] = &rows[0][..] else { panic!("two values") };
        assert_eq!((long.len(), &end[..]), (length, &b"end"[..]));
        assert!(long.iter().all(|byte| *byte == b'y'));
    }
    connection.ping().unwrap();
}

#[test]
fn a_packet_too_big_for_the_server_is_named_as_such() {
    let server = Server::shared();
    server.execute("create or replace user big@'%' identified by 'x'");
    for options in [server.options(), server.tcp_options("big", "x")] {
        for excess in [1, 100_000_000] {
            let mut connection = Connection::open(&options).unwrap();
            let (sql, _) = statement(MAX_ALLOWED_PACKET_BYTES + excess);
            let error = connection.execute(&sql).unwrap_err();
            assert_eq!(error.code(), Some(1153), "{error}");
            assert!(error.to_string().contains("max_allowed_packet"), "{error}");
            // The server may or may not close the connection.
            match connection.ping() {
                Ok(()) => {}
                Err(error) => assert!(matches!(error, Error::Lost { .. }), "{error}"),
            }
        }
    }
}
