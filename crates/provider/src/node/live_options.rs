//! The options of a running node: what they say, and their changes.

use std::path::PathBuf;
use std::time::Duration;

use super::cluster::Command;
use super::{Error, Node, lock};

impl Node {
    /// Changes options at run time.
    pub fn set_options(&self, text: &str) -> Result<(), Error> {
        let (options, notes) = {
            let mut options = lock(&self.options);
            let mut next = options.clone();
            let notes = next.set(text, true)?;
            self.reload_security(&options, &next, text)?;
            *options = next;
            self.limits.set(&options);
            (options.clone(), notes)
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
        }
        Ok(())
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
}
