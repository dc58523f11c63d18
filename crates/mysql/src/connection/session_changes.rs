//! What the session-state part of OK packets says: system variables and the default schema that a command changed.
//!
//! Source: MariaDB knowledge base, "OK_Packet"; MySQL's manual, "Server Tracking of Client Session State".

use super::failure::Failure;
use super::fields::Fields;

const SYSTEM_VARIABLES: u8 = 0;
const SCHEMA: u8 = 1;
const STATE_CHANGE: u8 = 2;
/// More variables than any server has: MariaDB and MySQL have about 800 with all their plugins.
const VARIABLE_LIMIT: usize = 4096;

/// What a server has reported about changes of the session.
///
/// What is not in it (measured with MariaDB 10.11):
/// - Changes by a statement that fails: they are reported neither with its error nor with the next OK packet.
/// - User variables that anything but SET assigns: `:=`, `SELECT … INTO`, an OUT parameter, GET DIAGNOSTICS.
/// - Locks, handlers, savepoints, SET TRANSACTION and what LAST_INSERT_ID returns.
///
/// `SET STATEMENT … FOR` reports the values that hold for its one statement. That they are set back is reported with the
/// next command that changes anything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionChanges {
    /// System variables by lower-case name, with the latest value as `SHOW VARIABLES` prints it; each name once, in no
    /// certain order. Which variables a server reports is the session's
    /// `session_track_system_variables`.
    pub variables: Vec<(Vec<u8>, Vec<u8>)>,
    /// The new default schema in UTF-8, without quotes; empty when the session has none any more.
    pub schema: Option<Vec<u8>>,
    /// Something of the session changed, be it one of the above, a user variable set by SET, a role, or the definition of a
    /// temporary table or prepared statement. Reported only where `session_track_state_change` is on.
    pub is_changed: bool,
}

impl SessionChanges {
    /// Whether no change was reported.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.schema.is_none() && !self.is_changed
    }

    /// The latest value of a system variable, if a change of it was reported.
    pub fn variable(&self, name: &[u8]) -> Option<&[u8]> {
        self.variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }

    /// Reads what follows the info string of an OK packet whose status has `SERVER_SESSION_STATE_CHANGED`.
    pub(super) fn read(&mut self, fields: &mut Fields<'_>) -> Result<(), Failure> {
        let mut total = fields.length_encoded()?;
        // Where the default schema's character set has 2 or 4 bytes a character, MariaDB's placeholder for the length is
        // one such character, whose last byte becomes the length.
        while total == 0 && !fields.is_empty() {
            total = fields.length_encoded()?;
        }
        let mut entries = Fields::new(fields.bytes_of(total)?, "the session state in an OK packet");
        while !entries.is_empty() {
            let kind = entries.u8()?;
            let content = entries.length_encoded_bytes()?;
            let mut parts = Fields::new(content, "a change of the session");
            match kind {
                SYSTEM_VARIABLES => {
                    while !parts.is_empty() {
                        let name = parts.length_encoded_bytes()?;
                        let value = parts.length_encoded_bytes()?;
                        self.set_variable(name, value)?;
                    }
                }
                SCHEMA => self.schema = Some(parts.length_encoded_bytes()?.to_vec()),
                STATE_CHANGE => self.is_changed |= content != b"0",
                _ => {}
            }
        }
        Ok(())
    }

    fn set_variable(&mut self, name: &[u8], value: &[u8]) -> Result<(), Failure> {
        if let Some((_, known)) = self.variables.iter_mut().find(|(known, _)| known == name) {
            known.clear();
            known.extend_from_slice(value);
            return Ok(());
        }
        if self.variables.len() == VARIABLE_LIMIT {
            return Err(Failure::Protocol(format!("more than {VARIABLE_LIMIT} changed session variables")));
        }
        self.variables.push((name.to_vec(), value.to_vec()));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
