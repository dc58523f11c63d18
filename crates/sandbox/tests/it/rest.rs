//! Idle nodes use hardly any CPU time.

use std::fs;
use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node};

use crate::provider;

const LOOK: Duration = Duration::from_secs(3);
const LOOKS: u32 = 20;

/// CPU time that the server has used, in hundredths of a second.
fn used(node: Node<'_>) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", node.pid().unwrap())).unwrap();
    // After the name, which may contain spaces: the 12th and 13th fields.
    let fields: Vec<&str> = stat[stat.rfind(')').unwrap()..].split_whitespace().collect();
    fields[12].parse::<u64>().unwrap() + fields[13].parse::<u64>().unwrap()
}

#[test]
fn an_idle_node_uses_hardly_any_cpu() {
    provider::build();
    for nodes in [1, 2] {
        let cluster = Builder::cluster(nodes).start_temporary().unwrap();
        // Their start goes on for a while, and longer beside other work.
        let comes_to_rest = (0..LOOKS).any(|_| {
            let before: Vec<u64> = cluster.nodes().map(used).collect();
            thread::sleep(LOOK);
            cluster.nodes().zip(before).all(|(node, before)| used(node) - before < 60)
        });
        assert!(comes_to_rest, "{nodes} nodes at rest use more than a fifth of a processor");
    }
}
