//! The errors that threads expect while they are measured: each counts by its number, and none of them ends the run.
//!
//! What a thread does after an error is a table, [`EXPECTED`]. Nothing here decides whether an error hides a row that is lost or
//! doubled: after the run every node must have exactly the confirmed rows.

use std::collections::BTreeMap;

use hortator_mysql::Error;
use hortator_mysql::error::{DEADLOCK, LOCK_WAIT_TIMEOUT, UNKNOWN_COMMAND};

use crate::figures::error_figure;
use crate::page::{Page, RunResult};
use crate::report::median;
use crate::rounds::{Cell, Figures};

/// A row has a newer version than the transaction's snapshot (`innodb_snapshot_isolation`).
const RECORD_CHANGED: u16 = 1020;
pub(crate) const DUPLICATE_KEY: u16 = 1062;
/// The client's number for a lost connection, as the server's own client prints it.
pub(crate) const LOST_CONNECTION: u16 = 2013;
/// The figure that counts statements, or transactions, that were sent again after an error.
const SENT_AGAIN: &str = "sent_again";
/// The heading of a column of [`column`].
pub(crate) const HEADING: &str = "errors, all rounds";

/// What a thread does after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reaction {
    /// Nothing of the statement is left: it sends the statement again.
    SendAgain,
    /// The same, after a pause: the node is not ready.
    SendAgainLater,
    /// The server would refuse the statement each time: it goes on with the next one.
    GoOn,
    /// Nobody knows whether the statement was committed: it connects again, and goes on with the next one.
    Reconnect,
}

/// Every expected error but a lost connection.
const EXPECTED: [(u16, Reaction); 5] = [
    (DEADLOCK, Reaction::SendAgain),
    (LOCK_WAIT_TIMEOUT, Reaction::SendAgain),
    (RECORD_CHANGED, Reaction::SendAgain),
    // Only of a node that is not ready: `reaction` looks at the message.
    (UNKNOWN_COMMAND, Reaction::SendAgainLater),
    (DUPLICATE_KEY, Reaction::GoOn),
];

/// The number of an expected error, and what follows. Any other error is the end of the run.
pub(crate) fn reaction(error: &Error) -> Option<(u16, Reaction)> {
    if error.is_lost() {
        return Some((LOST_CONNECTION, Reaction::Reconnect));
    }
    let code = error.code()?;
    let expected = EXPECTED.into_iter().find(|(number, _)| *number == code);
    expected.filter(|(number, _)| *number != UNKNOWN_COMMAND || error.is_unready())
}

/// How often each error came, and how often a statement was sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorCounts {
    by_number: BTreeMap<u16, u64>,
    sent_again: u64,
}

impl Default for ErrorCounts {
    /// None of each expected error.
    fn default() -> Self {
        let expected = EXPECTED.into_iter().map(|(number, _)| number).chain([LOST_CONNECTION]);
        Self { by_number: expected.map(|number| (number, 0)).collect(), sent_again: 0 }
    }
}

impl ErrorCounts {
    pub(crate) fn count(&mut self, number: u16) {
        self.add(number, 1);
    }

    /// Counts so many of one error.
    pub(crate) fn add(&mut self, number: u16, count: u64) {
        *self.by_number.entry(number).or_default() += count;
    }

    /// Counts statements that were sent again.
    pub(crate) fn add_sent_again(&mut self, count: u64) {
        self.sent_again += count;
    }

    /// Counts those of another one, too.
    pub(crate) fn merge(&mut self, other: &Self) {
        other.by_number.iter().for_each(|(number, count)| self.add(*number, *count));
        self.sent_again += other.sent_again;
    }

    /// As `errors_1213`, and `sent_again`.
    pub(crate) fn figures(&self) -> Figures {
        let by_number = self.by_number.iter().map(|(number, count)| (error_figure(*number), *count as f64));
        by_number.chain([(SENT_AGAIN.to_owned(), self.sent_again as f64)]).collect()
    }

    pub(crate) fn is_none(&self) -> bool {
        self.by_number.values().all(|count| *count == 0)
    }

    /// As `1213 × 12, lost connection × 2; 12 sent again`.
    pub(crate) fn text(&self) -> String {
        if self.is_none() {
            return "none".to_owned();
        }
        let part = |(number, count): (&u16, &u64)| match *number {
            LOST_CONNECTION => format!("lost connection × {count}"),
            number => format!("{number} × {count}"),
        };
        let parts: Vec<String> = self.by_number.iter().filter(|(_, count)| **count > 0).map(part).collect();
        format!("{}; {} sent again", parts.join(", "), self.sent_again)
    }
}

/// The errors of all rounds of a contender in a cell, for a table; a dash where a run failed.
pub(crate) fn column(page: &Page, cell: &Cell, contender: &str) -> String {
    let mut counts = ErrorCounts::default();
    for run in page.runs.iter().filter(|run| run.cell == *cell && run.contender == contender) {
        let RunResult::Figures(figures) = &run.result else { return median(None, 0) };
        for (name, value) in figures {
            match name.strip_prefix(&error_figure("")).and_then(|number| number.parse().ok()) {
                Some(number) => counts.add(number, *value as u64),
                None if name == SENT_AGAIN => counts.add_sent_again(*value as u64),
                None => {}
            }
        }
    }
    counts.text()
}

#[cfg(test)]
mod tests {
    use hortator_mysql::error::ServerError;

    use super::*;
    use crate::page::Run;

    fn refused(code: u16, message: &str) -> Error {
        Error::Server(ServerError { code, sqlstate: *b"HY000", message: message.to_owned() })
    }

    #[test]
    fn each_expected_error_has_its_reaction() {
        let lost = Error::Lost { address: "a".into(), doing: "b".into(), reason: "c".into() };
        for (error, expected) in [
            (refused(1213, "Deadlock found"), Some((1213, Reaction::SendAgain))),
            (refused(1205, "Lock wait timeout exceeded"), Some((1205, Reaction::SendAgain))),
            (refused(1020, "Record has changed since last read"), Some((1020, Reaction::SendAgain))),
            (refused(1047, "WSREP has not yet prepared node"), Some((1047, Reaction::SendAgainLater))),
            (refused(1062, "Duplicate entry"), Some((1062, Reaction::GoOn))),
            (lost, Some((2013, Reaction::Reconnect))),
            // A command that the server does not know, and what no experiment expects.
            (refused(1047, "Unknown command"), None),
            (refused(1146, "Table doesn't exist"), None),
            (refused(1317, "Query execution was interrupted"), None),
        ] {
            assert_eq!(reaction(&error), expected, "{error}");
        }
    }

    /// An error of one round of three must not vanish in a median.
    #[test]
    fn a_column_has_the_errors_of_all_rounds() {
        let cell = Cell::default();
        let run = |round, counts: &ErrorCounts| Run {
            cell: cell.clone(),
            contender: "G3".to_owned(),
            round,
            result: RunResult::Figures(counts.figures()),
        };
        let none = ErrorCounts::default();
        let mut page = Page { runs: vec![run(1, &none), run(2, &none)], ..Page::default() };
        assert_eq!(column(&page, &cell, "G3"), "none");
        let mut some = ErrorCounts::default();
        some.add(1213, 12);
        some.add(2013, 2);
        some.add_sent_again(12);
        page.runs.push(run(3, &some));
        page.runs.push(run(4, &some));
        assert_eq!(column(&page, &cell, "G3"), "1213 × 24, lost connection × 4; 24 sent again");
        assert_eq!(page.runs[0].figure("errors_1047"), Some(0.0));
        page.runs[0].result = RunResult::Failed("a reason".to_owned());
        assert_eq!(column(&page, &cell, "G3"), "—");
    }
}
