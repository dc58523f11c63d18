//! The sessions that a load has before the first statement: the dump's own, and one for questions about the catalog.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use hortator_mysql::Error;

use crate::apply::CatalogConnection;
use crate::cluster::Targets;
use crate::coordinator::FreshSession;

/// They are opened side by side.
#[derive(Debug)]
pub(super) struct Sessions {
    pub(super) main: FreshSession,
    pub(super) catalog: CatalogConnection,
}

impl Sessions {
    /// Opens both; `main` opens the dump's own.
    ///
    /// # Errors
    /// What the server or the connection says of either.
    pub(super) fn open(
        targets: &Arc<Targets>,
        main: impl FnOnce() -> Result<FreshSession, Error>,
    ) -> Result<Self, Error> {
        let (main, catalog) = thread::scope(|scope| {
            let catalog = scope.spawn(|| CatalogConnection::open(targets));
            (main(), catalog.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        Ok(Self { main: main?, catalog: catalog? })
    }
}
