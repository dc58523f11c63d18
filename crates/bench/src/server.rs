//! The settings of an experiment's servers, and their status.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hortator_mysql::Connection;
use hortator_sandbox::Builder;

use crate::{Error, options};

/// The settings of the server beyond its defaults, the same for all contenders.
pub const SETTINGS: [(&str, &str); 3] =
    [("innodb_buffer_pool_size", "1G"), ("innodb_log_file_size", "1G"), ("innodb_flush_log_at_trx_commit", "1")];

/// A number of `SHOW GLOBAL STATUS`; 0 when this server has no such variable.
pub(crate) fn status_number(connection: &mut Connection, name: &str) -> Result<u64, Error> {
    Ok(status(connection, name)?.parse().unwrap_or(0))
}

/// A value of `SHOW GLOBAL STATUS`; empty when this server has no such variable.
pub(crate) fn status(connection: &mut Connection, name: &str) -> Result<String, Error> {
    let statement = format!("SHOW GLOBAL STATUS LIKE '{name}'");
    let rows = connection.fetch(statement.as_bytes()).map_err(Error::server("reading the server's status"))?;
    let value = rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten().unwrap_or_default();
    Ok(String::from_utf8_lossy(&value).into_owned())
}

/// Name and version of the provider.
pub(crate) fn provider(connection: &mut Connection) -> Result<String, Error> {
    let name = status(connection, "wsrep_provider_name")?;
    Ok(format!("{name} {}", status(connection, "wsrep_provider_version")?))
}

/// Gives [`SETTINGS`] to the nodes of an experiment, then the settings that override them.
pub(crate) fn set_up(builder: Builder, further: &[(&'static str, &'static str)], stop: &Arc<AtomicBool>) -> Builder {
    let builder = builder.interrupt_flag(Arc::clone(stop));
    let settings = SETTINGS.iter().chain(further);
    settings.fold(builder, |builder, (name, value)| builder.set(own_name(name, options::is_mysql()), *value))
}

/// The name that the server has for a setting.
fn own_name(name: &'static str, is_mysql: bool) -> &'static str {
    match name {
        "innodb_log_file_size" if is_mysql => "innodb_redo_log_capacity",
        other => other,
    }
}
