//! Two private servers, and a schema on each.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hortator_check::compare::{Options, Progress, Report, Side, compare};
use hortator_mysql::Connection;
use hortator_sandbox::Temporary;

use crate::{connect, run, server};

/// The schema that both have.
pub const SCHEMA: &str = "shop";

/// Both servers; whoever holds it has them alone.
pub struct Pair {
    pub servers: [Temporary; 2],
}

/// The servers that tests share.
pub fn pair() -> MutexGuard<'static, Pair> {
    static PAIR: OnceLock<Mutex<Pair>> = OnceLock::new();
    let pair = PAIR.get_or_init(|| Mutex::new(Pair { servers: [server(), server()] }));
    // A test that failed leaves a schema behind, and each begins with a new one.
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

    /// Both sides, with the schema.
    pub fn sides(&self) -> [Side; 2] {
        self.servers
            .each_ref()
            .map(|server| Side { connect: server.node(0).connect_options(), schema: Some(SCHEMA.to_owned()) })
    }

    /// Compares the schema on both.
    pub fn compare(&self, options: &Options) -> Report {
        compare(&self.sides(), options, &Progress::default()).unwrap()
    }
}

/// Runs the same on both.
pub fn run_both(connections: &mut [Connection; 2], statements: &[&str]) {
    connections.iter_mut().for_each(|connection| run(connection, statements));
}

/// Each difference in a line of its own, or more.
pub fn shown(report: &Report) -> Vec<String> {
    report.differences.iter().map(ToString::to_string).collect()
}
