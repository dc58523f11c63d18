//! A cluster as the target.

use std::thread;
use std::time::Duration;

use hortator_check::state;
use hortator_sandbox::Builder;

use super::fan_in::{FanIn, run, texts};
use super::line_of;
use super::rules::{says_ok, stops_with};

/// Transactions that are written while nodes are killed.
const TRANSACTIONS: usize = 600;

#[test]
fn nodes_of_the_target_are_killed() {
    let cluster = Builder::galera(3).start_temporary().unwrap();
    run(&cluster, &["CREATE USER h@127.0.0.1", "GRANT ALL ON *.* TO h@127.0.0.1"]);
    let hosts: Vec<String> = (0..3).map(|node| format!("\"127.0.0.1:{}\"", cluster.node(node).port())).collect();
    let mut fan_in = FanIn::into(2, cluster);
    let text = std::fs::read_to_string(fan_in.file()).unwrap();
    let of_sources = &text[text.find("[[source]]").unwrap()..];
    fan_in.write(&format!("[target]\nhost = [{}]\nuser = \"h\"\n{of_sources}", hosts.join(", ")));
    let (shown, code) = fan_in.says("check");
    assert_eq!(code, Some(0), "{shown}");
    let _agent = fan_in.start();
    thread::scope(|scope| {
        for (index, source) in fan_in.sources.iter().enumerate() {
            scope.spawn(move || {
                let schema = format!("d{index}");
                run(
                    source,
                    &[
                        &format!("CREATE DATABASE {schema}"),
                        &format!("CREATE TABLE {schema}.t (id INT PRIMARY KEY, n INT)"),
                    ],
                );
                for id in 1..=TRANSACTIONS {
                    let insert = format!("INSERT INTO {schema}.t VALUES ({id}, 0)");
                    let update = format!("UPDATE {schema}.t SET n = n + 1 WHERE id <= {}", id.min(20));
                    run(source, &["BEGIN", &insert, &update, "COMMIT"]);
                    thread::sleep(Duration::from_millis(2));
                }
            });
        }
        let query = "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd0'";
        fan_in.wait_until("some to be applied", |_| !texts(&fan_in.target, query).is_empty());
        thread::sleep(Duration::from_millis(300));
        fan_in.target.node(0).kill().unwrap();
    });
    fan_in.catch_up();
    for (index, source) in fan_in.sources.iter().enumerate() {
        let schema = format!("d{index}");
        let of = |connection: &mut hortator_mysql::Connection| state::describe(connection, &schema).unwrap();
        let expected = of(&mut source.node(0).connect().unwrap());
        for node in [1, 2] {
            let mut connection = fan_in.target.node(node).connect().unwrap();
            connection.execute(b"SET SESSION wsrep_sync_wait = 15").unwrap();
            let differences = expected.differences(&of(&mut connection));
            assert!(differences.is_empty(), "{schema} on node {node}: {}", differences.join("\n"));
        }
    }
    let (shown, _) = fan_in.says("status");
    assert!(line_of(&shown, "s1").contains("running"), "{shown}");
}

/// Three nodes as the target, reached over TCP, and sources that are copied.
fn copied_into_cluster(sources: usize) -> FanIn {
    let cluster = Builder::galera(3).start_temporary().unwrap();
    run(&cluster, &["CREATE USER h@127.0.0.1", "GRANT ALL ON *.* TO h@127.0.0.1"]);
    let hosts: Vec<String> = (0..3).map(|node| format!("\"127.0.0.1:{}\"", cluster.node(node).port())).collect();
    let mut fan_in = FanIn::into(sources, cluster);
    let text = std::fs::read_to_string(fan_in.file()).unwrap().replace("\"now\"", "\"snapshot\"");
    let of_sources = &text[text.find("[[source]]").unwrap()..];
    fan_in.write(&format!("[target]\nhost = [{}]\nuser = \"h\"\n{of_sources}", hosts.join(", ")));
    fan_in
}

/// The node that is written to is killed in the middle of two copies, and then the next one.
#[test]
fn copies_into_a_cluster() {
    let fan_in = copied_into_cluster(2);
    for (index, source) in fan_in.sources.iter().enumerate() {
        let d = format!("d{index}");
        let statements = [
            format!("CREATE DATABASE {d}"),
            format!("CREATE TABLE {d}.parent (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(120)) ENGINE=InnoDB"),
            format!(
                "CREATE TABLE {d}.child (id INT PRIMARY KEY, parent INT, FOREIGN KEY (parent) REFERENCES {d}.parent (id)) \
                 ENGINE=InnoDB"
            ),
            format!("CREATE TABLE {d}.no_key (v INT) ENGINE=InnoDB"),
            format!("CREATE TABLE {d}.m (id INT PRIMARY KEY) ENGINE=MyISAM"),
            format!("INSERT INTO {d}.m VALUES (1), (2)"),
            format!("CREATE SEQUENCE {d}.s"),
            format!("SELECT NEXTVAL({d}.s)"),
            format!("CREATE VIEW {d}.shown AS SELECT v FROM {d}.parent"),
            format!("CREATE PROCEDURE {d}.nothing() SELECT 1"),
            format!("CREATE TRIGGER {d}.counts BEFORE INSERT ON {d}.child FOR EACH ROW SET NEW.parent = NEW.parent"),
            format!("INSERT INTO {d}.parent SELECT seq, REPEAT('x', 100) FROM {d}.seq_1_to_20000"),
            // So many that the copy goes on for a while after the first rows of the parent.
            format!("INSERT INTO {d}.child SELECT seq, seq % 20000 + 1 FROM {d}.seq_1_to_80000"),
            format!("INSERT INTO {d}.no_key SELECT seq % 100 FROM {d}.seq_1_to_1000"),
        ];
        run(source, &statements.each_ref().map(String::as_str));
    }
    let (shown, code) = fan_in.says("check");
    assert_eq!(code, Some(0), "{shown}");
    let agent = fan_in.start_only();
    stops_with(&fan_in, "s1", "d0.m has the engine MyISAM, and the target is a node of a cluster");
    run(&fan_in.sources[0], &["ALTER TABLE d0.m ENGINE=InnoDB"]);
    says_ok(&fan_in, "resume s1");
    stops_with(&fan_in, "s1", "does not take the sequence d0.s as it is");
    run(&fan_in.sources[0], &["ALTER SEQUENCE d0.s NOCACHE"]);
    run(&fan_in.sources[1], &["DROP SEQUENCE d1.s", "DROP TABLE d1.m"]);
    says_ok(&fan_in, "resume s1");
    fan_in.wait_until("s2 to stop or run", |shown| !line_of(shown, "s2").contains("copying"));
    if line_of(&fan_in.says("status").0, "s2").contains("stopped") {
        says_ok(&fan_in, "resume s2");
    }
    fan_in.wait_until("rows", |_| texts_of(&fan_in, 1, "SELECT 1 FROM d0.parent LIMIT 1").is_ok_and(|rows| rows == 1));
    fan_in.target.node(0).kill().unwrap();
    run(&fan_in.sources[0], &["UPDATE d0.parent SET v = 'changed' WHERE id < 10"]);
    fan_in.catch_up();
    // Of a table that is made later, rows stop the source.
    run(&fan_in.sources[0], &["CREATE TABLE d0.later (id INT) ENGINE=MyISAM", "INSERT INTO d0.later VALUES (1)"]);
    stops_with(&fan_in, "s1", "d0.later has the engine MyISAM");
    fan_in.target.node(1).connect().unwrap().execute(b"ALTER TABLE d0.later ENGINE=InnoDB").unwrap();
    run(&fan_in.sources[0], &["SET SESSION sql_log_bin = 0", "ALTER TABLE d0.later ENGINE=InnoDB"]);
    says_ok(&fan_in, "resume s1");
    says_ok(&fan_in, "copy-again s1 --table d0.child");
    fan_in.catch_up();
    for (index, source) in fan_in.sources.iter().enumerate() {
        let schema = format!("d{index}");
        let of = |connection: &mut hortator_mysql::Connection| state::describe(connection, &schema).unwrap();
        let expected = of(&mut source.node(0).connect().unwrap());
        for node in [1, 2] {
            let mut connection = fan_in.target.node(node).connect().unwrap();
            connection.execute(b"SET SESSION wsrep_sync_wait = 15").unwrap();
            let differences = expected.differences(&of(&mut connection));
            assert!(differences.is_empty(), "{schema} on node {node}: {}", differences.join("\n"));
        }
    }
    says_ok(&fan_in, "stop");
    let (log, _) = agent.end();
    // Once for each start, two of which stop before the rows, and once more after the crash.
    assert!(log.matches("s1: copies ").count() > 3, "the copy began anew: {log}");
}

/// How many rows a node gives.
fn texts_of(fan_in: &FanIn, node: usize, query: &str) -> Result<usize, hortator_mysql::Error> {
    Ok(fan_in.target.node(node).connect().unwrap().fetch(query.as_bytes())?.len())
}

/// The position on record is what says who applies: not the lock, which nodes of a cluster do not share.
#[test]
fn positions_that_another_process_has_moved() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"],
    );
    fan_in.catch_up();
    // As the process that has done this would have.
    run(&fan_in.sources[0], &["SET SESSION sql_log_bin = 0", "INSERT INTO d.t VALUES (2)"]);
    run(
        &fan_in.target,
        &["INSERT INTO d.t VALUES (2)", "UPDATE hortator.replicate_positions SET gtid = '0-1-3,7-7-7'"],
    );
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (3)"]);
    // It goes on from what is on record, after a tenth of a second.
    fan_in.catch_up();
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id"), [["1"], ["2"], ["3"]]);
    agent.terminate();
    let (log, code) = agent.end();
    assert_eq!(code, Some(0), "{log}");
    assert!(
        log.contains("another process has applied transactions of the source s1 to this target meanwhile"),
        "{log}"
    );
}

/// The rows of these would be on one node only.
#[test]
fn statements_whose_rows_stay_on_a_node() {
    let fan_in = FanIn::into(1, Builder::galera(2).start_temporary().unwrap());
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(
        source,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.m (id INT PRIMARY KEY) ENGINE=MyISAM",
            "CREATE TABLE d.t (id INT PRIMARY KEY) ENGINE=InnoDB",
            "INSERT INTO d.t VALUES (1), (2)",
        ],
    );
    let statement = "SET SESSION binlog_format = STATEMENT";
    let myisam = "CREATE TABLE d.made ENGINE=MyISAM SELECT * FROM d.t";
    for (statements, said) in [
        (&[myisam][..], "d.made has the engine MyISAM, and the target is a node of a cluster"),
        (&["DROP TABLE d.made", statement, myisam], "Make it on the target by hand with the engine InnoDB"),
        (&[statement, "INSERT INTO d.m VALUES (1)"], "d.m has the engine MyISAM"),
        (
            &[statement, "SET STATEMENT default_storage_engine=Aria FOR CREATE TABLE d.of_default SELECT * FROM d.t"],
            "d.of_default has the engine Aria",
        ),
    ] {
        run(source, statements);
        stops_with(&fan_in, "s1", said);
        says_ok(&fan_in, "skip s1");
        fan_in.wait_until("it to go on", |shown| !line_of(shown, "s1").contains("stopped"));
    }
    // The target has nothing of what was passed over.
    run(source, &["DROP TABLE d.made, d.of_default", "CREATE TABLE d.made ENGINE=InnoDB SELECT * FROM d.t"]);
    run(source, &[statement, "CREATE TABLE d.by_statement ENGINE=InnoDB SELECT * FROM d.t"]);
    run(source, &[statement, "INSERT INTO d.by_statement VALUES (7)"]);
    fan_in.catch_up();
    for node in 0..2 {
        let mut connection = fan_in.target.node(node).connect().unwrap();
        connection.execute(b"SET SESSION wsrep_sync_wait = 15").unwrap();
        let count = |connection: &mut hortator_mysql::Connection, table: &str| {
            connection.fetch(format!("SELECT id FROM d.{table}").as_bytes()).unwrap().len()
        };
        assert_eq!(["made", "by_statement", "m"].map(|table| count(&mut connection, table)), [2, 3, 0], "node {node}");
    }
}
