//! A node that applies more slowly than the others write gets its place all the same.

use std::thread;
use std::time::Duration;

use hortator_sandbox::Builder;

use crate::cluster_fixture::{Writers, assert_logged, since, size, wait_for};
use crate::disk::{Disk, Library};
use crate::{ask, provider, run};

/// With this, a node applies five write sets a second: the writers are faster on any machine.
const SYNC_DELAY: Duration = Duration::from_millis(200);
/// With this, a few hundred.
const SHORT_DELAY: Duration = Duration::from_millis(3);

#[test]
fn writers_wait_for_a_node_that_does_not_catch_up() {
    provider::build();
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(&Library::compile(folder.path()));
    let cluster = Builder::cluster(3).host(2, disk.host()).start_temporary().unwrap();
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    // Only the third one syncs its tables.
    [first, second].iter().for_each(|node| run(*node, &["SET GLOBAL innodb_flush_log_at_trx_commit = 0"]));
    third.stop().unwrap();
    let writers = Writers::on(&cluster, &[0, 1]);
    wait_for("two nodes", || size(first).as_deref() == Some("2"));
    disk.slow(SYNC_DELAY);
    thread::scope(|scope| {
        scope.spawn(|| third.start().unwrap());
        let logs = || [first, second].map(|node| since(node, 0)).concat();
        wait_for("the line of the leader", || logs().contains("does not catch up"));
        assert_logged(&logs(), &["node3 (", "does not catch up: it lacks ", "half of its speed"]);
        let paused_ns = || -> u64 {
            let of = |node| ask(node, "SHOW STATUS LIKE 'wsrep_flow_control_paused_ns'").concat().swap_remove(1);
            [first, second].iter().map(|node| of(*node).parse::<u64>().unwrap()).sum()
        };
        wait_for("a pause of the writers", || paused_ns() > 0);
        disk.slow(SHORT_DELAY);
    });
    wait_for("all three", || cluster.nodes().all(|node| size(node).as_deref() == Some("3")));
    disk.slow(Duration::ZERO);
    writers.wait_for_more();
    writers.stop(&cluster);
}
