//! Statements and their responses.

use std::ops::ControlFlow;

use hortator_mysql::{Column, Connection, Error, RowSink, quote_identifier, quote_string};

use crate::server::{Server, one_value};

/// Records the result sets; stops after `limit` rows.
struct Journal {
    lines: Vec<String>,
    limit: usize,
}

impl Journal {
    fn new(limit: usize) -> Journal {
        Journal { lines: Vec::new(), limit }
    }
}

impl RowSink for Journal {
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()> {
        let names: Vec<_> = columns.iter().map(|column| String::from_utf8_lossy(&column.name)).collect();
        self.lines.push(format!("[{}]", names.join(",")));
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let shown =
            |value: &Option<&[u8]>| value.map_or("NULL".into(), |text| String::from_utf8_lossy(text).into_owned());
        self.lines.push(values.iter().map(shown).collect::<Vec<_>>().join(","));
        self.limit -= 1;
        if self.limit == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[test]
fn counts_and_information_of_a_change() {
    let (_server, mut connection) = Server::shared().connection("counts");
    connection.execute(b"create table t (id int auto_increment primary key, s tinyint) engine=innodb").unwrap();
    let done = connection.execute(b"insert into t (s) values (1),(2),(3)").unwrap();
    assert_eq!((done.affected_rows, done.last_insert_id, done.warnings), (3, 1, 0));
    assert_eq!(String::from_utf8_lossy(&done.info), "Records: 3  Duplicates: 0  Warnings: 0");
    let done = connection.execute(b"insert ignore into t (s) values (999)").unwrap();
    assert_eq!((done.affected_rows, done.warnings), (1, 1));
    let done = connection.execute(b"select * from t").unwrap();
    assert_eq!(done.rows, 4);
}

#[test]
fn rows_of_text_null_and_bytes_that_are_not_utf8() {
    let (_server, mut connection) = Server::shared().connection("bytes");
    connection.execute(b"create table t (b varbinary(20))").unwrap();
    connection.execute(b"insert into t values ('\xff\xfe\x00\x80'), (null), ('')").unwrap();
    let rows = connection.fetch(b"select b, 1 from t").unwrap();
    let one = Some(b"1".to_vec());
    assert_eq!(
        rows,
        [vec![Some(b"\xff\xfe\x00\x80".to_vec()), one.clone()], vec![None, one.clone()], vec![Some(Vec::new()), one]]
    );
}

#[test]
fn every_result_set_of_a_call() {
    let (_server, mut connection) = Server::shared().connection("calls");
    connection.execute(b"create procedure p() begin select 1 as a; select 2 as b, null as c; set @x = 1; end").unwrap();
    let mut journal = Journal::new(100);
    let done = connection.query(b"call p()", &mut journal).unwrap();
    assert_eq!(journal.lines, ["[a]", "1", "[b,c]", "2,NULL"]);
    assert_eq!(done.rows, 2);
    assert_eq!(one_value(&mut connection, "select @x"), "1");
    // An error after some rows.
    connection.execute(b"create procedure q() begin select 1; select * from nowhere; end").unwrap();
    assert_eq!(connection.execute(b"call q()").unwrap_err().code(), Some(1146));
    connection.ping().unwrap();
}

#[test]
fn a_reader_that_has_enough() {
    let (_server, mut connection) = Server::shared().connection("enough");
    let mut journal = Journal::new(3);
    let done = connection.query(b"select seq from seq_1_to_20000", &mut journal).unwrap();
    assert_eq!(journal.lines, ["[seq]", "1", "2", "3"]);
    assert_eq!(done.rows, 20_000);
    assert_eq!(one_value(&mut connection, "select 7"), "7");
}

#[test]
fn errors_leave_the_connection_usable() {
    let (_server, mut connection) = Server::shared().connection("errors");
    let error = connection.execute(b"selec 1").unwrap_err();
    assert_eq!(error.code(), Some(1064));
    let Error::Server(error) = error else { panic!("{error:?}") };
    assert_eq!(&error.sqlstate, b"42000");
    // The server ends a started result set with an error.
    let sql = b"select json_value(if(seq = 15000, cast('{' as char), '{}'), '$'), (select 1 union select if(seq < 15000, 1, 2)) from seq_1_to_20000";
    assert_eq!(connection.execute(sql).unwrap_err().code(), Some(1242));
    assert_eq!(connection.execute(b"").unwrap_err().code(), Some(1065));
    // One statement at a time: a second one after a semicolon is an error, and is not executed.
    assert_eq!(connection.execute(b"select 1; select 2").unwrap_err().code(), Some(1064));
    connection.ping().unwrap();
}

#[test]
fn the_status_follows_the_session() {
    let (_server, mut connection) = Server::shared().connection("status");
    assert!(!connection.status().in_transaction());
    connection.execute(b"begin").unwrap();
    assert!(connection.status().in_transaction());
    connection.execute(b"rollback").unwrap();
    connection.execute(b"set autocommit = 0, sql_mode = 'NO_BACKSLASH_ESCAPES'").unwrap();
    let status = connection.status();
    assert!(!status.in_transaction() && !status.autocommit() && status.no_backslash_escapes());
}

#[test]
fn no_file_of_ours_is_sent() {
    let (_server, mut connection) = Server::shared().connection("infile");
    connection.execute(b"create table t (line text)").unwrap();
    connection.execute(b"set global local_infile = 1").unwrap();
    let error = connection.execute(b"load data local infile '/etc/passwd' into table t").unwrap_err();
    assert!(matches!(&error, Error::LocalFile(name) if name == "/etc/passwd"), "{error:?}");
    assert_eq!(one_value(&mut connection, "select count(*) from t"), "0");
}

#[test]
fn prepared_statements_are_created_and_closed() {
    let (_server, mut connection) = Server::shared().connection("prepared");
    assert_eq!(connection.prepare(b"select ?, ? from nowhere").unwrap_err().code(), Some(1146));
    let prepared = connection.prepare(b"select ?, ? from mysql.user").unwrap();
    assert_eq!(prepared.parameters, 2);
    let plain = connection.prepare(b"select 1").unwrap();
    let count = "select variable_value from information_schema.session_status where variable_name = 'com_stmt_close'";
    connection.close(prepared).unwrap();
    connection.close(plain).unwrap();
    assert_eq!(one_value(&mut connection, count), "2");
}

#[test]
fn quoted_names_and_texts_work_in_any_sql_mode() {
    let (_server, mut connection) = Server::shared().connection("quotes");
    for mode in ["", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES"] {
        connection.execute(format!("set sql_mode = '{mode}'").as_bytes()).unwrap();
        for text in ["plain", "it's", "a\\'b\\", "ü漢🦀\n\0\u{1a}", "`"] {
            let sql = [b"select ", &quote_string(text)[..], b" as ", &quote_identifier("a`b;\\")].concat();
            assert_eq!(one_value(&mut connection, &sql), text, "{mode}");
        }
    }
}

#[test]
fn deadlocks_and_lock_waits_are_transient() {
    let (server, mut one) = Server::shared().connection("locks");
    let mut other = Connection::open(&server.options()).unwrap();
    other.select_db(b"locks").unwrap();
    one.execute(b"create table t (id int primary key) engine=innodb").unwrap();
    one.execute(b"insert into t values (1)").unwrap();
    one.execute(b"begin").unwrap();
    one.execute(b"delete from t").unwrap();
    other.execute(b"set innodb_lock_wait_timeout = 1").unwrap();
    let error = other.execute(b"delete from t").unwrap_err();
    assert!(error.is_transient() && !error.is_lost(), "{error}");
}
