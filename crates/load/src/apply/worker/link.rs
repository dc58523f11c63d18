//! The worker's connection: opened when it is needed, brought to the session state of each chunk, given up when lost.

use hortator_mysql::{Connection, Error};

use super::{Attempt, COMMIT, ROLLBACK, Worker, is_of_server, number};
use crate::apply::chunk::Chunk;
use crate::apply::pool::Pool;
use crate::apply::road::Road;
use crate::cluster::Visit;
use crate::session::Taken;

/// A connection and the state that it has taken on.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) connection: Connection,
    taken: Taken,
    /// The home that it leads to: see [`crate::cluster::Targets::is_current`].
    moves: u64,
}

impl Worker<'_> {
    /// Runs `work` on a connection that has the chunk's session state.
    pub(super) fn on_connection<T>(
        &mut self,
        chunk: &Chunk,
        work: impl FnOnce(&mut Connection, &mut Road, &Pool) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.link.as_ref().is_some_and(|link| !self.targets.is_current(link.moves)) {
            self.link = None;
        }
        if self.link.is_none() {
            let Visit { mut connection, moves, .. } = self.targets.connect(&|| self.pool.is_interrupted())?;
            if let Some(checkpoints) = self.checkpoints {
                // The session before this one is over then, and what it had open is rolled back or committed.
                checkpoints.claim(&mut connection, self.number)?;
            }
            let packet_limit_bytes = number(&mut connection, b"SELECT @@max_allowed_packet")?;
            self.road = Road::new(packet_limit_bytes, self.piece_rows, self.targets.numbering());
            self.link = Some(Link { connection, taken: Taken::default(), moves });
        }
        let link = self.link.as_mut().expect("set just above");
        self.pool.runs_on(self.number, link.connection.id());
        let result = match link.taken.bring_to(&chunk.session, &mut link.connection) {
            Ok(changed) => {
                let forgotten = if changed { self.road.forget(&mut link.connection) } else { Ok(()) };
                forgotten.and_then(|()| work(&mut link.connection, &mut self.road, self.pool))
            }
            Err(error) => Err(error),
        };
        self.pool.runs_on(self.number, 0);
        if let Err(error) = &result
            && (!is_of_server(error) || error.is_unready())
        {
            self.link = None;
        }
        result
    }

    pub(super) fn commit(&mut self) -> Result<(), Error> {
        match &mut self.link {
            Some(link) => link.connection.execute(COMMIT).map(drop),
            None => Ok(()),
        }
    }

    /// Rolls back what is open; a connection that cannot do even that is given up, and the server rolls back.
    pub(super) fn rolled_back(&mut self, attempt: Attempt) -> Attempt {
        if let Some(link) = &mut self.link
            && link.connection.execute(ROLLBACK).is_err()
        {
            self.link = None;
        }
        attempt
    }
}
