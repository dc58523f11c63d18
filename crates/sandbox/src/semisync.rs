//! A source and its semi-synchronous replica, and a ring: two servers, each the semi-synchronous replica of the other.
//!
//! In a ring both servers take writes. Each has a replication domain of its own (`gtid_domain_id`), as its binary log is in the
//! order of its own commits only: one sequence of numbers for both would be out of order.

use hortator_mysql::Connection;

use crate::node::{Node, State};
use crate::random::random_uuid;
use crate::sandbox::Sandbox;
use crate::status::status;
use crate::{Error, Topology};

/// The account with which replicas connect.
const REPLICATION_USER: &str = "replication";
/// Sources and their replicas, counted from 0.
const PAIR: &[(usize, usize)] = &[(0, 1)];
const RING: &[(usize, usize)] = &[(0, 1), (1, 0)];

/// Each source of the topology with its replica.
fn links(topology: Topology) -> &'static [(usize, usize)] {
    match topology {
        Topology::Semisync => PAIR,
        Topology::Ring => RING,
        Topology::Standalone | Topology::Mysql | Topology::Galera(_) | Topology::Cluster(_) | Topology::FanIn(_) => &[],
    }
}

/// The arguments of the server of a node.
pub(crate) fn arguments(topology: Topology, index: usize) -> Vec<String> {
    let mut arguments = vec![
        "--log-bin=binlog",
        "--binlog-format=ROW",
        "--log-slave-updates=ON",
        "--gtid-strict-mode=ON",
        // After a crash, a source's binary log must still contain everything that its replica has acknowledged.
        "--sync-binlog=1",
    ];
    if links(topology).iter().any(|(source, _)| *source == index) {
        arguments.push("--rpl-semi-sync-master-enabled=ON");
    }
    if links(topology).iter().any(|(_, replica)| *replica == index) {
        arguments.extend(["--rpl-semi-sync-slave-enabled=ON", "--relay-log=relay", "--relay-log-recovery=ON"]);
    }
    let mut arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();
    if topology == Topology::Ring {
        let nodes = topology.nodes();
        arguments.push(format!("--gtid-domain-id={}", index + 1));
        // Two servers that number rows at the same time never give the same number.
        arguments.push(format!("--auto-increment-increment={nodes}"));
        arguments.push(format!("--auto-increment-offset={}", index + 1));
    }
    arguments
}

/// Connects the running servers for the first time.
pub(crate) fn set_up(sandbox: &Sandbox) -> Result<(), Error> {
    let password = random_uuid()?;
    let links = links(sandbox.topology());
    for (source, _) in links {
        create_account(sandbox.node(*source), &password)?;
    }
    let credentials = format!(", MASTER_USER = '{REPLICATION_USER}', MASTER_PASSWORD = '{password}'");
    links.iter().try_for_each(|(source, replica)| connect(sandbox.node(*source), sandbox.node(*replica), &credentials))
}

fn create_account(source: Node<'_>, password: &str) -> Result<(), Error> {
    let account = format!("'{REPLICATION_USER}'@'127.0.0.1'");
    let statements = [
        // The sandbox's own account is not part of the replicated stream.
        "SET SESSION sql_log_bin = 0".to_owned(),
        format!("CREATE USER {account} IDENTIFIED BY '{password}'"),
        format!("GRANT REPLICATION SLAVE ON *.* TO {account}"),
    ];
    let mut connection = source.connect()?;
    for statement in statements {
        connection.execute(statement.as_bytes()).map_err(|error| source.statement(error))?;
    }
    Ok(())
}

/// Connects them again if all run: a source's port may have changed.
pub(crate) fn resume(sandbox: &Sandbox) -> Result<(), Error> {
    if sandbox.nodes().any(|node| node.state() != State::Running) {
        return Ok(());
    }
    let mut links = links(sandbox.topology()).iter();
    links.try_for_each(|(source, replica)| connect(sandbox.node(*source), sandbox.node(*replica), ""))
}

fn connect(source: Node<'_>, replica: Node<'_>, credentials: &str) -> Result<(), Error> {
    let mut connection = replica.connect()?;
    let statements = [
        "STOP SLAVE".to_owned(),
        format!(
            "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {}, MASTER_CONNECT_RETRY = 1, \
             MASTER_USE_GTID = slave_pos{credentials}",
            source.port()
        ),
        "START SLAVE".to_owned(),
    ];
    for statement in statements {
        connection.execute(statement.as_bytes()).map_err(|error| replica.statement(error))?;
    }
    for (node, what, ready) in [
        (replica, "did not replicate", replicates as fn(&mut Connection) -> _),
        (source, "had no semi-synchronous replica", has_replica),
    ] {
        let process = node.process().ok_or_else(|| node.failed("ended while the replica connected".to_owned()))?;
        node.wait_until(&process, what, ready)?;
    }
    Ok(())
}

fn replicates(replica: &mut Connection) -> Result<bool, hortator_mysql::Error> {
    let is_on = |value: Option<String>| value.as_deref() == Some("ON");
    Ok(is_on(status(replica, "Slave_running")?) && is_on(status(replica, "Rpl_semi_sync_slave_status")?))
}

fn has_replica(source: &mut Connection) -> Result<bool, hortator_mysql::Error> {
    let on = status(source, "Rpl_semi_sync_master_status")?;
    let replicas = status(source, "Rpl_semi_sync_master_clients")?;
    Ok(on.as_deref() == Some("ON") && replicas.as_deref() == Some("1"))
}
