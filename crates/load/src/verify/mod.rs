//! Verifies after a load that the server has the content of the stream: row counts, objects by name, views, foreign keys,
//! AUTO_INCREMENT values, and on a cluster the nodes against each other.
//!
//! It only reads, over separate connections, after the last commit. It reports what it cannot verify.

mod counters;
mod foreign_keys;
mod inventory;
mod nodes;
mod report;
mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use hortator_mysql::catalog::TableName;
use hortator_mysql::{ConnectOptions, Connection, Error};

use crate::expect::Expectations;
use crate::session::open_long_lived;
use report::Findings;
pub use report::{TableCheck, Verification};

/// What is verified, and against what.
pub(crate) struct Verify<'a> {
    pub(crate) expectations: &'a Expectations,
    /// Rows that the server took, by `schema.table`.
    pub(crate) loaded: BTreeMap<String, u64>,
    /// Parent tables that were left out on purpose.
    pub(crate) left_out_parents: BTreeSet<TableName>,
    /// The server that was loaded into.
    pub(crate) connect: &'a ConnectOptions,
    /// The nodes of a cluster by name; none where it is no cluster.
    pub(crate) nodes: Vec<(String, ConnectOptions)>,
    /// The number of foreign keys, if the load has validated them.
    pub(crate) validated_foreign_keys: Option<u64>,
    /// Connections for the verification.
    pub(crate) threads: usize,
}

impl Verify<'_> {
    /// Runs all checks.
    pub(crate) fn run(&self) -> Verification {
        let start = Instant::now();
        let mut findings = Findings::default();
        if self.expectations.is_full() {
            findings.problem(
                "the dump defines more objects than --verify can record: the expected content is unknown".to_owned(),
            );
        }
        match self.look(&mut findings) {
            Ok(()) => nodes::compare_all(self, &mut findings),
            Err(error) => findings.problem(format!("the verification failed: {error}")),
        }
        findings.verification(start.elapsed())
    }

    fn look(&self, findings: &mut Findings) -> Result<(), Error> {
        let mut connection = self.open()?;
        let inventory = inventory::read(&mut connection, &inventory::schemas(self.expectations))?;
        inventory::compare(self.expectations, &inventory, findings);
        inventory::check_views(&mut connection, self.expectations, &inventory, findings)?;
        counters::check(&mut connection, self.expectations, &inventory, findings)?;
        rows::count(self, &inventory, findings)?;
        foreign_keys::validate(self, &mut connection, &inventory, findings)
    }

    /// A session that sees what a cluster has agreed on before, and names in UTF-8.
    fn open(&self) -> Result<Connection, Error> {
        let options = ConnectOptions { database: None, charset: "utf8mb4".to_owned(), ..self.connect.clone() };
        let mut connection = open_long_lived(&options)?;
        for setting in ["sql_mode = ''", "wsrep_sync_wait = 1", "information_schema_stats_expiry = 0"] {
            match connection.execute(format!("SET SESSION {setting}").as_bytes()) {
                // The last two are unknown to servers without Galera, and to MariaDB.
                Ok(_) | Err(Error::Server(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(connection)
    }
}
