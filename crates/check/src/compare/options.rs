//! What to compare.

use hortator_mysql::ConnectOptions;

/// Schemas that belong to the server, in lower case.
const OF_THE_SERVER: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// One of the two sides.
#[derive(Clone, Debug)]
pub struct Side {
    /// The server.
    pub connect: ConnectOptions,
    /// The one schema that is meant; `None` for all that the options name.
    pub schema: Option<String>,
}

/// What of the two sides is compared, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// Schemas, where no side names one; none for all that are not the server's own.
    pub databases: Vec<String>,
    /// Tables, as `table` or `schema.table`; none for all. Where some are named, what belongs to no table is left out.
    pub tables: Vec<String>,
    /// Connections to each side that read rows.
    pub threads: usize,
    /// Whether definitions are compared.
    pub definitions: bool,
    /// Whether rows are compared.
    pub rows: bool,
    /// Whether the next value of AUTO_INCREMENT and of sequences counts: nodes of a cluster have their own.
    pub counters: bool,
    /// Whether the times at which rows of system-versioned tables came and went count.
    pub row_times: bool,
    /// Rows of a range; `None` for about 16 MiB of them.
    pub range_rows: Option<u64>,
    /// Stop all writing on both sides for the moment in which the snapshots begin.
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

/// Whether a schema is the server's own, and never compared unless it is named.
#[must_use]
pub fn is_of_the_server(schema: &str) -> bool {
    OF_THE_SERVER.iter().any(|own| own.eq_ignore_ascii_case(schema))
}
