//! A stock replica of the source: what it cannot do either, is not asked of Hortator.

use anyhow::Context;
use hortator_mysql::Connection;

use super::agent::Progress;
use crate::mtr_as_dumps::server::Server;

/// How long it may take to catch up, in seconds.
const LIMIT_S: u32 = 20;
/// Two waits of a replica: it may have stopped between them.
const STEP_S: f64 = 0.5;

/// Makes it a replica of the source's log from the beginning.
pub(super) fn start(replica: &Server, source: &Server) -> anyhow::Result<()> {
    let mut connection = replica.connect()?;
    let change = format!(
        "CHANGE MASTER TO master_host = '127.0.0.1', master_port = {}, master_user = 'repl', master_password = 'secret', \
         master_use_gtid = slave_pos, master_connect_retry = 1",
        source.port()
    );
    connection.execute(b"SET GLOBAL gtid_slave_pos = ''")?;
    connection.execute(change.as_bytes())?;
    connection.execute(b"START SLAVE")?;
    Ok(())
}

/// Makes it a usual server again.
pub(super) fn stop(replica: &Server) -> anyhow::Result<()> {
    let mut connection = replica.connect()?;
    connection.execute(b"STOP SLAVE")?;
    connection.execute(b"RESET SLAVE ALL")?;
    connection.execute(b"SET GLOBAL gtid_slave_pos = ''")?;
    Ok(())
}

/// Waits until it has what the source has now.
pub(super) fn catch_up(replica: &Server, source: &Server) -> anyhow::Result<Progress> {
    let end = value(&mut source.connect()?, "SELECT @@global.gtid_binlog_pos")?;
    let mut connection = replica.connect()?;
    let steps = f64::from(LIMIT_S) / STEP_S;
    for _ in 0..steps as u32 {
        if value(&mut connection, &format!("SELECT MASTER_GTID_WAIT('{end}', {STEP_S})"))? == "0" {
            return Ok(Progress::CaughtUp);
        }
        let (number, error) = last_error(&mut connection)?;
        if number != "0" {
            return Ok(Progress::Stopped(format!("{number} {error}")));
        }
    }
    Ok(Progress::Late("it has not caught up in time".to_owned()))
}

/// Passes over what has stopped it.
pub(super) fn skip(replica: &Server) -> anyhow::Result<()> {
    let mut connection = replica.connect()?;
    connection.execute(b"SET GLOBAL sql_slave_skip_counter = 1")?;
    connection.execute(b"START SLAVE SQL_THREAD").map(drop).context("starting the replica again")
}

/// Number and text of what has stopped its SQL thread, or the one that reads.
fn last_error(connection: &mut Connection) -> anyhow::Result<(String, String)> {
    let row = connection.fetch(b"SHOW SLAVE STATUS")?.into_iter().next().unwrap_or_default();
    let text = |index: usize| {
        let value = row.get(index).cloned().flatten().unwrap_or_default();
        String::from_utf8_lossy(&value).into_owned()
    };
    let of_sql = (text(LAST_SQL_ERRNO), text(LAST_SQL_ERRNO + 1));
    let of_io = (text(LAST_SQL_ERRNO - 2), text(LAST_SQL_ERRNO - 1));
    Ok(if of_sql.0 == "0" { of_io } else { of_sql })
}

/// Where SHOW SLAVE STATUS has `Last_SQL_Errno`, counted from 0; the text follows, and before it are those of the other
/// thread.
const LAST_SQL_ERRNO: usize = 36;

fn value(connection: &mut Connection, query: &str) -> anyhow::Result<String> {
    let row = connection.fetch(query.as_bytes())?.into_iter().next();
    let value = row.and_then(|row| row.into_iter().next()).flatten().unwrap_or_default();
    Ok(String::from_utf8_lossy(&value).into_owned())
}
