//! Whether two sources of a configuration are one server under two names: all that it writes would be applied twice.
//!
//! Each holds a user lock on its server, and looks whether the lock of another one is held there. So no two servers are taken
//! for one, whatever they have in common.

use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, quote_string};

use super::SourceOptions;
use super::source_task::SourceTask;
use crate::query::first_value;
use crate::source::Error;

/// How long the first of two sources waits for the other one to notice the same, and to leave.
const PATIENCE: Duration = Duration::from_secs(3);
const INTERVAL: Duration = Duration::from_millis(100);

/// Whether two sources would apply the same transactions to the same tables if they were one server.
fn do_the_same(one: &SourceOptions, other: &SourceOptions) -> bool {
    let are_read = one.files.is_none() && other.files.is_none();
    are_read && one.rules.lead_as(&other.rules) && one.ignore_server_ids == other.ignore_server_ids
}

/// Looks whether another source is on this server already. The connection must live as long as its source is read.
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
    // A connection of before may still have it.
    let take = format!("SELECT GET_LOCK({}, 0)", lock(&task.options.name));
    first_value(connection, take.as_bytes()).map_err(cannot)?;
    let place = |name: &str| sources.iter().position(|source| source.name == name);
    for other in others {
        let is_first = place(&task.options.name) < place(&other.name);
        let end = Instant::now() + if is_first { PATIENCE } else { Duration::ZERO };
        let ask = format!("SELECT IS_USED_LOCK({}) IS NOT NULL", lock(&other.name));
        while first_value(connection, ask.as_bytes()).map_err(cannot)? == "1" {
            if Instant::now() >= end {
                return Err(Error::Unfit(format!(
                    "the source {} is the same server, and all that it writes would be applied twice: take one of the two out of \
                     the configuration, or give them rules that lead different tables to the target",
                    other.name
                )));
            }
            thread::sleep(INTERVAL);
        }
    }
    Ok(())
}
