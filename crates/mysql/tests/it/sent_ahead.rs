//! Statements whose answers are read later.

use hortator_mysql::Connection;

use crate::server::{Server, one_value};

#[test]
fn answers_come_in_the_order_of_the_statements() {
    let (_server, mut connection) = Server::shared().connection("ahead");
    connection.execute(b"create table t (id int primary key, v longtext) engine=innodb").unwrap();
    // Of several chunks, too: its answer has another number.
    let long = format!("insert into t values (4, '{}')", "x".repeat(20_000_000));
    for sql in ["insert into t values (1, ''), (2, '')", "insert into t values (3, '')", &long, "delete from t"] {
        connection.send_ahead(sql.as_bytes()).unwrap();
    }
    let counts = [2, 1, 1, 4].map(|count| (count, connection.take_answer().unwrap().affected_rows));
    assert!(counts.iter().all(|(expected, found)| expected == found), "{counts:?}");
    assert_eq!(connection.answers_due(), 0);
    assert_eq!(connection.take_answer().unwrap().affected_rows, 0, "none is due");
    assert_eq!(one_value(&mut connection, "select count(*) from t"), "0");
}

#[test]
fn what_stands_behind_an_error_runs() {
    let (_server, mut connection) = Server::shared().connection("ahead_of_errors");
    connection.execute(b"create table t (id int primary key) engine=innodb").unwrap();
    for sql in ["insert into t values (1)", "insert into t values (1)", "insert into t values (2)"] {
        connection.send_ahead(sql.as_bytes()).unwrap();
    }
    connection.take_answer().unwrap();
    // A command behind them is not sent where one of them has failed.
    assert_eq!(connection.execute(b"insert into t values (3)").unwrap_err().code(), Some(1062));
    assert_eq!(connection.answers_due(), 1);
    assert_eq!(one_value(&mut connection, "select group_concat(id) from t"), "1,2");
}

#[test]
fn a_connection_that_is_lost_meanwhile() {
    let (server, mut connection) = Server::shared().connection("ahead_of_loss");
    let mut killer = Connection::open(&server.options()).unwrap();
    connection.send_ahead(b"do sleep(3600)").unwrap();
    connection.send_ahead(b"do 1").unwrap();
    killer.execute(format!("kill {}", connection.id()).as_bytes()).unwrap();
    let error = connection.take_answer().unwrap_err();
    assert!(error.is_lost(), "{error:?}");
    assert_eq!(connection.take_answer().unwrap_err(), error);
    assert_eq!((connection.answers_due(), connection.ping().unwrap_err()), (0, error));
}

#[test]
fn prepared_statements_go_ahead_too() {
    let (_server, mut connection) = Server::shared().connection("ahead_prepared");
    connection.execute(b"create table t (id int primary key) engine=innodb").unwrap();
    let prepared = connection.prepare(b"insert into t values (?)").unwrap();
    for id in [7u32, 8, 8] {
        // COM_STMT_EXECUTE: no cursor, once, no NULL, a parameter of the type LONG.
        let head = [&[0x17][..], &prepared.id.to_le_bytes(), &[0, 1, 0, 0, 0, 0, 1, 3, 0]].concat();
        connection.send_ahead_raw(&[&head[..], &id.to_le_bytes()].concat()).unwrap();
    }
    connection.send_ahead(b"delete from t where id = 7").unwrap();
    assert_eq!([(); 2].map(|()| connection.take_answer().unwrap().affected_rows), [1, 1]);
    assert_eq!(connection.take_answer().unwrap_err().code(), Some(1062));
    assert_eq!(connection.take_answer().unwrap().affected_rows, 1);
    assert_eq!(one_value(&mut connection, "select group_concat(id) from t"), "8");
}
