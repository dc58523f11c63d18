//! SELECTs of constants: they print only if nothing fails before them.

use hortator_core::Seqno;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use crate::apply::Stopped;

/// SELECTs of literals that may be deferred; the next one waits for all before it.
const DEFERRED_SELECTS_LIMIT: usize = 1000;

impl Coordinator<'_> {
    /// A SELECT of constants prints only if nothing fails before it: it runs when all before it is done. Where it reads no
    /// variable, that may be later.
    pub(super) fn run_constant(&mut self, statement: AnalyzedStatement) -> Result<(), Stopped> {
        let is_literal = memchr::memchr(b'@', &statement.text).is_none();
        if is_literal && !self.pool.is_forced() && self.deferred_selects.len() < DEFERRED_SELECTS_LIMIT {
            self.flush()?;
            self.deferred_selects.push((self.pool.position(), statement));
            return Ok(());
        }
        self.finish()?;
        self.main.run(&statement).map(drop)
    }

    /// Runs the SELECTs that were deferred, as far as they stand before `end`.
    pub(super) fn run_deferred_selects(&mut self, end: Option<Seqno>) -> Result<(), Stopped> {
        for (position, statement) in std::mem::take(&mut self.deferred_selects) {
            if end.is_none_or(|end| position <= end) {
                self.main.run(&statement)?;
            }
        }
        Ok(())
    }
}
