//! Binary logs, as `mariadb-binlog` prints them: many small transactions, as statements or as row events.
//!
//! The layout of events: <https://mariadb.com/kb/en/2-binlog-event-header/> and the pages of the single events.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::Error;

use super::super::experiment::SCHEMA;
use super::super::script::Script;

/// Rows that are there before the log.
const ROWS: u64 = 1_000;
const TRANSACTIONS: u64 = 3_000;
/// A time for all of it, in seconds.
const TIMESTAMP: u32 = 1_700_000_000;

const TABLE: &str =
    "CREATE TABLE `counters` (`id` int NOT NULL AUTO_INCREMENT PRIMARY KEY, `n` int NOT NULL) ENGINE=InnoDB";

const HEAD: &str = "\
    /*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n\
    DELIMITER /*!*/;\n";
const END: &str = "\
    DELIMITER ;\n\
    /*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n";

/// Each transaction has an UPDATE, an INSERT and a DELETE, by key.
pub(in super::super) fn statements(script: &mut Script) -> Result<(), Error> {
    log(script, |script, number| {
        let (changed, gone) = (1 + script.random.below(ROWS), 1 + script.random.below(ROWS));
        let id = ROWS + number;
        Ok(format!(
            "SET TIMESTAMP={TIMESTAMP}/*!*/;\nUPDATE `counters` SET `n` = `n` + 1 WHERE `id` = {changed}\n/*!*/;\n\
             SET INSERT_ID={id}/*!*/;\nSET TIMESTAMP={TIMESTAMP}/*!*/;\n\
             INSERT INTO `counters` (`n`) VALUES ({number})\n/*!*/;\n\
             SET TIMESTAMP={TIMESTAMP}/*!*/;\nDELETE FROM `counters` WHERE `id` = {gone}\n/*!*/;\n"
        ))
    })
}

/// Each transaction has row events of two UPDATEs and of an INSERT.
pub(in super::super) fn row_events(script: &mut Script) -> Result<(), Error> {
    // What each row holds now: an event tells what was there before.
    let mut values = vec![0_u32; usize::try_from(ROWS).unwrap_or_default()];
    log(script, |script, number| {
        let mut text = String::new();
        if number == 1 {
            text += &binlog(&[format_description()]);
        }
        for _ in 0..2 {
            let at = script.random.below(ROWS);
            let value = &mut values[usize::try_from(at).unwrap_or_default()];
            let id = narrow(1 + at);
            text += &binlog(&[table_map(), rows(UPDATE_ROWS, &[[id, *value], [id, *value + 1]])]);
            *value += 1;
        }
        text += &binlog(&[table_map(), rows(WRITE_ROWS, &[[narrow(ROWS + number), narrow(number)]])]);
        Ok(text)
    })
}

/// The table with its first rows, and then transactions of what `write` gives for the numbers from 1.
fn log(script: &mut Script, mut write: impl FnMut(&mut Script, u64) -> Result<String, Error>) -> Result<(), Error> {
    script.statement(TABLE)?;
    let first: Vec<_> = (1..=ROWS).map(|id| format!("({id},0)")).collect();
    script.statement(format!("INSERT INTO `counters` VALUES {}", first.join(",")))?;
    script.lines(HEAD)?;
    for number in 1..=script.count(TRANSACTIONS) {
        let content = write(script, number)?;
        script.lines(&format!(
            "/*M!100001 SET @@session.gtid_seq_no={number}*//*!*/;\nSTART TRANSACTION\n/*!*/;\n{content}COMMIT/*!*/;\n"
        ))?;
    }
    script.lines(END)
}

/// Types of events.
const FORMAT_DESCRIPTION: u8 = 15;
const TABLE_MAP: u8 = 19;
const WRITE_ROWS: u8 = 23;
const UPDATE_ROWS: u8 = 24;
/// The length in bytes of what stands between the common header and the body, by the type of the event.
const POST_HEADERS: [(usize, u8); 5] = [(15, 228), (19, 8), (23, 8), (24, 8), (25, 8)];
const TYPES: usize = 171;
const HEADER_BYTES: u8 = 19;
/// The flag of the last rows of a statement.
const STATEMENT_ENDS: u16 = 1;
const INT: u8 = 3;
const TABLE_ID: [u8; 6] = [18, 0, 0, 0, 0, 0];

fn binlog(events: &[Vec<u8>]) -> String {
    let lines: Vec<_> = events.iter().map(|event| STANDARD.encode(event)).collect();
    format!("BINLOG '\n{}\n'/*!*/;\n", lines.join("\n"))
}

fn event(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::from(HEADER_BYTES) + u32::try_from(body.len()).unwrap_or_default();
    let mut event = TIMESTAMP.to_le_bytes().to_vec();
    event.push(kind);
    event.extend(1_u32.to_le_bytes());
    event.extend(length.to_le_bytes());
    // Its end in the log and its flags.
    event.extend([0; 6]);
    event.extend_from_slice(body);
    event
}

/// Of a log without checksums.
fn format_description() -> Vec<u8> {
    let mut version = b"10.11.0-MariaDB-log".to_vec();
    version.resize(50, 0);
    let mut lengths = [0; TYPES];
    for (kind, length) in POST_HEADERS {
        lengths[kind - 1] = length;
    }
    let body = [&[4, 0][..], &version, &[0; 4], &[HEADER_BYTES], &lengths, &[0; 5]].concat();
    event(FORMAT_DESCRIPTION, &body)
}

/// Of two columns, both INT NOT NULL.
fn table_map() -> Vec<u8> {
    let name = |name: &str| [&[u8::try_from(name.len()).unwrap_or_default()], name.as_bytes(), &[0]].concat();
    let columns = [2, INT, INT, 0, 0];
    event(TABLE_MAP, &[&TABLE_ID[..], &[1, 0], &name(SCHEMA), &name("counters"), &columns].concat())
}

/// Rows of both columns; for an update each before it and after it.
fn rows(kind: u8, rows: &[[u32; 2]]) -> Vec<u8> {
    let mut body = [&TABLE_ID[..], &STATEMENT_ENDS.to_le_bytes(), &[2]].concat();
    let bitmaps = if kind == UPDATE_ROWS { 2 } else { 1 };
    body.resize(body.len() + bitmaps, 3);
    for [id, n] in rows {
        // No column is NULL.
        body.push(0xfc);
        body.extend(id.to_le_bytes());
        body.extend(n.to_le_bytes());
    }
    event(kind, &body)
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or_default()
}
