//! A server's error log: the lines that explain a failure.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The number of lines in an error.
const TAIL_LINES: usize = 30;
/// The maximum that is read for them.
const TAIL_LIMIT_BYTES: u64 = 64 * 1024;
/// The words of a server or provider when another process listens on its port.
const PORT_IN_USE: &str = "Address already in use";
/// mariadb-install-db's words below the server's errors, above a page of advice that does not depend on them.
const INSTALLER_ADVICE: &str = "Installation of system tables failed!";

/// The words of Hortator's provider when the node cannot become ready.
const NODE_LEFT: &str = "The node leaves the cluster";

/// The current length of the log in bytes; 0 when there is no log.
pub(crate) fn length(log: &Path) -> u64 {
    log.metadata().map_or(0, |metadata| metadata.len())
}

/// The last lines of the log, or a remark that there are none.
pub(crate) fn tail(log: &Path) -> String {
    let text = read_since(log, 0);
    let lines: Vec<&str> = text.lines().take_while(|line| !line.starts_with(INSTALLER_ADVICE)).collect();
    match lines.len() {
        0 => "(empty)".to_owned(),
        count => lines[count.saturating_sub(TAIL_LINES)..].join("\n"),
    }
}

/// Whether the log after the first `start` bytes reports that a port is in use.
pub(crate) fn port_in_use_since(log: &Path, start: u64) -> bool {
    read_since(log, start).contains(PORT_IN_USE)
}

/// Whether the log after the first `start` bytes reports that the node has left the cluster.
pub(crate) fn node_left_since(log: &Path, start: u64) -> bool {
    read_since(log, start).contains(NODE_LEFT)
}

/// The log after the first `start` bytes, but at most the last [`TAIL_LIMIT_BYTES`]. An unreadable log counts as empty:
/// it only illustrates another error.
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

        std::fs::write(&log, "[ERROR] Aborting\n\nInstallation of system tables failed!  Examine the logs in\nx\n")
            .unwrap();
        assert_eq!(tail(&log), "[ERROR] Aborting\n");
    }

    #[test]
    fn only_new_log_lines_count_as_a_port_in_use() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("error.log");
        std::fs::write(&log, "bind: Address already in use\n").unwrap();
        assert!(port_in_use_since(&log, 0));
        assert!(!port_in_use_since(&log, length(&log)));
    }
}
