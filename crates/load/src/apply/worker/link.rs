//! The worker's connection: opened when it is needed, brought to the session state of each chunk, given up when lost.

use std::time::{Duration, Instant};

use hortator_mysql::{Connection, Error};

use super::{Attempt, COMMIT, PAUSE, ROLLBACK, Worker, is_of_server, number};
use crate::apply::chunk::Chunk;
use crate::apply::pool::Pool;
use crate::apply::road::Road;
use crate::record;
use crate::session::Taken;

/// How long a lost server is tried for.
const RECONNECT_LIMIT: Duration = Duration::from_secs(20);

/// A connection and the state that it has taken on.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) connection: Connection,
    taken: Taken,
}

impl Worker<'_> {
    /// Runs `work` on a connection that has the chunk's session state.
    pub(super) fn on_connection<T>(
        &mut self,
        chunk: &Chunk,
        work: impl FnOnce(&mut Connection, &mut Road, &Pool) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if self.link.is_none() {
            let mut connection = self.connect()?;
            if let Some(records) = self.records {
                // The session before this one is over then, and what it had open is rolled back or committed.
                records.claim(&mut connection, self.number).map_err(|error| match error {
                    record::Error::Server(error) => error,
                    other => Error::Unsupported(other.to_string()),
                })?;
            }
            self.road = Road::new(number(&mut connection, b"SELECT @@max_allowed_packet")?, self.piece_rows);
            self.link = Some(Link { connection, taken: Taken::default() });
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
            && !is_of_server(error)
        {
            self.link = None;
        }
        result
    }

    /// Connects, patiently: a server that was killed may be back in a moment.
    fn connect(&self) -> Result<Connection, Error> {
        let start = Instant::now();
        loop {
            match crate::session::open_for_long(self.options) {
                Ok(connection) => return Ok(connection),
                Err(error) => {
                    let passing = matches!(error, Error::Connect { .. } | Error::Lost { .. });
                    if !passing || start.elapsed() > RECONNECT_LIMIT || self.pool.is_interrupted() {
                        return Err(error);
                    }
                    std::thread::sleep(PAUSE);
                }
            }
        }
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
