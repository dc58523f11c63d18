//! A source and its semi-synchronous replica.

use hortator_mysql::Connection;

use crate::Error;
use crate::node::State;
use crate::random::random_uuid;
use crate::sandbox::Sandbox;
use crate::status::status;

const SOURCE: usize = 0;
const REPLICA: usize = 1;
/// The account with which the replica connects.
const REPLICATION_USER: &str = "replication";

/// The arguments of the source's or replica's server.
pub(crate) fn arguments(index: usize) -> Vec<String> {
    let mut arguments = vec![
        "--log-bin=binlog",
        "--binlog-format=ROW",
        "--log-slave-updates=ON",
        "--gtid-strict-mode=ON",
        // After a crash, the source's binary log must still contain everything that the replica has acknowledged.
        "--sync-binlog=1",
    ];
    if index == SOURCE {
        arguments.push("--rpl-semi-sync-master-enabled=ON");
    } else {
        arguments.extend(["--rpl-semi-sync-slave-enabled=ON", "--relay-log=relay", "--relay-log-recovery=ON"]);
    }
    arguments.into_iter().map(str::to_owned).collect()
}

/// Connects the two running servers for the first time.
pub(crate) fn set_up(sandbox: &Sandbox) -> Result<(), Error> {
    let password = random_uuid()?;
    let mut source = sandbox.node(SOURCE).connect()?;
    let account = format!("'{REPLICATION_USER}'@'127.0.0.1'");
    let statements = [
        // The sandbox's own account is not part of the replicated stream.
        "SET SESSION sql_log_bin = 0".to_owned(),
        format!("CREATE USER {account} IDENTIFIED BY '{password}'"),
        format!("GRANT REPLICATION SLAVE ON *.* TO {account}"),
    ];
    for statement in statements {
        source.execute(statement.as_bytes()).map_err(|error| sandbox.node(SOURCE).statement(error))?;
    }
    connect(sandbox, &format!(", MASTER_USER = '{REPLICATION_USER}', MASTER_PASSWORD = '{password}'"))
}

/// Connects them again if both run: the source's port may have changed.
pub(crate) fn resume(sandbox: &Sandbox) -> Result<(), Error> {
    match sandbox.nodes().all(|node| node.state() == State::Running) {
        true => connect(sandbox, ""),
        false => Ok(()),
    }
}

fn connect(sandbox: &Sandbox, credentials: &str) -> Result<(), Error> {
    let (source, replica) = (sandbox.node(SOURCE), sandbox.node(REPLICA));
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
