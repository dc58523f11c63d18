//! One connection that applies one source's transactions in their order.

use std::borrow::Cow;

use hortator_mysql::Connection;

use super::binlog_statement::BinlogStatement;
use super::collations::Collations;
use super::error::Error;
use super::position_table::{PositionTable, SourcePosition};
use super::statement_session::settings;
use crate::binlog::{Content, Event, FormatDescription};
use crate::transaction::{End, Transaction};

/// Transactions that become one of the target's.
const GROUP_TRANSACTIONS: usize = 100;
/// Bytes of their events.
const GROUP_BYTES: usize = 1 << 20;
/// What a statement's packet may be shorter than `max_allowed_packet`, in bytes.
const PACKET_MARGIN_BYTES: usize = 1 << 10;

/// Applies transactions.
#[derive(Debug)]
pub struct Applier {
    connection: Connection,
    table: PositionTable,
    collations: Collations,
    packet_limit_bytes: usize,
    /// The format description that the session knows, and its bytes.
    format: Option<(FormatDescription, Vec<u8>)>,
    group: Group,
}

/// Transactions of rows that are not sent yet.
#[derive(Debug, Default)]
struct Group {
    statement: BinlogStatement,
    transactions: usize,
    /// Behind the last of them.
    end: SourcePosition,
}

impl Applier {
    /// Takes over a connection to the target. `schema` holds the positions.
    ///
    /// # Errors
    /// What the target refuses, and [`Error::InDoubt`] where an earlier run ended within a definition.
    pub fn open(mut connection: Connection, schema: &str, source: &str) -> Result<Applier, Error> {
        let cannot = |error| Error::Target { doing: "preparing the target".to_owned(), error };
        let table = PositionTable::create(&mut connection, schema, source).map_err(cannot)?;
        let collations = Collations::of_server(&mut connection).map_err(cannot)?;
        let limit = connection.fetch(b"SELECT @@max_allowed_packet").map_err(cannot)?;
        let limit = limit.into_iter().flatten().flatten().next().unwrap_or_default();
        let limit: usize = String::from_utf8_lossy(&limit).parse().unwrap_or_default();
        if let Some(SourcePosition { position, begun: Some(text), .. }) = table.read(&mut connection).map_err(cannot)? {
            return Err(Error::InDoubt {
                place: format!("{}:{}", String::from_utf8_lossy(&position.file), position.position),
                text: String::from_utf8_lossy(&text).into_owned(),
            });
        }
        Ok(Applier {
            connection,
            table,
            collations,
            packet_limit_bytes: limit.saturating_sub(PACKET_MARGIN_BYTES),
            format: None,
            group: Group::default(),
        })
    }

    /// How far the source is applied; `None` before its first transaction.
    ///
    /// # Errors
    /// As for any statement.
    pub fn position(&mut self) -> Result<Option<SourcePosition>, Error> {
        let read = self.table.read(&mut self.connection);
        read.map_err(|error| Error::Target { doing: "reading the position".to_owned(), error })
    }

    /// Takes a format description: the events behind it are of this form.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn format(&mut self, event: &Event) -> Result<(), Error> {
        let Content::Format(format) = &event.content else { return Ok(()) };
        if self.format.as_ref().is_some_and(|(_, bytes)| *bytes == event.bytes) {
            return Ok(());
        }
        self.flush()?;
        let mut statement = BinlogStatement::default();
        statement.push(&event.bytes);
        self.execute(&statement.take_text(), "a format description")?;
        self.format = Some((format.clone(), event.bytes.clone()));
        Ok(())
    }

    /// Applies a transaction, now or with those behind it: see [`Applier::flush`].
    ///
    /// # Errors
    /// See [`Error`]. Nothing of the transaction is applied then, and nothing behind it must be; those before it may not
    /// be committed yet.
    pub fn apply(&mut self, transaction: &Transaction) -> Result<(), Error> {
        let plain: Vec<_> = transaction.events.iter().map(|event| self.plain(event)).collect();
        let bytes: usize = plain.iter().map(|event| event.len()).sum();
        let is_of_rows =
            transaction.events.iter().all(|event| matches!(event.content, Content::TableMap(_) | Content::Rows(_)));
        let fits = |statement: &BinlogStatement| statement.text_bytes_with(bytes) <= self.packet_limit_bytes;
        if !is_of_rows || transaction.end != End::Commit || !fits(&BinlogStatement::default()) {
            self.flush()?;
            return self.apply_alone(transaction);
        }
        let is_full = self.group.transactions >= GROUP_TRANSACTIONS
            || self.group.statement.text_bytes_with(bytes) > GROUP_BYTES
            || !fits(&self.group.statement);
        if is_full {
            self.flush()?;
        }
        for event in &plain {
            self.group.statement.push(event);
        }
        self.group.transactions += 1;
        self.group.end = position_behind(transaction);
        Ok(())
    }

    /// Commits what has been taken and is not applied yet.
    ///
    /// # Errors
    /// What the target refuses. The group is rolled back then.
    pub fn flush(&mut self) -> Result<(), Error> {
        let Group { mut statement, transactions, end } = std::mem::take(&mut self.group);
        if transactions == 0 {
            return Ok(());
        }
        let place = format!("{transactions} transactions up to {}", place_of(&end));
        self.execute(b"START TRANSACTION", &place)?;
        if !statement.is_empty() {
            self.execute(&statement.take_text(), &place)?;
        }
        let record = self.table.write(&end);
        self.execute(&record, &place)?;
        self.execute(b"COMMIT", &place)
    }

    /// A transaction that is none of rows only, or a large one.
    fn apply_alone(&mut self, transaction: &Transaction) -> Result<(), Error> {
        let end = position_behind(transaction);
        let place = place_of(&end);
        if transaction.end == End::ByItself {
            let text = transaction.events.iter().find_map(|event| match &event.content {
                Content::Query(query) => Some(query.text.clone()),
                _ => None,
            });
            let before = self.position()?.unwrap_or_default();
            let begun = self.table.write(&SourcePosition { begun: text, ..before });
            self.execute(&begun, &place)?;
            self.run(&transaction.events, &place)?;
            let record = self.table.write(&end);
            return self.execute(&record, &place);
        }
        self.execute(b"START TRANSACTION", &place)?;
        self.run(&transaction.events, &place)?;
        let record = self.table.write(&end);
        if transaction.end == End::Rollback {
            // What cannot be rolled back stays, as on the source.
            self.execute(b"ROLLBACK", &place)?;
            return self.execute(&record, &place);
        }
        self.execute(&record, &place)?;
        self.execute(b"COMMIT", &place)
    }

    /// Sends rows and statements, in their order.
    fn run(&mut self, events: &[Event], place: &str) -> Result<(), Error> {
        let mut rows = BinlogStatement::default();
        let mut values = 0;
        for (index, event) in events.iter().enumerate() {
            match &event.content {
                Content::TableMap(_) | Content::Rows(_) => {
                    let plain = self.plain(event);
                    if rows.text_bytes_with(plain.len()) > self.packet_limit_bytes && !rows.is_empty() {
                        self.execute(&rows.take_text(), place)?;
                    }
                    rows.push(&plain);
                }
                Content::Query(query) => {
                    if !rows.is_empty() {
                        self.execute(&rows.take_text(), place)?;
                    }
                    let before = &events[index - values..index];
                    let settings = settings(event, query, before, &self.collations);
                    let settings = settings.map_err(|found| Error::Event { place: place.to_owned(), found })?;
                    for setting in settings {
                        self.execute(&setting, place)?;
                    }
                    let done = self.connection.execute(&query.text);
                    self.check_as_source(done.map(drop), query.error_code, place)?;
                    values = 0;
                }
                _ => values += 1,
            }
        }
        if rows.is_empty() { Ok(()) } else { self.execute(&rows.take_text(), place) }
    }

    /// An event's bytes as a server takes them in a BINLOG statement.
    fn plain<'e>(&self, event: &'e Event) -> Cow<'e, [u8]> {
        match &self.format {
            Some((format, _)) => event.plain_bytes(format),
            None => Cow::Borrowed(&event.bytes),
        }
    }

    /// A statement that failed in part on the source must fail here in the same way.
    fn check_as_source(
        &mut self,
        done: Result<(), hortator_mysql::Error>,
        expected: u16,
        place: &str,
    ) -> Result<(), Error> {
        match done {
            Err(hortator_mysql::Error::Server(error)) if expected != 0 && error.code == expected => Ok(()),
            Ok(()) if expected != 0 => Err(Error::Event {
                place: place.to_owned(),
                found: format!("the statement failed with error {expected} on the source, and succeeded here"),
            }),
            Ok(()) => Ok(()),
            Err(error) => Err(self.failed(error, place)),
        }
    }

    fn execute(&mut self, text: &[u8], place: &str) -> Result<(), Error> {
        let done = self.connection.execute(text);
        done.map(drop).map_err(|error| self.failed(error, place))
    }

    fn failed(&mut self, error: hortator_mysql::Error, place: &str) -> Error {
        // A lost connection has rolled back by itself.
        let _ = self.connection.execute(b"ROLLBACK");
        self.group = Group::default();
        Error::Target { doing: format!("applying {place}"), error }
    }
}

fn position_behind(transaction: &Transaction) -> SourcePosition {
    SourcePosition {
        position: transaction.position.clone(),
        gtid: transaction.gtid.map(|event| event.gtid.to_string()).unwrap_or_default(),
        begun: None,
    }
}

fn place_of(end: &SourcePosition) -> String {
    let place = format!("{}:{}", String::from_utf8_lossy(&end.position.file), end.position.position);
    if end.gtid.is_empty() { place } else { format!("{place} (GTID {})", end.gtid) }
}
