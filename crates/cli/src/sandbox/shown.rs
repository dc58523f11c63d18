//! The output of `hortator sandbox`: tables, and the commands to connect.

use std::fmt::Write as _;
use std::time::Duration;

use comfy_table::{Table, presets};
use hortator_sandbox::{Node, Sandbox, Witness, WsrepStatus};

/// The cell of an unknown value.
const NO_VALUE: &str = "-";

/// All sandboxes, a line for each node.
pub(super) fn list(sandboxes: &[Sandbox]) -> String {
    let row = |sandbox: &Sandbox, node: Node<'_>| {
        [
            sandbox.name(),
            sandbox.topology().to_string(),
            node.name(),
            node.state().to_string(),
            node.pid().map_or(NO_VALUE.to_owned(), |pid| pid.to_string()),
            node.port().to_string(),
            node.socket().display().to_string(),
        ]
    };
    let witness = |sandbox: &Sandbox, witness: Witness<'_>| {
        let pid = witness.pid().map_or(NO_VALUE.to_owned(), |pid| pid.to_string());
        let (topology, state) = (sandbox.topology().to_string(), witness.state().to_string());
        [sandbox.name(), topology, witness.name(), state, pid, witness.port().to_string(), NO_VALUE.to_owned()]
    };
    table(sandboxes, ["SANDBOX", "TOPOLOGY", "NODE", "STATE", "PID", "PORT", "SOCKET"], row, witness)
}

/// The state of the nodes of sandboxes, with the wsrep status of cluster nodes.
pub(super) fn status(sandboxes: &[Sandbox]) -> String {
    let row = |sandbox: &Sandbox, node: Node<'_>| {
        let status = node.wsrep_status();
        let state = if node.is_isolated() { "isolated".to_owned() } else { node.state().to_string() };
        let value = |field: fn(&WsrepStatus) -> &Option<String>| {
            status.as_ref().and_then(|status| field(status).clone()).unwrap_or(NO_VALUE.to_owned())
        };
        let [cluster, size] = [value(|it| &it.cluster), value(|it| &it.size)];
        let [local_state, committed] = [value(|it| &it.local_state), value(|it| &it.last_committed)];
        [sandbox.name(), node.name(), state, cluster, size, local_state, committed]
    };
    let witness = |sandbox: &Sandbox, witness: Witness<'_>| {
        let state = if witness.is_isolated() { "isolated".to_owned() } else { witness.state().to_string() };
        let vote = if witness.has_vote() { "Voter" } else { NO_VALUE };
        let [name, vote, none] = [witness.name(), vote.to_owned(), NO_VALUE.to_owned()];
        [sandbox.name(), name, state, none.clone(), none.clone(), vote, none]
    };
    table(sandboxes, ["SANDBOX", "NODE", "STATE", "CLUSTER", "SIZE", "LOCAL STATE", "LAST COMMITTED"], row, witness)
}

/// A line for each node, and one for a witness; nothing without sandboxes.
fn table<const COLUMNS: usize>(
    sandboxes: &[Sandbox],
    header: [&str; COLUMNS],
    row: impl Fn(&Sandbox, Node<'_>) -> [String; COLUMNS],
    witness_row: impl Fn(&Sandbox, Witness<'_>) -> [String; COLUMNS],
) -> String {
    if sandboxes.is_empty() {
        return String::new();
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header);
    for sandbox in sandboxes {
        for node in sandbox.nodes() {
            table.add_row(row(sandbox, node));
        }
        if let Some(witness) = sandbox.witness() {
            table.add_row(witness_row(sandbox, witness));
        }
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// The output of `up`.
pub(super) fn summary(sandbox: &Sandbox, took: Duration) -> String {
    let (name, topology, version) = (sandbox.name(), sandbox.topology(), sandbox.server_version());
    let mut text = format!("sandbox {name}: {topology}, {version}, ready after {:.1} s\n", took.as_secs_f64());
    for node in sandbox.nodes() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}: {}", node.name(), client_command(node));
    }
    if let Some(witness) = sandbox.witness() {
        let _ = writeln!(text, "{}: a voter without a server, port {}", witness.name(), witness.port());
    }
    if let Some(file) = sandbox.replicate_file() {
        let file = quoted(&file.display().to_string());
        let _ = writeln!(text, "the last node is the target; hortator replicate run {file}");
    }
    text
}

/// The client command and the DSN of each node.
pub(super) fn environment(sandbox: &Sandbox) -> String {
    let mut text = String::new();
    for node in sandbox.nodes() {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "# {}\n{}\n{}", node.name(), client_command(node), node.dsn());
    }
    text
}

fn client_command(node: Node<'_>) -> String {
    node.client_command().iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word quoted for a shell.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@,+".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}
