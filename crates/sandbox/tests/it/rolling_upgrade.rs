//! Three nodes get a newer release of the provider one by one, while clients write to all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use hortator_sandbox::{Builder, Node, Sandbox};

use crate::cluster_fixture::{Writers, assert_logged, remove_provider_files, since, wait_for};
use crate::weights::{cluster_weight, set_weight};
use crate::{ask, releases};

/// The provider's file that nodes load when they start.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("provider.so")
    }

    /// Replaces the file, as a package does: running servers keep the old one.
    fn install(&self, library: &Path) {
        let draft = self.folder.path().join("new.so");
        fs::copy(library, &draft).unwrap();
        fs::rename(draft, self.path()).unwrap();
    }
}

fn status(node: Node<'_>, name: &str) -> String {
    ask(node, &format!("SHOW STATUS LIKE 'wsrep_raft_{name}'"))[0][1].clone()
}

/// What the node says of the version in force, and of its own range.
fn versions(node: Node<'_>) -> (String, String) {
    (status(node, "protocol_version"), status(node, "protocol_versions"))
}

fn are(node: Node<'_>, in_force: &str, range: &str) {
    assert_eq!(versions(node), (in_force.to_owned(), range.to_owned()), "{}", node.name());
}

fn hard_state(node: Node<'_>) -> String {
    fs::read_to_string(node.data_dir().join("hortator.raft.log")).unwrap()
}

/// The previous release starts on that node, and does not become ready. The node is down afterwards.
fn expect_no_start(sandbox: &Sandbox, index: usize, is_over: impl Fn() -> bool) {
    let node = sandbox.node(index);
    thread::scope(|scope| {
        let start = scope.spawn(move || node.start());
        wait_for("the refusal", || is_over() || start.is_finished());
        node.kill().unwrap();
        assert!(start.join().unwrap().is_err(), "it must not become ready");
    });
}

#[test]
fn rolling_upgrade() {
    let (newest, previous) = (releases::newest(), releases::previous());
    let installed = Installed::new();
    installed.install(previous);
    let cluster = Builder::cluster(3).provider(installed.path()).start_temporary().unwrap();
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    let writers = Writers::on(&cluster, &[0, 1, 2]);
    cluster.nodes().for_each(|node| are(node, "7", "7-7"));

    // The first node to be upgraded, back to the previous release, and upgraded again.
    for (release, range, known) in
        [(&*newest, "7-9", "node3 7-9"), (previous, "7-7", "node3 7-7"), (&*newest, "7-9", "node3 7-9")]
    {
        third.stop().unwrap();
        installed.install(release);
        third.start().unwrap();
        are(third, "7", range);
        wait_for("the range of the node", || status(first, "peer_protocol_versions").contains(known));
        writers.wait_for_more();
        assert!(hard_state(third).contains("version: 4\n"), "the previous release can read it");
    }
    // The second one, by a crash.
    second.kill().unwrap();
    second.start().unwrap();
    writers.wait_for_more();
    are(second, "7", "7-9");
    // A member of the new release is killed meanwhile.
    third.kill().unwrap();
    third.start().unwrap();
    writers.wait_for_more();
    are(third, "7", "7-9");
    are(first, "7", "7-7");
    // The previous release could not count them.
    set_weight(second, 2);
    assert_logged(&since(second, 0), &["pc.weight=2 is not in force yet, the node has 1"]);
    assert_eq!(cluster_weight(second), "3");

    // With the last one the new version comes into force, and a node is killed right then.
    first.stop().unwrap();
    thread::scope(|scope| {
        let start = scope.spawn(move || first.start());
        wait_for("the new version", || since(third, 0).contains("protocol version 9 is in force"));
        third.kill().unwrap();
        third.start().unwrap();
        start.join().unwrap().unwrap();
    });
    for node in cluster.nodes() {
        wait_for("the new version", || versions(node) == ("9".to_owned(), "7-9".to_owned()));
        assert_logged(&since(node, 0), &["protocol version 9 is in force"]);
        assert!(hard_state(node).contains("version: 5\nprotocol_version: 9\n"), "{}", hard_state(node));
    }
    wait_for("the votes", || cluster_weight(second) == "4");
    writers.wait_for_more();

    // There is no way back: the node's own files refuse the previous release …
    third.stop().unwrap();
    installed.install(previous);
    let from = since(third, 0).len();
    expect_no_start(&cluster, 2, || false);
    assert_logged(&since(third, from), &["this release reads up to", "use the newer release"]);
    // … and without them, the other nodes do, and both sides say why.
    remove_provider_files(third);
    let (from, from_first) = (since(third, 0).len(), since(first, 0).len());
    let why = "protocol version 9 is in force in the cluster, and node3 at";
    expect_no_start(&cluster, 2, || since(third, from).contains(why) && since(first, from_first).contains(why));
    for log in [since(third, from), since(first, from_first)] {
        assert_logged(&log, &[why, "speaks versions 7-7", "install a release on it that speaks version 9"]);
    }
    installed.install(&newest);
    third.start().unwrap();
    writers.wait_for_more();
    writers.stop(&cluster);
    cluster.nodes().for_each(|node| are(node, "9", "7-9"));
}
