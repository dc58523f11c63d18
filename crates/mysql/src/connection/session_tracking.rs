//! Has the server report changes of the session.

use super::{Connection, SessionChanges};
use crate::Error;
use crate::error::UNKNOWN_SYSTEM_VARIABLE;

/// By default a server reports the default schema and a few variables only.
const TRACK_EVERYTHING: &[u8] =
    b"SET session_track_system_variables = '*', session_track_schema = 1, session_track_state_change = 1";

impl Connection {
    /// Has the server report every change of the session from here on, see [`Connection::take_session_changes`];
    /// `false` where the server cannot (before MariaDB 10.2 and MySQL 5.7). The session's own settings can switch the
    /// reports off again: that is reported as a change of `session_track_system_variables`.
    ///
    /// # Errors
    /// As in [`Connection::query`].
    pub fn track_session(&mut self) -> Result<bool, Error> {
        if !self.tracks_session {
            return Ok(false);
        }
        let earlier = self.session_changes.clone();
        let outcome = self.execute(TRACK_EVERYTHING);
        self.session_changes = earlier;
        match outcome {
            Ok(_) => Ok(true),
            Err(error) if error.code() == Some(UNKNOWN_SYSTEM_VARIABLE) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What the server has reported about changes of the session since the last call, or since the connection was
    /// opened. After a command that failed, changes may be missing: see [`SessionChanges`].
    pub fn take_session_changes(&mut self) -> SessionChanges {
        std::mem::take(&mut self.session_changes)
    }
}
