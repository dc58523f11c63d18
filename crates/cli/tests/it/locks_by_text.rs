//! Dumps that lock the server, or are of XA, by EXECUTE or in a routine: nobody but the dump's session can write then, and
//! no load waits for its own locks.

use std::time::Duration;

use rustix::process::Signal;

use crate::errors::{assert_tells, dump_file, load_into};
use crate::interrupted::{piped, say, signal};
use crate::programs::{Outcome, Running};
use crate::servers::{Server, pair};

/// A load that waits for its own lock takes for ever.
const END_LIMIT: Duration = Duration::from_secs(120);

const TABLE: &str = "CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1), (2);\n";
/// What the text of the EXECUTE does not tell.
const FROM_VARIABLE: &str = "SET @lock = 'FLUSH TABLES WITH READ LOCK';\nEXECUTE IMMEDIATE @lock;\n";
const ROUTINE: &str =
    "DELIMITER //\nCREATE PROCEDURE p() BEGIN FLUSH TABLES WITH READ LOCK; END//\nDELIMITER ;\nCALL p();\n";

fn load(server: &Server, dump: &str, options: &[&str]) -> Outcome {
    server.reset();
    let (_folder, path) = dump_file("dump.sql", dump.as_bytes());
    let arguments = [&[path.to_str().unwrap()], options].concat();
    Running::start(load_into(server, &arguments)).finish_within(END_LIMIT)
}

#[test]
fn a_lock_from_a_variable_or_a_routine_ends_the_load_with_a_message() {
    let pair = pair();
    let server = &pair.hortator;
    for lock in [FROM_VARIABLE, ROUTINE] {
        let dump = format!("{TABLE}{lock}UNLOCK TABLES;\nINSERT INTO t VALUES (3), (4);\n");
        assert_tells(&load(server, &dump, &["--no-local-journal"]), 1, &["holds a lock", "--no-checkpoint"]);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["2"]]);
    }
}

#[test]
fn without_checkpoints_rows_behind_such_a_lock_are_the_sessions() {
    let pair = pair();
    let server = &pair.hortator;
    for lock in [FROM_VARIABLE, ROUTINE] {
        let dump = format!("{TABLE}{lock}UNLOCK TABLES;\nINSERT INTO t VALUES (3), (4);\n");
        assert_tells(&load(server, &dump, &["--no-checkpoint"]), 0, &[]);
        assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["4"]]);
        // As the client's: the session's own lock is in the way.
        let dump = format!("{TABLE}{lock}INSERT INTO t VALUES (3), (4);\n");
        assert_tells(&load(server, &dump, &["--no-checkpoint"]), 1, &["1223"]);
    }
}

#[test]
fn a_signal_ends_a_load_that_waits_for_a_lock() {
    let pair = pair();
    let server = &pair.hortator;
    // Another session locks. Where there are checkpoints, the intent of the temporary table waits, else the rows do.
    for options in [&[][..], &["--no-checkpoint"]] {
        server.reset();
        let (running, mut dump) = piped(load_into(server, options));
        say(&mut dump, &format!("{TABLE}SELECT 1;\nSELECT 2;\n"));
        server.wait_until("SELECT COUNT(*) > 0 FROM hortator_case.t");
        let mut other = server.connect();
        other.execute(b"FLUSH TABLES WITH READ LOCK").unwrap();
        say(&mut dump, "CREATE TEMPORARY TABLE x (id INT);\nINSERT INTO t VALUES (3), (4);\nSELECT 3;\n");
        server.wait_until(
            "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for % lock'",
        );
        signal(&running, Signal::TERM);
        let outcome = running.finish_within(END_LIMIT);
        assert_tells(&outcome, 130, &["interrupted"]);
        assert!(!outcome.messages.contains("checkpoint could not be written"), "{}", outcome.messages);
        other.execute(b"UNLOCK TABLES").unwrap();
    }
}
