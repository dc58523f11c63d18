//! `hortator load` of a part of a dump: what is selected is there as the client leaves it, and what is left out is as it was.

use std::fs;
use std::process::{Command, Stdio};

use hortator_mysql::Connection;

use crate::compare::assert_same;
use crate::errors::{assert_tells, dump_file, load_into};
use crate::features::{FEATURES, default_dump};
use crate::programs::{Contender, Dump, Outcome, load, run};
use crate::servers::{DATABASE, Pair, Server, pair};
use crate::target;

/// Two schemas with one of everything.
const SCHEMAS: &str = "
CREATE DATABASE hc_shop; CREATE DATABASE hc_crm;
CREATE TABLE hc_shop.customers (id INT PRIMARY KEY, name VARCHAR(20));
CREATE TABLE hc_shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, customer INT, KEY customer (customer),
  CONSTRAINT of_customer FOREIGN KEY (customer) REFERENCES hc_shop.customers (id));
CREATE TABLE hc_shop.log (id INT PRIMARY KEY, note TEXT);
CREATE TABLE hc_shop.log_old LIKE hc_shop.log;
CREATE TABLE hc_crm.notes (id INT PRIMARY KEY);
INSERT INTO hc_shop.customers VALUES (1, 'a'), (2, 'b');
INSERT INTO hc_shop.orders VALUES (1, 1), (2, 2), (5, 1);
INSERT INTO hc_shop.log VALUES (1, 'it''s;`log`'), (2, 'x');
INSERT INTO hc_shop.log_old VALUES (1, 'old');
INSERT INTO hc_crm.notes VALUES (7);
CREATE TRIGGER hc_shop.orders_before BEFORE INSERT ON hc_shop.orders FOR EACH ROW SET NEW.customer = NEW.customer;
CREATE TRIGGER hc_shop.log_before BEFORE INSERT ON hc_shop.log FOR EACH ROW SET NEW.note = NEW.note;
CREATE VIEW hc_shop.names AS SELECT name FROM hc_shop.customers;
CREATE PROCEDURE hc_shop.nothing() SELECT 1;
CREATE FUNCTION hc_shop.one() RETURNS INT DETERMINISTIC RETURN 1;
CREATE EVENT hc_shop.later ON SCHEDULE EVERY 1 DAY STARTS '2035-01-01 00:00:00' DO SELECT 1;
";

/// All objects of the schemas, with the rows of the tables.
const OBJECTS: &str = "
SELECT CONCAT(IF(TABLE_TYPE = 'VIEW', 'view ', 'table '), TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES
  WHERE TABLE_SCHEMA IN ('hc_shop', 'hc_crm', 'hc_new')
UNION SELECT CONCAT('trigger ', TRIGGER_SCHEMA, '.', TRIGGER_NAME) FROM information_schema.TRIGGERS
  WHERE TRIGGER_SCHEMA IN ('hc_shop', 'hc_crm', 'hc_new')
UNION SELECT CONCAT('routine ', ROUTINE_SCHEMA, '.', ROUTINE_NAME) FROM information_schema.ROUTINES
  WHERE ROUTINE_SCHEMA IN ('hc_shop', 'hc_crm', 'hc_new')
UNION SELECT CONCAT('event ', EVENT_SCHEMA, '.', EVENT_NAME) FROM information_schema.EVENTS
  WHERE EVENT_SCHEMA IN ('hc_shop', 'hc_crm', 'hc_new')
ORDER BY 1";

/// A connection without a default schema that runs statements.
pub fn execute(server: &Server, statements: &str) {
    let mut connection = server.connect();
    for statement in statements.split(";\n").filter(|statement| !statement.trim().is_empty()) {
        for statement in statement.split("; ").filter(|statement| !statement.trim().is_empty()) {
            connection.execute(statement.trim_end_matches(';').as_bytes()).unwrap();
        }
    }
}

/// What a query gives, with blanks between the values of a row.
pub fn rows(server: &Server, query: &str) -> Vec<String> {
    let mut connection: Connection = server.connect();
    let shown = |value: &Option<Vec<u8>>| {
        value.as_deref().map_or("NULL".to_owned(), |value| String::from_utf8_lossy(value).into_owned())
    };
    let found = connection.fetch(query.as_bytes()).unwrap();
    found.iter().map(|row| row.iter().map(shown).collect::<Vec<_>>().join(" ")).collect()
}

fn objects(server: &Server) -> Vec<String> {
    rows(server, OBJECTS)
}

/// Only names, to be compared.
fn names(objects: &[&str]) -> Vec<String> {
    objects.iter().map(|name| (*name).to_owned()).collect()
}

/// What mariadb-dump writes of the two schemas.
pub fn dump(pair: &Pair, options: &[&str]) -> Vec<u8> {
    pair.client.reset();
    execute(&pair.client, SCHEMAS);
    let mut command: Command = target::dumper();
    command.arg("--no-defaults").arg("-S").arg(pair.client.socket()).args(["-u", "root"]);
    command.args(["--routines", "--events", "--triggers"]).args(options).args(["--databases", "hc_shop", "hc_crm"]);
    let dumped = run(command);
    assert_eq!(dumped.status, Some(0), "{}", dumped.messages);
    dumped.rows
}

/// Loads a dump from a file.
fn load_part(server: &Server, dump: &[u8], options: &[&str]) -> Outcome {
    let (_folder, path) = dump_file("dump.sql", dump);
    run(load_into(server, &[options, &[path.to_str().unwrap()]].concat()))
}

/// What a server holds where the table of a load is to be replaced, and others are not.
const BEFORE: &str = "CREATE DATABASE hc_shop;
CREATE TABLE hc_shop.orders (old INT);
CREATE TABLE hc_shop.log (id INT PRIMARY KEY, mark INT);
INSERT INTO hc_shop.log VALUES (1, 42);
CREATE TRIGGER hc_shop.log_before BEFORE INSERT ON hc_shop.log FOR EACH ROW SET NEW.mark = 43;
CREATE PROCEDURE hc_shop.nothing() SELECT 42";

#[test]
fn one_table_is_restored_and_nothing_else_is_touched() {
    let pair = pair();
    for dump_options in [&[][..], &["--add-drop-database", "--add-drop-trigger"], &["--no-autocommit"], &["--skip-opt"]]
    {
        let dump = dump(&pair, dump_options);
        pair.hortator.reset();
        execute(&pair.hortator, BEFORE);
        if dump_options == ["--skip-opt"] {
            execute(&pair.hortator, "DROP TABLE hc_shop.orders");
        }
        let outcome = load_part(&pair.hortator, &dump, &["--only", "hc_shop.orders", "--verify", "-t4"]);
        assert_tells(
            &outcome,
            0,
            &[
                "left out, statements: --only ",
                "tables with rows that are left out: hc_crm.notes, hc_shop.customers, hc_shop.log",
                "hc_shop.orders refers to hc_shop.customers, which --only leaves out",
                "foreign key of_customer of hc_shop.orders: not validated: the load leaves out hc_shop.customers",
            ],
        );
        let expected = [
            "routine hc_shop.nothing",
            "table hc_shop.log",
            "table hc_shop.orders",
            "trigger hc_shop.log_before",
            "trigger hc_shop.orders_before",
        ];
        assert_eq!(objects(&pair.hortator), names(&expected), "{dump_options:?}");
        assert_eq!(rows(&pair.hortator, "SELECT * FROM hc_shop.orders ORDER BY id"), ["1 1", "2 2", "5 1"]);
        assert_eq!(rows(&pair.hortator, "SELECT * FROM hc_shop.log"), ["1 42"]);
    }
}

#[test]
fn all_but_what_is_skipped() {
    let pair = pair();
    let dump = dump(&pair, &[]);
    pair.hortator.reset();
    let skip = ["--skip", "hc_shop.log*,hc_shop.later", "--skip=hc_crm.*"];
    assert_tells(&load_part(&pair.hortator, &dump, &skip), 0, &["left out, statements: --skip "]);
    let expected = [
        "routine hc_shop.nothing",
        "routine hc_shop.one",
        "table hc_shop.customers",
        "table hc_shop.orders",
        "trigger hc_shop.orders_before",
        "view hc_shop.names",
    ];
    assert_eq!(objects(&pair.hortator), names(&expected));
    assert_eq!(rows(&pair.hortator, "SELECT name FROM hc_shop.names ORDER BY 1"), ["a", "b"]);
    assert_eq!(rows(&pair.hortator, "SHOW DATABASES LIKE 'hc\\_crm'"), [""; 0]);
}

#[test]
fn definitions_and_then_rows_are_the_whole() {
    let pair = pair();
    let dump = dump(&pair, &["--skip-triggers"]);
    pair.hortator.reset();
    assert_tells(&load_part(&pair.hortator, &dump, &["--no-data"]), 0, &["loaded 0 rows", "--no-data "]);
    assert_eq!(rows(&pair.hortator, "SELECT COUNT(*) FROM hc_shop.orders"), ["0"]);
    assert_tells(&load_part(&pair.hortator, &dump, &["--no-schema"]), 0, &["loaded 9 rows", "--no-schema "]);
    pair.client.reset();
    let client = load(Contender::Client, &pair.client, Dump::Bytes(&dump), false);
    assert_eq!(client.status, Some(0), "{}", client.messages);
    let (theirs, ours) = (pair.client.state(false), pair.hortator.state(false));
    assert!(theirs.contains_key(&b"hc_shop"[..]));
    for (name, state) in &theirs {
        assert_same(&ours.get(name).map_or(vec!["no schema".to_owned()], |found| state.differences(found)));
    }
}

#[test]
fn triggers_routines_and_events_are_left_out() {
    let pair = pair();
    let dump = dump(&pair, &["--add-drop-trigger"]);
    pair.hortator.reset();
    execute(&pair.hortator, BEFORE);
    let options = ["--skip-triggers", "--skip-routines", "--skip-events", "--skip", "hc_shop.log"];
    assert_tells(
        &load_part(&pair.hortator, &dump, &options),
        0,
        &["--skip-triggers ", "--skip-routines ", "--skip-events "],
    );
    let found: Vec<String> = objects(&pair.hortator).into_iter().filter(|name| !name.starts_with("table")).collect();
    assert_eq!(found, ["routine hc_shop.nothing", "trigger hc_shop.log_before", "view hc_shop.names"]);
    assert_eq!(rows(&pair.hortator, "SELECT * FROM hc_shop.log"), ["1 42"]);
}

#[test]
fn a_server_that_compares_names_in_any_case() {
    if target::mysql().is_some() {
        return;
    }
    let text = "CREATE DATABASE Hc_Shop; USE HC_SHOP; CREATE TABLE Orders (id INT); INSERT INTO ORDERS VALUES (1);
                CREATE TABLE Log (id INT); INSERT INTO hc_shop.LOG VALUES (1);";
    let server = Server::start(&[("lower_case_table_names", "1")]);
    server.reset();
    assert_tells(&load_part(&server, text.as_bytes(), &["--only", "hc_SHOP.oRders"]), 0, &["loaded 1 rows"]);
    assert_eq!(objects(&server), ["table hc_shop.orders"]);
}

/// A text that cannot be loaded in part, and what is told of it.
const REFUSED: &[(&str, &[&str], &str)] = &[
    (
        "INSERT INTO hc_shop.orders SELECT id FROM hc_shop.log;",
        &["--only=hc_shop.orders"],
        "it reads hc_shop.log, which --only leaves out",
    ),
    (
        "INSERT INTO hc_shop.orders SELECT o.id FROM hc_shop.orders o JOIN hc_shop.orders p ON o.id = p.id, hc_shop.log;",
        &["--only=hc_shop.orders"],
        "it reads hc_shop.log, which --only leaves out",
    ),
    (
        "USE hc_crm; CREATE VIEW hc_shop.v AS SELECT * FROM orders;",
        &["--only=hc_shop.*"],
        "the view reads a table of the default schema, whose USE --only leaves out",
    ),
    ("DROP TABLE hc_shop.orders, hc_shop.log;", &["--skip=hc_shop.log"], "hc_shop.log, which --skip leaves out"),
    ("CALL p();", &["--skip=hc_shop.log"], "a routine may touch any table"),
    ("EXECUTE IMMEDIATE 'INSERT INTO log VALUES (1)';", &["--no-data"], "a prepared statement may touch any table"),
    (
        "CREATE VIEW hc_shop.v AS SELECT log.id FROM hc_shop.log;",
        &["--only=hc_shop.orders,hc_shop.v"],
        "the view reads hc_shop.log, which is left out and does not exist on the server",
    ),
    (
        "INSERT INTO hc_shop.log VALUES (NULL); INSERT INTO hc_shop.orders VALUES (LAST_INSERT_ID());",
        &["--only=hc_shop.orders"],
        "it reads the last AUTO_INCREMENT value, which rows that are left out may have set",
    ),
    (
        "SELECT MAX(id) INTO @last FROM hc_shop.log; INSERT INTO hc_shop.orders VALUES (@last);",
        &["--only=hc_shop.orders"],
        "fills a user variable that later statements may read",
    ),
    (
        "DELIMITER //\nINSERT INTO hc_shop.orders VALUES (5); INSERT INTO hc_shop.log VALUES (1) //\n",
        &["--only=hc_shop.orders"],
        "the text holds several statements, of which some are selected and some are left out",
    ),
    (
        "DELIMITER //\nDO 1; USE hc_shop; CREATE TABLE log (id INT) //\n",
        &["--only=hc_shop.orders"],
        "it is not certain which schema it selects",
    ),
    (
        "INSERT INTO hc_shop.orders VALUES (hc_shop.f());",
        &["--only=hc_shop.orders"],
        "it may call a stored function, which may touch any table",
    ),
];

#[test]
fn what_is_not_certain_is_refused_before_anything_is_dropped() {
    let pair = pair();
    let head = "CREATE DATABASE IF NOT EXISTS hc_shop;\nDROP TABLE IF EXISTS hc_shop.orders;\n\
                CREATE TABLE hc_shop.orders (id INT);\nINSERT INTO hc_shop.orders VALUES (1);\n";
    for (text, options, told) in REFUSED {
        let dump = format!("{head}{text}");
        pair.hortator.reset();
        execute(&pair.hortator, "CREATE DATABASE hc_shop; CREATE TABLE hc_shop.orders (old INT)");
        let outcome = load_part(&pair.hortator, dump.as_bytes(), options);
        assert_tells(&outcome, 1, &["ERROR at line ", "dump.sql", told]);
        assert_eq!(rows(&pair.hortator, "SHOW COLUMNS FROM hc_shop.orders LIKE 'old'").len(), 1, "{text}");
        let planned = load_part(&pair.hortator, dump.as_bytes(), &[options, &["--plan"][..]].concat());
        let is_of_server = told.contains("does not exist on the server");
        assert_eq!(planned.messages.contains(told), !is_of_server, "{text}: {}", planned.messages);
        assert_eq!(planned.status, Some(i32::from(!is_of_server)));
        // From a pipe, the statements before it have run.
        if !is_of_server {
            let (_folder, path) = dump_file("dump.sql", dump.as_bytes());
            let mut command = load_into(&pair.hortator, options);
            command.stdin(cat(&path.display().to_string()));
            assert_tells(&run(command), 1, &["ERROR at line ", told]);
        }
    }
}

/// A pipe in which a file comes.
fn cat(path: &str) -> Stdio {
    let mut child = Command::new("cat").arg(path).stdout(Stdio::piped()).spawn().unwrap();
    let output = child.stdout.take().unwrap();
    // It ends with the file, or with its reader.
    std::thread::spawn(move || child.wait());
    output.into()
}

#[test]
fn a_view_can_read_a_left_out_table_of_the_server() {
    let pair = pair();
    pair.hortator.reset();
    execute(&pair.hortator, "CREATE DATABASE hc_shop; CREATE TABLE hc_shop.log (id INT)");
    let text = "USE hc_shop; CREATE TABLE log (id INT, more INT); CREATE VIEW v AS SELECT id FROM log;";
    assert_tells(&load_part(&pair.hortator, text.as_bytes(), &["--only=hc_shop.v"]), 0, &[]);
    assert_eq!(objects(&pair.hortator), ["table hc_shop.log", "view hc_shop.v"]);
}

#[test]
fn a_common_table_expression_is_no_table() {
    let pair = pair();
    pair.hortator.reset();
    let text = "CREATE DATABASE hc_shop; USE hc_shop; CREATE TABLE orders (id INT); INSERT INTO orders VALUES (5), (7);
                CREATE VIEW v AS WITH x AS (SELECT MAX(id) AS id FROM orders) SELECT id FROM x;
                INSERT INTO orders WITH y AS (SELECT id + 1 AS id FROM orders) SELECT id FROM y;";
    assert_tells(&load_part(&pair.hortator, text.as_bytes(), &["--only=hc_shop.orders,hc_shop.v"]), 0, &[]);
    assert_eq!(rows(&pair.hortator, "SELECT id FROM hc_shop.v"), ["8"]);
}

#[test]
fn a_pattern_that_matches_nothing_is_told() {
    let pair = pair();
    let dump = dump(&pair, &[]);
    pair.hortator.reset();
    let options = ["--only", "hc_shop.orders,hc_shop.ordres"];
    let told = "--only=hc_shop.ordres matches no name in the input";
    assert_tells(&load_part(&pair.hortator, &dump, &options), 1, &[told, "nothing is loaded"]);
    assert_eq!(objects(&pair.hortator), [""; 0]);
    let (_folder, path) = dump_file("dump.sql", &dump);
    let mut command = load_into(&pair.hortator, &options);
    command.stdin(cat(path.to_str().unwrap()));
    assert_tells(&run(command), 0, &[told]);
    for (pattern, told) in [("orders", "names no schema"), ("a.b.c", "more than two parts"), ("a.", "an empty part")] {
        assert_tells(&run(load_into(&pair.hortator, &["--only", pattern])), 2, &[told]);
    }
}

#[test]
fn a_load_is_resumed_with_its_own_selection() {
    let pair = pair();
    let text = "CREATE TABLE a (id INT PRIMARY KEY); CREATE TABLE b (id INT);\nINSERT INTO a VALUES (1), (2);\n\
                INSERT INTO b VALUES (1);\nINSERT INTO c VALUES (3);\nINSERT INTO a VALUES (4);\n";
    let (_folder, path) = dump_file("dump.sql", text.as_bytes());
    let file = path.to_str().unwrap();
    pair.hortator.reset();
    let only = format!("--only={DATABASE}.a,{DATABASE}.c");
    assert_tells(&run(load_into(&pair.hortator, &[&only, file])), 1, &["1146"]);
    let other = run(load_into(&pair.hortator, &["--resume", file]));
    assert_tells(&other, 1, &["with these options: the first run had --only=", "this run has no options that select"]);
    execute(&pair.hortator, &format!("CREATE TABLE {DATABASE}.c (id INT)"));
    assert_tells(&run(load_into(&pair.hortator, &["--resume", &only, file])), 0, &[]);
    assert_eq!(rows(&pair.hortator, &format!("SELECT id FROM {DATABASE}.a ORDER BY id")), ["1", "2", "4"]);
    let tables = rows(&pair.hortator, &format!("SHOW TABLES FROM {DATABASE}"));
    assert_eq!(tables, ["a", "c"]);
}

#[test]
fn a_left_out_definition_commits_what_is_open() {
    let pair = pair();
    let text = "CREATE TABLE a (id INT); SET autocommit = 0; INSERT INTO a VALUES (1); CREATE TABLE b (id INT);
                INSERT INTO a VALUES (2); ROLLBACK; BEGIN; INSERT INTO a VALUES (3); DROP TABLE b; ROLLBACK;";
    pair.hortator.reset();
    let skip = format!("--skip={DATABASE}.b");
    for options in [&[&skip[..], "-t1"][..], &[&skip, "-t4", "--chunk-bytes=1"], &[&skip, "--no-checkpoint"]] {
        pair.hortator.reset();
        assert_tells(&load_part(&pair.hortator, text.as_bytes(), options), 0, &[]);
        assert_eq!(rows(&pair.hortator, &format!("SELECT id FROM {DATABASE}.a ORDER BY id")), ["1", "3"]);
    }
}

#[test]
fn accounts_and_server_settings_are_left_out_with_only() {
    let pair = pair();
    pair.hortator.reset();
    execute(&pair.hortator, "DROP USER IF EXISTS hc_visitor@localhost");
    let text = "CREATE USER hc_visitor@localhost; GRANT SELECT ON *.* TO hc_visitor@localhost;
                SET GLOBAL max_connect_errors = 4711; USE hc_nowhere; CREATE TABLE t (id INT);
                USE hortator_case; CREATE TABLE t (id INT);";
    assert_tells(&load_part(&pair.hortator, text.as_bytes(), &["--only=hortator_case.t"]), 0, &["--only 5"]);
    assert_eq!(rows(&pair.hortator, "SELECT COUNT(*) FROM mysql.user WHERE User = 'hc_visitor'"), ["0"]);
    assert_ne!(rows(&pair.hortator, "SELECT @@GLOBAL.max_connect_errors"), ["4711"]);
}

#[test]
fn privileges_on_tables_of_a_schema_that_is_left_out_go_to_no_other() {
    let pair = pair();
    pair.hortator.reset();
    execute(&pair.hortator, "CREATE OR REPLACE USER hc_visitor");
    let text = "CREATE TABLE t (id INT); CREATE DATABASE hc_crm; USE hc_crm; CREATE TABLE t (id INT);
                GRANT SELECT ON t TO hc_visitor;";
    assert_tells(&load_part(&pair.hortator, text.as_bytes(), &["--skip=hc_crm.*"]), 0, &["--skip 4"]);
    assert_eq!(rows(&pair.hortator, "SELECT Db FROM mysql.tables_priv WHERE User = 'hc_visitor'"), [""; 0]);
    execute(&pair.hortator, "DROP USER hc_visitor");
}

#[test]
fn a_folder_is_loaded_in_part() {
    let pair = pair();
    let folder = tempfile::tempdir().unwrap();
    let text = "USE hortator_case; CREATE TABLE {} (id INT); INSERT INTO {} VALUES (1);";
    for name in ["a", "b"] {
        fs::write(folder.path().join(format!("{name}.sql")), text.replace("{}", name)).unwrap();
    }
    pair.hortator.reset();
    let outcome = run(load_into(&pair.hortator, &["--only=*.b", folder.path().to_str().unwrap()]));
    assert_tells(&outcome, 0, &["loaded 1 rows", "--only 2"]);
    assert_eq!(rows(&pair.hortator, "SHOW TABLES FROM hortator_case"), ["b"]);
}

/// A feature whose definitions name their schema.
const NAMES_ITS_SCHEMA: &str = "sequences";

#[test]
fn every_feature_passes_the_filter_as_it_is() {
    let pair = pair();
    let mut found = Vec::new();
    for feature in FEATURES {
        let text = default_dump(&pair.client, feature);
        pair.client.reset();
        let client = load(Contender::Client, &pair.client, Dump::Bytes(&text), false);
        if client.status != Some(0) {
            continue;
        }
        let theirs = &pair.client.state(false)[DATABASE.as_bytes()];
        pair.hortator.reset();
        let outcome = load_part(&pair.hortator, &text, &["--only=hortator_case.*", "--skip=hc_none.*", "-t4"]);
        if outcome.status != Some(0) {
            found.push(format!("{feature}: {}", outcome.messages));
            continue;
        }
        let told = theirs.differences(&pair.hortator.state(false)[DATABASE.as_bytes()]);
        found.extend(told.into_iter().map(|told| format!("{feature}: {told}")));
        let head = format!("CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4;\nUSE {DATABASE};\n");
        let whole = [head.as_bytes(), &text].concat();
        pair.hortator.reset();
        let map = format!("--database-map={DATABASE}=hc_new");
        let outcome = load_part(&pair.hortator, &whole, &[&map, "-t4"]);
        if outcome.status != Some(0) {
            found.push(format!("{feature} in another schema: {}", outcome.messages));
            continue;
        }
        let ours = pair.hortator.state(false);
        if *feature != NAMES_ITS_SCHEMA {
            let told = theirs.differences(&ours[&b"hc_new"[..]]);
            let told = told.into_iter().filter(|told| !told.starts_with("database "));
            found.extend(told.map(|told| format!("{feature} in another schema: {told}")));
        }
    }
    assert_same(&found);
}
