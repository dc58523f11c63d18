//! Several statements in one packet.

use std::ops::ControlFlow;

use hortator_mysql::{Column, Connection, Error, ExecResult, RowSink};

use crate::server::{Server, one_value};

/// The values of the rows, and `/` where a result set begins.
struct Values(String);

impl RowSink for Values {
    fn columns(&mut self, _columns: &[Column]) -> ControlFlow<()> {
        self.0.push('/');
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        self.0.push_str(&String::from_utf8_lossy(values[0].unwrap()));
        if self.0.ends_with('9') { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn run(connection: &mut Connection, text: &str) -> (Result<(), Error>, Vec<ExecResult>, String) {
    let (mut values, mut results) = (Values(String::new()), Vec::new());
    let outcome = connection.query_batch(text.as_bytes(), &mut values, &mut results);
    (outcome, results, values.0)
}

#[test]
fn each_statement_has_its_own_result() {
    let (_server, mut connection) = Server::shared().connection("batches");
    connection.enable_multi_statements().unwrap();
    let text = "create table t (id int auto_increment primary key, a int) engine=innodb;
        insert into t (a) values (5), (6); begin; insert into t (a) values (8), (9), (1); select a from t;
        select a from t where a < 0; rollback; select count(*) from t";
    let (outcome, results, values) = run(&mut connection, text);
    outcome.unwrap();
    let facts: Vec<_> = results.iter().map(|done| (done.affected_rows, done.last_insert_id, done.rows)).collect();
    let expected = [(0, 0, 0), (2, 1, 0), (0, 0, 0), (3, 3, 0), (0, 0, 5), (0, 0, 0), (0, 0, 0), (0, 0, 1)];
    assert_eq!((facts.as_slice(), values.as_str()), (&expected[..], "/5689//2"));
    let open: Vec<_> = results.iter().map(|done| done.status.in_transaction()).collect();
    assert_eq!(open, [false, false, true, true, true, true, false, false]);
    assert_eq!(results[1].info, b"Records: 2  Duplicates: 0  Warnings: 0");
}

#[test]
fn the_first_error_ends_a_batch() {
    let (_server, mut connection) = Server::shared().connection("batch_errors");
    connection.enable_multi_statements().unwrap();
    for (text, code, index) in [
        (
            "create or replace table t (a int primary key); insert into t values (1); insert into t values (1); drop table t",
            1062,
            2,
        ),
        ("insert into t values (2); selec; drop table t", 1064, 1),
        ("insert into t values (3); ; drop table t", 1064, 1),
        ("selec; drop table t", 1064, 0),
        ("select 1; select (select a from t); drop table t", 1242, 1),
    ] {
        let (outcome, results, _) = run(&mut connection, text);
        assert_eq!((outcome.unwrap_err().code(), results.len()), (Some(code), index), "{text}");
        connection.ping().unwrap();
    }
    assert_eq!(one_value(&mut connection, "select group_concat(a order by a) from t"), "1,2,3");
}

#[test]
fn one_statement_only_unless_more_are_allowed() {
    let (_server, mut connection) = Server::shared().connection("batch_off");
    let (outcome, results, _) = run(&mut connection, "select 1; select 2");
    assert_eq!((outcome.unwrap_err().code(), results.len()), (Some(1064), 0));
    let (outcome, results, values) = run(&mut connection, "select 1");
    outcome.unwrap();
    assert_eq!((results.len(), values.as_str()), (1, "/1"));
}

#[test]
fn a_file_for_a_batch_is_refused() {
    let (_server, mut connection) = Server::shared().connection("batch_infile");
    connection.enable_multi_statements().unwrap();
    connection.execute(b"set global local_infile = 1").unwrap();
    connection.execute(b"create table t (line text)").unwrap();
    let text = "select 1; load data local infile '/etc/passwd' into table t; select 2";
    let (outcome, results, values) = run(&mut connection, text);
    assert!(matches!(outcome, Err(Error::LocalFile(name)) if name == "/etc/passwd"));
    assert_eq!((results.len(), values.as_str()), (1, "/1/2"));
    assert_eq!(one_value(&mut connection, "select count(*) from t"), "0");
}
