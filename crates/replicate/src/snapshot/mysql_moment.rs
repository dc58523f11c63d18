//! Snapshots of a MySQL source that belong to one place of its log. The server itself does not say which place that is.
//!
//! Without a lock, where each transaction has a GTID. In this order the server is asked for
//!
//! ```text
//!   1  the end of its log          a transaction is written there before its changes can be seen
//!   2  the GTIDs that are owned    a transaction has one from before it is written until it counts as executed
//!   3  the GTIDs executed          a transaction counts as executed after its changes can be seen
//!   4  the snapshots
//!   5  the end of its log
//! ```
//!
//! If 2 is empty, all transactions before 1 are in 3, and so in 4. If 5 is 1, there are no others in 4. Else it is tried anew.
//!
//! With a lock, where transactions have no GTIDs or the source commits all the time: FLUSH TABLES WITH READ LOCK lets no
//! transaction commit, and is held while the snapshots are taken.

use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error as ServerError};

use super::Error;
use crate::apply::SourcePosition;
use crate::binlog::GtidState;
use crate::query::first_value;
use crate::source::{has_gtids, log_end, log_end_in, log_end_query};
use crate::transaction::LogPosition;

/// How long it is tried without a lock.
const WITHOUT_LOCK_LIMIT: Duration = Duration::from_secs(2);
/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(3);
/// How long the lock may wait for running statements. New ones wait behind it meanwhile.
const LOCK_WAIT: &str = "SET SESSION lock_wait_timeout = 5";
/// How often the lock is tried for, and the time between: the writers go on meanwhile.
const LOCK_ATTEMPTS: u32 = 4;
const LOCK_PAUSE: Duration = Duration::from_secs(2);
/// Errors of the server.
const LOCK_WAIT_TIMEOUT: u16 = 1205;
const NO_RIGHT: [u16; 2] = [1227, 1045];

const REPEATABLE: &str = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ";
const SNAPSHOT: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT";
const OWNED: &str = "SELECT @@global.gtid_owned";
const EXECUTED: &str = "SELECT @@global.gtid_executed";

/// Takes snapshots on all of these connections, at least one, without a lock. `None`: the source commits all the time, or has
/// no GTIDs.
pub(crate) fn without_lock(readers: &mut [Connection]) -> Result<Option<SourcePosition>, Error> {
    let Some((first, others)) = readers.split_first_mut() else { return Ok(None) };
    if !has_gtids(first)? {
        return Ok(None);
    }
    let cannot = || Error::source("taking a snapshot");
    first.enable_multi_statements().map_err(cannot())?;
    for reader in std::iter::once(&mut *first).chain(others.iter_mut()) {
        reader.execute(REPEATABLE.as_bytes()).map_err(cannot())?;
    }
    let end = Instant::now() + WITHOUT_LOCK_LIMIT;
    while Instant::now() < end {
        if let Some(position) = attempt(first, others)? {
            return Ok(Some(position));
        }
        for reader in std::iter::once(&mut *first).chain(others.iter_mut()) {
            reader.execute(b"ROLLBACK").map_err(cannot())?;
        }
        thread::sleep(PAUSE);
    }
    Ok(None)
}

/// What the server said around the snapshots.
#[derive(Debug, Default)]
struct Around {
    before: LogPosition,
    owned: String,
    executed: String,
    behind: LogPosition,
}

impl Around {
    /// The place of the snapshots, if they have one.
    fn position(&self) -> Result<Option<SourcePosition>, Error> {
        if !self.owned.is_empty() || self.before != self.behind {
            return Ok(None);
        }
        let set = self.executed.parse().map_err(|reason| Error::Log(crate::source::Error::Unfit(reason)))?;
        Ok(Some(SourcePosition {
            position: self.before.clone(),
            gtid: GtidState::MySql(set),
            ..SourcePosition::default()
        }))
    }
}

fn attempt(first: &mut Connection, others: &mut [Connection]) -> Result<Option<SourcePosition>, Error> {
    let cannot = || Error::source("taking a snapshot");
    let status = log_end_query(first).to_vec();
    // One packet for as much as possible: the shorter it takes, the more rarely is something committed meanwhile.
    let before = [status.clone(), OWNED.into(), EXECUTED.into(), SNAPSHOT.into()];
    let mut sets = if others.is_empty() {
        first.fetch_each(&[&before[..], &[status]].concat()).map_err(cannot())?
    } else {
        let mut sets = first.fetch_each(&before).map_err(cannot())?;
        for reader in others {
            reader.execute(SNAPSHOT.as_bytes()).map_err(cannot())?;
        }
        sets.push(first.fetch(&status).map_err(cannot())?);
        sets
    }
    .into_iter();
    // START TRANSACTION has no rows.
    let mut next = || -> Vec<String> {
        let row = sets.next().and_then(|rows| rows.into_iter().next()).unwrap_or_default();
        row.into_iter().map(|value| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned()).collect()
    };
    let before = log_end_in(&next())?;
    let [owned, executed] = [next(), next()].map(|row| row.into_iter().next().unwrap_or_default());
    let behind = log_end_in(&next())?;
    Around { before, owned, executed, behind }.position()
}

/// Holds commits up on the source while `freeze` takes snapshots; says which place of the log that is.
pub(crate) fn with_lock<T>(
    control: &mut Connection,
    freeze: impl FnOnce() -> Result<T, Error>,
) -> Result<(T, SourcePosition), Error> {
    let cannot = || Error::source("locking the source for the moment of the snapshot");
    let limit = first_value(control, b"SELECT @@session.lock_wait_timeout").map_err(cannot())?;
    control.execute(LOCK_WAIT.as_bytes()).map_err(cannot())?;
    lock(control)?;
    let frozen = freeze().and_then(|frozen| Ok((frozen, log_end(control)?)));
    control.execute(b"UNLOCK TABLES").map_err(cannot())?;
    control.execute(format!("SET SESSION lock_wait_timeout = {limit}").as_bytes()).map_err(cannot())?;
    frozen
}

/// Takes a snapshot on a connection.
pub(crate) fn begin(reader: &mut Connection) -> Result<(), Error> {
    for statement in [REPEATABLE, SNAPSHOT] {
        reader.execute(statement.as_bytes()).map_err(Error::source("taking a snapshot"))?;
    }
    Ok(())
}

fn lock(control: &mut Connection) -> Result<(), Error> {
    let mut attempts = 1;
    loop {
        match control.execute(b"FLUSH TABLES WITH READ LOCK") {
            Err(ServerError::Server(error)) if error.code == LOCK_WAIT_TIMEOUT && attempts < LOCK_ATTEMPTS => {
                attempts += 1;
                thread::sleep(LOCK_PAUSE);
            }
            Err(ServerError::Server(error)) if error.code == LOCK_WAIT_TIMEOUT => {
                return Err(Error::Refused(
                    "the source cannot be locked for the moment of the snapshot (FLUSH TABLES WITH READ LOCK), because \
                     statements run there for long: end them, or start when they are done"
                        .to_owned(),
                ));
            }
            Err(ServerError::Server(error)) if NO_RIGHT.contains(&error.code) => {
                return Err(Error::Refused(format!(
                    "a snapshot without a lock needs gtid_mode = ON and a moment without a commit, and the account may not \
                     lock: GRANT RELOAD ON *.* TO it, on the source ({error})"
                )));
            }
            done => return done.map(drop).map_err(Error::source("locking the source for the moment of the snapshot")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(position: u64) -> LogPosition {
        LogPosition { file: b"binlog.000001".to_vec(), position }
    }

    #[test]
    fn what_proves_a_moment() {
        let executed = "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-9".to_owned();
        let quiet = Around { before: at(100), owned: String::new(), executed: executed.clone(), behind: at(100) };
        let found = quiet.position().unwrap().unwrap();
        assert_eq!((found.position, found.gtid.to_string()), (at(100), executed));
        let owned = "3e11fa47-71ca-11e1-9e33-c80aa9429562:10#7".to_owned();
        assert_eq!(Around { owned, ..quiet }.position().unwrap(), None);
        assert_eq!(Around { before: at(100), behind: at(101), ..Around::default() }.position().unwrap(), None);
    }
}
