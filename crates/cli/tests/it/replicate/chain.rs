//! Three servers in a row: what a target has got from its source goes on to a target of its own, by Hortator and by MariaDB's own
//! replication. All of them end with the same.

use std::fs;

use hortator_check::state;
use hortator_sandbox::{Builder, Temporary};

use super::fan_in::{Agent, FanIn, run, texts};
use super::stream_kinds::{FORMATS, streams, write};

/// Definitions and rows besides those of the streams; each list in a session of its own.
const MIXED: [&[&str]; 3] = [
    &[
        "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(80), at TIMESTAMP(6) DEFAULT NOW(6)) ENGINE=InnoDB",
        "CREATE TABLE log (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200), n DOUBLE) ENGINE=InnoDB",
        "CREATE TABLE my (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(80)) ENGINE=MyISAM",
        "CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW INSERT INTO log (v, n) VALUES (CONCAT('t ', NEW.v), NEW.id)",
        "CREATE FUNCTION f(a INT) RETURNS INT DETERMINISTIC BEGIN INSERT INTO log (v) VALUES (CONCAT('f ', a)); RETURN a * 2; END",
        "CREATE PROCEDURE p(a INT) BEGIN INSERT INTO t (v) VALUES (a); UPDATE t SET v = CONCAT(v, '.') WHERE id = a; END",
        "INSERT INTO t (v) VALUES ('a'), ('b')",
        "INSERT INTO log (v, n) VALUES (LAST_INSERT_ID(), RAND())",
        "SET @v = 'ü', @n = 1.5e0, @d = 12.340",
        "INSERT INTO log (v, n) VALUES (@v, @n), (@d, @d)",
        "CALL p(1)",
        "SELECT f(3)",
        "SET timestamp = 1700000000.123456, time_zone = '+03:00', sql_mode = 'ANSI_QUOTES', auto_increment_increment = 7",
        "INSERT INTO t (v) VALUES (NOW(6)), (CURDATE())",
        "SET timestamp = DEFAULT, auto_increment_increment = 1, sql_mode = DEFAULT, NAMES latin1",
        "INSERT INTO t (v) VALUES ('\u{c3}')",
        "SET NAMES utf8mb4",
        "INSERT INTO my (v) VALUES ('one')",
        "BEGIN",
        "INSERT INTO my (v) VALUES ('stays')",
        "INSERT INTO t (v) VALUES ('rolled back')",
        "ROLLBACK",
        "SET SESSION foreign_key_checks = 0",
        "CREATE TABLE child (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES t (id)) ENGINE=InnoDB",
        "INSERT INTO child VALUES (1, 99)",
        "SET SESSION foreign_key_checks = 1",
    ],
    &[
        "CREATE TEMPORARY TABLE t (id INT, v VARCHAR(80)) ENGINE=InnoDB",
        "INSERT INTO t VALUES (1, 'temporary')",
        "INSERT INTO log (v) SELECT v FROM t",
        "CREATE TEMPORARY TABLE u SELECT * FROM t",
        "UPDATE u SET v = CONCAT(v, '!')",
        "INSERT INTO my (v) SELECT v FROM u",
        "CREATE TABLE of_temporary SELECT * FROM u",
        "DROP TEMPORARY TABLE t",
        "INSERT INTO t (v) VALUES ('permanent')",
    ],
    &[
        "CREATE EVENT e1 ON SCHEDULE EVERY 1 HOUR STARTS '2030-01-01 00:00:00' DO INSERT INTO log (v) VALUES ('e1')",
        "CREATE DEFINER='app'@'%' EVENT e2 ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1",
        "ALTER EVENT e2 ENABLE",
        "ALTER DEFINER='app2'@'%' EVENT e1 RENAME TO e3",
        "CREATE EVENT e4 ON SCHEDULE AT NOW() + INTERVAL 1 DAY ON COMPLETION PRESERVE DO SELECT 1",
        "CREATE TABLE history (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING ENGINE=InnoDB",
        "INSERT INTO history VALUES (1, 1), (2, 2)",
        "UPDATE history SET v = v + 1",
        "DELETE FROM history WHERE id = 2",
        "CREATE SEQUENCE s CACHE 5",
        "CREATE TABLE numbered (id BIGINT DEFAULT NEXTVAL(s), v INT) ENGINE=InnoDB",
        "INSERT INTO numbered (v) VALUES (1), (2)",
        "CREATE TABLE none (id INT)",
        "DROP TABLE none, log_that_is_not_there",
        "CREATE TABLE parts (id INT) PARTITION BY LIST (id) (PARTITION a VALUES IN (1), PARTITION b VALUES IN (2))",
        "INSERT INTO parts VALUES (1), (2)",
        "ALTER TABLE parts TRUNCATE PARTITION a",
        "CREATE ROLE chained",
        "GRANT SELECT ON *.* TO CURRENT_USER",
        "CREATE OR REPLACE TABLE replaced SELECT 1 AS a",
        "CREATE OR REPLACE TABLE replaced SELECT 2 AS b, 3 AS c",
    ],
];
const EVENTS: &str = "SELECT EVENT_SCHEMA, EVENT_NAME, DEFINER, EVENT_DEFINITION, EXECUTE_AT, INTERVAL_VALUE, STARTS, ON_COMPLETION, \
                      SQL_MODE, TIME_ZONE FROM information_schema.EVENTS ORDER BY 1, 2";
const STATES: &str = "SELECT DISTINCT STATUS FROM information_schema.EVENTS";

/// The servers behind the first two.
struct Chain {
    /// From the first to the second.
    first: FanIn,
    /// From the second to the third.
    second: FanIn,
    /// A replica of the second.
    replica: Temporary,
    _agents: [Agent; 2],
}

impl Chain {
    /// With settings for the server in the middle, and rights that the account lacks which writes there.
    fn new(of_middle: &[(&str, &str)], lacks: &str) -> Chain {
        let settings = [&[("log_bin", "bin")], of_middle].concat();
        let mut first = FanIn::new(1, &settings);
        let middle = &first.target;
        run(
            middle,
            &[
                "SET SESSION sql_log_bin = 0",
                "CREATE USER h@localhost, h@127.0.0.1, repl@127.0.0.1 IDENTIFIED BY 'secret'",
                "GRANT ALL ON *.* TO h@localhost WITH GRANT OPTION",
                "GRANT ALL ON *.* TO repl@127.0.0.1",
            ],
        );
        if !lacks.is_empty() {
            run(middle, &["SET SESSION sql_log_bin = 0", &format!("REVOKE {lacks} ON *.* FROM h@localhost")]);
        }
        let socket = middle.node(0).socket().display().to_string();
        let port = middle.node(0).port();
        if !lacks.is_empty() {
            let text = fs::read_to_string(first.file()).unwrap();
            first.write(&text.replacen("user = \"root\"", "user = \"h\"", 1));
        }
        let mut second = FanIn::new(0, &[]);
        let source = format!("[[source]]\nname = \"s1\"\nsocket = \"{socket}\"\nuser = \"root\"\nstart = \"now\"\n");
        second.write(&(second.target_table() + &source));
        let replica = Builder::standalone().start_temporary().unwrap();
        let change = format!(
            "CHANGE MASTER TO master_host = '127.0.0.1', master_port = {port}, master_user = 'repl', master_password = 'secret', \
             master_use_gtid = slave_pos"
        );
        run(&replica, &["SET GLOBAL server_id = 4444", "SET GLOBAL gtid_slave_pos = ''", &change, "START SLAVE"]);
        let agents = [second.start(), first.start()];
        Chain { first, second, replica, _agents: agents }
    }

    fn catch_up(&self) {
        self.first.catch_up();
        self.second.catch_up();
        let at = texts(&self.first.target, "SELECT @@gtid_binlog_pos")[0][0].clone();
        let waited = texts(&self.replica, &format!("SELECT MASTER_GTID_WAIT('{at}', 100)"));
        let status = || texts(&self.replica, "SHOW SLAVE STATUS");
        assert_eq!(waited, [["0"]], "{at}: {:?}", status());
    }

    /// What differs from the first server, by schema.
    fn differences(&self, schema: &str) -> Vec<String> {
        let describe = |server: &Temporary| state::describe(&mut server.node(0).connect().unwrap(), schema).unwrap();
        let source = describe(&self.first.sources[0]);
        let mut found = Vec::new();
        for (name, server) in
            [("the middle", &self.first.target), ("the end", &self.second.target), ("the replica", &self.replica)]
        {
            let differences = source.differences(&describe(server));
            found.extend(differences.into_iter().map(|text| format!("{schema} on {name}: {text}")));
        }
        found
    }
}

fn check(format: &str, of_middle: &[(&str, &str)], lacks: &str) {
    let chain = Chain::new(of_middle, lacks);
    let source = &chain.first.sources[0];
    fs::write(source.node(0).data_dir().join("rows.txt"), "1\tone\n2\ttwo\n3\tthree\n").unwrap();
    let mut found = Vec::new();
    run(source, &["CREATE DATABASE d1"]);
    for statements in MIXED {
        let mut connection = source.node(0).connect().unwrap();
        // A default that draws numbers cannot be written as a statement.
        let statements = statements.iter().filter(|text| format != "STATEMENT" || !text.contains("numbered"));
        for text in ["USE d1", &format!("SET SESSION binlog_format = {format}")].iter().chain(statements) {
            match connection.execute(text.as_bytes()) {
                Ok(_) => {}
                Err(_) if text.contains("log_that_is_not_there") => {}
                Err(error) => found.push(format!("{text}: {error}")),
            }
        }
    }
    chain.catch_up();
    for server in [&chain.first.target, &chain.second.target, &chain.replica] {
        assert_eq!(texts(server, EVENTS), texts(source, EVENTS));
        assert_eq!(texts(server, STATES), [["SLAVESIDE_DISABLED"]]);
    }
    // They are alike now, as far as it can be: what follows compares definitions, states too.
    run(source, &["DROP EVENT d1.e2", "DROP EVENT d1.e3", "DROP EVENT d1.e4"]);
    chain.catch_up();
    found.extend(chain.differences("d1"));
    for (number, path) in streams().into_iter().enumerate() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        // Who grants a role must be its administrator.
        let cannot = name == "accounts" && !lacks.is_empty();
        if cannot || FORMATS.iter().any(|(stream, formats)| *stream == name && !formats.contains(&format)) {
            continue;
        }
        let schema = format!("k{number}");
        run(source, &[&format!("CREATE DATABASE {schema}")]);
        let wrong = write(&chain.first, &schema, format, &fs::read_to_string(&path).unwrap());
        chain.catch_up();
        let all = wrong.into_iter().chain(chain.differences(&schema));
        found.extend(all.map(|text| format!("{name}: {text}")));
    }
    let accounts =
        "SELECT Host, User, Priv FROM mysql.global_priv WHERE User LIKE '% k%' OR User = 'chained' ORDER BY 1, 2";
    let roles = "SELECT Host, User, Role, Admin_option FROM mysql.roles_mapping WHERE Role = 'chained'";
    for server in [&chain.first.target, &chain.second.target, &chain.replica] {
        for query in [accounts, roles] {
            assert_eq!(texts(server, query), texts(source, query), "{query}");
        }
    }
    assert!(found.is_empty(), "{format}:\n{}", found.join("\n\n"));
}

#[test]
fn a_chain_of_rows() {
    check("ROW", &[], "");
}

#[test]
fn a_chain_of_statements() {
    check("STATEMENT", &[("binlog_format", "STATEMENT")], "");
}

/// The account may not choose the format of the log: statements go on as such.
#[test]
fn a_chain_of_statements_that_go_on_as_statements() {
    let settings = [("binlog_format", "MIXED"), ("log_bin_trust_function_creators", "ON")];
    check("MIXED", &settings, "BINLOG ADMIN, SUPER");
}
