//! Transactions above 4 MiB, which are applied while they arrive: statement by statement, the next one on its way while the
//! target runs the one before it.

use std::time::Duration;
use std::{env, process, thread};

use super::fan_in::{Agent, FanIn, run, texts};
use super::line_of;
use crate::random::Dice;

const TABLE: [&str; 2] =
    ["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v VARCHAR(200), w INT) ENGINE=InnoDB"];

/// The last row of a transaction of about 20 MB, and its statement.
const LAST: u32 = 90_000;
const WRITE: &str = "INSERT INTO d1.t SELECT seq, REPEAT('x', 200), 0 FROM d1.seq_1_to_90000";

fn started(of_target: &[(&str, &str)]) -> (FanIn, Agent) {
    let fan_in = FanIn::new(1, of_target);
    let agent = fan_in.start();
    run(&fan_in.sources[0], &TABLE);
    fan_in.catch_up();
    (fan_in, agent)
}

/// The rows of the source, and behind them those of a small transaction.
fn write(fan_in: &FanIn) {
    run(&fan_in.sources[0], &[WRITE, "INSERT INTO d1.t VALUES (1000000, 'behind', 0)"]);
}

fn rows_of_the_source(fan_in: &FanIn) -> String {
    texts(&fan_in.target, "SELECT COUNT(*) FROM d1.t WHERE w = 0")[0][0].clone()
}

/// At the first rows, in the middle, in the last part, which comes with the end.
#[test]
fn an_error_in_any_statement_leaves_nothing_and_names_the_transaction() {
    let (fan_in, agent) = started(&[]);
    for id in [1, 30_000, 60_001, LAST] {
        run(&fan_in.target, &[&format!("INSERT INTO d1.t VALUES ({id}, '', 1)")]);
    }
    write(&fan_in);
    for id in [1, 30_000, 60_001, LAST] {
        fan_in.wait_until("it to stop there", |_| {
            fan_in.says("status").0.contains(&format!("Duplicate entry '{id}' for key"))
        });
        let (shown, _) = fan_in.says("status");
        assert!(
            shown.contains("the large transaction behind bin") || shown.contains("`rows of a large transaction`"),
            "{shown}"
        );
        assert_eq!(rows_of_the_source(&fan_in), "0");
        run(&fan_in.target, &[&format!("DELETE FROM d1.t WHERE id = {id}")]);
        assert_eq!(fan_in.says("resume s1").1, Some(0));
    }
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
    assert_eq!(fan_in.says("stop").1, Some(0));
    let (log, code) = agent.end();
    assert!(code == Some(0) && !log.contains("trying again"), "{log}");
}

/// The error of a statement rolls the whole transaction back here, while the next statement is on its way.
#[test]
fn an_error_that_rolls_the_transaction_back_leaves_nothing_of_the_next_statement() {
    let (fan_in, _agent) = started(&[("innodb_rollback_on_timeout", "ON"), ("innodb_lock_wait_timeout", "1")]);
    for id in [1_000, 45_000, LAST - 100] {
        let mut holder = fan_in.target.node(0).connect().unwrap();
        holder.execute(b"BEGIN").unwrap();
        holder.execute(format!("INSERT INTO d1.t VALUES ({id}, '', 1)").as_bytes()).unwrap();
        write(&fan_in);
        fan_in.wait_until("it to try again", |_| fan_in.says("status --json").0.contains("Lock wait timeout"));
        assert_eq!(rows_of_the_source(&fan_in), "0");
        holder.execute(b"ROLLBACK").unwrap();
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
        run(&fan_in.sources[0], &["DELETE FROM d1.t"]);
        fan_in.catch_up();
    }
}

/// The transactions behind a large one commit, whatever they are.
#[test]
fn what_stands_behind_a_large_transaction() {
    let (fan_in, agent) = started(&[]);
    for statement in [
        "INSERT INTO d1.t VALUES (2000000, '', 0)",
        "CREATE TABLE d1.other (id INT PRIMARY KEY) ENGINE=InnoDB",
        "UPDATE d1.t SET w = RAND(7) * 1000 WHERE id < 3",
        "CREATE TABLE d1.m (id INT) ENGINE=MyISAM",
        "INSERT INTO d1.m VALUES (1)",
    ] {
        // The second one as a statement.
        run(&fan_in.sources[0], &[WRITE, "SET SESSION binlog_format = STATEMENT", statement]);
        fan_in.catch_up();
        // Another connection sees them.
        fan_in.assert_equal(&["d1"]);
        run(&fan_in.sources[0], &["DELETE FROM d1.t"]);
    }
    assert_eq!(fan_in.says("stop").1, Some(0));
    let (log, code) = agent.end();
    assert!(code == Some(0) && !log.contains("trying again"), "{log}");
    let positions = texts(&fan_in.target, "SELECT COUNT(*) FROM hortator.replicate_positions WHERE gtid <> ''");
    assert_eq!(positions, [["1"]]);
}

#[test]
fn a_pause_in_the_middle_leaves_nothing() {
    let (fan_in, _agent) = started(&[]);
    let mut holder = fan_in.target.node(0).connect().unwrap();
    holder.execute(b"BEGIN").unwrap();
    holder.execute(b"INSERT INTO d1.t VALUES (60000, '', 1)").unwrap();
    write(&fan_in);
    let reads = "SELECT TRX_ROWS_MODIFIED > 10000 FROM information_schema.INNODB_TRX WHERE TRX_STATE = 'LOCK WAIT'";
    fan_in.wait_until("it to wait for the row", |_| {
        // InnoDB shows the same picture until nobody has looked for 0.1 s.
        thread::sleep(Duration::from_millis(200));
        texts(&fan_in.target, reads) == [["1"]]
    });
    fan_in.wait_until("the status to say so", |_| fan_in.says("status --json").0.contains("\"waits_for\":\"lock\""));
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    holder.execute(b"ROLLBACK").unwrap();
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    // All of them or nothing.
    assert!(["0", "90000", "90001"].contains(&&*rows_of_the_source(&fan_in)));
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    fan_in.assert_equal(&["d1"]);
}

/// The agent, the target or the agent's connection is killed while the rows arrive.
#[test]
fn kills_within_a_large_transaction() {
    let seed: u64 =
        env::var("HORTATOR_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(u64::from(process::id()));
    let kills: u32 = env::var("HORTATOR_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(6);
    eprintln!("HORTATOR_SEED={seed} HORTATOR_KILLS={kills}");
    let mut dice = Dice::new(seed);
    let (fan_in, agent) = started(&[]);
    let mut agent = Some(agent);
    for number in 0..kills {
        write(&fan_in);
        thread::sleep(Duration::from_millis(dice.below(500)));
        match number % 3 {
            0 => {
                drop(agent.take());
                let rows = rows_of_the_source(&fan_in);
                assert!(["0", "90000", "90001"].contains(&&*rows), "{rows}");
                agent = Some(fan_in.start());
            }
            1 => {
                fan_in.target.node(0).kill().unwrap();
                fan_in.target.node(0).start().unwrap();
            }
            _ => {
                let ids = texts(
                    &fan_in.target,
                    "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER = 'root'",
                );
                for id in ids {
                    // It may have ended.
                    let mut connection = fan_in.target.node(0).connect().unwrap();
                    let _ = connection.execute(format!("KILL {}", id[0]).as_bytes());
                }
            }
        }
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
        run(&fan_in.sources[0], &["DELETE FROM d1.t"]);
    }
}

/// Rows go as parameters of a prepared statement, where the target has room for one; with settings of the source's last
/// statement under which texts are read in other ways.
#[test]
fn a_target_that_prepares_no_statement() {
    for prepared in ["0", "100"] {
        let (fan_in, agent) = started(&[("max_prepared_stmt_count", prepared)]);
        run(
            &fan_in.sources[0],
            &[
                "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
                "SET SESSION sql_mode = 'EMPTY_STRING_IS_NULL,NO_BACKSLASH_ESCAPES,ANSI_QUOTES', collation_connection = ucs2_bin",
                "CREATE TABLE d1.other (id INT)",
            ],
        );
        write(&fan_in);
        fan_in.catch_up();
        fan_in.assert_equal(&["d1"]);
        assert_eq!(rows_of_the_source(&fan_in), (LAST + 1).to_string());
        assert_eq!(fan_in.says("stop").1, Some(0));
        assert!(!agent.end().0.contains("trying again"));
    }
}
