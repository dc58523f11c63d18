//! `hortator verify --replicate`: sources and target at a common position, while both are written to.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::fan_in::{Ends, FanIn, run, texts};
use super::rules::{TYPES, says_ok, with_rules};

/// The comparison: what it prints, and its exit status.
pub fn verify(fan_in: &FanIn, arguments: &str) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.args(["verify", "--replicate"]).arg(fan_in.file()).args(arguments.split_whitespace());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&text).trim().to_owned(), output.status.code())
}

/// What it must say, and its status.
pub(super) fn assert_verified(fan_in: &FanIn, arguments: &str, status: i32, said: &[&str]) -> String {
    let (shown, code) = verify(fan_in, arguments);
    assert_eq!(code, Some(status), "{shown}");
    for text in said {
        assert!(shown.contains(text), "`{text}` in {shown}");
    }
    shown
}

/// Clients that insert, change and delete rows of a table of each source, in small transactions, while something is done.
/// Source n has ids beginning with n.
fn under_load<T>(fan_in: &FanIn, table: &str, action: impl FnOnce() -> T) -> T {
    let (ends, written) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        let _ends = Ends(&ends);
        for (number, source) in (1_u64..).zip(&fan_in.sources) {
            for client in 0..2_u64 {
                let (ends, written) = (&ends, &written);
                scope.spawn(move || {
                    let mut connection = source.node(0).connect().unwrap();
                    for round in 0_u64.. {
                        if ends.load(Ordering::SeqCst) {
                            break;
                        }
                        let id = number * 100_000_000 + client * 10_000_000 + round;
                        for statement in [
                            "BEGIN".to_owned(),
                            format!("INSERT INTO {table} (id, v) VALUES ({id}, 'new'), ({id} + 5000000, 'new')"),
                            format!("UPDATE {table} SET v = CONCAT(v, '!') WHERE id = {id}"),
                            format!("DELETE FROM {table} WHERE id = {id} + 5000000 - 3"),
                            "COMMIT".to_owned(),
                        ] {
                            connection
                                .execute(statement.as_bytes())
                                .unwrap_or_else(|error| panic!("{statement}: {error}"));
                        }
                        written.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        }
        fan_in.wait_until("rows", |_| written.load(Ordering::SeqCst) > 20);
        let done = action();
        let before = written.load(Ordering::SeqCst);
        fan_in.wait_until("rows after that", |_| written.load(Ordering::SeqCst) > before + 4);
        done
    })
}

/// Makes the same tables on each source, with other ids.
fn create(fan_in: &FanIn) {
    for (index, source) in fan_in.sources.iter().enumerate() {
        run(
            source,
            &[
                "CREATE DATABASE shop",
                "USE shop",
                "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200), KEY (v)) ENGINE=InnoDB",
                &format!("INSERT INTO t SELECT seq + {index} * 100000, CONCAT('v', seq) FROM seq_1_to_3000"),
            ],
        );
        // Of the second one the table is there already.
        fan_in.catch_up();
    }
}

const RENAME: &str =
    "[[source.rule]]\nmatch = \"shop.log\"\nskip = true\n[[source.rule]]\nmatch = \"shop.*\"\nto = \"SHOP.*\"\n";
const SHARE: &str = "[[source.rule]]\nmatch = \"shop.*\"\nto = \"everything.*\"\n";
const MERGE: &str = "[[source.rule]]\nmatch = \"shop.*\"\nto = \"everything.*\"\nsource_column = \"shard\"\n";

#[test]
fn sources_under_load_and_rows_that_differ() {
    let fan_in = with_rules(2, &[], RENAME);
    let _agent = fan_in.start();
    create(&fan_in);
    for source in &fan_in.sources {
        run(
            source,
            &[
                "USE shop",
                "CREATE TABLE no_key (v VARCHAR(20), n FLOAT) ENGINE=InnoDB",
                "INSERT INTO no_key VALUES ('same', 1.1), ('same', 1.1), (NULL, NULL)",
                "CREATE TABLE mine (id INT) ENGINE=MyISAM",
                "CREATE TABLE log (id INT) ENGINE=InnoDB",
                "CREATE SEQUENCE numbers",
                "CREATE VIEW shown AS SELECT v FROM t",
            ],
        );
    }
    fan_in.catch_up();
    run(&fan_in.target, &["CREATE TABLE shop1.own (id INT)"]);
    under_load(&fan_in, "shop.t", || {
        for threads in [1, 4, 4] {
            let arguments = format!("--threads {threads} --range-rows 500");
            let said = [
                "s1: compared at bin.000001:",
                "s2: compared at bin.000001:",
                "not compared, s1: shop.log: a rule leaves them out",
                "not compared, s2: shop2.mine (shop.mine): tables of MyISAM have no snapshot",
                "not compared, s2: shop2.numbers (shop.numbers): sequences have no snapshot",
                "note: only the target has shop1.own",
                "same: rows of 4 tables of 2 sources: ",
            ];
            assert_verified(&fan_in, &arguments, 0, &said);
        }
        run(
            &fan_in.target,
            &["UPDATE shop1.t SET v = 'by hand' WHERE id = 7", "DELETE FROM shop2.t WHERE id = 100009"],
        );
        let said = [
            "rows of shop1.t: compared with s1: shop.t, the source has ",
            "; first differing rows:\n  only on the source: (id = '7', v = 'v7')\n  only on the target: (id = '7', v = 'by hand')",
            "rows of shop2.t: compared with s2: shop.t, the source has ",
            "  only on the source: (id = '100009', v = 'v9')",
            "2 differences: rows of 4 tables of 2 sources: ",
        ];
        assert_verified(&fan_in, "--range-rows 500", 3, &said);
        assert_verified(&fan_in, "--tables no_key", 0, &["same: rows of 2 tables of 2 sources: 6; "]);
        let shown = assert_verified(&fan_in, "--tables shop1.t --source s1 --json", 3, &["\"same\": false"]);
        let report: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(report["differences"][0]["first"][0], "(id = '7', v = 'v7')", "{shown}");
        assert_eq!((&report["sources"][0]["source"], &report["complete"]), (&"s1".into(), &true.into()), "{shown}");
        assert_eq!(report["tables"][0]["table"], "shop1.t", "{shown}");
    });
    // A table that the target has lost.
    run(&fan_in.target, &["DROP TABLE shop2.no_key"]);
    assert_verified(
        &fan_in,
        "--source s2",
        3,
        &["table shop2.no_key: compared with s2: shop.no_key, the target does not have it"],
    );
    assert_verified(&fan_in, "--source s3", 1, &["there is no source s3: the configuration has s1, s2"]);
    assert_verified(&fan_in, "--tables shop1.x", 1, &["no source has a table `shop1.x` by its name on the target"]);
    assert_verified(&fan_in, "db1 db2", 2, &["cannot be used with"]);
    assert_verified(&fan_in, "-u root", 2, &["--replicate takes no connection options"]);
}

#[test]
fn merged_tables_with_a_source_column() {
    let tenants =
        "[[source.rule]]\nmatch = \"tenant_*.orders\"\nto = \"everything.orders\"\nsource_column = \"shard\"\n";
    let fan_in = with_rules(2, &[], &format!("{tenants}{MERGE}"));
    let _agent = fan_in.start();
    create(&fan_in);
    for (index, source) in fan_in.sources.iter().enumerate() {
        for tenant in 0..2 {
            let create = format!("CREATE TABLE tenant_{tenant}.orders (id INT PRIMARY KEY, v INT) ENGINE=InnoDB");
            let insert = format!("INSERT INTO tenant_{tenant}.orders VALUES ({}, {index})", 10 + tenant);
            run(source, &[&format!("CREATE DATABASE IF NOT EXISTS tenant_{tenant}"), &create, &insert]);
        }
    }
    fan_in.catch_up();
    under_load(&fan_in, "shop.t", || {
        let said = ["same: rows of 4 tables of 2 sources: "];
        assert_verified(&fan_in, "--range-rows 500", 0, &said);
        let (shown, _) = verify(&fan_in, "--json");
        let report: serde_json::Value = serde_json::from_str(&shown).unwrap();
        let tables = report["tables"].as_array().unwrap();
        assert!(tables.iter().all(|table| table["by_key"] == true), "{shown}");
        assert!(shown.contains("\"s1: tenant_0.orders\",\n        \"s1: tenant_1.orders\""), "{shown}");
        // The row of one shard, and not that of the other with the same id.
        run(
            &fan_in.target,
            &[
                "UPDATE everything.orders SET v = 9 WHERE id = 11 AND shard = 's2'",
                "INSERT INTO everything.t (id, v, shard) VALUES (1, 'of nobody', 's2')",
                "INSERT INTO everything.t (id, v, shard) VALUES (2, 'of another', 'S2')",
            ],
        );
        let said = [
            "rows of everything.orders: compared with s2: tenant_0.orders and s2: tenant_1.orders, the source has 2 rows, the target 2; \
             first differing rows:\n  only on the source: (id = '11', v = '1')\n  only on the target: (id = '11', v = '9')",
            "rows of everything.t: compared with s2: shop.t, ",
            "  only on the target: (id = '1', v = 'of nobody')",
            "2 differences: ",
        ];
        let shown = assert_verified(&fan_in, "", 3, &said);
        assert!(!shown.contains("of another"), "{shown}");
    });
}

#[test]
fn merged_tables_that_do_not_tell_whose_rows_they_have() {
    let fan_in = with_rules(2, &[], SHARE);
    let _agent = fan_in.start();
    create(&fan_in);
    run(&fan_in.sources[1], &["CREATE TABLE shop.alone (id INT PRIMARY KEY) ENGINE=InnoDB"]);
    fan_in.catch_up();
    under_load(&fan_in, "shop.t", || {
        for _ in 0..3 {
            assert_verified(&fan_in, "--range-rows 500", 0, &["same: rows of 2 tables of 2 sources: "]);
        }
        let said =
            ["not compared, s2: everything.t (shop.t): rows of s1 are in the table too", "same: rows of 1 tables"];
        assert_verified(&fan_in, "--source s2", 0, &said);
        run(&fan_in.target, &["UPDATE everything.t SET v = 'by hand' WHERE id = 100002"]);
        let said = [
            "rows of everything.t: compared with s1: shop.t and s2: shop.t, the source has ",
            "only on the source: (id = '100002', v = 'v2')",
        ];
        assert_verified(&fan_in, "", 3, &said);
    });
    // One of them cannot come to its place: the other's rows cannot be told from its rows.
    run(&fan_in.target, &["UPDATE everything.t SET v = 'v2' WHERE id = 100002"]);
    says_ok(&fan_in, "pause s1");
    fan_in.wait_until("s1 to wait", |shown| shown.contains("paused"));
    run(&fan_in.sources[0], &["INSERT INTO shop.t VALUES (-1, 'behind')"]);
    let said = [
        "not compared: the source is paused before the snapshot's place: `hortator replicate resume FILE s1`",
        "not compared: rows of it are in one table with rows of s1, which could not be frozen at the same time: ",
    ];
    assert_verified(&fan_in, "", 1, &said);
}

/// Values of all types, history, partitions, generated and invisible columns, keys in every form.
#[test]
fn tables_of_all_kinds() {
    for rules in [RENAME, MERGE] {
        let fan_in = with_rules(2, &[], rules);
        let _agent = fan_in.start();
        for source in &fan_in.sources {
            run(source, TYPES);
            run(
                source,
                &[
                    "USE shop",
                    "CREATE TABLE history (id INT PRIMARY KEY, v INT) WITH SYSTEM VERSIONING ENGINE=InnoDB",
                    "INSERT INTO history VALUES (1, 1), (2, 2)",
                    "UPDATE history SET v = 3",
                    "DELETE FROM history WHERE id = 2",
                    "CREATE TABLE parts (a INT, b VARCHAR(20) COLLATE latin1_swedish_ci, v TEXT, PRIMARY KEY (a, b DESC)) \
                     PARTITION BY RANGE (a) (PARTITION p VALUES LESS THAN (10), PARTITION q VALUES LESS THAN MAXVALUE)",
                    "INSERT INTO parts SELECT seq % 20, CONCAT('é', seq), seq FROM seq_1_to_500",
                    "CREATE TABLE long_key (id INT PRIMARY KEY, v TEXT UNIQUE) ENGINE=InnoDB",
                    "INSERT INTO long_key VALUES (1, 'x'), (2, NULL)",
                    "CREATE TABLE bits (b BIT(9) PRIMARY KEY, e ENUM('x', '') NOT NULL) ENGINE=InnoDB",
                    "INSERT INTO bits VALUES (b'1', 'x'), (b'100000000', '')",
                ],
            );
            fan_in.catch_up();
        }
        assert_verified(&fan_in, "--range-rows 50", 0, &["same: rows of 12 tables of 2 sources: "]);
        let schema = if rules == MERGE { "everything" } else { "shop2" };
        run(&fan_in.target, &[&format!("UPDATE IGNORE {schema}.bits SET e = 0 WHERE b = 1")]);
        run(&fan_in.target, &[&format!("UPDATE {schema}.parts SET b = 'E7' WHERE b = 'é7'")]);
        let said = ["only on the target: (b = '\\x00\\x01', e + 0 = '0', e = '')", "b = '\\xe97'"];
        assert_verified(&fan_in, "--range-rows 50 --source s2", 3, &said);
    }
}

#[test]
fn changes_that_rules_leave_out() {
    let rules = "[[source.rule]]\nmatch = \"shop.archive\"\nskip_events = [\"delete\"]\n[[source.rule]]\nmatch = \"shop.*\"\n\
                 skip_events = [\"truncate\", \"drop\"]\n";
    let fan_in = with_rules(1, &[], rules);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(
        source,
        &[
            "CREATE DATABASE shop",
            "USE shop",
            "CREATE TABLE archive (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TABLE kept (id INT PRIMARY KEY) ENGINE=InnoDB",
            "CREATE TABLE same (id INT PRIMARY KEY) ENGINE=InnoDB",
            "INSERT INTO archive VALUES (1), (2)",
            "INSERT INTO kept VALUES (1), (2)",
            "INSERT INTO same VALUES (1), (2)",
            "DELETE FROM archive WHERE id = 1",
            "TRUNCATE kept",
        ],
    );
    fan_in.catch_up();
    let said = [
        "not compared, s1: shop.archive: a rule leaves delete out",
        "not compared, s1: shop.kept: a rule leaves truncate, drop out; the source has 0 rows, the target 2",
        "same: rows of 1 tables of 1 sources: 2; ",
    ];
    assert_verified(&fan_in, "", 0, &said);
}

#[test]
fn sources_that_cannot_be_compared() {
    let mut fan_in = FanIn::new(2, &[]);
    for (number, source) in (1..).zip(&fan_in.sources) {
        run(source, &[&format!("CREATE DATABASE d{number}")]);
        run(&fan_in.target, &[&format!("CREATE DATABASE d{number}")]);
    }
    let said = ["the target has nothing of it yet, the source is at `0-", "nothing runs this configuration"];
    assert_verified(&fan_in, "", 1, &said);
    let agent = fan_in.start();
    for (number, source) in (1..).zip(&fan_in.sources) {
        run(
            source,
            &[
                &format!("CREATE TABLE d{number}.t (id INT PRIMARY KEY)"),
                &format!("INSERT INTO d{number}.t VALUES (1)"),
            ],
        );
    }
    fan_in.catch_up();
    // Without an agent, what stands still can be compared.
    says_ok(&fan_in, "stop");
    agent.end();
    assert_verified(&fan_in, "", 0, &["same: rows of 2 tables of 2 sources: 2; "]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (2)"]);
    let said = [
        "s1 (",
        "nothing runs this configuration: start `hortator replicate run`",
        "s2: compared at ",
        "not all could be compared",
    ];
    assert_verified(&fan_in, "", 1, &said);

    // A source that an error has stopped, and one that is locked on the target.
    run(&fan_in.target, &["INSERT INTO d1.t VALUES (2)"]);
    let agent = fan_in.start_only();
    fan_in.wait_until("s1 to stop", |shown| shown.contains("stopped"));
    let said =
        ["the source is stopped: ", "Duplicate entry '2'", "`hortator replicate resume FILE s1`, and compare then"];
    assert_verified(&fan_in, "--source s1", 1, &said);
    let mut locks = fan_in.target.node(0).connect().unwrap();
    locks.execute(b"LOCK TABLES d2.t WRITE").unwrap();
    run(&fan_in.sources[1], &["INSERT INTO d2.t VALUES (2)"]);
    let said = ["the target was not at `0-", "` within 1 s, and has it up to `0-", "or give a longer --timeout"];
    assert_verified(&fan_in, "--source s2 --timeout 1", 1, &said);
    drop(locks);
    run(&fan_in.target, &["DELETE FROM d1.t WHERE id = 2"]);
    says_ok(&fan_in, "resume s1");
    fan_in.catch_up();
    assert_verified(&fan_in, "", 0, &["same: rows of 2 tables of 2 sources: 4; "]);

    // An account that does not see everything, and a server that is gone.
    run(
        &fan_in.sources[0],
        &["CREATE USER poor@localhost IDENTIFIED BY 'x'", "GRANT REPLICATION SLAVE ON *.* TO poor@localhost"],
    );
    let text = std::fs::read_to_string(fan_in.file()).unwrap();
    let poor = text.replacen("user = \"root\"\nstart", "user = \"poor\"\npassword = \"x\"\nstart", 1);
    fan_in.write(&poor);
    assert_verified(&fan_in, "--source s1", 1, &["its account may not read all tables: GRANT SELECT ON *.* TO it"]);
    fan_in.write(&text);
    fan_in.sources[1].node(0).kill().unwrap();
    assert_verified(&fan_in, "", 1, &["not compared: the source cannot be reached: ", "s1: compared at "]);
    drop(agent);
}

/// Definitions change all the time: what cannot be compared is said, and nothing is taken for a difference.
#[test]
fn definitions_that_change_meanwhile() {
    let fan_in = with_rules(1, &[], RENAME);
    let _agent = fan_in.start();
    create(&fan_in);
    run(&fan_in.sources[0], &["CREATE TABLE shop.other LIKE shop.t", "CREATE TABLE shop.filled SELECT * FROM shop.t"]);
    fan_in.catch_up();
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let _ends = Ends(&ends);
        let (ends, source) = (&ends, &fan_in.sources[0]);
        scope.spawn(move || {
            // A table has room for some thousand columns.
            for round in 0..1000 {
                if ends.load(Ordering::SeqCst) {
                    break;
                }
                // Each round leaves a table more to compare.
                thread::sleep(std::time::Duration::from_millis(30));
                run(
                    source,
                    &[
                        "USE shop",
                        &format!("ALTER TABLE t ADD COLUMN c{round} INT DEFAULT {round}"),
                        "RENAME TABLE t TO x, other TO t, x TO other",
                        &format!("CREATE TABLE new{round} (id INT PRIMARY KEY)"),
                        &format!("INSERT INTO new{round} VALUES (1)"),
                        "TRUNCATE filled",
                        "INSERT INTO filled (id) SELECT seq FROM seq_1_to_100",
                    ],
                );
            }
        });
        for _ in 0..3 {
            let (shown, code) = verify(&fan_in, "--range-rows 500");
            assert!(matches!(code, Some(0 | 1)), "{shown}");
        }
    });
    fan_in.catch_up();
    assert_verified(&fan_in, "", 0, &["same: "]);
}

/// The agent or the comparison is killed at some moment: no difference is made up, and replication goes on.
#[test]
fn kills_of_the_agent_and_of_the_comparison() {
    let fan_in = with_rules(2, &[], SHARE);
    let mut agent = Some(fan_in.start());
    create(&fan_in);
    for round in 0..6_u64 {
        under_load(&fan_in, "shop.t", || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
            command.args(["verify", "--range-rows", "200", "--replicate"]).arg(fan_in.file());
            let mut verify = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            thread::sleep(std::time::Duration::from_millis(25 * round));
            if round % 2 == 0 {
                drop(agent.take());
                let output = verify.wait_with_output().unwrap();
                let shown = String::from_utf8_lossy(&output.stdout).into_owned();
                assert!(matches!(output.status.code(), Some(0 | 1)), "{shown}");
                agent = Some(fan_in.start());
            } else {
                // It may have come to its end.
                let _ = verify.kill();
                verify.wait().unwrap();
            }
        });
        fan_in.catch_up();
        fan_in.sources.iter().for_each(|source| run(source, &["DELETE FROM shop.t WHERE id >= 100000000"]));
    }
    fan_in.catch_up();
    assert_verified(&fan_in, "", 0, &["same: rows of 1 tables of 2 sources: "]);
    assert!(texts(&fan_in.target, "SHOW PROCESSLIST").len() < 20);
}
