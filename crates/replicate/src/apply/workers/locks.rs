//! Whether connections of one source can trust the target's locks and errors, and whether one waits for another.

use hortator_mysql::{Connection, Error, LockWaits};

use crate::query::first_value;

/// The condition under which rows that come too early are refused, behind others.
pub(super) const IS_STRICT: &[u8] =
    b" AND @@global.slave_exec_mode = 'STRICT' AND @@global.slave_run_triggers_for_rbr = 'NO'";

/// Whether rows that come too early are refused: not where the target passes over missing and duplicate rows, nor where
/// triggers may look at other rows without a lock.
pub(in crate::apply) fn can_run_side_by_side(connection: &mut Connection) -> Result<bool, Error> {
    match first_value(connection, &[b"SELECT TRUE".as_slice(), IS_STRICT].concat()) {
        Ok(is_strict) => Ok(is_strict == "1"),
        // One of them is not known.
        Err(Error::Server(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether a connection waits for one of these, as far as the target tells: of a table's lock it does not say who holds it,
/// and an account may lack the right to see who holds a row's. Then the lock wait ends by itself.
pub(in crate::apply) fn is_blocked_by_others_of(
    asks: &mut Connection,
    lock_waits: &LockWaits,
    connection: u32,
    others: &[u32],
) -> Result<bool, Error> {
    let state =
        format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {connection} AND COMMAND <> 'Sleep'");
    let state = first_value(asks, state.as_bytes())?;
    if state.starts_with("Waiting for") && state.contains("lock") {
        return Ok(true);
    }
    let holders = lock_waits.holders_for(asks, connection)?;
    Ok(holders.iter().any(|holder| others.contains(holder)))
}
