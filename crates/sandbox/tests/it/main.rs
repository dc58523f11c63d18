//! Sandboxes of real servers, from start to end.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod bad_input;
mod behind;
mod catching_up;
mod cluster;
mod cluster_fixture;
mod continuing_alone;
mod disk;
mod disk_stalls;
mod donors;
mod fire;
mod forced_bootstrap;
mod galera;
mod grastate;
mod inconsistent;
mod kills;
mod known_lines;
mod lost_tail;
mod manual_server;
mod mysql;
mod network;
mod node_faults;
mod parent;
mod partitions;
mod provider;
mod read_locks;
mod releases;
mod rest;
mod retention;
mod rolling_upgrade;
mod secure_links;
mod semisync;
mod standalone;
mod status_variables;
mod stops;
mod streaming;
mod streaming_order;
mod transfers;
mod unidentified_peers;
mod votes;
mod waiting_proposals;
mod weights;
mod witness;

use std::path::Path;

use hortator_sandbox::Node;

/// The values of a statement's rows as text; NULL as `NULL`.
fn ask(node: Node<'_>, sql: &str) -> Vec<Vec<String>> {
    let text = |value: Option<Vec<u8>>| value.map_or("NULL".to_owned(), |v| String::from_utf8_lossy(&v).into_owned());
    let rows = node.connect().unwrap().fetch(sql.as_bytes()).unwrap();
    rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect()
}

/// Runs statements without result rows.
fn run(node: Node<'_>, statements: &[&str]) {
    let mut connection = node.connect().unwrap();
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap();
    }
}

/// Sets options of a node's provider, as `name=value; name=value`.
fn set_options(node: Node<'_>, options: &str) {
    hortator_sandbox::set_provider_options(&mut node.connect().unwrap(), options).unwrap();
}

/// Sends a signal, by its name with a leading dash.
fn signal(pid: u32, name: &str) {
    assert!(try_signal(pid, name), "{pid} is gone");
}

/// As `signal`; false if the process has ended.
fn try_signal(pid: u32, name: &str) -> bool {
    std::process::Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success()
}

/// Whether the process exists; a zombie does not count.
fn is_alive(pid: u32) -> bool {
    std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|command_line| !command_line.is_empty())
}

/// The ids of the servers whose data folder is in `dir`.
fn servers_on(dir: &Path) -> Vec<u32> {
    let wanted = format!("--datadir={}/", dir.display());
    let is_one = |pid: &u32| {
        let command_line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command_line.split(|byte| *byte == 0).any(|argument| argument.starts_with(wanted.as_bytes()))
    };
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok()).filter(is_one).collect()
}
