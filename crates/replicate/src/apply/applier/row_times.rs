//! TIMESTAMPs of a source that knows other ones than the target: MariaDB 11.5 and later go to 2106, earlier ones to 2038.

use std::collections::HashMap;

use hortator_load::lexer::{Dialect, Kind, Token, tokens};
use hortator_mysql::catalog::TableName;

use super::Applier;
use crate::apply::error::Error;
use crate::binlog::{ColumnFormat, Content, Event, FormatDescription, QueryEvent, TableMap};
use crate::row_end;
use crate::rules::created_table_in;
use crate::statement_text::{COLUMNS_DEPTH, depths};

/// TIMESTAMP, with fractions of a second and, of old tables, without.
const TIMESTAMP: u8 = 17;
const OLD_TIMESTAMP: u8 = 7;
/// The digits of the fraction that the times of rows have.
const ROW_TIME_DIGITS: u8 = 6;
/// Tables that are kept in mind; a server gives them numbers anew from time to time.
const TABLES_LIMIT: usize = 100_000;

/// The tables whose rows are looked at, by their number.
pub(super) type RowTimes = HashMap<u64, TimedTable>;

/// A table with TIMESTAMPs that may not be the same on the target.
#[derive(Debug)]
pub(super) struct TimedTable {
    formats: Vec<ColumnFormat>,
    /// The column that says when a row ends.
    row_end: Option<usize>,
}

impl Applier {
    /// Makes the times of rows those of the target.
    ///
    /// # Errors
    /// A time that the target cannot have.
    pub(super) fn convert_times(
        &mut self,
        events: &mut [Event],
        format: &FormatDescription,
        place: &str,
    ) -> Result<(), Error> {
        let is_new = row_end::goes_to_2106(self.connection.version().comment_number());
        if !format.is_mariadb() || format.goes_to_2106() == is_new {
            return Ok(());
        }
        let refused = |found| Error::Event { place: place.to_owned(), found };
        let mut created = HashMap::new();
        for event in events {
            match &event.content {
                Content::Query(query) => {
                    if let Some((table, new)) = self.new_table(query, place)? {
                        created.insert(table, new);
                    }
                }
                Content::TableMap(map) => {
                    let map = map.clone();
                    let timed =
                        self.timed_table(&map, is_new, &created).map_err(|error| error.at(|| place.to_owned()))?;
                    if self.row_times.len() >= TABLES_LIMIT {
                        self.row_times.clear();
                    }
                    match timed {
                        Some(timed) => self.row_times.insert(map.table_id, timed),
                        None => self.row_times.remove(&map.table_id),
                    };
                }
                Content::Rows(rows) => {
                    let Some(TimedTable { formats, row_end }) = self.row_times.get(&rows.table_id) else { continue };
                    let edited = event.edit_values(formats, format, |column, value| {
                        if Some(column) == *row_end {
                            row_end::convert(value, is_new);
                        }
                        if !is_new && is_beyond_2038(&formats[column], value) {
                            return Err(format!(
                                "column {} has a TIMESTAMP after 2038, which the target, a MariaDB before 11.5, cannot have: upgrade the target, then \
                                 `resume`; or change the rows on the target by hand, then `skip` it",
                                column + 1
                            ));
                        }
                        Ok(())
                    });
                    edited.map_err(refused)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// None: its values are the same on the target.
    fn timed_table(
        &mut self,
        map: &TableMap,
        target_is_new: bool,
        created: &HashMap<TableName, NewTable>,
    ) -> Result<Option<TimedTable>, Error> {
        // The target says what is wrong with a type that is not known.
        let Ok(formats) = ColumnFormat::read_all(map) else { return Ok(None) };
        let is_row_time =
            |format: &ColumnFormat| format.column_type == TIMESTAMP && format.metadata == [ROW_TIME_DIGITS];
        let mut row_end = None;
        if formats.iter().any(is_row_time) {
            let name = TableName { schema: map.schema.clone(), table: map.table.clone() };
            let there = match created.get(&name) {
                Some(new) if new.replaces => None,
                _ => self.target_table(&name)?,
            };
            row_end = match (there, created.get(&name)) {
                (Some(table), _) => table.row_end,
                (None, Some(new)) => new.row_end.index(formats.len()),
                (None, None) => None,
            };
            row_end = row_end.filter(|index| formats.get(*index).is_some_and(is_row_time));
        }
        let has_times = formats.iter().any(|format| [TIMESTAMP, OLD_TIMESTAMP].contains(&format.column_type));
        let is_timed = row_end.is_some() || has_times && !target_is_new;
        Ok(is_timed.then_some(TimedTable { formats, row_end }))
    }
}

/// A table that a statement before the rows creates: CREATE TABLE … SELECT.
struct NewTable {
    row_end: RowEnd,
    replaces: bool,
}

impl Applier {
    fn new_table(&mut self, query: &QueryEvent, place: &str) -> Result<Option<(TableName, NewTable)>, Error> {
        // A source writes it so itself.
        if !query.text.starts_with(b"CREATE") {
            return Ok(None);
        }
        let (dialect, _) = self.dialect(query, place)?;
        let created = created_table_in(Some(&query.schema), &query.text, &dialect);
        Ok(created.map(|created| {
            let row_end = RowEnd::of_definition(&query.text, &dialect);
            let name = TableName { schema: created.schema, table: created.table };
            (name, NewTable { row_end, replaces: created.replaces })
        }))
    }
}

/// Which column of a new table says when a row ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowEnd {
    None,
    Named(usize),
    /// The second of two columns that nobody sees, behind all others.
    Last,
}

impl RowEnd {
    /// Reads a definition as a server writes it: the names of columns are quoted.
    fn of_definition(text: &[u8], dialect: &Dialect) -> RowEnd {
        let all: Vec<Token<'_>> = tokens(text, dialect).collect();
        let depths = depths(&all);
        let mut columns = 0usize;
        let mut is_versioned = false;
        for (index, window) in all.windows(3).enumerate() {
            let are = |words: [&[u8]; 3]| window.iter().zip(words).all(|(token, word)| token.is_word(word));
            let begins_item = window[0].is_symbol(b"(") && depths[index] == 0 || window[0].is_symbol(b",");
            let is_column = matches!(window[1].kind, Kind::QuotedIdentifier(_));
            if begins_item && is_column && depths[index + 1] == COLUMNS_DEPTH {
                columns += 1;
            } else if are([b"AS", b"ROW", b"END"]) {
                return columns.checked_sub(1).map_or(RowEnd::None, RowEnd::Named);
            }
            is_versioned |= are([b"WITH", b"SYSTEM", b"VERSIONING"]) && depths[index] == 0;
        }
        if is_versioned { RowEnd::Last } else { RowEnd::None }
    }

    /// Its number, of a table with so many columns.
    fn index(self, columns: usize) -> Option<usize> {
        match self {
            RowEnd::None => None,
            RowEnd::Named(index) => Some(index),
            RowEnd::Last => columns.checked_sub(1),
        }
    }
}

fn is_beyond_2038(format: &ColumnFormat, value: &[u8]) -> bool {
    let highest = match format.column_type {
        TIMESTAMP => value.first(),
        OLD_TIMESTAMP => value.last(),
        _ => None,
    };
    highest.is_some_and(|byte| *byte > 0x7f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_end_of_a_definition() {
        for (text, expected) in [
            ("CREATE TABLE `t` (\n `a` int(11),\n `b` decimal(3,1)\n) ENGINE=InnoDB", RowEnd::None),
            ("CREATE TABLE `t` (\n `a` int(11)\n) ENGINE=InnoDB WITH SYSTEM VERSIONING", RowEnd::Last),
            (
                "CREATE TABLE `t` (\n `a` enum('x','y'),\n `s` timestamp(6) GENERATED ALWAYS AS ROW START,\n `e` \
                 timestamp(6) GENERATED ALWAYS AS ROW END,\n `z` int(11),\n PERIOD FOR SYSTEM_TIME (`s`, `e`)\n) WITH \
                 SYSTEM VERSIONING",
                RowEnd::Named(2),
            ),
        ] {
            assert_eq!(RowEnd::of_definition(text.as_bytes(), &Dialect::mariadb(u32::MAX)), expected, "{text}");
        }
    }
}
