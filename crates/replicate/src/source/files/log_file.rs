//! One file from its beginning: its events and transactions, and where it stands.

use std::path::Path;

use super::error::{CutOff, Error};
use super::position::TransactionId;
use crate::binlog::{self, BinlogFile, Content, Event, EventKind, Gtid, GtidList, GtidSet, GtidState};
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
    /// The transactions before the file, as its beginning says.
    list: Option<List>,
    /// Behind the last transaction that has come.
    gtid: GtidState,
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

/// The transactions before a file.
#[derive(Debug)]
enum List {
    MariaDb(GtidList),
    MySql(GtidSet),
}

/// An event, and what it made.
#[derive(Debug)]
pub(super) struct Step {
    /// When the event was made, in seconds since 1970.
    pub(super) timestamp_s: u32,
    /// It is the first one of a transaction.
    pub(super) begins: bool,
    /// The id of the transaction that it begins.
    pub(super) id: Option<TransactionId>,
    /// It says which transactions stand before the file.
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
            gtid: GtidState::default(),
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
            Step { timestamp_s: event.header.timestamp_s, begins: false, id: None, is_list: false, arrival: None };
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
                (self.gtid, self.list) = (list.position().into(), Some(List::MariaDb(list.clone())));
                step.is_list = true;
            }
            Content::PreviousGtids(set) => {
                (self.gtid, self.list) = (GtidState::MySql(set.clone()), Some(List::MySql(set.clone())));
                step.is_list = true;
            }
            Content::Gtid(gtid) => step.id = Some(TransactionId::MariaDb(gtid.gtid)),
            Content::MySqlGtid(Some(gtid)) => step.id = Some(TransactionId::MySql(gtid.clone())),
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
            transaction.advance(&mut self.gtid);
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

    /// Whether the rest of the transaction stands in the compressed event that has come.
    pub(super) fn is_unpacking(&self) -> bool {
        self.is_within() && self.events.is_within_payload()
    }

    /// Whether the last event is in the middle of a transaction.
    pub(super) fn is_within(&self) -> bool {
        self.assembler.is_within()
    }

    /// Behind the last transaction.
    pub(super) fn gtid(&self) -> &GtidState {
        &self.gtid
    }

    /// Whether it has said which transactions stand before it.
    pub(super) fn has_list(&self) -> bool {
        self.list.is_some()
    }

    /// Whether a transaction stands before the file.
    pub(super) fn has_before(&self, id: &TransactionId) -> bool {
        match (&self.list, id) {
            (Some(List::MariaDb(list)), TransactionId::MariaDb(gtid)) => {
                let is_it = |last: &Gtid| (last.domain, last.server_id) == (gtid.domain, gtid.server_id);
                list.0.iter().any(|last| is_it(last) && last.seqno >= gtid.seqno)
            }
            (Some(List::MySql(set)), TransactionId::MySql(gtid)) => set.has(gtid),
            _ => false,
        }
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
