//! Sets of MySQL's transactions, as in `@@gtid_executed`: `UUID:1-100:200-300:tag:1-5,UUID:…`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use super::gtid_event::MySqlGtid;
use crate::binlog::fields::{Fields, Found};

/// A server's UUID and a tag: transactions of one pair are numbered from 1 on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerTag {
    /// The UUID of the server on which they were first made.
    pub uuid: [u8; 16],
    /// Empty where they have none.
    pub tag: String,
}

/// Numbers from the first to the second, both in it.
type Interval = (u64, u64);

/// The largest number of a transaction.
const NUMBER_LIMIT: u64 = i64::MAX as u64;
/// The longest tag.
const TAG_LIMIT_BYTES: usize = 32;
/// In the binary form: that tags are in it.
const TAGGED: u8 = 1;

/// A set of transactions. Its intervals are in order, and do not touch each other: equal sets have equal texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GtidSet(BTreeMap<ServerTag, Vec<Interval>>);

impl GtidSet {
    /// A transaction is in it now.
    pub fn add(&mut self, gtid: &MySqlGtid) {
        self.add_interval(&gtid.server, (gtid.number, gtid.number));
    }

    fn add_interval(&mut self, server: &ServerTag, (mut first, mut last): Interval) {
        let Some(intervals) = self.0.get_mut(server) else {
            self.0.insert(server.clone(), vec![(first, last)]);
            return;
        };
        // Those that touch it become one with it. Mostly that is the last one.
        let begin = intervals.partition_point(|one| one.1.saturating_add(1) < first);
        let end = begin + intervals[begin..].partition_point(|one| one.0 <= last.saturating_add(1));
        if begin < end {
            first = first.min(intervals[begin].0);
            last = last.max(intervals[end - 1].1);
        }
        intervals.splice(begin..end, [(first, last)]);
    }

    /// Whether it has no transaction.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a transaction is in it.
    #[must_use]
    pub fn has(&self, gtid: &MySqlGtid) -> bool {
        self.has_interval(&gtid.server, (gtid.number, gtid.number))
    }

    /// Whether all transactions of another set are in it.
    #[must_use]
    pub fn contains(&self, other: &GtidSet) -> bool {
        other.0.iter().all(|(server, intervals)| intervals.iter().all(|one| self.has_interval(server, *one)))
    }

    /// What is not in another set.
    #[must_use]
    pub fn without(&self, other: &GtidSet) -> GtidSet {
        let mut rest = GtidSet::default();
        for (server, intervals) in &self.0 {
            let taken = other.0.get(server).map_or(&[][..], Vec::as_slice);
            for &(first, last) in intervals {
                let mut next = first;
                for &(begin, end) in taken.iter().filter(|one| one.1 >= first && one.0 <= last) {
                    if next < begin {
                        rest.add_interval(server, (next, begin - 1));
                    }
                    next = end.saturating_add(1);
                }
                if next <= last {
                    rest.add_interval(server, (next, last));
                }
            }
        }
        rest
    }

    /// Of it, the transactions of servers of which another set has some.
    #[must_use]
    pub fn of_servers_in(&self, other: &GtidSet) -> GtidSet {
        let is_known = |server: &ServerTag| other.0.keys().any(|one| one.uuid == server.uuid);
        let known = self.0.iter().filter(|(server, _)| is_known(server));
        GtidSet(known.map(|(server, intervals)| (server.clone(), intervals.clone())).collect())
    }

    fn has_interval(&self, server: &ServerTag, (first, last): Interval) -> bool {
        let Some(intervals) = self.0.get(server) else { return false };
        let index = intervals.partition_point(|one| one.1 < first);
        intervals.get(index).is_some_and(|one| one.0 <= first && last <= one.1)
    }

    /// The binary form of `COM_BINLOG_DUMP_GTID`. The one with tags is for servers that know them, since 8.3: it is used where
    /// the set has some.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let is_tagged = self.0.keys().any(|server| !server.tag.is_empty());
        let mut bytes = (self.0.len() as u64).to_le_bytes().to_vec();
        if is_tagged {
            // The number stands between two marks of the form.
            bytes.rotate_right(1);
            (bytes[0], bytes[7]) = (TAGGED, TAGGED);
        }
        for (server, intervals) in &self.0 {
            bytes.extend(server.uuid);
            if is_tagged {
                // At most 32 letters: the length is one byte, doubled.
                bytes.push(u8::try_from(server.tag.len() * 2).unwrap_or(u8::MAX));
                bytes.extend(server.tag.as_bytes());
            }
            bytes.extend((intervals.len() as u64).to_le_bytes());
            for (first, last) in intervals {
                bytes.extend(first.to_le_bytes());
                bytes.extend((last + 1).to_le_bytes());
            }
        }
        bytes
    }

    /// Reads the binary form, as the event that begins a file has it.
    pub(in crate::binlog) fn read(body: &[u8]) -> Result<GtidSet, Found> {
        let mut fields = Fields(body);
        let head = fields.u64("the number of servers")?;
        let [first, .., last] = head.to_le_bytes();
        let (is_tagged, count) = match last {
            0 => (false, head),
            TAGGED if first == TAGGED => (true, head << 8 >> 16),
            other => return Err(format!("a set of GTIDs of the unknown form {other}")),
        };
        let mut set = GtidSet::default();
        for _ in 0..count {
            let uuid = fields.bytes(16, "a server's UUID")?.try_into().expect("16 bytes were asked for");
            let tag = if is_tagged { fields.short_number_text()? } else { String::new() };
            let server = ServerTag { uuid, tag };
            for _ in 0..fields.u64("the number of intervals")? {
                let (first, end) = (fields.u64("an interval's begin")?, fields.u64("an interval's end")?);
                if first == 0 || end <= first || end > NUMBER_LIMIT {
                    return Err(format!("an interval of GTIDs from {first} to before {end}"));
                }
                set.add_interval(&server, (first, end - 1));
            }
        }
        Ok(set)
    }
}

impl Fields<'_> {
    /// A tag behind its length, which is a number of variable length.
    fn short_number_text(&mut self) -> Result<String, Found> {
        let length = self.u8("the length of a tag")?;
        if length & 1 != 0 || usize::from(length / 2) > TAG_LIMIT_BYTES {
            return Err(format!("a tag whose length is written as {length:02x}"));
        }
        let tag = self.bytes(usize::from(length / 2), "a tag")?;
        String::from_utf8(tag.to_vec()).map_err(|_| "a tag that is no text".to_owned())
    }
}

/// A UUID as text.
pub(super) fn uuid_text(uuid: &[u8; 16]) -> String {
    let hex: String = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// A UUID from its text.
pub(super) fn uuid_from(text: &str) -> Option<[u8; 16]> {
    let hex: String = text.split('-').collect();
    let is_hex = hex.len() == 32 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    // As the server writes it, or without the hyphens.
    let is_split = text.len() == 32 || text.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    if !is_hex || !is_split {
        return None;
    }
    let mut uuid = [0; 16];
    for (index, byte) in uuid.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[index * 2..index * 2 + 2], 16).ok()?;
    }
    Some(uuid)
}

/// A tag from its text, as the server keeps it: in small letters.
pub(super) fn tag_from(text: &str) -> Option<String> {
    let is_first = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_tag = text.len() <= TAG_LIMIT_BYTES
        && text.bytes().next().is_some_and(is_first)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_tag.then(|| text.to_ascii_lowercase())
}

impl fmt::Display for GtidSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before: Option<&[u8; 16]> = None;
        for (server, intervals) in &self.0 {
            match before {
                Some(uuid) if *uuid == server.uuid => {}
                Some(_) => write!(f, ",{}", uuid_text(&server.uuid))?,
                None => f.write_str(&uuid_text(&server.uuid))?,
            }
            before = Some(&server.uuid);
            if !server.tag.is_empty() {
                write!(f, ":{}", server.tag)?;
            }
            for (first, last) in intervals {
                if first == last { write!(f, ":{first}") } else { write!(f, ":{first}-{last}") }?;
            }
        }
        Ok(())
    }
}

impl FromStr for GtidSet {
    type Err = String;

    fn from_str(text: &str) -> Result<GtidSet, String> {
        let mut set = GtidSet::default();
        for one in text.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            let invalid = || {
                format!(
                    "`{one}` is no set of GTIDs of MySQL: these have the form UUID:NUMBERS, as \
                     3e11fa47-71ca-11e1-9e33-c80aa9429562:1-100:200, with tags as UUID:1-100:tag:1-5"
                )
            };
            let mut parts = one.split(':').map(str::trim);
            let uuid = parts.next().and_then(uuid_from).ok_or_else(invalid)?;
            let mut server = ServerTag { uuid, tag: String::new() };
            let mut has_numbers = false;
            for part in parts {
                if let Some(tag) = tag_from(part) {
                    (server.tag, has_numbers) = (tag, false);
                    continue;
                }
                set.add_interval(&server, interval(part).ok_or_else(invalid)?);
                has_numbers = true;
            }
            if !has_numbers {
                return Err(invalid());
            }
        }
        Ok(set)
    }
}

fn interval(text: &str) -> Option<Interval> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u64>().ok())?;
    let (first, last) = (number(first.trim())?, number(last.trim())?);
    (1 <= first && first <= last && last < NUMBER_LIMIT).then_some((first, last))
}
