//! `--skip-binlog`: no connection of the load writes to the binary log, those for checkpoints included.

use hortator_mysql::{ConnectOptions, Connection, Error};

use super::OpenError;

/// What a new connection of such a load runs first.
pub const SKIP_BINLOG: &str = "SET SESSION sql_log_bin = 0";
/// Errors by which a server says that the account lacks a privilege.
const NO_PRIVILEGE: [u16; 2] = [1227, 1142];

/// Has every connection of these options stay out of the binary log.
pub(super) fn set_up(options: &mut ConnectOptions) -> Result<(), OpenError> {
    options.init_command = Some(SKIP_BINLOG.to_owned());
    match Connection::open(options) {
        Err(error @ Error::Server(_)) if error.code().is_some_and(|code| NO_PRIVILEGE.contains(&code)) => {
            Err(OpenError::SkipBinlog(error))
        }
        // Any other error is told where the load connects.
        _ => Ok(()),
    }
}
