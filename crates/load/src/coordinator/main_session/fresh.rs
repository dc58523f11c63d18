//! The dump's session before its first statement.

use hortator_mysql::{Connection, Error};

use crate::checkpoint::{Checkpoints, MAIN_SESSION};
use crate::cluster::{Targets, WriterConnection};
use crate::session::Tracker;

/// A session in which nothing of the dump has run, and its state.
#[derive(Debug)]
pub(crate) struct FreshSession {
    pub(super) connection: Connection,
    pub(super) failover_epoch: u64,
    pub(super) tracker: Tracker,
    /// It holds the lock of the load's main session.
    pub(super) is_claimed: bool,
}

impl FreshSession {
    /// Connects. `checkpoints`: of a load that may have had a session before, whose end is awaited.
    ///
    /// # Errors
    /// As [`Targets::connect`] and [`FreshSession::new`].
    pub(crate) fn open(
        targets: &Targets,
        checkpoints: Option<&Checkpoints>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Self, Error> {
        Self::new(targets.connect(is_over)?, checkpoints)
    }

    /// Over a connection that is there.
    ///
    /// # Errors
    /// That a former session of the load has not ended; [`Error::Unsupported`] where the server does not report changes of
    /// a session; what the server or the connection says.
    pub(crate) fn new(writer: WriterConnection, checkpoints: Option<&Checkpoints>) -> Result<Self, Error> {
        let WriterConnection { mut connection, failover_epoch, autocommits } = writer;
        if !autocommits {
            // As the client would find it: all is one transaction until the dump says COMMIT.
            connection.execute(b"SET SESSION autocommit = 0")?;
        }
        connection.enable_multi_statements()?;
        // What a former session still does may be seen in this one's variables.
        checkpoints.map_or(Ok(()), |checkpoints| checkpoints.claim(&mut connection, MAIN_SESSION))?;
        let tracker = Tracker::new(&mut connection)?;
        Ok(Self { connection, failover_epoch, tracker, is_claimed: checkpoints.is_some() })
    }

    /// Whether table names are the same in any case.
    pub(in crate::coordinator) fn folds_case(&self) -> bool {
        !matches!(self.tracker.state().value("lower_case_table_names"), b"0" | b"")
    }

    /// The server takes no statement as long as this, in bytes.
    pub(super) fn packet_limit_bytes(&self) -> usize {
        let value = std::str::from_utf8(self.tracker.state().value("max_allowed_packet")).ok();
        value.and_then(|value| value.parse().ok()).unwrap_or(usize::MAX)
    }

    /// Makes it the main session of a load: the dump finds what the client would, no rows found or changed so far, and the
    /// server's own idea of how long a session may be idle; the main session keeps itself alive.
    ///
    /// # Errors
    /// That a former session of the load has not ended; what the server or the connection says.
    pub(super) fn begin(&mut self, checkpoints: Option<&Checkpoints>) -> Result<(), Error> {
        let Self { connection, tracker, is_claimed, .. } = self;
        if let Some(checkpoints) = checkpoints.filter(|_| !*is_claimed) {
            checkpoints.claim(connection, MAIN_SESSION)?;
        }
        connection.stay_awake();
        let defaults = b"SET SESSION wait_timeout = DEFAULT, sql_select_limit = DEFAULT";
        connection.fetch_each(&[b"SELECT 1 LIMIT 0".to_vec(), defaults.to_vec()])?;
        let changes = connection.take_session_changes();
        tracker.apply(&changes, &[], true);
        Ok(())
    }
}
