//! What counts of the statements of threads, and what expected errors leave.

use std::sync::{Arc, Mutex};

use hortator_mysql::error::DEADLOCK;
use hortator_sandbox::Topology;

use super::*;
use crate::expected_errors::DUPLICATE_KEY;

#[test]
fn a_statement_counts_with_its_part_of_the_measured_time() {
    let mut sent = Sent::default();
    let mut counted = |start_ns, end_ns, from_ns, to_ns| {
        sent.count(start_ns, end_ns, (from_ns, to_ns));
        (sent.confirmed, sent.latencies.count())
    };
    assert_eq!(counted(0, 900, NOT_YET, NOT_YET), (0.0, 0));
    assert_eq!(counted(0, 900, 900, NOT_YET), (0.0, 0));
    assert_eq!(counted(900, 1_300, 1_000, NOT_YET), (0.75, 1));
    assert_eq!(counted(1_300, 1_900, 1_000, 2_000), (1.75, 2));
    assert_eq!(counted(1_900, 2_300, 1_000, 2_000), (2.0, 2));
    assert_eq!(counted(2_300, 2_400, 1_000, 2_000), (2.0, 2));
}

/// It is the writing of the statement that takes long: nothing is on its way in the measured time.
#[test]
fn a_run_without_a_statement_in_the_measured_time_has_no_figure() {
    let stop = Arc::new(AtomicBool::new(false));
    let nodes = Nodes::alone(&stop).unwrap();
    let threads = Threads { count: 1, nodes: 1 };
    let task = Task { work: "waiting".to_owned(), threads, set_up: &|_| Ok(()), rows: 1, count: "SELECT 1" };
    let done = task.run(&nodes, Duration::from_millis(50), &stop, |_| {
        |sql: &mut String| {
            thread::sleep(Duration::from_millis(1_500));
            sql.push_str("DO 1");
        }
    });
    let message = done.unwrap_err().to_string();
    assert_eq!(message, "no statement of waiting was confirmed in the measured 0.05 s: give more --seconds");
}

/// The warm-up's errors are not those of the figure.
#[test]
fn errors_count_by_number_within_the_measured_time_and_over_all_threads() {
    let (mut one, mut other) = (Sent::default(), Sent::default());
    for at_ns in [900, 1_000, 1_999, 2_000] {
        one.count_error(DEADLOCK, true, at_ns, (1_000, 2_000));
        other.count_error(DUPLICATE_KEY, false, at_ns + 1, (1_000, 2_000));
    }
    one.count_error(DEADLOCK, true, 1_500, (NOT_YET, NOT_YET));
    assert_eq!(one.and(&other).errors.text(), "1062 × 1, 1213 × 2; 2 sent again");
}

const SET_UP: [&str; 4] = [
    "CREATE DATABASE errors",
    "USE errors",
    "CREATE TABLE taken (id BIGINT AUTO_INCREMENT PRIMARY KEY, name BIGINT UNIQUE) ENGINE=InnoDB",
    // Where a statement that fails leaves its first rows.
    "CREATE TABLE halves (id BIGINT AUTO_INCREMENT PRIMARY KEY, name BIGINT UNIQUE) ENGINE=Aria",
];

/// A run of one thread on a server, which sends what `statement` writes for each number.
fn run(
    time: Duration,
    count: &str,
    further: &[&str],
    statement: impl FnMut(u64, &Nodes) -> String + Send,
) -> Result<Generated, Error> {
    run_on(Topology::Standalone, time, count, further, statement)
}

fn run_on(
    topology: Topology,
    time: Duration,
    count: &str,
    further: &[&str],
    mut statement: impl FnMut(u64, &Nodes) -> String + Send,
) -> Result<Generated, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    let nodes = Nodes::start(topology, &[], &stop).unwrap();
    let all: Vec<&str> = SET_UP.iter().chain(further).copied().collect();
    let set_up = |connection: &mut Connection| {
        all.iter().try_for_each(|statement| connection.execute(statement.as_bytes()).map(drop))
    };
    let threads = Threads { count: 1, nodes: 1 };
    let task = Task { work: "inserts".to_owned(), threads, set_up: &set_up, rows: 1, count };
    let (mut number, nodes_of_thread) = (0, &nodes);
    let statements = Mutex::new(Some(move |sql: &mut String| {
        number += 1;
        sql.push_str(&statement(number, nodes_of_thread));
    }));
    task.run(&nodes, time, &stop, |_| statements.lock().unwrap().take().expect("there is one thread"))
}

const COUNT: &str = "SELECT COUNT(*) FROM errors.taken";
const TIME: Duration = Duration::from_millis(600);

/// The statements are refused as a server refuses them: before anything of them is done.
#[test]
fn expected_errors_are_counted_and_do_not_end_the_run() {
    // It signals each error at its first call for a number.
    let insert = "CREATE PROCEDURE errors.insert_unless(number BIGINT, code INT, message VARCHAR(80)) BEGIN
        IF NOT EXISTS (SELECT * FROM errors.refused WHERE refused.number = number) THEN
          INSERT INTO errors.refused VALUES (number);
          SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = code, MESSAGE_TEXT = message;
        END IF;
        INSERT INTO errors.taken (name) VALUES (number);
      END";
    let refused = "CREATE TABLE refused (number BIGINT PRIMARY KEY) ENGINE=Aria";
    let errors = [(1213, "Deadlock"), (1205, "Lock wait"), (1020, "Changed"), (1047, "WSREP has not prepared")];
    let generated = run(TIME, COUNT, &[refused, insert], |number, _| {
        let (code, message) = errors[number as usize % errors.len()];
        format!("CALL errors.insert_unless({number}, {code}, '{message}')")
    });
    let figures = crate::figures::of_threads(&generated.unwrap());
    for (code, _) in errors {
        assert!(figures[&format!("errors_{code}")] >= 1.0, "{code}: {figures:?}");
    }
    assert!(figures["sent_again"] >= 4.0 && figures["errors_1062"] == 0.0, "{figures:?}");
}

/// A node of a cluster that takes no statements for a while.
#[test]
fn a_node_that_is_not_ready_is_waited_for() {
    let generated = run_on(Topology::Galera(1), TIME, COUNT, &[], |number, nodes| {
        if number == 20 {
            let mut connection = nodes.connect(0).unwrap();
            connection.execute(b"SET GLOBAL wsrep_reject_queries = ALL").unwrap();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(300));
                connection.execute(b"SET GLOBAL wsrep_reject_queries = NONE").unwrap();
            });
        }
        format!("INSERT INTO errors.taken (name) VALUES ({number})")
    });
    let figures = crate::figures::of_threads(&generated.unwrap());
    assert!(figures["errors_1047"] >= 1.0 && figures["sent_again"] == figures["errors_1047"], "{figures:?}");
    assert!(figures["rows_per_s"] > 0.0, "{figures:?}");
}

#[test]
fn a_duplicate_key_is_counted_and_its_statement_not_sent_again() {
    let generated = run(TIME, COUNT, &[], |number, _| {
        // Each name twice.
        format!("INSERT INTO errors.taken (name) VALUES ({})", number / 2)
    });
    let figures = crate::figures::of_threads(&generated.unwrap());
    assert!(figures["errors_1062"] >= 1.0 && figures["sent_again"] == 0.0, "{figures:?}");
}

/// The first row of a refused statement stays: the node has a row that was never confirmed.
#[test]
fn a_duplicate_key_that_leaves_a_row_is_found_by_the_count() {
    let count = "SELECT COUNT(*) FROM errors.halves";
    let generated = run(TIME, count, &[], |number, _| match number {
        3 => "INSERT INTO errors.halves (name) VALUES (0), (1)".to_owned(),
        number => format!("INSERT INTO errors.halves (name) VALUES ({number})"),
    });
    let message = generated.unwrap_err().to_string();
    assert!(message.starts_with("after workload inserts the nodes have "), "{message}");
}

#[test]
fn a_run_in_which_every_statement_is_refused_says_why() {
    let generated = run(TIME, COUNT, &[], |_, _| "INSERT INTO errors.taken (name) VALUES (0), (0)".to_owned());
    let message = generated.unwrap_err().to_string();
    assert!(message.contains("was confirmed in the measured 0.6 s: the errors were 1062 × "), "{message}");
}

/// A statement that ends its own connection has no answer. Whether its row is there is not known, and is no error.
#[test]
fn a_lost_connection_is_counted_and_opened_again() {
    let generated = run(TIME, COUNT, &[], |number, nodes| {
        if number % 5 == 0 {
            kill_others(nodes);
        }
        format!("INSERT INTO errors.taken (name) VALUES ({number})")
    });
    let figures = crate::figures::of_threads(&generated.unwrap());
    assert!(figures["errors_2013"] >= 1.0 && figures["sent_again"] == 0.0, "{figures:?}");
    assert!(figures["rows_per_s"] > 0.0, "{figures:?}");
}

fn kill_others(nodes: &Nodes) {
    let mut connection = nodes.connect(0).unwrap();
    let ids = "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'root' AND ID <> CONNECTION_ID()";
    for id in connection.fetch(ids.as_bytes()).unwrap().into_iter().flatten().flatten() {
        // It may have ended by itself.
        let _gone = connection.execute(format!("KILL {}", String::from_utf8_lossy(&id)).as_bytes());
    }
}

#[test]
fn a_server_that_ends_is_named() {
    let generated = run(TIME, COUNT, &[], |number, nodes| {
        if number == 3 {
            nodes.kill(0).unwrap();
        }
        format!("INSERT INTO errors.taken (name) VALUES ({number})")
    });
    let message = generated.unwrap_err().to_string();
    assert_eq!(message, "the server of node 1 has ended: read its error log");
}

#[test]
fn an_error_that_nobody_expects_ends_the_run() {
    let generated = run(TIME, COUNT, &[], |_, _| "INSERT INTO errors.nowhere VALUES (1)".to_owned());
    let message = generated.unwrap_err().to_string();
    assert!(message.starts_with("sending a statement: ERROR 1146"), "{message}");
}
