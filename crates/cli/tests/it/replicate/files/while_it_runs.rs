//! What a person asks of a run that reads files.

use hortator_mysql::Connection;

use super::Recovery;
use crate::replicate::fan_in::{Agent, run};
use crate::replicate::line_of;

/// Rows and definitions in the log; the target has the table.
fn rows_and_definitions() -> Recovery {
    let recovery = Recovery::new("bin.000001:4");
    recovery.check_copy();
    recovery.write(&["INSERT INTO d.t VALUES (1, 'x')"]);
    recovery.write(&["ALTER TABLE d.t COMMENT = 'no group goes over it'"]);
    recovery.write(&["INSERT INTO d.t VALUES (2, 'x')", "INSERT INTO d.t VALUES (3, 'x')"]);
    recovery.write(&["ALTER TABLE d.t COMMENT = 'nor over this'", "INSERT INTO d.t VALUES (4, 'x')"]);
    recovery.copy();
    recovery
}

impl Recovery {
    /// The target has what the log has so far.
    fn check_copy(&self) {
        self.copy();
        self.check("", 0, "all files are applied");
    }

    /// Starts a run, and waits until it takes requests.
    fn start(&self) -> Agent {
        let agent = self.spawn("");
        self.fan_in.wait_until("the run to answer", |shown| shown.contains("source"));
        agent
    }

    /// Keeps others from the table.
    fn lock(&self) -> Connection {
        let mut connection = self.fan_in.target.node(0).connect().unwrap();
        connection.execute(b"LOCK TABLES d.t READ").unwrap();
        connection
    }
}

#[test]
fn pause_and_stop() {
    let recovery = rows_and_definitions();
    let fan_in = &recovery.fan_in;
    let mut lock = recovery.lock();
    let agent = recovery.start();
    let folder = recovery.folder().display().to_string();
    fan_in.wait_until("it to run", |shown| line_of(shown, "s1").contains("running"));
    let (json, _) = fan_in.says("status --json");
    assert!(json.contains(&format!("\"host\":\"{folder}\"")), "{json}");
    let (shown, code) = recovery.run("");
    assert!(shown.contains("this configuration runs already") && code == Some(1), "{shown}");
    assert_eq!(fan_in.says("pause s1"), (String::new(), Some(0)));
    lock.execute(b"UNLOCK TABLES").unwrap();
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    assert_eq!(fan_in.says("stop"), (String::new(), Some(0)));
    let (log, code) = agent.end();
    assert!(log.contains("s1 was ended before the end of the files, at bin.000001:") && code == Some(1), "{log}");

    // It ends by itself when it may go on.
    let mut lock = recovery.lock();
    let agent = recovery.start();
    fan_in.wait_until("it to run", |shown| line_of(shown, "s1").contains("running"));
    assert_eq!(fan_in.says("pause s1"), (String::new(), Some(0)));
    lock.execute(b"UNLOCK TABLES").unwrap();
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    assert_eq!(fan_in.says("resume s1"), (String::new(), Some(0)));
    let (log, code) = agent.end();
    assert!(log.contains("all files are applied") && code == Some(0), "{log}");
    assert_eq!(recovery.ids(), "1 2 3 4");
    assert!(fan_in.says("status").0.contains("nothing runs this configuration"));
}

#[test]
fn a_transaction_that_the_target_refuses_waits_for_a_person() {
    let recovery = rows_and_definitions();
    let fan_in = &recovery.fan_in;
    run(&fan_in.target, &["INSERT INTO d.t VALUES (2, 'of another')"]);
    let agent = recovery.start();
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    assert!(fan_in.says("status").0.contains("Duplicate entry '2'"));
    assert_eq!(fan_in.says("skip s1"), (String::new(), Some(0)));
    let (log, code) = agent.end();
    assert!(log.contains("all files are applied") && code == Some(0), "{log}");
    assert_eq!(recovery.ids(), "1 2 3 4");

    // Or it is given up.
    recovery.write(&["INSERT INTO d.t VALUES (5, 'x')"]);
    recovery.copy();
    run(&fan_in.target, &["INSERT INTO d.t VALUES (5, 'of another')"]);
    let agent = recovery.start();
    fan_in.wait_until("it to stop", |shown| line_of(shown, "s1").contains("stopped"));
    assert_eq!(fan_in.says("stop"), (String::new(), Some(0)));
    let (log, code) = agent.end();
    assert!(log.contains("s1 was stopped by an error: ") && log.contains("Duplicate") && code == Some(1), "{log}");
}

#[test]
fn a_target_that_is_away_for_a_while() {
    let recovery = rows_and_definitions();
    let fan_in = &recovery.fan_in;
    fan_in.target.node(0).kill().unwrap();
    let agent = recovery.start();
    fan_in.wait_until("a try", |shown| shown.contains("connect"));
    fan_in.target.node(0).start().unwrap();
    let (log, code) = agent.end();
    assert!(log.contains("trying again") && log.contains("all files are applied") && code == Some(0), "{log}");
    assert_eq!(recovery.ids(), "1 2 3 4");
}
