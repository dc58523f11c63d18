//! Variables whose reports may stand for others'.
//!
//! MariaDB 11.8 reports each variable by the place where the server keeps its value, under the name that was set first of
//! those kept there: `SET foreign_key_checks = 0` may be reported as `autocommit = ON`, because both are bits of one word.
//! Such a report leaves the others of its group to be read. The groups: seen with MariaDB 11.8.9, each variable set behind
//! each other one. Servers up to MariaDB 10.11, and MySQL, report each variable by its name.

use hortator_mysql::{Connection, Error, Flavor};

/// Variables that a server may report as one another.
const GROUPS: [&[&str]; 11] = [
    &[
        "check_constraint_checks",
        "explicit_defaults_for_timestamp",
        "foreign_key_checks",
        "profiling",
        "skip_parallel_replication",
        "skip_replication",
        "sql_auto_is_null",
        "sql_big_selects",
        "sql_buffer_result",
        "sql_if_exists",
        "sql_log_off",
        "sql_notes",
        "sql_quote_show_create",
        "sql_safe_updates",
        "sql_warnings",
        "system_versioning_insert_history",
        "unique_checks",
        // Known from the status of each answer.
        "autocommit",
    ],
    &["character_set_connection", "collation_connection"],
    &["character_set_server", "collation_server"],
    &["default_storage_engine", "storage_engine"],
    &["log_queries_not_using_indexes", "log_slow_filter"],
    &["log_slow_admin_statements", "log_slow_disabled_statements", "log_slow_slave_statements"],
    &["log_slow_min_examined_row_limit", "min_examined_row_limit"],
    &["log_slow_query", "slow_query_log"],
    &["log_slow_query_time", "long_query_time"],
    &["transaction_isolation", "tx_isolation"],
    &["transaction_read_only", "tx_read_only"],
];

/// The same for what a session knows of rows and of its clock.
const NUMBERS: [&str; 6] = ["identity", INSERT_ID, "last_insert_id", "rand_seed1", "rand_seed2", "timestamp"];

/// The number of the next row that the server numbers.
pub(super) const INSERT_ID: &str = "insert_id";

/// Sets two variables to what they are, of which a server that reports by place reports one.
const PROBE: &[u8] = b"SET @@session.foreign_key_checks = @@session.foreign_key_checks, \
                       @@session.unique_checks = @@session.unique_checks";

/// Whether the server reports each variable by its own name. What it has reported before is dropped.
///
/// # Errors
/// What the server or the connection says.
pub(super) fn are_exact(main: &mut Connection) -> Result<bool, Error> {
    if main.version().flavor == Flavor::MySql {
        return Ok(true);
    }
    main.execute(PROBE)?;
    Ok(main.take_session_changes().variables.len() == 2)
}

/// The variables that a report of this one may stand for.
pub(super) fn group_of(name: &str) -> &'static [&'static str] {
    GROUPS.into_iter().find(|group| group.contains(&name)).unwrap_or_default()
}

/// Whether a report of this variable may stand for one of [`NUMBERS`].
pub(super) fn is_number(name: &str) -> bool {
    NUMBERS.contains(&name)
}

/// A question for the values of variables, behind FOUND_ROWS(): it reads no table, so that warnings stay. `is_switch` says
/// which are ON or OFF: these are read as numbers, all others as bytes, whatever the session's character sets are.
pub(super) fn question<'a>(names: impl Iterator<Item = &'a str>, is_switch: impl Fn(&str) -> bool) -> Vec<u8> {
    let value = |name| match is_switch(name) {
        true => format!(", @@session.`{name}`"),
        false => format!(", CAST(@@session.`{name}` AS BINARY)"),
    };
    let values: String = names.map(value).collect();
    // With a limit, since the session may have one.
    format!("SELECT FOUND_ROWS(){values} LIMIT 1").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_question_for_switches_and_texts() {
        let text = question(["sql_notes", "tx_isolation"].into_iter(), |name| name == "sql_notes");
        let expected = "SELECT FOUND_ROWS(), @@session.`sql_notes`, CAST(@@session.`tx_isolation` AS BINARY) LIMIT 1";
        assert_eq!(String::from_utf8_lossy(&text), expected);
    }

    #[test]
    fn a_report_stands_for_its_group() {
        assert!(group_of("autocommit").contains(&"foreign_key_checks"));
        assert_eq!(group_of("sql_mode"), [""; 0]);
        assert!(is_number("timestamp"));
    }
}
