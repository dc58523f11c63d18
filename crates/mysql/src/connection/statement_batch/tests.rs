//! Answers to several statements against the bytes that they are.

use super::*;
use crate::connection::response::Status;
use crate::connection::script::{Script, packets};
use crate::connection::session_changes::SessionChanges;
use crate::connection::wire::Wire;

const OK: &[u8] = b"\x00\x02\x07\x02\x00\x01\x00";
const OK_MORE: &[u8] = b"\x00\x01\x00\x0b\x00\x00\x00";
const END_MORE: &[u8] = b"\xfe\x00\x00\x0a\x00\x00\x00";
const COLUMN: &[u8] = b"\x03def\x01s\x01t\x01o\x01a\x00\x0c\x2d\x00\x0a\x00\x00\x00\xfd\x01\x00\x1f\x00\x00";
const ERR: &[u8] = b"\xff\x28\x04#42000You have an error";

/// Counts result sets and rows; wants one row of each.
#[derive(Default)]
struct First(Vec<u32>);

impl RowSink for First {
    fn columns(&mut self, _columns: &[Column]) -> ControlFlow<()> {
        self.0.push(0);
        ControlFlow::Continue(())
    }

    fn row(&mut self, _values: &[Option<&[u8]>]) -> ControlFlow<()> {
        *self.0.last_mut().unwrap() += 1;
        ControlFlow::Break(())
    }
}

fn read(bodies: &[&[u8]]) -> (Result<(), CommandError>, Vec<ExecResult>, Vec<u32>) {
    let mut wire = Wire::new(Script::new(&packets(0, bodies), 7));
    let (mut status, mut changes) = (Status::default(), SessionChanges::default());
    let mut answer =
        ResponseReader { wire: &mut wire, status: &mut status, changes: &mut changes, deprecate_eof: true };
    let (mut rows, mut results) = (First::default(), Vec::new());
    let outcome = read_batch(&mut answer, &mut rows, &mut results);
    (outcome, results, rows.0)
}

#[test]
fn each_statement_has_its_own_result() {
    let set: [&[u8]; 5] = [b"\x01", COLUMN, b"\x011", b"\x012", END_MORE];
    let (outcome, results, rows) = read(&[&[OK_MORE][..], &set, &set, &[OK]].concat());
    outcome.unwrap();
    let shown: Vec<_> = results.iter().map(|done| (done.affected_rows, done.rows)).collect();
    assert_eq!((shown, rows), (vec![(1, 0), (0, 2), (0, 2), (2, 0)], vec![1, 1]));
    assert!(results[0].status.in_transaction() && !results[1].status.in_transaction());
}

#[test]
fn results_end_before_the_statement_that_fails() {
    let (outcome, results, _) = read(&[OK_MORE, ERR]);
    assert!(matches!(outcome, Err(CommandError::Server(error)) if error.code == 1064));
    assert_eq!(results.len(), 1);
    // Amid its rows.
    let (outcome, results, _) = read(&[OK_MORE, b"\x01", COLUMN, b"\x011", ERR]);
    assert!(matches!(outcome, Err(CommandError::Server(_))));
    assert_eq!(results.len(), 1);
}

#[test]
fn results_end_before_the_statement_that_wants_a_file() {
    let mut bytes = packets(0, &[OK_MORE, b"\xfb/etc/shadow"]);
    bytes.extend(packets(3, &[OK_MORE, OK]));
    let mut wire = Wire::new(Script::new(&bytes, 5));
    let (mut status, mut changes) = (Status::default(), SessionChanges::default());
    let mut answer =
        ResponseReader { wire: &mut wire, status: &mut status, changes: &mut changes, deprecate_eof: true };
    let mut results = Vec::new();
    let outcome = read_batch(&mut answer, &mut First::default(), &mut results);
    assert!(matches!(outcome, Err(CommandError::LocalFile(name)) if name == "/etc/shadow"));
    assert_eq!(results.len(), 1);
    assert!(matches!(wire.receive(), Err(CommandError::Io(_))), "all of it was read");
}
