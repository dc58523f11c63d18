//! The sample in its two forms, with foreign keys and without, and what the client makes of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hortator_check::state::{self, State};
use hortator_mysql::{Connection, Row};

use super::Loader;
use crate::deployment::Deployment;
use crate::employees::{self, Dump, ForeignKeys, SCHEMA, entry_script};
use crate::{Error, convergence, foreign_key_validation, measure, server_copy};

/// The script without foreign keys, beside the sample's own.
const WITHOUT_KEYS: &str = "employees-without-foreign-keys.sql";

/// The files, and the state that each load must leave.
#[derive(Debug)]
pub(super) struct Dumps {
    pub(super) sample: Dump,
    with: Option<State>,
    without: Option<State>,
}

impl Dumps {
    /// Writes the files. `mariadb-dump` writes its form from a server that the client has loaded.
    pub(super) fn prepare(folder: &Path, scale: f64, stop: &Arc<AtomicBool>) -> Result<Self, Error> {
        let sample = employees::cached(folder, scale)?;
        let mut dumps = Self { sample, with: None, without: None };
        let script = dumps.script(ForeignKeys::Without);
        fs::write(&script, entry_script(ForeignKeys::Without))
            .map_err(Error::io(format!("writing {}", script.display())))?;
        let log = folder.join("foreign-keys-prepare.log");
        let server = Deployment::Alone.start(stop)?;
        let mut indexes = Vec::new();
        for keys in ForeignKeys::ALL {
            let mut load = Loader::ClientSource.command(keys, &dumps, &server, Path::new(""))?;
            measure::run(&mut load, &log, stop)?;
            convergence::check(&server, "the client's load", dumps.sample.rows, server_copy::loaded_rows)?;
            foreign_key_validation::check(&server)?;
            indexes.push(read_indexes(&mut server.connect(0)?)?);
            let mut dump = server.program("mariadb-dump");
            dump.arg("--databases").arg(SCHEMA).arg("--result-file").arg(dumps.dumped(keys)).stdin(Stdio::null());
            measure::run(&mut dump, &log, stop)?;
            let found = state::describe(&mut server.connect(0)?, SCHEMA).map_err(Error::server("reading the state"))?;
            match keys {
                ForeignKeys::With => dumps.with = Some(found),
                ForeignKeys::Without => dumps.without = Some(found),
            }
        }
        if indexes.windows(2).any(|pair| pair[0] != pair[1]) {
            let text =
                "the tables with foreign keys and without have different indexes: not only the checks would differ";
            return Err(Error::Answer(text.to_owned()));
        }
        Ok(dumps)
    }

    /// Where the files are that the scripts source.
    pub(super) fn folder(&self) -> &Path {
        &self.sample.folder
    }

    /// The script that sources the sample's files.
    pub(super) fn script(&self, keys: ForeignKeys) -> PathBuf {
        match keys {
            ForeignKeys::With => self.sample.entry(),
            ForeignKeys::Without => self.folder().join(WITHOUT_KEYS),
        }
    }

    /// What `mariadb-dump` wrote.
    pub(super) fn dumped(&self, keys: ForeignKeys) -> PathBuf {
        self.folder().join(match keys {
            ForeignKeys::With => "mariadb-dump-with-foreign-keys.sql",
            ForeignKeys::Without => "mariadb-dump-without-foreign-keys.sql",
        })
    }

    /// What the client leaves on a server alone.
    pub(super) fn expected(&self, keys: ForeignKeys) -> Option<&State> {
        match keys {
            ForeignKeys::With => self.with.as_ref(),
            ForeignKeys::Without => self.without.as_ref(),
        }
    }
}

/// Every column of every index.
fn read_indexes(connection: &mut Connection) -> Result<Vec<Row>, Error> {
    let query = format!(
        "SELECT TABLE_NAME, INDEX_NAME, NON_UNIQUE, SEQ_IN_INDEX, COLUMN_NAME FROM information_schema.STATISTICS WHERE \
         TABLE_SCHEMA = '{SCHEMA}' ORDER BY 1, 2, 3, 4"
    );
    connection.fetch(query.as_bytes()).map_err(Error::server("reading the indexes"))
}
