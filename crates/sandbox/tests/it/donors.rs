//! State transfers whose donor fails: the joiner's server ends and reports why; after a restart it receives everything.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Builder, Node, Sandbox, State};

use crate::cluster_fixture::{Writers, assert_logged, remove_provider_files, since, size, wait_for};
use crate::{is_alive, provider, run, set_options, signal, try_signal};

/// A stopped (SIGSTOP) process of the state transfer script, the donor's or the joiner's.
struct Script<'a> {
    node: Node<'a>,
    pid: u32,
}

impl<'a> Script<'a> {
    /// Stops the next script that starts.
    fn stopped(sandbox: &'a Sandbox, earlier: Option<u32>) -> Self {
        Self::stopped_in("donor", sandbox, earlier)
    }

    fn stopped_in(role: &str, sandbox: &'a Sandbox, earlier: Option<u32>) -> Self {
        let started = Instant::now();
        loop {
            let found = sandbox.nodes().find_map(|node| Some(Self { node, pid: Self::of(node, role, earlier)? }));
            // It may have been the end of an earlier script.
            if let Some(script) = found.filter(|script| try_signal(script.pid, "-STOP")) {
                return script;
            }
            assert!(started.elapsed() < Duration::from_secs(180), "nobody gives its state");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn of(node: Node<'_>, role: &str, earlier: Option<u32>) -> Option<u32> {
        let data = format!("{}/", node.data_dir().display());
        let is_one = |pid: u32| {
            let command_line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words: Vec<_> = command_line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
            words.iter().any(|word| word.contains("wsrep_sst_"))
                && words.windows(2).any(|pair| pair[0] == "--role" && pair[1] == role)
                && words.iter().any(|word| *word == data)
        };
        let entries = fs::read_dir("/proc").unwrap();
        let mut all = entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
        // A subprocess of the script has the same command line, and may outlive it.
        let is_part = |pid: u32| parent(pid).is_none_or(|parent| is_one(parent) || !mentions(parent, &data));
        all.find(|pid| Some(*pid) != earlier && is_one(*pid) && !is_part(*pid))
    }
}

fn mentions(pid: u32, folder: &str) -> bool {
    let command_line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&command_line).contains(folder.trim_end_matches('/'))
}

fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
}

/// Scripts look for these words.
const NOT_RECEIVED: &str = "WSREP: Will never receive state. Need to abort. Hortator: ";

/// The result of the joiner's start, and of `disturb` meanwhile.
fn while_it_starts<T>(joiner: Node<'_>, disturb: impl FnOnce() -> T) -> (Result<(), hortator_sandbox::Error>, T) {
    thread::scope(|scope| {
        let start = scope.spawn(|| joiner.start());
        let done = disturb();
        (start.join().unwrap(), done)
    })
}

/// The joiner's provider reports the failure, and its process ends.
fn assert_ended(joiner: Node<'_>, started: Result<(), hortator_sandbox::Error>, log: &str, words: &[&str]) {
    let error = started.unwrap_err().to_string();
    assert!(error.contains("ended before it was ready"), "{error}");
    assert_eq!(joiner.state(), State::Crashed);
    let end = "The server ends, since it has no tables. Restart it";
    assert_logged(log, &[words, &[end]].concat());
}

#[test]
fn a_joiner_does_not_wait_for_a_donor_that_is_gone() {
    provider::build();
    let cluster = Builder::cluster(3).start_temporary().unwrap();
    let joiner = cluster.node(2);
    let writers = Writers::on(&cluster, &[0, 1]);
    joiner.stop().unwrap();
    remove_provider_files(joiner);

    // The joiner's own script fails.
    let from = since(joiner, 0).len();
    let (started, donors) = while_it_starts(joiner, || {
        let donors = Script::stopped(&cluster, None);
        let own = Script::stopped_in("joiner", &cluster, None);
        ["-TERM", "-CONT"].into_iter().for_each(|name| signal(own.pid, name));
        donors
    });
    assert_ended(joiner, started, &since(joiner, from), &["the SST failed with error", NOT_RECEIVED]);
    signal(donors.pid, "-CONT");

    // The donor's script fails.
    let from = since(joiner, 0).len();
    let (started, _) = while_it_starts(joiner, || signal(Script::stopped(&cluster, Some(donors.pid)).pid, "-KILL"));
    assert_ended(joiner, started, &since(joiner, from), &["the donor, node", "could not send the SST"]);

    // The donor is isolated.
    let from = since(joiner, 0).len();
    let (started, isolated) = while_it_starts(joiner, || {
        let script = Script::stopped(&cluster, None);
        script.node.isolate().unwrap();
        script
    });
    assert_ended(joiner, started, &since(joiner, from), &["the donor, node", "it is down or unreachable"]);
    set_options(isolated.node, "gmcast.isolate=0");
    writers.wait_for_more();

    // Anything that the donor's script still sends would reach the joiner's next server, which waits for the end of the
    // script. Then the next donor is killed, with its child processes.
    let from = since(joiner, 0).len();
    let (started, ()) = while_it_starts(joiner, || {
        wait_for("the joiner to be told to wait", || {
            since(joiner, from).contains("still sends an SST to the former node")
        });
        assert!(!since(joiner, from).contains("is the donor of this node"), "{}", since(joiner, from));
        signal(isolated.pid, "-CONT");
        Script::stopped(&cluster, Some(isolated.pid)).node.kill().unwrap();
    });
    assert_ended(joiner, started, &since(joiner, from), &["the donor, node", "it is down or unreachable"]);

    cluster.start().unwrap();
    writers.wait_for_more();
    writers.stop(&cluster);
}

/// The donor, and its `rsync` of tables, which is stopped: its server holds the global read lock of the transfer.
fn stopped_rsync(sandbox: &Sandbox) -> (Node<'_>, u32) {
    let started = Instant::now();
    loop {
        let found = sandbox.nodes().find_map(|node| Some((node, rsync_of(node)?)));
        // It may have been at its end.
        if let Some((_, pid)) = found.filter(|(_, pid)| try_signal(*pid, "-STOP") && is_alive(*pid)) {
            return (found.unwrap().0, pid);
        }
        assert!(started.elapsed() < Duration::from_secs(180), "nobody gives its state");
        thread::sleep(Duration::from_millis(1));
    }
}

fn rsync_of(donor: Node<'_>) -> Option<u32> {
    let data = donor.data_dir().display().to_string();
    let is_one = |pid: &u32| {
        let command_line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<_> = command_line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        words[0].ends_with("rsync")
            && words.iter().any(|word| word.starts_with("rsync://"))
            && words.iter().any(|word| word.starts_with(&data))
    };
    let entries = fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok()).find(is_one)
}

/// Its server ends the pause of the transfer only while it takes itself for the donor.
#[test]
fn a_donor_that_loses_the_quorum_while_it_sends_comes_back() {
    provider::build();
    let cluster = Builder::cluster(3).start_temporary().unwrap();
    let joiner = cluster.node(2);
    let writers = Writers::on(&cluster, &[0, 1]);
    let state = |node: Node<'_>| node.wsrep_status().and_then(|status| status.local_state);
    for sends_while_isolated in [true, false] {
        joiner.stop().unwrap();
        remove_provider_files(joiner);
        let from = since(joiner, 0).len();
        let (started, donor) = while_it_starts(joiner, || {
            let (donor, rsync) = stopped_rsync(&cluster);
            let before = since(donor, 0).len();
            set_options(donor, "gmcast.isolate=1");
            wait_for("the cut", || state(donor).as_deref() == Some("Initialized"));
            if sends_while_isolated {
                signal(rsync, "-CONT");
                wait_for("the end of its script", || since(donor, before).contains("SST sent"));
                set_options(donor, "gmcast.isolate=0");
            } else {
                set_options(donor, "gmcast.isolate=0");
                wait_for("its links", || since(donor, before).contains("linked to node"));
                signal(rsync, "-CONT");
            }
            donor
        });
        if started.is_err() {
            // It has not heard of its donor for too long.
            assert_ended(joiner, started, &since(joiner, from), &["the donor, node", NOT_RECEIVED]);
            joiner.start().unwrap();
        }
        let is_synced = |node: Node<'_>| node.wsrep_status().is_some_and(|status| status.is_synced());
        wait_for("the donor", || is_synced(donor));
        wait_for("all nodes", || cluster.nodes().all(|node| is_synced(node) && size(node).as_deref() == Some("3")));
        writers.wait_for_more();
        // The next pause of that server is no part of the last one.
        run(donor, &["FLUSH TABLES WITH READ LOCK", "UNLOCK TABLES"]);
        writers.wait_for_more();
    }
    writers.stop(&cluster);
}
