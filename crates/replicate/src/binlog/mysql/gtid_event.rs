//! A transaction's id in MySQL, and the events that hold it.

use std::fmt;
use std::str::FromStr;

use super::gtid_set::{ServerTag, tag_from, uuid_from, uuid_text};
use crate::binlog::event_kind::EventKind;
use crate::binlog::fields::{Fields, Found};

/// One transaction, written `UUID:100` or `UUID:tag:100`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MySqlGtid {
    /// The server on which it was first made, and its tag.
    pub server: ServerTag,
    /// It grows from 1 on.
    pub number: u64,
}

impl MySqlGtid {
    /// Reads the event's bytes between header and checksum; `None` for a transaction without an id.
    pub(in crate::binlog) fn read(kind: EventKind, body: &[u8]) -> Result<Option<MySqlGtid>, Found> {
        let mut fields = Fields(body);
        match kind {
            EventKind::ANONYMOUS_GTID => Ok(None),
            EventKind::TAGGED_GTID => read_tagged(&mut fields).map(Some),
            _ => {
                fields.u8("the flags")?;
                let uuid = fields.bytes(16, "the server's UUID")?.try_into().expect("16 bytes were asked for");
                let number = fields.u64("the number")?;
                Ok(Some(MySqlGtid { server: ServerTag { uuid, tag: String::new() }, number }))
            }
        }
    }
}

/// Numbers of the fields of an event with a tag, in their order.
const UUID_FIELD: u64 = 1;
const NUMBER_FIELD: u64 = 2;
const TAG_FIELD: u64 = 3;
/// The one version of this form.
const VERSION: u64 = 1;

/// All numbers in it have a variable length: as many set bits as the first byte ends with, as many bytes follow.
fn read_tagged(fields: &mut Fields<'_>) -> Result<MySqlGtid, Found> {
    match fields.variable("the version")? {
        VERSION => {}
        other => return Err(format!("its form has the unknown version {other}")),
    }
    fields.variable("the length")?;
    fields.variable("the last field that must be known")?;
    let mut uuid = None;
    let mut number = None;
    // The first field are the flags; those behind the tag are about the time and the order.
    while uuid.is_none() || number.is_none() || !fields.0.is_empty() {
        match fields.variable("a field's number")? {
            0 => drop(fields.variable("the flags")?),
            UUID_FIELD => {
                let mut bytes = [0u8; 16];
                for byte in &mut bytes {
                    let value = fields.variable("the server's UUID")?;
                    *byte = u8::try_from(value).map_err(|_| format!("a UUID with a byte of {value}"))?;
                }
                uuid = Some(bytes);
            }
            // Its lowest bit is the sign.
            NUMBER_FIELD => number = Some(fields.variable("the number")? >> 1),
            TAG_FIELD => {
                let length = usize::try_from(fields.variable("the length of the tag")?).unwrap_or(usize::MAX);
                let tag = String::from_utf8_lossy(fields.bytes(length, "the tag")?).into_owned();
                let (Some(uuid), Some(number)) = (uuid, number) else { break };
                return Ok(MySqlGtid { server: ServerTag { uuid, tag }, number });
            }
            other => return Err(format!("the unknown field {other} stands before its tag")),
        }
    }
    Err("it has no tag".to_owned())
}

impl Fields<'_> {
    /// A number of one to nine bytes.
    fn variable(&mut self, what: &str) -> Result<u64, Found> {
        let first = self.u8(what)?;
        let more = first.trailing_ones() as usize;
        let rest = self.bytes(more, what)?;
        let high = rest.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        // Of eight and nine bytes, none of the first one's bits are left.
        let low_bits = 7usize.saturating_sub(more);
        let low = if low_bits == 0 { 0 } else { u64::from(first >> (more + 1)) };
        Ok(high << low_bits | low)
    }
}

impl fmt::Display for MySqlGtid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&uuid_text(&self.server.uuid))?;
        if !self.server.tag.is_empty() {
            write!(f, ":{}", self.server.tag)?;
        }
        write!(f, ":{}", self.number)
    }
}

impl FromStr for MySqlGtid {
    type Err = String;

    fn from_str(text: &str) -> Result<MySqlGtid, String> {
        let parts: Vec<&str> = text.trim().split(':').collect();
        let (uuid, tag, number) = match parts[..] {
            [uuid, number] => (uuid_from(uuid), Some(String::new()), number),
            [uuid, tag, number] => (uuid_from(uuid), tag_from(tag), number),
            _ => (None, None, ""),
        };
        let number = number.parse().ok().filter(|number| *number > 0);
        match (uuid, tag, number) {
            (Some(uuid), Some(tag), Some(number)) => Ok(MySqlGtid { server: ServerTag { uuid, tag }, number }),
            _ => Err(format!("`{text}` is no GTID of MySQL: these have the form UUID:NUMBER or UUID:TAG:NUMBER")),
        }
    }
}
