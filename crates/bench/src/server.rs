//! The private server of an experiment: its settings, a clock for its CPU, and coming to rest between runs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Sandbox, Temporary, Topology};

use crate::{Error, measure};

/// What the server is started with, beyond its own defaults, for every way alike.
pub const SETTINGS: [(&str, &str); 3] =
    [("innodb_buffer_pool_size", "1G"), ("innodb_log_file_size", "1G"), ("innodb_flush_log_at_trx_commit", "1")];

/// A server that has not come to rest after this long is used as it is.
const REST_LIMIT: Duration = Duration::from_secs(60);
/// How often a server that should come to rest is looked at.
const REST_INTERVAL: Duration = Duration::from_millis(250);
/// At rest, few old row versions wait to be purged …
const REST_HISTORY: u64 = 20;
/// … few pages wait to be written …
const REST_DIRTY_PAGES: u64 = 200;
/// … and the server uses less than this part of one core.
const REST_CPU_SHARE: f64 = 0.05;

/// How the server is made to write its pages out while it comes to rest, and then set back.
const HURRY: [(&str, &str); 3] =
    [("innodb_io_capacity_max", "20000"), ("innodb_io_capacity", "20000"), ("innodb_max_dirty_pages_pct", "0")];

/// A private server with nothing but the experiment's schemas on it.
#[derive(Debug)]
pub struct Server {
    life: Life,
    stop: Arc<AtomicBool>,
}

/// How long the server lives.
#[derive(Debug)]
enum Life {
    /// Until this value is dropped.
    Experiment(Temporary),
    /// Until `hortator sandbox down NAME`.
    Kept(Sandbox),
}

impl Server {
    /// Starts one on empty data that ends with this value.
    ///
    /// # Errors
    /// [`Error::Sandbox`] when it does not start.
    pub fn temporary(stop: Arc<AtomicBool>) -> Result<Self, Error> {
        Self::of(Topology::Standalone, &[], stop)
    }

    /// Starts a single node of any kind on empty data that ends with this value. The further settings override
    /// [`SETTINGS`].
    pub(crate) fn of(
        topology: Topology,
        further: &[(&'static str, &'static str)],
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let builder = set_up(Builder::new(topology), further, &stop);
        Ok(Self { life: Life::Experiment(builder.start_temporary()?), stop })
    }

    /// Starts one on empty data that stays, as the sandbox of this name.
    ///
    /// # Errors
    /// [`Error::Sandbox`] when it does not start, or the name is taken.
    pub fn kept(name: &str, stop: Arc<AtomicBool>) -> Result<Self, Error> {
        Ok(Self { life: Life::Kept(set_up(Builder::standalone(), &[], &stop).create(name)?), stop })
    }

    fn sandbox(&self) -> &Sandbox {
        match &self.life {
            Life::Experiment(sandbox) => sandbox,
            Life::Kept(sandbox) => sandbox,
        }
    }

    /// A new connection as root.
    ///
    /// # Errors
    /// [`Error::Server`] when the server lets nobody in.
    pub fn connect(&self) -> Result<Connection, Error> {
        Connection::open(&self.sandbox().node(0).connect_options()).map_err(Error::server("connecting"))
    }

    /// What a client program is told to reach it: no option file, the socket, the user; and the character set, which the
    /// client would otherwise take from the locale, and views remember.
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

    /// Where it listens.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.sandbox().node(0).socket()
    }

    /// CPU time that the server has used since it was started.
    ///
    /// # Errors
    /// [`Error::Io`] when it runs no longer.
    pub fn cpu_time(&self) -> Result<Duration, Error> {
        let doing = "reading the server's CPU time";
        let gone = || std::io::Error::new(std::io::ErrorKind::NotFound, "the server has ended");
        let process = self.sandbox().node(0).pid().ok_or_else(gone).map_err(Error::io(doing))?;
        measure::cpu_time(process).map_err(Error::io(doing))
    }

    /// Drops a schema and waits until the server has nothing left to do: no old row versions to purge, no pages to
    /// write, no CPU used. A run that starts then does not pay for the one before it.
    ///
    /// # Errors
    /// [`Error::Server`] when a statement fails, [`Error::Interrupted`] when told to stop.
    pub fn rest_without(&self, schema: &str) -> Result<(), Error> {
        let mut connection = self.connect()?;
        let failed = || Error::server("bringing the server to rest");
        connection.execute(format!("DROP DATABASE IF EXISTS `{schema}`").as_bytes()).map_err(failed())?;

        let mut before = Vec::new();
        for (name, value) in HURRY {
            let rows = connection.fetch(format!("SELECT @@GLOBAL.{name}").as_bytes()).map_err(failed())?;
            let old = rows.into_iter().flatten().flatten().next().unwrap_or_default();
            before.push((name, String::from_utf8_lossy(&old).into_owned()));
            connection.execute(format!("SET GLOBAL {name} = {value}").as_bytes()).map_err(failed())?;
        }
        let rested = self.wait_for_rest(&mut connection);
        // The limit is lowered last: it may not be below the capacity.
        for (name, value) in before.iter().rev() {
            connection.execute(format!("SET GLOBAL {name} = {value}").as_bytes()).map_err(failed())?;
        }
        rested
    }

    fn wait_for_rest(&self, connection: &mut Connection) -> Result<(), Error> {
        let deadline = Instant::now() + REST_LIMIT;
        let (mut looked, mut used) = (Instant::now(), self.cpu_time()?);
        while Instant::now() < deadline {
            thread::sleep(REST_INTERVAL);
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let (looked_now, used_now) = (Instant::now(), self.cpu_time()?);
            let share = (used_now - used).as_secs_f64() / (looked_now - looked).as_secs_f64();
            (looked, used) = (looked_now, used_now);
            let at_rest = share < REST_CPU_SHARE
                && number(connection, "Innodb_history_list_length")? < REST_HISTORY
                && number(connection, "Innodb_buffer_pool_pages_dirty")? < REST_DIRTY_PAGES;
            if at_rest {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A number of `SHOW GLOBAL STATUS`; 0 when this server has no such one.
pub(crate) fn number(connection: &mut Connection, name: &str) -> Result<u64, Error> {
    Ok(status(connection, name)?.parse().unwrap_or(0))
}

/// A value of `SHOW GLOBAL STATUS`; empty when this server has no such one.
pub(crate) fn status(connection: &mut Connection, name: &str) -> Result<String, Error> {
    let statement = format!("SHOW GLOBAL STATUS LIKE '{name}'");
    let rows = connection.fetch(statement.as_bytes()).map_err(Error::server("reading the server's status"))?;
    let value = rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten().unwrap_or_default();
    Ok(String::from_utf8_lossy(&value).into_owned())
}

/// Name and version of what replicates there.
pub(crate) fn provider(connection: &mut Connection) -> Result<String, Error> {
    let name = status(connection, "wsrep_provider_name")?;
    Ok(format!("{name} {}", status(connection, "wsrep_provider_version")?))
}

/// Gives an experiment's nodes [`SETTINGS`], then those that override them.
pub(crate) fn set_up(builder: Builder, further: &[(&'static str, &'static str)], stop: &Arc<AtomicBool>) -> Builder {
    let builder = builder.interrupt_flag(Arc::clone(stop));
    SETTINGS.iter().chain(further).fold(builder, |builder, (name, value)| builder.set(*name, *value))
}
