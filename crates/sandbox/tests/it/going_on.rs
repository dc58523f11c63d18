//! Nodes that go on without asking for a majority: those who are left out do not go on beside them without a word.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::{Builder, Healed, Node, Sandbox, State};

use crate::kills::arguments;
use crate::{ask, provider, run};

/// How long a cluster may take to notice something.
const PATIENCE: Duration = Duration::from_secs(60);
const ANEW: &str =
    "is of a group that was begun anew (pc.bootstrap, pc.ignore_sb, or hortator.group.log moved away) without";
const LEFT_OUT: &str = "No majority of the group as it was before is here";

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} for {what}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn has_lost_the_others(node: Node<'_>) -> bool {
    node.standing().is_some_and(|standing| !standing.is_primary())
}

/// Its clients may write, and it sees nobody else.
fn goes_on_alone(node: Node<'_>) -> bool {
    let is_alone =
        node.standing().is_some_and(|standing| standing.is_synced() && standing.size.as_deref() == Some("1"));
    is_alone && ask(node, "SHOW STATUS LIKE 'wsrep_ready'").concat().last().is_some_and(|ready| ready == "ON")
}

/// The error log behind its first `from` bytes.
fn told(node: Node<'_>, from: usize) -> String {
    String::from_utf8_lossy(&fs::read(node.error_log()).unwrap()[from..]).into_owned()
}

fn errors(node: Node<'_>, words: &str) -> usize {
    told(node, 0).lines().filter(|line| line.contains("[ERROR]") && line.contains(words)).count()
}

/// The generation of the node's group, as its file has it.
fn generation(node: Node<'_>) -> String {
    let text = fs::read_to_string(node.data_dir().join("hortator.group.log")).unwrap();
    text.lines().find(|line| line.starts_with("generation: ")).unwrap().to_owned()
}

fn go_on_alone(node: Node<'_>) {
    run(node, &["SET GLOBAL wsrep_provider_options = 'pc.bootstrap=yes'"]);
}

fn insert(node: Node<'_>, id: u32) {
    run(node, &[&format!("INSERT INTO d.t VALUES ({id})")]);
}

/// What the node has when it has everything that was confirmed in its group before.
fn rows(node: Node<'_>) -> Vec<String> {
    let mut connection = node.connect().unwrap();
    connection.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
    let rows = connection.fetch(b"SELECT id FROM d.t ORDER BY id").unwrap();
    rows.into_iter().flatten().map(|id| String::from_utf8(id.unwrap()).unwrap()).collect()
}

fn has_rows(node: Node<'_>, ids: &[u32]) {
    let expected: Vec<String> = ids.iter().map(u32::to_string).collect();
    assert_eq!(rows(node), expected, "{}", node.name());
}

/// As the messages say: the node joins anew, with nothing of the provider's.
fn forget_group(node: Node<'_>) {
    for file in fs::read_dir(node.data_dir()).unwrap().map(|entry| entry.unwrap().path()) {
        if file.file_name().unwrap().to_str().unwrap().starts_with("hortator") {
            fs::remove_file(file).unwrap();
        }
    }
}

/// The nodes that are down are started as they are: they end, and meanwhile nobody writes to them.
fn assert_left_out(cluster: &Sandbox, by: Node<'_>) {
    let down: Vec<Node<'_>> = cluster.nodes().filter(|node| node.state() == State::Crashed).collect();
    let from: Vec<usize> = down.iter().map(|node| told(*node, 0).len()).collect();
    thread::scope(|scope| {
        let start = scope.spawn(|| cluster.start());
        while !start.is_finished() {
            for node in &down {
                let written =
                    node.connect().ok().map(|mut connection| connection.execute(b"INSERT INTO d.t VALUES (99)"));
                assert!(!matches!(written, Some(Ok(_))), "{} goes on beside the others", node.name());
            }
            thread::sleep(Duration::from_millis(20));
        }
        start.join().unwrap().expect_err("those who were left out must not come up");
    });
    for (node, from) in down.into_iter().zip(from) {
        let told = told(node, from);
        let met = format!("{} at 127.0.0.1:{} {ANEW} {} at", by.name(), by.ports().group, node.name());
        for words in [&met, LEFT_OUT, "move the files hortator* out of this node's data folder"] {
            assert!(told.contains(words), "`{words}` is missing in the log of {}:\n{told}", node.name());
        }
        assert!(!told.contains("panicked") && !told.contains("got signal"), "{told}");
        assert_ne!(node.state(), State::Running);
    }
}

#[test]
fn a_node_goes_on_without_the_others_and_they_do_not_go_on_beside_it() {
    provider::build();
    let cluster = Builder::cluster(3).start_temporary().unwrap();
    let [first, second, third] = [0, 1, 2].map(|index| cluster.node(index));
    run(first, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);
    let begun = generation(first);
    cluster.nodes().for_each(|node| assert_eq!(generation(node), begun, "{}", node.name()));

    // Where there is a majority it does nothing.
    go_on_alone(second);
    insert(second, 1);
    cluster.nodes().for_each(|node| has_rows(node, &[1]));
    cluster.nodes().for_each(|node| assert_eq!(generation(node), begun, "{}", node.name()));

    // On a node that is cut off it is a mistake. Both sides go on, and all say so.
    third.cut().unwrap();
    wait_for("the cut", || has_lost_the_others(third));
    go_on_alone(third);
    wait_for("it to go on by itself", || goes_on_alone(third));
    assert_ne!(generation(third), begun);
    insert(third, 2);
    insert(first, 3);
    assert_eq!(third.heal().unwrap(), Healed::Synced);
    let by = format!("node3 at 127.0.0.1:{} {ANEW}", third.ports().group);
    wait_for("the majority to say so", || [first, second].iter().all(|node| errors(*node, &by) == 1));
    wait_for("the other to say so", || {
        ["node1", "node2"].iter().all(|name| told(third, 0).contains(&format!("{by} {name}")))
    });
    insert(third, 4);
    insert(second, 5);
    [first, second].into_iter().for_each(|node| has_rows(node, &[1, 3, 5]));
    has_rows(third, &[1, 2, 4]);
    assert_eq!((errors(first, &by), errors(second, &by)), (1, 1), "it is not said again and again");
    third.kill().unwrap();
    forget_group(third);
    third.start().unwrap();
    has_rows(third, &[1, 3, 5]);
    assert_eq!(generation(third), begun);

    // The others crash, and it goes on for good.
    second.kill().unwrap();
    third.kill().unwrap();
    wait_for("the loss of the majority", || has_lost_the_others(first));
    go_on_alone(first);
    wait_for("it to go on by itself", || goes_on_alone(first));
    insert(first, 6);
    has_rows(first, &[1, 3, 5, 6]);
    assert_left_out(&cluster, first);
    insert(first, 7);
    [second, third].into_iter().for_each(forget_group);
    cluster.start().unwrap();
    insert(third, 8);
    cluster.nodes().for_each(|node| has_rows(node, &[1, 3, 5, 6, 7, 8]));
    assert_ne!(generation(first), begun);
    cluster.nodes().for_each(|node| assert_eq!(generation(node), generation(first), "{}", node.name()));
}

/// A server that the test has started on a node's data folder; it is killed at the end.
struct Own(Child);

impl Drop for Own {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a node that was killed where its tables are, and as the beginning of a cluster.
fn start_new_cluster(node: Node<'_>, arguments: &[String]) -> Own {
    let server = |further: &[&str]| {
        let mut program = Command::new(&arguments[0]);
        program.args(&arguments[1..]).arg("--user=mysql").args(further).stdout(Stdio::null()).stderr(Stdio::piped());
        program.spawn().unwrap()
    };
    let recovered = server(&["--skip-log-error", "--wsrep-recover"]).wait_with_output().unwrap();
    let recovered = String::from_utf8_lossy(&recovered.stderr).into_owned();
    let (_, position) = recovered.rsplit_once("Recovered position: ").unwrap_or_else(|| panic!("{recovered}"));
    let position = format!("--wsrep-start-position={}", position.lines().next().unwrap());
    let own = Own(server(&[&position, "--wsrep-new-cluster"]));
    wait_for("the new cluster", || goes_on_alone(node));
    own
}

#[test]
fn two_nodes_that_each_go_on_are_two_histories() {
    provider::build();
    let cluster = Builder::cluster(2).set("wsrep_provider_options", "pc.ignore_sb=yes").start_temporary().unwrap();
    let [first, second] = [0, 1].map(|index| cluster.node(index));
    let arguments = arguments(first);
    run(first, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)"]);

    // A cut, and both go on by themselves.
    second.cut().unwrap();
    wait_for("both to go on", || [first, second].iter().all(|node| goes_on_alone(*node)));
    insert(first, 1);
    insert(second, 2);
    assert_eq!(second.heal().unwrap(), Healed::Synced);
    let addresses = [first, second].map(|node| format!("{} at 127.0.0.1:{} (", node.name(), node.ports().group));
    wait_for("both to say so", || [first, second].iter().all(|node| errors(*node, "two histories") == 1));
    for node in [first, second] {
        let told = told(node, 0);
        let line = told.lines().find(|line| line.contains("two histories")).unwrap();
        assert!(addresses.iter().all(|address| line.contains(address.as_str())), "{line}");
    }
    insert(first, 3);
    insert(second, 4);
    has_rows(first, &[1, 3]);
    has_rows(second, &[2, 4]);
    // One is thrown away.
    second.kill().unwrap();
    forget_group(second);
    second.start().unwrap();
    cluster.nodes().for_each(|node| has_rows(node, &[1, 3]));

    // One begins anew without its votes. The other, which goes on by itself where it hears nobody, hears that.
    cluster.kill().unwrap();
    fs::remove_file(first.data_dir().join("hortator.group.log")).unwrap();
    let from = told(first, 0).len();
    first.start().expect_err("without its votes");
    assert!(told(first, from).contains("hortator.group.log is not in the data folder"), "{}", told(first, from));
    let own = start_new_cluster(first, &arguments);
    insert(first, 5);
    assert_left_out(&cluster, first);
    forget_group(second);
    cluster.start().unwrap();
    cluster.nodes().for_each(|node| has_rows(node, &[1, 3, 5]));
    assert_eq!(generation(first), generation(second));
    drop(own);
}
