//! A network of its own for each node, which a test can cut between any two nodes, in one direction or both.
//!
//! Each node is in a network namespace, and a bridge in another namespace connects them. A cut drops the packets of the
//! sender at the receiver (iptables), as a broken switch or a wrong firewall rule does: nobody is told. It needs root's
//! rights and the packages iproute2 and iptables.

use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// A network with a bridge; removed when this value is dropped.
pub struct Network {
    name: String,
    nodes: usize,
}

fn run(program: &str, arguments: &str) {
    let output = Command::new(program).args(arguments.split_whitespace()).output();
    let output = output.unwrap_or_else(|error| panic!("{program} (packages iproute2, iptables): {error}"));
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "a network of its own needs root's rights: {program} {arguments}: {message}");
}

impl Network {
    pub fn new(nodes: usize) -> Network {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("hortator{}x{}", std::process::id(), NUMBER.fetch_add(1, Ordering::SeqCst));
        // From here on it is removed also after a failure.
        let network = Network { name, nodes };
        let switch = network.namespace(None);
        run("ip", &format!("netns add {switch}"));
        run("ip", &format!("-n {switch} link add bridge type bridge"));
        run("ip", &format!("-n {switch} link set bridge up"));
        for node in 0..nodes {
            let own = network.namespace(Some(node));
            run("ip", &format!("netns add {own}"));
            run("ip", &format!("-n {own} link add net type veth peer name port{node} netns {switch}"));
            run("ip", &format!("-n {own} addr add {}/24 dev net", address(node)));
            run("ip", &format!("-n {own} link set lo up"));
            run("ip", &format!("-n {own} link set net up"));
            run("ip", &format!("-n {switch} link set port{node} master bridge up"));
        }
        network
    }

    fn namespace(&self, node: Option<usize>) -> String {
        node.map_or_else(|| format!("{}s", self.name), |node| format!("{}n{node}", self.name))
    }

    /// The words of a command that runs a program in a node's network.
    pub fn command(&self, node: usize) -> Vec<String> {
        ["ip", "netns", "exec", &self.namespace(Some(node))].map(str::to_owned).to_vec()
    }

    /// Packets from that node to the other are dropped.
    pub fn block(&self, from: usize, to: usize) {
        let rule = format!("-w -A INPUT -s {} -j DROP", address(from));
        run("ip", &format!("netns exec {} iptables {rule}", self.namespace(Some(to))));
    }

    /// Ends all cuts.
    pub fn heal(&self) {
        for node in 0..self.nodes {
            run("ip", &format!("netns exec {} iptables -w -F INPUT", self.namespace(Some(node))));
        }
    }
}

/// The address of a node.
pub fn address(node: usize) -> String {
    format!("10.99.0.{}", node + 1)
}

impl Drop for Network {
    fn drop(&mut self) {
        // A namespace that was not made cannot be removed.
        for name in (0..self.nodes).map(Some).chain([None]).map(|node| self.namespace(node)) {
            let _ = Command::new("ip").args(["netns", "del", &name]).output();
        }
    }
}
