//! What a server reports about changes of the session.

use hortator_mysql::SessionChanges;

use crate::server::Server;

/// The reported changes of a statement, as one line of text; the server reports variables in no certain order.
fn shown(changes: &SessionChanges) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut parts: Vec<_> = changes.variables.iter().map(|(name, value)| text(name) + "=" + &text(value)).collect();
    parts.sort();
    parts.extend(changes.schema.as_ref().map(|schema| format!("use {}", text(schema))));
    parts.extend(changes.is_changed.then(|| "changed".to_owned()));
    parts.join(", ")
}

#[test]
fn changes_are_reported_with_the_statement_that_makes_them() {
    let (_server, mut connection) = Server::shared().connection("track");
    connection.take_session_changes();
    assert!(connection.track_session().unwrap());
    assert!(connection.take_session_changes().is_empty());
    for (sql, expected) in [
        ("select 1", ""),
        ("create table t (a int)", ""),
        ("insert into t values (1), (2)", ""),
        ("set @a = 1", "changed"),
        ("create function f() returns int begin set @a = 2; return 1; end", ""),
        ("select f()", "changed"),
        ("create trigger r before insert on t for each row set @a = 3", ""),
        ("insert into t values (3)", "changed"),
        ("prepare s from 'set @a = 4'", "changed"),
        ("execute s", "changed"),
        ("set statement max_statement_time = 3 for select 1", "max_statement_time=3.000000, changed"),
        ("select 1", ""),
        ("set @a = 5", "max_statement_time=0.000000, changed"),
        ("set sql_notes = 0, sql_mode = ''", "sql_mode=, sql_notes=OFF, changed"),
        ("begin not atomic set sql_notes = 1; set sql_notes = 0; end", "sql_notes=OFF, changed"),
        ("create procedure p() begin select 1; set sql_notes = 1; select 2; end", ""),
        ("call p()", "sql_notes=ON, changed"),
        ("create temporary table w (a int)", "changed"),
        ("insert into w values (1)", ""),
        ("alter table w add b int", "changed"),
        ("drop temporary table w", "changed"),
        ("use mysql", "use mysql, changed"),
        ("use track", "use track, changed"),
    ] {
        connection.execute(sql.as_bytes()).unwrap();
        assert_eq!(shown(&connection.take_session_changes()), expected, "{sql}");
    }
    for unseen in [
        "select @a := 2",
        "select 2 into @a",
        "update t set a = (@a := a)",
        "get diagnostics @a = number",
        "select get_lock('track', 0)",
    ] {
        connection.execute(unseen.as_bytes()).unwrap();
        assert!(connection.take_session_changes().is_empty(), "{unseen}");
    }
    // Over all results of a command, and over commands.
    connection.enable_multi_statements().unwrap();
    connection.execute(b"set sql_notes = 0; select 1; set sql_notes = 1; set @b = 1").unwrap();
    connection.ping().unwrap();
    assert_eq!(shown(&connection.take_session_changes()), "sql_notes=ON, changed");
    connection.select_db(b"mysql").unwrap();
    assert_eq!(connection.take_session_changes().schema, Some(b"mysql".to_vec()));
}

#[test]
fn a_failed_statements_changes_are_never_reported() {
    let (_server, mut connection) = Server::shared().connection("track_failures");
    connection.track_session().unwrap();
    connection.take_session_changes();
    connection.execute(b"begin not atomic set sql_notes = 0; signal sqlstate '45000'; end").unwrap_err();
    connection.execute(b"select 1").unwrap();
    assert!(connection.take_session_changes().is_empty());
    assert_eq!(connection.fetch(b"select @@sql_notes").unwrap(), [[Some(b"0".to_vec())]]);
    // Those of the statements before it are.
    connection.enable_multi_statements().unwrap();
    connection.execute(b"set sql_notes = 1; selec").unwrap_err();
    assert_eq!(shown(&connection.take_session_changes()), "sql_notes=ON, changed");
}

#[test]
fn schemas_in_character_sets_of_wide_characters() {
    let (_server, mut connection) = Server::shared().connection("track_wide");
    connection.track_session().unwrap();
    for charset in ["ucs2", "utf16", "utf16le", "utf32", "utf8mb4"] {
        connection.execute(format!("alter database track_wide character set {charset}").as_bytes()).unwrap();
        connection.take_session_changes();
        connection.execute(b"use track_wide").unwrap();
        assert_eq!(shown(&connection.take_session_changes()), "use track_wide, changed", "{charset}");
        // A short state and a long one, with and without an info string.
        connection.execute(b"create or replace table t (a int) engine=myisam").unwrap();
        for mode in ["", "ansi"] {
            connection.execute(format!("set sql_mode = '{mode}'").as_bytes()).unwrap();
            let changes = connection.take_session_changes();
            assert!(changes.variable(b"sql_mode").is_some_and(|value| value.is_empty() == mode.is_empty()), "{mode}");
        }
        let done = connection.execute(b"insert into t values (@a := 1), (2)").unwrap();
        assert_eq!(done.info, b"Records: 2  Duplicates: 0  Warnings: 0", "{charset}");
        let many = "set sql_mode = 'traditional', sql_notes = 0, sort_buffer_size = 20000, div_precision_increment = 5, \
                    join_buffer_size = 2000, optimizer_switch = 'mrr=on'";
        connection.execute(many.as_bytes()).unwrap();
        assert_eq!(connection.take_session_changes().variables.len(), 6, "{charset}");
    }
}

#[test]
fn what_the_login_sets_is_no_change() {
    let server = Server::shared();
    let mut connection = hortator_mysql::Connection::open(&server.options()).unwrap();
    assert!(connection.take_session_changes().is_empty());
    // By default, a server reports the schema and some variables.
    connection.select_db(b"mysql").unwrap();
    assert_eq!(connection.take_session_changes().schema, Some(b"mysql".to_vec()));
}
