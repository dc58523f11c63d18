//! `start = "snapshot"`: everything that a source has is on the target, row for row, while the source is written to; and what
//! stops a copy, and what becomes of one that ends early.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{env, fs, process, thread};

use hortator_check::state::{self, Options};
use hortator_sandbox::Temporary;

use super::fan_in::{Ends, FanIn, Victim, run, texts};
use super::line_of;
use crate::random::Dice;

/// Sources that start with a copy.
pub fn copied(sources: usize) -> FanIn {
    let mut fan_in = FanIn::new(sources, &[]);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("start = \"now\"", "start = \"snapshot\""));
    fan_in
}

/// Schemas that are the same on both, but for events: these are disabled on the target.
pub fn assert_copied(source: &Temporary, target: &Temporary, schemas: &[String]) {
    let options = Options { row_times: true, ..Options::default() };
    for schema in schemas {
        let describe =
            |server: &Temporary| state::describe_with(&mut server.node(0).connect().unwrap(), schema, options).unwrap();
        let differences = describe(source).differences(&describe(target));
        let differences: Vec<&String> = differences
            .iter()
            .filter(|difference| !(difference.starts_with("event ") && difference.contains("DISABLE ON SLAVE")))
            .collect();
        assert!(differences.is_empty(), "{schema}: {differences:#?}");
    }
}

/// Feeds a file of statements to a server, as the client does.
fn feed(server: &Temporary, schema: &str, file: &Path) {
    let mut client = Command::new("mariadb");
    client.arg("--no-defaults").arg("-S").arg(server.node(0).socket()).args([
        "-u",
        "root",
        "--binary-mode",
        "--default-character-set=utf8mb4",
        schema,
    ]);
    let status = client.stdin(fs::File::open(file).unwrap()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{}", file.display());
}

/// The schemas of the loader's tests, each a feature: their names.
fn feed_all(server: &Temporary) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../load/testdata/schemas");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let schema_of = |file: &Path| format!("s_{}", file.file_stem().unwrap().to_string_lossy());
    for file in &files {
        run(server, &[&format!("CREATE DATABASE {} CHARACTER SET utf8mb4", schema_of(file))]);
        feed(server, &schema_of(file), file);
    }
    files.iter().map(|file| schema_of(file)).collect()
}

/// Values that lose something on the way through text.
const TRAPS: [&str; 12] = [
    "CREATE DATABASE traps CHARACTER SET latin2",
    "SET SESSION sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'",
    "CREATE TABLE traps.numbers (id INT PRIMARY KEY, f FLOAT, d DOUBLE, g FLOAT(7,3), h DOUBLE(30,5), b BIT(64), y YEAR, \
     u BIGINT UNSIGNED, m DECIMAL(65,30)) ENGINE=InnoDB",
    "INSERT INTO traps.numbers VALUES (0, 16777217, 0.1, 1.23456, 123456789012345678.12345, b'1', 0, 18446744073709551615, \
     -12345678901234567890123456789012345.123456789012345678901234567890), \
     (-1, 1.17549e-38, 2.2250738585072014e-308, -1, 0.1, 18446744073709551615, 1901, 0, 0), \
     (2, 3.4e38, 1.7976931348623157e308, 1234.5678, 3e20, 0, 2155, 1, 0.1), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    "CREATE TABLE traps.times (id INT AUTO_INCREMENT PRIMARY KEY, d DATE, t DATETIME(6), s TIMESTAMP(6) NULL, c TIME(3), \
     n TIMESTAMP NOT NULL) ENGINE=InnoDB",
    "INSERT INTO traps.times (d, t, s, c, n) VALUES ('0000-00-00', '0000-00-00', '0000-00-00', '-838:59:59', '0000-00-00'), \
     ('2020-02-31', '2020-00-10 01:02:03.5', '2020-10-25 01:30:00.000001', '00:00:00.001', '1970-01-01 00:00:01')",
    "SET SESSION sql_mode = ''",
    "CREATE TABLE traps.members (id INT PRIMARY KEY, e ENUM('', 'a', '1') NOT NULL, s SET('x', '2', 'z'), e2 ENUM('b') CHARACTER \
     SET sjis) ENGINE=InnoDB",
    "INSERT INTO traps.members VALUES (1, '', '', NULL), (2, 'no member', 'x,z', 'b'), (3, '1', '2', 'none'), (4, 2, 7, 1)",
    "CREATE TABLE traps.bytes (a VARBINARY(20), b BLOB, c BINARY(4), l VARCHAR(300) CHARACTER SET latin1, j VARCHAR(20) CHARACTER \
     SET sjis, u TEXT CHARACTER SET utf8mb4, w VARCHAR(20) CHARACTER SET ucs2, i INT INVISIBLE DEFAULT 3, g INT AS (LENGTH(a)) \
     STORED, p POINT, o JSON, CHECK (i <> 77)) ENGINE=InnoDB",
    "SET SESSION check_constraint_checks = 0",
    "INSERT INTO traps.bytes (a, b, c, l, j, u, w, i, p, o) VALUES ('', '', '', '', '', '', '', 0, NULL, NULL), \
     (x'00ff0d0a27225c', x'0d0a00', x'61', CONVERT(0x8081828384fffefd0d0a5c27 USING latin1), _sjis x'955c8e9f', _utf8mb4 \
     x'f09f98800d0a5c27225c30', _ucs2 x'005c0027', 77, ST_GeomFromText('POINT(1 2)', 4326), 'no json'), \
     (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{\"a\": 1}')",
];

/// Runs statements in one session.
fn run_together(server: &Temporary, statements: &[&str]) {
    let mut connection = server.node(0).connect().unwrap();
    for statement in statements {
        connection.execute(statement.as_bytes()).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
}

/// Writes to `busy` until it is told to end.
fn write_until(server: &Temporary, ends: &AtomicBool, others: &[&str]) {
    let mut dice = Dice::new(7);
    while !ends.load(Ordering::SeqCst) {
        let Ok(mut connection) = server.node(0).connect() else {
            thread::sleep(Duration::from_millis(20));
            continue;
        };
        while !ends.load(Ordering::SeqCst) {
            let (id, n) = (dice.below(5000), dice.below(100));
            let statements = [
                "BEGIN".to_owned(),
                format!("INSERT INTO busy.t (v) VALUES ('{n}'), ('{id}')"),
                format!("UPDATE busy.t SET v = CONCAT(v, '-{n}') WHERE id BETWEEN {id} AND {}", id + 3),
                format!("DELETE FROM busy.t WHERE id = {}", dice.below(5000)),
                format!("INSERT INTO busy.no_key VALUES ({n})"),
                "COMMIT".to_owned(),
                "DO NEXTVAL(busy.numbers)".to_owned(),
            ];
            let statements = statements.iter().map(String::as_str).chain(others.iter().copied());
            // The server may be killed at any time.
            if statements.into_iter().any(|statement| connection.execute(statement.as_bytes()).is_err()) {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn create_busy(server: &Temporary, rows: u32) {
    run(
        server,
        &[
            "CREATE DATABASE busy",
            "CREATE TABLE busy.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200)) ENGINE=InnoDB",
            "CREATE TABLE busy.no_key (v INT) ENGINE=InnoDB",
            "CREATE SEQUENCE busy.numbers CACHE 3",
            &format!("INSERT INTO busy.t SELECT seq, REPEAT(seq, 20) FROM busy.seq_1_to_{rows}"),
        ],
    );
}

/// The log does not say how far a counter is ahead of the last row.
fn settle_counters(server: &Temporary) {
    run(server, &["INSERT INTO busy.t (v) VALUES ('the last')"]);
}

#[test]
fn everything_that_a_source_has() {
    let fan_in = copied(1);
    let source = &fan_in.sources[0];
    run(source, &["SET GLOBAL log_bin_trust_function_creators = ON"]);
    let mut schemas = feed_all(source);
    run_together(source, &TRAPS);
    create_busy(source, 5000);
    // Sessions of the source see other times than those that are stored, texts with spaces, and few rows.
    let others =
        ["SET GLOBAL time_zone = '+05:30', sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,ANSI_QUOTES', sql_select_limit = 2"];
    run(source, &others);
    schemas.extend(["traps", "busy"].map(str::to_owned));
    let (shown, code) = fan_in.says("check");
    assert!(code == Some(0) && shown.contains("warning: s1: tables whose engine has no snapshot"), "{shown}");
    run(
        source,
        &[
            "CREATE TABLE busy.locked (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(3000)) ENGINE=MyISAM",
            "INSERT INTO busy.locked (v) SELECT 'v' FROM busy.seq_1_to_20000",
        ],
    );
    let ends = &AtomicBool::new(false);
    let agent = thread::scope(|scope| {
        let _at_end = Ends(ends);
        // Tables without a snapshot are locked until they are copied.
        let locked =
            ["INSERT INTO busy.locked (v) VALUES ('x')", "UPDATE busy.locked SET v = CONCAT(v, 'y') WHERE id % 50 = 0"];
        scope.spawn(move || write_until(source, ends, &locked));
        thread::sleep(Duration::from_millis(100));
        let agent = fan_in.start_only();
        fan_in.wait_until("the end of the copy", |shown| {
            assert!(!line_of(shown, "s1").contains("stopped"), "{shown}");
            line_of(shown, "s1").contains("running")
        });
        agent
    });
    run(source, &["SET GLOBAL time_zone = 'SYSTEM', sql_mode = '', sql_select_limit = DEFAULT"]);
    settle_counters(source);
    fan_in.catch_up();
    assert_copied(source, &fan_in.target, &schemas);
    assert_eq!(texts(&fan_in.target, "SELECT * FROM hortator.replicate_copied_objects"), Vec::<Vec<String>>::new());
    let events = "SELECT DISTINCT STATUS FROM information_schema.EVENTS";
    assert_eq!(texts(&fan_in.target, events), [["SLAVESIDE_DISABLED"]]);
    agent.terminate();
    let (log, code) = agent.end();
    assert!(code == Some(0) && log.contains("s1: has copied "), "{log}");
}

/// Foreign keys, in both directions of the alphabet and in a circle.
pub fn create_family(server: &Temporary, schema: &str) {
    let statements = [
        format!("CREATE DATABASE {schema}"),
        format!("CREATE TABLE {schema}.a (id INT PRIMARY KEY, z INT) ENGINE=InnoDB"),
        format!(
            "CREATE TABLE {schema}.z (id INT PRIMARY KEY, a INT, FOREIGN KEY (a) REFERENCES {schema}.a (id)) ENGINE=InnoDB"
        ),
        format!("ALTER TABLE {schema}.a ADD FOREIGN KEY (z) REFERENCES {schema}.z (id)"),
        format!("INSERT INTO {schema}.a SELECT seq, NULL FROM {schema}.seq_1_to_2000"),
        format!("INSERT INTO {schema}.z SELECT seq, seq FROM {schema}.seq_1_to_2000"),
        format!("UPDATE {schema}.a SET z = 2001 - id"),
    ];
    run(server, &statements.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn several_sources_side_by_side() {
    let fan_in = copied(6);
    let schemas: Vec<String> = (1..=5).map(|number| format!("d{number}")).collect();
    // The sixth has nothing at all.
    for (source, schema) in fan_in.sources.iter().zip(&schemas) {
        create_family(source, schema);
    }
    let agent = fan_in.start_only();
    fan_in.wait_until("all copies", |shown| shown.matches(" running ").count() == 6);
    for (source, schema) in fan_in.sources.iter().zip(&schemas) {
        run(source, &[&format!("UPDATE {schema}.a SET z = NULL WHERE id < 100")]);
    }
    run(&fan_in.sources[5], &["CREATE DATABASE late", "CREATE TABLE late.t (id INT PRIMARY KEY)"]);
    fan_in.catch_up();
    for (source, schema) in fan_in.sources.iter().zip(&schemas) {
        assert_copied(source, &fan_in.target, std::slice::from_ref(schema));
    }
    assert_eq!(texts(&fan_in.target, "SELECT COUNT(*) FROM d5.a WHERE z IS NULL"), [["99"]]);
    assert_eq!(texts(&fan_in.target, "SELECT * FROM late.t"), Vec::<Vec<String>>::new());

    // The next start goes on: nothing is copied twice.
    fan_in.says("stop");
    let (log, code) = agent.end();
    assert!(code == Some(0) && log.matches("has copied 2 tables, 4000 rows").count() == 5, "{log}");
    run(&fan_in.sources[0], &["INSERT INTO d1.a VALUES (5000, NULL)"]);
    let agent = fan_in.start();
    fan_in.catch_up();
    assert_copied(&fan_in.sources[0], &fan_in.target, &schemas[..1]);
    fan_in.says("stop");
    assert!(!agent.end().0.contains("copies"));
}

#[test]
fn names_that_the_target_has_stop_the_copy() {
    let fan_in = copied(3);
    for (source, table) in fan_in.sources.iter().zip(["own", "same", "same"]) {
        let statements = [
            "CREATE DATABASE shared".to_owned(),
            format!("CREATE TABLE shared.{table} (id INT PRIMARY KEY) ENGINE=InnoDB"),
            format!("INSERT INTO shared.{table} VALUES (1), (2)"),
        ];
        run(source, &statements.iter().map(String::as_str).collect::<Vec<_>>());
    }
    run(&fan_in.sources[0], &["CREATE DATABASE d", "CREATE VIEW d.v AS SELECT 1 AS one"]);
    let of_target = ["CREATE DATABASE d", "CREATE TABLE d.v (id INT PRIMARY KEY)", "INSERT INTO d.v VALUES (7)"];
    run(&fan_in.target, &of_target);
    let (shown, code) = fan_in.says("check");
    assert!(code == Some(1) && shown.contains("problem: s1: the target has these already"), "{shown}");
    let agent = fan_in.start_only();
    // Of the two with the same table, one is copied.
    fan_in.wait_until("two to stop", |shown| shown.matches(" stopped ").count() == 2 && shown.contains(" running "));
    let (shown, code) = fan_in.says("status");
    assert!(code == Some(1) && shown.matches("the target has these already").count() == 2, "{shown}");
    assert!(shown.contains("there: d.v. Drop or rename") && shown.contains("there: shared.same. Drop"), "{shown}");
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.v"), [["7"]], "it is left alone");
    assert_eq!(texts(&fan_in.target, "SHOW TABLES FROM shared"), [["same"]], "nothing of the first source is there");
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.wait_until("it to stop again", |shown| line_of(shown, "s1").contains("stopped"));
    assert_eq!(texts(&fan_in.target, "SELECT id FROM d.v"), [["7"]]);
    run(&fan_in.target, &["DROP TABLE d.v"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.wait_until("the copy", |shown| line_of(shown, "s1").contains("running"));
    assert_eq!(texts(&fan_in.target, "SELECT one FROM d.v"), [["1"]]);
    assert_eq!(texts(&fan_in.target, "SELECT id FROM shared.own ORDER BY id"), [["1"], ["2"]]);
    assert_eq!(texts(&fan_in.target, "SELECT id FROM shared.same ORDER BY id"), [["1"], ["2"]]);
    drop(agent);
}

#[test]
fn sources_that_cannot_be_copied() {
    let mut fan_in = copied(4);
    // An account that does not see all, a view that cannot be read, an engine without rows of its own, no log.
    run(
        &fan_in.sources[0],
        &[
            "CREATE USER poor@localhost IDENTIFIED BY 'secret'",
            "GRANT REPLICATION SLAVE, BINLOG MONITOR, SELECT, EVENT ON *.* TO poor@localhost",
        ],
    );
    run(
        &fan_in.sources[1],
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY)",
            "CREATE VIEW d.v AS SELECT id FROM d.t",
            "DROP TABLE d.t",
        ],
    );
    run(
        &fan_in.sources[2],
        &[
            "CREATE DATABASE e",
            "CREATE TABLE e.t (id INT PRIMARY KEY)",
            "CREATE EVENT e.e ON SCHEDULE EVERY 1 DAY DO DO 1",
        ],
    );
    run(&fan_in.target, &["SET GLOBAL event_scheduler = ON"]);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    let poor = "name = \"s1\"\npassword = \"secret\"\n";
    let text = text.replacen("name = \"s1\"\n", poor, 1);
    let (before, behind) = text.split_once("[[source]]").unwrap();
    let text = format!("{before}[[source]]{}", behind.replacen("user = \"root\"", "user = \"poor\"", 1));
    fan_in.write(&text);
    let (shown, code) = fan_in.says("check");
    let said = "problem: s1: the account may not read all that is copied: GRANT SHOW VIEW, TRIGGER ON *.* TO it";
    assert!(code == Some(1) && shown.contains(said), "{shown}");
    let agent = fan_in.start_only();
    fan_in.wait_until("three to stop", |shown| shown.matches(" stopped ").count() == 3 && shown.contains(" running "));
    let (shown, _) = fan_in.says("status");
    for said in [
        "s1: the account may not read all that is copied: GRANT SHOW VIEW, TRIGGER ON *.* TO it, on the source",
        "s2: the view d.v cannot be read on the source, so it cannot be made on the target",
        "s3: the target runs events, and would run those of the source before they are disabled",
    ] {
        assert!(shown.contains(said), "{said} in {shown}");
    }
    assert_eq!(texts(&fan_in.target, "SHOW DATABASES LIKE '_'"), Vec::<Vec<String>>::new(), "nothing was made");
    run(&fan_in.sources[0], &["GRANT SHOW VIEW, TRIGGER ON *.* TO poor@localhost"]);
    run(&fan_in.sources[1], &["DROP VIEW d.v"]);
    run(&fan_in.target, &["SET GLOBAL event_scheduler = OFF"]);
    for source in ["s1", "s2", "s3"] {
        assert_eq!(fan_in.says(&format!("resume {source}")).1, Some(0));
    }
    fan_in.wait_until("all copies", |shown| shown.matches(" running ").count() == 4);
    drop(agent);
}

#[test]
fn a_copy_that_is_stopped_begins_anew() {
    let mut fan_in = copied(1);
    create_busy(&fan_in.sources[0], 300_000);
    // Such definitions are taken back in a mode of their own.
    run_together(
        &fan_in.sources[0],
        &[
            "SET SESSION sql_mode = ORACLE",
            "CREATE PACKAGE busy.k AS FUNCTION f RETURN INT; END",
            "CREATE PACKAGE BODY busy.k AS FUNCTION f RETURN INT AS BEGIN RETURN 1; END; END",
        ],
    );
    run(
        &fan_in.target,
        &["CREATE DATABASE busy", "CREATE TABLE busy.mine (id INT)", "INSERT INTO busy.mine VALUES (1)"],
    );
    let agent = fan_in.start_only();
    fan_in.wait_until("rows", |shown| line_of(shown, "s1").contains("copying") && !shown.contains(", 0 rows"));
    assert_eq!(fan_in.says("stop"), (String::new(), Some(0)));
    let (log, code) = agent.end();
    assert!(code == Some(0) && !log.contains("has copied"), "{log}");
    assert_eq!(texts(&fan_in.target, "SELECT source FROM hortator.replicate_positions"), Vec::<Vec<String>>::new());

    // Another start does not go on from half a copy.
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&text.replace("snapshot", "now"));
    let agent = fan_in.start_only();
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    assert!(fan_in.says("status").0.contains("the target has an unfinished copy of this source"));
    drop(agent);
    fan_in.write(&text);

    let agent = fan_in.start_only();
    fan_in.wait_until("the copy", |shown| line_of(shown, "s1").contains("running"));
    assert_eq!(texts(&fan_in.target, "SELECT id FROM busy.mine"), [["1"]]);
    run(&fan_in.target, &["DROP TABLE busy.mine"]);
    settle_counters(&fan_in.sources[0]);
    fan_in.catch_up();
    assert_copied(&fan_in.sources[0], &fan_in.target, &["busy".to_owned()]);
    fan_in.says("stop");
    let (log, _) = agent.end();
    assert!(log.contains("has taken away what an earlier copy"), "{log}");
}

#[test]
fn everything_is_killed_during_the_copy() {
    const KILLS: usize = 9;
    let fan_in = copied(2);
    let source = &fan_in.sources[0];
    let seed = env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    eprintln!("HORTATOR_SEED={seed}");
    let mut dice = Dice::new(seed);
    create_busy(source, 30_000);
    create_family(&fan_in.sources[1], "family");
    run(
        source,
        &[
            "CREATE TABLE busy.m (id INT, KEY (id)) ENGINE=MyISAM",
            "INSERT INTO busy.m SELECT seq FROM busy.seq_1_to_5000",
            "CREATE VIEW busy.w AS SELECT id FROM busy.t",
            "CREATE TRIGGER busy.g BEFORE INSERT ON busy.m FOR EACH ROW SET NEW.id = NEW.id + 1",
            "CREATE PROCEDURE busy.p() SELECT 1",
        ],
    );
    let ends = AtomicBool::new(false);
    let mut agent = Some(fan_in.start_only());
    thread::scope(|scope| {
        let _at_end = Ends(&ends);
        scope.spawn(|| write_until(source, &ends, &[]));
        for kill in 0..KILLS {
            thread::sleep(Duration::from_millis(dice.below(900)));
            fan_in.kill([Victim::Agent, Victim::Target, Victim::Source(0)][kill % 3], &mut agent);
        }
        fan_in.wait_until("the copies", |shown| {
            assert!(!shown.contains(" stopped "), "{shown}");
            shown.matches(" running ").count() == 2
        });
    });
    settle_counters(source);
    fan_in.catch_up();
    assert_copied(source, &fan_in.target, &["busy".to_owned()]);
    assert_copied(&fan_in.sources[1], &fan_in.target, &["family".to_owned()]);
}
