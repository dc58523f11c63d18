//! TIMESTAMPs of a source that knows other ones than the target: MariaDB 11.5 and later go to 2106, earlier ones to 2038.

use std::collections::HashMap;

use hortator_mysql::catalog::TableName;

use super::Applier;
use crate::apply::error::Error;
use crate::binlog::{ColumnFormat, Content, Event, FormatDescription, TableMap};
use crate::row_end;

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
        for event in events {
            match &event.content {
                Content::TableMap(map) => {
                    let map = map.clone();
                    let timed = self.timed_table(&map, is_new).map_err(|error| error.at(|| place.to_owned()))?;
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
    fn timed_table(&mut self, map: &TableMap, target_is_new: bool) -> Result<Option<TimedTable>, Error> {
        // The target says what is wrong with a type that is not known.
        let Ok(formats) = ColumnFormat::read_all(map) else { return Ok(None) };
        let is_row_time =
            |format: &ColumnFormat| format.column_type == TIMESTAMP && format.metadata == [ROW_TIME_DIGITS];
        let mut row_end = None;
        if formats.iter().any(is_row_time) {
            let name = TableName { schema: map.schema.clone(), table: map.table.clone() };
            row_end = self.target_table(&name)?.and_then(|table| table.row_end);
            row_end = row_end.filter(|index| formats.get(*index).is_some_and(is_row_time));
        }
        let has_times = formats.iter().any(|format| [TIMESTAMP, OLD_TIMESTAMP].contains(&format.column_type));
        let is_timed = row_end.is_some() || has_times && !target_is_new;
        Ok(is_timed.then_some(TimedTable { formats, row_end }))
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
