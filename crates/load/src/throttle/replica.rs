//! The lag of a replica: as the replica says, or by a heartbeat table.

use std::ops::ControlFlow;

use hortator_mysql::{Column, Connection, Error, Flavor, RowSink, quote_identifier};

/// A table in which another program writes the time on the source, as pt-heartbeat does: the latest `ts` is the time up to
/// which a replica has the source's changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatTable {
    /// Its schema.
    pub schema: String,
    /// Its name.
    pub table: String,
}

/// What a replica calls its lag.
const LAG_COLUMNS: [&str; 2] = ["Seconds_Behind_Master", "Seconds_Behind_Source"];

/// Asks for the lag in seconds; a text is why it is not known.
pub(super) fn ask(
    connection: &mut Connection,
    heartbeat: Option<&HeartbeatTable>,
) -> Result<Result<f64, String>, Error> {
    match heartbeat {
        Some(table) => ask_heartbeat(connection, table),
        None => ask_status(connection),
    }
}

fn ask_status(connection: &mut Connection) -> Result<Result<f64, String>, Error> {
    let questions: &[&[u8]] = match connection.version().flavor {
        // All its sources.
        Flavor::MariaDb => &[b"SHOW ALL SLAVES STATUS"],
        Flavor::MySql => &[b"SHOW REPLICA STATUS", b"SHOW SLAVE STATUS"],
    };
    let mut refused = None;
    for question in questions {
        let mut lags = Lags::default();
        match connection.query(question, &mut lags) {
            Ok(_) => return Ok(lags.worst()),
            Err(error @ Error::Server(_)) => drop(refused.get_or_insert(error)),
            Err(error) => return Err(error),
        }
    }
    Ok(Err(refused.map_or_else(String::new, |error| error.to_string())))
}

fn ask_heartbeat(connection: &mut Connection, table: &HeartbeatTable) -> Result<Result<f64, String>, Error> {
    let place = [quote_identifier(&table.schema), quote_identifier(&table.table)].join(&b'.');
    let question = [b"SELECT TIMESTAMPDIFF(MICROSECOND, MAX(ts), NOW(6)) FROM ".as_slice(), &place].concat();
    let rows = match connection.fetch(&question) {
        Ok(rows) => rows,
        Err(error @ Error::Server(_)) => return Ok(Err(error.to_string())),
        Err(error) => return Err(error),
    };
    let value = rows.first().and_then(|row| row.first()?.as_deref());
    let micros: Option<f64> = value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok());
    // Clocks of two machines differ.
    let lag = micros.map(|micros| (micros / 1e6).max(0.0));
    Ok(lag.ok_or_else(|| format!("the heartbeat table {}.{} has no time", table.schema, table.table)))
}

/// The lags behind all sources of a replica.
#[derive(Debug, Default)]
struct Lags {
    column: Option<usize>,
    lags: Vec<Option<f64>>,
}

impl Lags {
    fn worst(self) -> Result<f64, String> {
        if self.lags.is_empty() {
            return Err("the server is no replica".to_owned());
        }
        let worst = self.lags.into_iter().try_fold(0.0, |worst: f64, lag| Some(worst.max(lag?)));
        worst.ok_or_else(|| "its replication is stopped".to_owned())
    }
}

impl RowSink for Lags {
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()> {
        let is_lag = |column: &Column| LAG_COLUMNS.iter().any(|name| column.name.eq_ignore_ascii_case(name.as_bytes()));
        self.column = columns.iter().position(is_lag);
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let value = self.column.and_then(|column| *values.get(column)?);
        self.lags.push(value.and_then(|value| std::str::from_utf8(value).ok()?.parse().ok()));
        ControlFlow::Continue(())
    }
}
