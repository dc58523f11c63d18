//! A source and its replica.

use hortator_sandbox::Builder;

use crate::{ask, run};

#[test]
fn the_replica_has_a_row_and_reconnects_after_a_restart() {
    let pair = Builder::semisync().set("rpl_semi_sync_master_timeout", "120000").start_temporary().unwrap();
    let (source, replica) = (pair.node(0), pair.node(1));
    run(source, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]);
    let position = ask(source, "SELECT @@gtid_binlog_pos").concat().concat();
    assert_eq!(position, "0-1-3", "the sandbox's own statements are not in the stream");
    ask(replica, &format!("SELECT MASTER_GTID_WAIT('{position}', 120)"));
    assert_eq!(ask(replica, "SELECT id FROM d.t"), [["1"]]);
    assert_eq!(ask(source, "SHOW STATUS LIKE 'Rpl_semi_sync_master_yes_tx'"), [["Rpl_semi_sync_master_yes_tx", "3"]]);

    source.kill().unwrap();
    source.start().unwrap();
    run(source, &["INSERT INTO d.t VALUES (2)"]);
    ask(replica, "SELECT MASTER_GTID_WAIT('0-1-4', 120)");
    assert_eq!(ask(replica, "SELECT id FROM d.t ORDER BY id"), [["1"], ["2"]]);
}

/// A row of each reaches the other before it is confirmed, also after one of the two was killed.
#[test]
fn each_server_of_a_ring_has_the_rows_of_the_other() {
    let ring = Builder::ring().set("rpl_semi_sync_master_timeout", "120000").start_temporary().unwrap();
    let (first, second) = (ring.node(0), ring.node(1));
    run(first, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY)"]);
    ask(second, "SELECT MASTER_GTID_WAIT('1-1-2', 120)");
    run(first, &["INSERT INTO d.t VALUES ()"]);
    run(second, &["INSERT INTO d.t VALUES ()"]);
    ask(first, "SELECT MASTER_GTID_WAIT('2-2-1', 120)");
    ask(second, "SELECT MASTER_GTID_WAIT('1-1-3', 120)");
    for node in [first, second] {
        assert_eq!(ask(node, "SELECT id FROM d.t ORDER BY id"), [["1"], ["2"]]);
        assert_eq!(ask(node, "SHOW STATUS LIKE 'Rpl_semi_sync_master_no_tx'"), [["Rpl_semi_sync_master_no_tx", "0"]]);
    }

    first.kill().unwrap();
    first.start().unwrap();
    run(first, &["INSERT INTO d.t VALUES (7)"]);
    run(second, &["INSERT INTO d.t VALUES (8)"]);
    ask(first, "SELECT MASTER_GTID_WAIT('2-2-2', 120)");
    ask(second, "SELECT MASTER_GTID_WAIT('1-1-4', 120)");
    for node in [first, second] {
        assert_eq!(ask(node, "SELECT id FROM d.t ORDER BY id"), [["1"], ["2"], ["7"], ["8"]]);
    }
}

/// A setting of one server is its own, also after a restart; one for a server that is not there is refused.
#[test]
fn one_server_can_have_a_setting_of_its_own() {
    let builder = Builder::semisync().set("innodb_io_capacity", "300");
    let pair = builder.clone().set_on(1, "innodb_io_capacity", "333").start_temporary().unwrap();
    let capacity = |node| ask(pair.node(node), "SELECT @@innodb_io_capacity").concat().concat();
    assert_eq!((capacity(0), capacity(1)), ("300".to_owned(), "333".to_owned()));
    pair.node(1).kill().unwrap();
    pair.node(1).start().unwrap();
    assert_eq!(capacity(1), "333");
    let refused = builder.clone().set_on(2, "innodb_io_capacity", "333").start_temporary().unwrap_err().to_string();
    assert_eq!(refused, "a setting is for node 3: this sandbox has 2 node(s)");
    let own = builder.set_on(1, "port", "1").start_temporary().unwrap_err().to_string();
    assert!(own.contains("the sandbox sets the option `port` itself"), "{own}");
}
