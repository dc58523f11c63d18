//! Finds CREATE TABLE in a write set's events.
//!
//! `CREATE TABLE … SELECT` is a transaction of DDL and rows. The storage engine writes the DDL at once, the rows with
//! the next flush; after a kill in between, the table exists, empty, and the transaction does not. A replay would fail
//! at the DDL, and the node with it. A table that a replay creates can only be such a leftover, so the provider makes
//! the replay replace it.
//!
//! Format: events as in a binary log without checksums, each with its type at byte 4 and its length at byte 9; the
//! head, database and text of a query follow (MariaDB documentation, "2-Binlog Event Header" and "QUERY_EVENT").

const HEAD_BYTES: usize = 19;
const QUERY: u8 = 2;
/// Lengths: of the database name in a byte at 8, of the variables in two bytes at 11.
const QUERY_HEAD_BYTES: usize = 13;
/// As the server writes it: it never uses the client's text here.
const CREATE: &[u8] = b"CREATE TABLE `";
const REPLACE: &[u8] = b"OR REPLACE ";

#[cfg(test)]
mod tests;

/// Replaces CREATE TABLE by CREATE OR REPLACE TABLE in the events. Other bytes stay unchanged.
pub fn replacing_tables(mut data: Vec<u8>) -> Vec<u8> {
    let mut at = 0;
    while let Some(event) = data.get(at..).filter(|rest| rest.len() > HEAD_BYTES) {
        let length = u32::from_le_bytes([event[9], event[10], event[11], event[12]]) as usize;
        let Some(event) = event.get(..length).filter(|event| event.len() > HEAD_BYTES) else { break };
        let mut further = length;
        if event[4] == QUERY
            && let Some(query) = query_start(event)
            && event[query..].starts_with(CREATE)
        {
            further += REPLACE.len();
            data[at + 9..at + 13].copy_from_slice(&(further as u32).to_le_bytes());
            let insert_at = at + query + b"CREATE ".len();
            data.splice(insert_at..insert_at, REPLACE.iter().copied());
        }
        at += further;
    }
    data
}

/// The start of the text in a query event.
fn query_start(event: &[u8]) -> Option<usize> {
    let head = event.get(HEAD_BYTES..HEAD_BYTES + QUERY_HEAD_BYTES)?;
    let variables_bytes = usize::from(u16::from_le_bytes([head[11], head[12]]));
    let start = HEAD_BYTES + QUERY_HEAD_BYTES + variables_bytes + usize::from(head[8]) + 1;
    (start <= event.len()).then_some(start)
}
