//! A target that is a node of a cluster: rows of some engines stay on the node, so that the next one lacks them.

use hortator_mysql::{Connection, Error};

use crate::query::texts;

/// What says whether the server is a node, and which engines the cluster replicates besides InnoDB.
const SETTINGS: &[u8] = b"SELECT VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES \
    WHERE VARIABLE_NAME IN ('WSREP_ON', 'WSREP_MODE', 'WSREP_CLUSTER_ADDRESS', 'WSREP_PROVIDER')";

/// Whether other nodes do not get the rows of tables of an engine. False for a server that is no node.
///
/// # Errors
/// As for any statement.
pub(crate) fn stays_on_node(connection: &mut Connection, engine: &str) -> Result<bool, Error> {
    if engine.eq_ignore_ascii_case("InnoDB") {
        return Ok(false);
    }
    let mode = mode(connection)?;
    Ok(mode.is_some_and(|mode| !replicates(&mode, engine)))
}

/// Whether the server is a node.
///
/// # Errors
/// As for any statement.
pub(crate) fn is_node(connection: &mut Connection) -> Result<bool, Error> {
    Ok(mode(connection)?.is_some())
}

/// `wsrep_mode` of a node; `None` of a server that is none.
fn mode(connection: &mut Connection) -> Result<Option<String>, Error> {
    let settings = texts(connection, SETTINGS)?;
    let value = |name: &str| {
        let row = settings.iter().find(|row| row[0].eq_ignore_ascii_case(name));
        row.map(|row| row[1].as_str()).unwrap_or_default()
    };
    let is_node = value("WSREP_ON") == "ON" && !matches!(value("WSREP_PROVIDER"), "" | "none");
    Ok(is_node.then(|| value("WSREP_MODE").to_owned()))
}

/// Whether `wsrep_mode` names an engine.
fn replicates(mode: &str, engine: &str) -> bool {
    mode.split(',').any(|flag| flag.strip_prefix("REPLICATE_").is_some_and(|name| name.eq_ignore_ascii_case(engine)))
}

/// What to do about such a table.
pub(crate) fn stays_on_node_text(table: &str, engine: &str) -> String {
    format!(
        "{table} has the engine {engine}, and the target is a node of a cluster: other nodes would not get its rows. Give it the \
         engine InnoDB, or leave it out by a rule; a cluster replicates MyISAM and Aria if its wsrep_mode has REPLICATE_MYISAM \
         or REPLICATE_ARIA"
    )
}

#[cfg(test)]
mod tests {
    use super::replicates;

    #[test]
    fn engines_that_a_cluster_replicates() {
        for (mode, engine, expected) in [
            ("", "MyISAM", false),
            ("REPLICATE_MYISAM", "MyISAM", true),
            ("STRICT_REPLICATION,REPLICATE_ARIA", "Aria", true),
            ("STRICT_REPLICATION,REPLICATE_ARIA", "MyISAM", false),
        ] {
            assert_eq!(replicates(mode, engine), expected, "{mode}, {engine}");
        }
    }
}
