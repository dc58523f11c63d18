//! Files of rows: whether they are read, and what the server says of their columns before their first row is.
//!
//! A file whose columns the table does not have ends with one failure, in a forced load too: each of its rows would fail.

use std::sync::atomic::Ordering::Relaxed;

use hortator_mysql::error::{
    DATABASE_DENIED, DUPLICATE_COLUMN, NAME_TOO_LONG, NO_DATABASE, NO_SUCH_TABLE, PARSE_ERROR, TABLE_DENIED,
    UNKNOWN_COLUMN, UNKNOWN_DATABASE, WRONG_CHARACTERS, WRONG_COLUMN_NAME, WRONG_TABLE_NAME,
};
use hortator_mysql::{Error, quote_identifier};

use super::Coordinator;
use crate::analysis::NamedTable;
use crate::apply::Stopped;
use crate::input::delimited::{RowsFile, RowsTable};
use crate::lexer::Location;
use crate::planner::Names;
use crate::report::Failure;

/// What the server says of names that no column can have, or not these.
const OF_COLUMNS: [u16; 6] =
    [UNKNOWN_COLUMN, DUPLICATE_COLUMN, PARSE_ERROR, NAME_TOO_LONG, WRONG_COLUMN_NAME, WRONG_CHARACTERS];

/// What it says where there is no table, or none for this user.
const OF_TABLE: [u16; 6] =
    [NO_SUCH_TABLE, UNKNOWN_DATABASE, NO_DATABASE, WRONG_TABLE_NAME, TABLE_DENIED, DATABASE_DENIED];

/// What a refusal of the statement that rows would come with means for their file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// No row can have these columns.
    Columns,
    /// No row can have this table.
    Table,
    /// It need not hold for the rows: the first of them tells.
    Statement,
}

impl Refusal {
    fn of(error: &Error) -> Self {
        match error.code() {
            Some(code) if OF_TABLE.contains(&code) => Self::Table,
            Some(code) if OF_COLUMNS.contains(&code) => Self::Columns,
            _ => Self::Statement,
        }
    }
}

impl Coordinator<'_> {
    /// A file of rows comes: passes it over where it is left out.
    pub(crate) fn rows_file(&mut self, file: &RowsFile) {
        let state = self.main.state().clone();
        let names = Names {
            database: state.database.as_deref(),
            folds_case: self.folds_case,
            are_utf8: state.names_are_utf8(),
        };
        if self.filter.leaves_out_rows(&file.table, names) {
            self.progress.skipped.fetch_add(1, Relaxed);
            self.main.look_ahead.pass_rows();
        }
    }

    /// The columns of a file of rows are known, before the first of them: the server tells whether the table has them.
    /// `columns`: their names, or all of the table.
    pub(crate) fn rows_columns(
        &mut self,
        file: &RowsFile,
        columns: Option<&[Vec<u8>]>,
        location: &Location,
    ) -> Result<(), Stopped> {
        if !self.pool.is_forced() && self.was_reached(location) {
            // No record of another width than the first one got in, and the table may be another one by now, or gone.
            return Ok(());
        }
        self.prepare_question(location)?;
        let table = self.filter.mapped_table(&file.table, self.folds_case);
        let width = match columns {
            Some(columns) => Some(columns.len()),
            None => self.values_per_row(&table, location)?,
        };
        if let Some(width) = width {
            self.main.look_ahead.expect_columns(width);
        }
        let insert = insert_text(&table, columns, width.unwrap_or_default());
        let Some(error) = self.main.check_only(&insert, location)? else { return Ok(()) };
        let mut failure = Failure::at(location, &insert, &error);
        match Refusal::of(&error) {
            Refusal::Columns if columns.is_some() => {
                let what = if file.has_header() { "in this header" } else { "of --columns" };
                failure.message.push_str(&format!("; nothing of the file is loaded: correct the names {what}"));
                self.main.look_ahead.pass_rows();
                self.fail_rows(failure)
            }
            // Each of its rows fails, if it has any: see `no_rows`.
            Refusal::Table if self.pool.is_forced() => Ok(()),
            Refusal::Table => self.fail_rows(failure),
            Refusal::Columns | Refusal::Statement => Ok(()),
        }
    }

    /// A file of rows had none, so that no row has told whether the table is there.
    pub(crate) fn no_rows(&mut self, file: &RowsFile, location: &Location) -> Result<(), Stopped> {
        if self.was_reached(location) {
            return Ok(());
        }
        self.prepare_question(location)?;
        let table = self.filter.mapped_table(&file.table, self.folds_case);
        let insert = insert_text(&table, None, 0);
        match self.main.check_only(&insert, location)? {
            Some(error) if Refusal::of(&error) == Refusal::Table => {
                self.fail_rows(Failure::at(location, &insert, &error))
            }
            _ => Ok(()),
        }
    }

    /// Whether the run that is resumed has come to this place: something at it or behind it is recorded.
    fn was_reached(&mut self, location: &Location) -> bool {
        self.resume.as_mut().is_some_and(|resume| resume.reader.reaches(location.ordinal))
    }

    /// Brings the main session to this place of the input.
    fn prepare_question(&mut self, location: &Location) -> Result<(), Stopped> {
        self.place_all()?;
        self.flush()?;
        self.main.check_released(b"", location)?;
        self.main.commit_pending()?;
        self.main.write_pending(location)
    }

    /// How many values the table takes for a row; `None` where that is not known.
    fn values_per_row(&mut self, table: &RowsTable, location: &Location) -> Result<Option<usize>, Stopped> {
        let named = NamedTable { schema: table.schema.clone(), table: table.name.clone() };
        let resolved = self.names().resolve(&named);
        // The catalog does not show those.
        let Some(name) = resolved.filter(|_| !self.main.has_temporary_tables()) else { return Ok(None) };
        Ok(self.table(&name, location)?.and_then(|table| table.values_per_row()))
    }

    /// A failure before the rows of a file. What is whole before it goes in.
    fn fail_rows(&mut self, failure: Failure) -> Result<(), Stopped> {
        self.finish_stream()?;
        self.pool.fail(self.pool.position(), failure, false);
        if self.pool.is_forced() { Ok(()) } else { Err(Stopped) }
    }
}

/// An INSERT of one row, to be prepared.
fn insert_text(table: &RowsTable, columns: Option<&[Vec<u8>]>, width: usize) -> Vec<u8> {
    let quoted = |names: &[Vec<u8>]| names.iter().map(quote_identifier).collect::<Vec<_>>().join(&b","[..]);
    let names = columns.map_or_else(Vec::new, |columns| [b" (", &quoted(columns)[..], b")"].concat());
    let values = vec![&b"?"[..]; width].join(&b","[..]);
    [b"INSERT INTO ", &table.quoted()[..], &names, b" VALUES (", &values, b")"].concat()
}
