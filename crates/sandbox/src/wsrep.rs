//! What every cluster has that a wsrep provider makes, whichever provider that is: its servers' options.

use std::path::Path;

use crate::Error;
use crate::options::path_option;
use crate::ports::Ports;
use crate::saved_state::Position;

/// Tells a server to begin a cluster's history.
pub(crate) const NEW_CLUSTER: &str = "--wsrep-new-cluster";

/// What a node's server is started with. `settings` are values of wsrep_provider_options besides the addresses.
pub(crate) fn arguments(
    provider: &Path,
    ports: &[Ports],
    index: usize,
    settings: &[&str],
) -> Result<Vec<String>, Error> {
    let own = ports[index];
    let nodes: Vec<String> = ports.iter().map(|node| format!("127.0.0.1:{}", node.group)).collect();
    let mut options = vec![
        "base_host=127.0.0.1".to_owned(),
        format!("base_port={}", own.group),
        format!("gmcast.listen_addr=tcp://127.0.0.1:{}", own.group),
        format!("ist.recv_addr=tcp://127.0.0.1:{}", own.incremental_transfer),
    ];
    options.extend(settings.iter().map(|setting| (*setting).to_owned()));
    Ok(vec![
        "--binlog-format=ROW".to_owned(),
        "--innodb-autoinc-lock-mode=2".to_owned(),
        "--wsrep-on=ON".to_owned(),
        path_option("wsrep-provider", provider)?,
        "--wsrep-cluster-name=sandbox".to_owned(),
        format!("--wsrep-cluster-address=gcomm://{}", nodes.join(",")),
        format!("--wsrep-node-name=node{}", index + 1),
        format!("--wsrep-node-address=127.0.0.1:{}", own.group),
        format!("--wsrep-node-incoming-address=127.0.0.1:{}", own.sql),
        "--wsrep-sst-method=rsync".to_owned(),
        format!("--wsrep-sst-receive-address=127.0.0.1:{}", own.state_transfer),
        format!("--wsrep-provider-options={}", options.join(";")),
    ])
}

/// The arguments that tell a server its place in the history, which it cannot find out by itself in time after a crash.
pub(crate) fn at(position: Option<&Position>) -> Vec<String> {
    position.iter().map(|position| format!("--wsrep-start-position={position}")).collect()
}
