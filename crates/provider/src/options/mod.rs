//! The options of `wsrep_provider_options`: `name = value; name = value`.
//!
//! Configurations written for Galera are taken as they are: its names are in [`OPTIONS`] too, and most do nothing here
//! (docs/provider.md lists those that do). A name that neither has is an error.

use std::collections::BTreeMap;
use std::time::Duration;

#[cfg(test)]
mod tests;

mod names;

#[cfg(test)]
use names::Kind;
use names::OPTIONS;

/// Bytes of a write set at most, whatever the option says: the API's and the log's lengths have 31 bits.
pub const WRITE_SET_LIMIT_BYTES: u64 = 2_147_483_647;

/// The values of all options.
#[derive(Clone, Debug)]
pub struct Options {
    values: BTreeMap<&'static str, String>,
}

/// An option that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Nobody knows it.
    #[error("wsrep_provider_options: `{0}` is no option of this provider (docs/provider.md lists them)")]
    Unknown(String),
    /// Nothing to set it to.
    #[error("wsrep_provider_options: `{0}` stands without a value: write {0}=VALUE")]
    NoValue(String),
    /// Its value is of another kind.
    #[error("wsrep_provider_options: {name} is {kind}, not `{value}`")]
    Value {
        /// The option.
        name: &'static str,
        /// What it should be.
        kind: &'static str,
        /// What it was given.
        value: String,
    },
    /// It is read once.
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
    /// Takes what a configuration says; all of it or nothing. `running`: only what may change by then.
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
            values.insert(option.name, value.to_owned());
        }
        self.values = values;
        Ok(())
    }

    /// All options as one text.
    pub fn text(&self) -> String {
        self.values.iter().map(|(name, value)| format!("{name} = {value}; ")).collect::<String>().trim_end().to_owned()
    }

    /// How long a read waits for what was written before it.
    pub fn causal_read_timeout(&self) -> Duration {
        names::duration(self.value("repl.causal_read_timeout")).expect(CHECKED)
    }

    /// The largest write set in bytes.
    pub fn write_set_limit_bytes(&self) -> u64 {
        names::bytes(self.value("repl.max_ws_size")).expect(CHECKED).min(WRITE_SET_LIMIT_BYTES)
    }

    /// Whether a commit waits until the log is on the disk.
    pub fn log_sync(&self) -> bool {
        names::boolean(self.value("log.sync")).expect(CHECKED)
    }

    /// How much of the log stays, at least.
    pub fn log_retain_bytes(&self) -> u64 {
        names::bytes(self.value("log.retain")).expect(CHECKED)
    }

    /// The size of one of the log's files.
    pub fn log_segment_bytes(&self) -> u64 {
        names::bytes(self.value("log.segment")).expect(CHECKED)
    }

    /// Whether the node shall be as if its cable were pulled.
    pub fn is_isolated(&self) -> bool {
        names::number(self.value("gmcast.isolate")).expect(CHECKED) > 0.0
    }

    /// Where other nodes' connections are taken, host:port.
    pub fn listen_address(&self) -> String {
        let address = self.value("gmcast.listen_addr");
        // The port of the default is the base port's default.
        if address == names::LISTEN_ADDRESS {
            format!("0.0.0.0:{}", self.value("base_port"))
        } else {
            address.to_owned()
        }
    }

    /// Where other nodes find this one: by the options, else by what the server says of itself.
    pub fn group_address(&self, server_says: &str) -> String {
        let (host, port) = (self.value("base_host"), self.value("base_port"));
        match (host, server_says) {
            ("", "") => String::new(),
            ("", says) => with_port(says, port),
            (host, _) => format!("{host}:{port}"),
        }
    }

    /// Whether the node goes on without a majority whenever it loses touch.
    pub fn ignores_majorities(&self) -> bool {
        ["pc.ignore_sb", "pc.ignore_quorum"].iter().any(|name| names::boolean(&self.values[name]).expect(CHECKED))
    }

    /// Whether the node shall go on without those who are away.
    pub fn is_bootstrap_wanted(&self) -> bool {
        names::boolean(self.value("pc.bootstrap")).expect(CHECKED)
    }

    /// How many write sets a node may have to apply before the cluster waits for it.
    pub fn flow_limit(&self) -> u64 {
        names::number(self.value("gcs.fc_limit")).expect(CHECKED) as u64
    }

    /// How much a node's vote counts.
    pub fn weight(&self) -> i64 {
        names::number(self.value("pc.weight")).expect(CHECKED) as i64
    }

    fn value(&self, name: &'static str) -> &str {
        &self.values[name]
    }
}

/// The address with that port, unless it has one. Colons are also in an address of IPv6, with brackets or without.
fn with_port(address: &str, port: &str) -> String {
    let behind_host = address.rfind(']').map_or(0, |end| end + 1);
    match address[behind_host..].matches(':').count() {
        0 => format!("{address}:{port}"),
        1 => address.to_owned(),
        _ => format!("[{address}]:{port}"),
    }
}

const CHECKED: &str = "every option has a default, and values are checked when they are taken";

/// Whether a text's kind is one of the table's: for the table's own test.
#[cfg(test)]
fn default_fits(kind: Kind, default: &str) -> bool {
    default.is_empty() || kind.takes(default)
}
