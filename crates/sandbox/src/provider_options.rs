//! Changing the options of a cluster node's provider while it runs.
//!
//! A plugin of MariaDB 11.8, on by default, makes a variable of each option, as `wsrep_provider_gcs_fc_limit` of
//! `gcs.fc_limit`. Then `wsrep_provider_options` shows them, and cannot be set.

use hortator_mysql::{Connection, Error, quote_string};

/// A variable that both providers have there.
const OF_PLUGIN: &[u8] = b"SHOW GLOBAL VARIABLES LIKE 'wsrep\\_provider\\_base\\_host'";

/// Sets options, given as `name=value; name=value`.
///
/// # Errors
/// What the server or the connection says.
pub fn set_provider_options(connection: &mut Connection, options: &str) -> Result<(), Error> {
    if !has_option_variables(connection)? {
        let value = quote_string(options.as_bytes());
        return connection.execute(&[b"SET GLOBAL wsrep_provider_options = ".as_slice(), &value].concat()).map(drop);
    }
    for option in options.split(';').map(str::trim).filter(|option| !option.is_empty()) {
        connection.execute(&assignment(option))?;
    }
    Ok(())
}

/// Whether the server has a variable for each option.
///
/// # Errors
/// What the server or the connection says.
pub fn has_option_variables(connection: &mut Connection) -> Result<bool, Error> {
    connection.fetch(OF_PLUGIN).map(|rows| !rows.is_empty())
}

/// The SET of an option's variable. Numbers and switches are written plainly: their variables take no texts.
fn assignment(option: &str) -> Vec<u8> {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let value = value.trim();
    let value = match value.to_ascii_lowercase().as_str() {
        "yes" | "true" => b"ON".to_vec(),
        "no" | "false" => b"OFF".to_vec(),
        text if text.parse::<f64>().is_ok_and(f64::is_finite) => text.as_bytes().to_vec(),
        _ => quote_string(value.as_bytes()),
    };
    let name = name.trim().replace('.', "_");
    [format!("SET GLOBAL wsrep_provider_{name} = ").as_bytes(), &value].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_options() {
        for (option, expected) in [
            ("gcs.fc_limit = 20", "SET GLOBAL wsrep_provider_gcs_fc_limit = 20"),
            ("pc.bootstrap=yes", "SET GLOBAL wsrep_provider_pc_bootstrap = ON"),
            ("repl.key_format=FLAT8", "SET GLOBAL wsrep_provider_repl_key_format = 'FLAT8'"),
        ] {
            assert_eq!(String::from_utf8_lossy(&assignment(option)), expected);
        }
    }
}
