//! Which errors say that rows of the target differ from the source's.

use hortator_mysql::Error as ServerError;

use super::session::Error;
use crate::apply;

/// A duplicate key, a row that is not there, a parent that is not there, a child that still is; by the manual's error codes.
const CONFLICTS: [u16; 7] = [1022, 1032, 1062, 1451, 1452, 1586, 1761];

/// Whether the error is of that kind.
pub(super) fn is_conflict(error: &Error) -> bool {
    let Error::Apply(apply::Error::Target { error: ServerError::Server(error), .. }) = error else { return false };
    CONFLICTS.contains(&error.code)
}
