//! A configuration with everything that it refers to: option files, the environment, the path of the socket.

use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use hortator_mysql::options::Argument;
use hortator_mysql::{ConnectOptions, Connection};
use hortator_replicate::agent::{AgentOptions, Order, SourceFiles, SourceOptions, SourceStatus};
use hortator_replicate::apply::SourcePosition;
use hortator_replicate::binlog::GtidState;
use hortator_replicate::config::{Config, Endpoint, Host, Source, Target};
use hortator_replicate::source::log_end;

use crate::connection_args::ConnectionArgs;

/// Stands behind the configuration's name in that of the socket.
const SOCKET_SUFFIX: &str = ".sock";

/// A configuration that can be used.
#[derive(Debug)]
pub struct Setup {
    pub options: AgentOptions,
    /// Where the agent takes requests of a person.
    pub socket: PathBuf,
    /// Where it answers what watches it.
    pub listen: Option<SocketAddr>,
}

impl Setup {
    /// Reads a configuration and what it refers to.
    pub fn read(path: &Path) -> anyhow::Result<Setup> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let config = Config::parse(&text).with_context(|| format!("{}", path.display()))?;
        let mut socket = path.as_os_str().to_owned();
        socket.push(SOCKET_SUFFIX);
        let target = resolve_all(&config.target.endpoint, &config.target.hosts).context("the target")?;
        let sources = config.sources.into_iter().map(source).collect::<anyhow::Result<_>>()?;
        let Target { schema, ignore_errors, workers, .. } = config.target;
        let options = AgentOptions { target, schema, ignore_errors, workers, order: Order::default(), sources };
        Ok(Setup { options, socket: PathBuf::from(socket), listen: config.agent.listen })
    }

    /// Leaves one source, the one of that name or the only one, and reads it from files.
    pub fn read_from_files(&mut self, source: Option<&str>, files: SourceFiles) -> anyhow::Result<()> {
        let sources = &mut self.options.sources;
        let names = || sources.iter().map(|source| source.name.as_str()).collect::<Vec<_>>().join(", ");
        let index = match source {
            Some(name) => sources.iter().position(|source| source.name == name),
            None => (sources.len() == 1).then_some(0),
        };
        let Some(index) = index else {
            match source {
                Some(name) => bail!("there is no source {name}: the configuration has {}", names()),
                None => bail!("say with --source whose files they are: the configuration has {}", names()),
            }
        };
        let mut one = sources.swap_remove(index);
        one.files = Some(files);
        *sources = vec![one];
        Ok(())
    }

    /// Where the log of each source ends now, by its name.
    pub fn log_ends(&self) -> anyhow::Result<Vec<(String, SourcePosition)>> {
        let mut ends = Vec::new();
        for source in &self.options.sources {
            let mut opened = Err(anyhow::anyhow!("it has no host"));
            for host in &source.hosts {
                opened = Connection::open(host).map_err(anyhow::Error::new);
                if opened.is_ok() {
                    break;
                }
            }
            let end = opened.and_then(|mut connection| Ok(log_end(&mut connection)?));
            ends.push((source.name.clone(), end.with_context(|| format!("the source {}", source.name))?));
        }
        Ok(ends)
    }
}

/// Whether the target has everything up to a place of the source's log.
pub fn has_applied(status: &SourceStatus, end: &SourcePosition) -> bool {
    // A source of MySQL may have got GTIDs since its start, which are not counted.
    let is_counted = end.gtid.set().is_none() || !status.applied_gtid.is_empty();
    if !end.gtid.is_empty() && is_counted {
        return status.applied_gtid.parse().is_ok_and(|applied: GtidState| applied.contains(&end.gtid));
    }
    let applied = (status.applied_file.as_bytes(), status.applied_position);
    applied >= (&end.position.file[..], end.position.position)
}

fn source(source: Source) -> anyhow::Result<SourceOptions> {
    let Source { name, endpoint, hosts, start, server_id, rules, ignore_server_ids, conflict } = source;
    let hosts = resolve_all(&endpoint, &hosts).with_context(|| format!("the source {name}"))?;
    Ok(SourceOptions { name, hosts, start, server_id, rules, ignore_server_ids, conflict, files: None })
}

/// The hosts of a list, or the one that the endpoint names.
fn resolve_all(endpoint: &Endpoint, hosts: &[Host]) -> anyhow::Result<Vec<ConnectOptions>> {
    match hosts.is_empty() {
        true => Ok(vec![resolve(endpoint, None)?]),
        false => hosts.iter().map(|host| resolve(endpoint, Some(host))).collect(),
    }
}

fn resolve(endpoint: &Endpoint, host: Option<&Host>) -> anyhow::Result<ConnectOptions> {
    let name = host.map(|host| ("host".to_owned(), host.name.clone()));
    let port = host.and_then(|host| Some(("port".to_owned(), host.port?.to_string())));
    let options = endpoint.options.iter().cloned().chain(name).chain(port);
    let argument = |(name, value): (String, String)| Argument { name, value: Some(OsString::from(value)) };
    let arguments: Vec<Argument> = options.map(argument).collect();
    ConnectionArgs::default().with(&arguments, endpoint.group_suffix.as_deref()).resolve()
}
