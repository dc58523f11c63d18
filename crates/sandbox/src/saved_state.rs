//! The position of a stopped cluster node, and the choice of the most advanced node.
//!
//! Galera's provider keeps the position in `grastate.dat`. After a crash the seqno there is -1, and only the storage
//! engine knows the position: the server reports it when run with `--wsrep-recover`. Source: Galera documentation,
//! "Restarting the Cluster".

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::Error;
use crate::account::Account;
use crate::error::At;
use crate::node::{Node, POLL_INTERVAL, START_TIMEOUT};
use crate::options::path_option;
use crate::process::Process;
use crate::sandbox::Sandbox;
use crate::topology::Topology;

const STATE_FILE: &str = "grastate.dat";
/// The start of the line with the result of `--wsrep-recover`.
const RECOVERED: &str = "WSREP: Recovered position: ";
/// What the server says when it has rolled back, and ends.
const ROLLED_BACK: &str = "Please restart without --tc-heuristic-recover";
/// The history UUID of a node without a complete copy of the data: it ended during a state transfer.
const NO_HISTORY: &str = "00000000-0000-0000-0000-000000000000";

/// A position in a cluster's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    history: String,
    seqno: i64,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.history, self.seqno)
    }
}

/// The index of the most advanced node; `positions` are those of all nodes. A node without a position has to receive
/// everything from the others; when none has one, the first node bootstraps the cluster.
pub(crate) fn most_advanced(positions: &[Option<Position>]) -> Result<usize, Error> {
    let mut best: Option<(usize, &Position)> = None;
    for (index, position) in positions.iter().enumerate() {
        let Some(position) = position else { continue };
        match best {
            Some((other, known)) if known.history != position.history => {
                return Err(Error::Invalid(format!(
                    "node{} and node{} have different histories ({known} and {position}); \
                     remove {STATE_FILE} from the data folder of the one whose data is not wanted",
                    other + 1,
                    index + 1,
                )));
            }
            Some((_, known)) if known.seqno >= position.seqno => {}
            _ => best = Some((index, position)),
        }
    }
    Ok(best.map_or(0, |(index, _)| index))
}

/// Lets the node bootstrap the cluster although it does not know that it was the last to leave.
pub(crate) fn allow_bootstrap(data_folder: &Path, account: Account) -> Result<(), Error> {
    let path = data_folder.join(STATE_FILE);
    let Ok(text) = fs::read_to_string(&path) else { return Ok(()) };
    let new = data_folder.join("grastate.dat.new");
    fs::write(&new, text.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1")).at("write", &new)?;
    account.own(&new)?;
    fs::rename(&new, &path).at("write", &path)
}

/// The position of a node that does not run; `None` when it has no complete copy of the data.
pub(crate) fn position(sandbox: &Sandbox, node: Node<'_>) -> Result<Option<Position>, Error> {
    let saved = fs::read_to_string(node.data_dir().join(STATE_FILE)).ok().and_then(|text| saved_in(&text));
    match saved {
        Some(saved) if saved.history == NO_HISTORY => Ok(None),
        Some(saved) if saved.seqno < 0 => recovered(sandbox, node),
        saved => Ok(saved),
    }
}

/// The position of the storage engine of a node that does not run, as reported by a run of the server with
/// `--wsrep-recover`. The run does not load the provider.
pub(crate) fn recovered(sandbox: &Sandbox, node: Node<'_>) -> Result<Option<Position>, Error> {
    if matches!(sandbox.topology(), Topology::Cluster(_)) && writes_binary_log(&node.arguments()?) {
        roll_back_prepared(sandbox, node)?;
    }
    // With a binary log, the run would commit prepared transactions that are in the binary log, even those after one that
    // was not prepared yet; its seqno would then wrongly count as applied.
    let (text, log) = run_once(sandbox, node, &["--skip-log-bin", "--wsrep-recover"])?;
    match recovered_in(&text) {
        Some(position) => {
            fs::remove_file(&log).at("remove", &log)?;
            Ok(Some(position).filter(|position| position.history != NO_HISTORY))
        }
        None => Err(node.failed_by("did not report its position in the cluster's history".to_owned(), &log)),
    }
}

/// Names the log of DDL statements of a run that must leave the server's alone.
const NO_DDL_LOG: &str = "--log-ddl-recovery=rollback-only.ddl";
/// The name of the binary log of [`roll_back_prepared`], which has no transactions.
const EMPTY_BINARY_LOG: &str = "rollback-only";

/// Rolls back what is prepared in the storage engine of a node with Hortator's provider. Without a binary log,
/// `--wsrep-recover` would commit it, also what is not in the binary log, and nobody would write it there. The provider has
/// it all in its log, and knows what the binary log holds.
fn roll_back_prepared(sandbox: &Sandbox, node: Node<'_>) -> Result<(), Error> {
    let base = node.data_dir().join(EMPTY_BINARY_LOG);
    let options = [
        path_option("log-bin", &base)?,
        path_option("log-bin-index", &base.with_extension("index"))?,
        "--tc-heuristic-recover=ROLLBACK".to_owned(),
        // Not the provider.
        "--wsrep-recover".to_owned(),
    ];
    let (text, log) = run_once(sandbox, node, &options.each_ref().map(String::as_str))?;
    // The run always ends with an error, which says how to go on.
    if !text.contains(ROLLED_BACK) {
        return Err(node.failed_by("did not roll back its prepared transactions".to_owned(), &log));
    }
    fs::remove_file(&log).at("remove", &log)
}

/// Whether a server with these arguments writes a binary log.
fn writes_binary_log(arguments: &[String]) -> bool {
    let mut names = arguments.iter().map(|argument| argument.split('=').next().unwrap_or_default().replace('_', "-"));
    names.rfind(|name| ["--log-bin", "--skip-log-bin"].contains(&name.as_str())).is_some_and(|last| last == "--log-bin")
}

/// Runs the node's server with these options too, until it ends. Returns its error log, and the file with it.
fn run_once(sandbox: &Sandbox, node: Node<'_>, options: &[&str]) -> Result<(String, PathBuf), Error> {
    let log = sandbox.folder().join(format!("{}.recover.log", node.name()));
    let output = File::create(&log).at("create", &log)?;
    let mut child = node
        .server_command(output)?
        .args(node.arguments()?)
        // On standard error, which is the log opened above. The log of DDL statements in progress is for the start of the
        // server, which knows its binary log: these runs would delete it.
        .args(["--skip-log-error", NO_DDL_LOG])
        .args(options)
        .spawn()
        .at("run", &sandbox.programs()?.server)?;
    let process = Process::started(&child).at("watch", &node.data_dir())?;
    let deadline = Instant::now() + START_TIMEOUT;
    while !process.wait_gone(POLL_INTERVAL) {
        let interrupted = sandbox.interrupt().check();
        if interrupted.is_err() || Instant::now() > deadline {
            process.kill();
            let _reaped = child.wait();
            interrupted?;
            let what = format!("did not report its position within {} s", START_TIMEOUT.as_secs());
            return Err(node.failed_by(what, &log));
        }
    }
    let _reaped = child.wait();
    for entry in fs::read_dir(node.data_dir()).at("read", &node.data_dir())? {
        let path = entry.at("read", &node.data_dir())?.path();
        if path.file_stem().is_some_and(|stem| stem == EMPTY_BINARY_LOG) {
            fs::remove_file(&path).at("remove", &path)?;
        }
    }
    let text = fs::read_to_string(&log).at("read", &log)?;
    Ok((text, log))
}

fn saved_in(text: &str) -> Option<Position> {
    let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some(Position { history: value("uuid:")?.to_owned(), seqno: value("seqno:")?.parse().ok()? })
}

fn recovered_in(log: &str) -> Option<Position> {
    let (_, after) = log.rsplit_once(RECOVERED)?;
    let (history, seqno) = after.lines().next()?.trim().rsplit_once(':')?;
    // A GTID of the domain may follow, after a comma.
    let seqno = seqno.split(',').next()?.parse().ok()?;
    Some(Position { history: history.to_owned(), seqno })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HISTORY: &str = "277272d3-e559-11f1-bd23-7b78ace3eb9f";

    #[test]
    fn the_saved_state_names_history_and_seqno() {
        let text =
            format!("# GALERA saved state\nversion: 2.1\nuuid:    {HISTORY}\nseqno:   5\nsafe_to_bootstrap: 1\n");
        assert_eq!(saved_in(&text), Some(Position { history: HISTORY.to_owned(), seqno: 5 }));
        assert_eq!(saved_in("seqno: 5\n"), None);
    }

    #[test]
    fn the_last_recovered_position_counts() {
        let log = format!("[Note] {RECOVERED}{HISTORY}:3\nmore\n[Note] {RECOVERED}{HISTORY}:42\n[Note] end\n");
        assert_eq!(recovered_in(&log), Some(Position { history: HISTORY.to_owned(), seqno: 42 }));
        assert_eq!(recovered_in(&format!("{RECOVERED}{HISTORY}:7,0-1-9\n")).unwrap().seqno, 7);
        assert_eq!(recovered_in("nothing"), None);
    }

    #[test]
    fn the_last_argument_about_a_binary_log_counts() {
        for (arguments, expected) in [
            (&["--port=1"][..], false),
            (&["--log-bin"], true),
            (&["--port=1", "--log_bin=b"], true),
            (&["--log-bin-index=b.index"], false),
            (&["--log_bin=b", "--skip-log-bin"], false),
            (&["--skip-log-bin", "--log-bin=b"], true),
        ] {
            let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
            assert_eq!(writes_binary_log(&arguments), expected, "{arguments:?}");
        }
    }

    #[test]
    fn the_node_with_the_highest_seqno_is_the_most_advanced() {
        let at = |history: &str, seqno| Some(Position { history: history.to_owned(), seqno });
        assert_eq!(most_advanced(&[None, None]).unwrap(), 0);
        assert_eq!(most_advanced(&[None, at("a", 0), at("a", 2), at("a", 2)]).unwrap(), 2);
        let message = most_advanced(&[at("a", 1), None, at("b", 9)]).unwrap_err().to_string();
        assert!(message.starts_with("node1 and node3 have different histories (a:1 and b:9)"), "{message}");
    }

    #[test]
    fn a_node_may_bootstrap_the_cluster() {
        let folder = tempfile::tempdir().unwrap();
        allow_bootstrap(folder.path(), Account::Caller).unwrap();
        let path = folder.path().join(STATE_FILE);
        fs::write(&path, "seqno: 5\nsafe_to_bootstrap: 0\n").unwrap();
        allow_bootstrap(folder.path(), Account::Caller).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "seqno: 5\nsafe_to_bootstrap: 1\n");
    }
}
