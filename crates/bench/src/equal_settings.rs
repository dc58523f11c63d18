//! Servers that are compared have equal settings, but for those that make them what they are.
//!
//! All global variables count, not only those that the experiment sets: a default that depends on another setting is a
//! difference, too.

use std::collections::BTreeMap;

use hortator_mysql::Connection;

use crate::nodes::Nodes;
use crate::{Error, options};

/// Variables that may differ, by the beginning of their names.
const MAY_DIFFER: &[&str] = &[
    // The wsrep provider, and what it needs or what stands for it in the comparison.
    "wsrep",
    "innodb_flush_log_at_trx_commit",
    "innodb_autoinc_lock_mode",
    "auto_increment_",
    "binlog_format",
    // Names, places and addresses of one server among others.
    "aria_log_dir_path",
    "basedir",
    "bind_address",
    "datadir",
    "general_log_file",
    "hostname",
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "innodb_tmpdir",
    "innodb_undo_directory",
    "log_bin_basename",
    "log_bin_index",
    "log_error",
    "pid_file",
    "port",
    "relay_log",
    "report_",
    "server_id",
    "server_uid",
    "slave_load_tmpdir",
    "slow_query_log_file",
    "socket",
    "tmpdir",
    // Not settings, but what the server counts.
    "gtid_",
    "innodb_buffer_pool_load",
    "in_transaction",
    "last_",
    "timestamp",
    "rand_seed",
];

/// Differences in a message.
const LISTED_LIMIT: usize = 5;

/// The settings of the first servers, which all others are compared with.
#[derive(Debug, Default)]
pub(crate) struct EqualSettings {
    first: Option<(String, Settings)>,
}

type Settings = BTreeMap<String, String>;

impl EqualSettings {
    /// Compares the settings of each of these servers with those of the first; but for nodes to which the user gave other ones.
    pub(crate) fn check(&mut self, name: &str, nodes: &Nodes) -> Result<(), Error> {
        for (connection, node) in nodes.connect_all()?.iter_mut().zip(1..) {
            if options::has_own_settings(node, nodes.count()) {
                continue;
            }
            let settings = read(connection)?;
            let (first, expected) = self.first.get_or_insert_with(|| (name.to_owned(), settings.clone()));
            let differences = differences(expected, &settings);
            if !differences.is_empty() {
                return Err(Error::Answer(format!(
                    "node {node} of {name} has other settings than {first}: {}",
                    differences.join("; ")
                )));
            }
        }
        Ok(())
    }
}

fn read(connection: &mut Connection) -> Result<Settings, Error> {
    let rows = connection.fetch(b"SHOW GLOBAL VARIABLES").map_err(Error::server("reading the settings"))?;
    let text = |value: Option<Vec<u8>>| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned();
    let pair = |row: Vec<Option<Vec<u8>>>| {
        let mut values = row.into_iter();
        Some((text(values.next()?), text(values.next()?)))
    };
    let may_differ = |name: &str| MAY_DIFFER.iter().any(|beginning| name.starts_with(beginning));
    Ok(rows.into_iter().filter_map(pair).filter(|(name, _)| !may_differ(&name.to_ascii_lowercase())).collect())
}

fn differences(one: &Settings, other: &Settings) -> Vec<String> {
    let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
    let value = |settings: &Settings, name: &str| settings.get(name).cloned().unwrap_or_else(|| "(none)".to_owned());
    let pairs = names.map(|name| (name, value(one, name), value(other, name)));
    let differing = pairs.filter(|(_, mine, theirs)| mine != theirs);
    differing.take(LISTED_LIMIT).map(|(name, mine, theirs)| format!("{name} is {theirs}, not {mine}")).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use hortator_sandbox::Topology;

    use super::*;

    #[test]
    fn another_setting_on_one_server_is_an_error_that_names_it() {
        let stop = Arc::new(AtomicBool::new(false));
        let mut settings = EqualSettings::default();
        let nodes = Nodes::start(Topology::Standalone, &[], &stop).unwrap();
        settings.check("alone", &nodes).unwrap();
        // A server of its own: other folders, another port.
        settings.check("another", &Nodes::start(Topology::Standalone, &[], &stop).unwrap()).unwrap();
        nodes.connect(0).unwrap().execute(b"SET GLOBAL innodb_io_capacity = 1234").unwrap();
        let message = settings.check("changed", &nodes).unwrap_err().to_string();
        assert_eq!(message, "node 1 of changed has other settings than alone: innodb_io_capacity is 1234, not 200");
    }
}
