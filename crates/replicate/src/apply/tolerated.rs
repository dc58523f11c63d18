//! Statements that are not for the target, errors of the target that leave everything as the statement wants it, and those
//! that do not say what is wrong.

use hortator_load::lexer::tokens;
use hortator_mysql::Error;

use crate::binlog::QueryEvent;

/// What DROP says of tables, views and sequences that are not there. It drops the others. The source does not record that one
/// of several tables was not there (seen with 10.11), and a replica adds IF EXISTS.
const NOT_THERE: [u16; 3] = [1051, 4091, 4092];
const DROP: &[u8] = b"DROP";

/// Whether the statement has done all that there was to do.
pub(super) fn is_done(query: &QueryEvent, error: &Error) -> bool {
    // Comments may stand before it, and around it.
    let is_drop = || tokens(&query.text, &query.dialect()).next().is_some_and(|verb| verb.is_word(DROP));
    query.error_code == 0 && matches!(error, Error::Server(error) if NOT_THERE.contains(&error.code)) && is_drop()
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

#[cfg(test)]
mod tests {
    use hortator_mysql::ServerError;

    use super::*;

    #[test]
    fn tables_that_are_not_there() {
        let error = |code| Error::Server(ServerError { code, sqlstate: *b"42S02", message: String::new() });
        for (text, code, expected) in [
            ("DROP TABLE a, b", 1051, true),
            ("\n drop view v", 4092, true),
            ("/* c */ DROP TABLE a, b", 1051, true),
            ("-- c\nDROP SEQUENCE s", 4091, true),
            ("/*!50100 DROP TABLE a */", 1051, true),
            ("/*M!100000 DROP*/ TABLE a", 1051, true),
            ("DROP /*!40005 TEMPORARY */ TABLE a", 1051, true),
            ("SET STATEMENT a=1 FOR /*!50100 DROP TABLE a */", 1051, true),
            ("DROP TABLE a", 1146, false),
            ("DROPS", 1051, false),
            ("/* DROP */ ALTER TABLE a ADD b INT", 1051, false),
            ("CALL p()", 1051, false),
        ] {
            assert_eq!(is_done(&QueryEvent::of_text(text), &error(code)), expected, "{text}");
        }
        // The source has failed in the same way: that is compared elsewhere.
        let failed = QueryEvent { error_code: 1051, ..QueryEvent::of_text("DROP VIEW a, b") };
        assert!(!is_done(&failed, &error(1051)));
    }
}
