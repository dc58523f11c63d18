//! A private server that stays up over many dumps, and is as new before each.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use hortator_check::state::{self, State};
use hortator_mysql::{ConnectOptions, Connection, quote_identifier, quote_string};
use hortator_sandbox::{Builder, Temporary};

/// The database that every dump is loaded into unless it names another, as the tests expect.
pub(crate) const DATABASE: &str = "test";

/// As the server's own tests have it, where that matters; loads here need not outlive a power cut.
const SETTINGS: [(&str, &str); 17] = [
    ("character_set_server", "latin1"),
    ("collation_server", "latin1_swedish_ci"),
    ("plugin_maturity", "unknown"),
    ("local_infile", "1"),
    ("secure_file_priv", ""),
    ("log_bin_trust_function_creators", "1"),
    ("key_buffer_size", "1M"),
    ("sort_buffer_size", "256K"),
    ("max_heap_table_size", "1M"),
    ("innodb_buffer_pool_size", "64M"),
    ("innodb_log_file_size", "32M"),
    ("innodb_flush_log_at_trx_commit", "0"),
    ("innodb_doublewrite", "0"),
    ("innodb_flush_method", "nosync"),
    ("debug_no_sync", "1"),
    // A dump that waits for itself ends with an error in time.
    ("innodb_lock_wait_timeout", "3"),
    ("lock_wait_timeout", "5"),
];

/// How long a look at a server may take: a dump can leave locks behind.
const LOOK_LIMIT: Duration = Duration::from_secs(60);

const OF_THE_SERVER: &str = "'mysql', 'sys', 'information_schema', 'performance_schema'";

/// What of the server itself a dump can change, one query for each. Columns that tell times are left out.
pub(crate) const SERVER_QUERIES: [&str; 11] = [
    "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE 'gtid%' AND Variable_name NOT IN ('port', 'server_uid')",
    "SELECT Host, User, JSON_REMOVE(Priv, '$.password_last_changed') FROM mysql.global_priv ORDER BY 1, 2",
    "SELECT * FROM mysql.db ORDER BY 1, 2, 3",
    "SELECT Host, Db, User, Table_name, Grantor, Table_priv, Column_priv FROM mysql.tables_priv ORDER BY 1, 2, 3, 4",
    "SELECT Host, Db, User, Table_name, Column_name, Column_priv FROM mysql.columns_priv ORDER BY 1, 2, 3, 4, 5",
    "SELECT Host, Db, User, Routine_name, Routine_type, Grantor, Proc_priv FROM mysql.procs_priv ORDER BY 1, 2, 3, 4, 5",
    "SELECT * FROM mysql.roles_mapping ORDER BY 1, 2, 3",
    "SELECT * FROM mysql.plugin ORDER BY 1",
    "SELECT * FROM mysql.func ORDER BY 1",
    "SELECT * FROM mysql.servers ORDER BY 1",
    "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'mysql' ORDER BY 1",
];

/// What a reset cannot bring back: where this is not as it was, the server is replaced.
const TRACE_QUERIES: [&str; 5] = [
    "SHOW PLUGINS",
    "SELECT COUNT(*), SUM(CRC32(CONCAT(db, name, type))) FROM mysql.proc",
    "SELECT (SELECT COUNT(*) FROM mysql.general_log), (SELECT COUNT(*) FROM mysql.slow_log), \
     (SELECT COUNT(*) FROM mysql.event), (SELECT COUNT(*) FROM mysql.proxies_priv), \
     (SELECT COUNT(*) FROM mysql.time_zone_name), (SELECT COUNT(*) FROM mysql.gtid_slave_pos), \
     (SELECT COUNT(*) FROM mysql.transaction_registry), (SELECT COUNT(*) FROM mysql.help_topic), \
     (SELECT COUNT(*) FROM mysql.table_stats), (SELECT COUNT(*) FROM mysql.column_stats)",
    "XA RECOVER",
    "SELECT @@global.gtid_binlog_pos, @@global.gtid_slave_pos",
];

/// One of the two servers of a comparison.
pub(crate) struct Server {
    sandbox: Temporary,
    settings: Vec<(String, String)>,
    suites: PathBuf,
    /// Schemas and definitions made and removed at the start, so that ids differ between servers.
    skew: usize,
    /// Statements that run before it counts as new.
    setup: &'static [&'static str],
    fresh: Vec<String>,
    variables: BTreeMap<Vec<u8>, Vec<u8>>,
    is_spoiled: bool,
}

/// All that a dump left on a server.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    /// The schemas; what the server says instead where it cannot be read.
    pub(crate) schemas: BTreeMap<String, Result<State, String>>,
    /// Variables, accounts, plugins: a line each.
    pub(crate) server: Vec<String>,
    /// Set where the server does not answer.
    pub(crate) is_down: bool,
}

impl Server {
    /// Starts one. Servers with another `skew` number their connections and tables in another way.
    pub(crate) fn start(settings: &[(String, String)], suites: &Path, skew: usize) -> anyhow::Result<Server> {
        Server::start_with(settings, suites, skew, &[])
    }

    /// Starts one that has run statements before it counts as new.
    pub(crate) fn start_with(
        settings: &[(String, String)],
        suites: &Path,
        skew: usize,
        setup: &'static [&'static str],
    ) -> anyhow::Result<Server> {
        let builder =
            SETTINGS.into_iter().fold(Builder::standalone(), |builder, (name, value)| builder.set(name, value));
        let builder = settings.iter().fold(builder, |builder, (name, value)| builder.set(name, value));
        let sandbox = builder.start_temporary()?;
        let mut server = Server {
            sandbox,
            settings: settings.to_vec(),
            suites: suites.to_owned(),
            skew,
            setup,
            fresh: Vec::new(),
            variables: BTreeMap::new(),
            is_spoiled: false,
        };
        server.prepare()?;
        Ok(server)
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        let folder = self.sandbox.node(0).folder();
        symlink(self.suites.join("std_data"), self.sandbox.folder().join("std_data"))?;
        let owner = fs::metadata(&folder)?;
        for path in ["var", "var/tmp"].map(|name| folder.join(name)) {
            fs::create_dir(&path)?;
            chown(&path, Some(owner.uid()), Some(owner.gid()))?;
        }
        for _ in 0..self.skew {
            let mut connection = self.sandbox.node(0).connect()?;
            connection.execute(b"CREATE DATABASE skew")?;
            connection.execute(b"CREATE TABLE skew.t (a INT) ENGINE=InnoDB")?;
            connection.execute(b"INSERT INTO skew.t VALUES (1)")?;
            connection.execute(b"DROP DATABASE skew")?;
        }
        let mut connection = self.connect()?;
        connection.execute(format!("CREATE DATABASE {DATABASE}").as_bytes())?;
        for statement in self.setup {
            connection.execute(statement.as_bytes()).with_context(|| (*statement).to_owned())?;
        }
        self.variables = self.global_variables()?;
        self.fresh = self.traces()?;
        Ok(())
    }

    /// The port to connect to.
    pub(crate) fn port(&self) -> u16 {
        self.sandbox.node(0).port()
    }

    /// The socket to connect to.
    pub(crate) fn socket(&self) -> PathBuf {
        self.sandbox.node(0).socket()
    }

    /// A dump was ended in its middle: its session may still be at work.
    pub(crate) fn spoil(&mut self) {
        self.is_spoiled = true;
    }

    /// Makes it as new: schemas go, and a server in which more has changed is replaced.
    pub(crate) fn reset(&mut self) -> anyhow::Result<()> {
        let is_reset = !self.is_spoiled && self.remove_schemas().is_ok() && self.restore_variables().is_ok();
        if is_reset && self.traces().is_ok_and(|traces| traces == self.fresh) {
            return Ok(());
        }
        *self = Server::start_with(&self.settings, &self.suites, self.skew, self.setup)?;
        Ok(())
    }

    fn global_variables(&self) -> anyhow::Result<BTreeMap<Vec<u8>, Vec<u8>>> {
        let rows = self.connect()?.fetch(b"SHOW GLOBAL VARIABLES")?;
        let pair = |row: Vec<Option<Vec<u8>>>| {
            let mut values = row.into_iter().map(Option::unwrap_or_default);
            Some((values.next()?, values.next()?))
        };
        Ok(rows.into_iter().filter_map(pair).collect())
    }

    /// Gives variables that were set their values again, as far as a text does.
    fn restore_variables(&self) -> anyhow::Result<()> {
        let mut connection = self.connect()?;
        for (name, now) in self.global_variables()? {
            let Some(before) = self.variables.get(&name).filter(|before| **before != now) else { continue };
            let is_number = !before.is_empty() && before.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
            let value = if is_number { before.clone() } else { quote_string(before) };
            // One that cannot be set is a trace.
            let _ = connection.execute(&[b"SET GLOBAL ".as_slice(), &name, b" = ", &value].concat());
        }
        Ok(())
    }

    fn remove_schemas(&self) -> anyhow::Result<()> {
        let mut connection = self.connect()?;
        connection
            .execute(b"SET SESSION lock_wait_timeout = 2, innodb_lock_wait_timeout = 2, foreign_key_checks = 0")?;
        connection.execute(b"SET SESSION sql_log_bin = 0")?;
        connection.execute(b"SET SESSION sql_mode = '', max_statement_time = 0")?;
        // A plain DROP leaves what a dump wrote to the files of a schema's folder.
        for schema in schemas(&mut connection)? {
            connection.execute(&[b"DROP DATABASE ".as_slice(), &quote_identifier(&schema)].concat())?;
        }
        for entry in fs::read_dir(self.sandbox.node(0).folder().join("var/tmp"))? {
            let path = entry?.path();
            if path.is_file() {
                fs::remove_file(path)?;
            }
        }
        connection.execute(format!("CREATE DATABASE {DATABASE}").as_bytes())?;
        Ok(())
    }

    /// How root connects.
    pub(crate) fn options(&self) -> ConnectOptions {
        ConnectOptions { read_timeout: Some(LOOK_LIMIT), ..self.sandbox.node(0).connect_options() }
    }

    /// A new session of root's.
    pub(crate) fn connect(&self) -> anyhow::Result<Connection> {
        Connection::open(&self.options()).context("connecting to a server")
    }

    fn traces(&self) -> anyhow::Result<Vec<String>> {
        let mut connection = self.connect()?;
        let mut lines = Vec::new();
        for query in SERVER_QUERIES.iter().chain(&TRACE_QUERIES) {
            lines.extend(self.rows(&mut connection, query)?);
        }
        Ok(lines)
    }

    /// A line for each row, without what only says where the server is.
    fn rows(&self, connection: &mut Connection, query: &str) -> anyhow::Result<Vec<String>> {
        let (folder, socket) = (self.sandbox.folder().display().to_string(), self.socket().display().to_string());
        let value = |value: &Option<Vec<u8>>| match value {
            Some(value) => String::from_utf8_lossy(value).replace(&socket, "(socket)").replace(&folder, "(folder)"),
            None => "NULL".to_owned(),
        };
        let rows = connection.fetch(query.as_bytes())?;
        Ok(rows.iter().map(|row| row.iter().map(value).collect::<Vec<_>>().join(" | ")).collect())
    }

    /// Reads all that is there.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.snapshot_of(&SERVER_QUERIES)
    }

    /// Reads all schemas, and of the server what these queries say.
    pub(crate) fn snapshot_of(&self, queries: &[&str]) -> Snapshot {
        let mut snapshot = Snapshot { schemas: BTreeMap::new(), server: Vec::new(), is_down: false };
        let Ok(mut connection) = self.connect() else {
            // Root's own account may be gone, while the server is there.
            snapshot.is_down = self.sandbox.node(0).pid().is_none();
            return snapshot;
        };
        // In a session as new: describing changes it.
        snapshot.server.extend(queries.iter().flat_map(|query| match self.rows(&mut connection, query) {
            Ok(rows) => rows,
            Err(error) => vec![format!("{query}: {error}")],
        }));
        let names = schemas(&mut connection).unwrap_or_default();
        for name in names {
            let state = self.connect().and_then(|mut connection| {
                connection.execute(b"SET SESSION lock_wait_timeout = 5, max_statement_time = 0")?;
                Ok(state::describe(&mut connection, &name)?)
            });
            let state = state.map_err(|error| format!("{error:#}"));
            snapshot.schemas.insert(String::from_utf8_lossy(&name).into_owned(), state);
        }
        snapshot.is_down = self.sandbox.node(0).pid().is_none();
        snapshot
    }
}

fn schemas(connection: &mut Connection) -> anyhow::Result<Vec<Vec<u8>>> {
    let query =
        format!("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN ({OF_THE_SERVER})");
    Ok(connection.fetch(query.as_bytes())?.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
}
