//! Variables whose reports may stand for others'.
//!
//! MariaDB 11.8 reports each variable by the place where the server keeps its value, under the name that was set first of
//! those kept there: `SET foreign_key_checks = 0` may be reported as `autocommit = ON`, because both are bits of one word.
//! Such a report leaves the others of its group to be read. The groups: seen with MariaDB 11.8.9, each variable set behind
//! each other one. Servers up to MariaDB 10.11, and MySQL, report each variable by its name.
//!
//! A value is read by a report as well: with one name in the list of what is reported, any SET of the group is reported under
//! it. A SET leaves FOUND_ROWS() as it is, and with MariaDB the warnings, which a SELECT does not.

use hortator_mysql::{Connection, Error, Flavor};

/// Variables that a server may report as one another.
struct Group {
    names: &'static [&'static str],
    /// One of them that may be set to what it is: nothing comes of it.
    harmless: &'static str,
}

const GROUPS: [Group; 4] = [
    Group {
        names: &[
            "autocommit",
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
        ],
        harmless: "foreign_key_checks",
    },
    Group { names: &["character_set_connection", "collation_connection"], harmless: "collation_connection" },
    Group { names: &["character_set_server", "collation_server"], harmless: "collation_server" },
    Group {
        names: &["identity", INSERT_ID, "last_insert_id", "rand_seed1", "rand_seed2", "timestamp"],
        harmless: "last_insert_id",
    },
];

/// The number of the next row that the server numbers.
pub(super) const INSERT_ID: &str = "insert_id";

/// The first is known from the status of each answer. While the second is on, what reads a variable is counted itself.
const NOT_READ: [&str; 2] = ["autocommit", "profiling"];

/// Two names of one variable each, of which any server reports one.
const ALIASES: [(&str, &str); 8] = [
    ("default_storage_engine", "storage_engine"),
    ("log_slow_min_examined_row_limit", "min_examined_row_limit"),
    ("log_slow_query", "slow_query_log"),
    ("log_slow_query_time", "long_query_time"),
    ("max_delayed_threads", "max_insert_delayed_threads"),
    ("tmp_memory_table_size", "tmp_table_size"),
    ("transaction_isolation", "tx_isolation"),
    ("transaction_read_only", "tx_read_only"),
];

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
    drop(main.take_session_changes());
    main.execute(PROBE)?;
    let reported = main.take_session_changes();
    Ok(reported.variable(b"foreign_key_checks").is_some() && reported.variable(b"unique_checks").is_some())
}

/// The variables that a report of this one may stand for.
pub(super) fn group_of(name: &str) -> &'static [&'static str] {
    group(name).map(|group| group.names).unwrap_or_default()
}

/// Whether such a variable is to be read.
pub(super) fn can_be_read(name: &str) -> bool {
    !NOT_READ.contains(&name)
}

/// Whether a report of this variable may stand for [`INSERT_ID`].
pub(super) fn is_number(name: &str) -> bool {
    group_of(name).contains(&INSERT_ID)
}

/// The other name of a variable.
pub(super) fn alias_of(name: &str) -> Option<&'static str> {
    ALIASES.into_iter().find_map(|(one, other)| match name {
        _ if name == one => Some(other),
        _ if name == other => Some(one),
        _ => None,
    })
}

/// Has the server report variables of groups, each with its value; they are the connection's changes then.
///
/// # Errors
/// What the server or the connection says.
pub(super) fn read<'a>(main: &mut Connection, names: impl Iterator<Item = &'a str>) -> Result<(), Error> {
    let texts: Vec<Vec<u8>> = names.filter_map(question).collect();
    let asked = main.execute_each(&texts);
    // The list is whole again, whatever has come of it.
    let tracked = main.track_session();
    let done = asked.and(tracked.map(drop));
    if done.is_err() {
        drop(main.take_session_changes());
    }
    done
}

fn question(name: &str) -> Option<Vec<u8>> {
    let harmless = group(name)?.harmless;
    let set = format!("@@session.`{harmless}` = @@session.`{harmless}`");
    Some(format!("SET @@session.session_track_system_variables = '{name}', {set}").into_bytes())
}

fn group(name: &str) -> Option<&'static Group> {
    const { &GROUPS }.iter().find(|group| group.names.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_stands_for_its_group() {
        assert!(group_of("autocommit").contains(&"foreign_key_checks"));
        assert_eq!(group_of("sql_mode"), [""; 0]);
        assert!(is_number("timestamp"));
        assert_eq!(alias_of("storage_engine"), Some("default_storage_engine"));
    }

    #[test]
    fn a_value_is_read_by_setting_what_nothing_comes_of() {
        let expected = "SET @@session.session_track_system_variables = 'insert_id', \
                        @@session.`last_insert_id` = @@session.`last_insert_id`";
        assert_eq!(question(INSERT_ID), Some(expected.as_bytes().to_vec()));
    }
}
