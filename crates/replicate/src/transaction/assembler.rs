//! The state machine that puts transactions together.

use super::{End, LogPosition, Part, Transaction, can_roll_back};
use crate::binlog::{Content, Event, EventHeader, GtidEvent, Handling, MySqlGtid};

/// Events for which a transaction has room at its beginning.
const EXPECTED_EVENTS_LIMIT: usize = 16;

/// What stops a source.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An event that cannot be applied.
    #[error("{kind} in {file} that ends at position {end_position}: {reason}")]
    Refused {
        /// The type of the event.
        kind: String,
        /// The file that it is in.
        file: String,
        /// Where it ends, in bytes.
        end_position: u64,
        /// Why, and what to do.
        reason: String,
    },
}

/// What is open.
#[derive(Debug, Default)]
enum State {
    /// Nothing.
    #[default]
    Outside,
    /// A transaction.
    Within(Open),
}

/// A transaction that has not ended.
#[derive(Debug)]
struct Open {
    gtid: Option<GtidEvent>,
    mysql_gtid: Option<MySqlGtid>,
    /// BEGIN has come, or needs not come.
    has_begun: bool,
    events: Vec<Event>,
    /// Of the events.
    bytes: usize,
    /// Parts of it were taken out.
    has_parts: bool,
}

impl Open {
    fn push(&mut self, event: Event) {
        self.bytes += event.bytes.len();
        self.events.push(event);
    }
}

/// Puts the transactions of one source together.
#[derive(Debug)]
pub struct Assembler {
    state: State,
    position: LogPosition,
    /// The events of the last transaction, up to a limit: the next one is likely to have as many.
    expected_events: usize,
}

impl Assembler {
    /// For events from `position` on.
    #[must_use]
    pub fn new(position: LogPosition) -> Assembler {
        Assembler { state: State::Outside, position, expected_events: 0 }
    }

    /// Where the last event ended.
    #[must_use]
    pub fn position(&self) -> &LogPosition {
        &self.position
    }

    /// Whether a transaction is open.
    #[must_use]
    pub fn is_within(&self) -> bool {
        matches!(self.state, State::Within(_))
    }

    /// Takes the next event; gives the transaction that it ends.
    ///
    /// # Errors
    /// [`Error::Refused`] for an event that cannot be applied. What stands before it in its transaction must not be
    /// applied either.
    pub fn take(&mut self, event: Event) -> Result<Option<Transaction>, Error> {
        self.advance(&event);
        let header = event.header;
        match (&event.content, header.kind.row().map(|row| row.handling)) {
            (_, Some(Handling::Refused(reason))) => Err(self.refused(&header, reason)),
            (Content::Gtid(gtid), _) if gtid.is_xa() => Err(self.refused(&header, NO_XA)),
            (Content::Gtid(gtid), _) => {
                let gtid = *gtid;
                // MariaDB's GTID stands for BEGIN; a standalone one has one statement behind it.
                self.begin(&header, Some(gtid), !gtid.is_standalone()).map(|()| None)
            }
            (Content::MySqlGtid(gtid), _) => {
                let gtid = gtid.clone();
                self.begin(&header, None, false)?;
                if let State::Within(open) = &mut self.state {
                    open.mysql_gtid = gtid;
                }
                Ok(None)
            }
            (Content::Query(query), _) if query.is_word("BEGIN") => match &mut self.state {
                State::Within(open) if !open.has_begun => {
                    open.has_begun = true;
                    Ok(None)
                }
                State::Within(_) => Err(self.refused(&header, "BEGIN within a transaction: the log is damaged")),
                State::Outside => self.begin(&header, None, true).map(|()| None),
            },
            (Content::Query(query), _) if query.is_xa() => Err(self.refused(&header, NO_XA)),
            (Content::Query(query), _) if query.is_word("COMMIT") => self.end(&header, End::Commit),
            (Content::Query(query), _) if query.is_word("ROLLBACK") => self.end(&header, End::Rollback),
            (Content::Xid(_), _) => self.end(&header, End::Commit),
            (Content::Query(_), _) => match &mut self.state {
                State::Within(open) if open.has_begun => {
                    open.push(event);
                    Ok(None)
                }
                State::Within(open) => {
                    open.push(event);
                    self.end(&header, End::ByItself)
                }
                State::Outside => {
                    self.begin(&header, None, false)?;
                    self.take_into(event);
                    self.end(&header, End::ByItself)
                }
            },
            (Content::TableMap(_) | Content::Rows(_), _) => match &self.state {
                State::Within(open) if open.has_begun => {
                    self.take_into(event);
                    Ok(None)
                }
                _ => Err(self.refused(
                    &header,
                    "rows outside of a transaction: the log is damaged, or the start is in the middle of one",
                )),
            },
            (Content::IntVar { .. } | Content::Rand { .. } | Content::UserVariable(_), _) => {
                if !self.is_within() {
                    self.begin(&header, None, false)?;
                }
                self.take_into(event);
                Ok(None)
            }
            (
                // The events in a payload follow.
                Content::Format(_)
                | Content::Rotate { .. }
                | Content::GtidList(_)
                | Content::PreviousGtids(_)
                | Content::Payload(_)
                | Content::Other,
                _,
            ) => Ok(None),
        }
    }

    /// Takes the events of a transaction that has grown beyond a limit out of it: they can be applied before its end is
    /// known.
    pub fn take_part(&mut self, limit_bytes: usize) -> Option<Part> {
        let State::Within(open) = &mut self.state else { return None };
        // Values and table maps stand before what needs them.
        let is_whole = |event: &Event| matches!(event.content, Content::Rows(_) | Content::Query(_));
        if open.bytes <= limit_bytes || !open.events.last().is_some_and(is_whole) {
            return None;
        }
        (open.bytes, open.has_parts) = (0, true);
        let can_roll_back = can_roll_back(open.gtid, &open.events);
        let events = std::mem::take(&mut open.events);
        let server_id = events.last().map_or(0, |event| event.header.server_id);
        Some(Part { events, can_roll_back, server_id, position: self.position.clone() })
    }

    /// Gives up a transaction that does not go on: the source has crashed while it wrote it. Gives whether parts of it were taken
    /// out; `None` where none is open.
    pub fn abandon(&mut self) -> Option<bool> {
        match std::mem::take(&mut self.state) {
            State::Within(open) => Some(open.has_parts),
            State::Outside => None,
        }
    }

    /// The source's log is behind this event now.
    fn advance(&mut self, event: &Event) {
        let header = &event.header;
        let position = &mut self.position.position;
        match &event.content {
            Content::Rotate { file, position } => {
                self.position = LogPosition { file: file.clone(), position: *position };
            }
            // What the server makes for a replica is in no file. A format description that it sends for events further
            // behind has no position.
            Content::Format(_) if header.end_position == 0 => {}
            // Where the log ends, between two transactions. Of a start by GTID, nothing else says how far the log is behind.
            _ if header.kind.is_heartbeat() => {
                let at = (*position & !u64::from(u32::MAX)) | u64::from(header.end_position);
                *position = at.max(*position);
            }
            _ if header.is_artificial() => {}
            _ if header.end_position == 0 => *position += u64::from(header.length_bytes),
            _ => *position = widen(*position, header.end_position),
        }
    }

    fn begin(&mut self, header: &EventHeader, gtid: Option<GtidEvent>, has_begun: bool) -> Result<(), Error> {
        if self.is_within() {
            return Err(self.refused(header, "a transaction begins within another: the log is damaged"));
        }
        let events = Vec::with_capacity(self.expected_events);
        self.state = State::Within(Open { gtid, mysql_gtid: None, has_begun, events, bytes: 0, has_parts: false });
        Ok(())
    }

    fn take_into(&mut self, event: Event) {
        if let State::Within(open) = &mut self.state {
            open.push(event);
        }
    }

    fn end(&mut self, header: &EventHeader, end: End) -> Result<Option<Transaction>, Error> {
        let State::Within(Open { gtid, mysql_gtid, events, .. }) = std::mem::take(&mut self.state) else {
            return Err(
                self.refused(header, "a transaction ends that has not begun: the start is in the middle of one")
            );
        };
        self.expected_events = events.len().min(EXPECTED_EVENTS_LIMIT);
        Ok(Some(Transaction {
            gtid,
            mysql_gtid,
            events,
            end,
            timestamp_s: header.timestamp_s,
            server_id: header.server_id,
            position: self.position.clone(),
        }))
    }

    fn refused(&self, header: &EventHeader, reason: &str) -> Error {
        Error::Refused {
            kind: header.kind.to_string(),
            file: String::from_utf8_lossy(&self.position.file).into_owned(),
            end_position: self.position.position,
            reason: reason.to_owned(),
        }
    }
}

/// A position of which an event has the lower 32 bits, at or behind `before`.
fn widen(before: u64, low: u32) -> u64 {
    let candidate = (before & !u64::from(u32::MAX)) | u64::from(low);
    if candidate < before { candidate + (1 << 32) } else { candidate }
}

const NO_XA: &str = "XA transactions are not supported: finish them on the source, and copy their tables";

#[cfg(test)]
mod tests;
