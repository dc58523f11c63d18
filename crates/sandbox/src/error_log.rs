//! A server's error log: what a user needs to see of it when something failed.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How many lines an error shows.
const TAIL_LINES: usize = 30;
/// More than this is never read for them.
const TAIL_LIMIT_BYTES: u64 = 64 * 1024;
/// How a server and its provider say that somebody else listens on their port.
const PORT_IN_USE: &str = "Address already in use";

/// How Hortator's provider says that no waiting makes the node ready.
const GIVEN_UP: &str = "The node leaves the cluster";

/// The log's length in bytes now; 0 when there is none.
pub(crate) fn length(log: &Path) -> u64 {
    log.metadata().map_or(0, |metadata| metadata.len())
}

/// The last lines of the log, or a remark that there are none.
pub(crate) fn tail(log: &Path) -> String {
    let text = read_since(log, 0);
    let lines: Vec<&str> = text.lines().collect();
    match lines.len() {
        0 => "(empty)".to_owned(),
        count => lines[count.saturating_sub(TAIL_LINES)..].join("\n"),
    }
}

/// Whether what was written after the first `start` bytes says that a port was taken.
pub(crate) fn port_in_use_since(log: &Path, start: u64) -> bool {
    read_since(log, start).contains(PORT_IN_USE)
}

/// Whether what was written after the first `start` bytes says that the node will not take its place.
pub(crate) fn given_up_since(log: &Path, start: u64) -> bool {
    read_since(log, start).contains(GIVEN_UP)
}

/// What stands after the first `start` bytes, but at most the last [`TAIL_LIMIT_BYTES`]. A log that cannot be read counts
/// as empty: it only illustrates another error.
fn read_since(log: &Path, start: u64) -> String {
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(log) {
        let start = start.max(length(log).saturating_sub(TAIL_LIMIT_BYTES));
        if file.seek(SeekFrom::Start(start)).is_ok() {
            let _partial = file.take(TAIL_LIMIT_BYTES).read_to_end(&mut bytes);
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_bounded_and_a_missing_log_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("error.log");
        assert_eq!(tail(&log), "(empty)");
        let lines: Vec<String> = (1..=100).map(|n| format!("line {n}")).collect();
        std::fs::write(&log, lines.join("\n")).unwrap();
        let shown = tail(&log);
        assert!(shown.starts_with("line 71\n") && shown.ends_with("line 100"));
    }

    #[test]
    fn only_what_is_new_counts_as_a_taken_port() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("error.log");
        std::fs::write(&log, "bind: Address already in use\n").unwrap();
        assert!(port_in_use_since(&log, 0));
        assert!(!port_in_use_since(&log, length(&log)));
    }
}
