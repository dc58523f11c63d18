//! The programs that load the rows.

use std::fmt;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;

use super::rows::{PARTS, Rows, SCHEMA, TABLE};
use crate::Error;
use crate::measure::{self, Usage};
use crate::nodes::Nodes;

/// What loads the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// LOAD DATA LOCAL over one connection: what the others are compared with.
    LoadData,
    /// mariadb-import over several connections.
    Import,
    /// `hortator load --table`.
    Hortator,
    /// The same, which builds the secondary indexes after the rows.
    IndexesLater,
}

impl Contender {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::LoadData, Self::Import, Self::Hortator, Self::IndexesLater];

    /// The command and its rules, for the report.
    pub(super) fn description(self) -> String {
        match self {
            Self::LoadData => {
                "LOAD DATA LOCAL INFILE by the client, over one connection. A value that does not fit is changed, a duplicate key \
                 passed over."
                    .to_owned()
            }
            Self::Import => format!(
                "mariadb-import --local --use-threads={PARTS}, which sends LOAD DATA LOCAL for each of {PARTS} files: the same rows, cut \
                 before the clock runs."
            ),
            Self::Hortator => {
                "hortator load --table, with the number of connections that it takes by default. A value that does not fit and a \
                 duplicate key are errors with file and line; an interrupted load can be resumed."
                    .to_owned()
            }
            Self::IndexesLater => {
                "hortator load --table --defer-indexes=always: the same, which drops the secondary indexes of the empty table, and \
                 adds them after the rows."
                    .to_owned()
            }
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LoadData => "LOAD DATA",
            Self::Import => "mariadb-import",
            Self::Hortator => "hortator load",
            Self::IndexesLater => "hortator load, indexes later",
        })
    }
}

/// Loads the rows into the empty table; gives what the program used.
pub(super) fn load(
    contender: Contender,
    rows: &Rows,
    server: &Nodes,
    hortator: &Path,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Usage, Error> {
    let mut command = match contender {
        Contender::LoadData => {
            let mut command = server.client();
            let path = rows.whole.to_string_lossy().replace('\\', "\\\\").replace('\'', "\\'");
            command.args(["--local-infile=1", "-D", SCHEMA, "-e"]).arg(format!(
                "LOAD DATA LOCAL INFILE '{path}' INTO TABLE {TABLE} CHARACTER SET utf8mb4 FIELDS TERMINATED BY ',' OPTIONALLY \
                 ENCLOSED BY '\"' ESCAPED BY ''"
            ));
            command
        }
        Contender::Import => {
            let mut command = server.program("mariadb-import");
            command.arg("--local").arg(format!("--use-threads={PARTS}"));
            command.args(["--fields-terminated-by=,", "--fields-optionally-enclosed-by=\"", "--fields-escaped-by="]);
            command.arg(SCHEMA).args(&rows.parts);
            command
        }
        Contender::Hortator | Contender::IndexesLater => {
            let mut command = server.hortator(hortator);
            if contender == Contender::IndexesLater {
                command.arg("--defer-indexes=always");
            }
            command.args(["--table", &format!("{SCHEMA}.{TABLE}")]).arg(&rows.whole);
            command
        }
    };
    command.stdin(Stdio::null());
    let log = folder.join(format!("{}.log", contender.to_string().replace(", ", "-").replace(' ', "-")));
    measure::run(&mut command, &log, stop)
}
