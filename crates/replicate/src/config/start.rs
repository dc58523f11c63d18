//! Where a source starts if nothing of it is applied yet.

use std::str::FromStr;

use crate::binlog::GtidState;
use crate::transaction::LogPosition;

/// Where a source starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// With a copy of its databases.
    Snapshot,
    /// At the end of its log.
    Now,
    /// Behind these transactions.
    Gtid(GtidState),
    /// At a place of its log.
    Position(LogPosition),
}

/// The first event of a file.
const FIRST_POSITION: u64 = 4;

impl FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Start, String> {
        if text == "now" {
            return Ok(Start::Now);
        }
        if text == "snapshot" {
            return Ok(Start::Snapshot);
        }
        if let Some(gtids) = text.strip_prefix("gtid:") {
            let position: GtidState = gtids.parse()?;
            return if position.is_empty() {
                Err("`gtid:` has no GTID behind it".to_owned())
            } else {
                Ok(Start::Gtid(position))
            };
        }
        let place = text.rsplit_once(':').and_then(|(file, position)| Some((file, position.parse::<u64>().ok()?)));
        match place {
            Some((file, position)) if !file.is_empty() && position >= FIRST_POSITION => {
                Ok(Start::Position(LogPosition { file: file.as_bytes().to_vec(), position }))
            }
            _ => Err(format!(
                "`{text}` is no start: give snapshot, now, gtid:0-1-100, gtid:UUID:1-100 or FILE:POSITION, as binlog.000001:4"
            )),
        }
    }
}
