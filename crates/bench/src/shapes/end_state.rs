//! What a load leaves on a server: all schemas that are not the server's own.

use std::collections::BTreeMap;

use hortator_check::compare::is_system_schema;
use hortator_check::state::{self, State};
use hortator_mysql::{Connection, quote_identifier};

use crate::Error;
use crate::nodes::Nodes;

/// Differences that are listed, at most.
const LISTED_LIMIT: usize = 20;

/// The definitions and rows of all schemas.
#[derive(Clone, Debug)]
pub struct EndState {
    schemas: BTreeMap<String, State>,
}

impl EndState {
    /// Reads everything.
    ///
    /// # Errors
    /// [`Error::Server`] when a statement fails.
    pub fn read(server: &Nodes) -> Result<Self, Error> {
        let mut connection = server.connect(0)?;
        let mut schemas = BTreeMap::new();
        for name in schema_names(&mut connection)? {
            let state = state::describe(&mut connection, &name).map_err(Error::server("reading the end state"))?;
            schemas.insert(name, state);
        }
        Ok(Self { schemas })
    }

    /// Rows of all tables.
    #[must_use]
    pub fn row_count(&self) -> u64 {
        self.schemas.values().map(State::row_count).sum()
    }

    /// The first differences, one entry each; empty when both states are the same.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, state) in &self.schemas {
            match other.schemas.get(name) {
                None => found.push(format!("schema {name}: only the first has it")),
                Some(other) => {
                    let differences = state.differences(other).into_iter();
                    found.extend(differences.map(|difference| format!("{name}: {difference}")));
                }
            }
        }
        let added = other.schemas.keys().filter(|name| !self.schemas.contains_key(*name));
        found.extend(added.map(|name| format!("schema {name}: only the second has it")));
        found.truncate(LISTED_LIMIT);
        found
    }

    /// The first rows that differ, read again: `here` and `there` hold the two states.
    ///
    /// # Errors
    /// [`Error::Server`] when a statement fails.
    pub fn differing_rows(&self, here: &Nodes, other: &Self, there: &Nodes) -> Result<Vec<String>, Error> {
        let (mut mine, mut theirs) = (here.connect(0)?, there.connect(0)?);
        let mut found = Vec::new();
        for (name, state) in &self.schemas {
            let Some(other) = other.schemas.get(name) else { continue };
            let rows = state.differing_rows(&mut mine, other, &mut theirs);
            found.extend(rows.map_err(Error::server("reading the rows that differ"))?);
        }
        found.truncate(LISTED_LIMIT);
        Ok(found)
    }
}

/// Drops every schema that is not the server's own.
///
/// # Errors
/// [`Error::Server`] when a statement fails.
pub fn drop_all(connection: &mut Connection) -> Result<(), Error> {
    for name in schema_names(connection)? {
        let statement = [b"DROP DATABASE ".as_slice(), &quote_identifier(&name)].concat();
        connection.execute(&statement).map_err(Error::server(format!("dropping {name}")))?;
    }
    Ok(())
}

fn schema_names(connection: &mut Connection) -> Result<Vec<String>, Error> {
    let query = b"SELECT SCHEMA_NAME FROM information_schema.SCHEMATA";
    let rows = connection.fetch(query).map_err(Error::server("listing schemas"))?;
    let names = rows.into_iter().filter_map(|row| row.into_iter().next().flatten());
    let names = names.map(|name| String::from_utf8_lossy(&name).into_owned());
    Ok(names.filter(|name| !is_system_schema(name)).collect())
}
