//! The session's state at a statement's place in the stream, and how another connection takes it on.
//!
//! The main session runs every SET and USE itself, and the server reports what it made of them with its answers: values are
//! never computed here, and nothing of ours runs in between. A [`SessionState`] is what was reported up to a place; chunks
//! carry the one that was in force where they stood.

mod shared_reports;
mod tracker;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use hortator_mysql::{ConnectOptions, Connection, Error, Flavor, quote_string};

use crate::analysis::{FunctionSet, is_propagated};
use crate::lexer::{Charset, Dialect};

pub use tracker::Tracker;

/// The variable that switches the checks of foreign keys.
const FOREIGN_KEY_CHECKS: &str = "foreign_key_checks";

/// The variable that allows InnoDB to add to unique keys unseen.
const UNIQUE_CHECKS: &str = "unique_checks";

/// How long a connection may be idle, in seconds: the most that servers take. A session waits while others load.
const IDLE_LIMIT_S: u32 = 31_536_000;

/// Variables that NULL is a value of, and that servers report as an empty text then.
const NULLABLE: &[&str] = &[
    "character_set_results",
    "default_tmp_storage_engine",
    "enforce_storage_engine",
    "innodb_ft_user_stopword_table",
    "innodb_tmpdir",
];

/// Asks for all variables of a session.
const SHOW_VARIABLES: &[u8] = b"SHOW SESSION VARIABLES";

/// The same as bytes, whatever the character set of results is, for one that ASCII is not a part of; slower.
fn variables_as_bytes(flavor: Flavor) -> Vec<u8> {
    let table = match flavor {
        Flavor::MariaDb => "information_schema.SESSION_VARIABLES",
        Flavor::MySql => "performance_schema.session_variables",
    };
    // With a limit, since the session may have one.
    let names = "CAST(VARIABLE_NAME AS BINARY), CAST(VARIABLE_VALUE AS BINARY)";
    format!("SELECT {names} FROM {table} LIMIT 100000").into_bytes()
}

/// Variables of a session by lower-case name; `None` is NULL.
pub(crate) type Variables = BTreeMap<String, Option<Vec<u8>>>;

/// Takes off what a server limits statements to (`max_join_size`, `max_statement_time`), in a session of the load's own: it
/// may read all of a large table, and waits for other sessions of the load where the client waits for nothing.
///
/// # Errors
/// What the server or the connection says.
pub fn lift_limits(connection: &mut Connection) -> Result<(), Error> {
    match connection.version().flavor {
        Flavor::MariaDb => connection.execute(b"SET SESSION sql_big_selects = 1, max_statement_time = 0").map(drop),
        Flavor::MySql => {
            connection.execute(b"SET SESSION sql_big_selects = 1")?;
            // Old ones don't know it.
            match connection.execute(b"SET SESSION max_execution_time = 0") {
                Ok(_) | Err(Error::Server(_)) => Ok(()),
                Err(error) => Err(error),
            }
        }
    }
}

/// Opens a connection for the load's own queries that the server will not close because it has nothing to do for hours, and on
/// which each statement commits by itself, whatever the server's default is.
///
/// # Errors
/// When there is no connection.
pub fn open_long_lived(options: &ConnectOptions) -> Result<Connection, Error> {
    let mut connection = Connection::open(options)?;
    make_long_lived(&mut connection)?;
    lift_limits(&mut connection)?;
    Ok(connection)
}

/// Makes a new connection such a one; gives whether statements of a new session commit by themselves on this server: one
/// may be set up to keep all in a transaction (`autocommit = 0`).
///
/// # Errors
/// What the server or the connection says.
pub fn make_long_lived(connection: &mut Connection) -> Result<bool, Error> {
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
    Ok(autocommits)
}

/// The functions that a server has built in.
///
/// # Errors
/// What the server or the connection says.
pub(crate) fn function_set(connection: &mut Connection) -> Result<FunctionSet, Error> {
    match connection.version().flavor {
        Flavor::MySql => Ok(FunctionSet::all()),
        Flavor::MariaDb => {
            let listed = hortator_mysql::catalog::native_functions(connection)?;
            Ok(FunctionSet::of_server(listed.as_ref()))
        }
    }
}

/// What a session's variables and default schema are.
#[derive(Clone, Debug, Default)]
pub struct SessionState {
    /// The default schema, as bytes of UTF-8.
    pub database: Option<Vec<u8>>,
    /// The default schema's collation, as the session took it on when it selected the schema: what tables are created
    /// with. Another session's `ALTER DATABASE` does not reach it.
    collation_database: Option<Vec<u8>>,
    /// The session's variables when it began.
    initial: Arc<HashMap<String, Option<Vec<u8>>>>,
    /// Those that have another value now.
    changed: Variables,
    /// Unique keys are validated later: the one case in which a worker may go without their checks.
    defers_unique_checks: bool,
    /// `foreign_key_checks` of the dump, where foreign keys are validated later.
    deferred_foreign_key_checks: Option<Vec<u8>>,
    /// What its variables mean, as soon as somebody has asked.
    settings: OnceLock<Settings>,
}

/// What a session's variables mean for each statement.
#[derive(Clone, Copy, Debug)]
struct Settings {
    checks_foreign_keys: bool,
    checks_unique_keys: bool,
    strings_travel_as_parameters: bool,
    names_are_utf8: bool,
    null_is_last_number: bool,
}

impl PartialEq for SessionState {
    /// Of states of one load, which all began with the same variables.
    fn eq(&self, other: &Self) -> bool {
        self.database == other.database
            && self.collation_database == other.collation_database
            && self.changed == other.changed
            && self.defers_unique_checks == other.defers_unique_checks
    }
}

impl Eq for SessionState {}

impl SessionState {
    /// Looked up once: a dump of single rows asks several times for each of millions of statements.
    fn settings(&self) -> &Settings {
        self.settings.get_or_init(|| {
            let client_charset = self.value("character_set_client");
            Settings {
                checks_foreign_keys: !matches!(self.value(FOREIGN_KEY_CHECKS), b"0" | b"OFF"),
                checks_unique_keys: !matches!(self.value(UNIQUE_CHECKS), b"0" | b"OFF"),
                strings_travel_as_parameters: client_charset == self.value("character_set_connection")
                    && !self.has_mode("EMPTY_STRING_IS_NULL"),
                // The server converts no names of `binary`, in which mydumper writes: it takes them for UTF-8.
                names_are_utf8: client_charset.starts_with(b"utf8") || client_charset == b"binary",
                null_is_last_number: self.value("sql_auto_is_null") == b"ON",
            }
        })
    }

    /// Whether foreign keys are checked.
    #[must_use]
    pub fn checks_foreign_keys(&self) -> bool {
        self.settings().checks_foreign_keys
    }

    /// Whether the dump has unique keys checked.
    #[must_use]
    pub fn checks_unique_keys(&self) -> bool {
        self.settings().checks_unique_keys
    }

    /// The same session with checks switched off, whatever the dump has set.
    #[must_use]
    pub fn with_checks_off(&self, foreign_keys: bool, unique: bool) -> Self {
        let mut state = self.clone();
        if foreign_keys {
            state.deferred_foreign_key_checks = Some(self.value(FOREIGN_KEY_CHECKS).to_vec());
            state.set(FOREIGN_KEY_CHECKS, Some(b"OFF".to_vec()));
        }
        state.defers_unique_checks = unique;
        state
    }

    /// The variables that the dump has given other values, without those that mean nothing in another session.
    pub(crate) fn changes(&self) -> impl Iterator<Item = &str> {
        self.changed.keys().map(String::as_str).filter(|name| is_propagated(name))
    }

    /// A variable's value as the dump has set it, which may be NULL; `None` for one that the server does not have.
    pub(crate) fn own_value(&self, name: &str) -> Option<Option<&[u8]>> {
        match &self.deferred_foreign_key_checks {
            Some(own) if name == FOREIGN_KEY_CHECKS => Some(Some(own)),
            _ => self.variable(name),
        }
    }

    /// Whether a worker goes without unique checks.
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
            brackets: server.mariadb && self.has_mode("MSSQL"),
            charset: Charset::from_name(self.value("character_set_client")),
            ..server
        }
    }

    /// Whether a quoted string is stored as a parameter of the same bytes is: the server converts the one by way of the
    /// connection's character set, the other by way of the client's.
    #[must_use]
    pub fn strings_travel_as_parameters(&self) -> bool {
        self.settings().strings_travel_as_parameters
    }

    /// Whether names in a statement's text are bytes of UTF-8, beyond ASCII too.
    #[must_use]
    pub fn names_are_utf8(&self) -> bool {
        self.settings().names_are_utf8
    }

    /// Whether `IS NULL` asks for the number of the last row.
    pub(crate) fn null_is_last_number(&self) -> bool {
        self.settings().null_is_last_number
    }

    pub(crate) fn has_mode(&self, name: &str) -> bool {
        self.value("sql_mode").split(|byte| *byte == b',').any(|mode| mode == name.as_bytes())
    }

    /// A variable's value; empty for NULL and for one that the server does not have.
    pub(crate) fn value(&self, name: &str) -> &[u8] {
        self.variable(name).flatten().unwrap_or_default()
    }

    /// Whether the dump has given a variable another value.
    pub(crate) fn has_changed(&self, name: &str) -> bool {
        self.changed.contains_key(name)
    }

    /// A variable's value, which may be NULL; `None` for one that the server does not have.
    fn variable(&self, name: &str) -> Option<Option<&[u8]>> {
        self.changed.get(name).or_else(|| self.initial.get(name)).map(Option::as_deref)
    }

    /// The variables of a session that begins.
    fn begin(&mut self, variables: Variables) {
        self.settings = OnceLock::new();
        self.initial = Arc::new(variables.into_iter().collect());
    }

    fn set(&mut self, name: &str, value: Option<Vec<u8>>) {
        self.settings = OnceLock::new();
        if self.initial.get(name) == Some(&value) {
            self.changed.remove(name);
        } else {
            self.changed.insert(name.to_owned(), value);
        }
    }
}

/// All variables of a connection's session, as `SHOW VARIABLES` writes their values.
///
/// # Errors
/// What the server or the connection says.
fn session_variables(connection: &mut Connection) -> Result<Variables, Error> {
    Ok(variables_of(connection.fetch(SHOW_VARIABLES)?))
}

/// The variables in the answer to [`SHOW_VARIABLES`].
fn variables_of(rows: Vec<hortator_mysql::Row>) -> Variables {
    let variable = |row: hortator_mysql::Row| {
        let mut values = row.into_iter();
        let name = String::from_utf8_lossy(&values.next()??).to_ascii_lowercase();
        let value = values.next().flatten();
        let value = as_reported(&name, value.unwrap_or_default());
        Some((name, value))
    };
    rows.into_iter().filter_map(variable).collect()
}

/// Variables that no session has for itself: their values are among those of a session too, and change under it. Empty
/// where the server does not tell.
fn global_variables(connection: &mut Connection) -> BTreeSet<String> {
    // With a limit, since the session may have one.
    let query = match connection.version().flavor {
        Flavor::MariaDb => {
            "SELECT CAST(VARIABLE_NAME AS BINARY) FROM information_schema.SYSTEM_VARIABLES \
             WHERE VARIABLE_SCOPE = 'GLOBAL' LIMIT 100000"
        }
        Flavor::MySql => {
            "SELECT CAST(VARIABLE_NAME AS BINARY) FROM performance_schema.session_variables WHERE VARIABLE_NAME NOT IN \
             (SELECT VARIABLE_NAME FROM performance_schema.variables_by_thread \
             WHERE THREAD_ID = PS_CURRENT_THREAD_ID()) LIMIT 100000"
        }
    };
    let rows = connection.fetch(query.as_bytes()).unwrap_or_default();
    let name = |row: hortator_mysql::Row| Some(String::from_utf8_lossy(&row.into_iter().next()??).to_ascii_lowercase());
    rows.into_iter().filter_map(name).collect()
}

/// A reported value, with NULL told from an empty text.
fn as_reported(name: &str, value: Vec<u8>) -> Option<Vec<u8>> {
    (!value.is_empty() || !NULLABLE.contains(&name)).then_some(value)
}

/// The state that a worker's connection has taken on.
#[derive(Debug, Default)]
pub struct AppliedState {
    state: SessionState,
    /// The connection's own variables; empty before it has taken a state on.
    variables: Variables,
    has_begun: bool,
}

impl AppliedState {
    /// Brings the connection to `target`, but for what connections that share tables must not have; tells whether
    /// anything changed.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub fn sync_to(&mut self, target: &SessionState, connection: &mut Connection) -> Result<bool, Error> {
        if self.has_begun && self.state == *target {
            return Ok(false);
        }
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        if is_first {
            self.variables = session_variables(connection)?;
        }
        self.select_schema(target, connection)?;
        // A new connection may differ in any variable: the dump may have set global ones.
        let names: Vec<&String> = match is_first {
            true => target.initial.keys().chain(target.changed.keys()).collect(),
            false => self.state.changed.keys().chain(target.changed.keys()).collect(),
        };
        let mut wanted = Variables::new();
        for name in names.into_iter().filter(|name| is_propagated(name)) {
            let value = target.variable(name).flatten().map(<[u8]>::to_vec);
            if self.variables.get(name) != Some(&value) {
                wanted.insert(name.clone(), value);
            }
        }
        // On, unless they are deferred: with both checks off, InnoDB takes an empty table for one connection alone (bulk
        // mode), and reports duplicates at commit instead of where they stand.
        let unique_checks = Some(if target.defers_unique_checks { b"OFF".to_vec() } else { b"ON".to_vec() });
        match self.variables.get(UNIQUE_CHECKS) == Some(&unique_checks) {
            true => drop(wanted.remove(UNIQUE_CHECKS)),
            false => drop(wanted.insert(UNIQUE_CHECKS.to_owned(), unique_checks)),
        }
        self.assign(wanted, target, connection)?;
        self.state = target.clone();
        Ok(true)
    }

    fn select_schema(&mut self, target: &SessionState, connection: &mut Connection) -> Result<(), Error> {
        let is_other = self.state.database != target.database;
        let Some(database) = &target.database else { return Ok(()) };
        if !is_other && self.state.collation_database == target.collation_database {
            return Ok(());
        }
        if !database.is_ascii() {
            connection.execute(b"SET NAMES utf8mb4")?;
            for name in
                ["character_set_client", "character_set_connection", "character_set_results", "collation_connection"]
            {
                self.variables.remove(name);
                // To be set again, whatever the state before has said.
                let value = target.variable(name).flatten().map(<[u8]>::to_vec);
                self.state.changed.insert(name.to_owned(), value);
            }
        }
        if !is_other {
            // Selecting the schema that is selected would change nothing.
            connection.select_db(b"information_schema")?;
        }
        connection.select_db(database)
    }

    fn assign(&mut self, wanted: Variables, target: &SessionState, connection: &mut Connection) -> Result<(), Error> {
        let assignment = |(name, value): (&String, &Option<Vec<u8>>)| {
            [b"@@session.`".as_slice(), name.as_bytes(), b"` = ", &value_as_sql(value.as_deref())].concat()
        };
        let all: Vec<Vec<u8>> = wanted.iter().map(assignment).collect();
        if all.is_empty() {
            return Ok(());
        }
        match connection.execute(&[b"SET ".as_slice(), &all.join(&b", "[..])].concat()) {
            Ok(_) => {}
            Err(Error::Server(_)) => {
                for (name, one) in wanted.keys().zip(&all) {
                    match connection.execute(&[b"SET ".as_slice(), one].concat()) {
                        // What a session cannot set it has from its server, as a new session of the client's would.
                        Err(Error::Server(_)) if !target.changed.contains_key(name) => {}
                        result => drop(result?),
                    }
                }
            }
            Err(error) => return Err(error),
        }
        self.variables.extend(wanted);
        Ok(())
    }
}

/// Whether a variable's value is a number: it stays one in a SET, because many variables refuse a string.
pub(crate) fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    !digits.is_empty()
        && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && digits.iter().filter(|byte| **byte == b'.').count() <= 1
        && digits[0].is_ascii_digit()
}

/// A variable's value as SET takes it.
fn value_as_sql(value: Option<&[u8]>) -> Vec<u8> {
    let Some(value) = value else { return b"NULL".to_vec() };
    if is_number(value) {
        return value.to_vec();
    }
    // Whatever the connection's character set is at the moment.
    [b"_utf8mb4".as_slice(), &quote_string(value)].concat()
}

#[cfg(test)]
mod tests;
