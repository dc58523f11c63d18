//! What servers say of themselves.

use hortator_mysql::{ConnectOptions, Connection, Error};

use crate::query::{first_column, first_value, texts};
use crate::rules::Rules;

/// What a source says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFacts {
    /// Whether it is MariaDB.
    pub is_mariadb: bool,
    /// Its id.
    pub server_id: String,
    /// Its name, port, files and id: what two connections to one server have in common, and two servers hardly ever.
    pub identity: String,
    /// The servers whose transactions are left out.
    pub ignored_ids: Vec<u32>,
    /// Whether it writes a binary log.
    pub has_binary_log: bool,
    /// `binlog_format`.
    pub format: String,
    /// `binlog_row_image`.
    pub row_image: String,
    /// Whether its rows overwrite those of the target that are in their way.
    pub overwrites: bool,
    /// SHOW GRANTS of the account.
    pub grants: Vec<String>,
    /// Its tables as `schema.table`, as far as the account sees them; under rules, those that reach the target, by their
    /// names there.
    pub tables: Vec<String>,
    /// Those of them that the rules have given a column with the source's name.
    pub with_source_column: Vec<String>,
    /// Those of them without a primary or unique key.
    pub without_key: Vec<String>,
    /// What only a MySQL server says.
    pub mysql: Option<MySqlFacts>,
}

/// What a MySQL source says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MySqlFacts {
    /// `gtid_mode`.
    pub gtid_mode: String,
    /// Hosts that are to continue for each other.
    pub hosts: usize,
    /// `binlog_row_value_options`.
    pub value_options: String,
    /// `default_table_encryption`.
    pub encrypts: bool,
    /// Tables as `schema.table` with what MariaDB does not have: VECTOR columns, indexes of expressions, character sets.
    pub without_equal: Vec<String>,
}

impl SourceFacts {
    /// What reaches the target.
    #[must_use]
    pub fn under(self, rules: &Rules) -> SourceFacts {
        let on_target = |name: &String| {
            let (schema, table) = name.split_once('.')?;
            let (schema, table) = rules.name_on_target(schema.as_bytes(), table.as_bytes())?;
            Some(format!("{}.{}", String::from_utf8_lossy(&schema), String::from_utf8_lossy(&table)))
        };
        let is_marked = |name: &&String| {
            let Some((schema, table)) = name.split_once('.') else { return false };
            rules.has_source_column(schema.as_bytes(), table.as_bytes())
        };
        SourceFacts {
            with_source_column: self.tables.iter().filter(is_marked).filter_map(on_target).collect(),
            tables: self.tables.iter().filter_map(on_target).collect(),
            without_key: self.without_key.iter().filter_map(on_target).collect(),
            ..self
        }
    }
}

/// What the target says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetFacts {
    /// Whether it is MariaDB.
    pub is_mariadb: bool,
    /// Its version.
    pub version: String,
    /// The same as version comments write it.
    pub version_number: u32,
    /// SHOW GRANTS of the account.
    pub grants: Vec<String>,
    /// Whether it takes writes from privileged accounts only.
    pub is_read_only: bool,
    /// `slave_exec_mode`.
    pub exec_mode: String,
    /// `slave_type_conversions`.
    pub type_conversions: String,
    /// Whether it is a node of a cluster.
    pub is_node: bool,
}

/// Schemas of the server itself, and those that Hortator makes.
const OTHER_SCHEMAS: &str = "('mysql', 'sys', 'information_schema', 'performance_schema')";

/// Asks a source.
pub(super) fn of_source(hosts: &[ConnectOptions]) -> Result<SourceFacts, Error> {
    let mut facts = of_first(hosts, ask_source)?;
    if let Some(mysql) = &mut facts.mysql {
        mysql.hosts = hosts.len();
    }
    Ok(facts)
}

/// Asks the target.
pub(super) fn of_target(nodes: &[ConnectOptions]) -> Result<TargetFacts, Error> {
    of_first(nodes, ask_target)
}

/// Asks the first host that can be reached; the error is that of the last one.
fn of_first<T>(hosts: &[ConnectOptions], ask: impl Fn(&mut Connection) -> Result<T, Error>) -> Result<T, Error> {
    let mut last = Err(Error::Unsupported("it has no host".to_owned()));
    for host in hosts {
        last = Connection::open(host).and_then(|mut connection| ask(&mut connection));
        if last.is_ok() {
            break;
        }
    }
    last
}

const SOURCE_VARIABLES: &[u8] = b"SELECT @@server_id, @@log_bin, @@binlog_format, @@binlog_row_image, \
    CONCAT_WS(' ', @@hostname, @@port, @@socket, @@datadir, @@pid_file, @@server_id)";

fn ask_source(connection: &mut Connection) -> Result<SourceFacts, Error> {
    let variables = texts(connection, SOURCE_VARIABLES)?;
    let variable = |index: usize| variables.first().and_then(|row| row.get(index)).cloned().unwrap_or_default();
    let tables = format!(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES \
         WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN {OTHER_SCHEMAS}"
    );
    let without_key = format!(
        "{tables} AND NOT EXISTS (SELECT 1 FROM information_schema.STATISTICS s WHERE s.NON_UNIQUE = 0 \
         AND s.TABLE_SCHEMA = TABLES.TABLE_SCHEMA AND s.TABLE_NAME = TABLES.TABLE_NAME)"
    );
    Ok(SourceFacts {
        is_mariadb: connection.version().is_mariadb(),
        server_id: variable(0),
        has_binary_log: variable(1) == "1",
        format: variable(2),
        row_image: variable(3),
        identity: variable(4),
        ignored_ids: Vec::new(),
        overwrites: false,
        grants: first_column(connection, b"SHOW GRANTS")?,
        tables: first_column(connection, tables.as_bytes())?,
        without_key: first_column(connection, without_key.as_bytes())?,
        with_source_column: Vec::new(),
        mysql: if connection.version().is_mariadb() { None } else { Some(ask_mysql(connection)?) },
    })
}

/// The first version with indexes of expressions, and with a default for encryption.
const EXPRESSIONS_SINCE: u32 = 80_016;

fn ask_mysql(connection: &mut Connection) -> Result<MySqlFacts, Error> {
    let is_new = connection.version().comment_number() >= EXPRESSIONS_SINCE;
    let gtid_mode = first_value(connection, b"SELECT @@gtid_mode")?;
    let mut of_new = |query: &[u8]| if is_new { first_value(connection, query) } else { Ok(String::new()) };
    let value_options = of_new(b"SELECT @@global.binlog_row_value_options")?;
    let encrypts = of_new(b"SELECT @@global.default_table_encryption")? == "1";
    let mut tables = format!(
        "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.COLUMNS \
         WHERE (DATA_TYPE = 'vector' OR CHARACTER_SET_NAME = 'gb18030') AND TABLE_SCHEMA NOT IN {OTHER_SCHEMAS}"
    );
    if is_new {
        tables += &format!(
            " UNION SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.STATISTICS \
             WHERE EXPRESSION IS NOT NULL AND TABLE_SCHEMA NOT IN {OTHER_SCHEMAS}"
        );
    }
    let without_equal = first_column(connection, tables.as_bytes())?;
    Ok(MySqlFacts { gtid_mode, hosts: 1, value_options, encrypts, without_equal })
}

fn ask_target(connection: &mut Connection) -> Result<TargetFacts, Error> {
    let variables = texts(connection, b"SELECT @@version, @@read_only")?;
    let variable = |index: usize| variables.first().and_then(|row| row.get(index)).cloned().unwrap_or_default();
    let is_mariadb = connection.version().is_mariadb();
    let mut of_mariadb = |query: &[u8]| if is_mariadb { first_value(connection, query) } else { Ok(String::new()) };
    let exec_mode = of_mariadb(b"SELECT @@slave_exec_mode")?;
    let type_conversions = of_mariadb(b"SELECT @@slave_type_conversions")?;
    let is_node = first_value(connection, b"SHOW STATUS LIKE 'wsrep_cluster_status'")
        .is_ok_and(|name| !name.is_empty())
        && first_column(connection, b"SELECT @@wsrep_on")?.first().is_some_and(|is_on| is_on == "1");
    Ok(TargetFacts {
        is_mariadb,
        version: variable(0),
        version_number: connection.version().comment_number(),
        grants: first_column(connection, b"SHOW GRANTS")?,
        is_read_only: variable(1) != "0",
        exec_mode,
        type_conversions,
        is_node,
    })
}
