//! Session states as servers send them.

use super::*;
use crate::connection::answer::{Done, Status};
use crate::connection::result::read_ok;

/// The changes in an OK packet with the session state `tail` behind its info string.
fn changes(tail: &[u8]) -> Result<SessionChanges, Failure> {
    let mut changes = SessionChanges::default();
    let packet = [b"\x00\x00\x00\x02\x40\x00\x00\x02ok", tail].concat();
    let (mut done, mut status) = (Done::default(), Status::default());
    read_ok(&packet, &mut done, &mut status, &mut changes)?;
    assert_eq!((done.info.as_slice(), done.status), (&b"ok"[..], status));
    Ok(changes)
}

fn variable(name: &str, value: &str) -> (Vec<u8>, Vec<u8>) {
    (name.into(), value.into())
}

#[test]
fn changes_of_every_kind() {
    let tail = b"\x26\x00\x0e\x09sql_notes\x03OFF\x07\x03\x02xy\x01\x03\x02tu\x02\x011\x00\x07\x01a\x01b\x01c\x00";
    let found = changes(tail).unwrap();
    assert_eq!(found.variables, [variable("sql_notes", "OFF"), variable("a", "b"), variable("c", "")]);
    assert_eq!((found.schema.as_deref(), found.is_changed), (Some(&b"tu"[..]), true));
    assert_eq!(found.variable(b"a"), Some(&b"b"[..]));
    assert_eq!(found.variable(b"b"), None);
    assert!(changes(b"\x03\x02\x010").unwrap().is_empty());
    assert_eq!(changes(b"\x03\x01\x01\x00").unwrap().schema, Some(Vec::new()));
}

#[test]
fn nothing_is_there_without_the_capability() {
    assert!(changes(b"").unwrap().is_empty());
}

#[test]
fn a_length_of_wide_characters() {
    for zeros in [&b""[..], b"\0", b"\0\0\0"] {
        let found = changes(&[zeros, b"\x05\x01\x03\x02tu"].concat()).unwrap();
        assert_eq!(found.schema.as_deref(), Some(&b"tu"[..]));
    }
    assert!(changes(b"\0").unwrap().is_empty());
}

#[test]
fn the_latest_value_counts() {
    let mut changes = SessionChanges::default();
    for tail in [&b"\x07\x00\x05\x01a\x02on"[..], b"\x06\x00\x04\x01b\x01x", b"\x08\x00\x06\x01a\x03off"] {
        changes.read(&mut Fields::new(tail, "test")).unwrap();
    }
    assert_eq!(changes.variables, [variable("a", "off"), variable("b", "x")]);
}

#[test]
fn more_variables_than_servers_have_are_refused() {
    let mut changes = SessionChanges::default();
    for number in 0..VARIABLE_LIMIT {
        changes.set_variable(number.to_string().as_bytes(), b"").unwrap();
    }
    changes.set_variable(b"0", b"again").unwrap();
    assert!(matches!(changes.set_variable(b"new", b""), Err(Failure::Protocol(_))));
}

#[test]
fn a_state_cut_anywhere_is_refused() {
    let whole = b"\x18\x00\x0e\x09sql_notes\x03OFF\x01\x03\x02tu\x02\x011";
    changes(whole).unwrap();
    for length in 1..whole.len() {
        assert!(matches!(changes(&whole[..length]), Err(Failure::Protocol(_))), "{length}");
        // The total says that the state is whole; its last entry is not.
        let mut cut = whole[..length].to_vec();
        cut[0] = u8::try_from(length - 1).unwrap();
        let _ = changes(&cut);
    }
}
