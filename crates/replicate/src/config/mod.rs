//! `replicate.toml`: the target, the sources, and where each of them starts.

mod error;
mod rule;
mod start;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::net::SocketAddr;
use std::ops::RangeInclusive;

use serde::Deserialize;
use toml::Value;

use crate::agent::PASSING;
use crate::apply::ConflictPolicy;
use crate::rules::Rules;
use rule::RawRule;

pub use error::Error;
pub use start::Start;

/// The schema of the target that holds the positions.
const DEFAULT_SCHEMA: &str = "hortator";
/// Connections for all sources.
const DEFAULT_WORKERS: usize = 4;
const WORKERS: RangeInclusive<usize> = 1..=1_000;

/// Keys of a connection: the options of the command line, with `_` or `-`.
const CONNECTION_KEYS: &[&str] = &[
    "host",
    "port",
    "user",
    "password",
    "socket",
    "protocol",
    "connect-timeout",
    "ssl",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "ssl-mode",
    "ssl-verify-server-cert",
];

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The process itself.
    pub agent: AgentTable,
    /// Where everything goes.
    pub target: Target,
    /// What is read, each by itself.
    pub sources: Vec<Source>,
}

/// The process that applies the sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentTable {
    /// Where it answers what programs ask that watch it; none where it does not.
    pub listen: Option<SocketAddr>,
}

/// The server that the transactions are applied to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// How to connect.
    pub endpoint: Endpoint,
    /// Nodes of one cluster, tried in turn; empty where the endpoint says it all.
    pub hosts: Vec<Host>,
    /// The schema that holds the positions.
    pub schema: String,
    /// Errors of the target: a transaction that fails with one of them is passed over.
    pub ignore_errors: Vec<u16>,
    /// What becomes of rows that do not fit those of the target, where a source does not say it itself.
    pub conflict: ConflictPolicy,
    /// Connections over which all sources together are applied.
    pub workers: usize,
}

/// A server whose binary log is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name in the status, in messages and in the target's table of positions.
    pub name: String,
    /// How to connect.
    pub endpoint: Endpoint,
    /// Its hosts, tried in turn; empty where the endpoint says it all.
    pub hosts: Vec<Host>,
    /// Where to start if nothing of it is applied yet.
    pub start: Start,
    /// The server id with which Hortator registers as its replica.
    pub server_id: u32,
    /// What becomes of its tables.
    pub rules: Rules,
    /// Servers whose transactions are not applied.
    pub ignore_server_ids: Vec<u32>,
    /// What becomes of rows that do not fit those of the target.
    pub conflict: ConflictPolicy,
}

/// A host of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name or address.
    pub name: String,
    /// Its port; none where it is that of the endpoint.
    pub port: Option<u16>,
}

impl Host {
    /// Reads `HOST`, `HOST:PORT`, an IPv6 address, or one as `[ADDRESS]:PORT`.
    fn parse(text: &str) -> Option<Host> {
        let (name, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, "")) => (address, None),
            Some((address, port)) => (address, Some(port.strip_prefix(':')?)),
            // An IPv6 address has more than one colon.
            None => match text.split_once(':') {
                Some((name, port)) if !port.contains(':') => (name, Some(port)),
                _ => (text, None),
            },
        };
        let port = port.map(str::parse).transpose().ok()?;
        (!name.is_empty()).then(|| Host { name: name.to_owned(), port })
    }
}

/// How to connect: options as on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Endpoint {
    /// Names, without dashes in front, and values.
    pub options: Vec<(String, String)>,
    /// The suffix of groups in option files that hold further options, such as the password.
    pub group_suffix: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConfig {
    #[serde(default)]
    agent: RawAgent,
    target: RawTarget,
    #[serde(default)]
    source: Vec<RawSource>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAgent {
    listen: Option<String>,
}

#[derive(Deserialize)]
struct RawTarget {
    schema: Option<String>,
    #[serde(default)]
    ignore_errors: Vec<u16>,
    conflict: Option<String>,
    workers: Option<usize>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct RawSource {
    name: String,
    start: String,
    server_id: Option<u32>,
    #[serde(default)]
    ignore_server_ids: Vec<u32>,
    #[serde(default)]
    rule: Vec<RawRule>,
    conflict: Option<String>,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

impl Config {
    /// Reads a configuration.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn parse(text: &str) -> Result<Config, Error> {
        let raw: RawConfig = toml::from_str(text).map_err(|error| Error::Syntax(error.to_string()))?;
        let agent = AgentTable::read(raw.agent)?;
        let (endpoint, hosts) = endpoint("[target]", raw.target.rest)?;
        let ignore_errors = raw.target.ignore_errors;
        if let Some(passing) = ignore_errors.iter().find(|code| PASSING.contains(code)) {
            let found = format!("{passing} passes by itself, and the transaction is applied then: leave it out");
            return Err(Error::Value { table: "[target]".to_owned(), key: "ignore_errors".to_owned(), found });
        }
        let workers = raw.target.workers.unwrap_or(DEFAULT_WORKERS);
        if !WORKERS.contains(&workers) {
            let found = format!("give a number from {} to {}", WORKERS.start(), WORKERS.end());
            return Err(Error::Value { table: "[target]".to_owned(), key: "workers".to_owned(), found });
        }
        let schema = raw.target.schema.unwrap_or_else(|| DEFAULT_SCHEMA.to_owned());
        let conflict = conflict_policy("[target]", raw.target.conflict)?.unwrap_or_default();
        let target = Target { endpoint, hosts, schema, ignore_errors, conflict, workers };
        let sources = raw.source.into_iter().map(|source| Source::read(source, &target));
        let sources: Vec<Source> = sources.collect::<Result<_, Error>>()?;
        if sources.is_empty() {
            return Err(Error::NoSource);
        }
        let mut names = HashSet::new();
        if let Some(twice) = sources.iter().find(|source| !names.insert(&source.name)) {
            return Err(Error::TwoSources(twice.name.clone()));
        }
        Ok(Config { agent, target, sources: beside_each_other(sources) })
    }
}

impl AgentTable {
    fn read(raw: RawAgent) -> Result<AgentTable, Error> {
        let address = |text: String| {
            let found = format!("`{text}` is no address: give ADDRESS:PORT, as 127.0.0.1:9104 or [::1]:9104");
            text.parse().map_err(|_| Error::Value { table: "[agent]".to_owned(), key: "listen".to_owned(), found })
        };
        Ok(AgentTable { listen: raw.listen.map(address).transpose()? })
    }
}

impl Source {
    fn read(raw: RawSource, target: &Target) -> Result<Source, Error> {
        let RawSource { name, start, server_id, ignore_server_ids, rule, conflict, rest } = raw;
        if name.is_empty() || name.len() > NAME_LIMIT_BYTES {
            return Err(Error::Name(name));
        }
        let table = format!("[[source]] {name}");
        let (endpoint, hosts) = endpoint(&table, rest)?;
        let start =
            start.parse().map_err(|found| Error::Value { table: table.clone(), key: "start".to_owned(), found })?;
        if server_id == Some(0) {
            let found = "0 is no server id of a replica".to_owned();
            return Err(Error::Value { table, key: "server_id".to_owned(), found });
        }
        let server_id = server_id.unwrap_or_else(|| default_server_id(&name, target));
        let conflict = conflict_policy(&table, conflict)?.unwrap_or(target.conflict);
        let list: Result<Vec<_>, Error> = rule.into_iter().map(|rule| rule.read(&table)).collect();
        let rules = Rules::new(&name, list?);
        Ok(Source { name, endpoint, hosts, start, server_id, rules, ignore_server_ids, conflict })
    }
}

fn conflict_policy(table: &str, text: Option<String>) -> Result<Option<ConflictPolicy>, Error> {
    let Some(text) = text else { return Ok(None) };
    let found = ConflictPolicy::ALL.into_iter().find(|policy| policy.name() == text);
    let names = ConflictPolicy::ALL.map(ConflictPolicy::name).join(", ");
    let invalid = || Error::Value {
        table: table.to_owned(),
        key: "conflict".to_owned(),
        found: format!("`{text}` is none of {names}"),
    };
    found.map(Some).ok_or_else(invalid)
}

/// Tells each source's rules where the tables of the others go.
fn beside_each_other(sources: Vec<Source>) -> Vec<Source> {
    let destinations: Vec<_> = sources.iter().map(|source| source.rules.destinations()).collect();
    let of_others = |own: usize| {
        destinations.iter().enumerate().filter(move |(index, _)| *index != own).flat_map(|(_, to)| to.clone()).collect()
    };
    let with_others =
        |(index, source): (usize, Source)| Source { rules: source.rules.beside(of_others(index)), ..source };
    sources.into_iter().enumerate().map(with_others).collect()
}

/// The longest name of a source, in bytes.
const NAME_LIMIT_BYTES: usize = 64;

/// Keys that say which server an endpoint is.
const PLACE_KEYS: [&str; 3] = ["host", "port", "socket"];

/// A server id that is the same at every start, another one for each target of a source, and hardly that of a server: people
/// number theirs from 1.
fn default_server_id(name: &str, target: &Target) -> u32 {
    let mut place: Vec<String> = target.hosts.iter().map(|host| format!("{host:?}")).collect();
    let options = target.endpoint.options.iter().filter(|(key, _)| PLACE_KEYS.contains(&key.as_str()));
    place.extend(options.map(|(key, value)| format!("{key}={value}")));
    let text = [&[name.to_owned(), target.schema.clone()], &place[..]].concat().join("\n");
    0x8000_0000 | crc32fast::hash(text.as_bytes()) >> 1
}

/// The connection's options, and a list of hosts if `host` is one.
fn endpoint(table: &str, rest: BTreeMap<String, Value>) -> Result<(Endpoint, Vec<Host>), Error> {
    let (mut endpoint, mut hosts) = (Endpoint::default(), Vec::new());
    for (key, value) in rest {
        let name = key.replace('_', "-");
        let invalid = |found: &str| Error::Value { table: table.to_owned(), key: key.clone(), found: found.to_owned() };
        match (name.as_str(), value) {
            ("defaults-group-suffix", Value::String(suffix)) => endpoint.group_suffix = Some(suffix),
            ("host", Value::Array(list)) => {
                let named: Option<Vec<Host>> = list.iter().map(|host| Host::parse(host.as_str()?)).collect();
                let named = named.filter(|named| !named.is_empty());
                hosts = named.ok_or_else(|| invalid("give names of hosts, as HOST or HOST:PORT"))?;
            }
            (known, value) if CONNECTION_KEYS.contains(&known) => {
                let text = match value {
                    Value::String(text) => text,
                    Value::Integer(number) => number.to_string(),
                    Value::Boolean(is_on) => if is_on { "ON" } else { "OFF" }.to_owned(),
                    _ => return Err(invalid("give a text, a number or true or false")),
                };
                endpoint.options.push((name, text));
            }
            _ => return Err(Error::UnknownKey { table: table.to_owned(), key }),
        }
    }
    Ok((endpoint, hosts))
}
