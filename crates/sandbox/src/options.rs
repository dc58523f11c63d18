//! The command line of a node's server.

use std::path::Path;

use crate::ports::Endpoint;
use crate::{Error, Topology, fan_in, galera, mysql, semisync, wsrep};

/// The options that the sandbox itself sets, with advice.
const OWN_OPTIONS: [(&str, &str); 15] = [
    ("datadir", "choose the folder with --dir"),
    ("basedir", "it is the folder of the server's programs"),
    ("socket", "`env` shows the value of each node"),
    ("port", "`env` shows the value of each node"),
    ("log-error", "it is error.log in the node's folder"),
    ("pid-file", "it is in the data folder"),
    ("tmpdir", "it is in the node's folder"),
    ("user", "servers run as the caller, or as mysql if the caller is root"),
    ("defaults-file", "a sandbox reads no option file"),
    ("defaults-extra-file", "a sandbox reads no option file"),
    ("wsrep-cluster-address", "it lists the sandbox's nodes"),
    ("wsrep-node-address", "each node has its own value"),
    ("wsrep-sst-receive-address", "each node has its own value"),
    ("wsrep-provider", "it is the installed one; for `cluster`, set HORTATOR_PROVIDER"),
    ("server-id", "each node has its own value"),
];

/// The defaults of every MariaDB sandbox, before the settings, which override them. Debian's own configuration has the
/// same character set; the rest keeps a server small and quick to start.
const DEFAULTS: [&str; 6] = [
    "--innodb-log-file-size=128M",
    "--performance-schema=OFF",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_general_ci",
    "--bind-address=127.0.0.1",
    // Names are not looked up; accounts are matched by address.
    "--skip-name-resolve",
];

/// One more default. The server's script for state transfers by mariabackup would pass it on to mariadb-backup, which
/// does not know it.
const BUFFER_POOL: &str = "--innodb-buffer-pool-size=256M";

/// The paths of a node's files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Files<'a> {
    pub(crate) data: &'a Path,
    pub(crate) socket: &'a Path,
    pub(crate) error_log: &'a Path,
    pub(crate) temporary: &'a Path,
    /// The folder of the server, if it is not the system's.
    pub(crate) base: Option<&'a Path>,
    /// The copy of Hortator's own provider, if the servers use it.
    pub(crate) provider: &'a Path,
}

/// Checks settings. Names are compared as the server does: `_` is `-`.
pub(crate) fn check_settings(settings: &[(String, String)]) -> Result<(), Error> {
    for (name, value) in settings {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || name.starts_with(['-', '_']) || !name.chars().all(plain) {
            return Err(Error::Invalid(format!(
                "`{name}` is not the name of a server option: give the name without leading dashes"
            )));
        }
        if value.contains('\0') {
            return Err(Error::Invalid(format!("the value of `{name}` contains a zero byte")));
        }
        let dashed = dashed(name);
        if let Some((_, instead)) = OWN_OPTIONS.iter().find(|(own, _)| *own == dashed.trim_start_matches("loose-")) {
            return Err(Error::Invalid(format!("the sandbox sets the option `{name}` itself: {instead}")));
        }
    }
    Ok(())
}

/// The arguments of node `index` (from 0).
pub(crate) fn arguments(
    topology: Topology,
    settings: &[(String, String)],
    files: Files<'_>,
    endpoints: &[Endpoint],
    index: usize,
) -> Result<Vec<String>, Error> {
    // It has to be the first argument.
    let mut arguments = vec![no_option_file(topology).to_owned()];
    arguments.push(path_option("datadir", files.data)?);
    arguments.push(path_option("socket", files.socket)?);
    arguments.push(path_option("log-error", files.error_log)?);
    arguments.push(path_option("tmpdir", files.temporary)?);
    arguments.push(path_option("pid-file", &files.data.join("server.pid"))?);
    arguments.push(format!("--port={}", endpoints[index].ports.sql));
    arguments.push(format!("--server-id={}", index + 1));
    if let Some(folder) = files.base {
        arguments.push(path_option("basedir", folder)?);
    }
    match topology {
        Topology::Mysql => arguments.extend(mysql::DEFAULTS.map(str::to_owned)),
        Topology::Standalone
        | Topology::Galera(_)
        | Topology::Cluster(_)
        | Topology::Semisync
        | Topology::Ring
        | Topology::FanIn(_) => {
            arguments.extend(DEFAULTS.map(str::to_owned));
            if !is_mariabackup(settings) {
                arguments.push(BUFFER_POOL.to_owned());
            }
        }
    }
    let provider_settings: Vec<&str> =
        settings.iter().filter(|(name, _)| is_provider_options(name)).map(|(_, value)| value.as_str()).collect();
    match topology {
        Topology::Standalone | Topology::Mysql => {}
        Topology::Galera(_) => arguments.extend(galera::arguments(endpoints, index, &provider_settings)?),
        Topology::Cluster(_) => {
            arguments.extend(wsrep::arguments(files.provider, endpoints, index, &provider_settings)?);
        }
        Topology::Semisync | Topology::Ring => arguments.extend(semisync::arguments(topology, index)),
        Topology::FanIn(sources) => arguments.extend(fan_in::arguments(sources, index)),
    }
    let plain = settings.iter().filter(|(name, _)| !is_provider_options(name));
    arguments.extend(plain.map(|(name, value)| format!("--{name}={value}")));
    Ok(arguments)
}

/// The argument that makes a server read no option file. A cluster node passes it on to the scripts of state transfers,
/// which would otherwise read the system's option file, and which do not know the plain form.
fn no_option_file(topology: Topology) -> &'static str {
    match topology {
        Topology::Standalone | Topology::Mysql | Topology::Semisync | Topology::Ring | Topology::FanIn(_) => {
            "--no-defaults"
        }
        Topology::Galera(_) | Topology::Cluster(_) => "--defaults-file=/dev/null",
    }
}

fn is_mariabackup(settings: &[(String, String)]) -> bool {
    settings.iter().any(|(name, value)| dashed(name) == "wsrep-sst-method" && value == "mariabackup")
}

fn is_provider_options(name: &str) -> bool {
    dashed(name) == "wsrep-provider-options"
}

fn dashed(name: &str) -> String {
    name.replace('_', "-").to_ascii_lowercase()
}

/// An option whose value is a file or folder.
pub(crate) fn path_option(name: &str, path: &Path) -> Result<String, Error> {
    match path.to_str() {
        Some(path) => Ok(format!("--{name}={path}")),
        None => Err(Error::Invalid(format!("{} is not UTF-8: choose another folder", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ports;

    fn setting(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    fn endpoint(first: u16) -> Endpoint {
        let ports = Ports { sql: first, group: first + 1, incremental_transfer: first + 2, state_transfer: first + 3 };
        Endpoint { address: "127.0.0.1".to_owned(), ports }
    }

    fn files() -> Files<'static> {
        Files {
            data: Path::new("/s/node1/data"),
            socket: Path::new("/s/node1/socket"),
            error_log: Path::new("/s/node1/error.log"),
            temporary: Path::new("/s/node1/tmp"),
            base: None,
            provider: Path::new("/s/libhortator_wsrep.so"),
        }
    }

    #[test]
    fn settings_come_after_the_defaults_they_override() {
        let settings = [setting("innodb_buffer_pool_size", "1G")];
        let arguments = arguments(Topology::Standalone, &settings, files(), &[endpoint(10)], 0).unwrap();
        assert_eq!(arguments[0], "--no-defaults");
        let place = |wanted: &str| arguments.iter().position(|argument| argument == wanted).unwrap();
        assert!(place("--innodb-buffer-pool-size=256M") < place("--innodb_buffer_pool_size=1G"));
        assert!(arguments.contains(&"--port=10".to_owned()));
    }

    #[test]
    fn a_cluster_has_hortators_provider_and_its_own_address() {
        let settings = [setting("wsrep_provider_options", "repl.max_ws_size=1M")];
        let arguments = arguments(Topology::Cluster(1), &settings, files(), &[endpoint(10)], 0).unwrap();
        assert_eq!(arguments[0], "--defaults-file=/dev/null", "state transfers read no option file either");
        for wanted in ["--wsrep-provider=/s/libhortator_wsrep.so", "--wsrep-cluster-address=gcomm://127.0.0.1:11"] {
            assert!(arguments.contains(&wanted.to_owned()), "{arguments:?}");
        }
        let options: Vec<_> = arguments.iter().filter(|one| one.contains("provider-options")).collect();
        assert!(options.len() == 1 && options[0].ends_with(";repl.max_ws_size=1M"), "{options:?}");
    }

    #[test]
    fn options_of_the_sandbox_cannot_be_set() {
        for name in ["port", "PID_FILE", "loose-datadir", "wsrep_cluster_address"] {
            let message = check_settings(&[setting(name, "x")]).unwrap_err().to_string();
            assert!(message.starts_with(&format!("the sandbox sets the option `{name}` itself: ")), "{message}");
        }
        for name in ["", "--port", "a b"] {
            assert!(check_settings(&[setting(name, "x")]).is_err(), "{name}");
        }
        check_settings(&[setting("innodb_flush_log_at_trx_commit", "2"), setting("sql_mode", "")]).unwrap();
    }
}
