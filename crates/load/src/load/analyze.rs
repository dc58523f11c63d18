//! `--analyze`: renews the statistics of the loaded tables, several tables at the same time. The optimizer of the server
//! plans with them; those of a table that has just been filled can be far off.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error, quote_identifier};
use serde::Serialize;

use super::state::LoadState;

/// Problems that are kept in words.
const PROBLEMS_KEPT: usize = 100;

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AnalyzeReport {
    /// Tables with new statistics.
    pub tables: u64,
    /// Tables without, each with the reason; the first 100.
    pub problems: Vec<String>,
    /// Duration in seconds.
    pub elapsed_s: f64,
}

/// Renews the statistics of all tables with rows of the load; `None` where the load has stopped.
pub(super) fn analyze(state: &LoadState) -> Option<AnalyzeReport> {
    if !state.is_through() {
        return None;
    }
    let start = Instant::now();
    let mut tables = state.progress.tables_with_rows();
    tables.reverse();
    let threads = state.threads.min(tables.len());
    let waiting = Mutex::new(tables);
    let report = Mutex::new(AnalyzeReport::default());
    thread::scope(|scope| {
        for number in 1..=threads {
            let (waiting, report) = (&waiting, &report);
            scope.spawn(move || analyze_waiting(state, number, waiting, report));
        }
    });
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    Some(AnalyzeReport { elapsed_s: start.elapsed().as_secs_f64(), ..report })
}

/// Takes one table after the other, over a connection of its own. `number`: the worker in whose place it runs statements.
fn analyze_waiting(state: &LoadState, number: usize, waiting: &Mutex<Vec<TableName>>, report: &Mutex<AnalyzeReport>) {
    let mut connection = state.targets.connect_internal(&|| state.pool.is_interrupted()).map(|writer| {
        state.pool.runs_on(number, writer.connection.id());
        writer.connection
    });
    while let Some(table) = take(waiting) {
        if state.pool.is_interrupted() {
            return;
        }
        let problem = match &mut connection {
            Ok(connection) => analyze_table(connection, &table).unwrap_or_else(|error| Some(error.to_string())),
            Err(error) => Some(error.to_string()),
        };
        let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
        match problem {
            None => report.tables += 1,
            Some(problem) if report.problems.len() < PROBLEMS_KEPT => {
                report.problems.push(format!("{table}: {problem}"));
            }
            Some(_) => {}
        }
    }
}

fn take(waiting: &Mutex<Vec<TableName>>) -> Option<TableName> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

/// What the server finds wrong, if anything. It answers with rows `table, operation, type, text`.
fn analyze_table(connection: &mut Connection, table: &TableName) -> Result<Option<String>, Error> {
    let name = [quote_identifier(&table.schema), quote_identifier(&table.table)].join(&b'.');
    let rows = connection.fetch(&[b"ANALYZE TABLE ".as_slice(), &name].concat())?;
    let text = |value: Option<&Option<Vec<u8>>>| {
        String::from_utf8_lossy(value.and_then(Option::as_deref).unwrap_or_default()).into_owned()
    };
    let is_problem = |row: &&Vec<Option<Vec<u8>>>| text(row.get(2)).eq_ignore_ascii_case("error");
    Ok(rows.iter().find(is_problem).map(|row| text(row.get(3))))
}
