//! The private server of an experiment: its settings, its CPU time, and quiescing between runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Sandbox, Temporary};

use crate::{Error, measure, quiesce};

/// The settings of the server beyond its defaults, the same for all contenders.
pub const SETTINGS: [(&str, &str); 3] =
    [("innodb_buffer_pool_size", "1G"), ("innodb_log_file_size", "1G"), ("innodb_flush_log_at_trx_commit", "1")];

/// A private server that holds only the experiment's schemas.
#[derive(Debug)]
pub struct Server {
    lifetime: Lifetime,
    stop: Arc<AtomicBool>,
}

/// The lifetime of the server.
#[derive(Debug)]
enum Lifetime {
    /// Until this value is dropped.
    Experiment(Temporary),
    /// Until `hortator sandbox down NAME`.
    Kept(Sandbox),
}

impl Server {
    /// Starts a server on empty data that ends when this value is dropped.
    ///
    /// # Errors
    /// [`Error::Sandbox`] when it does not start.
    pub fn temporary(stop: Arc<AtomicBool>) -> Result<Self, Error> {
        Self::with_settings(&[], stop)
    }

    /// The same with settings that override [`SETTINGS`].
    ///
    /// # Errors
    /// [`Error::Sandbox`] when it does not start.
    pub fn with_settings(further: &[(&'static str, &'static str)], stop: Arc<AtomicBool>) -> Result<Self, Error> {
        let builder = set_up(Builder::standalone(), further, &stop);
        Ok(Self { lifetime: Lifetime::Experiment(builder.start_temporary()?), stop })
    }

    /// Starts a server on empty data and keeps it as the sandbox of this name.
    ///
    /// # Errors
    /// [`Error::Sandbox`] when it does not start, or the name is in use.
    pub fn kept(name: &str, stop: Arc<AtomicBool>) -> Result<Self, Error> {
        Ok(Self { lifetime: Lifetime::Kept(set_up(Builder::standalone(), &[], &stop).create(name)?), stop })
    }

    fn sandbox(&self) -> &Sandbox {
        match &self.lifetime {
            Lifetime::Experiment(sandbox) => sandbox,
            Lifetime::Kept(sandbox) => sandbox,
        }
    }

    /// A new connection as root.
    ///
    /// # Errors
    /// [`Error::Server`] when the connection fails.
    pub fn connect(&self) -> Result<Connection, Error> {
        Connection::open(&self.sandbox().node(0).connect_options()).map_err(Error::server("connecting"))
    }

    /// A client program with the arguments to connect: no option file, the socket, the user; and the character set,
    /// which the client would otherwise take from the locale and store in views.
    #[must_use]
    pub fn client(&self, program: impl AsRef<Path>, before: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .args(before)
            .args(["--no-defaults", "--default-character-set=utf8mb4"])
            .arg("-S")
            .arg(self.sandbox().node(0).socket())
            .args(["-u", "root"]);
        command
    }

    /// The path of its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.sandbox().node(0).socket()
    }

    /// CPU time that the server has used since its start.
    ///
    /// # Errors
    /// [`Error::Io`] when it has ended.
    pub fn cpu_time(&self) -> Result<Duration, Error> {
        let action = "reading the server's CPU time";
        let gone = || std::io::Error::new(std::io::ErrorKind::NotFound, "the server has ended");
        let process = self.sandbox().node(0).pid().ok_or_else(gone).map_err(Error::io(action))?;
        measure::cpu_time(process).map_err(Error::io(action))
    }

    /// Drops a schema and waits until the server is idle.
    ///
    /// # Errors
    /// [`Error::Server`] when a statement fails, [`Error::Interrupted`] when the experiment is stopped.
    pub fn quiesce_without(&self, schema: &str) -> Result<(), Error> {
        let mut connection = self.connect()?;
        let drop_schema = format!("DROP DATABASE IF EXISTS `{schema}`");
        connection.execute(drop_schema.as_bytes()).map_err(Error::server("quiescing the server"))?;
        quiesce::wait(&mut [connection], || self.cpu_time(), &self.stop)
    }
}

/// A number of `SHOW GLOBAL STATUS`; 0 when this server has no such variable.
pub(crate) fn status_number(connection: &mut Connection, name: &str) -> Result<u64, Error> {
    Ok(status(connection, name)?.parse().unwrap_or(0))
}

/// A value of `SHOW GLOBAL STATUS`; empty when this server has no such variable.
pub(crate) fn status(connection: &mut Connection, name: &str) -> Result<String, Error> {
    let statement = format!("SHOW GLOBAL STATUS LIKE '{name}'");
    let rows = connection.fetch(statement.as_bytes()).map_err(Error::server("reading the server's status"))?;
    let value = rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten().unwrap_or_default();
    Ok(String::from_utf8_lossy(&value).into_owned())
}

/// Name and version of the provider.
pub(crate) fn provider(connection: &mut Connection) -> Result<String, Error> {
    let name = status(connection, "wsrep_provider_name")?;
    Ok(format!("{name} {}", status(connection, "wsrep_provider_version")?))
}

/// Gives [`SETTINGS`] to the nodes of an experiment, then the settings that override them.
pub(crate) fn set_up(builder: Builder, further: &[(&'static str, &'static str)], stop: &Arc<AtomicBool>) -> Builder {
    let builder = builder.interrupt_flag(Arc::clone(stop));
    SETTINGS.iter().chain(further).fold(builder, |builder, (name, value)| builder.set(*name, *value))
}
