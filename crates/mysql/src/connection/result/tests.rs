//! Answers against the bytes that they are, well-formed and not.

use super::*;
use crate::connection::script::{Script, packets};

const OK: &[u8] = b"\x00\x02\x07\x02\x00\x01\x00";
const OK_MORE: &[u8] = b"\x00\x01\x00\x0a\x00\x00\x00";
/// The end of rows as an OK packet, and as the older EOF packet.
const END: &[u8] = b"\xfe\x00\x00\x02\x00\x03\x00";
const END_MORE: &[u8] = b"\xfe\x00\x00\x0a\x00\x00\x00";
const EOF: &[u8] = b"\xfe\x03\x00\x02\x00";
const ERR: &[u8] = b"\xff\x28\x04#42000You have an error";

fn column(name: &str) -> Vec<u8> {
    let mut packet = b"\x03def\x01s\x01t\x01o".to_vec();
    packet.push(u8::try_from(name.len()).unwrap());
    packet.extend_from_slice(name.as_bytes());
    packet.extend_from_slice(b"\x00\x0c\x2d\x00\x0a\x00\x00\x00\xfd\x01\x00\x1f\x00\x00");
    packet
}

#[derive(Default)]
struct Journal(Vec<String>);

impl RowSink for Journal {
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()> {
        self.0.push(columns.iter().map(|column| String::from_utf8_lossy(&column.name).into_owned()).collect());
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        self.0.push(format!("{values:?}"));
        ControlFlow::Continue(())
    }

    fn end(&mut self) {
        self.0.push("end".to_owned());
    }
}

/// Reads an answer of `bodies`: what came of it, the rows, and what was sent meanwhile.
fn read(bodies: &[&[u8]], deprecate_eof: bool) -> (Result<ExecResult, CommandError>, Vec<String>, Vec<u8>) {
    let mut wire = Wire::new(Script::new(&packets(0, bodies), 3));
    let mut journal = Journal::default();
    let mut answer = ResponseReader {
        wire: &mut wire,
        status: &mut Status::default(),
        changes: &mut SessionChanges::default(),
        deprecate_eof,
    };
    let outcome = answer.read(Some(&mut journal));
    (outcome, journal.0, wire.stream().outgoing.clone())
}

fn protocol_error(bodies: &[&[u8]]) -> String {
    match read(bodies, true).0 {
        Err(CommandError::Protocol(found)) => found,
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_ok_packet() {
    let done = read(&[OK], true).0.unwrap();
    let expected =
        ExecResult { affected_rows: 2, last_insert_id: 7, warnings: 1, status: Status(2), ..ExecResult::default() };
    assert_eq!(done, expected);
}

#[test]
fn an_error_packet() {
    let Err(CommandError::Server(error)) = read(&[ERR], true).0 else { panic!("an error") };
    assert_eq!(error.to_string(), "ERROR 1064 (42000): You have an error");
    let Err(CommandError::Server(error)) = read(&[b"\xff\x10\x04Too many \xff"], true).0 else { panic!("an error") };
    assert_eq!(error.to_string(), "ERROR 1040 (HY000): Too many \u{fffd}");
}

#[test]
fn result_sets_with_and_without_the_older_ends() {
    let (a, b) = (column("a"), column("b"));
    let rows: [&[u8]; 2] = [b"\x011\xfb", b"\x00\x02xy"];
    let expected = ["ab", "[Some([49]), None]", "[Some([]), Some([120, 121])]", "end"];
    let (outcome, seen, _) = read(&[b"\x02", &a, &b, rows[0], rows[1], END], true);
    let done = outcome.unwrap();
    assert_eq!((done.rows, done.warnings, &seen[..]), (2, 3, &expected.map(String::from)[..]));
    let (outcome, seen, _) = read(&[b"\x02", &a, &b, EOF, rows[0], rows[1], EOF], false);
    assert_eq!((outcome.unwrap(), &seen[..]), (done, &expected.map(String::from)[..]));
}

#[test]
fn several_results_end_with_the_last_ones_counts() {
    let a = column("a");
    let (outcome, seen, _) = read(&[OK_MORE, b"\x01", &a, b"\x011", END_MORE, b"\x01", &a, END_MORE, OK], true);
    let done = outcome.unwrap();
    assert_eq!((done.affected_rows, done.rows), (2, 1));
    assert_eq!(seen, ["a", "[Some([49])]", "end", "a", "end"]);
}

#[test]
fn a_value_of_16_mib_begins_like_the_end_of_rows() {
    let length = EOF_LIMIT_BYTES + 1;
    let mut packet = vec![0xfe];
    packet.extend((length as u64).to_le_bytes());
    packet.resize(packet.len() + length, b'v');
    let mut bytes = packets(0, &[b"\x01", &column("a")]);
    let (first, rest) = packet.split_at(0xff_ffff);
    bytes.extend(packets(2, &[first, rest, END]));
    let mut wire = Wire::new(Script::new(&bytes, usize::MAX));
    let mut answer = ResponseReader {
        wire: &mut wire,
        status: &mut Status::default(),
        changes: &mut SessionChanges::default(),
        deprecate_eof: true,
    };
    assert_eq!(answer.read(None).unwrap().rows, 1);
}

#[test]
fn an_error_amid_rows_ends_the_answer() {
    let (outcome, seen, _) = read(&[b"\x01", &column("a"), b"\x011", ERR], true);
    assert!(matches!(outcome, Err(CommandError::Server(error)) if error.code == 1064));
    assert_eq!(seen, ["a", "[Some([49])]"]);
}

#[test]
fn a_file_is_refused_with_an_empty_packet() {
    let name: &[u8] = b"\xfb/etc/shadow";
    // The server's turn again has a number of its own.
    let mut bytes = packets(0, &[name]);
    bytes.extend(packets(2, &[OK]));
    let mut wire = Wire::new(Script::new(&bytes, 5));
    let mut answer = ResponseReader {
        wire: &mut wire,
        status: &mut Status::default(),
        changes: &mut SessionChanges::default(),
        deprecate_eof: true,
    };
    let outcome = answer.read(None);
    assert!(matches!(&outcome, Err(CommandError::LocalFile(name)) if name == "/etc/shadow"), "{outcome:?}");
    assert_eq!(wire.stream().outgoing, [0, 0, 0, 1]);
}

#[test]
fn broken_answers_are_named() {
    let a = column("a");
    for (bodies, words) in [
        (&[&b"\x00\x01"[..]][..], "an OK packet ends in the middle"),
        (&[b"\x01", b"\x03def"], "a column's definition ends in the middle"),
        (&[b"\x01", &a, b"\x05abc"], "a row ends in the middle"),
        (&[b"\x01", &a, b"\x01a\x01b"], "more than its 1 columns"),
        (&[b"\xfd\xff\xff\xff"], "16777215 columns"),
        (&[b""], "header ends in the middle"),
        (&[b"\xff\x01"], "an error packet ends in the middle"),
    ] {
        let found = protocol_error(bodies);
        assert!(found.contains(words), "{found}");
    }
}

#[test]
fn an_answer_cut_anywhere_is_a_lost_connection() {
    let whole = packets(0, &[b"\x01", &column("a"), b"\x011", END]);
    for length in 0..whole.len() {
        let mut wire = Wire::new(Script::new(&whole[..length], 4));
        let mut answer = ResponseReader {
            wire: &mut wire,
            status: &mut Status::default(),
            changes: &mut SessionChanges::default(),
            deprecate_eof: true,
        };
        assert!(matches!(answer.read(None), Err(CommandError::Io(_))), "{length}");
    }
}

#[test]
fn a_preparations_answer() {
    let prepared: &[u8] = b"\x00\x09\x00\x00\x00\x01\x00\x02\x00\x00\x00\x00";
    let a = column("a");
    for (deprecate_eof, bodies) in [(true, &[prepared, &a, &a, &a][..]), (false, &[prepared, &a, &a, EOF, &a, EOF])] {
        let mut wire = Wire::new(Script::new(&packets(0, bodies), 3));
        let mut answer = ResponseReader {
            wire: &mut wire,
            status: &mut Status::default(),
            changes: &mut SessionChanges::default(),
            deprecate_eof,
        };
        assert_eq!(answer.read_prepared().unwrap(), Prepared { id: 9, parameters: 2 });
        assert!(matches!(wire.receive(), Err(CommandError::Io(_))), "all of it was read");
    }
}
