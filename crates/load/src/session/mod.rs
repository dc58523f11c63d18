//! The session state at a position of the stream, and how to sync another connection to it.
//!
//! The main session runs every SET and USE and then reads the variables back: this module never computes values. A
//! [`SessionState`] is the result; a chunk carries the state at its position.

mod assignments;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hortator_mysql::{ConnectOptions, Connection, Error, Flavor, quote_string};

use crate::lexer::{Charset, Dialect};

pub use assignments::{Assignments, assignments};

/// Session variables that are read from the start: they decide how text is read and what an insert does.
const ALWAYS: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "character_set_client",
    "character_set_connection",
    "character_set_results",
    "collation_connection",
    "collation_database",
    FOREIGN_KEY_CHECKS,
    "sql_mode",
    "sql_notes",
    "time_zone",
    UNIQUE_CHECKS,
];

/// The variable that switches the checks of foreign keys.
const FOREIGN_KEY_CHECKS: &str = "foreign_key_checks";

/// The variable that allows InnoDB to add to unique keys unseen.
const UNIQUE_CHECKS: &str = "unique_checks";

/// The variable that shows the default schema's character set as the session took it on when it selected the schema:
/// what tables are created with. Another session's `ALTER DATABASE` does not reach it, and setting it does nothing.
const OF_DATABASE: &str = "collation_database";

/// How long a connection may be idle, in seconds: the most that servers take. A session waits while others load.
const IDLE_LIMIT_S: u32 = 31_536_000;

/// Opens a connection that the server will not close because it has nothing to do for hours, and on which each statement
/// commits by itself, whatever the server's default is.
///
/// # Errors
/// When there is no connection.
pub fn open_long_lived(options: &ConnectOptions) -> Result<Connection, Error> {
    open_long_lived_with_autocommit(options).map(|(connection, _)| connection)
}

/// The same, with whether statements of a new session commit by themselves on this server: one may be set up to keep all
/// in a transaction (`autocommit = 0`).
///
/// # Errors
/// When there is no connection.
pub fn open_long_lived_with_autocommit(options: &ConnectOptions) -> Result<(Connection, bool), Error> {
    let mut connection = Connection::open(options)?;
    connection.execute(format!("SET SESSION wait_timeout = {IDLE_LIMIT_S}").as_bytes())?;
    if connection.version().flavor == Flavor::MySql {
        // Else MySQL answers with what it has known for a day: counters are to be those of now. Old ones don't know it.
        let _ = connection.execute(b"SET SESSION information_schema_stats_expiry = 0");
    }
    // Read behind the first statement: `init_connect` runs after the greeting, and may have set it.
    let autocommits = connection.status().autocommit();
    if !autocommits {
        connection.execute(b"SET SESSION autocommit = 1")?;
    }
    Ok((connection, autocommits))
}

/// What a session's variables and default schema are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionState {
    /// The default schema, as bytes of UTF-8.
    pub database: Option<Vec<u8>>,
    /// Variables by lower-case name; `None` is NULL.
    variables: BTreeMap<String, Option<Vec<u8>>>,
    /// The load validates unique keys later: the one case in which a worker turns unique checks off.
    defers_unique_checks: bool,
}

impl SessionState {
    /// Whether foreign keys are checked.
    #[must_use]
    pub fn checks_foreign_keys(&self) -> bool {
        !matches!(self.value(FOREIGN_KEY_CHECKS), b"0" | b"OFF")
    }

    /// Whether the dump has unique checks on.
    #[must_use]
    pub fn checks_unique_keys(&self) -> bool {
        !matches!(self.value(UNIQUE_CHECKS), b"0" | b"OFF")
    }

    /// The same session with checks switched off, whatever the dump has set.
    #[must_use]
    pub fn with_checks_off(&self, foreign_keys: bool, unique: bool) -> Self {
        let mut state = self.clone();
        if foreign_keys {
            state.variables.insert(FOREIGN_KEY_CHECKS.to_owned(), Some(b"0".to_vec()));
        }
        state.defers_unique_checks = unique;
        state
    }

    /// Whether a worker turns unique checks off.
    #[must_use]
    pub fn defers_unique_checks(&self) -> bool {
        self.defers_unique_checks
    }

    /// How this session reads the text of a statement, on a server whose own part of the answer is `server`.
    #[must_use]
    pub fn dialect(&self, server: Dialect) -> Dialect {
        Dialect {
            no_backslash_escapes: self.has_mode("NO_BACKSLASH_ESCAPES"),
            ansi_quotes: self.has_mode("ANSI_QUOTES"),
            charset: Charset::from_name(self.value("character_set_client")),
            ..server
        }
    }

    /// Whether a quoted string is stored as a parameter of the same bytes is: the server converts the one by way of the
    /// connection's character set, the other by way of the client's.
    #[must_use]
    pub fn strings_travel_as_parameters(&self) -> bool {
        self.value("character_set_client") == self.value("character_set_connection")
            && !self.has_mode("EMPTY_STRING_IS_NULL")
    }

    /// Whether names in a statement's text are bytes of UTF-8, beyond ASCII too.
    #[must_use]
    pub fn names_are_utf8(&self) -> bool {
        self.value("character_set_client").starts_with(b"utf8")
    }

    fn has_mode(&self, name: &str) -> bool {
        self.value("sql_mode").split(|byte| *byte == b',').any(|mode| mode == name.as_bytes())
    }

    /// A variable's value; empty for NULL and for one that was never read.
    fn value(&self, name: &str) -> &[u8] {
        self.variables.get(name).and_then(Option::as_deref).unwrap_or_default()
    }
}

/// The main session's state, read back after every change.
#[derive(Debug)]
pub struct Tracker {
    names: BTreeSet<String>,
    state: Arc<SessionState>,
    session_local: BTreeSet<String>,
    is_one_shot: bool,
}

impl Tracker {
    /// Reads the state of a fresh connection.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn new(main: &mut Connection) -> Result<Self, Error> {
        let mut tracker = Self {
            names: ALWAYS.iter().map(|&name| name.to_owned()).collect(),
            state: Arc::default(),
            session_local: BTreeSet::new(),
            is_one_shot: false,
        };
        tracker.refresh(main)?;
        Ok(tracker)
    }

    /// The state in force.
    #[must_use]
    pub fn state(&self) -> &Arc<SessionState> {
        &self.state
    }

    /// Whether the assignments touch a variable whose value before is not known. Work under way must then end first,
    /// because a connection that has taken the new value on could not go back.
    #[must_use]
    pub fn is_new(&self, assignments: &Assignments) -> bool {
        assignments.propagated.iter().any(|name| !self.names.contains(name))
    }

    /// Takes note of a SET that the main session has run, and reads the state.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn assigned(&mut self, assignments: &Assignments, main: &mut Connection) -> Result<(), Error> {
        for (name, is_reset) in &assignments.session_local {
            if *is_reset {
                self.session_local.remove(name);
            } else {
                self.session_local.insert(name.clone());
            }
        }
        self.is_one_shot |= assignments.is_one_shot;
        let new: Vec<String> =
            assignments.propagated.iter().filter(|name| !self.names.contains(*name)).cloned().collect();
        self.names.extend(new.iter().cloned());
        match self.refresh(main) {
            // Not every name can be read: one that exists globally only, one that does not exist at all.
            Err(Error::Server(_)) if !new.is_empty() => {
                for name in &new {
                    self.names.remove(name);
                }
                for name in new {
                    let query = format!("SELECT @@session.`{}`", name.replace('`', "``"));
                    if main.fetch(query.as_bytes()).is_ok() {
                        self.names.insert(name);
                    }
                }
                self.refresh(main)
            }
            read => read,
        }
    }

    /// Reads the state again, where a statement may have changed it in passing.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn refresh(&mut self, main: &mut Connection) -> Result<(), Error> {
        // As bytes: the answer must not depend on character_set_results.
        let mut query = b"SELECT CAST(DATABASE() AS BINARY)".to_vec();
        for name in &self.names {
            query.extend_from_slice(b", CAST(@@session.`");
            query.extend_from_slice(name.as_bytes());
            query.extend_from_slice(b"` AS BINARY)");
        }
        let mut row = main.fetch(&query)?.into_iter().next().unwrap_or_default().into_iter();
        let database = row.next().flatten();
        let variables = self.names.iter().cloned().zip(row).collect();
        let state = SessionState { database, variables, defers_unique_checks: false };
        if state != *self.state {
            self.state = Arc::new(state);
        }
        Ok(())
    }

    /// Whether all statements must run in the main session.
    #[must_use]
    pub fn has_session_local(&self) -> bool {
        self.is_one_shot || !self.session_local.is_empty()
    }

    /// Whether a variable is set that acts on the next statement only.
    #[must_use]
    pub fn is_one_shot(&self) -> bool {
        self.is_one_shot
    }

    /// Takes note that a statement has run that uses up what was set for the next one.
    pub fn rows_ran(&mut self) {
        self.is_one_shot = false;
    }
}

/// The session state that a worker's connection has.
#[derive(Debug, Default)]
pub struct AppliedState {
    state: SessionState,
}

impl AppliedState {
    /// Syncs the connection to `target`, except for settings that parallel connections must not have; returns whether
    /// anything changed.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn sync_to(&mut self, target: &SessionState, connection: &mut Connection) -> Result<bool, Error> {
        if self.state == *target {
            return Ok(false);
        }
        let of_database = |state: &SessionState| state.variables.get(OF_DATABASE).cloned();
        let is_other = self.state.database != target.database;
        if let Some(database) = &target.database
            && (is_other || of_database(&self.state) != of_database(target))
        {
            if !database.is_ascii() {
                connection.execute(b"SET NAMES utf8mb4")?;
                self.state.variables.clear();
            }
            if !is_other {
                // Selecting the schema that is selected would change nothing.
                connection.select_db(b"information_schema")?;
            }
            connection.select_db(database)?;
        }
        let mut statement = Vec::new();
        for (name, value) in &target.variables {
            let is_unique_checks = name == UNIQUE_CHECKS;
            let is_taken = self.state.variables.get(name) == Some(value)
                && !(is_unique_checks && self.state.defers_unique_checks != target.defers_unique_checks);
            if name == OF_DATABASE || is_taken {
                continue;
            }
            statement.extend_from_slice(if statement.is_empty() { b"SET " } else { b", " });
            statement.extend_from_slice(b"@@session.`");
            statement.extend_from_slice(name.as_bytes());
            statement.extend_from_slice(b"` = ");
            if is_unique_checks {
                // On, unless they are deferred: with both checks off, InnoDB takes an empty table for one connection alone
                // (bulk mode), and reports duplicates at commit instead of where they stand.
                statement.push(if target.defers_unique_checks { b'0' } else { b'1' });
            } else {
                statement.extend_from_slice(&value_as_sql(value.as_deref()));
            }
        }
        if !statement.is_empty() {
            connection.execute(&statement)?;
        }
        self.state = target.clone();
        Ok(true)
    }
}

/// A variable's value as SET takes it: a number stays one, because many variables refuse a string.
fn value_as_sql(value: Option<&[u8]>) -> Vec<u8> {
    let Some(value) = value else { return b"NULL".to_vec() };
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_number = !digits.is_empty()
        && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && digits.iter().filter(|byte| **byte == b'.').count() <= 1
        && digits[0].is_ascii_digit();
    if is_number { value.to_vec() } else { quote_string(value) }
}

#[cfg(test)]
mod tests;
