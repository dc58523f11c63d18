//! The state of a schema, for comparison with another: all definitions, and all rows.
//!
//! Two states are equal when each table, view, sequence, trigger, routine and event of one has the same `SHOW CREATE`
//! in the other (which includes AUTO_INCREMENT, keys and character sets), and each table and sequence holds the same
//! rows, equally often. Rows have no order in SQL: they are compared sorted by the bytes of all columns.
//!
//! Memory does not grow with the tables: of a large table only a count and hashes are kept (128 bits per bucket of
//! rows), and [`State::differing_rows`] reads it again to show the differing rows. The state is inconsistent if rows
//! change during [`describe`]: use it on a schema without writers.

mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hortator_mysql::{Connection, Error};
use rows::Content;

pub use crate::definitions::Kind;
use crate::definitions::{self, Definition};

/// The options of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Leave out the schema's own name in definitions, so that two schemas of different names can be equal.
    pub any_name: bool,
    /// Compare the start and end times of system-versioned rows. Without this only whether a row is current counts,
    /// because each load has its own times.
    pub row_times: bool,
}

/// The state of a schema at the time of [`describe`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    schema: Vec<u8>,
    options: Options,
    definitions: BTreeMap<(Kind, Vec<u8>), Definition>,
    contents: BTreeMap<Vec<u8>, Content>,
}

/// Reads the state of a schema. This changes the connection's session (character set, `sql_mode`, time zone, default
/// schema): give it a separate connection.
///
/// # Errors
/// Any error of the server or the connection. A definition that the server cannot show, such as that of a view on a
/// missing table, is not an error: the server's message is its definition.
pub fn describe(connection: &mut Connection, schema: impl AsRef<[u8]>) -> Result<State, Error> {
    describe_with(connection, schema, Options::default())
}

/// As [`describe`], with options.
///
/// # Errors
/// As [`describe`].
pub fn describe_with(connection: &mut Connection, schema: impl AsRef<[u8]>, options: Options) -> Result<State, Error> {
    let schema = schema.as_ref().to_vec();
    definitions::prepare_session(connection, &schema)?;
    let definitions = definitions::read(connection, &schema, options.any_name)?;
    let mut contents = BTreeMap::new();
    for (kind, name) in definitions.keys().filter(|(kind, _)| kind.has_rows()) {
        contents.insert(name.clone(), rows::read(connection, &schema, name, *kind, options)?);
    }
    Ok(State { schema, options, definitions, contents })
}

impl State {
    /// The differences between the two, one entry for each definition and each table's rows, in a stable order; empty
    /// when they are equal. For a small table the entry shows the first differing rows.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let definitions = definitions::differences(&self.definitions, &other.definitions);
        let definitions = definitions.into_iter().map(|difference| difference.to_string());
        // The definitions above include a table that only one schema has.
        let in_both = self.contents.iter().filter_map(|(name, mine)| Some((name, mine, other.contents.get(name)?)));
        let contents = in_both.filter_map(|(name, mine, theirs)| {
            let found = mine.difference(theirs)?;
            Some(format!("rows of {}: {found}", String::from_utf8_lossy(name)))
        });
        definitions.chain(contents).collect()
    }

    /// The first differing rows of each table whose content differs, read again from both schemas: for large tables,
    /// for which [`State::differences`] only knows that they differ.
    ///
    /// # Errors
    /// Any error of the servers or the connections.
    pub fn differing_rows(
        &self,
        mine: &mut Connection,
        other: &Self,
        theirs: &mut Connection,
    ) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        for (name, here) in &self.contents {
            let Some(there) = other.contents.get(name) else { continue };
            let buckets = here.differing_buckets(there);
            if buckets.is_empty() {
                continue;
            }
            let here = self.rows_in(mine, name, &buckets)?;
            let there = other.rows_in(theirs, name, &buckets)?;
            if let Some(rows) = rows::first_differences(&here, &there) {
                found.push(format!("rows of {}: {rows}", String::from_utf8_lossy(name)));
            }
        }
        Ok(found)
    }

    /// The number of rows of all tables and sequences.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.contents.values().map(Content::row_count).sum()
    }

    /// The number of definitions of each kind, for a summary.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<Kind, usize> {
        let mut counts = BTreeMap::new();
        for (kind, _) in self.definitions.keys() {
            *counts.entry(*kind).or_default() += 1;
        }
        counts
    }

    fn rows_in(&self, connection: &mut Connection, table: &[u8], buckets: &[usize]) -> Result<Vec<rows::Row>, Error> {
        definitions::prepare_session(connection, &self.schema)?;
        let kind = self.definitions.keys().find(|(kind, name)| kind.has_rows() && name == table);
        let kind = kind.map_or(Kind::Table, |(kind, _)| *kind);
        rows::read_buckets(connection, &self.schema, table, kind, self.options, buckets)
    }
}
