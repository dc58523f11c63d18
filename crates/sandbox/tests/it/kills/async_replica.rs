//! An asynchronous replica of a node.

use hortator_sandbox::{Builder, Node, Temporary};

use crate::cluster_fixture::since;
use crate::{ask, run};

/// The time limit for a replica to follow.
const REPLICA_TIMEOUT_S: u32 = 120;
/// The variable that puts what a server applies into its binary log.
pub const LOGS_APPLIED: &str = "log_slave_updates";
/// The number of appliers.
pub const APPLIERS: &str = "wsrep_slave_threads";
/// At each start, a node's server alters these tables, without the binary log. After a kill meanwhile, its recovery of
/// definitions writes the statement into the binary log, also with Galera's provider.
const TABLES_OF_NODES: &str = r"mysql.wsrep\_%";

/// A server that follows a node asynchronously.
pub struct Replica {
    sandbox: Temporary,
}

impl Replica {
    pub fn of(source: Node<'_>) -> Self {
        let builder = Builder::standalone().set("gtid_strict_mode", "ON").set("log_bin", "own");
        let builder = builder.set(LOGS_APPLIED, "ON").set("replicate_wild_ignore_table", TABLES_OF_NODES);
        let sandbox = builder.start_temporary().unwrap();
        run(
            source,
            &[
                "CREATE USER 'replica'@'127.0.0.1' IDENTIFIED BY 'r'",
                "GRANT REPLICATION SLAVE ON *.* TO 'replica'@'127.0.0.1'",
            ],
        );
        let start = ask(source, "SELECT @@gtid_binlog_pos").concat().concat();
        run(
            sandbox.node(0),
            &[
                "SET GLOBAL server_id = 77",
                &format!("SET GLOBAL gtid_slave_pos = '{start}'"),
                &format!(
                    "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {}, MASTER_USER = 'replica', \
                     MASTER_PASSWORD = 'r', MASTER_CONNECT_RETRY = 1, MASTER_USE_GTID = slave_pos",
                    source.port()
                ),
                "START SLAVE",
            ],
        );
        // What such a kill leaves, in each run.
        let mut of_source = source.connect().unwrap();
        for sql in ["SET SESSION wsrep_on = OFF", "ALTER TABLE mysql.wsrep_streaming_log STATS_PERSISTENT = 0"] {
            of_source.execute(sql.as_bytes()).unwrap();
        }
        Self { sandbox }
    }

    pub fn node(&self) -> Node<'_> {
        self.sandbox.node(0)
    }

    /// Waits until the replica has everything that the source's binary log holds.
    pub fn catch_up(&self, source: Node<'_>) {
        // A busy port makes a start choose another one.
        let change = format!("CHANGE MASTER TO MASTER_PORT = {}", source.port());
        run(self.node(), &["STOP SLAVE", &change, "START SLAVE"]);
        let position = ask(source, "SELECT @@gtid_binlog_pos").concat().concat();
        let waited = ask(self.node(), &format!("SELECT MASTER_GTID_WAIT('{position}', {REPLICA_TIMEOUT_S})"));
        let status = || ask(self.node(), "SHOW SLAVE STATUS").concat().join(" | ");
        assert_eq!(waited, [["0"]], "the source is at {position}: {}\n{}", status(), since(self.node(), 0));
    }
}
