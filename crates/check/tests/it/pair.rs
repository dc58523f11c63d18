//! Two private servers with a schema on each.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hortator_check::compare::{Endpoint, Options, Progress, Report, compare};
use hortator_mysql::Connection;
use hortator_sandbox::Temporary;

use crate::{connect, run, server};

/// The name of the schema.
pub const SCHEMA: &str = "shop";

/// Both servers, used by one test at a time.
pub struct Pair {
    pub servers: [Temporary; 2],
}

/// The servers that the tests share.
pub fn pair() -> MutexGuard<'static, Pair> {
    static PAIR: OnceLock<Mutex<Pair>> = OnceLock::new();
    let pair = PAIR.get_or_init(|| Mutex::new(Pair { servers: [server(), server()] }));
    // A failed test may leave a schema behind, but each test begins with a new one.
    pair.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pair {
    /// Connections to both, in an empty schema.
    pub fn fresh(&self) -> [Connection; 2] {
        self.servers.each_ref().map(|server| {
            let mut connection = connect(server);
            run(
                &mut connection,
                &[
                    &format!("CREATE OR REPLACE DATABASE {SCHEMA} CHARSET utf8mb4"),
                    &format!("USE {SCHEMA}"),
                    "SET sql_mode = ''",
                ],
            );
            connection
        })
    }

    /// Both endpoints, with the schema.
    pub fn endpoints(&self) -> [Endpoint; 2] {
        self.servers
            .each_ref()
            .map(|server| Endpoint { connect: server.node(0).connect_options(), schema: Some(SCHEMA.to_owned()) })
    }

    /// Compares the schemas.
    pub fn compare(&self, options: &Options) -> Report {
        compare(&self.endpoints(), options, &Progress::default()).unwrap()
    }
}

/// Runs the same statements on both.
pub fn run_both(connections: &mut [Connection; 2], statements: &[&str]) {
    connections.iter_mut().for_each(|connection| run(connection, statements));
}

/// Each difference as one or more lines.
pub fn shown(report: &Report) -> Vec<String> {
    report.differences.iter().map(ToString::to_string).collect()
}
