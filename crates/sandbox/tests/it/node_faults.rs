//! One node of a cluster has a local fault while clients of the others write: it reports the fault and its cause, the
//! others continue, and when the cause is fixed it has all data.

use std::fs;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use hortator_sandbox::{Builder, Node, State, has_option_variables, set_provider_options};

use crate::cluster_fixture::{Writers, assert_logged, remove_provider_files, since, wait_for};
use crate::kills::arguments;
use crate::manual_server::{Own, is_ready};
use crate::{ask, provider, run};

/// Larger than all files of a node here, smaller than the log's next file.
const DISK_BYTES: u64 = 48 << 20;

/// Offsets of a server's wall clock from the correct time.
const JUMPS_HOURS: [i64; 6] = [3, -5, 100, -100, 26, 0];

fn files(node: Node<'_>, begin: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(node.data_dir()).unwrap().map(|entry| entry.unwrap().path());
    let is_one = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().starts_with(begin);
    let mut files: Vec<_> = entries.filter(is_one).collect();
    files.sort();
    files
}

/// Flips bits of the byte at that offset.
fn damage(file: &Path, at: u64) {
    let open = fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    open.read_exact_at(&mut byte, at).unwrap();
    open.write_all_at(&[byte[0] ^ 0x55], at).unwrap();
}

/// The node does not start, and reports why.
fn assert_refused(node: Node<'_>, words: &[&str]) {
    let from = since(node, 0).len();
    node.start().expect_err("it must not start");
    assert_ne!(node.state(), State::Running);
    assert_logged(&since(node, from), words);
}

#[test]
fn a_node_with_a_damaged_log_does_not_start_and_can_rejoin() {
    provider::build();
    let cluster = Builder::cluster(3).set("wsrep_provider_options", "log.segment=1M").start_temporary().unwrap();
    let node = cluster.node(2);
    let writers = Writers::on(&cluster, &[0, 1]);
    writers.wait_for_more();
    let joins_anew = || {
        remove_provider_files(node);
        node.start().unwrap();
        writers.wait_for_more();
    };

    // In the middle of the log: the entries after it were confirmed.
    node.kill().unwrap();
    writers.wait_for_more();
    let log = files(node, "hortator-").remove(0);
    damage(&log, 4096 + 2000);
    assert_refused(node, &["is damaged at byte", "Confirmed entries are missing", "move the files hortator*"]);
    writers.wait_for_more();
    joins_anew();

    // The file with the node's identity and its Raft vote.
    node.kill().unwrap();
    let group = files(node, "hortator.raft.log").remove(0);
    damage(&group, fs::metadata(&group).unwrap().len() / 2);
    assert_refused(node, &["hortator.raft.log", "together with the files hortator-*, and let the node join again"]);
    joins_anew();

    // Invalid options, at its start and at runtime.
    let arguments = arguments(node);
    node.stop().unwrap();
    let wrong = [
        ("gcs.fc_limit=abc", "gcs.fc_limit is a"),
        ("gcs.fc_limmit=9", "`gcs.fc_limmit` is not an option of this provider"),
    ];
    for (options, word) in wrong {
        let from = since(node, 0).len();
        assert!(!Own::spawn(&with_options(&arguments, options), &[]).end(node).success(), "{options}");
        assert_logged(&since(node, from), &[word]);
    }
    node.start().unwrap();
    for (options, word) in wrong {
        let from = since(node, 0).len();
        let mut connection = node.connect().unwrap();
        assert!(set_provider_options(&mut connection, options).is_err(), "{options}");
        // With a variable for each option, the server itself knows the names and kinds.
        if !has_option_variables(&mut connection).unwrap() {
            assert_logged(&since(node, from), &[word]);
        }
    }
    assert!(ask(node, "SELECT @@wsrep_provider_options")[0][0].contains("gcs.fc_limit = 256"));
    writers.wait_for_more();
    writers.stop(&cluster);
}

/// A server's command line with more wsrep_provider_options.
fn with_options(arguments: &[String], options: &str) -> Vec<String> {
    let add = |argument: &String| match argument.starts_with("--wsrep-provider-options=") {
        true => format!("{argument};{options}"),
        false => argument.clone(),
    };
    arguments.iter().map(add).collect()
}

#[test]
fn a_full_disk_stops_only_its_node() {
    provider::build();
    let builder =
        Builder::cluster(3).set("wsrep_provider_options", "log.segment=1M").set("innodb_log_file_size", "16M");
    let cluster = builder.start_temporary().unwrap();
    let node = cluster.node(2);
    let writers = Writers::on(&cluster, &[0, 1]);
    run(cluster.node(0), &["CREATE TABLE d.large (id INT PRIMARY KEY, filling LONGTEXT)"]);
    let arguments = with_options(&arguments(node), "log.segment=64M");
    node.stop().unwrap();
    let from = since(node, 0).len();
    let own = Own::start(node, &arguments, &Own::no_file_beyond(DISK_BYTES));
    wait_for("the node", || is_ready(node));
    // Several write sets wait: first a large one without room, after it small ones with room.
    for id in 0.. {
        own.still(|| {
            run(cluster.node(0), &[&format!("REPLACE INTO d.large VALUES ({}, REPEAT('x', 400000))", id % 10)]);
            writers.wait_for_more();
        });
        if since(node, from).contains("The node leaves the cluster") {
            break;
        }
        assert!(id < 1000, "the log finds room for everything");
    }
    wait_for("its leave", || since(node, from).contains("The node leaves the cluster"));
    assert_logged(&since(node, from), &["no room in", "free some space"]);
    // Until the server knows that it has no cluster, the provider refuses with other errors.
    wait_for("its refusals", || {
        let refused = node.connect().unwrap().execute(b"INSERT INTO d.large VALUES (-1, '')").unwrap_err();
        refused.is_unready()
    });
    wait_for("the others", || cluster.node(0).wsrep_status().and_then(|status| status.size).as_deref() == Some("2"));
    writers.wait_for_more();
    // Now there is room.
    drop(own);
    let from = since(node, 0).len();
    node.start().unwrap();
    let again = since(node, from);
    assert!(!again.contains("needs an SST"), "its own log is whole, and short of what the others have:\n{again}");
    let large = |node| ask(node, "SELECT COUNT(*), SUM(id), MIN(LENGTH(filling)) FROM d.large");
    writers.stop(&cluster);
    assert_eq!(large(node), large(cluster.node(0)));
}

/// A server whose wall clock the test sets, in seconds from the correct time. Its timeouts use the correct clock, as on
/// a machine whose clock is set: only the time that it reads is different.
struct Clock {
    file: fs::File,
    around: Vec<String>,
}

impl Clock {
    fn of(node: Node<'_>, library: &Path) -> Self {
        let path = node.folder().join("clock");
        fs::write(&path, 0i64.to_ne_bytes()).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let around = vec![format!("LD_PRELOAD={}", library.display()), format!("HORTATOR_CLOCK={}", path.display())];
        Self { file: fs::OpenOptions::new().write(true).open(path).unwrap(), around }
    }

    fn set(&self, hours: i64) {
        self.file.write_all_at(&(hours * 3600).to_ne_bytes(), 0).unwrap();
    }
}

#[test]
fn clock_jumps_have_no_effect() {
    provider::build();
    // No election on a busy machine.
    let builder = Builder::cluster(3).set("wsrep_provider_options", "raft.election_timeout=PT5S");
    let cluster = builder.start_temporary().unwrap();
    let library = cluster.folder().join("clock.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/clock.c");
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
    assert!(compile.status().unwrap().success(), "clock.c cannot be compiled");
    let writers = Writers::on(&cluster, &[0, 1, 2]);
    let start_with = |node: Node<'_>| {
        let clock = Clock::of(node, &library);
        let arguments = arguments(node);
        node.stop().unwrap();
        let own = Own::start(node, &arguments, &clock.around);
        wait_for("the node", || is_ready(node));
        (clock, own)
    };
    let with_clocks = [0, 1].map(|index| start_with(cluster.node(index)));
    // The leader is then one of those two.
    cluster.node(2).stop().unwrap();
    cluster.node(2).start().unwrap();
    let hour = |node| -> i64 { ask(node, "SELECT UNIX_TIMESTAMP() DIV 3600")[0][0].parse().unwrap() };
    let is_whole =
        || cluster.nodes().all(|node| node.wsrep_status().is_some_and(|status| status.size.as_deref() == Some("3")));
    wait_for("all three", is_whole);
    // A link between two followers may come late.
    let lengths = || cluster.nodes().map(|node| since(node, 0).len()).collect::<Vec<usize>>();
    let mut from = lengths();
    wait_for("the nodes to have said all", || {
        thread::sleep(Duration::from_secs(2));
        let before = std::mem::replace(&mut from, lengths());
        from == before
    });
    for hours in JUMPS_HOURS {
        for ((clock, _), (node, hours)) in with_clocks.iter().zip([(cluster.node(0), hours), (cluster.node(1), -hours)])
        {
            clock.set(hours);
            let seen = hour(node) - hour(cluster.node(2));
            assert!((seen - hours).abs() <= 1, "{}: {seen} hours instead of {hours}", node.name());
        }
        writers.wait_for_more();
    }
    assert!(is_whole());
    for (node, from) in cluster.nodes().zip(from) {
        let log = since(node, from);
        assert!(!log.contains("Hortator"), "{} says:\n{log}", node.name());
    }
    writers.stop(&cluster);
}
