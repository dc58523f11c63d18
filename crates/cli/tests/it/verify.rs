//! `hortator verify` as a DBA calls it: endpoints, exit status, and what is said.

use std::fs;
use std::path::Path;
use std::process::Command;

use hortator_sandbox::Builder;

use crate::errors::assert_tells;
use crate::programs::{Outcome, Running, hortator, run};
use crate::servers::{DATABASE, Held, Pair, pair};

const PASSWORD: &str = "s3cret/x";
/// The same in a URL.
const PASSWORD_IN_URL: &str = "s3cret%2fx";

/// Both servers with a small schema.
fn filled() -> Held {
    let pair = pair();
    for server in [&pair.client, &pair.hortator] {
        server.reset();
        let mut connection = server.connect();
        connection.select_db(DATABASE.as_bytes()).unwrap();
        connection.execute(b"CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))").unwrap();
        connection.execute(b"INSERT INTO t SELECT seq, CONCAT('v', seq) FROM seq_1_to_100").unwrap();
    }
    pair
}

/// `verify` without option files.
fn verify(endpoints: &[&str]) -> Command {
    let mut command = hortator("verify");
    command.arg("--no-defaults").args(endpoints);
    command
}

fn socket(path: &Path) -> String {
    format!("socket:{}", path.display())
}

fn said(outcome: &Outcome) -> String {
    String::from_utf8_lossy(&outcome.rows).into_owned()
}

fn change(pair: &Pair, statement: &str) {
    let mut connection = pair.hortator.connect();
    connection.select_db(DATABASE.as_bytes()).unwrap();
    connection.execute(statement.as_bytes()).unwrap();
}

#[test]
fn equal_and_different_endpoints_have_their_exit_status_and_text() {
    let pair = filled();
    let endpoints = [socket(&pair.client.socket()), socket(&pair.hortator.socket())];
    let call = |options: &[&str]| {
        let mut command = verify(&[&endpoints[0], &endpoints[1], "-uroot"]);
        command.args(options);
        run(command)
    };
    let same = call(&["-D", DATABASE]);
    assert_tells(&same, 0, &[]);
    assert!(
        said(&same).starts_with("same: rows of 1 tables: 100; definitions: database 1, table 1"),
        "{}",
        said(&same)
    );
    assert_eq!(same.messages, "");

    change(&pair, "UPDATE t SET v = 'V7' WHERE id = 7");
    change(&pair, "DELETE FROM t WHERE id = 9");
    let different = call(&["-D", DATABASE, "--range-rows", "20"]);
    assert_tells(&different, 3, &[]);
    let expected = format!(
        "rows of {DATABASE}.t: the first has 100 rows, the second 99; 1 of 6 ranges of the key differ; first differing rows:\n  \
         only in the first:  (id = '7', v = 'v7')\n  only in the first:  (id = '9', v = 'v9')\n  \
         only in the second: (id = '7', v = 'V7')\n\
         1 differences: rows of 1 tables: 100 and 99; definitions: database 1, table 1"
    );
    assert!(said(&different).starts_with(&expected), "{}", said(&different));

    let quiet = call(&["--databases", DATABASE, "--quiet"]);
    assert_tells(&quiet, 3, &[]);
    assert_eq!((said(&quiet), quiet.messages), (String::new(), String::new()));
    assert_tells(&call(&["-D", DATABASE, "--definitions-only"]), 0, &[]);

    let json = call(&["-D", DATABASE, "--json", "-t1"]);
    assert_tells(&json, 3, &[]);
    let json: serde_json::Value = serde_json::from_slice(&json.rows).unwrap();
    assert_eq!(json["same"], false);
    assert_eq!(json["rows"], serde_json::json!([100, 99]));
    assert_eq!(json["difference_count"], 1);
    assert_eq!(json["differences"][0]["kind"], "rows");
    assert_eq!(json["differences"][0]["second"], serde_json::json!(["(id = '7', v = 'V7')"]));
    assert_eq!(json["tables"][0]["table"], format!("{DATABASE}.t"));
}

#[test]
fn schemas_of_two_names_on_one_server() {
    let pair = filled();
    change(&pair, "CREATE OR REPLACE DATABASE copy CHARACTER SET utf8mb4");
    change(&pair, "CREATE TABLE copy.t LIKE t");
    change(&pair, "INSERT INTO copy.t SELECT * FROM t");
    let server = format!("mysql://root@localhost/{DATABASE}?socket={}", pair.hortator.socket().display());
    let copy = format!("mariadb://root@localhost/copy?socket={}", pair.hortator.socket().display());
    let same = run(verify(&[&server, &copy]));
    change(&pair, "DROP DATABASE copy");
    assert_tells(&same, 0, &[]);
    assert_tells(&run(verify(&[&server, &copy])), 3, &[]);
    let gone = run(verify(&[&copy, &copy]));
    assert_tells(&gone, 1, &["a schema `copy` exists at neither endpoint"]);
}

#[test]
fn endpoints_from_option_files_and_sandboxes() {
    let pair = filled();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("my.cnf");
    let text = format!(
        "[client]\nuser = root\ndatabase = {DATABASE}\n[client_one]\nsocket = {}\n[client_two]\nsocket = {}\n",
        pair.client.socket().display(),
        pair.hortator.socket().display(),
    );
    fs::write(&file, text).unwrap();
    let mut command = hortator("verify");
    command.arg(format!("--defaults-file={}", file.display())).args(["group:_one", "group:_two"]);
    assert_tells(&run(command), 0, &[]);

    let state = tempfile::tempdir().unwrap();
    let place = state.path().join("hortator/sandbox");
    let sandbox = Builder::standalone().dir(place).create("trial").unwrap();
    let mut command = verify(&["sandbox:trial", "sandbox:trial/node1"]);
    command.env("XDG_STATE_HOME", state.path());
    let same = run(command);
    let mut command = verify(&["sandbox:trial", "sandbox:trial/2"]);
    command.env("XDG_STATE_HOME", state.path());
    let no_node = run(command);
    sandbox.down().unwrap();
    let mut command = verify(&["sandbox:trial", "sandbox:trial"]);
    command.env("XDG_STATE_HOME", state.path());
    let gone = run(command);
    assert_tells(&same, 0, &[]);
    assert_tells(&no_node, 1, &["the second endpoint: sandbox `trial` has no node 2"]);
    assert_tells(&gone, 1, &["the first endpoint: sandbox `trial` does not exist"]);
}

#[test]
fn invalid_arguments_and_missing_objects() {
    let pair = filled();
    let socket = socket(&pair.hortator.socket());
    for (arguments, status, told) in [
        (&[][..], 2, "<A>"),
        (&[socket.as_str()][..], 2, "<B>"),
        (&["http://x", &socket], 2, "a URL begins with mysql://"),
        (&[&socket, "mysql://u@"], 2, "the host is missing"),
        (&[&socket, &socket, "--threads", "0"], 2, "--threads"),
        (&[&socket, &socket, "--rows-only", "--definitions-only"], 2, "cannot be used with"),
        (&[&socket, &socket, "-D", DATABASE, "--databases", "x"], 2, "--databases conflicts with the schema"),
        (&[&socket, "db1?frobnicate=1"], 1, "the second endpoint: command line: unknown option `frobnicate`"),
        (&[&socket, "socket:/nowhere/socket"], 1, "the second endpoint (/nowhere/socket), connecting: cannot connect"),
        (
            &[&socket, &socket, "--tables", "nowhere"],
            1,
            "a table, view or sequence `nowhere` exists at neither endpoint",
        ),
    ] {
        let mut command = verify(arguments);
        command.arg("-uroot");
        assert_tells(&run(command), status, &[told]);
    }
}

#[test]
fn passwords_of_both_endpoints_are_used_and_not_in_the_process_list() {
    let pair = filled();
    for server in [&pair.client, &pair.hortator] {
        let mut root = server.connect();
        root.execute(format!("CREATE OR REPLACE USER checker@localhost IDENTIFIED BY '{PASSWORD}'").as_bytes())
            .unwrap();
        root.execute(b"GRANT ALL ON *.* TO checker@localhost").unwrap();
    }
    let endpoint = |server: &crate::servers::Server, password: &str| {
        format!("mysql://checker:{password}@localhost/{DATABASE}?socket={}", server.socket().display())
    };
    let endpoints = [endpoint(&pair.client, PASSWORD_IN_URL), endpoint(&pair.hortator, PASSWORD_IN_URL)];

    let wrong = run(verify(&[&endpoints[0], &endpoint(&pair.hortator, "guess")]));
    assert_tells(&wrong, 1, &["the second endpoint", "ERROR 1045", "checker"]);
    assert!(!wrong.messages.contains("guess") && !wrong.messages.contains("s3cret"), "{}", wrong.messages);

    // A lock on the table makes it wait, so that it can be looked at.
    let mut root = pair.hortator.connect();
    root.execute(format!("LOCK TABLES {DATABASE}.t WRITE").as_bytes()).unwrap();
    let running = Running::start(verify(&[&endpoints[0], &endpoints[1]]));
    pair.hortator.wait_until(
        "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE USER = 'checker' AND STATE LIKE '%lock%'",
    );
    let command_line = fs::read(format!("/proc/{}/cmdline", running.pid())).unwrap();
    let command_line = String::from_utf8_lossy(&command_line).into_owned();
    root.execute(b"UNLOCK TABLES").unwrap();
    let outcome = running.finish();
    for server in [&pair.client, &pair.hortator] {
        server.connect().execute(b"DROP USER checker@localhost").unwrap();
    }
    assert!(command_line.contains("checker@localhost") && !command_line.contains("s3cret"), "{command_line}");
    assert_tells(&outcome, 0, &[]);
}

/// A server's own limit of results (`SET GLOBAL`) cuts without an error: two sessions of Hortator saw one row of each table,
/// and one of two foreign keys.
#[test]
fn a_server_that_limits_results_hides_nothing() {
    let place = tempfile::tempdir().unwrap();
    let server = Builder::standalone().start_temporary().unwrap();
    let node = server.node(0);
    let socket_path = node.socket();
    let execute = |statement: &str| drop(node.connect().unwrap().execute(statement.as_bytes()).unwrap());
    for schema in ["a", "b"] {
        execute(&format!("CREATE DATABASE {schema}"));
        execute(&format!("CREATE TABLE {schema}.same (id INT PRIMARY KEY)"));
        execute(&format!("CREATE TABLE {schema}.t (id INT, v INT)"));
        execute(&format!("INSERT INTO {schema}.t VALUES (1, 1), (2, 2), (3, 3)"));
    }
    execute("UPDATE b.t SET v = 4 WHERE id = 3");
    execute("SET GLOBAL sql_select_limit = 1");
    let endpoints = ["a", "b"].map(|schema| format!("{}?database={schema}", socket(&socket_path)));
    let compared = run({
        let mut command = verify(&[&endpoints[0], &endpoints[1], "-uroot"]);
        command.arg("--rows-only");
        command
    });
    assert_eq!(compared.status, Some(3), "{}", said(&compared));
    assert!(said(&compared).contains("only in the second: (id = '3', v = '4')"), "{}", said(&compared));

    let dump = place.path().join("dump.sql");
    fs::write(
        &dump,
        "CREATE DATABASE keyed; USE keyed; CREATE TABLE p (id INT PRIMARY KEY);\n\
         CREATE TABLE c1 (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id));\n\
         CREATE TABLE c2 (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id));\n\
         INSERT INTO p VALUES (1), (2);\nINSERT INTO c1 VALUES (1, 1);\nINSERT INTO c2 VALUES (1, 1), (2, 9);\n\
         SELECT id FROM p;\n",
    )
    .unwrap();
    let mut load = hortator("load");
    load.args(["--no-defaults", "-uroot", "--foreign-keys=deferred", "-S"]).arg(&socket_path).arg(&dump);
    let loaded = run(load);
    assert_eq!(loaded.status, Some(1), "{}", loaded.messages);
    assert!(loaded.messages.contains("1 of 2 constraint(s) violated"), "{}", loaded.messages);
    // The dump's own session has the server's limit, as with the client.
    assert_eq!(said(&loaded), "id\n1\n");
}

/// A server's own limit of joins, as hosted ones have it: what Hortator itself asks for is not refused.
#[test]
fn a_server_that_limits_joins_refuses_nothing() {
    let place = tempfile::tempdir().unwrap();
    let server = Builder::standalone().set("max_join_size", "1000").start_temporary().unwrap();
    let dump = place.path().join("dump.sql");
    let rows = |row: fn(u32) -> String| (1..=5_000).map(row).collect::<Vec<_>>().join(",");
    let text = format!(
        "CREATE DATABASE d; USE d; CREATE TABLE p (id INT PRIMARY KEY);\n\
         CREATE TABLE c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id));\n\
         INSERT INTO p VALUES {};\nINSERT INTO c VALUES {};\n",
        rows(|id| format!("({id})")),
        rows(|id| format!("({id}, {id})"))
    );
    fs::write(&dump, text).unwrap();
    let mut load = hortator("load");
    load.args(["--no-defaults", "-uroot", "--foreign-keys=deferred", "--verify", "-S"]);
    load.arg(server.node(0).socket()).arg(&dump);
    let loaded = run(load);
    assert_eq!(loaded.status, Some(0), "{}", loaded.messages);
    for told in ["1 constraint(s) validated", "verified: rows counted in 2 tables"] {
        assert!(loaded.messages.contains(told), "{}", loaded.messages);
    }
    let endpoint = format!("{}?database=d", socket(&server.node(0).socket()));
    let same = run(verify(&[&endpoint, &endpoint, "-uroot"]));
    assert_eq!(same.status, Some(0), "{}", said(&same));
}
