//! Which statements of a test are left out: those about replication itself, and those that make the source's log another one
//! or hide something from it.

use crate::mtr_as_dumps::dump::Statement;

/// First words of statements that are left out.
const HEADS: [&str; 18] = [
    "CHANGE MASTER",
    "START SLAVE",
    "START ALL",
    "START REPLICA",
    "STOP SLAVE",
    "STOP ALL",
    "STOP REPLICA",
    "RESET",
    "PURGE",
    "SHUTDOWN",
    "KILL",
    "INSTALL",
    "UNINSTALL",
    "SET GLOBAL",
    "SET @@GLOBAL",
    "SHOW",
    "SELECT MASTER_",
    "SELECT @@",
];
/// Words that a statement has that is left out: rows that the log does not have, positions of replicas, tests of debug
/// builds.
const WORDS: [&str; 6] =
    ["SQL_LOG_BIN", "GTID_SLAVE_POS", "GTID_SEQ_NO", "SKIP_REPLICATION", "DEBUG_SYNC", "SET_STATEMENT_SERVER_ID"];
/// Global variables that may be set.
const GLOBALS: [&str; 1] = ["EVENT_SCHEDULER"];

/// Whether the source runs it.
pub(super) fn is_run(statement: &Statement) -> bool {
    let text = String::from_utf8_lossy(&statement.text).to_ascii_uppercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let is_allowed = GLOBALS.iter().any(|name| line.contains(name));
    let is_left_out = HEADS.iter().any(|head| line.starts_with(head)) && !is_allowed;
    !is_left_out && !WORDS.iter().any(|word| line.contains(word))
}

/// Whether it takes away what could be compared.
pub(super) fn removes(statement: &Statement) -> bool {
    matches!(&*statement.head(), "DROP" | "TRUNCATE")
}

/// Where source and target are compared, as indices of the statements before which that is: where a run of statements
/// begins that remove something. At most `limit` of them, spread over the file; the last one is among them.
pub(super) fn points(statements: &[&Statement], limit: usize) -> Vec<usize> {
    let begins = |at: &usize| *at > 0 && removes(statements[*at]) && !removes(statements[*at - 1]);
    let all: Vec<usize> = (0..statements.len()).filter(begins).collect();
    let kept = limit.min(all.len());
    (1..=kept).map(|number| all[number * all.len() / kept - 1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(text: &str) -> Statement {
        Statement { text: text.into(), delimiter: Vec::new(), connection: String::new() }
    }

    #[test]
    fn statements_of_replication_are_left_out() {
        for (text, expected) in [
            ("change  master to master_user='root'", false),
            ("SET @@global.binlog_format = ROW", false),
            ("set global event_scheduler = on", true),
            ("SET sql_log_bin = 0", false),
            ("INSERT INTO t VALUES (1)", true),
            ("FLUSH LOGS", true),
        ] {
            assert_eq!(is_run(&statement(text)), expected, "{text}");
        }
    }

    #[test]
    fn points_are_spread() {
        let texts = ["CREATE", "DROP a", "DROP b", "CREATE", "INSERT", "DROP c", "CREATE", "DROP d"];
        let statements: Vec<Statement> = texts.map(statement).to_vec();
        let all: Vec<&Statement> = statements.iter().collect();
        assert_eq!(points(&all, 9), [1, 5, 7]);
        assert_eq!(points(&all, 2), [1, 7]);
        assert_eq!(points(&all, 1), [7]);
        assert!(points(&all[..1], 3).is_empty());
    }
}
