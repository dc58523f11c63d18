//! Loads into a Galera cluster of three nodes: the cases and features again, and what only a cluster can do.
//!
//! The client loads into a single server, so what is validated is more than that two programs leave the same on a cluster:
//! numbers that the server gives are a single server's too.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::cases;
use crate::compare::assert_same;
use crate::errors::{assert_tells, dump_file, load_into};
use crate::programs::{Contender, Outcome, hortator, run};
use crate::servers::{DATABASE, Held, Pair, SETTINGS, Server, Shared, pair};

/// The cluster, and a single server for the client. Both end with this process, as those of [`crate::servers`].
static CLUSTER: Shared = Shared::new(|| {
    thread::scope(|scope| {
        let client = scope.spawn(|| Server::start(&SETTINGS));
        let settings: Vec<_> = SETTINGS.into_iter().chain([("wsrep_slave_threads", "4")]).collect();
        let hortator = Server::start_cluster(3, &settings);
        Pair { client: client.join().expect("the client's server starts"), hortator }
    })
});

/// All servers, for the caller alone.
pub fn cluster() -> Held {
    CLUSTER.take()
}

/// Topics of which a cluster may make something else: the others are about how a value is written and stored.
const TOPICS: [&str; 8] = ["session", "rows", "keys", "objects", "statements", "engines", "fails", "row_transactions"];

/// Cases that Galera does not take, or in which it does something of its own whoever loads.
const NOT_FOR_GALERA: &[&str] = &[
    // The cluster sets auto_increment_increment again before every statement.
    "session/auto_increment_increment_kept_by_the_connection.sql",
    "session/auto_increment_increment_with_given_ids.sql",
    "session/changed_by_routines.sql",
    "session/unknown_and_other_variables.sql",
    "fails/auto_increment_explicit_after_error.sql",
    // Error 1235: sequences need INCREMENT BY 0, and there is no XA.
    "objects/sequences.sql",
    "statements/xa.sql",
    "statements/xa_by_execute.sql",
    "fails/read_only.sql",
    // A node enforces InnoDB.
    "fails/enforced_engine.sql",
    // A statement that the server prepares anew for an EXECUTE takes the node's numbers, also under SET STATEMENT.
    "statements/prepared_for_a_temporary_table.sql",
];

/// Cases that leave different nodes whoever loads; home still holds what a single server would.
const NODES_DIFFER: &[&str] = &[
    // Rows, and CREATE TABLE … SELECT, of engines that cannot roll back stay on one node.
    "engines/csv_blackhole_merge.sql",
    "engines/default_by_its_other_name.sql",
    "engines/myisam_aria_memory.sql",
    "engines/snapshot_isolation.sql",
    "engines/table_options.sql",
    "fails/aria_stops_in_the_middle.sql",
    "fails/column_count.sql",
    "fails/last_insert_id_after_error.sql",
    "fails/myisam_stops_in_the_middle.sql",
    "keys/disable_keys.sql",
    "rows/auto_increment_second_column.sql",
    "session/last_insert_id_by_engine.sql",
    "statements/create_select_like.sql",
    "statements/flush_and_maintenance.sql",
    "statements/functions_that_write.sql",
    "statements/prepared_writes.sql",
    "statements/review_corners.sql",
    // Definitions are run anew on the other nodes, without these session variables.
    "objects/system_versioned.sql",
    "session/settings_of_definitions.sql",
    // Events are off where they did not come from.
    "objects/routines_in_mysqldump_form.sql",
    // Statements that fail move the counter where they run.
    "fails/auto_increment_after_error.sql",
    "fails/values_out_of_range.sql",
    "fails/within_whole_transactions.sql",
    "row_transactions/a_failure_in_one.sql",
    "row_transactions/a_failure_of_a_number.sql",
    "row_transactions/nothing_to_unlock.sql",
    // Rows of engines that a cluster does not replicate.
    "row_transactions/a_failure_without_transactions.sql",
    "row_transactions/large_of_other_kinds.sql",
    "row_transactions/other_engines.sql",
    "rows/returning_many.sql",
    "rows/through_views.sql",
];

#[test]
fn cases_come_out_as_on_a_single_server() {
    let pair = cluster();
    let all = TOPICS.iter().flat_map(|topic| cases::differences(&pair, topic, &[Contender::Default], NOT_FOR_GALERA));
    let may_differ =
        |found: &String| NODES_DIFFER.iter().any(|case| found.contains(case)) && found.contains("node1 and ");
    assert_same(&all.filter(|found| !may_differ(found)).collect::<Vec<_>>());
}

/// Topics whose dumps define much between their rows.
const TOPICS_OF_DEFINITIONS: [&str; 3] = ["keys", "objects", "statements"];

/// The same where indexes are built as late as possible.
#[test]
fn indexes_that_are_built_at_the_end() {
    let pair = cluster();
    let contenders = &[Contender::DeferredIndexes];
    let topics = TOPICS_OF_DEFINITIONS.iter();
    let all = topics.flat_map(|topic| cases::differences(&pair, topic, contenders, NOT_FOR_GALERA));
    let may_differ =
        |found: &String| NODES_DIFFER.iter().any(|case| found.contains(case)) && found.contains("node1 and ");
    assert_same(&all.filter(|found| !may_differ(found)).collect::<Vec<_>>());
}

/// `hortator load` as root over the sockets of these nodes (from 0).
pub fn load_over(server: &Server, nodes: &[usize], arguments: &[&str]) -> Command {
    let sockets: Vec<String> =
        nodes.iter().map(|node| server.sandbox().node(*node).socket().to_string_lossy().into_owned()).collect();
    let mut command = hortator("load");
    command.args(["--no-defaults", "-u", "root", "-D", DATABASE, "--nodes", &sockets.join(",")]).args(arguments);
    command.env_remove("MYSQL_PWD").stdin(std::process::Stdio::null());
    command
}

fn summary(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_slice(&outcome.rows).unwrap_or_else(|error| panic!("{error}: {}", outcome.messages))
}

fn statements(table: &str, statements: u64, rows: u64) -> String {
    let row = |id: u64| format!("({id},'{}')", id * 7919);
    let statement = |number: u64| {
        let rows: Vec<String> = (number * rows..(number + 1) * rows).map(row).collect();
        format!("INSERT INTO {table} VALUES {};\n", rows.join(","))
    };
    (0..statements).map(statement).collect()
}

#[test]
fn a_load_finds_the_other_nodes_and_is_done_when_they_are() {
    let pair = cluster();
    let server = &pair.hortator;
    server.reset();
    let text = format!("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));\n{}", statements("t", 100, 50));
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let outcome = run(load_into(server, &["--json", dump.to_str().unwrap()]));
    assert_tells(&outcome, 0, &[]);
    let told = summary(&outcome);
    assert_eq!(told["cluster"]["nodes"].as_array().map(Vec::len), Some(3), "{told}");
    assert_eq!((&told["cluster"]["size"], &told["cluster"]["notes"]), (&3.into(), &serde_json::json!([])), "{told}");
    assert!(told["all_nodes_s"].as_f64() <= told["elapsed_s"].as_f64() && told["all_nodes_s"].is_f64(), "{told}");
    assert_same(&server.node_differences(false, false));

    let outcome = run(load_into(server, &["--plan", dump.to_str().unwrap()]));
    let plan = String::from_utf8_lossy(&outcome.rows).into_owned();
    for words in ["writes to node1", "monitors 3 of 3 nodes", "node2 (127.0.0.1:", "those of a single server"] {
        assert!(plan.contains(words), "`{words}` is not in {plan}");
    }
}

#[test]
fn nodes_that_do_not_belong_together_are_refused_before_anything_is_written() {
    let (pair, other) = (cluster(), pair());
    let server = &pair.hortator;
    server.reset();
    let (_folder, dump) = dump_file("dump.sql", b"CREATE TABLE t (id INT PRIMARY KEY);\n");
    let dump = dump.to_str().unwrap();
    let socket = |server: &Server, node: usize| server.sandbox().node(node).socket().to_string_lossy().into_owned();
    let load = |nodes: &[String]| {
        let mut command = hortator("load");
        command.args(["--no-defaults", "-u", "root", "-D", DATABASE, "--nodes", &nodes.join(","), dump]);
        run(command)
    };
    let single = socket(&other.hortator, 0);
    assert_tells(&load(&[socket(server, 0), single.clone()]), 1, &[&single, "not a node of a Galera cluster"]);

    let alone = Server::start_cluster(1, &SETTINGS);
    let outcome = load(&[socket(server, 0), socket(&alone, 0)]);
    assert_tells(&outcome, 1, &["node1", "belongs to cluster", "nodes of the same cluster"]);
    assert_tells(&load(&["db 1".to_owned()]), 1, &["`db 1` is not a node address", "HOST:PORT"]);
    assert!(server.rows_of_case("SHOW TABLES").is_empty());

    // One that is not there is left out, and said so.
    let outcome = load(&["127.0.0.1:1".to_owned(), socket(server, 1), socket(server, 1)]);
    assert_tells(&outcome, 0, &["does not use 127.0.0.1:1", "twice", "writer: node2", "--nodes names 2"]);
    assert_tells(&load(&["127.0.0.1:1".to_owned()]), 1, &["no node accepts statements", "127.0.0.1:1"]);
    assert_same(&server.node_differences(true, false));
}

/// A child's rows lock their parents, which another node changes all the time: its transactions win.
#[test]
fn a_write_from_outside_that_is_in_the_way() {
    let pair = cluster();
    // Whether they meet is a matter of chance.
    let has_met = (0..20).any(|_| replays_beside_writes(&pair.hortator) > 0);
    assert!(has_met, "nothing was in the way");
}

/// Loads children while their parents are changed on another node; how often the load had to replay.
fn replays_beside_writes(server: &Server) -> u64 {
    server.reset();
    let parents: Vec<String> = (0..50).map(|id| format!("({id},0)")).collect();
    let mut text = format!(
        "CREATE TABLE p (id INT PRIMARY KEY, n INT);\nINSERT INTO p VALUES {};\n\
         CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id));\n",
        parents.join(","),
    );
    for number in 0..400_u64 {
        let rows: Vec<String> = (number * 50..number * 50 + 50).map(|id| format!("({id},{})", id % 50)).collect();
        text.push_str(&format!("INSERT INTO c VALUES {};\n", rows.join(",")));
    }
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let is_over = AtomicBool::new(false);
    let (outcome, updates) = thread::scope(|scope| {
        let outside = scope.spawn(|| {
            let mut connection = server.sandbox().node(1).connect().unwrap();
            let mut updates = 0_u64;
            while !is_over.load(Ordering::Relaxed) {
                let update = format!("UPDATE hortator_case.p SET n = n + 1 WHERE id = {}", updates % 50);
                // The table may not be there yet, and the load may win.
                updates += connection.execute(update.as_bytes()).map_or(0, |done| done.affected_rows);
                thread::sleep(Duration::from_millis(5));
            }
            updates
        });
        let outcome = run(load_over(server, &[0, 1, 2], &["--json", "--chunk-bytes", "20000", dump.to_str().unwrap()]));
        is_over.store(true, Ordering::Relaxed);
        (outcome, outside.join().unwrap())
    });
    assert_tells(&outcome, 0, &[]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*), SUM(p) FROM c"), [["20000", &(400 * 1225).to_string()]]);
    assert_same(&server.node_differences(true, false));
    assert_eq!(server.rows_of_case("SELECT SUM(n) FROM p"), [[updates.to_string()]]);
    summary(&outcome)["replays"].as_u64().expect("the summary counts them")
}

#[test]
fn what_a_node_lets_a_transaction_hold_is_kept_to() {
    let pair = cluster();
    let server = &pair.hortator;
    server.reset();
    let text = format!("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));\n{}", statements("t", 60, 100));
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    server.connect().execute(b"SET GLOBAL wsrep_max_ws_rows = 250").unwrap();
    let outcome = run(load_over(server, &[0, 1, 2], &[dump.to_str().unwrap()]));
    server.connect().execute(b"SET GLOBAL wsrep_max_ws_rows = 0").unwrap();
    assert_tells(&outcome, 0, &[]);
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["6000"]]);
}

/// A node that stops the cluster as soon as anything waits there leaves room for one chunk at a time.
#[test]
fn workers_are_held_back_where_a_node_has_little_room() {
    let pair = cluster();
    let server = &pair.hortator;
    server.reset();
    let text = format!("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));\n{}", statements("t", 400, 100));
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let limit = |limit: u32| {
        let mut connection = server.sandbox().node(2).connect().unwrap();
        hortator_sandbox::set_provider_options(&mut connection, &format!("gcs.fc_limit={limit}")).unwrap();
    };
    limit(1);
    let outcome = run(load_over(
        server,
        &[0, 1, 2],
        &["--json", "--threads", "4", "--chunk-bytes", "20000", dump.to_str().unwrap()],
    ));
    limit(16);
    assert_tells(&outcome, 0, &[]);
    let told = summary(&outcome);
    assert!(told["cluster"]["throttled_s"].as_f64() > Some(0.0), "{told}");
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["40000"]]);
    assert_same(&server.node_differences(false, false));
}

#[test]
fn a_verified_load_compares_the_nodes() {
    let pair = cluster();
    let server = &pair.hortator;
    server.reset();
    let text = format!(
        "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20));\n{}\
         CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY, v INT);\nINSERT INTO n (v) VALUES (1), (2), (3);\n\
         CREATE EVENT later ON SCHEDULE EVERY 1 DAY DO SELECT 1;\n",
        statements("t", 20, 50),
    );
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    let dump = dump.to_str().unwrap();
    let outcome = run(load_over(server, &[0, 1, 2], &["--json", "--verify", dump]));
    assert_tells(&outcome, 0, &[]);
    let verification = &summary(&outcome)["verification"];
    assert_eq!(verification["nodes"].as_array().map(Vec::len), Some(2), "{verification}");
    assert_eq!((&verification["holds"], &verification["problem_count"]), (&true.into(), &0.into()), "{verification}");

    // A row that only one node has, as after a write with wsrep_on=OFF.
    server.reset();
    let mut apart = server.sandbox().node(2).connect().unwrap();
    for statement in [
        "SET SESSION wsrep_sync_wait = 1",
        "CREATE TABLE hortator_case.before_it (id INT PRIMARY KEY)",
        "SET SESSION wsrep_on = OFF",
        "INSERT INTO hortator_case.before_it VALUES (7)",
    ] {
        apart.execute(statement.as_bytes()).unwrap();
    }
    let outcome = run(load_over(server, &[0, 1, 2], &["--verify", dump]));
    assert_tells(
        &outcome,
        1,
        &["verify: node node3", "rows of hortator_case.before_it: the first has 0 rows, the second 1", "(id = '7')"],
    );
    assert!(!outcome.messages.contains("verify: node node2"), "{}", outcome.messages);

    // A node that lets nobody in cannot be vouched for.
    server.reset();
    let outcome = run(load_over(server, &[0, 1], &["--verify", "--nodes", "127.0.0.1:1", dump]));
    assert_tells(&outcome, 1, &["verify: cannot compare node 127.0.0.1:1: the second endpoint", "1 problem"]);
}
