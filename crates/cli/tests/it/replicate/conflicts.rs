//! Rows that do not fit those of the target, under `conflict = "ignore"`: they are left as they are, each is counted, and the
//! rest of the transaction is applied. What holds for `overwrite` too: groups, workers, large transactions, kills.

use std::fs;
use std::time::Duration;
use std::{env, process, thread};

use super::fan_in::{Agent, FanIn, run, texts};
use super::line_of;
use super::rules::{stops_with, write, write_and_wait};
use crate::random::Dice;

/// A source and a target under a policy.
pub(super) fn under(policy: &str, of_target: &[(&str, &str)], of_source: &str) -> FanIn {
    let mut fan_in = FanIn::new(1, of_target);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    let text = text.replace("[target]\n", &format!("[target]\nconflict = \"{policy}\"\n"));
    fan_in.write(&(text + of_source));
    fan_in
}

/// Ends the agent, which has not stopped; its log.
pub(super) fn log_of(fan_in: &FanIn, agent: Agent) -> String {
    assert_eq!(fan_in.says("stop").1, Some(0));
    let (log, code) = agent.end();
    assert!(code == Some(0) && !log.contains("stopped"), "{log}");
    log
}

/// Waits for numbers in the status.
pub(super) fn counts(fan_in: &FanIn, field: &str, rows: u64) {
    let wanted = format!("\"{field}\":{rows},");
    let end = std::time::Instant::now() + Duration::from_secs(60);
    while !fan_in.says("status --json").0.contains(&wanted) {
        assert!(std::time::Instant::now() < end, "{wanted}: {}", fan_in.says("status --json").0);
        thread::sleep(Duration::from_millis(50));
    }
}

pub(super) fn rows(fan_in: &FanIn, query: &str) -> Vec<String> {
    texts(&fan_in.target, query).into_iter().map(|row| row.join(" ")).collect()
}

const TABLES: [&str; 3] = [
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, u INT UNIQUE, v VARCHAR(20)) ENGINE=InnoDB",
    "CREATE TABLE d.n (a INT, b INT) ENGINE=InnoDB",
];

#[test]
fn rows_that_do_not_fit_are_left_as_they_are() {
    let fan_in = under("ignore", &[], "");
    let agent = fan_in.start();
    write(&fan_in, 0, &TABLES);
    write(
        &fan_in,
        0,
        &[
            "INSERT INTO d.t VALUES (5, 50, 'five'), (6, 60, 'six'), (7, 70, 'seven')",
            "INSERT INTO d.n VALUES (1, 1), (2, 2)",
        ],
    );
    fan_in.catch_up();
    run(
        &fan_in.target,
        &[
            "INSERT INTO d.t VALUES (2, 20, 'mine'), (8, 33, 'mine')",
            "DELETE FROM d.t WHERE id IN (5, 6)",
            "DELETE FROM d.n WHERE a = 2",
        ],
    );
    // In one transaction: by the primary key, by another one, an update, deletes, an update to a key of another row.
    write_and_wait(
        &fan_in,
        0,
        &[
            "BEGIN",
            "INSERT INTO d.t VALUES (1, 10, 'a'), (2, 21, 'b'), (3, 33, 'c'), (4, 40, 'd')",
            "UPDATE d.t SET v = 'new' WHERE id IN (5, 7)",
            "DELETE FROM d.t WHERE id = 6",
            "DELETE FROM d.n",
            "UPDATE d.t SET u = 33 - 13 WHERE id = 4",
            "COMMIT",
            "INSERT INTO d.t VALUES (9, 90, 'behind')",
        ],
    );
    let expected = ["1 10 a", "2 20 mine", "4 40 d", "7 70 new", "8 33 mine", "9 90 behind"];
    assert_eq!(rows(&fan_in, "SELECT * FROM d.t ORDER BY id"), expected);
    assert_eq!(rows(&fan_in, "SELECT COUNT(*) FROM d.n"), ["0"]);
    counts(&fan_in, "conflicts", 6);
    counts(&fan_in, "conflicts_ignored", 6);
    counts(&fan_in, "conflicts_overwritten", 0);
    counts(&fan_in, "passed_over", 0);
    write_and_wait(&fan_in, 0, &["DELETE FROM d.t WHERE id = 5"]);
    let log = log_of(&fan_in, agent);
    for said in [
        "s1: conflicts in d.t (ignore): 5 rows of it since the start, the first: an insert of a row that the target has already, key id = 2",
        "s1: conflict in d.n (ignore): a delete of a row that the target does not have, of which the event has no unique key",
    ] {
        assert!(log.contains(said), "{said}: {log}");
    }
}

/// The default, and what a source says itself.
#[test]
fn a_source_can_have_a_policy_of_its_own() {
    let fan_in = under("ignore", &[], "conflict = \"error\"\n");
    let _agent = fan_in.start();
    write(&fan_in, 0, &TABLES);
    fan_in.catch_up();
    run(&fan_in.target, &["INSERT INTO d.t VALUES (2, 20, 'mine')"]);
    write(&fan_in, 0, &["INSERT INTO d.t VALUES (2, 20, 'theirs')"]);
    stops_with(&fan_in, "s1", "Duplicate entry '2' for key 'PRIMARY'");
    counts(&fan_in, "conflicts", 1);
    counts(&fan_in, "conflicts_ignored", 0);
}

#[test]
fn a_policy_that_is_none() {
    let fan_in = under("replace", &[], "");
    let (shown, code) = fan_in.says("run");
    assert!(
        code == Some(1) && shown.contains("[target], `conflict`: `replace` is none of error, overwrite, ignore"),
        "{shown}"
    );
}

/// Foreign keys, statements and tables that cannot roll back are no matter of the policy.
#[test]
fn what_stops_the_source_all_the_same() {
    for policy in ["ignore", "overwrite"] {
        let fan_in = under(policy, &[], "");
        let _agent = fan_in.start();
        write(&fan_in, 0, &TABLES);
        write(
            &fan_in,
            0,
            &[
                "CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.t (id)) ENGINE=InnoDB",
                "CREATE TABLE d.m (id INT PRIMARY KEY) ENGINE=MyISAM",
                "INSERT INTO d.t VALUES (1, 1, ''), (2, 2, '')",
            ],
        );
        fan_in.catch_up();
        run(&fan_in.target, &["DELETE FROM d.t WHERE id = 2", "INSERT INTO d.m VALUES (2)"]);
        let skip = || {
            assert_eq!(fan_in.says("skip s1").1, Some(0));
            fan_in.catch_up();
        };
        write(&fan_in, 0, &["INSERT INTO d.c VALUES (1, 1), (2, 2)"]);
        stops_with(&fan_in, "s1", "a foreign key constraint fails");
        assert_eq!(rows(&fan_in, "SELECT * FROM d.c"), [""; 0]);
        skip();
        write(&fan_in, 0, &["SET binlog_format = STATEMENT", "INSERT INTO d.m VALUES (1), (2), (3)"]);
        stops_with(&fan_in, "s1", "Duplicate entry '2'");
        skip();
        counts(&fan_in, "conflicts_ignored", 0);
        counts(&fan_in, "conflicts_overwritten", 0);
    }
}

/// What the policy does not take goes to `ignore_errors`, which leaves the whole transaction out.
#[test]
fn beside_errors_that_are_ignored() {
    let fan_in = under("ignore\"\nignore_errors = [1452]\nschema = \"hortator", &[], "");
    let _agent = fan_in.start();
    write(&fan_in, 0, &TABLES);
    write(
        &fan_in,
        0,
        &[
            "CREATE TABLE d.c (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES d.t (id)) ENGINE=InnoDB",
            "INSERT INTO d.t VALUES (1, 1, ''), (2, 2, '')",
        ],
    );
    fan_in.catch_up();
    run(&fan_in.target, &["DELETE FROM d.t WHERE id = 2", "INSERT INTO d.t VALUES (4, 4, 'mine'), (6, 6, 'mine')"]);
    write(
        &fan_in,
        0,
        &["BEGIN", "INSERT INTO d.t VALUES (4, 4, ''), (5, 5, '')", "INSERT INTO d.c VALUES (2, 2)", "COMMIT"],
    );
    write_and_wait(&fan_in, 0, &["INSERT INTO d.t VALUES (6, 6, ''), (7, 7, '')"]);
    assert_eq!(rows(&fan_in, "SELECT id, v FROM d.t"), ["1 ", "4 mine", "6 mine", "7 "]);
    counts(&fan_in, "passed_over", 1);
    // Those of the transaction that was passed over are none.
    counts(&fan_in, "conflicts_ignored", 1);
}

/// Groups that several connections apply: each row is the target's or the source's, and none is lost.
#[test]
fn conflicts_in_a_backlog() {
    for (policy, kept) in [("ignore", 1), ("overwrite", 0)] {
        let mut fan_in = FanIn::new(1, &[]);
        let text = fs::read_to_string(fan_in.file()).unwrap();
        fan_in.write(&text.replace("[target]\n", &format!("[target]\nworkers = 5\nconflict = \"{policy}\"\n")));
        let agent = fan_in.start();
        write(&fan_in, 0, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB"]);
        fan_in.catch_up();
        assert_eq!(fan_in.says("pause s1").1, Some(0));
        fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
        let wrong = [5, 1_017, 1_023, 1_999, 2_004, 5_555, 9_991];
        for id in wrong {
            run(&fan_in.target, &[&format!("INSERT INTO d1.t VALUES ({id}, 1)")]);
        }
        run(
            &fan_in.sources[0],
            &["FOR block IN 0..999 DO INSERT INTO d1.t SELECT block * 10 + seq, 0 FROM d1.seq_1_to_10; END FOR"],
        );
        assert_eq!(fan_in.says("resume s1").1, Some(0));
        fan_in.catch_up();
        assert_eq!(rows(&fan_in, "SELECT COUNT(*), SUM(v) FROM d1.t"), [format!("10000 {}", kept * wrong.len())]);
        counts(&fan_in, "conflicts", 7);
        let log = log_of(&fan_in, agent);
        assert!(
            log.contains(&format!(
                "conflict in d1.t ({policy}): an insert of a row that the target has already, key id = "
            )),
            "{log}"
        );
        assert!(!log.contains("trying again"), "{log}");
    }
}

/// A log that is applied twice: every row of the second time is one that the target has.
#[test]
fn a_log_that_is_applied_twice() {
    for policy in ["ignore", "overwrite"] {
        let fan_in = under(policy, &[], "");
        let agent = fan_in.start();
        write(
            &fan_in,
            0,
            &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v INT, w INT UNIQUE) ENGINE=InnoDB"],
        );
        fan_in.catch_up();
        let position = "SELECT CONCAT('file = ', QUOTE(file), ', position = ', position, ', gtid = ', QUOTE(gtid)) \
                        FROM hortator.replicate_positions";
        let start = rows(&fan_in, position)[0].clone();
        write(
            &fan_in,
            0,
            &[
                "FOR i IN 1..1500 DO INSERT INTO d1.t VALUES (i, 0, i); UPDATE d1.t SET v = i, w = -i WHERE id = i; END FOR",
                "DELETE FROM d1.t WHERE id % 7 = 0",
            ],
        );
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
        log_of(&fan_in, agent);
        run(&fan_in.target, &[&format!("UPDATE hortator.replicate_positions SET {start}")]);
        let agent = fan_in.start_only();
        fan_in.wait_until("it to read", |shown| line_of(shown, "s1").contains("running"));
        fan_in.catch_up();
        if policy == "overwrite" {
            fan_in.assert_equal(&["d1"]);
        } else {
            // An insert of a row that is there is left out, the update behind it is not.
            assert_eq!(rows(&fan_in, "SELECT COUNT(*), SUM(v = id), SUM(w = -id) FROM d1.t"), ["1286 1286 1286"]);
        }
        log_of(&fan_in, agent);
    }
}

const LARGE: &str = "INSERT INTO d1.t SELECT seq, REPEAT('x', 200), 0 FROM d1.seq_1_to_90000";

/// Conflicts at the first rows, in the middle and at the end of a transaction that is applied while it arrives.
#[test]
fn conflicts_in_a_large_transaction() {
    for (policy, kept) in [("ignore", "4"), ("overwrite", "0")] {
        let fan_in = under(policy, &[], "");
        let agent = fan_in.start();
        write(
            &fan_in,
            0,
            &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v VARCHAR(200), w INT) ENGINE=InnoDB"],
        );
        fan_in.catch_up();
        run(&fan_in.target, &["INSERT INTO d1.t VALUES (1, '', 1), (30000, '', 1), (60001, '', 1), (90000, '', 1)"]);
        write_and_wait(&fan_in, 0, &[LARGE, "INSERT INTO d1.t VALUES (1000000, 'behind', 0)"]);
        assert_eq!(rows(&fan_in, "SELECT COUNT(*), SUM(w) FROM d1.t"), [format!("90001 {kept}")]);
        counts(&fan_in, "conflicts", 4);
        // Without conflicts it goes as ever; then one of deletes.
        run(&fan_in.target, &["DELETE FROM d1.t WHERE id IN (7, 89999)"]);
        write_and_wait(&fan_in, 0, &["DELETE FROM d1.t"]);
        assert_eq!(rows(&fan_in, "SELECT COUNT(*) FROM d1.t"), ["0"]);
        counts(&fan_in, "conflicts", 6);
        let log = log_of(&fan_in, agent);
        let again = log.matches("the transaction is applied again, row by row where it does not fit").count();
        assert_eq!(again, 2, "{log}");
    }
}

/// The agent, the target or the agent's connection is killed while conflicts are dealt with.
#[test]
fn kills_among_conflicts() {
    let seed: u64 =
        env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    let kills: u32 = env::var("HORTATOR_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={kills}");
    let mut dice = Dice::new(seed);
    let fan_in = under("overwrite", &[], "");
    let mut agent = Some(fan_in.start());
    write(
        &fan_in,
        0,
        &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v VARCHAR(200), w INT) ENGINE=InnoDB"],
    );
    fan_in.catch_up();
    for number in 0..kills {
        run(&fan_in.target, &["REPLACE INTO d1.t SELECT seq * 97 + 1, 'mine', 1 FROM d1.seq_1_to_900"]);
        write(
            &fan_in,
            0,
            &[
                "FOR i IN 100001..100500 DO INSERT INTO d1.t VALUES (i, '', 0); UPDATE d1.t SET w = 2 WHERE id = i; END FOR",
                LARGE,
            ],
        );
        thread::sleep(Duration::from_millis(dice.below(1_500)));
        match number % 3 {
            0 => {
                let mut old = agent.take().unwrap();
                old.0.kill().unwrap();
                old.0.wait().unwrap();
                agent = Some(fan_in.start_only());
            }
            1 => {
                fan_in.target.node(0).kill().unwrap();
                fan_in.target.node(0).start().unwrap();
            }
            _ => {
                for id in
                    texts(&fan_in.target, "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()")
                {
                    // It may have ended.
                    let _ = fan_in.target.node(0).connect().unwrap().execute(format!("KILL {}", id[0]).as_bytes());
                }
            }
        }
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
        write(&fan_in, 0, &["DELETE FROM d1.t"]);
        fan_in.catch_up();
        assert_eq!(rows(&fan_in, "SELECT COUNT(*) FROM d1.t"), ["0"], "kill {number}");
    }
}
