//! Whether two sources of a configuration are one server under two names: all that it writes would be applied twice.
//!
//! Each holds a user lock on its server, and looks whether the lock of another one is held there. So no two servers are taken
//! for one, whatever they have in common.

use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error as ServerError, quote_string};

use super::SourceOptions;
use super::source_task::SourceTask;
use crate::query::texts;
use crate::source::Error;

/// How long the first of two sources waits for the other one to notice the same, and to leave.
const PATIENCE: Duration = Duration::from_secs(3);
const INTERVAL: Duration = Duration::from_millis(100);

/// Whether two sources would apply the same transactions to the same tables if they were one server.
fn do_the_same(one: &SourceOptions, other: &SourceOptions) -> bool {
    let are_read = one.files.is_none() && other.files.is_none();
    are_read && one.rules.lead_as(&other.rules) && one.ignore_server_ids == other.ignore_server_ids
}

/// Looks whether another source is on this server already. The connection must live as long as its source is read. A server
/// that refuses user locks (Percona XtraDB Cluster does by default) is read as it is.
///
/// # Errors
/// [`Error::Unfit`] if one is.
pub(super) fn check(task: &SourceTask, connection: &mut Connection) -> Result<(), Error> {
    let sources = &task.target.sources;
    let others: Vec<_> =
        sources.iter().filter(|other| other.name != task.options.name && do_the_same(&task.options, other)).collect();
    if others.is_empty() {
        return Ok(());
    }
    let cannot = |error| Error::Server { doing: "looking for other sources on the server".to_owned(), error };
    let lock = |name: &str| {
        let name = quote_string(format!("hortator.replicate.{}.{name}", task.target.token));
        format!("SHA1({})", String::from_utf8_lossy(&name))
    };
    // A connection of before may still have it for a moment.
    let take = format!("SELECT GET_LOCK({}, 2)", lock(&task.options.name));
    if let Some(refusal) = refused(texts(connection, take.as_bytes())) {
        return refusal.map_err(cannot);
    }
    let place = |name: &str| sources.iter().position(|source| source.name == name);
    let is_used = |other: &&SourceOptions| format!("IS_USED_LOCK({}) IS NOT NULL", lock(&other.name));
    let ask = format!("SELECT {}", others.iter().map(is_used).collect::<Vec<_>>().join(", "));
    let begin = Instant::now();
    loop {
        let used = texts(connection, ask.as_bytes()).map_err(cannot)?.pop().unwrap_or_default();
        let Some((other, _)) = others.iter().zip(&used).find(|(_, is_used)| *is_used == "1") else { return Ok(()) };
        let is_first = place(&task.options.name) < place(&other.name);
        if !is_first || begin.elapsed() >= PATIENCE {
            return Err(Error::Unfit(format!(
                "the source {} is the same server, and all that it writes would be applied twice: take one of the two out of the \
                 configuration, or give them rules that lead different tables to the target",
                other.name
            )));
        }
        thread::sleep(INTERVAL);
    }
}

/// What a question comes to that a server has refused or that has failed; `None` of an answer.
fn refused<T>(answer: Result<T, ServerError>) -> Option<Result<(), ServerError>> {
    match answer {
        Ok(_) => None,
        Err(ServerError::Server(_)) => Some(Ok(())),
        Err(error) => Some(Err(error)),
    }
}
