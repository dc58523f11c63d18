//! DDL that a server had confirmed when it was killed: each statement has taken effect exactly once.

use hortator_sandbox::Builder;

use crate::provider;

/// The preparation, the DDL statement, a query, and its result.
const CASES: [(&[&str], &str, &str, &str); 6] = [
    (
        &["CREATE TABLE a (id INT)", "CREATE TABLE b (id INT)", "INSERT INTO a VALUES (1)", "INSERT INTO b VALUES (2)"],
        "RENAME TABLE a TO c, b TO a, c TO b",
        "SELECT CONCAT((SELECT id FROM a), (SELECT id FROM b))",
        "21",
    ),
    (
        &["CREATE TABLE p (id INT PRIMARY KEY)", "CREATE TABLE t (id INT)"],
        "ALTER TABLE t ADD KEY (id), ADD CHECK (id > 0), ADD FOREIGN KEY (id) REFERENCES p (id)",
        "SELECT CONCAT((SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 't'), \
         (SELECT COUNT(*) FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'd'), \
         (SELECT COUNT(*) FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'd'))",
        "111",
    ),
    (&["CREATE TABLE t (id INT)", "INSERT INTO t VALUES (1), (2)"], "TRUNCATE TABLE t", "SELECT COUNT(*) FROM t", "0"),
    // The table is on disk at once, its rows are not.
    (&[], "CREATE TABLE t (id INT) SELECT 1 AS id UNION SELECT 2", "SELECT COUNT(*) FROM t", "2"),
    (
        &["CREATE TABLE t (a INT, b INT)", "INSERT INTO t VALUES (1, 2)"],
        "ALTER TABLE t CHANGE a b INT, CHANGE b a INT",
        "SELECT CONCAT(a, b) FROM t",
        "21",
    ),
    (&[], "CREATE FUNCTION f() RETURNS INT RETURN 7", "SELECT f()", "7"),
];

#[test]
fn ddl_takes_effect_once() {
    provider::build();
    let cluster = Builder::cluster(1).set("innodb_flush_log_at_trx_commit", "0").start_temporary().unwrap();
    let node = cluster.node(0);
    for (before, definition, question, answer) in CASES {
        let mut connection = node.connect().unwrap();
        let mut run =
            |sql: &str| drop(connection.execute(sql.as_bytes()).unwrap_or_else(|error| panic!("{sql}: {error}")));
        ["SET foreign_key_checks = 0", "CREATE OR REPLACE DATABASE d", "USE d"].into_iter().for_each(&mut run);
        before.iter().copied().for_each(&mut run);
        // Everything so far is in the storage engine; later changes are not, unless the DDL flushes them itself.
        run("SET GLOBAL innodb_flush_log_at_trx_commit = 1");
        run("CREATE TABLE last (id INT)");
        run("INSERT INTO last VALUES (1)");
        run("SET GLOBAL innodb_flush_log_at_trx_commit = 0");
        run(definition);
        cluster.kill().unwrap();
        cluster.start().unwrap_or_else(|error| panic!("{definition}: {error}"));
        let mut connection = node.connect().unwrap();
        connection.execute(b"USE d").unwrap();
        let found = connection.fetch(question.as_bytes()).unwrap_or_else(|error| panic!("{definition}: {error}"));
        assert_eq!(String::from_utf8_lossy(found[0][0].as_ref().unwrap()), answer, "{definition}");
    }
}
