//! A client that changes the definition of a table, and writes to it, while the others write.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use hortator_sandbox::Sandbox;

use super::session::Session;
use super::work::Shared;
use crate::kills::dice::Dice;

/// Each can run twice.
const STATEMENTS: [&str; 9] = [
    "CREATE OR REPLACE TABLE shape (id INT AUTO_INCREMENT PRIMARY KEY, v INT)",
    "ALTER TABLE shape ADD COLUMN IF NOT EXISTS a INT DEFAULT 7",
    "ALTER TABLE shape DROP COLUMN IF EXISTS a",
    "CREATE INDEX IF NOT EXISTS i ON shape (v)",
    "DROP INDEX IF EXISTS i ON shape",
    "ALTER TABLE shape ENGINE=InnoDB",
    "TRUNCATE shape",
    "INSERT INTO shape (v) VALUES (1), (2), (3)",
    "UPDATE shape SET v = v + 1",
];
/// A definition stops all writers of a cluster.
const PAUSE: Duration = Duration::from_millis(400);

/// Runs statements until the run ends. What each has done is not remembered: all nodes must end up alike.
pub fn change(sandbox: &Sandbox, seed: u64, shared: &Shared) {
    let mut session = Session::from(sandbox, 0);
    let mut dice = Dice::new(seed);
    while !shared.is_over.load(Ordering::SeqCst) {
        let statement = STATEMENTS[usize::try_from(dice.below(STATEMENTS.len() as i64)).unwrap()];
        session.commit(statement);
        thread::sleep(PAUSE);
    }
}
