//! Whether connections of one source can trust the target's locks and errors, and whether one waits for another.

use hortator_mysql::{Connection, Error};

use crate::query::{first_column, first_value};

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
    connection: u32,
    others: &[u32],
) -> Result<bool, Error> {
    let state =
        format!("SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = {connection} AND COMMAND <> 'Sleep'");
    let state = first_value(asks, state.as_bytes())?;
    if state.starts_with("Waiting for") && state.contains("lock") {
        return Ok(true);
    }
    let holders = format!(
        "SELECT b.trx_mysql_thread_id FROM information_schema.INNODB_LOCK_WAITS w \
         JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id \
         JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id \
         WHERE r.trx_mysql_thread_id = {connection}"
    );
    let holders = match first_column(asks, holders.as_bytes()) {
        Ok(holders) => holders,
        Err(Error::Server(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    Ok(holders.iter().filter_map(|holder| holder.parse().ok()).any(|holder: u32| others.contains(&holder)))
}
