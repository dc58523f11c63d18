//! State transfers: by mariabackup, whose script empties the joiner's data folder while the provider runs, and before a power
//! loss.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Builder, Node, State, Temporary};

use crate::cluster_fixture::{assert_logged, create_to_fill, define, ids, remove_provider_files, since};
use crate::disk::{Disk, Library};
use crate::kills::dice::Dice;
use crate::kills::seed;
use crate::{ask, provider, run};

/// The time limit for a transfer step.
const WAIT_TIMEOUT: Duration = Duration::from_secs(120);

fn files(node: Node<'_>) -> Vec<String> {
    let entries = fs::read_dir(node.data_dir()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn two_by_mariabackup() -> Temporary {
    provider::build();
    // Small files, so that spare files from before a transfer are used after it.
    let builder = Builder::cluster(2).set("wsrep_provider_options", "log.segment=64K");
    let builder = builder.set("wsrep_sst_method", "mariabackup").set("wsrep_sst_auth", "root:");
    builder.set("innodb_flush_log_at_trx_commit", "0").start_temporary().unwrap()
}

/// The inserted rows: 1, 2, 3 …
#[derive(Default)]
struct Rows(u32);

impl Rows {
    /// Inserts `count` more rows. Returns all expected rows.
    fn insert(&mut self, node: Node<'_>, count: u32) -> Vec<String> {
        for id in self.0 + 1..=self.0 + count {
            run(node, &[&format!("INSERT INTO d.t VALUES ({id}, REPEAT('x', 8000))")]);
        }
        self.0 += count;
        (1..=self.0).map(|id| id.to_string()).collect()
    }
}

/// Two nodes with the same rows, inserted on both.
fn with_rows(cluster: &Temporary) -> Rows {
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    let mut rows_in = Rows::default();
    define(cluster, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, filling TEXT)"]);
    rows_in.insert(first, 20);
    let expected = rows_in.insert(second, 20);
    cluster.nodes().for_each(|node| assert_eq!(ids(node), expected, "{}", node.name()));
    rows_in
}

/// Nothing is lost when both nodes crash, and they continue.
fn assert_kept_over_a_crash(cluster: &Temporary, mut rows_in: Rows) {
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    rows_in.insert(second, 20);
    let expected = rows_in.insert(first, 20);
    cluster.kill().unwrap();
    cluster.start().unwrap();
    cluster.nodes().for_each(|node| assert_eq!(ids(node), expected, "{}", node.name()));
    let expected = rows_in.insert(second, 1);
    assert_eq!(ids(first), expected);
}

#[test]
fn a_joiner_by_mariabackup_has_all_rows_also_after_all_crashed() {
    let cluster = two_by_mariabackup();
    let rows_in = with_rows(&cluster);
    assert_kept_over_a_crash(&cluster, rows_in);
}

#[test]
fn a_joiner_killed_during_a_transfer_receives_everything_at_the_next_start() {
    let cluster = two_by_mariabackup();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    let mut rows_in = with_rows(&cluster);

    // It rejoins as a new node that happens to have the tables of this one; killed in the middle of the transfer it has
    // none.
    second.stop().unwrap();
    remove_provider_files(second);
    rows_in.insert(first, 20);
    thread::scope(|scope| {
        let start = scope.spawn(|| second.start());
        let began = Instant::now();
        while files(second).iter().any(|file| file == "ibdata1") {
            assert!(began.elapsed() < WAIT_TIMEOUT && !start.is_finished(), "the data folder is not emptied");
            thread::sleep(Duration::from_millis(20));
        }
        second.kill().unwrap();
        assert!(start.join().unwrap().is_err());
    });
    assert_eq!(second.state(), State::Crashed);

    // The next start requests everything again, while others write. Data that the donor still sends to the killed node
    // does not reach the new one.
    let expected = thread::scope(|scope| {
        let start = scope.spawn(|| second.start());
        let mut expected = rows_in.insert(first, 1);
        while !start.is_finished() {
            expected = rows_in.insert(first, 1);
            thread::sleep(Duration::from_millis(50));
        }
        start.join().unwrap().unwrap();
        expected
    });
    cluster.nodes().for_each(|node| assert_eq!(ids(node), expected, "{}", node.name()));
    assert_kept_over_a_crash(&cluster, rows_in);
}

#[test]
fn tables_that_a_node_has_received_survive_a_power_loss() {
    provider::build();
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(&Library::compile(folder.path()));
    let builder = Builder::cluster(3).host(2, disk.host());
    let cluster = builder.start_temporary().unwrap();
    let [first, third] = [0, 2].map(|index| cluster.node(index));
    create_to_fill(first);
    run(first, &["CALL d.fill(1, 3000)"]);
    let expected = ids(first);
    let mut dice = Dice::new(seed());
    for _ in 0..3 {
        third.stop().unwrap();
        fs::remove_file(third.data_dir().join("grastate.dat")).unwrap();
        let from = since(third, 0).len();
        third.start().unwrap();
        third.kill().unwrap();
        let lost = disk.lose_power(&third.data_dir(), &mut dice);
        eprintln!("{lost:?}");
        third.start().unwrap();
        assert_logged(&since(third, from), &["WSREP: Shifting PRIMARY -> JOINER"]);
        assert_eq!(ids(third), expected);
        let checked = ask(third, "CHECK TABLE d.t, mysql.wsrep_allowlist, mysql.innodb_table_stats, mysql.proc");
        assert!(checked.iter().all(|row| row[3] == "OK"), "{checked:?}");
    }
}
