//! Loads into a Galera cluster of three nodes: the cases and features again, and what only a cluster can do.
//!
//! The client loads into a single server, so what is proven is more than that two programs leave the same on a cluster:
//! numbers that the server gives are a single server's too.

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::cases;
use crate::compare::assert_same;
use crate::programs::Way;
use crate::servers::{Pair, SETTINGS, Server};

/// The cluster, and a single server for the client. Both end with this process, as those of [`crate::servers`].
static CLUSTER: LazyLock<Mutex<Pair>> = LazyLock::new(|| {
    let (client, hortator) = thread::scope(|scope| {
        let client = scope.spawn(|| Server::start(&SETTINGS));
        let settings: Vec<_> = SETTINGS.into_iter().chain([("wsrep_slave_threads", "4")]).collect();
        let hortator = Server::start_cluster(3, &settings);
        (client.join().expect("the client's server starts"), hortator)
    });
    Mutex::new(Pair { client, hortator })
});

/// All servers, for the caller alone.
pub fn cluster() -> MutexGuard<'static, Pair> {
    CLUSTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Topics of which a cluster may make something else: the others are about how a value is written and stored.
const TOPICS: [&str; 7] = ["session", "rows", "keys", "objects", "statements", "engines", "fails"];

/// Cases that Galera does not take, or in which it does something of its own whoever loads.
const NOT_FOR_GALERA: &[&str] = &[
    // The cluster sets auto_increment_increment again before every statement.
    "session/auto_increment_increment_with_given_ids.sql",
    "session/changed_by_routines.sql",
    "session/unknown_and_other_variables.sql",
    "fails/auto_increment_explicit_after_error.sql",
    // Error 1235: sequences need INCREMENT BY 0, and there is no XA.
    "objects/sequences.sql",
    "statements/xa.sql",
    "fails/read_only.sql",
];

/// Cases that leave different nodes whoever loads; home still holds what a single server would.
const NODES_DIFFER: &[&str] = &[
    // Rows, and CREATE TABLE … SELECT, of engines that cannot roll back stay on one node.
    "engines/csv_blackhole_merge.sql",
    "engines/myisam_aria_memory.sql",
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
    "statements/review_corners.sql",
    // Definitions are run anew on the other nodes, without these session variables.
    "objects/system_versioned.sql",
    "session/settings_of_definitions.sql",
    // Events are off where they did not come from.
    "objects/routines_in_mysqldump_form.sql",
    // Statements that fail move the counter where they run.
    "fails/auto_increment_after_error.sql",
    "fails/values_out_of_range.sql",
];

#[test]
fn cases_come_out_as_on_a_single_server() {
    let pair = cluster();
    let all = TOPICS.iter().flat_map(|topic| cases::differences(&pair, topic, &[Way::Default], NOT_FOR_GALERA));
    let may_differ =
        |found: &String| NODES_DIFFER.iter().any(|case| found.contains(case)) && found.contains("node1 and ");
    assert_same(&all.filter(|found| !may_differ(found)).collect::<Vec<_>>());
}
