//! The servers of a deployment: started on empty data, reset between runs, and waited for until each has everything.

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::{Column, Connection, RowSink};

use super::contender::SETTINGS;
use super::rows::TABLE;
use super::{Deployment, Factors, SCHEMA, Storage};
use crate::nodes::Nodes;
use crate::{Error, options, quiesce, server};

/// The interval for looking at servers that are waited for.
const WAIT_INTERVAL: Duration = Duration::from_millis(10);
/// One call of `MASTER_GTID_WAIT`, in seconds: between two of them the user can stop the experiment.
const GTID_WAIT_S: u64 = 1;
/// The magic number of tmpfs in statfs(2).
const TMPFS_MAGIC: i64 = 0x0102_1994;
/// Of a node without rows, with its redo log; and of a row in tables and logs together, with room to spare.
const NODE_BYTES: u64 = 512 << 20;
const ROW_BYTES: u64 = 1_200;

/// Running servers.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) deployment: Deployment,
    pub(super) nodes: Nodes,
    /// Of each server, whether it was killed.
    killed: Vec<AtomicBool>,
    /// The limit for a server to apply everything.
    limit: Duration,
    stop: Arc<AtomicBool>,
}

impl Servers {
    /// Starts servers with their data below `folder`.
    pub(super) fn start(
        deployment: Deployment,
        factors: Factors,
        folder: &Path,
        limit: Duration,
        stop: &Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let mut builder = options::builder(deployment.topology()).dir(folder);
        for (name, value) in SETTINGS {
            builder = builder.set(name, value);
        }
        for (name, value) in deployment.settings(factors) {
            builder = builder.set(name, value);
        }
        let nodes = Nodes::start_as(builder, stop)?;
        let killed = (0..nodes.count()).map(|_| AtomicBool::new(false)).collect();
        Ok(Self { deployment, nodes, killed, limit, stop: Arc::clone(stop) })
    }

    /// A server and its provider, for the report.
    pub(super) fn versions(&self) -> Result<Vec<String>, Error> {
        let server = format!("server {}", self.nodes.connect(0)?.version().text);
        let provider = if self.deployment.is_cluster() { Some(self.nodes.provider()?) } else { None };
        Ok([Some(server), provider].into_iter().flatten().collect())
    }

    /// An empty table on all servers, which are idle.
    pub(super) fn reset(&self) -> Result<(), Error> {
        let drop_schema = format!("DROP DATABASE IF EXISTS {SCHEMA}");
        let (create_schema, use_schema) = (format!("CREATE DATABASE {SCHEMA}"), format!("USE {SCHEMA}"));
        let mut connection = self.nodes.connect(0)?;
        for statement in [drop_schema.as_str(), &create_schema, &use_schema, TABLE] {
            connection.execute(statement.as_bytes()).map_err(Error::server("creating the table"))?;
        }
        self.wait_until_equal()?;
        quiesce::wait(&mut self.nodes.connect_all()?, || self.nodes.cpu_time(), &self.stop).map(drop)
    }

    /// A connection to each server that was not killed, with its number from 1. It sees all that its server has received.
    pub(super) fn connect_alive(&self) -> Result<Vec<(usize, Connection)>, Error> {
        let connect = |node: &usize| {
            let mut connection = self.nodes.connect(*node)?;
            // A server without a provider has this variable too.
            let set = connection.execute(b"SET SESSION wsrep_sync_wait = 1");
            set.map_err(Error::server("setting wsrep_sync_wait"))?;
            Ok((node + 1, connection))
        };
        self.alive().iter().map(connect).collect()
    }

    /// The servers that were not killed, counted from 0.
    fn alive(&self) -> Vec<usize> {
        (0..self.killed.len()).filter(|node| !self.is_killed(*node)).collect()
    }

    fn is_killed(&self, node: usize) -> bool {
        self.killed[node].load(Ordering::Relaxed)
    }

    /// Waits until each server has everything that any of them has committed. Of a source that was killed, a replica has what
    /// it has received.
    pub(super) fn wait_until_equal(&self) -> Result<(), Error> {
        if self.deployment.is_cluster() {
            return self.nodes.wait_until_applied_by(&self.alive(), self.limit);
        }
        for (source, replica) in self.deployment.links() {
            match (self.is_killed(*source), self.is_killed(*replica)) {
                (false, false) => {
                    let binlog = value(&mut self.nodes.connect(*source)?, "SELECT @@GLOBAL.gtid_binlog_pos")?;
                    let own = source + 1;
                    self.wait_for_gtids(*replica, &gtids(&binlog, |server| server == own))?;
                }
                (true, false) => self.apply_relay_log(*replica)?,
                (_, true) => {}
            }
        }
        Ok(())
    }

    /// Kills a server.
    pub(super) fn kill(&self, node: usize) -> Result<(), Error> {
        self.killed[node].store(true, Ordering::Relaxed);
        self.nodes.kill(node)
    }

    /// Makes a replica whose source is gone a server of its own, when it has applied what it has received.
    pub(super) fn promote(&self, replica: usize) -> Result<(), Error> {
        self.apply_relay_log(replica)?;
        let stopped = self.nodes.connect(replica)?.execute(b"STOP SLAVE");
        stopped.map(drop).map_err(Error::server("stopping the replica's replication"))
    }

    /// Waits until a replica whose source is gone has read all that the source sent, and then until it has applied that.
    fn apply_relay_log(&self, replica: usize) -> Result<(), Error> {
        let mut connection = self.nodes.connect(replica)?;
        let deadline = Instant::now() + self.limit;
        let received = loop {
            let status = slave_status(&mut connection)?;
            if status.io_running != "Yes" {
                break status.received;
            }
            if Instant::now() > deadline {
                return Err(Error::Answer(format!("node {} does not notice that its source is gone", replica + 1)));
            }
            self.pause()?;
        };
        let own = replica + 1;
        self.wait_for_gtids(replica, &gtids(&received, |server| server != own))
    }

    fn wait_for_gtids(&self, replica: usize, wanted: &str) -> Result<(), Error> {
        let mut connection = self.nodes.connect(replica)?;
        let deadline = Instant::now() + self.limit;
        let wait = format!("SELECT MASTER_GTID_WAIT('{wanted}', {GTID_WAIT_S})");
        while value(&mut connection, &wait)? != "0" {
            let (number, error) = (replica + 1, slave_status(&mut connection)?.error);
            if !error.is_empty() {
                return Err(Error::Answer(format!("node {number} has stopped to replicate: {error}")));
            }
            if Instant::now() > deadline {
                let applied = value(&mut connection, "SELECT @@GLOBAL.gtid_slave_pos")?;
                let limit_s = self.limit.as_secs();
                return Err(Error::Answer(format!(
                    "node {number} has applied {applied} of {wanted} after {limit_s} s: read its error log"
                )));
            }
            self.pause()?;
        }
        Ok(())
    }

    fn pause(&self) -> Result<(), Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        thread::sleep(WAIT_INTERVAL);
        Ok(())
    }

    /// Commits of each server that waits for acknowledgements that went without one so far.
    pub(super) fn unacknowledged(&self) -> Result<Vec<u64>, Error> {
        let read = |(source, _): &(usize, usize)| {
            server::status_number(&mut self.nodes.connect(*source)?, "Rpl_semi_sync_master_no_tx")
        };
        self.deployment.links().iter().map(read).collect()
    }

    /// Whether each of these servers waits for acknowledgements.
    pub(super) fn are_semisync(&self) -> Result<Vec<bool>, Error> {
        let read = |(source, _): &(usize, usize)| {
            let status = server::status(&mut self.nodes.connect(*source)?, "Rpl_semi_sync_master_status");
            status.map(|status| status == "ON")
        };
        self.deployment.links().iter().map(read).collect()
    }
}

/// Whether a folder is what a cell asks for, and has room for the servers.
pub(super) fn check_storage(storage: Storage, folder: &Path, nodes: usize, rows: u64) -> Result<(), Error> {
    let found = rustix::fs::statfs(folder).map_err(std::io::Error::from);
    let found = found.map_err(Error::io(format!("looking at the file system of {}", folder.display())))?;
    let is_tmpfs = found.f_type == TMPFS_MAGIC;
    let instead = match (storage, is_tmpfs) {
        (Storage::Tmpfs, false) => Some("is no tmpfs: mount one and name it with --tmpfs, or measure --storage disk"),
        (Storage::Disk, true) => Some("is a tmpfs: name a folder on a disk with --dir, or measure --storage tmpfs"),
        _ => None,
    };
    if let Some(instead) = instead {
        return Err(Error::Answer(format!("{} {instead}", folder.display())));
    }
    let free = found.f_bavail.saturating_mul(u64::try_from(found.f_bsize).unwrap_or(0));
    check_room(folder, free, nodes, rows)
}

fn check_room(folder: &Path, free: u64, nodes: usize, rows: u64) -> Result<(), Error> {
    let needed = nodes as u64 * (NODE_BYTES + rows * ROW_BYTES);
    match free >= needed {
        true => Ok(()),
        false => Err(Error::Answer(format!(
            "{} has {} MiB free, and {nodes} servers with {rows} rows may need {} MiB: make room, or insert fewer --rows",
            folder.display(),
            free >> 20,
            needed >> 20
        ))),
    }
}

/// What a replica says of its replication.
#[derive(Debug, Default)]
struct SlaveStatus {
    io_running: String,
    /// GTIDs up to which it has read.
    received: String,
    /// Why it has stopped to apply; empty if it has not.
    error: String,
    columns: Vec<Vec<u8>>,
}

fn slave_status(connection: &mut Connection) -> Result<SlaveStatus, Error> {
    let mut status = SlaveStatus::default();
    let asked = connection.query(b"SHOW SLAVE STATUS", &mut status);
    asked.map_err(Error::server("reading the replica's status"))?;
    Ok(status)
}

impl RowSink for SlaveStatus {
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()> {
        self.columns = columns.iter().map(|column| column.name.clone()).collect();
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        for (column, value) in self.columns.iter().zip(values) {
            let value = String::from_utf8_lossy(value.unwrap_or_default()).into_owned();
            match column.as_slice() {
                b"Slave_IO_Running" => self.io_running = value,
                b"Gtid_IO_Pos" => self.received = value,
                b"Last_SQL_Error" => self.error = value,
                _ => {}
            }
        }
        ControlFlow::Break(())
    }
}

/// The first value of an answer.
fn value(connection: &mut Connection, query: &str) -> Result<String, Error> {
    let rows = connection.fetch(query.as_bytes()).map_err(Error::server("reading positions"))?;
    let value = rows.into_iter().flatten().flatten().next().unwrap_or_default();
    Ok(String::from_utf8_lossy(&value).into_owned())
}

/// Those of the GTIDs (`domain-server-number`, separated by commas) that are of wanted servers, by their numbers from 1.
/// Nothing of a server's own comes back to it from its replica.
fn gtids(all: &str, is_wanted: impl Fn(usize) -> bool) -> String {
    let mut wanted = String::new();
    for gtid in all.split(',') {
        let server = gtid.split('-').nth(1).and_then(|server| server.parse().ok());
        if server.is_some_and(&is_wanted) {
            let _ = write!(wanted, "{}{gtid}", if wanted.is_empty() { "" } else { "," });
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_commits_of_the_other_server_are_waited_for() {
        assert_eq!(gtids("1-1-20,2-2-30", |server| server == 1), "1-1-20");
        assert_eq!(gtids("1-1-20,2-2-30", |server| server != 1), "2-2-30");
        assert_eq!(gtids("0-1-7,1-1-20", |server| server == 1), "0-1-7,1-1-20");
        assert_eq!(gtids("", |_| true), "");
    }

    #[test]
    fn a_file_system_that_is_none_or_too_small_is_refused() {
        let refused = |storage, folder: &str| check_storage(storage, Path::new(folder), 1, 1).unwrap_err().to_string();
        assert!(refused(Storage::Tmpfs, "/proc").starts_with("/proc is no tmpfs: "));
        assert!(refused(Storage::Tmpfs, "/no/such").starts_with("looking at the file system of /no/such: "));
        let message = check_room(Path::new("/dev/shm"), 64 << 20, 2, 30_000).unwrap_err().to_string();
        assert!(
            message.starts_with("/dev/shm has 64 MiB free, and 2 servers with 30000 rows may need 1092 MiB"),
            "{message}"
        );
        check_room(Path::new("/dev/shm"), 2 << 30, 2, 30_000).unwrap();
    }
}
