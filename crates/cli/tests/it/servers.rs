//! Pairs of private servers for the whole test binary: one for the client's loads, one for Hortator's.
//!
//! Dumps name their databases, so the two sides cannot share a server. Starting one takes seconds, so all tests share
//! two pairs: whoever compares holds one until it is done.

mod shared;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use hortator_check::state::{self, State};
use hortator_mysql::{ConnectOptions, Connection, quote_identifier};
use hortator_sandbox::{Builder, Node, Temporary};

use crate::target;
pub use shared::{Held, Shared};

/// The database that every dump is loaded into unless it names another.
pub const DATABASE: &str = "hortator_case";

/// Loads here need not outlive a power cut: the tests spend their time in loading, not in waiting for a disk.
pub const SETTINGS: [(&str, &str); 6] = [
    ("innodb_flush_log_at_trx_commit", "0"),
    ("innodb_doublewrite", "0"),
    ("innodb_flush_method", "nosync"),
    ("debug_no_sync", "1"),
    // A statement that waits for a lock this long is a fault, and should be told as one within the test's patience.
    ("innodb_lock_wait_timeout", "20"),
    ("lock_wait_timeout", "120"),
];

/// Five minutes, of which an idle machine needs a moment.
const PATIENCE_TRIES: u32 = 60_000;
const PATIENCE_PAUSE: Duration = Duration::from_millis(5);
/// Beside full load, a server takes its time to let somebody in.
const CONNECT_LIMIT: Duration = Duration::from_secs(120);
/// InnoDB shows everybody the same picture of its transactions and locks until nobody has looked for 0.1 s.
const LOCKS_PAUSE: Duration = Duration::from_millis(200);

/// A file system in memory, where Linux has one.
const MEMORY: &str = "/dev/shm";
/// What it must have room for: the pairs' servers, and what other programs put there meanwhile.
const MEMORY_BYTES: u64 = 8 << 30;

const OF_THE_SERVER: &str = "'mysql', 'sys', 'information_schema', 'performance_schema'";

/// The servers that the two programs load into.
pub struct Pair {
    /// The client's.
    pub client: Server,
    /// Hortator's.
    pub hortator: Server,
}

/// One private server.
pub struct Server {
    sandbox: Temporary,
}

/// Statics are never dropped: the sandbox's watchdog ends the servers when this process ends.
static PAIRS: [Shared; 2] = [Shared::new(start_pair), Shared::new(start_pair)];

fn start_pair() -> Pair {
    thread::scope(|scope| {
        let client = scope.spawn(|| Server::from(in_memory(target::server())));
        let hortator = Server::from(in_memory(target::server()));
        Pair { client: client.join().expect("the client's server starts"), hortator }
    })
}

/// With its files in memory, where there is room. Some file systems look through all inodes of the last minutes for a new one:
/// servers that create and drop tables all the time spent a quarter of their time there.
fn in_memory(builder: Builder) -> Builder {
    let has_room = rustix::fs::statvfs(MEMORY).is_ok_and(|found| found.f_bavail * found.f_frsize >= MEMORY_BYTES);
    if has_room { builder.dir(MEMORY) } else { builder }
}

/// Both servers, for the caller alone.
pub fn pair() -> Held {
    Shared::take_any(&PAIRS)
}

impl From<Builder> for Server {
    fn from(builder: Builder) -> Server {
        Server { sandbox: builder.start_temporary().expect("a private server starts") }
    }
}

impl Server {
    /// Starts a server of its own, ended with the value or the process.
    pub fn start(settings: &[(&str, &str)]) -> Server {
        settings.iter().fold(target::plain_server(), |builder, (name, value)| builder.set(*name, *value)).into()
    }

    /// Starts a Galera cluster; the first node is the one that programs are told of. Root is let in over TCP too, as the
    /// cluster tells its nodes' ports and not their sockets.
    pub fn start_cluster(nodes: usize, settings: &[(&str, &str)]) -> Server {
        let builder = settings.iter().fold(Builder::galera(nodes), |builder, (name, value)| builder.set(*name, *value));
        let server = Server { sandbox: builder.start_temporary().expect("a private cluster starts") };
        server.connect().execute(b"CREATE USER root@'127.0.0.1'").unwrap();
        server.connect().execute(b"GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION").unwrap();
        server
    }

    /// What the other nodes hold that the first does not, or the other way round. With `wait`, after they have applied
    /// what was committed.
    pub fn node_differences(&self, wait: bool, row_times: bool) -> Vec<String> {
        let is_cluster = self.sandbox.nodes().count() > 1;
        let state_of = |node: Node<'_>| {
            let mut connection = node.connect().expect("the node lets root in");
            if wait && is_cluster {
                connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
            }
            describe_all(&mut connection, row_times)
        };
        let first = state_of(self.sandbox.node(0));
        let mut differences = Vec::new();
        for node in self.sandbox.nodes().skip(1) {
            let other = state_of(node);
            let name = node.name();
            differences.extend(
                first
                    .keys()
                    .filter(|schema| !other.contains_key(*schema))
                    .map(|schema| format!("{name} has no schema {}", String::from_utf8_lossy(schema))),
            );
            for (schema, theirs) in &other {
                match first.get(schema) {
                    Some(ours) => differences
                        .extend(ours.differences(theirs).into_iter().map(|found| format!("node1 and {name}: {found}"))),
                    None => differences.push(format!("{name} has a schema {}", String::from_utf8_lossy(schema))),
                }
            }
        }
        differences
    }

    /// The sandbox itself.
    pub fn sandbox(&self) -> &Temporary {
        &self.sandbox
    }

    /// Where it listens.
    pub fn socket(&self) -> PathBuf {
        self.sandbox.node(0).socket()
    }

    /// A connection as root.
    pub fn connect(&self) -> Connection {
        let options = ConnectOptions { connect_timeout: CONNECT_LIMIT, ..self.sandbox.node(0).connect_options() };
        Connection::open(&options).expect("the private server lets root in")
    }

    /// Drops all schemas and makes an empty [`DATABASE`].
    pub fn reset(&self) {
        let mut connection = self.connect();
        connection.execute(b"SET foreign_key_checks = 0").unwrap();
        for schema in schemas(&mut connection) {
            connection.execute(&[b"DROP DATABASE ".to_vec(), quote_identifier(schema)].concat()).unwrap();
        }
        connection.execute(format!("CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4").as_bytes()).unwrap();
        if target::mysql().is_some() {
            // What a dump says of the transactions that it holds stays with the server otherwise.
            connection.execute(b"RESET BINARY LOGS AND GTIDS").unwrap();
        }
    }

    /// Waits until a query gives 1.
    ///
    /// # Panics
    /// When it does not for too long.
    pub fn wait_until(&self, query: &str) {
        let mut connection = self.connect();
        let asks_for_locks = query.contains("INNODB_TRX") || query.contains("INNODB_LOCK");
        for _ in 0..PATIENCE_TRIES {
            let rows = connection.fetch(query.as_bytes());
            let is_so =
                |rows: &Vec<hortator_mysql::Row>| rows.first().is_some_and(|row| row[0].as_deref() == Some(b"1"));
            // A table that it asks for may not be there yet.
            if rows.as_ref().is_ok_and(is_so) {
                return;
            }
            thread::sleep(if asks_for_locks { LOCKS_PAUSE } else { PATIENCE_PAUSE });
        }
        panic!("it does not come to: {query}");
    }

    /// All schemas that are not the server's own, with everything in them. Records of a load that failed are no part of
    /// what it loaded.
    pub fn state(&self, row_times: bool) -> BTreeMap<Vec<u8>, State> {
        describe_all(&mut self.connect(), row_times)
    }

    /// The rows of a query in [`DATABASE`], as text.
    pub fn rows_of_case(&self, query: &str) -> Vec<Vec<String>> {
        let shown = |value: Option<Vec<u8>>| {
            value.map_or_else(|| "NULL".to_owned(), |value| String::from_utf8_lossy(&value).into_owned())
        };
        let mut connection = self.connect();
        connection.select_db(DATABASE.as_bytes()).expect("the database is there");
        let rows = connection.fetch(query.as_bytes()).expect("the query is answered");
        rows.into_iter().map(|row| row.into_iter().map(shown).collect()).collect()
    }
}

fn describe_all(connection: &mut Connection, row_times: bool) -> BTreeMap<Vec<u8>, State> {
    let options = state::Options { any_name: false, row_times };
    let names: Vec<_> = schemas(connection).into_iter().filter(|name| name != b"hortator").collect();
    let describe = |name: Vec<u8>| {
        let state = state::describe_with(connection, &name, options).expect("the state can be read");
        (name, state)
    };
    names.into_iter().map(describe).collect()
}

fn schemas(connection: &mut Connection) -> Vec<Vec<u8>> {
    let query =
        format!("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN ({OF_THE_SERVER})");
    let rows = connection.fetch(query.as_bytes()).unwrap();
    rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect()
}
