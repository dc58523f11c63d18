//! The options of a comparison.

use hortator_mysql::ConnectOptions;

/// The server's own schemas, in lower case.
const SYSTEM_SCHEMAS: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// One of the two endpoints.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The server.
    pub connect: ConnectOptions,
    /// The schema to compare; `None` for all that the options select.
    pub schema: Option<String>,
}

/// The selection and method of a comparison.
#[derive(Clone, Debug)]
pub struct Options {
    /// Schemas, if no endpoint names one; empty for all but the server's own.
    pub databases: Vec<String>,
    /// Tables, as `table` or `schema.table`; empty for all. With named tables, objects that do not belong to a table
    /// are skipped.
    pub tables: Vec<String>,
    /// Connections per endpoint that read rows.
    pub threads: usize,
    /// Whether to compare definitions.
    pub definitions: bool,
    /// Whether to compare rows.
    pub rows: bool,
    /// Whether to compare the next values of AUTO_INCREMENT and of sequences: cluster nodes have their own.
    pub counters: bool,
    /// Whether to compare the start and end times of system-versioned rows.
    pub row_times: bool,
    /// Rows per range; `None` for about 16 MiB of rows.
    pub range_rows: Option<u64>,
    /// Lock out writers at both endpoints while the snapshots are opened.
    pub lock: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            databases: Vec::new(),
            tables: Vec::new(),
            threads: 1,
            definitions: true,
            rows: true,
            counters: true,
            row_times: false,
            range_rows: None,
            lock: false,
        }
    }
}

/// Whether a schema belongs to the server; it is compared only if named.
#[must_use]
pub fn is_system_schema(schema: &str) -> bool {
    SYSTEM_SCHEMAS.iter().any(|own| own.eq_ignore_ascii_case(schema))
}
