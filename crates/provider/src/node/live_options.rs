//! The options of a running node: what they say, and their changes.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::cluster::{ClusterHandle, ClusterStatus, Command};
use super::{Error, Node, lock};
use crate::options::Parameter;
use crate::protocol::ProtocolVersion;
use crate::server::Level;

/// How long SET GLOBAL waits for a change of `pc.weight`. Meanwhile the server takes no new connections.
const WEIGHT_TIMEOUT: Duration = Duration::from_secs(2);
/// Between two looks meanwhile.
const WEIGHT_POLL: Duration = Duration::from_millis(10);

impl Node {
    /// Changes options at run time.
    pub fn set_options(&self, text: &str) -> Result<(), Error> {
        let (options, notes, weight_before) = {
            let mut options = lock(&self.options);
            let mut next = options.clone();
            let notes = next.set(text, true)?;
            self.reload_security(&options, &next, text)?;
            let weight_before = options.weight();
            *options = next;
            self.limits.set(&options);
            (options.clone(), notes, weight_before)
        };
        notes.iter().for_each(|note| self.note(note));
        self.log_flow_control_interval();
        if let Some(log) = self.log() {
            log.set_sync(options.log_sync())?;
        }
        if let Some(cluster) = self.cluster() {
            cluster.send(Command::Isolate(options.is_isolated()));
            if options.is_bootstrap_wanted() && text.contains("pc.bootstrap") {
                cluster.send(Command::Bootstrap);
            }
            if options.weight() != weight_before {
                self.await_weight(&cluster, options.weight());
            }
        }
        Ok(())
    }

    /// Waits until the node has that many votes, or for a while. A single node needs none.
    fn await_weight(&self, cluster: &ClusterHandle, weight: u8) {
        cluster.send(Command::Recheck);
        let begun = Instant::now();
        let counts = |status: &ClusterStatus| status.has_quorum && !status.is_single_node;
        while counts(&cluster.status()) && !cluster.is_over() {
            let status = cluster.raft_status();
            let now = status.weight;
            if now == weight {
                return;
            }
            let can_change = now > 0 && status.protocol >= Some(ProtocolVersion::WEIGHTS);
            if !can_change || begun.elapsed() >= WEIGHT_TIMEOUT {
                let text = format!(
                    "pc.weight={weight} is not in force yet, the node has {now}: the leader changes the number of votes when \
                     a majority agrees, and all nodes have a release that counts them"
                );
                return self.server.log(Level::Warning, &text);
            }
            std::thread::sleep(WEIGHT_POLL);
        }
    }

    /// The file for metrics, and how often it is written. A relative path is below the data folder.
    pub fn metrics_file(&self) -> Option<(PathBuf, Duration)> {
        let (file, interval) = lock(&self.options).metrics_file()?;
        Some((self.setup.data_dir.join(file), interval))
    }

    /// All options, with their values.
    pub fn options(&self) -> String {
        lock(&self.options).text()
    }

    /// The same, each with its type.
    pub fn parameters(&self) -> Vec<Parameter> {
        lock(&self.options).parameters()
    }
}
