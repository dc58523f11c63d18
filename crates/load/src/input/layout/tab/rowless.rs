//! Tables for which `mariadb-dump --tab` writes a definition and no `.txt` file: `ignore_table` decides in mariadb-dump.c.

/// Engines whose tables stand for rows elsewhere; those of `--no-data-med`, which is on by default.
const ENGINES: [&str; 7] = ["MRG_MyISAM", "MRG_ISAM", "CONNECT", "OQGRAPH", "SPIDER", "VP", "FEDERATED"];

/// Tables of the schema `mysql` that belong to the server that wrote them.
const OF_SCHEMA_MYSQL: [&str; 6] =
    ["event", "general_log", "innodb_index_stats", "innodb_table_stats", "slow_log", "transaction_registry"];

/// Whether tables of this engine have no file of rows.
pub(crate) fn is_rowless_engine(engine: &[u8]) -> bool {
    ENGINES.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(engine))
}

/// Whether this table of the schema `mysql` has no file of rows.
pub(super) fn is_rowless_in_mysql(table: &[u8]) -> bool {
    OF_SCHEMA_MYSQL.iter().any(|known| known.as_bytes() == table)
}

/// Whether the comment at the beginning of a file says that it is of the schema `mysql`.
pub(super) fn is_of_schema_mysql(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n');
    lines.any(|line| line.starts_with(b"-- Host: ") && line.ends_with(b" Database: mysql"))
}
