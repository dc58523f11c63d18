//! The private cluster of the experiment: its settings, its CPU, coming to rest, and when all nodes have everything.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::Connection;
use hortator_sandbox::{Builder, Temporary};

use crate::server::{number, set_up};
use crate::{Error, measure, server};

/// What the nodes are started with beyond [`server::SETTINGS`]: with its default of one, the thread that applies what others have
/// committed would be the limit of all ways alike.
pub(super) const NODE_SETTINGS: [(&str, &str); 1] = [("wsrep_slave_threads", "4")];

/// A cluster that has not come to rest after this long is used as it is.
const REST_LIMIT: Duration = Duration::from_secs(60);
/// How often it is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(250);
/// How often it is looked at whether all nodes have everything.
const APPLIED_INTERVAL: Duration = Duration::from_millis(10);
/// A node that has not applied everything by then never will.
const APPLIED_LIMIT: Duration = Duration::from_secs(600);
/// At rest, few pages wait to be written …
const REST_DIRTY_PAGES: u64 = 200;
/// … and all nodes together use less than this part of one core.
const REST_CPU_SHARE: f64 = 0.1;

#[derive(Debug)]
pub(super) struct Cluster {
    sandbox: Temporary,
    stop: Arc<AtomicBool>,
}

impl Cluster {
    pub(super) fn start(nodes: usize, stop: Arc<AtomicBool>) -> Result<Self, Error> {
        let builder = set_up(Builder::galera(nodes), &NODE_SETTINGS, &stop);
        Ok(Self { sandbox: builder.start_temporary()?, stop })
    }

    /// A connection to a node, counted from 0.
    pub(super) fn connect(&self, node: usize) -> Result<Connection, Error> {
        Connection::open(&self.sandbox.node(node).connect_options()).map_err(Error::server("connecting"))
    }

    fn nodes(&self) -> usize {
        self.sandbox.topology().nodes()
    }

    /// Name and version of what replicates.
    pub(super) fn provider(&self) -> Result<String, Error> {
        server::provider(&mut self.connect(0)?)
    }

    pub(super) fn client(&self) -> Command {
        let mut command = Command::new("mariadb");
        command.args(["--no-defaults", "--default-character-set=utf8mb4", "-u", "root", "-S"]);
        command.arg(self.sandbox.node(0).socket());
        command
    }

    pub(super) fn hortator(&self, program: &Path) -> Command {
        let sockets: Vec<String> =
            self.sandbox.nodes().map(|node| node.socket().to_string_lossy().into_owned()).collect();
        let mut command = Command::new(program);
        command.args(["load", "--no-defaults", "--default-character-set=utf8mb4", "-u", "root", "--nodes"]);
        command.arg(sockets.join(","));
        command
    }

    /// CPU time that all nodes together have used since they were started.
    pub(super) fn cpu_time(&self) -> Result<Duration, Error> {
        let doing = "reading the servers' CPU time";
        let gone = || std::io::Error::new(std::io::ErrorKind::NotFound, "a node has ended");
        let mut sum = Duration::ZERO;
        for node in self.sandbox.nodes() {
            let process = node.pid().ok_or_else(gone).map_err(Error::io(doing))?;
            sum += measure::cpu_time(process).map_err(Error::io(doing))?;
        }
        Ok(sum)
    }

    /// For how long flow control has stopped the cluster since it was started.
    pub(super) fn paused(&self) -> Result<Duration, Error> {
        Ok(Duration::from_nanos(number(&mut self.connect(0)?, "wsrep_flow_control_paused_ns")?))
    }

    /// Waits until every node has applied what the first has committed.
    pub(super) fn wait_everywhere(&self) -> Result<(), Error> {
        let last = number(&mut self.connect(0)?, "wsrep_last_committed")?;
        let deadline = Instant::now() + APPLIED_LIMIT;
        for node in 1..self.nodes() {
            let mut connection = self.connect(node)?;
            while number(&mut connection, "wsrep_last_committed")? < last {
                if self.stop.load(Ordering::Relaxed) || Instant::now() > deadline {
                    return Err(Error::Interrupted);
                }
                thread::sleep(APPLIED_INTERVAL);
            }
        }
        Ok(())
    }

    /// Drops a schema and waits until no node has anything left to do.
    pub(super) fn rest_without(&self, schema: &str) -> Result<(), Error> {
        let failed = || Error::server("bringing the cluster to rest");
        self.connect(0)?.execute(format!("DROP DATABASE IF EXISTS `{schema}`").as_bytes()).map_err(failed())?;
        self.wait_everywhere()?;
        let each = |statement: &str| {
            (0..self.nodes())
                .try_for_each(|node| self.connect(node)?.execute(statement.as_bytes()).map(drop).map_err(failed()))
        };
        each("SET GLOBAL innodb_max_dirty_pages_pct = 0")?;
        let rested = self.wait_for_rest();
        each("SET GLOBAL innodb_max_dirty_pages_pct = DEFAULT")?;
        rested
    }

    fn wait_for_rest(&self) -> Result<(), Error> {
        let deadline = Instant::now() + REST_LIMIT;
        let (mut looked, mut used) = (Instant::now(), self.cpu_time()?);
        while Instant::now() < deadline {
            thread::sleep(LOOK_INTERVAL);
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let (looked_now, used_now) = (Instant::now(), self.cpu_time()?);
            let share = (used_now - used).as_secs_f64() / (looked_now - looked).as_secs_f64();
            (looked, used) = (looked_now, used_now);
            let mut dirty = 0;
            for node in 0..self.nodes() {
                dirty = dirty.max(number(&mut self.connect(node)?, "Innodb_buffer_pool_pages_dirty")?);
            }
            if share < REST_CPU_SHARE && dirty < REST_DIRTY_PAGES {
                break;
            }
        }
        Ok(())
    }
}
