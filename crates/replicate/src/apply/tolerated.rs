//! Statements that are not for the target, errors of the target that leave everything as the statement wants it, and those
//! that do not say what is wrong.

use hortator_mysql::Error;

/// What DROP says of tables, views and sequences that are not there. It drops the others. The source does not record that one
/// of several tables was not there (seen with 10.11), and a replica adds IF EXISTS.
const NOT_THERE: [u16; 3] = [1051, 4091, 4092];
const DROP: &[u8] = b"DROP";

/// Whether the statement has done all that there was to do.
pub(super) fn is_done(text: &[u8], error: &Error) -> bool {
    let is_drop = text.trim_ascii_start().get(..DROP.len()).is_some_and(|verb| verb.eq_ignore_ascii_case(DROP));
    is_drop && matches!(error, Error::Server(error) if NOT_THERE.contains(&error.code))
}

/// At its start, the server of a cluster's node alters tables that only nodes have, without the binary log. After a kill
/// meanwhile, its recovery of definitions writes the statement into the binary log (seen with 10.11).
const OF_A_NODE: &[u8] = b"ALTER TABLE mysql.wsrep_";

/// Whether the statement is about what a node keeps for itself.
pub(super) fn is_of_a_node(text: &[u8]) -> bool {
    text.starts_with(OF_A_NODE)
}

/// What BINLOG says where it cannot store rows.
const UNKNOWN: (u16, &str) = (1105, "Unknown error");
/// What a server says of a text that it does not understand.
const SYNTAX: u16 = 1064;

/// Whether the target gives no reason.
pub(super) fn is_unknown(error: &hortator_mysql::ServerError) -> bool {
    error.code == UNKNOWN.0 && error.message.starts_with(UNKNOWN.1)
}

/// Says where the reason stands that the target does not give.
pub(super) fn explain(error: &mut Error) {
    if let Error::Server(error) = error
        && (error.code, error.message.as_str()) == UNKNOWN
    {
        error.message += ": the target's error log has the reason. Mostly a column has another type than on the source";
    } else if let Error::Server(error) = error
        && error.code == SYNTAX
    {
        error.message += ": the source has run it, and the target does not understand it. Run on the target what does the same, \
                          then `skip` it";
    }
}
