//! The options of `wsrep_provider_options`: `name = value; name = value`.
//!
//! Accepts configurations for Galera: its names are in [`OPTIONS`] too, and most have no effect here (docs/provider.md
//! lists those that have). An unknown name is an error.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::consensus::raft::Timing;

#[cfg(test)]
mod tests;

mod names;

#[cfg(test)]
use names::Kind;
use names::OPTIONS;

/// The largest write set in bytes, whatever the option says: the lengths of the API and the log have 31 bits.
pub const WRITE_SET_LIMIT_BYTES: u64 = 2_147_483_647;

/// The values of all options.
#[derive(Clone, Debug)]
pub struct Options {
    values: BTreeMap<&'static str, String>,
}

/// An invalid option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An unknown name.
    #[error("wsrep_provider_options: `{0}` is not an option of this provider (docs/provider.md lists them)")]
    Unknown(String),
    /// A missing value.
    #[error("wsrep_provider_options: `{0}` has no value: write {0}=VALUE")]
    NoValue(String),
    /// A value of another kind.
    #[error("wsrep_provider_options: {name} is {kind}, not `{value}`")]
    Value {
        /// The option.
        name: &'static str,
        /// The expected kind.
        kind: &'static str,
        /// The given value.
        value: String,
    },
    /// A time that is too short or too long.
    #[error("wsrep_provider_options: {name} is `{value}`, {why}")]
    Range {
        /// The option.
        name: &'static str,
        /// The given value.
        value: String,
        /// The limit, and its reason.
        why: &'static str,
    },
    /// The option is read at the start only.
    #[error("wsrep_provider_options: {0} cannot be changed while the server runs")]
    Fixed(&'static str),
}

impl Default for Options {
    fn default() -> Self {
        let values = OPTIONS.iter().map(|option| (option.name, option.default.to_owned())).collect();
        Self { values }
    }
}

impl Options {
    /// Sets options from a configuration; all or none. `running`: only options that can change at run time.
    pub fn set(&mut self, text: &str, running: bool) -> Result<(), Error> {
        let mut values = self.values.clone();
        for setting in text.split(';').map(str::trim).filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').ok_or_else(|| Error::NoValue(setting.to_owned()))?;
            let (name, value) = (name.trim(), value.trim());
            let option = OPTIONS.iter().find(|option| option.name == name);
            let option = option.ok_or_else(|| Error::Unknown(name.to_owned()))?;
            if !option.kind.takes(value) {
                let (name, kind) = (option.name, option.kind.describe());
                return Err(Error::Value { name, kind, value: value.to_owned() });
            }
            if running && option.is_fixed && values[option.name] != value {
                return Err(Error::Fixed(option.name));
            }
            if let Some(why) = names::out_of_range(option.name, value) {
                return Err(Error::Range { name: option.name, value: value.to_owned(), why });
            }
            values.insert(option.name, value.to_owned());
        }
        let next = Self { values };
        next.check_timing()?;
        *self = next;
        Ok(())
    }

    /// A lost heartbeat must not start an election.
    fn check_timing(&self) -> Result<(), Error> {
        let seconds = |name| names::duration(self.value(name)).expect(CHECKED).as_secs_f64();
        let heartbeats = seconds("raft.election_timeout") / seconds("raft.heartbeat_interval");
        if heartbeats >= names::HEARTBEATS_PER_ELECTION {
            return Ok(());
        }
        let value = self.value("raft.heartbeat_interval").to_owned();
        let why = "but it must be at most a third of raft.election_timeout";
        Err(Error::Range { name: "raft.heartbeat_interval", value, why })
    }

    /// A leader's heartbeat interval; without one for one to two times the election timeout, other nodes start an
    /// election.
    pub fn timing(&self) -> Timing {
        let ms = |name| names::duration(self.value(name)).expect(CHECKED).as_millis() as u64;
        Timing { heartbeat_ms: ms("raft.heartbeat_interval"), election_ms: ms("raft.election_timeout") }
    }

    /// All options as one text.
    pub fn text(&self) -> String {
        self.values.iter().map(|(name, value)| format!("{name} = {value}; ")).collect::<String>().trim_end().to_owned()
    }

    /// The timeout of causal reads.
    pub fn causal_read_timeout(&self) -> Duration {
        names::duration(self.value("repl.causal_read_timeout")).expect(CHECKED)
    }

    /// The largest write set in bytes.
    pub fn write_set_limit_bytes(&self) -> u64 {
        names::bytes(self.value("repl.max_ws_size")).expect(CHECKED).min(WRITE_SET_LIMIT_BYTES)
    }

    /// Whether a commit waits for the sync of the log.
    pub fn log_sync(&self) -> bool {
        names::boolean(self.value("log.sync")).expect(CHECKED)
    }

    /// The least part of the log to keep.
    pub fn log_retain_bytes(&self) -> u64 {
        names::bytes(self.value("log.retain")).expect(CHECKED)
    }

    /// How long the log keeps what the tables have applied.
    pub fn log_retain_time(&self) -> Duration {
        names::duration(self.value("log.retain_time")).expect(CHECKED)
    }

    /// The size of a log segment.
    pub fn log_segment_bytes(&self) -> u64 {
        names::bytes(self.value("log.segment")).expect(CHECKED)
    }

    /// Whether the node is isolated (`gmcast.isolate`).
    pub fn is_isolated(&self) -> bool {
        names::number(self.value("gmcast.isolate")).expect(CHECKED) > 0.0
    }

    /// The address to listen on, host:port.
    pub fn listen_address(&self) -> String {
        let address = self.value("gmcast.listen_addr");
        // The port of the default is the default of base_port.
        if address == names::LISTEN_ADDRESS {
            format!("0.0.0.0:{}", self.value("base_port"))
        } else {
            address.to_owned()
        }
    }

    /// The address for other nodes: from the options, else from the server.
    pub fn node_address(&self, server_address: &str) -> String {
        let (host, port) = (self.value("base_host"), self.value("base_port"));
        match (host, server_address) {
            ("", "") => String::new(),
            ("", address) => with_port(address, port),
            (host, _) => format!("{host}:{port}"),
        }
    }

    /// Whether the node continues without a quorum.
    pub fn ignores_quorum(&self) -> bool {
        ["pc.ignore_sb", "pc.ignore_quorum"].iter().any(|name| names::boolean(&self.values[name]).expect(CHECKED))
    }

    /// Whether to bootstrap a cluster without the unreachable nodes.
    pub fn is_bootstrap_wanted(&self) -> bool {
        names::boolean(self.value("pc.bootstrap")).expect(CHECKED)
    }

    /// Receive queue length at which flow control starts.
    pub fn flow_limit(&self) -> u64 {
        names::number(self.value("gcs.fc_limit")).expect(CHECKED) as u64
    }

    /// The weight of the node's vote.
    pub fn weight(&self) -> i64 {
        names::number(self.value("pc.weight")).expect(CHECKED) as i64
    }

    fn value(&self, name: &'static str) -> &str {
        &self.values[name]
    }
}

/// The address with that port, unless it has one. IPv6 addresses contain colons too, with or without brackets.
fn with_port(address: &str, port: &str) -> String {
    let port_start = address.rfind(']').map_or(0, |end| end + 1);
    match address[port_start..].matches(':').count() {
        0 => format!("{address}:{port}"),
        1 => address.to_owned(),
        _ => format!("[{address}]:{port}"),
    }
}

const CHECKED: &str = "every option has a valid value";

/// Whether a default fits its kind: for the test of the table.
#[cfg(test)]
fn default_fits(kind: Kind, default: &str) -> bool {
    default.is_empty() || kind.takes(default)
}
