//! All of a schema, for comparison with another: what is defined in it, and every row.
//!
//! Two states are equal when each table, view, sequence, trigger, routine and event of one has the same `SHOW CREATE` in
//! the other (which holds AUTO_INCREMENT, keys and character sets), and each table and sequence holds the same rows, as
//! often. Rows have no order of their own in SQL: they are compared as sorted by the bytes of all columns.
//!
//! Memory does not grow with the tables: of a large one only a count and hashes stay (128 bits a bucket of rows), and
//! [`State::differing_rows`] reads it again to show which rows differ. Rows that change during [`describe`] make the
//! state of no moment: this is for a schema that nobody writes to.

mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use hortator_mysql::{Connection, Error};
use rows::Content;

pub use crate::definitions::Kind;
use crate::definitions::{self, Definition};

/// What of a schema is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The schema's own name is left out of definitions, so that two schemas of different names can be equal.
    pub any_name: bool,
    /// The times at which rows of system-versioned tables came and went count too. Without it only whether a row is the
    /// current one does, since each load happens at a time of its own.
    pub row_times: bool,
}

/// What a schema was when [`describe`] looked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    schema: Vec<u8>,
    options: Options,
    definitions: BTreeMap<(Kind, Vec<u8>), Definition>,
    contents: BTreeMap<Vec<u8>, Content>,
}

/// Reads all of a schema. The connection's session is changed by it (character set, `sql_mode`, time zone, default
/// schema): give it one of its own.
///
/// # Errors
/// Whatever the server or the connection says. A definition that the server can't show, such as that of a view on a
/// table which is gone, is no error: what the server says of it is its definition.
pub fn describe(connection: &mut Connection, schema: impl AsRef<[u8]>) -> Result<State, Error> {
    describe_with(connection, schema, Options::default())
}

/// [`describe`], with a say in what is compared.
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
    /// What differs between the two, one entry for each definition and each table's rows, in an order that does not
    /// change; empty when they are the same. Of a small table the entry shows the first rows that differ.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let definitions = definitions::differences(&self.definitions, &other.definitions);
        let definitions = definitions.into_iter().map(|difference| difference.to_string());
        // A table that only one has is told above.
        let in_both = self.contents.iter().filter_map(|(name, mine)| Some((name, mine, other.contents.get(name)?)));
        let contents = in_both.filter_map(|(name, mine, theirs)| {
            let found = mine.difference(theirs)?;
            Some(format!("rows of {}: {found}", String::from_utf8_lossy(name)))
        });
        definitions.chain(contents).collect()
    }

    /// The first rows that differ in each table whose content differs, read again from both schemas: for large tables,
    /// of which [`State::differences`] knows only that they differ.
    ///
    /// # Errors
    /// Whatever the servers or the connections say.
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

    /// Rows of all tables and sequences.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.contents.values().map(Content::row_count).sum()
    }

    /// How many definitions of each kind there are, for a summary.
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
