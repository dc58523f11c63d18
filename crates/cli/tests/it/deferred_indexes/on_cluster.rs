//! `--defer-indexes` on a cluster: the builds come at the end, and each stops all nodes.

use hortator_sandbox::Builder;
use rustix::process::Signal;

use super::ended::{Held, assert_like_client};
use super::fulltext::{FOUND, held_dump};
use super::{ALWAYS, LIMIT, indexes};
use crate::cluster::{cluster, load_over};
use crate::compare::assert_same;
use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::signal;
use crate::programs::{Outcome, Running, run};
use crate::servers::{SETTINGS, Server, pair};
use crate::{build_provider, target};

fn summary(outcome: &Outcome) -> serde_json::Value {
    serde_json::from_slice(&outcome.rows).unwrap_or_else(|error| panic!("{error}: {}", outcome.messages))
}

/// Definitions as mariadb-dump writes them behind all tables.
const TAIL: &str =
    "CREATE PROCEDURE p() SELECT 1;\nDROP VIEW view_a;\nCREATE VIEW view_a AS SELECT id FROM a FORCE INDEX (n);\n";

/// Tables as mariadb-dump writes them, with all that it puts between them, before the table of [`held_dump`].
pub fn tables(tail: &str) -> Vec<u8> {
    let mut text = String::new();
    for table in ["a", "b", "c"] {
        text += &format!(
            "DROP TABLE IF EXISTS {table};\nCREATE TABLE {table} (id INT PRIMARY KEY, n INT, v VARCHAR(40), KEY n (n), FULLTEXT KEY v \
             (v), FULLTEXT KEY w (v)) ENGINE=InnoDB;\nLOCK TABLES {table} WRITE;\n/*!40000 ALTER TABLE {table} DISABLE KEYS */;\n"
        );
        for row in 0..20 {
            text += &format!("INSERT INTO {table} VALUES ({row}, {row}, 'word{row}');\n");
        }
        text += &format!(
            "/*!40000 ALTER TABLE {table} ENABLE KEYS */;\nUNLOCK TABLES;\nSET @saved_cs_client = @@character_set_client;\n\
             /*!50001 CREATE VIEW view_{table} AS SELECT 1 AS `id`, 1 AS `n` */;\nDELIMITER ;;\n\
             CREATE TRIGGER r{table} BEFORE INSERT ON {table} FOR EACH ROW BEGIN SET NEW.n = NEW.n + 1; END ;;\nDELIMITER ;\n"
        );
    }
    let mut text = text.into_bytes();
    text.extend(held_dump(tail));
    text
}

/// Starts a load, and waits until its last row waits for another session, which is returned too. By then, no index is built.
fn start_and_hold(server: &Server, nodes: &[usize], file: &str) -> (Running, Held) {
    server.reset();
    let held = Held::new(server);
    let running = Running::start(load_over(server, nodes, &[ALWAYS, "--json", "--chunk-bytes", "1000", file]));
    server.wait_until("SELECT COUNT(*) = 2000 FROM hortator_case.t");
    server.wait_until("SELECT COUNT(*) = 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT'");
    for table in ["a", "b", "c", "t"] {
        assert_eq!(indexes(server, table), "0", "an index of {table} was built beside rows");
    }
    (running, held)
}

/// Others may use them on any node, and a definition that waits for them would stop all.
#[test]
fn tables_that_were_there_keep_theirs() {
    if target::mysql().is_some() {
        return;
    }
    let pair = cluster();
    let server = &pair.hortator;
    server.reset();
    let table = "CREATE TABLE hortator_case.t (id INT PRIMARY KEY, a INT, KEY a (a)) ENGINE=InnoDB";
    server.connect().execute(table.as_bytes()).unwrap();
    let (_folder, file) = dump_file("rows.csv", b"1,1\n2,2\n");
    let arguments = [ALWAYS, "--table", "t", file.to_str().unwrap()];
    let plan = run(load_into(server, &[&arguments[..], &["--plan"]].concat()));
    let plan = String::from_utf8_lossy(&plan.rows).into_owned();
    let told = "hortator_case.t: with each row: it existed before the load, and others may use it";
    assert!(plan.contains(told), "{plan}");
    let told = ["loaded 2 rows", "hortator_case.t: built with each row: it existed before the load"];
    assert_tells(&run(load_into(server, &arguments)), 0, &told);
    assert_eq!(indexes(server, "t"), "1");
}

#[test]
fn all_builds_come_at_the_end() {
    if target::mysql().is_some() {
        return;
    }
    let pair = cluster();
    let server = &pair.hortator;
    let text = tables(TAIL);
    let (_folder, dump) = dump_file("dump.sql", &text);
    let file = dump.to_str().unwrap();
    server.reset();
    let plan = run(load_into(server, &[ALWAYS, "--plan", file]));
    let plan = String::from_utf8_lossy(&plan.rows).into_owned();
    assert!(
        plan.contains("one table after the other, at the end of the load: each ALTER TABLE stops all nodes"),
        "{plan}"
    );
    let (running, held) = start_and_hold(server, &[0, 1, 2], file);
    drop(held);
    let outcome = running.finish_within(LIMIT);
    assert_tells(&outcome, 0, &[]);
    let built = &summary(&outcome)["deferred_indexes"]["built"];
    let stops = |table: usize| built[table]["cluster_stops_s"].as_array().map(Vec::len);
    assert_eq!([stops(0), stops(1), stops(2), stops(3)], [Some(2), Some(2), Some(2), Some(3)], "{built}");
    assert_like_client(server, &pair.client, &text);
    assert_eq!(server.rows_of_case(FOUND), pair.client.rows_of_case(FOUND));
    assert_same(&server.node_differences(true, false));

    // In words.
    server.reset();
    drop(Held::new(server));
    let outcome = run(load_into(server, &[ALWAYS, file]));
    assert_tells(&outcome, 0, &["hortator_case.a: n, v, w in ", " s; stopped the cluster for ", "in 4 table(s)"]);

    // Without an ALTER TABLE that reaches the other nodes, there are none.
    let mut root = server.connect();
    root.execute(b"SET GLOBAL wsrep_OSU_method = 'RSU'").unwrap();
    let plan = run(load_into(server, &[ALWAYS, "--plan", file]));
    root.execute(b"SET GLOBAL wsrep_OSU_method = 'TOI'").unwrap();
    let plan = String::from_utf8_lossy(&plan.rows).into_owned();
    assert!(plan.contains("indexes: built with each row: wsrep_OSU_method is not TOI"), "{plan}");
}

/// A load that is killed leaves the record to all nodes, and any of them goes on with it.
#[test]
fn a_killed_load_is_resumed_on_another_node() {
    if target::mysql().is_some() {
        return;
    }
    let pair = cluster();
    let server = &pair.hortator;
    let text = tables(TAIL);
    let (_folder, dump) = dump_file("dump.sql", &text);
    let file = dump.to_str().unwrap();
    let (running, held) = start_and_hold(server, &[0, 1, 2], file);
    signal(&running, Signal::KILL);
    running.finish_within(LIMIT);
    drop(held);
    let resumed = run(load_over(server, &[1, 2], &["--resume", file]));
    assert_tells(&resumed, 0, &["writer: node2", "hortator_case.t: a, g, v, vw, w in ", "in 4 table(s)"]);
    // The first node may still build the indexes.
    let mut first = server.connect();
    first.execute(b"SET SESSION wsrep_sync_wait = 1").unwrap();
    first.fetch(b"SHOW TABLES FROM hortator_case").unwrap();
    assert_like_client(server, &pair.client, &text);
    assert_same(&server.node_differences(true, false));
}

/// Hortator's provider in Galera's place.
#[test]
fn on_hortators_own_cluster() {
    if target::mysql().is_some() {
        return;
    }
    build_provider::build();
    let pair = pair();
    let builder = SETTINGS.iter().fold(Builder::cluster(3), |builder, (name, value)| builder.set(*name, *value));
    let server = &Server::from(builder);
    let text = tables(TAIL);
    server.reset();
    drop(Held::new(server));
    let (_folder, dump) = dump_file("dump.sql", &text);
    let outcome = run(load_over(server, &[0, 1, 2], &[ALWAYS, dump.to_str().unwrap()]));
    assert_tells(&outcome, 0, &["hortator_case.a: n, v, w in ", " s; stopped the cluster for ", "in 4 table(s)"]);
    assert_like_client(server, &pair.client, &text);
    assert_same(&server.node_differences(true, false));
}
