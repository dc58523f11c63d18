//! The options of `wsrep_provider_options`: `name = value; name = value`.
//!
//! Accepts configurations for Galera: its names are in [`OPTIONS`] too. The table says what each does here; an option
//! without effect that gets another value is noted in the error log. An unknown name is an error.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::consensus::raft::Timing;
use crate::limits::FlowControlLimits;

#[cfg(test)]
mod tests;

mod kind;
mod parameters;
mod security;
mod table;
mod witness;

#[cfg(test)]
use kind::Kind;
pub use parameters::{Parameter, ParameterValue};
use table::{Effect, OPTIONS};

/// The largest write set in bytes, whatever the option says: the lengths of the API and the log have 31 bits.
pub const WRITE_SET_LIMIT_BYTES: u64 = 2_147_483_647;

/// The values of all options.
#[derive(Clone, Debug)]
pub struct Options {
    values: BTreeMap<&'static str, String>,
    /// The options that a configuration has set.
    given: BTreeSet<&'static str>,
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
    /// TLS without its files.
    #[error(
        "wsrep_provider_options: socket.ssl=yes needs socket.ssl_key and socket.ssl_cert, and {0} is not set. Without \
         them nothing would be encrypted: set both, and socket.ssl_ca; or set socket.ssl=no"
    )]
    TlsWithout(&'static str),
    /// Only a node with tables may continue without a majority.
    #[error("wsrep_provider_options: {0} is not for a witness: without tables it has nothing to continue with")]
    NotForWitness(&'static str),
    /// The option is read at the start only.
    #[error("wsrep_provider_options: {0} cannot be changed while the server runs")]
    Fixed(&'static str),
}

impl Default for Options {
    fn default() -> Self {
        let values = OPTIONS.iter().map(|option| (option.name, option.default.to_owned())).collect();
        Self { values, given: BTreeSet::new() }
    }
}

impl Options {
    /// Sets options from a configuration; all or none. `running`: only options that can change at run time. Returns notes
    /// on options that have no effect and get another value.
    pub fn set(&mut self, text: &str, running: bool) -> Result<Vec<String>, Error> {
        let mut next = self.clone();
        let mut notes = Vec::new();
        for setting in text.split(';').map(str::trim).filter(|setting| !setting.is_empty()) {
            let (name, value) = setting.split_once('=').ok_or_else(|| Error::NoValue(setting.to_owned()))?;
            let (name, value) = (name.trim(), value.trim());
            let option = OPTIONS.iter().find(|option| option.name == name);
            let option = option.ok_or_else(|| Error::Unknown(name.to_owned()))?;
            if !option.kind.takes(value) {
                let (name, kind) = (option.name, option.kind.describe());
                return Err(Error::Value { name, kind, value: value.to_owned() });
            }
            let is_changed = next.values[option.name] != value;
            if running && option.is_fixed && is_changed {
                return Err(Error::Fixed(option.name));
            }
            if let Some(why) = kind::out_of_range(option.name, value) {
                return Err(Error::Range { name: option.name, value: value.to_owned(), why });
            }
            if let Effect::Ignored(reason) = option.effect
                && is_changed
            {
                let name = option.name;
                notes.push(format!("wsrep_provider_options: {name}={value} has no effect here: {reason}"));
            }
            next.values.insert(option.name, value.to_owned());
            next.given.insert(option.name);
        }
        if !running {
            next.resolve_tls();
        }
        next.check_timing()?;
        next.check_tls()?;
        *self = next;
        Ok(notes)
    }

    /// A lost heartbeat must not start an election.
    fn check_timing(&self) -> Result<(), Error> {
        let seconds = |name| kind::duration(self.value(name)).expect(CHECKED).as_secs_f64();
        let heartbeats = seconds("raft.election_timeout") / seconds("raft.heartbeat_interval");
        if heartbeats >= kind::HEARTBEATS_PER_ELECTION {
            return Ok(());
        }
        let value = self.value("raft.heartbeat_interval").to_owned();
        let why = "but it must be at most a third of raft.election_timeout";
        Err(Error::Range { name: "raft.heartbeat_interval", value, why })
    }

    /// A leader's heartbeat interval; without one for one to two times the election timeout, other nodes start an
    /// election.
    pub fn timing(&self) -> Timing {
        let ms = |name| kind::duration(self.value(name)).expect(CHECKED).as_millis() as u64;
        Timing { heartbeat_ms: ms("raft.heartbeat_interval"), election_ms: ms("raft.election_timeout") }
    }

    /// All options as one text.
    pub fn text(&self) -> String {
        self.values.iter().map(|(name, value)| format!("{name} = {value}; ")).collect::<String>().trim_end().to_owned()
    }

    /// The timeout of causal reads.
    pub fn causal_read_timeout(&self) -> Duration {
        kind::duration(self.value("repl.causal_read_timeout")).expect(CHECKED)
    }

    /// The largest write set in bytes.
    pub fn write_set_limit_bytes(&self) -> u64 {
        kind::bytes(self.value("repl.max_ws_size")).expect(CHECKED).min(WRITE_SET_LIMIT_BYTES)
    }

    /// Whether a commit waits for the sync of the log.
    pub fn log_sync(&self) -> bool {
        kind::boolean(self.value("log.sync")).expect(CHECKED)
    }

    /// The least part of the log to keep. Galera's `gcache.size` is that too: a configuration for Galera may set it.
    pub fn log_retain_bytes(&self) -> u64 {
        let has_galeras = self.given.contains("gcache.size") && !self.given.contains("log.retain");
        kind::bytes(self.value(if has_galeras { "gcache.size" } else { "log.retain" })).expect(CHECKED)
    }

    /// How long the log keeps what the tables have applied.
    pub fn log_retain_time(&self) -> Duration {
        kind::duration(self.value("log.retain_time")).expect(CHECKED)
    }

    /// The size of a log segment.
    pub fn log_segment_bytes(&self) -> u64 {
        kind::bytes(self.value("log.segment")).expect(CHECKED)
    }

    /// The number of votes that the node wants.
    pub fn weight(&self) -> u8 {
        kind::weight(self.value(kind::WEIGHT)).expect(CHECKED)
    }

    /// Whether the node is isolated (`gmcast.isolate`).
    pub fn is_isolated(&self) -> bool {
        kind::number(self.value("gmcast.isolate")).expect(CHECKED) > 0.0
    }

    /// The address to listen on, host:port.
    pub fn listen_address(&self) -> String {
        let address = self.value("gmcast.listen_addr");
        // The port of the default is the default of base_port.
        if address == table::LISTEN_ADDRESS {
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
        ["pc.ignore_sb", "pc.ignore_quorum"].iter().any(|name| kind::boolean(&self.values[name]).expect(CHECKED))
    }

    /// Whether to bootstrap a cluster without the unreachable nodes.
    pub fn is_bootstrap_wanted(&self) -> bool {
        kind::boolean(self.value("pc.bootstrap")).expect(CHECKED)
    }

    /// Whether the error log tells why transactions of this node failed certification.
    pub fn logs_conflicts(&self) -> bool {
        kind::boolean(self.value("cert.log_conflicts")).expect(CHECKED)
    }

    /// When flow control starts and ends.
    pub fn flow_control(&self) -> FlowControlLimits {
        let is_on = |name: &'static str| kind::boolean(self.value(name)).expect(CHECKED);
        FlowControlLimits {
            limit: kind::number(self.value("gcs.fc_limit")).expect(CHECKED),
            factor: kind::number(self.value("gcs.fc_factor")).expect(CHECKED),
            is_single_primary: is_on("gcs.fc_single_primary") || is_on("gcs.fc_master_slave"),
            waits_for_donors: is_on("gcs.sync_donor"),
        }
    }

    /// Whether write sets run in parallel as far as certification allows.
    pub fn is_parallel_apply_optimistic(&self) -> bool {
        kind::boolean(self.value("cert.optimistic_pa")).expect(CHECKED)
    }

    /// The file for metrics, and how often it is written.
    pub fn metrics_file(&self) -> Option<(PathBuf, Duration)> {
        let name = self.value("metrics.file");
        let interval = kind::duration(self.value("metrics.interval")).expect(CHECKED);
        (!name.is_empty()).then(|| (PathBuf::from(name), interval))
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
