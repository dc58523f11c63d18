//! Builds on clusters that somebody kills, or in which nodes go away.

use std::fs;
use std::thread;
use std::time::Duration;

use hortator_sandbox::Builder;
use rustix::process::Signal;

use super::ended::{Held, assert_like_client, has_table};
use super::faults::{LONG_FOUND, folder_to_sort_in, in_a_build, long_build, sorted_dumps};
use super::on_cluster::tables;
use super::{ALWAYS, LIMIT, indexes};
use crate::cluster::{cluster, load_over};
use crate::compare::assert_same;
use crate::errors::{assert_tells, dump_file};
use crate::interrupted::signal;
use crate::programs::{Running, run};
use crate::random::Dice;
use crate::servers::{SETTINGS, Server, pair};
use crate::target;

/// The server's refusal to kill: nobody owns a statement that all nodes run.
const KILL_DENIED: u16 = 1095;

/// The server lets nobody kill a statement that all nodes run.
#[test]
fn a_build_cannot_be_killed() {
    if target::mysql().is_some() {
        return;
    }
    let pair = cluster();
    let server = &pair.hortator;
    let text = long_build();
    let (_folder, dump) = dump_file("dump.sql", &text);
    let file = dump.to_str().unwrap();
    let start = || Running::start(load_over(server, &[0, 1, 2], &[ALWAYS, file]));
    // A build may be over before it is killed; then the next one is tried.
    let outcome = in_a_build(server, start, |_| {
        let builds = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'ALTER TABLE%ADD%'";
        let ids = server.rows_of_case(builds);
        let kill = |id: &String| server.connect().execute(format!("KILL QUERY {id}").as_bytes());
        ids.iter().any(|row| kill(&row[0]).is_err_and(|error| error.code() == Some(KILL_DENIED)))
    });
    assert_tells(&outcome, 0, &["hortator_case.t: a, g, v, again in "]);
    assert_like_client(server, &pair.client, &text);
    assert_same(&server.node_differences(true, false));
}

/// Nodes that go away during a build: one that follows, and the one that the load writes to.
#[test]
fn a_node_that_dies_in_a_build() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let server = &Server::start_cluster(3, &SETTINGS);
    let text = long_build();
    let (_folder, dump) = dump_file("dump.sql", &text);
    let file = dump.to_str().unwrap();
    let start = || Running::start(load_over(server, &[0, 1, 2], &[ALWAYS, file]));
    for (index, told) in [(2, "node3"), (0, "failover from node1")] {
        let node = server.sandbox().node(index);
        let outcome = in_a_build(server, start, |_| {
            node.kill().unwrap();
            true
        });
        assert_tells(&outcome, 0, &[told, "hortator_case.t: a, g, v, again in "]);
        node.start().unwrap();
        assert_same(&server.node_differences(true, false));
        assert_like_client(server, &pair.client, &text);
        assert_eq!(server.rows_of_case(LONG_FOUND.0), [LONG_FOUND.1]);
    }
}

/// A node that has no folder to sort in fails alone: one that follows, and the one that the load writes to.
#[test]
fn a_node_without_a_folder_to_sort_in() {
    if target::mysql().is_some() {
        return;
    }
    let pair = pair();
    let [text, _] = sorted_dumps();
    let alter = "ALTER TABLE `hortator_case`.`t` ADD KEY `v` (`v`), ADD KEY `w` (`w`,`v`)";
    for (failing, resumed_over) in [(2, None), (0, Some([0, 1, 2])), (0, Some([1, 2, 0]))] {
        let (folder, dump) = dump_file("dump.sql", text.as_bytes());
        let file = dump.to_str().unwrap();
        let sorting = folder_to_sort_in(folder.path());
        let builder = SETTINGS.iter().fold(Builder::galera(3), |builder, (name, value)| builder.set(*name, *value));
        let builder = builder.set("innodb_sort_buffer_size", "64K");
        let server = &Server::from(builder.set_on(failing, "innodb_tmpdir", sorting.to_str().unwrap()));
        server.reset();
        drop(Held::new(server));
        fs::remove_dir(&sorting).unwrap();
        let outcome = run(load_over(server, &[0, 1, 2], &[ALWAYS, file]));
        folder_to_sort_in(folder.path());
        let outcome = match resumed_over {
            Some(nodes) => {
                let told = ["its deferred indexes could not be built", "Can't create/write to file", "--resume"];
                assert_tells(&outcome, 1, &told);
                run(load_over(server, &nodes, &["--resume", file]))
            }
            None => outcome,
        };
        if resumed_over == Some([0, 1, 2]) {
            // The others have them already.
            assert_tells(&outcome, 0, &["writer: node1", "hortator_case.t: v, w in "]);
        } else {
            let node = server.sandbox().node(failing);
            let told = "does not have the deferred indexes v, w of hortator_case.t: the ALTER TABLE failed";
            let hint = format!("run there: SET SESSION wsrep_OSU_method = 'RSU'; {alter}");
            assert_tells(&outcome, 1, &["at line 1 in file", &node.name(), told, &hint]);
            let mut connection = node.connect().unwrap();
            connection.execute(b"SET SESSION wsrep_OSU_method = 'RSU'").unwrap();
            connection.execute(alter.as_bytes()).unwrap();
        }
        assert_same(&server.node_differences(true, false));
        assert_like_client(server, &pair.client, text.as_bytes());
        assert_eq!(indexes(server, "t"), "2");
    }
}

/// Waits until rows of the last table come, and only indexes are to be built after them; false if the load ends before.
fn wait_for_rows(server: &Server, running: &mut Running) -> bool {
    let mut watcher = server.connect();
    loop {
        // The table may not be there yet.
        let rows = watcher.fetch(b"SELECT COUNT(*) > 0 FROM hortator_case.t").unwrap_or_default();
        if running.has_ended() || rows.first().is_some_and(|row| row[0].as_deref() == Some(b"1")) {
            return !running.has_ended();
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// Loads of which each is ended by Ctrl-C or a kill, or loses a node, and that go on until one is through.
#[test]
fn ended_at_many_points() {
    if target::mysql().is_some() {
        return;
    }
    let seed = std::env::var("HORTATOR_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| u64::from(std::process::id()));
    let rounds = std::env::var("HORTATOR_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(2);
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    let pair = pair();
    let server = &Server::start_cluster(3, &SETTINGS);
    let text = tables("");
    for round in 0..rounds {
        server.reset();
        drop(Held::new(server));
        let (_folder, dump) = dump_file("dump.sql", &text);
        let file = dump.to_str().unwrap();
        let arguments = [ALWAYS, "--chunk-bytes", "2000", file];
        let mut has_begun = false;
        for kills in 0.. {
            assert!(kills < 40, "round {round} does not end");
            let resume: &[&str] = if has_begun { &["--resume"] } else { &[] };
            let mut running = Running::start(load_over(server, &[0, 1, 2], &[resume, &arguments].concat()));
            if kills < 6 {
                thread::sleep(Duration::from_millis(100 + dice.below(1500)));
            }
            let what = if kills < 6 { dice.below(5) } else { 4 };
            let node = server.sandbox().node(usize::try_from(dice.below(3)).unwrap());
            match what {
                0 if !running.has_ended() => signal(&running, Signal::TERM),
                1 | 2 if !running.has_ended() => signal(&running, Signal::KILL),
                // A node that is lost under a definition of the dump may have the cluster run that twice.
                3 if wait_for_rows(server, &mut running) => node.kill().unwrap(),
                _ => {}
            }
            let outcome = running.finish_within(LIMIT);
            assert!(!outcome.messages.contains("panicked"), "{}", outcome.messages);
            if node.pid().is_none() {
                node.start().unwrap();
            }
            if outcome.status == Some(0) {
                break;
            }
            let said = &outcome.messages;
            assert!(matches!(outcome.status, None | Some(130)) || said.contains("nothing to resume"), "{said}");
            let has_records = has_table(server, "hortator", "chunks");
            if !has_records && has_table(server, "hortator_case", "t") {
                // It was over when it was ended.
                break;
            }
            has_begun = !said.contains("nothing to resume") && has_records;
        }
        assert_same(&server.node_differences(true, false));
        assert_like_client(server, &pair.client, &text);
    }
}
