//! MySQL servers as sources of `hortator replicate` that are killed, replaced by a replica, or have another history.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use hortator_sandbox::Temporary;

use super::replicate::{assert_same, gtid_executed, mariadb, pair, recorded, source};
use crate::replicate::fan_in::{Ends, FanIn, run, texts};

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn a_source_whose_history_is_another_one() {
    let fan_in = pair(&[]);
    let agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"],
    );
    fan_in.catch_up();
    fan_in.says("stop");
    drop(agent);
    // The next transactions are gone before the agent has seen them.
    run(
        &fan_in.sources[0],
        &["INSERT INTO d.t VALUES (2)", "FLUSH BINARY LOGS", "PURGE BINARY LOGS TO 'binlog.000002'"],
    );
    let agent = fan_in.start_only();
    fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("has purged the transactions") && shown.contains("copy the data again"), "{shown}");
    drop(agent);
    run(&fan_in.sources[0], &["RESET BINARY LOGS AND GTIDS", "INSERT INTO d.t VALUES (3)"]);
    let agent = fan_in.start_only();
    fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("does not have the transactions") && shown.contains("give a new `start`"), "{shown}");
    drop(agent);
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.t"), [["1"]]);
}

/// A writer of small and large transactions, DDL and JSON, until it is to end.
fn write(source: &Temporary, ends: &AtomicBool) {
    let mut number = 0;
    while !ends.load(Ordering::SeqCst) {
        number += 1;
        let Ok(mut connection) = source.node(0).connect() else {
            thread::sleep(Duration::from_millis(100));
            continue;
        };
        let compress = format!("SET SESSION binlog_transaction_compression = {}", number % 3 == 0);
        let mut statements = vec![compress];
        for one in 0..20 {
            let id = number * 100 + one;
            statements
                .push(format!("INSERT INTO d.t (id, v, j) VALUES ({id}, 'ä', JSON_OBJECT('id', {id}, 'r', RAND()))"));
        }
        statements.push(format!("UPDATE d.t SET j = JSON_SET(j, '$.r', {number}.5) WHERE id % 7 = {}", number % 7));
        statements.push(format!("DELETE FROM d.t WHERE id < {}", (number - 30) * 100));
        if number % 10 == 5 {
            statements.push(format!("ALTER TABLE d.t ADD COLUMN c{number} INT DEFAULT {number}"));
            statements.push("REPLACE INTO d.large SELECT id, REPEAT(id, 20000) FROM d.t LIMIT 100".to_owned());
        }
        // A source that is killed refuses them.
        if statements.iter().any(|statement| connection.execute(statement.as_bytes()).is_err()) {
            continue;
        }
    }
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn kills_of_the_agent_the_source_and_the_target() {
    let fan_in = pair(&[]);
    let mut agent = Some(fan_in.start());
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20), j JSON)",
            "CREATE TABLE d.large (id INT PRIMARY KEY, v LONGTEXT)",
        ],
    );
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ends = Ends(&ends);
        scope.spawn(|| write(&fan_in.sources[0], &ends));
        for round in 0..9 {
            thread::sleep(Duration::from_millis(1_500));
            match round % 3 {
                0 => {
                    drop(agent.take());
                    agent = Some(fan_in.start_only());
                }
                1 => {
                    fan_in.sources[0].node(0).kill().unwrap();
                    fan_in.sources[0].node(0).start().unwrap();
                }
                _ => {
                    fan_in.target.node(0).kill().unwrap();
                    fan_in.target.node(0).start().unwrap();
                }
            }
        }
    });
    fan_in.catch_up();
    assert_same(&fan_in, &["d.t", "d.large"]);
    assert_eq!(recorded(&fan_in), gtid_executed(&fan_in.sources[0]));
    drop(agent);
}

/// A source with a second host: a replica of the first, with the same GTIDs.
fn two_hosts() -> FanIn {
    let mut fan_in = FanIn::of(vec![source(&[]), source(&[])], mariadb(&[]));
    let [first, second] = &fan_in.sources[..] else { unreachable!("two were asked for") };
    run(second, &["SET PERSIST server_id = 7"]);
    for server in [first, second] {
        run(
            server,
            &[
                "SET sql_log_bin = 0",
                "CREATE USER repl@'127.0.0.1' IDENTIFIED BY 'secret'",
                "GRANT ALL ON *.* TO repl@'127.0.0.1'",
            ],
        );
    }
    let change = format!(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {}, SOURCE_USER = 'repl', SOURCE_PASSWORD = \
         'secret', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1",
        first.node(0).port()
    );
    run(second, &[&change, "START REPLICA"]);
    let hosts = [first, second].map(|server| format!("\"127.0.0.1:{}\"", server.node(0).port()));
    let text = format!(
        "{}[[source]]\nname = \"s1\"\nhost = [{}]\nuser = \"repl\"\npassword = \"secret\"\nstart = \"now\"\n",
        fan_in.target_table(),
        hosts.join(", ")
    );
    fan_in.write(&text);
    fan_in
}

/// Waits for rows on the target, as their ids.
fn wait_for_ids(fan_in: &FanIn, expected: &str) {
    fan_in.wait_until("the rows", |_| {
        let is_there = !texts(&fan_in.target, "SHOW DATABASES LIKE 'd'").is_empty()
            && !texts(&fan_in.target, "SHOW TABLES FROM d").is_empty();
        is_there && texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id").concat().join(" ") == expected
    });
}

fn wait_for_replica(fan_in: &FanIn) {
    fan_in.wait_until("the replica", |_| gtid_executed(&fan_in.sources[1]) == gtid_executed(&fan_in.sources[0]));
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn the_next_host_of_a_mysql_source_continues() {
    let fan_in = two_hosts();
    let agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"],
    );
    // The second has other positions in its log.
    run(&fan_in.sources[1], &["FLUSH BINARY LOGS"]);
    wait_for_ids(&fan_in, "1");
    wait_for_replica(&fan_in);
    fan_in.sources[0].node(0).kill().unwrap();
    let second = texts(&fan_in.sources[1], "SELECT @@server_uuid").concat().concat();
    run(&fan_in.sources[1], &["STOP REPLICA", "INSERT INTO d.t VALUES (2)"]);
    wait_for_ids(&fan_in, "1 2");
    assert_eq!(recorded(&fan_in), gtid_executed(&fan_in.sources[1]));
    // The first comes back without what the second has written, and the second goes.
    fan_in.sources[0].node(0).start().unwrap();
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (3)"]);
    fan_in.sources[1].node(0).kill().unwrap();
    fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
    let (shown, _) = fan_in.says("status");
    let said = format!("does not have the transactions {second}:1 ");
    assert!(shown.contains(&said), "{shown}");
    assert!(shown.contains(&format!("127.0.0.1:{}", fan_in.sources[0].node(0).port())), "{shown}");
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.t ORDER BY id").concat(), ["1", "2"]);
    // With the missing transaction it is a host of the same history again.
    run(&fan_in.sources[0], &[&format!("SET gtid_next = '{second}:1'"), "INSERT INTO d.t VALUES (2)"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    wait_for_ids(&fan_in, "1 2 3");
    assert_eq!(recorded(&fan_in), gtid_executed(&fan_in.sources[0]));
    drop(agent);
}

/// A replica that is behind, or has deleted the log of what the target lacks, does not continue; the first host does.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn a_host_of_a_mysql_source_that_is_behind() {
    let fan_in = two_hosts();
    let agent = fan_in.start();
    run(
        &fan_in.sources[0],
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"],
    );
    wait_for_replica(&fan_in);
    run(&fan_in.sources[1], &["STOP REPLICA"]);
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (2)"]);
    wait_for_ids(&fan_in, "1 2");
    fan_in.sources[0].node(0).kill().unwrap();
    fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains(":4 which the target has of it") && shown.contains("a replica that is behind"), "{shown}");
    assert!(shown.contains(&format!("127.0.0.1:{}", fan_in.sources[1].node(0).port())), "{shown}");
    // Nothing of the target has changed, and it goes on where it can.
    fan_in.sources[0].node(0).start().unwrap();
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (3)"]);
    run(&fan_in.sources[1], &["START REPLICA"]);
    wait_for_replica(&fan_in);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    wait_for_ids(&fan_in, "1 2 3");

    // A host that has purged what the target lacks.
    fan_in.says("pause s1");
    fan_in.wait_until("the pause", |shown| shown.contains(" paused "));
    run(&fan_in.sources[0], &["INSERT INTO d.t VALUES (4)"]);
    wait_for_replica(&fan_in);
    run(&fan_in.sources[1], &["FLUSH BINARY LOGS"]);
    let last = texts(&fan_in.sources[1], "SHOW BINARY LOG STATUS")[0][0].clone();
    run(&fan_in.sources[1], &[&format!("PURGE BINARY LOGS TO '{last}'")]);
    fan_in.sources[0].node(0).kill().unwrap();
    fan_in.says("resume s1");
    fan_in.wait_until("it to stop", |shown| shown.contains(" stopped "));
    let (shown, _) = fan_in.says("status");
    assert!(shown.contains("the source has purged the transactions"), "{shown}");
    fan_in.sources[0].node(0).start().unwrap();
    fan_in.sources[1].node(0).kill().unwrap();
    fan_in.says("resume s1");
    wait_for_ids(&fan_in, "1 2 3 4");
    drop(agent);
}
