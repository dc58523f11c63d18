//! Large transactions whose end does not come: their source has crashed while it wrote them.

use super::Applier;
use crate::apply::error::Error;

impl Applier {
    /// Rolls back what is applied of a transaction that does not end. What is before it is committed.
    ///
    /// # Errors
    /// What the target refuses, and [`Error::InDoubt`] where its tables cannot roll back.
    pub fn abandon(&mut self) -> Result<(), Error> {
        self.flush()?;
        if !std::mem::take(&mut self.is_within) {
            return Ok(());
        }
        self.open_maps.clear();
        self.execute(b"ROLLBACK", "the end of an unfinished transaction")?;
        self.resolver.abandon();
        if self.is_open_safe {
            return self.restore_autocommit();
        }
        let place = self.committed.as_ref().map_or_else(|| "the start".to_owned(), ToString::to_string);
        Err(Error::InDoubt { place, text: "rows of a transaction that its source has not finished".to_owned() })
    }
}
