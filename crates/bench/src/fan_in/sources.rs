//! The sources with their backlogs.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_mysql::Connection;
use hortator_sandbox::{Temporary, Topology};

use super::Workload;
use crate::{Error, measure, options};

/// Settings of a source: it is not what is measured.
const SETTINGS: [(&str, &str); 6] = [
    ("log_bin", "bin"),
    ("binlog_format", "ROW"),
    ("innodb_buffer_pool_size", "128M"),
    ("innodb_flush_log_at_trx_commit", "0"),
    ("sync_binlog", "0"),
    ("max_binlog_size", "1G"),
];

/// The account that MariaDB's own replication uses.
pub(super) const ACCOUNT: &str = "bench";

/// A place of a source's log.
#[derive(Clone, Debug)]
pub(super) struct LogPosition {
    pub(super) file: String,
    pub(super) position: u64,
}

/// A source and its backlog.
pub(super) struct Source {
    pub(super) server: Temporary,
    /// Its schema: one for each source.
    pub(super) schema: String,
    pub(super) begin: LogPosition,
    pub(super) end: LogPosition,
    /// Of the tables at the end.
    pub(super) checksums: Vec<Vec<u8>>,
}

impl Source {
    /// Starts a source, which writes its backlog.
    pub(super) fn start(
        number: usize,
        workload: Workload,
        transactions: u64,
        stop: &Arc<AtomicBool>,
    ) -> Result<Source, Error> {
        let mut source = Source::without_backlog(number, workload, stop)?;
        write(&source.server, &source.schema, &workload.backlog(number, transactions))?;
        source.close(workload)?;
        Ok(source)
    }

    /// Starts a source with the tables as they are before the backlog.
    pub(super) fn without_backlog(number: usize, workload: Workload, stop: &Arc<AtomicBool>) -> Result<Source, Error> {
        let builder = SETTINGS
            .iter()
            .fold(options::builder(Topology::Standalone), |builder, (name, value)| builder.set(*name, *value));
        let server = builder.interrupt_flag(Arc::clone(stop)).start_temporary()?;
        let schema = format!("d{}", number + 1);
        let mut connection = connect(&server)?;
        let account = [
            format!("CREATE USER {ACCOUNT}@'127.0.0.1' IDENTIFIED BY '{ACCOUNT}'"),
            format!("GRANT REPLICATION SLAVE ON *.* TO {ACCOUNT}@'127.0.0.1'"),
        ];
        run(&mut connection, &account)?;
        set_up(&mut connection, &schema, workload)?;
        let begin = log_position(&mut connection)?;
        Ok(Source { server, schema, end: begin.clone(), begin, checksums: Vec::new() })
    }

    /// Makes the tables anew, as they are before the backlog; its log begins here.
    pub(super) fn reset(&mut self, workload: Workload) -> Result<(), Error> {
        let mut connection = connect(&self.server)?;
        run(&mut connection, &[format!("DROP DATABASE {}", self.schema)])?;
        set_up(&mut connection, &self.schema, workload)?;
        self.begin = log_position(&mut connection)?;
        Ok(())
    }

    /// Takes what it has written so far as all.
    pub(super) fn close(&mut self, workload: Workload) -> Result<(), Error> {
        let mut connection = connect(&self.server)?;
        self.end = log_position(&mut connection)?;
        self.checksums = checksums(&mut connection, &self.schema, workload)?;
        Ok(())
    }

    /// CPU time of its server so far.
    pub(super) fn cpu(&self) -> Result<Duration, Error> {
        let process = self.server.node(0).pid().ok_or(Error::Ended { node: 1 })?;
        measure::cpu_time(process).map_err(Error::io("reading a source's CPU time"))
    }
}

pub(super) fn connect(server: &Temporary) -> Result<Connection, Error> {
    Connection::open(&server.node(0).connect_options()).map_err(Error::server("connecting"))
}

/// The tables as they are before the backlog.
pub(super) fn set_up(connection: &mut Connection, schema: &str, workload: Workload) -> Result<(), Error> {
    run(connection, &[format!("CREATE DATABASE {schema}"), format!("USE {schema}")])?;
    run(connection, &workload.setup())
}

pub(super) fn run(connection: &mut Connection, statements: &[String]) -> Result<(), Error> {
    for statement in statements {
        connection.execute(statement.as_bytes()).map_err(Error::server(&format!("running {statement}")))?;
    }
    Ok(())
}

/// The checksums of the tables, in order.
pub(super) fn checksums(connection: &mut Connection, schema: &str, workload: Workload) -> Result<Vec<Vec<u8>>, Error> {
    let tables: Vec<String> = workload.tables().iter().map(|table| format!("{schema}.{table}")).collect();
    let query = format!("CHECKSUM TABLE {}", tables.join(", "));
    let rows = connection.fetch(query.as_bytes()).map_err(Error::server("comparing the tables"))?;
    Ok(rows.into_iter().map(|row| row.into_iter().nth(1).flatten().unwrap_or_default()).collect())
}

/// The end of the log.
fn log_position(connection: &mut Connection) -> Result<LogPosition, Error> {
    let rows = connection.fetch(b"SHOW MASTER STATUS").map_err(Error::server("asking for the end of the log"))?;
    let mut values = rows.into_iter().next().into_iter().flatten().flatten();
    let mut text = || String::from_utf8_lossy(&values.next().unwrap_or_default()).into_owned();
    let (file, position) = (text(), text());
    let position = position.parse().map_err(|_| Error::Answer(format!("the log ends at `{file}:{position}`")))?;
    Ok(LogPosition { file, position })
}

/// Runs a script with the client.
fn write(server: &Temporary, schema: &str, script: &str) -> Result<(), Error> {
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "-u", "root", schema, "-S"]).arg(server.node(0).socket());
    let mut client = command.stdin(Stdio::piped()).spawn().map_err(Error::io("starting mariadb"))?;
    if let Some(mut input) = client.stdin.take() {
        input.write_all(script.as_bytes()).map_err(Error::io("writing the backlog"))?;
    }
    let status = client.wait().map_err(Error::io("waiting for mariadb"))?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Failed { program: "mariadb".to_owned(), status: status.to_string(), output: String::new() })
}
