//! The user locks of a load's sessions: who has the lock of a number is the session of that number, until the server has ended it.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

use hortator_mysql::Connection;

use super::load_registry::number;
use super::{Checkpoints, Error, KEY_SESSION};
use crate::deferred_keys::KEY_SESSIONS;

/// How long a session waits for the former session of the same number to end, in seconds.
pub(super) const LOCK_TIMEOUT_S: u32 = 60;

/// How long the server is asked to wait for the end of a lost session at a time, in seconds.
const LOST_TIMEOUT_S: u32 = 1;
/// How often such a session is killed.
const KILLS_LIMIT: u32 = 10;

impl Checkpoints {
    /// Takes the lock of a session; waits until the server has ended the one that held it before.
    ///
    /// # Errors
    /// When that session does not end; or an error of the server.
    pub fn claim(&self, connection: &mut Connection, number: usize) -> Result<(), hortator_mysql::Error> {
        claim(connection, self.load_id, number, LOCK_TIMEOUT_S).map_err(Error::into_server)
    }

    /// Waits until the statement of a lost session is over, however long it takes, and ends the session. `is_lost`: until somebody
    /// has seen its end.
    ///
    /// # Errors
    /// When the session cannot be ended; what the server or the connection says.
    pub(crate) fn await_lost(
        &self,
        connection: &mut Connection,
        number: usize,
        is_lost: &AtomicBool,
    ) -> Result<(), hortator_mysql::Error> {
        let mut kills = 0;
        while is_lost.load(Acquire) {
            let found = || is_lost.store(false, Release);
            if at_end(connection, self.load_id, number, found)? {
                break;
            }
            if let Some(connection_id) = end_idle(connection, self.load_id, number)? {
                kills += 1;
                if kills >= KILLS_LIMIT {
                    return Err(Error::Running { load_id: self.load_id, connection_id }.into_server());
                }
            }
        }
        Ok(())
    }
}

fn lock(load_id: u64, session: usize) -> String {
    format!("hortator.{load_id}.{session}")
}

/// Takes the lock of one of the load's sessions.
pub(super) fn claim(connection: &mut Connection, load_id: u64, session: usize, timeout_s: u32) -> Result<(), Error> {
    let name = lock(load_id, session);
    let acquired = number(connection, &format!("SELECT GET_LOCK('{name}', {timeout_s})"))?;
    if acquired == 1 {
        return Ok(());
    }
    let connection_id = number(connection, &format!("SELECT IFNULL(IS_USED_LOCK('{name}'), 0)"))?;
    Err(Error::Running { load_id, connection_id })
}

/// Does something while nobody has the lock of a session, if the server ends that soon; gives whether it did. Whoever opens a
/// session in its place waits meanwhile.
fn at_end(
    connection: &mut Connection,
    load_id: u64,
    session: usize,
    found: impl FnOnce(),
) -> Result<bool, hortator_mysql::Error> {
    let name = lock(load_id, session);
    if number(connection, &format!("SELECT GET_LOCK('{name}', {LOST_TIMEOUT_S})"))? != 1 {
        return Ok(false);
    }
    found();
    connection.execute(format!("DO RELEASE_LOCK('{name}')").as_bytes())?;
    Ok(true)
}

/// Ends a lost session of the load whose statement is over: the server may not notice its loss for hours. Gives its connection.
fn end_idle(connection: &mut Connection, load_id: u64, session: usize) -> Result<Option<u64>, hortator_mysql::Error> {
    let query = format!(
        "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND = 'Sleep' AND ID = IS_USED_LOCK('{}')",
        lock(load_id, session),
    );
    let id = number(connection, &query)?;
    if id == 0 {
        return Ok(None);
    }
    match connection.execute(format!("KILL {id}").as_bytes()) {
        // It has just ended.
        Ok(_) | Err(hortator_mysql::Error::Server(_)) => Ok(Some(id)),
        Err(error) => Err(error),
    }
}

/// The session that runs a load.
pub(super) fn holder(connection: &mut Connection, load_id: u64) -> Result<Option<u64>, hortator_mysql::Error> {
    let id = number(connection, &format!("SELECT IFNULL(IS_USED_LOCK('{}'), 0)", lock(load_id, 0)))?;
    Ok(Some(id).filter(|id| *id != 0))
}

/// Waits until the server has ended a former session of the load.
pub(super) fn await_end(connection: &mut Connection, load_id: u64, session: usize) -> Result<(), Error> {
    claim(connection, load_id, session, LOCK_TIMEOUT_S)?;
    connection.execute(format!("DO RELEASE_LOCK('{}')", lock(load_id, session)).as_bytes())?;
    Ok(())
}

/// The same for those that drop and build keys: a server goes on with ALTER TABLE when its client is gone.
pub(super) fn await_key_sessions(connection: &mut Connection, load_id: u64) -> Result<(), Error> {
    (KEY_SESSION..KEY_SESSION + KEY_SESSIONS).try_for_each(|session| await_end(connection, load_id, session))
}
