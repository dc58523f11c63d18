//! The recipe "From MySQL to MariaDB" of the manual, as it stands there: a source under a load that never rests, an account with
//! the rights that the recipe names, the cut-over, and the target in its place.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use hortator_mysql::Connection;
use hortator_sandbox::Temporary;
use tempfile::TempDir;

use super::replicate::{assert_same, gtid_executed, pair, recorded};
use crate::replicate::fan_in::{Ends, FanIn, run, texts};
use crate::target;

/// What the source has before the move; it writes other times than the target's sessions see.
const SCHEMA: &[&str] = &[
    "SET GLOBAL log_bin_trust_function_creators = ON",
    "CREATE DATABASE shop",
    "USE shop",
    "CREATE TABLE customers (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(100) COLLATE utf8mb4_0900_ai_ci UNIQUE, born \
     TIMESTAMP(6) NULL, note JSON, secret INT INVISIBLE DEFAULT 3)",
    "CREATE TABLE orders (id BIGINT AUTO_INCREMENT PRIMARY KEY, customer INT, at DATETIME(3), total DECIMAL(12,2), taxed \
     DECIMAL(12,2) AS (total * 1.19) STORED, label VARCHAR(40) AS (CONCAT('#', total)) VIRTUAL, doc JSON, kind VARCHAR(20) AS \
     (doc->>'$.kind') STORED, KEY (kind), FOREIGN KEY (customer) REFERENCES customers (id) ON DELETE CASCADE)",
    "CREATE TABLE items (id INT AUTO_INCREMENT PRIMARY KEY, `order` BIGINT, n INT, FOREIGN KEY (`order`) REFERENCES orders (id) ON \
     DELETE CASCADE ON UPDATE CASCADE)",
    "CREATE TABLE names (name VARCHAR(40) PRIMARY KEY, seen TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE \
     CURRENT_TIMESTAMP(3))",
    "SET sql_generate_invisible_primary_key = ON",
    "CREATE TABLE visits (at TIMESTAMP(6) NULL, page TEXT)",
    "SET sql_generate_invisible_primary_key = OFF",
    "CREATE TABLE plain (a INT, b VARCHAR(20) CHARACTER SET latin1)",
    "CREATE VIEW big AS SELECT id, total FROM orders WHERE total > 50",
    "CREATE TRIGGER stamp BEFORE INSERT ON orders FOR EACH ROW SET NEW.at = COALESCE(NEW.at, NOW(3))",
    "CREATE FUNCTION net (total DECIMAL(12,2)) RETURNS DECIMAL(12,2) DETERMINISTIC RETURN total / 1.19",
    "CREATE EVENT tidy ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DO DELETE FROM visits WHERE at < '2000-01-01'",
    "CREATE EVENT idle ON SCHEDULE EVERY 1 DAY STARTS '2037-01-01 00:00:00' DISABLE DO DELETE FROM visits",
];

/// All tables and views of both servers are there, with the same rows. It ends the source's time zone, in which it would print them.
fn assert_moved(fan_in: &FanIn) {
    let query =
        "SELECT CONCAT('shop.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'shop' ORDER BY 1";
    let tables = texts(&fan_in.sources[0], query).concat();
    assert_eq!(texts(&fan_in.target, query).concat(), tables);
    run(&fan_in.sources[0], &["SET GLOBAL time_zone = 'SYSTEM'"]);
    assert_same(fan_in, &tables.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(recorded(fan_in), gtid_executed(&fan_in.sources[0]));
}

/// An application's session, whose n-th transaction this makes, until the source takes no more writes.
fn write(source: &Temporary, transaction: impl Fn(u64) -> Vec<String>, ends: &AtomicBool, written: &AtomicU64) {
    const READ_ONLY: u16 = 1290;
    let mut connection = source.node(0).connect().unwrap();
    connection.execute(b"USE shop").unwrap();
    for number in 1_u64.. {
        if ends.load(Ordering::SeqCst) {
            return;
        }
        for statement in transaction(number) {
            match connection.execute(statement.as_bytes()) {
                Ok(_) => {}
                // A writer that met another one.
                Err(error) if [Some(1213), Some(1205)].contains(&error.code()) => break,
                Err(error) if error.code() == Some(READ_ONLY) => return,
                Err(error) => panic!("{statement}: {error}"),
            }
        }
        written.fetch_add(1, Ordering::SeqCst);
    }
}

/// Waits until the writers have committed some more.
fn wait_for_more(written: &AtomicU64) {
    let before = written.load(Ordering::SeqCst);
    while written.load(Ordering::SeqCst) < before + 50 {
        thread::sleep(Duration::from_millis(20));
    }
}

/// Orders of customers, in one transaction each, now and then compressed, or with changed parts of JSON only.
fn orders(number: u64) -> Vec<String> {
    let mut statements = vec![
        format!("SET SESSION binlog_transaction_compression = {}", number.is_multiple_of(3)),
        format!("SET SESSION binlog_row_value_options = '{}'", if number.is_multiple_of(2) { "PARTIAL_JSON" } else { "" }),
        format!("SET SESSION time_zone = '{}'", ["+00:00", "-07:00", "+12:45"][usize::try_from(number % 3).unwrap()]),
        "BEGIN".to_owned(),
        format!(
            "INSERT INTO customers (email, born, note) VALUES ('Ünï{number}@example.org', '1999-12-31 23:59:59.654321', \
             JSON_OBJECT('n', {number}, 'text', REPEAT('x', 200)))"
        ),
        "SET @customer = LAST_INSERT_ID()".to_owned(),
        format!(
            "INSERT INTO orders (customer, total, doc) VALUES (@customer, {number}.25, JSON_OBJECT('kind', 'k{}', 'list', \
             JSON_ARRAY(1, 2.5, NULL, 'ä')))",
            number % 5
        ),
        "SET @order = LAST_INSERT_ID()".to_owned(),
        "INSERT INTO items (`order`, n) VALUES (@order, 1), (@order, 2)".to_owned(),
        "UPDATE orders SET doc = JSON_SET(doc, '$.list[1]', 7, '$.kind', 'changed'), total = total + 1 WHERE id = @order".to_owned(),
        "UPDATE customers SET note = JSON_REMOVE(note, '$.n') WHERE id = @customer - 1".to_owned(),
        "COMMIT".to_owned(),
    ];
    if number.is_multiple_of(9) {
        statements.push("DELETE FROM customers WHERE id = @customer - 4".to_owned());
        statements.push("SET gtid_next = 'AUTOMATIC:shop'".to_owned());
        statements.push("UPDATE orders SET id = id + 1000000 WHERE id = @order".to_owned());
        statements.push("SET gtid_next = 'AUTOMATIC'".to_owned());
    }
    statements
}

fn names(number: u64) -> Vec<String> {
    vec![
        format!("INSERT INTO names (name) VALUES ('name {number} 😀'), ('name {number} 😁')"),
        format!("REPLACE INTO names (name) VALUES ('NAME {} 😀')", number / 2),
        format!("INSERT INTO visits VALUES (NOW(6), REPEAT('page {number} ', 50)), (NULL, NULL)"),
        format!("INSERT INTO plain (a, b) VALUES ({}, 'ä{number}'), (NULL, 'same')", number % 7),
        format!("UPDATE plain SET a = a + 1 WHERE a = {} LIMIT 1", number % 5),
        format!("DELETE FROM visits WHERE page LIKE 'page {} %'", number.saturating_sub(20)),
    ]
}

/// Definitions that change while the source is copied and followed: after longer and longer pauses, as each begins a copy
/// anew, and on a busy machine one takes seconds.
fn definitions(number: u64) -> Vec<String> {
    thread::sleep(Duration::from_millis(300 << number.min(4)));
    vec![
        format!("ALTER TABLE plain ADD COLUMN c{number} INT DEFAULT {number}"),
        "DROP TABLE IF EXISTS late, later".to_owned(),
        "CREATE TABLE later (id INT PRIMARY KEY, v VARCHAR(20) DEFAULT 'v', at TIMESTAMP(6) DEFAULT NOW(6)) CHARSET utf8mb4".to_owned(),
        format!("INSERT INTO later (id) VALUES ({number}), (0)"),
        "RENAME TABLE later TO late".to_owned(),
        "CREATE INDEX i ON late (v)".to_owned(),
        "ALTER TABLE late ADD COLUMN j JSON, ADD COLUMN hidden INT DEFAULT 5 INVISIBLE, RENAME COLUMN v TO w".to_owned(),
        format!("UPDATE late SET j = '[{number}]'"),
        format!("ALTER TABLE plain DROP COLUMN c{number}"),
    ]
}

/// The blocks of commands of the recipe, in the manual's order.
fn blocks() -> Vec<String> {
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/replicate.md")).unwrap();
    let section =
        manual.split("\n## From MySQL to MariaDB").nth(1).expect("the section").split("\n## ").next().unwrap();
    // The blocks belong to a list.
    let block = |rest: &str| rest.split("```").next().unwrap().replace("\n   ", "\n");
    section.split("```sh").skip(1).map(block).collect()
}

/// The home of the person who moves the data, with the option file that the recipe asks for.
struct Home(TempDir);

impl Home {
    fn new(fan_in: &FanIn) -> Home {
        let home = Home(tempfile::tempdir_in("/tmp").unwrap());
        let (source, target) = (fan_in.sources[0].node(0), fan_in.target.node(0));
        let options = format!(
            "[client_old]\nhost=127.0.0.1\nport={}\nuser=repl\npassword=secret\n[client_old_admin]\nsocket={}\nuser=root\n\
             [client_new]\nsocket={}\nuser=root\n",
            source.port(),
            source.socket().display(),
            target.socket().display()
        );
        fs::write(home.path().join(".my.cnf"), options).unwrap();
        home
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs commands as a person does, one after the other, until one of them fails. What they show, and whether all succeed.
    fn try_sh(&self, script: &str) -> (String, bool) {
        let program = PathBuf::from(env!("CARGO_BIN_EXE_hortator"));
        let mysql = target::mysql().expect("cargo xtask mysql names it");
        let search = format!(
            "{}:{}:{}",
            program.parent().unwrap().display(),
            mysql.join("bin").display(),
            std::env::var("PATH").unwrap()
        );
        // What goes on in the background must not hold the test up, and must end with it.
        let shown = self.path().join("shown");
        let file = File::create(&shown).unwrap();
        let script = format!("trap 'test -z \"${{!:-}}\" || echo $! > agent.pid' EXIT\n{script}");
        let mut command = Command::new("bash");
        command
            .args(["-euo", "pipefail", "-c", &script])
            .current_dir(self.path())
            .env("HOME", self.path())
            .env("PATH", &search);
        let output = command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file).status().unwrap();
        (fs::read_to_string(shown).unwrap(), output.success())
    }

    fn sh(&self, script: &str) -> String {
        let (shown, is_success) = self.try_sh(script);
        assert!(is_success, "{script}: {shown}");
        shown
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Ok(agent) = fs::read_to_string(self.path().join("agent.pid")) {
            // It has mostly ended.
            let _ = Command::new("kill").args(["-KILL", agent.trim()]).stderr(Stdio::null()).status();
        }
    }
}

/// A source as the recipe asks for, and its account.
fn shop() -> FanIn {
    let fan_in = pair(&[("default_time_zone", "+05:30")]);
    let recipe = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/replicate.md")).unwrap();
    let section = recipe.split("\n## From MySQL to MariaDB").nth(1).unwrap();
    let grant = section.split('`').find(|text| text.starts_with("GRANT SELECT")).expect("what the account needs");
    let grant = grant.replace("repl@'%'", "repl@'127.0.0.1'");
    run(&fan_in.sources[0], &["CREATE USER repl@'127.0.0.1' IDENTIFIED BY 'secret'", &grant]);
    run(&fan_in.sources[0], SCHEMA);
    fan_in
}

/// A client of the target.
fn client(fan_in: &FanIn) -> Connection {
    let mut client = fan_in.target.node(0).connect().unwrap();
    client.execute(b"USE shop").unwrap();
    client
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn the_recipe_of_a_move_to_mariadb() {
    let fan_in = shop();
    let source = &fan_in.sources[0];
    let [follow, _dump, cut_over, events] = &blocks()[..] else { panic!("the steps of the recipe: {:?}", blocks()) };
    let home = Home::new(&fan_in);
    let (ends, written) = (&AtomicBool::new(false), &AtomicU64::new(0));
    let (begin, compare) = follow.rsplit_once("\nhortator verify ").expect("it ends with a comparison");
    let (shown, at_cut_over) = thread::scope(|scope| {
        let _at_end = Ends(ends);
        let writer =
            |transaction: fn(u64) -> Vec<String>| scope.spawn(move || write(source, transaction, ends, written));
        let mut writers = vec![writer(orders), writer(names)];
        let definitions_end = &AtomicBool::new(false);
        thread::scope(|scope| {
            let _at_end = Ends(definitions_end);
            scope.spawn(|| write(source, definitions, definitions_end, written));
            wait_for_more(written);
            home.sh(begin);
        });
        // A table whose definition changes meanwhile is not compared.
        let shown = home.sh(&format!("hortator verify {compare}"));
        writers.push(writer(definitions));
        wait_for_more(written);
        let at_cut_over = home.sh(cut_over);
        // The source itself has ended them.
        for writer in writers {
            writer.join().unwrap();
        }
        (shown, at_cut_over)
    });
    assert!(shown.contains("same: rows of 7 tables of 1 sources"), "{shown}");
    assert!(at_cut_over.contains("same: rows of "), "{at_cut_over}");
    assert_moved(&fan_in);

    // The target takes the place of the source.
    home.sh(events);
    // The other one is disabled on the source too.
    let enabled = "SELECT EVENT_NAME FROM information_schema.EVENTS WHERE STATUS = 'ENABLED'";
    assert_eq!(texts(&fan_in.target, enabled), [["tidy"]]);
    let mut client = client(&fan_in);
    let last = texts(&fan_in.target, "SELECT MAX(id) FROM shop.orders")[0][0].parse::<u64>().unwrap();
    client.execute(b"INSERT INTO customers (email) VALUES ('new@example.org')").unwrap();
    client
        .execute(b"INSERT INTO orders (customer, total, doc) VALUES (LAST_INSERT_ID(), 100, '{\"kind\": \"new\"}')")
        .unwrap();
    assert_eq!(
        texts(
            &fan_in.target,
            &format!(
                "SELECT taxed, label, kind, at IS NOT NULL FROM shop.orders WHERE id > {last} AND shop.net(taxed) = total"
            )
        ),
        [["119.00", "#100.00", "new", "1"]]
    );
    for (statement, code) in [
        ("INSERT INTO items (`order`, n) VALUES (-1, 1)", 1452),
        ("INSERT INTO customers (email) VALUES ('NÉW@example.org')", 1062),
        ("INSERT INTO customers (note) VALUES ('no JSON')", 4025),
    ] {
        assert_eq!(client.execute(statement.as_bytes()).unwrap_err().code(), Some(code), "{statement}");
    }
}

/// The other way of the recipe: a dump, and the place that it names.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn the_recipe_of_a_move_with_a_dump() {
    let fan_in = shop();
    let source = &fan_in.sources[0];
    let [follow, dump, cut_over, _events] = &blocks()[..] else { panic!("the steps of the recipe: {:?}", blocks()) };
    let home = Home::new(&fan_in);
    let (ends, written) = (&AtomicBool::new(false), &AtomicU64::new(0));
    // The configuration, and no copy.
    let (configuration, commands) = follow.split_once("\nEND\n").unwrap();
    home.sh(&format!("{configuration}\nEND\n"));
    let shown = thread::scope(|scope| {
        let _at_end = Ends(ends);
        for transaction in [orders as fn(u64) -> Vec<String>, names] {
            scope.spawn(move || write(source, transaction, ends, written));
        }
        wait_for_more(written);
        home.sh(dump);
        home.sh(commands);
        home.sh(cut_over)
    });
    assert!(shown.contains("same: rows of 6 tables of 1 sources"), "{shown}");
    assert_moved(&fan_in);
}
