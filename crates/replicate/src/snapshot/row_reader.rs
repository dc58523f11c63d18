//! The thread that reads all rows of a frozen source and writes them as statements.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use hortator_mysql::{Column, Connection, RowSink};

use super::copy::{Monitor, Wanted};
use super::ddl_watch::DdlWatch;
use super::destination::{Destination, ROW_NUMBER};
use super::frozen::Frozen;
use super::inventory::{RowSource, Table};
use super::pipe::PipeWriter;
use super::row_text::{BEGIN_HISTORY, END_HISTORY, FirstColumn, RowText, SESSION, select};
use super::{CopyStatus, Error};
use crate::source::log_end;

/// A table's definition is not that of the snapshot.
const TABLE_CHANGED: [u16; 4] = [1412, 1146, 1054, 1049];
/// How often it is looked whether the copy may go on.
const HOLD_INTERVAL: Duration = Duration::from_millis(100);
/// Rows between two looks at what is wanted.
const LOOK_ROWS: u64 = 64;

/// Rows and tables that are read.
#[derive(Debug, Default)]
pub(super) struct Counters {
    tables_done: AtomicU64,
    rows: AtomicU64,
}

impl Counters {
    /// Of so many tables.
    pub(super) fn status(&self, tables: usize) -> CopyStatus {
        CopyStatus { tables_done: self.tables_done.load(Relaxed), tables: tables as u64, rows: self.rows.load(Relaxed) }
    }
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct RowsRead {
    pub(super) rows: u64,
    /// Of each table, the rows and the bytes of their text.
    pub(super) tables: Vec<(u64, u64)>,
}

/// Reads rows.
pub(super) struct RowReader<'r> {
    pub(super) frozen: Frozen,
    /// Tells where the log ends.
    pub(super) control: Connection,
    pub(super) tables: &'r [Table],
    /// The source's name.
    pub(super) source: &'r str,
    pub(super) watch: &'r DdlWatch,
    pub(super) monitor: &'r dyn Monitor,
    pub(super) counters: &'r Counters,
    /// Of a statement.
    pub(super) statement_bytes: usize,
}

impl RowReader<'_> {
    /// Writes all rows.
    pub(super) fn run(mut self, pipe: PipeWriter) -> Result<RowsRead, Error> {
        let mut read = vec![(0, 0); self.tables.len()];
        write(&pipe, SESSION.as_bytes().to_vec())?;
        for locked in [true, false] {
            let tables = self.tables.iter().zip(&mut read);
            for (table, read) in tables.filter(|(table, _)| (table.rows == RowSource::Locked) == locked) {
                if table.rows != RowSource::Others {
                    *read = self.table(table, &pipe)?;
                }
                self.counters.tables_done.fetch_add(1, Relaxed);
            }
            self.frozen.unlock()?;
        }
        let end = log_end(&mut self.control)?;
        let goes_on = || if self.monitor.wanted() == Wanted::End { Err(Error::Ended) } else { Ok(()) };
        self.watch.wait_for(&end.position, &goes_on)?;
        pipe.finish().map_err(|_| Error::Ended)?;
        Ok(RowsRead { rows: self.counters.rows.load(Relaxed), tables: read })
    }

    /// Gives the rows, and the bytes of their text.
    fn table(&mut self, table: &Table, pipe: &PipeWriter) -> Result<(u64, u64), Error> {
        let quoted = table.object.quoted();
        let (into, first) = match &table.destination {
            Destination::Own => (&table.target, FirstColumn::None),
            Destination::Marked { column } => {
                (&table.target, FirstColumn::Text { name: column.clone(), value: self.source.to_owned() })
            }
            Destination::Staged { staging, .. } => (staging, FirstColumn::Number { name: ROW_NUMBER }),
        };
        let keeps_history = table.has_history && table.destination == Destination::Own;
        if keeps_history {
            write(pipe, BEGIN_HISTORY.as_bytes().to_vec())?;
        }
        // A savepoint gives the table's metadata lock back: without that, definitions would wait for the whole copy.
        self.execute("SAVEPOINT hortator_table")?;
        let mut sink = Sink {
            text: RowText::new(&into.quoted(), &table.columns, first),
            pipe,
            counters: self.counters,
            monitor: self.monitor,
            statement_bytes: self.statement_bytes,
            is_given_up: false,
        };
        let query = select(&quoted, &table.columns, table.has_history);
        let done = self.frozen.connection.query(&query, &mut sink);
        if sink.is_given_up {
            return Err(Error::Ended);
        }
        match done {
            Err(hortator_mysql::Error::Server(error)) if TABLE_CHANGED.contains(&error.code) => {
                return Err(Error::Changed(format!("{}: {error}", table.object.shown())));
            }
            done => done.map_err(Error::source(&format!("reading the rows of {}", table.object.shown())))?,
        };
        let pushed = sink.text.pushed();
        let rest = sink.text.take();
        write(pipe, rest)?;
        self.execute("ROLLBACK TO SAVEPOINT hortator_table")?;
        if keeps_history {
            write(pipe, END_HISTORY.as_bytes().to_vec())?;
        }
        let end = log_end(&mut self.control)?;
        self.watch.rows_are_read(&table.object, end.position);
        Ok(pushed)
    }

    fn execute(&mut self, statement: &str) -> Result<(), Error> {
        let done = self.frozen.connection.execute(statement.as_bytes());
        done.map(drop).map_err(Error::source("reading the snapshot"))
    }
}

fn write(pipe: &PipeWriter, bytes: Vec<u8>) -> Result<(), Error> {
    if bytes.is_empty() { Ok(()) } else { pipe.write(bytes).map_err(|_| Error::Ended) }
}

/// Takes the rows of a table.
struct Sink<'s> {
    text: RowText,
    pipe: &'s PipeWriter,
    counters: &'s Counters,
    monitor: &'s dyn Monitor,
    statement_bytes: usize,
    /// Nobody takes what is read, or it shall end.
    is_given_up: bool,
}

impl RowSink for Sink<'_> {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        self.text.push(values);
        let rows = self.counters.rows.fetch_add(1, Relaxed);
        if self.text.len() >= self.statement_bytes {
            self.is_given_up = self.pipe.write(self.text.take()).is_err();
        }
        if rows.is_multiple_of(LOOK_ROWS) {
            // The snapshot stays open meanwhile.
            while self.monitor.wanted() == Wanted::Hold {
                thread::sleep(HOLD_INTERVAL);
            }
            self.is_given_up |= self.monitor.wanted() == Wanted::End;
        }
        if self.is_given_up { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
