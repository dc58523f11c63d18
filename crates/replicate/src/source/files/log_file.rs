//! One file from its beginning: its events and transactions, and where it stands.

use std::path::Path;

use super::error::{CutOff, Error};
use crate::binlog::{self, BinlogFile, Content, Event, EventKind, Gtid, GtidList, GtidPosition};
use crate::source::log_events::LogEvents;
use crate::source::reader::PART_LIMIT_BYTES;
use crate::source::{self, Arrival};
use crate::transaction::{Assembler, LogPosition};

/// The first event of a file.
const FIRST_POSITION: u64 = 4;

/// A file, read up to some event.
#[derive(Debug)]
pub(super) struct LogFile {
    name: String,
    file: BinlogFile,
    events: LogEvents,
    assembler: Assembler,
    /// Its format description.
    format: Option<Event>,
    /// MariaDB: the transactions before the file, as its beginning says.
    list: Option<GtidList>,
    /// MariaDB: behind the last transaction that has come.
    gtid: GtidPosition,
    /// Where the last transaction has ended.
    boundary: u64,
    /// When the last transaction has begun, in seconds since 1970.
    begun_s: Option<u32>,
    /// When the last event was made, in seconds since 1970.
    last_s: u32,
    /// When the latest event was made: clocks go back at times.
    latest_s: u32,
    is_ended: bool,
    /// The file that it goes on with, as it says at its end.
    rotates_to: Option<String>,
}

/// An event, and what it made.
#[derive(Debug)]
pub(super) struct Step {
    /// When the event was made, in seconds since 1970.
    pub(super) timestamp_s: u32,
    /// It is the first one of a transaction.
    pub(super) begins: bool,
    /// MariaDB: the id of the transaction that it begins.
    pub(super) gtid: Option<Gtid>,
    /// MariaDB: it says which transactions stand before the file.
    pub(super) is_list: bool,
    /// A format description, a transaction, or a part of a large one.
    pub(super) arrival: Option<Arrival>,
}

/// How a file ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileEnd {
    /// Between two transactions.
    Whole,
    /// In the middle of something.
    Cut(CutOff),
}

impl LogFile {
    /// Opens a file of the folder at its beginning.
    pub(super) fn open(folder: &Path, name: &str) -> Result<LogFile, source::Error> {
        let file = BinlogFile::open(&folder.join(name));
        let file = file.map_err(|error| source::Error::Binlog { file: name.to_owned(), error })?;
        let begin = LogPosition { file: name.as_bytes().to_vec(), position: FIRST_POSITION };
        Ok(LogFile {
            name: name.to_owned(),
            file,
            events: LogEvents::default(),
            assembler: Assembler::new(begin),
            format: None,
            list: None,
            gtid: GtidPosition::default(),
            boundary: FIRST_POSITION,
            begun_s: None,
            last_s: 0,
            latest_s: 0,
            is_ended: false,
            rotates_to: None,
        })
    }

    /// The next event. `Err` within: the file ends, as it says.
    pub(super) fn step(&mut self) -> Result<Result<Step, FileEnd>, source::Error> {
        let cannot = |file: &str, error| source::Error::Binlog { file: file.to_owned(), error };
        if let Some(event) = self.events.next_within(self.assembler.position())? {
            return self.take(event).map(Ok);
        }
        let bytes = match self.file.next_event() {
            Ok(Some(bytes)) => bytes,
            Ok(None) if self.assembler.is_within() => return Ok(Err(FileEnd::Cut(CutOff::Transaction))),
            // Each file begins with one.
            Ok(None) if self.format.is_none() => return Ok(Err(FileEnd::Cut(CutOff::Event))),
            Ok(None) => return Ok(Err(FileEnd::Whole)),
            Err(binlog::Error::CutOff { .. }) => return Ok(Err(FileEnd::Cut(CutOff::Event))),
            Err(error) => return Err(cannot(&self.name, error)),
        };
        let event = self.events.read(bytes, self.assembler.position())?;
        self.check_position(&event)?;
        self.take(event).map(Ok)
    }

    fn take(&mut self, event: Event) -> Result<Step, source::Error> {
        let mut step =
            Step { timestamp_s: event.header.timestamp_s, begins: false, gtid: None, is_list: false, arrival: None };
        if step.timestamp_s != 0 {
            self.last_s = step.timestamp_s;
            self.latest_s = self.latest_s.max(step.timestamp_s);
        }
        match &event.content {
            Content::Format(_) if event.header.is_of_relay_log() => {
                return Err(Error::RelayLog { file: self.name.clone() }.into());
            }
            Content::Format(_) => {
                self.format = Some(event.clone());
                step.arrival = Some(Arrival::Format(event.clone()));
            }
            Content::GtidList(list) => {
                (self.gtid, self.list) = (list.position(), Some(list.clone()));
                step.is_list = true;
            }
            Content::Gtid(gtid) => step.gtid = Some(gtid.gtid),
            Content::Rotate { file, .. } => {
                (self.rotates_to, self.is_ended) = (Some(String::from_utf8_lossy(file).into_owned()), true);
            }
            _ => self.is_ended |= event.header.kind == EventKind::STOP,
        }
        let was_within = self.assembler.is_within();
        let transaction = self.assembler.take(event)?;
        step.begins = !was_within && (transaction.is_some() || self.assembler.is_within());
        if step.begins {
            self.begun_s = Some(step.timestamp_s);
        }
        if let Some(transaction) = transaction {
            if let Some(event) = transaction.gtid {
                self.gtid.advance(event.gtid);
            }
            step.arrival = Some(Arrival::Transaction(transaction));
        } else if step.arrival.is_none() {
            step.arrival = self.assembler.take_part(PART_LIMIT_BYTES).map(Arrival::Part);
        }
        if !self.assembler.is_within() {
            self.boundary = self.file.position();
        }
        Ok(step)
    }

    /// A server writes into each event where it ends, or nothing (MariaDB 11.4 and later, within a transaction).
    fn check_position(&self, event: &Event) -> Result<(), Error> {
        let (said, position) = (event.header.end_position, self.file.position());
        if said == 0 || u64::from(said) == position & u64::from(u32::MAX) || event.header.is_of_relay_log() {
            return Ok(());
        }
        Err(Error::Displaced { file: self.name.clone(), kind: event.header.kind.to_string(), position, said })
    }

    /// Its name.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Behind the last event, in bytes.
    pub(super) fn position(&self) -> u64 {
        self.file.position()
    }

    /// Behind the last event that is not within a transaction, in bytes.
    pub(super) fn boundary(&self) -> u64 {
        self.boundary
    }

    /// Whether the last event is in the middle of a transaction.
    pub(super) fn is_within(&self) -> bool {
        self.assembler.is_within()
    }

    /// MariaDB: behind the last transaction.
    pub(super) fn gtid(&self) -> GtidPosition {
        self.gtid.clone()
    }

    /// MariaDB: whether it has said which transactions stand before it.
    pub(super) fn has_list(&self) -> bool {
        self.list.is_some()
    }

    /// MariaDB: whether a transaction stands before the file.
    pub(super) fn has_before(&self, gtid: Gtid) -> bool {
        let is_it = |last: &Gtid| (last.domain, last.server_id) == (gtid.domain, gtid.server_id);
        self.list.iter().flat_map(|list| &list.0).any(|last| is_it(last) && last.seqno >= gtid.seqno)
    }

    /// When the last transaction has begun, in seconds since 1970.
    pub(super) fn begun_s(&self) -> Option<u32> {
        self.begun_s
    }

    /// When the last event was made, in seconds since 1970.
    pub(super) fn last_s(&self) -> u32 {
        self.last_s
    }

    /// When the latest event was made, in seconds since 1970.
    pub(super) fn latest_s(&self) -> u32 {
        self.latest_s
    }

    /// The format description that has come.
    pub(super) fn format(&self) -> Option<&Event> {
        self.format.as_ref()
    }

    /// The server that wrote it.
    pub(super) fn server_version(&self) -> &str {
        self.events.reader().format().map_or("an unknown server", |format| &format.server_version)
    }

    /// Whether it was being written when it was copied, or its server crashed.
    pub(super) fn is_in_use(&self) -> bool {
        self.format.as_ref().is_some_and(|event| event.header.is_in_use())
    }

    /// Whether it begins the log of a server's life, and not only the next file.
    pub(super) fn begins_a_life(&self) -> bool {
        self.events.reader().format().is_some_and(|format| format.created_s != 0)
    }

    /// Whether it has the event with which a server ends a file.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// The file that it goes on with, as it says at its end.
    pub(super) fn rotates_to(&self) -> Option<&str> {
        self.rotates_to.as_deref()
    }

    /// Where it stands, for a message.
    pub(super) fn end(&self) -> String {
        let place = format!("{}:{}", self.name, self.boundary);
        if self.gtid.is_empty() { place } else { format!("{place} (GTID position {})", self.gtid) }
    }
}
