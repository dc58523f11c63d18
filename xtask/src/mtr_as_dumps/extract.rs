//! Makes a dump of a test: its statements in the order in which mysqltest would send them, over one connection.
//!
//! Variables that the file itself sets are filled in, loops on them run, and files that it includes are read. What depends on
//! a query's result is left out: the dump has to be the same whatever the server says. All connections of a test become the
//! one of the dump. A stream for a source of replication keeps them, and has no statement of a replica.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::commands::{self, Step};
use super::dump::{Dump, Statement};
use super::variables::Variables;

/// What a dump may have at most: some tests loop for long.
const STATEMENTS_LIMIT: usize = 5_000;
const BYTES_LIMIT: usize = 8 << 20;
/// Rounds of all loops together, also of those that send nothing.
const ROUNDS_LIMIT: usize = 100_000;
/// Includes within includes.
const DEPTH_LIMIT: usize = 20;

/// Includes that need another set-up than one server that stays up: a test with one of them is no dump.
const OTHER_SETUP: [&str; 16] = [
    "big_test",
    "long_test",
    "restart_mysqld",
    "shutdown_mysqld",
    "start_mysqld",
    "crash_mysqld",
    "kill_mysqld",
    "kill_and_restart",
    "expect_crash",
    "search_pattern_in_file_and_restart",
    "master-slave",
    "rpl_",
    "have_wsrep",
    "galera",
    "have_s3",
    "have_rocksdb",
];
/// Beginnings of includes without which a stream of statements is the same: they set servers up, restart them, move replicas
/// and compare. Those in a suite's own folder have statements.
const OF_REPLICATION: [&str; 21] = [
    "master-slave",
    "rpl_init",
    "rpl_end",
    "rpl_connect",
    "rpl_reset",
    "rpl_sync",
    "rpl_start",
    "rpl_stop",
    "rpl_restart",
    "rpl_change",
    "rpl_test_framework",
    "rpl_reconnect",
    "rpl_assert",
    "reset_",
    "start_",
    "stop_",
    "sync_",
    "save_",
    "show_",
    "kill_",
    "restart_",
];
/// Includes that need what a stream's source has not.
const NO_STREAM: [&str; 7] =
    ["big_test", "long_test", "have_wsrep", "galera", "have_s3", "have_rocksdb", "have_binlog_format_statement"];
/// Goes over to the connection that a variable names.
const RPL_CONNECTION: &str = "rpl_connection.inc";
const RPL_CONNECTION_NAME: &[u8] = b"$rpl_connection_name";
/// These leave a test at the source.
const SETUP: [&str; 2] = ["master-slave.inc", "rpl_init.inc"];
const SOURCE: &[u8] = b"server_1";
/// Connections of a test that are no source's.
const REPLICAS: [&str; 7] = ["server_2", "server_3", "server_4", "server_5", "server_2b", "s1", "s2"];
const REPLICA: &str = "slave";

/// Includes that look at the server or wait for it, and have no statements for a dump.
const WITHOUT_STATEMENTS: [&str; 14] = [
    "have_",
    "not_",
    "is_",
    "no_",
    "wait_",
    "count_sessions",
    "maybe_",
    "analyze-",
    "innodb_page_size",
    "innodb_row_format",
    "check_",
    "assert",
    "search_",
    "diff_",
];
/// Statements that the client takes for commands of its own, and those that end connections.
const DROPPED_HEADS: [&str; 12] =
    ["KILL", "EDIT", "PAGER", "NOPAGER", "TEE", "NOTEE", "SYSTEM", "SOURCE", "QUIT", "EXIT", "PROMPT", "CONNECT"];

/// Where Debian has the server's plugins.
const PLUGINS: &str = "/usr/lib/mysql/plugin";

/// Delimiters for statements that hold the one in force, as those of one-line commands can.
const OTHER_DELIMITERS: [&str; 4] = ["//", "$$", "||", "%%%%"];

/// Why there is no dump, or no more of it.
#[derive(Debug)]
enum Stop {
    /// The test ends here.
    End,
    /// It is no dump at all.
    Skip(String),
}

/// What the statements of a test are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A dump for one server that stays up: a test that needs more is none.
    Dump,
    /// The statements of a source of replication, each with its connection. A connection that ends has an empty one.
    Stream,
}

/// The statements of a test below the folder of all suites; or why there are none.
pub(crate) fn extract(suites: &Path, test: &Path, purpose: Purpose) -> Result<Dump, String> {
    let mut variables = Variables::default();
    variables.set("MYSQL_TEST_DIR", &suites.to_string_lossy());
    // Below the server's own folder: both servers have one, and paths in a dump are relative to the data folder.
    for (name, value) in
        [("MYSQLTEST_VARDIR", "../var"), ("MYSQL_TMP_DIR", "../var/tmp"), ("MYSQL_STD_DATA", "../../std_data")]
    {
        variables.set(name, value);
    }
    for plugin in plugins() {
        variables.set(&format!("{}_SO", plugin.to_ascii_uppercase()), &plugin);
    }
    let mut extractor = Extractor {
        suites,
        variables,
        dump: Dump::default(),
        bytes: 0,
        rounds: 0,
        depth: 0,
        purpose,
        connection: DEFAULT.to_owned(),
    };
    match extractor.run_file(test) {
        Ok(()) | Err(Stop::End) if extractor.dump.statements.is_empty() => Err("it has no statements".to_owned()),
        Ok(()) | Err(Stop::End) => Ok(extractor.dump),
        Err(Stop::Skip(reason)) => Err(reason),
    }
}

/// The server's plugins, which tests know by variables such as `$HA_EXAMPLE_SO`.
fn plugins() -> Vec<String> {
    let Ok(entries) = fs::read_dir(PLUGINS) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter_map(|name| Some(name.strip_suffix(".so")?.to_owned())).collect()
}

/// A dump that [`Dump::text`] has written.
pub(crate) fn read(path: &Path) -> anyhow::Result<Dump> {
    let text = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let mut lines = Vec::new();
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        // The client's command as mysqltest has it.
        if line.starts_with(b"DELIMITER ") {
            lines.extend(b"--");
        }
        lines.extend(line);
    }
    let steps = commands::parse(&lines).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    let statements = steps.into_iter().filter_map(|step| match step {
        Step::Statement { text, delimiter } => Some(Statement { text, delimiter, connection: String::new() }),
        Step::Command { .. } | Step::Block { .. } => None,
    });
    Ok(Dump { statements: statements.collect() })
}

struct Extractor<'a> {
    suites: &'a Path,
    variables: Variables,
    dump: Dump,
    bytes: usize,
    rounds: usize,
    depth: usize,
    purpose: Purpose,
    /// The test's name of the one that statements go to.
    connection: String,
}

/// The connection that each test begins with.
const DEFAULT: &str = "default";

impl Extractor<'_> {
    fn run_file(&mut self, path: &Path) -> Result<(), Stop> {
        let text = fs::read(path).map_err(|error| Stop::Skip(format!("{}: {error}", path.display())))?;
        let steps = commands::parse(&text).map_err(|error| Stop::Skip(format!("{}: {error}", path.display())))?;
        self.run(&steps, path)
    }

    fn run(&mut self, steps: &[Step], path: &Path) -> Result<(), Stop> {
        for step in steps {
            match step {
                Step::Statement { text, delimiter } => self.send(text, delimiter)?,
                Step::Command { name, arguments, delimiter } => self.command(name, arguments, delimiter, path)?,
                Step::Block { is_loop, condition, body } => {
                    while self.variables.holds(condition) == Some(true) {
                        self.rounds += 1;
                        if self.rounds > ROUNDS_LIMIT {
                            return Err(Stop::End);
                        }
                        self.run(body, path)?;
                        if !is_loop {
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn command(&mut self, name: &str, arguments: &[u8], delimiter: &[u8], path: &Path) -> Result<(), Stop> {
        match name {
            "eval" | "evalp" | "send_eval" => match self.variables.substitute(arguments) {
                Some(text) => self.send(&text, delimiter),
                None => Ok(()),
            },
            "query" | "query_vertical" | "query_horizontal" | "send" => self.send(arguments, delimiter),
            "let" => {
                self.variables.assign(arguments);
                Ok(())
            }
            "inc" | "dec" => {
                self.variables.add(arguments, if name == "inc" { 1 } else { -1 });
                Ok(())
            }
            "source" => match self.variables.substitute(arguments) {
                Some(file) => self.include(&String::from_utf8_lossy(&file), path),
                None => Ok(()),
            },
            "connect" | "connection" | "disconnect" | "dirty_close" => {
                if let Some(text) = self.variables.substitute(arguments) {
                    self.connect(name, &text);
                }
                Ok(())
            }
            "sync_slave_with_master" if self.purpose == Purpose::Stream => {
                self.connection = REPLICA.to_owned();
                Ok(())
            }
            "exit" | "die" => Err(Stop::End),
            _ if self.purpose == Purpose::Stream => Ok(()),
            "shutdown_server" | "send_shutdown" | "sync_slave_with_master" | "sync_with_master" => {
                Err(Stop::Skip(format!("it has `{name}`")))
            }
            _ => Ok(()),
        }
    }

    /// Goes over to another connection, or ends one.
    fn connect(&mut self, command: &str, arguments: &[u8]) {
        let text = String::from_utf8_lossy(arguments);
        let mut names = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let Some(name) = names.find(|name| !name.is_empty()) else { return };
        if command.starts_with("connect") {
            name.clone_into(&mut self.connection);
        } else if self.purpose == Purpose::Stream {
            self.dump.statements.push(Statement {
                text: Vec::new(),
                delimiter: Vec::new(),
                connection: name.to_owned(),
            });
        }
    }

    fn is_at_replica(&self) -> bool {
        self.purpose == Purpose::Stream && (self.connection.contains(REPLICA) || REPLICAS.contains(&&*self.connection))
    }

    fn include(&mut self, file: &str, path: &Path) -> Result<(), Stop> {
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_one_of = |heads: &[&str]| heads.iter().any(|head| name.starts_with(head));
        if self.purpose == Purpose::Stream && is_one_of(&OF_REPLICATION) && !file.contains("suite/") {
            if name == RPL_CONNECTION {
                let other = self.variables.substitute(RPL_CONNECTION_NAME);
                other.into_iter().for_each(|other| self.connect("connection", &other));
            } else if SETUP.contains(&&*name) {
                self.connect("connection", SOURCE);
            }
            return Ok(());
        }
        let other_setup = if self.purpose == Purpose::Dump { &OTHER_SETUP[..] } else { &NO_STREAM[..] };
        if is_one_of(other_setup) {
            return Err(Stop::Skip(format!("it needs {name}")));
        }
        if WITHOUT_STATEMENTS.iter().any(|head| name.starts_with(head)) || self.depth == DEPTH_LIMIT {
            return Ok(());
        }
        let Some(found) = self.find(file, path) else { return Ok(()) };
        self.depth += 1;
        let result = self.run_file(&found);
        self.depth -= 1;
        result
    }

    /// An included file: below the folder of all suites, or beside the file that includes it, or above that.
    fn find(&self, file: &str, path: &Path) -> Option<PathBuf> {
        let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(self.suites));
        let candidates = std::iter::once(self.suites).chain(folders).map(|folder| folder.join(file));
        candidates.into_iter().find(|candidate| candidate.is_file())
    }

    fn send(&mut self, text: &[u8], delimiter: &[u8]) -> Result<(), Stop> {
        let text = text.trim_ascii().strip_suffix(delimiter).unwrap_or(text).trim_ascii().to_vec();
        let mut delimiter = delimiter.to_vec();
        if holds_unquoted(&text, &delimiter) {
            let other = OTHER_DELIMITERS.iter().find(|other| memmem(&text, other.as_bytes()).is_none());
            delimiter = other.map_or(delimiter, |other| other.as_bytes().to_vec());
        }
        let statement = Statement { text, delimiter, connection: self.connection.clone() };
        let head = statement.head();
        if head == "SHUTDOWN" && self.purpose == Purpose::Dump {
            return Err(Stop::Skip("it shuts the server down".to_owned()));
        }
        if self.is_at_replica() {
            return Ok(());
        }
        if statement.text.is_empty() || DROPPED_HEADS.contains(&head.as_str()) || names_mtr(&statement.text) {
            return Ok(());
        }
        self.bytes += statement.text.len();
        if self.dump.statements.len() >= STATEMENTS_LIMIT || self.bytes > BYTES_LIMIT {
            return Err(Stop::End);
        }
        self.dump.statements.push(statement);
        Ok(())
    }
}

/// Whether it speaks to the schema of the test program, as `CALL mtr.add_suppression(…)` does.
fn names_mtr(text: &[u8]) -> bool {
    let head = &text[..text.len().min(40)];
    head.to_ascii_lowercase().windows(4).any(|window| window == b"mtr.")
}

/// Whether the text has these bytes outside of quotes.
fn holds_unquoted(text: &[u8], wanted: &[u8]) -> bool {
    let (mut quote, mut is_escaped) = (None, false);
    for (at, byte) in text.iter().copied().enumerate() {
        match quote {
            None if text[at..].starts_with(wanted) => return true,
            None if matches!(byte, b'\'' | b'"' | b'`') && !is_escaped => quote = Some(byte),
            Some(open) if byte == open && !is_escaped => quote = None,
            _ => {}
        }
        is_escaped = byte == b'\\' && !is_escaped && quote != Some(b'`');
    }
    false
}

fn memmem(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
