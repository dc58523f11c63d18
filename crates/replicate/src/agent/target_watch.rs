//! Asks the target about statements that run for long: what they are, and which lock they wait for.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hortator_mysql::{Connection, Error};

use super::side_connection::SideConnection;
use super::source_task::SourceTask;
use super::tracker::{Explanation, LongStatement};
use crate::query::texts;

/// How often.
const ASK_INTERVAL: Duration = Duration::from_secs(1);
/// Characters of a statement that are shown.
const SHOWN_CHARS: usize = 120;

/// Asks until the end of the first source, which is that of all.
pub(super) fn run(tasks: &[Arc<SourceTask>]) {
    let Some(first) = tasks.first() else { return };
    let mut connection = SideConnection::new(ASK_INTERVAL);
    while first.sleep(connection.interval()) {
        let long =
            |task: &Arc<SourceTask>| Some((task.clone(), task.track(|tracker, now| tracker.long_statement(now))?));
        let statements: Vec<(Arc<SourceTask>, LongStatement)> = tasks.iter().filter_map(long).collect();
        if statements.is_empty() {
            connection.pass();
            continue;
        }
        let numbers: Vec<u32> = statements.iter().map(|(_, statement)| statement.connection).collect();
        // A target that does not answer says nothing of them.
        let mut explained =
            connection.ask(first.target.current_node(), |connection| explain(connection, &numbers)).unwrap_or_default();
        for (task, statement) in statements {
            let explanation = explained.remove(&statement.connection);
            task.track(|tracker, _| tracker.on_explained(statement, explanation));
        }
    }
}

/// What the target says of connections, by their numbers.
fn explain(connection: &mut Connection, numbers: &[u32]) -> Result<HashMap<u32, Explanation>, Error> {
    let list = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let shown = SHOWN_CHARS + 1;
    let processes = format!(
        "SELECT ID, STATE, LEFT(INFO, {shown}) FROM information_schema.PROCESSLIST WHERE ID IN ({list}) AND COMMAND <> 'Sleep'"
    );
    let row_locks = format!(
        "SELECT r.trx_mysql_thread_id, MIN(b.trx_mysql_thread_id) FROM information_schema.INNODB_LOCK_WAITS w \
         JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_trx_id \
         JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_trx_id \
         WHERE r.trx_mysql_thread_id IN ({list}) GROUP BY 1"
    );
    let processes = texts(connection, processes.as_bytes())?;
    // An account may lack the right to see them.
    let row_locks = texts(connection, row_locks.as_bytes()).unwrap_or_default();
    let holder_of =
        |number: &String| row_locks.iter().find(|row| row.first() == Some(number)).and_then(|row| row.get(1));
    let mut explained = HashMap::new();
    for row in processes {
        let [number, state, statement] = &row[..] else { continue };
        let Ok(id) = number.parse() else { continue };
        explained.insert(id, explanation(state, statement, holder_of(number).map(String::as_str)));
    }
    Ok(explained)
}

/// In words: what a process does, and which connection holds the row that it waits for.
fn explanation(state: &str, statement: &str, holder: Option<&str>) -> Explanation {
    let is_lock_state = state.starts_with("Waiting for") && state.contains("lock");
    let mut text = match statement.char_indices().nth(SHOWN_CHARS) {
        // Rows as base64 say nothing to a person.
        _ if statement.starts_with("BINLOG ") => "BINLOG …".to_owned(),
        Some((end, _)) => format!("{} …", &statement[..end]),
        None => statement.to_owned(),
    };
    match holder {
        Some(holder) => text += &format!(": waits for a row that connection {holder} has locked"),
        None if !state.is_empty() => text += &format!(": {state}"),
        None => {}
    }
    Explanation { waits_for_lock: is_lock_state || holder.is_some(), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_what_the_target_says() {
        let long = format!("ALTER TABLE d.t COMMENT '{}'", "ü".repeat(200));
        for (state, statement, holder, waits_for_lock, text) in [
            ("altering table", "ALTER TABLE t ADD x INT", None, false, "ALTER TABLE t ADD x INT: altering table"),
            (
                "Waiting for table metadata lock",
                "BINLOG 'AAAA'",
                None,
                true,
                "BINLOG …: Waiting for table metadata lock",
            ),
            ("Waiting for backup lock", "COMMIT", None, true, "COMMIT: Waiting for backup lock"),
            (
                "Waiting for prior transaction to commit",
                "COMMIT",
                None,
                false,
                "COMMIT: Waiting for prior transaction to commit",
            ),
            ("", "BINLOG '", Some("17"), true, "BINLOG …: waits for a row that connection 17 has locked"),
            ("", "COMMIT", None, false, "COMMIT"),
            ("", &long, None, false, &format!("ALTER TABLE d.t COMMENT '{} …", "ü".repeat(SHOWN_CHARS - 25))),
        ] {
            assert_eq!(explanation(state, statement, holder), Explanation { waits_for_lock, text: text.to_owned() });
        }
    }
}
