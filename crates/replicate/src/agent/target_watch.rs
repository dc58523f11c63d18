//! Asks the target about statements that run for long: what they are, and which lock they wait for.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use hortator_mysql::{Connection, Error, LockWaits};

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
        let question = |connection: &mut Connection| explain(connection, &first.target.lock_waits, &numbers);
        let mut explained = connection.ask(first.target.current_node(), question).unwrap_or_default();
        for (task, statement) in statements {
            let explanation = explained.remove(&statement.connection);
            task.track(|tracker, _| tracker.on_explained(statement, explanation));
        }
    }
}

/// What the target says of connections, by their numbers.
fn explain(
    connection: &mut Connection,
    lock_waits: &LockWaits,
    numbers: &[u32],
) -> Result<HashMap<u32, Explanation>, Error> {
    let list = numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let shown = SHOWN_CHARS + 1;
    let processes = format!(
        "SELECT ID, STATE, LEFT(INFO, {shown}) FROM information_schema.PROCESSLIST WHERE ID IN ({list}) AND COMMAND <> 'Sleep'"
    );
    let processes = texts(connection, processes.as_bytes())?;
    let mut explained = HashMap::new();
    for row in processes {
        let [number, state, statement] = &row[..] else { continue };
        let Ok(id) = number.parse() else { continue };
        let holder = lock_waits.holders_for(connection, id)?.into_iter().min();
        explained.insert(id, explanation(state, statement, holder));
    }
    Ok(explained)
}

/// In words: what a process does, and which connection holds the row that it waits for.
fn explanation(state: &str, statement: &str, holder: Option<u32>) -> Explanation {
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
            ("", "BINLOG '", Some(17), true, "BINLOG …: waits for a row that connection 17 has locked"),
            ("", "COMMIT", None, false, "COMMIT"),
            ("", &long, None, false, &format!("ALTER TABLE d.t COMMENT '{} …", "ü".repeat(SHOWN_CHARS - 25))),
        ] {
            assert_eq!(explanation(state, statement, holder), Explanation { waits_for_lock, text: text.to_owned() });
        }
    }
}
