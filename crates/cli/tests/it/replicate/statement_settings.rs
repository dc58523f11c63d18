//! Statements behind `SET STATEMENT … FOR`: what holds for a statement holds for it behind its settings, too.

use std::fs;

use hortator_mysql::Connection;

use super::fan_in::{FanIn, run, texts};
use super::line_of;

/// Before each of these statements, in turn.
const SETTINGS: [&str; 3] = [
    "SET STATEMENT max_statement_time=9 FOR ",
    "/* c */ set statement lock_wait_timeout = 50, default_week_format = 3 for ",
    "SET STATEMENT/*!100000 lock_wait_timeout=50,*/ max_statement_time=9 FOR ",
];

fn write(connection: &mut Connection, statements: &[&str]) {
    for (statement, settings) in statements.iter().zip(SETTINGS.iter().cycle()) {
        let text = format!("{settings}{statement}");
        connection.execute(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

fn session(fan_in: &FanIn) -> Connection {
    let mut connection = fan_in.sources[0].node(0).connect().unwrap();
    connection.execute(b"SET SESSION binlog_format = STATEMENT").unwrap();
    connection
}

#[test]
fn accounts_of_the_one_who_runs_it() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(source, &["CREATE DATABASE d1", "CREATE USER app@localhost IDENTIFIED BY 'secret'"]);
    run(source, &["GRANT CREATE USER, SELECT ON *.* TO app@localhost WITH GRANT OPTION"]);
    run(source, &["GRANT SUPER, BINLOG ADMIN, BINLOG REPLAY, REPLICATION MASTER ADMIN ON *.* TO app@localhost"]);
    let mut options = source.node(0).connect_options();
    (options.user, options.password) = ("app".to_owned(), Some("secret".into()));
    let mut app = Connection::open(&options).unwrap();
    write(
        &mut app,
        &[
            "CREATE ROLE r1",
            "CREATE ROLE r2",
            "CREATE ROLE r3 WITH ADMIN CURRENT_USER",
            "GRANT SELECT ON d1.* TO CURRENT_USER",
        ],
    );
    fan_in.catch_up();
    for query in [
        "SELECT Host, User, Role, Admin_option FROM mysql.roles_mapping ORDER BY 1, 2, 3",
        "SELECT Host, User, Db, Select_priv FROM mysql.db ORDER BY 1, 2, 3",
    ] {
        assert_eq!(texts(&fan_in.target, query), texts(source, query), "{query}");
    }
}

#[test]
fn accounts_that_a_rule_leaves_out() {
    let mut fan_in = FanIn::new(1, &[]);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&(text + "[[source.rule]]\nmatch = \"mysql.*\"\nskip = true\n"));
    let _agent = fan_in.start();
    write(&mut session(&fan_in), &["CREATE USER za@localhost", "CREATE USER zb@localhost", "CREATE ROLE zc"]);
    fan_in.catch_up();
    assert!(texts(&fan_in.target, "SELECT User FROM mysql.user WHERE User LIKE 'z%'").is_empty());
}

#[test]
fn temporary_tables_that_are_lost() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    let mut one = session(&fan_in);
    write(
        &mut one,
        &[
            "CREATE DATABASE d1",
            "CREATE TABLE d1.shad (a INT) ENGINE=InnoDB",
            "CREATE TABLE d1.u (v CHAR(9), a INT) ENGINE=InnoDB",
            "INSERT INTO d1.shad VALUES (1)",
        ],
    );
    one.execute(b"USE d1").unwrap();
    write(&mut one, &["CREATE TEMPORARY TABLE shad (a INT)"]);
    fan_in.catch_up();
    drop(agent);
    let _agent = fan_in.start_only();
    write(&mut one, &["INSERT INTO u SELECT 'shad', a FROM shad", "DELETE FROM shad"]);
    for _ in 0..2 {
        fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped") && shown.contains(" is lost"));
        assert_eq!(fan_in.says("skip s1").1, Some(0));
    }
    write(&mut one, &["DROP TEMPORARY TABLE shad", "INSERT INTO shad VALUES (2)"]);
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

#[test]
fn events_that_run_on_the_source_only() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let mut one = session(&fan_in);
    write(&mut one, &["CREATE DATABASE d1"]);
    one.execute(b"USE d1").unwrap();
    for name in ["e1", "e2", "e3"] {
        write(&mut one, &[&format!("CREATE EVENT {name} ON SCHEDULE EVERY 1 DAY DO SELECT 1")]);
    }
    write(
        &mut one,
        &[
            "ALTER EVENT e1 ENABLE",
            "ALTER EVENT e2 RENAME TO e4 ENABLE",
            "ALTER EVENT e3 ON SCHEDULE EVERY 2 DAY ENABLE",
        ],
    );
    fan_in.catch_up();
    let states = texts(&fan_in.target, "SELECT EVENT_NAME, STATUS FROM information_schema.EVENTS ORDER BY 1");
    assert_eq!(states, ["e1", "e3", "e4"].map(|name| [name, "SLAVESIDE_DISABLED"]));
}

/// Of a version comment, only the variables are left; and one that would make the session read no rows any more.
#[test]
fn settings_that_the_target_cannot_have() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let mut one = session(&fan_in);
    run(&fan_in.sources[0], &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v CHAR(9)) ENGINE=InnoDB"]);
    for text in [
        "set statement/*!100000 gtid_domain_id=3,*/ max_statement_time=9 for INSERT INTO d1.t VALUES (1, 'a')",
        "/*!100000 SET STATEMENT max_statement_time=9, gtid_domain_id=3 FOR */ INSERT INTO d1.t VALUES (2, 'b')",
        "SET STATEMENT max_statement_time=9 FOR /*!100000 INSERT INTO d1.t*/ VALUES (3, 'c')",
        "SET STATEMENT pseudo_slave_mode=0 FOR INSERT INTO d1.t VALUES (4, 'd')",
        "SET SESSION binlog_format = ROW",
        "INSERT INTO d1.t VALUES (5, 'e')",
    ] {
        one.execute(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// A statement's time limit is that of its run on the source: a replica waits for a lock that somebody holds.
#[test]
fn a_time_limit_of_the_source() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let mut one = session(&fan_in);
    let table = ["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v CHAR(9)) ENGINE=InnoDB"];
    run(&fan_in.sources[0], &table);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (1, 'old')"]);
    fan_in.catch_up();
    let mut other = fan_in.target.node(0).connect().unwrap();
    for text in ["BEGIN", "UPDATE d1.t SET v = 'locked'"] {
        other.execute(text.as_bytes()).unwrap();
    }
    one.execute(b"SET STATEMENT max_statement_time=0.5 FOR UPDATE d1.t SET v = 'new'").unwrap();
    // Longer than that.
    let waits = "SELECT 1 FROM information_schema.INNODB_TRX WHERE trx_state = 'LOCK WAIT' \
                 AND trx_wait_started < NOW() - INTERVAL 1 SECOND";
    fan_in.wait_until("the statement to wait", |_| texts(&fan_in.target, waits).len() == 1);
    other.execute(b"ROLLBACK").unwrap();
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// Under rules, a table is made in another way, and its settings say how.
#[test]
fn tables_under_rules() {
    for column in ["", "source_column = \"shard\"\n"] {
        let rule = format!("[[source.rule]]\nmatch = \"d1.*\"\nto = \"e1.*\"\n{column}");
        let mut fan_in = FanIn::new(1, &[]);
        let text = fs::read_to_string(fan_in.file()).unwrap() + &rule;
        fan_in.write(&text);
        let _agent = fan_in.start();
        let mut one = session(&fan_in);
        for text in [
            "SET STATEMENT collation_server=latin1_bin FOR CREATE DATABASE d1",
            "USE d1",
            "SET STATEMENT default_storage_engine=MyISAM FOR CREATE TABLE m (a INT)",
            "SET STATEMENT innodb_strict_mode=0 FOR CREATE TABLE z (a INT) ENGINE=InnoDB ROW_FORMAT=COMPRESSED \
             KEY_BLOCK_SIZE=64",
            "CREATE TABLE i (a INT) ENGINE=InnoDB",
            "SET STATEMENT default_storage_engine=Aria FOR CREATE OR REPLACE TABLE i (a INT)",
        ] {
            one.execute(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
        fan_in.catch_up();
        let collation = "SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'e1'";
        assert_eq!(texts(&fan_in.target, collation), [["latin1_bin"]]);
        let engines = "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'e1' ORDER BY 1";
        assert_eq!(texts(&fan_in.target, engines), [["i", "Aria"], ["m", "MyISAM"], ["z", "InnoDB"]], "{column}");
    }
}
