//! The worker's connection: opened before the first chunk, brought to the session state of each chunk, given up when
//! lost and then opened again for the next chunk.

use hortator_mysql::{Connection, Error};

use super::{Attempt, COMMIT, ROLLBACK, Worker, is_of_server, number};
use crate::apply::chunk::Chunk;
use crate::apply::pool::Pool;
use crate::apply::row_sender::RowSender;
use crate::cluster::WriterConnection;
use crate::session::AppliedState;

/// A connection and the session state that it has.
#[derive(Debug)]
pub(super) struct WorkerConnection {
    pub(super) connection: Connection,
    applied_state: AppliedState,
    /// See [`crate::cluster::Targets::is_current`].
    failover_epoch: u64,
}

impl Worker<'_> {
    /// Opens the connection, before the first chunk. An error means that the server cannot be reached, refuses the login, or
    /// has not ended the session that had this worker's number.
    pub(super) fn connect(&mut self) -> Result<(), Error> {
        match self.open_connection() {
            // A server that has just come back may go once more.
            Err(error) if error.is_lost() && !self.pool.is_interrupted() => self.open_connection(),
            outcome => outcome,
        }
    }

    fn open_connection(&mut self) -> Result<(), Error> {
        // Without a default schema, as the new `AppliedState` has it: the first chunk selects the schema as it is then.
        // To select the schema that a session has already would keep the character set of the time of the connection.
        let WriterConnection { mut connection, failover_epoch, .. } =
            self.targets.connect_internal(&|| self.pool.is_interrupted())?;
        if let Some(checkpoints) = self.checkpoints {
            // The session before this one is over then, and what it had open is rolled back or committed.
            checkpoints.claim(&mut connection, self.number)?;
        }
        let packet_limit_bytes = number(&mut connection, b"SELECT @@max_allowed_packet")?;
        self.sender = RowSender::new(packet_limit_bytes, self.batch_rows, self.targets.auto_increment_prefix());
        self.connection = Some(WorkerConnection { connection, applied_state: AppliedState::default(), failover_epoch });
        Ok(())
    }

    /// Runs `work` on a connection that has the chunk's session state.
    pub(super) fn on_connection<T>(
        &mut self,
        chunk: &Chunk,
        work: impl FnOnce(&mut Connection, &mut RowSender, &Pool) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.connection.as_ref().is_some_and(|current| !self.targets.is_current(current.failover_epoch)) {
            self.connection = None;
        }
        if self.connection.is_none() {
            self.open_connection()?;
        }
        let current = self.connection.as_mut().expect("set just above");
        self.pool.runs_on(self.number, current.connection.id());
        let result = match current.applied_state.sync_to(&chunk.session, &mut current.connection) {
            Ok(changed) => {
                let forgotten = if changed { self.sender.forget(&mut current.connection) } else { Ok(()) };
                forgotten.and_then(|()| work(&mut current.connection, &mut self.sender, self.pool))
            }
            Err(error) => Err(error),
        };
        self.pool.runs_on(self.number, 0);
        if let Err(error) = &result
            && (!is_of_server(error) || error.is_unready())
        {
            self.connection = None;
        }
        result
    }

    pub(super) fn commit(&mut self) -> Result<(), Error> {
        match &mut self.connection {
            Some(current) => current.connection.execute(COMMIT).map(drop),
            None => Ok(()),
        }
    }

    /// Rolls back what is open; a connection that cannot do even that is given up, and the server rolls back.
    pub(super) fn rolled_back(&mut self, attempt: Attempt) -> Attempt {
        if let Some(current) = &mut self.connection
            && current.connection.execute(ROLLBACK).is_err()
        {
            self.connection = None;
        }
        attempt
    }
}
