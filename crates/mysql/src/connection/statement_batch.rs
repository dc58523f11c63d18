//! Several statements in one packet, each with a result of its own.

use std::io::{Read, Write};
use std::ops::ControlFlow;

use super::command_error::CommandError;
use super::result::ResponseReader;
use super::{COM_QUERY, Column, Connection, ExecResult, Row, RowSink};
use crate::Error;

impl Connection {
    /// Runs the statements of `text`, which `;` joins, and appends the result of each to `results` as it arrives. The
    /// connection must allow it: [`Connection::enable_multi_statements`]. RowSink go to `rows`: each result set begins
    /// with its columns, and `Break` drops the rest of that result set only.
    ///
    /// The server stops at the first statement that fails, and so do the results: their number is then the index of
    /// that statement. This holds for statements that answer once each: a `CALL` gives one result for each of its result
    /// sets, and one for itself. A statement without a word between two `;` fails.
    ///
    /// # Errors
    /// As in [`Connection::query`], of the statement that failed. A parser error in a statement is found only when
    /// those before it have run. After [`Error::Unsupported`] (a statement asks for a local file) the server has run
    /// what follows too; results of it are not appended.
    pub fn query_batch(
        &mut self,
        text: &[u8],
        rows: &mut dyn RowSink,
        results: &mut Vec<ExecResult>,
    ) -> Result<(), Error> {
        self.send("statements", &[COM_QUERY], text)?;
        let outcome = read_batch(&mut self.response(), rows, results);
        outcome.map_err(|failure| self.explain("waiting for the answer to statements", failure))
    }

    /// Runs statements without result sets, in one packet where the connection allows that, up to the first that fails.
    /// Errors as in [`Connection::query`].
    pub fn execute_each(&mut self, statements: &[Vec<u8>]) -> Result<(), Error> {
        if !self.has_multi_statements || statements.len() < 2 {
            return statements.iter().try_for_each(|statement| self.execute(statement).map(drop));
        }
        self.query_batch(&statements.join(&b';'), &mut ResultSets(Vec::new()), &mut Vec::new())
    }

    /// Runs queries that have one result set each, in one packet where the connection allows that, and returns the rows
    /// of each: for small answers. Errors as in [`Connection::query`].
    pub fn fetch_each(&mut self, queries: &[Vec<u8>]) -> Result<Vec<Vec<Row>>, Error> {
        if !self.has_multi_statements {
            return queries.iter().map(|query| self.fetch(query)).collect();
        }
        let mut sets = ResultSets(Vec::new());
        self.query_batch(&queries.join(&b';'), &mut sets, &mut Vec::new())?;
        Ok(sets.0)
    }
}

/// Keeps every row of every result set.
struct ResultSets(Vec<Vec<Row>>);

impl RowSink for ResultSets {
    fn columns(&mut self, _columns: &[Column]) -> ControlFlow<()> {
        self.0.push(Vec::new());
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        if let Some(rows) = self.0.last_mut() {
            rows.push(values.iter().map(|value| value.map(<[u8]>::to_vec)).collect());
        }
        ControlFlow::Continue(())
    }
}

/// Reads results to the answer's end or to the first failure.
fn read_batch<T: Read + Write>(
    answer: &mut ResponseReader<'_, T>,
    rows: &mut dyn RowSink,
    results: &mut Vec<ExecResult>,
) -> Result<(), CommandError> {
    let mut refused = None;
    loop {
        let mut done = ExecResult::default();
        answer.read_one(&mut Some(&mut *rows), &mut done, &mut refused)?;
        if refused.is_none() {
            results.push(done);
        }
        if !answer.status.more_results() {
            return refused.map_or(Ok(()), Err);
        }
    }
}

#[cfg(test)]
mod tests;
