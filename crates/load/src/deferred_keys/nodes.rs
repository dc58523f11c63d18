//! Whether every node of a cluster has the keys that were built: a node on which a DDL statement fails stays in the cluster
//! without its effect, unless `wsrep_ignore_apply_errors` says otherwise.

use std::time::Duration;

use hortator_mysql::{ConnectOptions, Connection, Error};

use super::{MissingKeys, build};
use crate::cluster::Targets;
use crate::report::Failure;

/// How long a node may take to answer: longer than it waits for what it has not yet applied.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// What nodes lack of these keys. A node that cannot be asked is noted.
pub(super) fn lacking(targets: &Targets, built: &[MissingKeys]) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (node, options) in targets.nodes().into_iter().filter(|_| !built.is_empty()) {
        match lacking_on(&options, built) {
            Ok(lacking) => failures.extend(lacking.iter().map(|missing| failure(&node, missing))),
            Err(error) => targets.note(format!("whether {node} has the deferred indexes is not known: {error}")),
        }
    }
    failures
}

fn lacking_on(options: &ConnectOptions, built: &[MissingKeys]) -> Result<Vec<MissingKeys>, Error> {
    let options = ConnectOptions {
        database: None,
        charset: "utf8mb4".to_owned(),
        read_timeout: Some(ANSWER_TIMEOUT),
        ..options.clone()
    };
    let mut connection = Connection::open(&options)?;
    build::settings(&mut connection)?;
    let mut lacking = Vec::new();
    for missing in built {
        if let Some(keys) = build::absent_keys(&mut connection, missing)?.filter(|keys| !keys.is_empty()) {
            lacking.push(MissingKeys { keys: keys.into_iter().cloned().collect(), ..missing.clone() });
        }
    }
    Ok(lacking)
}

fn failure(node: &str, missing: &MissingKeys) -> Failure {
    let names: Vec<&str> = missing.keys.iter().map(|key| key.name.as_str()).collect();
    let message = format!(
        "{node} does not have the deferred indexes {} of {}: the ALTER TABLE failed on that node, and its error log has the \
         reason; remove it, then run there: SET SESSION wsrep_OSU_method = 'RSU'; {}",
        names.join(", "),
        missing.table,
        build::alter_text(missing),
    );
    Failure::at(&missing.location(), b"", &Error::Unsupported(message))
}
