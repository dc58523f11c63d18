//! How statements are sent: patiently, since a node that takes none may be back in its cluster in a moment.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use hortator_mysql::{Column, Error, ExecResult, RowSink};

use super::MainSession;
use crate::apply::check_packet;
use crate::coordinator::analyzed_statement::AnalyzedStatement;
use crate::output::Output;

/// How long a node that takes no statements is waited for, and how often it is asked.
const UNREADY_LIMIT: Duration = Duration::from_secs(20);
const UNREADY_PAUSE: Duration = Duration::from_millis(200);

impl MainSession<'_> {
    /// Sends a statement.
    pub(in crate::coordinator) fn send(&mut self, statement: &AnalyzedStatement) -> Result<ExecResult, Error> {
        let start = Instant::now();
        let prefix = self.auto_increment_prefix(&statement.info);
        let scoped = statement.with_scopes();
        let prefixed = prefix.map(|prefix| [prefix, &statement.text].concat());
        let text = prefixed.as_deref().or(scoped.as_deref()).unwrap_or(&statement.text);
        check_packet(text.len(), self.packet_limit_bytes)?;
        self.write_ends();
        loop {
            if !self.targets.is_current(self.failover_epoch) {
                return Err(self.targets.failed_over_error());
            }
            let dialect = self.dialect();
            let mut read_on = || self.look_ahead.prepare(dialect, self.tracker.state());
            match self.connection.query_while(text, self.output, &mut read_on) {
                Err(error) if error.is_unready() && start.elapsed() < UNREADY_LIMIT && !self.pool.is_interrupted() => {
                    std::thread::sleep(UNREADY_PAUSE);
                }
                outcome => return outcome,
            }
        }
    }

    /// What is sent next may take long: what has ended before is on record.
    pub(super) fn write_ends(&self) {
        if let Some(checkpoints) = self.checkpoints {
            checkpoints.write_ends();
        }
    }

    /// Sends statements in one packet; see [`hortator_mysql::Connection::query_batch`].
    pub(in crate::coordinator) fn query_together(
        &mut self,
        text: &[u8],
        results: &mut Vec<ExecResult>,
    ) -> Result<(), Error> {
        self.query_printing(text, results, &mut 0)
    }

    /// The same, where the first `printed` of the result sets have been printed before.
    pub(in crate::coordinator) fn query_printing(
        &mut self,
        text: &[u8],
        results: &mut Vec<ExecResult>,
        printed: &mut usize,
    ) -> Result<(), Error> {
        let start = Instant::now();
        self.write_ends();
        self.output.shape(false);
        loop {
            if !self.targets.is_current(self.failover_epoch) {
                return Err(self.targets.failed_over_error());
            }
            let mut sink = PrintedOnce { output: &mut *self.output, printed, begun: 0 };
            match self.connection.query_batch(text, &mut sink, results) {
                Err(error)
                    if error.is_unready()
                        && results.is_empty()
                        && start.elapsed() < UNREADY_LIMIT
                        && !self.pool.is_interrupted() =>
                {
                    std::thread::sleep(UNREADY_PAUSE);
                }
                outcome => return outcome,
            }
        }
    }
}

/// Prints result sets of statements that may be sent more than once: each once.
struct PrintedOnce<'o> {
    output: &'o mut dyn Output,
    /// How many are printed.
    printed: &'o mut usize,
    /// How many have begun now.
    begun: usize,
}

impl RowSink for PrintedOnce<'_> {
    fn columns(&mut self, columns: &[Column]) -> ControlFlow<()> {
        self.begun += 1;
        if self.begun > *self.printed { self.output.columns(columns) } else { ControlFlow::Break(()) }
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        if self.begun > *self.printed { self.output.row(values) } else { ControlFlow::Break(()) }
    }

    fn end(&mut self) {
        if self.begun > *self.printed {
            self.output.end();
            *self.printed = self.begun;
        }
    }
}
