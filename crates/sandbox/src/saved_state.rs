//! What a stopped Galera node knows of its place in the cluster's history, and which node is the most advanced.
//!
//! The provider keeps it in `grastate.dat`. After a crash the sequence number there is -1 and the storage engine has to be
//! asked, by a run of the server with `--wsrep-recover`. Source: Galera documentation, "Restarting the Cluster".

use std::fs::{self, File};
use std::path::Path;

use crate::Error;
use crate::account::Account;
use crate::error::At;
use crate::node::{LOOK_INTERVAL, Node, START_LIMIT};
use crate::process::Process;
use crate::sandbox::Sandbox;

const STATE_FILE: &str = "grastate.dat";
/// Begins the line in which `--wsrep-recover` gives its result.
const RECOVERED: &str = "WSREP: Recovered position: ";
/// The history's name in a node that has no whole copy of the data: one that was ended while it received it.
const NO_HISTORY: &str = "00000000-0000-0000-0000-000000000000";

/// A place in a history.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    history: String,
    seqno: i64,
}

/// The index of the node that holds the latest state; none of them runs.
pub(crate) fn most_advanced(sandbox: &Sandbox) -> Result<usize, Error> {
    let mut best: Option<(usize, Position)> = None;
    for node in sandbox.nodes() {
        let Some(found) = position(sandbox, node)? else { continue };
        match &best {
            Some((index, known)) if known.history != found.history => {
                return Err(Error::Invalid(format!(
                    "{} and {} do not belong to the same cluster any more ({} and {}): start the one to keep first, \
                     after removing {STATE_FILE} from the other's data folder",
                    sandbox.node(*index).name(),
                    node.name(),
                    known.history,
                    found.history
                )));
            }
            Some((_, known)) if known.seqno >= found.seqno => {}
            _ => best = Some((node.index(), found)),
        }
    }
    // A cluster that was ended before it ever had a state begins with its first node.
    Ok(best.map_or(0, |(index, _)| index))
}

/// Lets the node begin the cluster although it does not know that it was the last to leave.
pub(crate) fn allow_bootstrap(data_folder: &Path, account: Account) -> Result<(), Error> {
    let path = data_folder.join(STATE_FILE);
    let Ok(text) = fs::read_to_string(&path) else { return Ok(()) };
    let new = data_folder.join("grastate.dat.new");
    fs::write(&new, text.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1")).at("write", &new)?;
    account.own(&new)?;
    fs::rename(&new, &path).at("write", &path)
}

fn position(sandbox: &Sandbox, node: Node<'_>) -> Result<Option<Position>, Error> {
    let saved = fs::read_to_string(node.data_dir().join(STATE_FILE)).ok().and_then(|text| saved_in(&text));
    match saved {
        Some(saved) if saved.history == NO_HISTORY => Ok(None),
        Some(saved) if saved.seqno < 0 => recover(sandbox, node),
        saved => Ok(saved),
    }
}

fn recover(sandbox: &Sandbox, node: Node<'_>) -> Result<Option<Position>, Error> {
    let log = sandbox.folder().join(format!("{}.recover.log", node.name()));
    let output = File::create(&log).at("create", &log)?;
    let mut child = node
        .server_command(output)?
        .args(node.arguments(false)?)
        // On standard error, which is the log opened above.
        .args(["--skip-log-error", "--wsrep-recover"])
        .spawn()
        .at("run", &sandbox.programs()?.server)?;
    let mut looks = START_LIMIT.as_millis() / LOOK_INTERVAL.as_millis();
    while let Some(process) = Process::find(child.id(), &node.data_dir()) {
        let interrupted = sandbox.interrupt().check();
        if interrupted.is_err() || looks == 0 {
            process.kill();
            let _reaped = child.wait();
            interrupted?;
            let what = format!("did not find its position within {} s", START_LIMIT.as_secs());
            return Err(node.failed_by(what, &log));
        }
        process.wait_gone(LOOK_INTERVAL);
        looks -= 1;
    }
    let _reaped = child.wait();
    let text = fs::read_to_string(&log).at("read", &log)?;
    match recovered_in(&text) {
        Some(position) => {
            fs::remove_file(&log).at("remove", &log)?;
            Ok(Some(position).filter(|position| position.history != NO_HISTORY))
        }
        None => Err(node.failed_by("could not find its position in the cluster's history".to_owned(), &log)),
    }
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
    fn a_node_is_let_begin_the_cluster() {
        let folder = tempfile::tempdir().unwrap();
        allow_bootstrap(folder.path(), Account::Caller).unwrap();
        let path = folder.path().join(STATE_FILE);
        fs::write(&path, "seqno: 5\nsafe_to_bootstrap: 0\n").unwrap();
        allow_bootstrap(folder.path(), Account::Caller).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "seqno: 5\nsafe_to_bootstrap: 1\n");
    }
}
