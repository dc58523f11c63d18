//! Functions that values may call on any connection: those that depend on nothing but their arguments and the statement's
//! time. Which of them are built in is what the server at hand says; a name that the dump defines is never one of them.

use std::collections::BTreeSet;

use crate::lexer::{Dialect, tokens};

/// What may stand as a function in values and reads nothing outside its statement; upper case. The second column tells
/// whether it is part of every server's grammar; the others count where the server lists them among its own.
const PURE_FUNCTIONS: &[(&str, bool)] = &[
    ("ADDDATE", true),
    ("ASCII", true),
    ("BINARY", true),
    ("CAST", true),
    ("CHAR", true),
    ("CONCAT", false),
    ("CONVERT", true),
    ("CURDATE", true),
    ("CURRENT_DATE", true),
    ("CURRENT_TIME", true),
    ("CURRENT_TIMESTAMP", true),
    ("CURTIME", true),
    ("DATE", true),
    ("FROM_BASE64", false),
    ("GEOMFROMTEXT", false),
    ("GEOMFROMWKB", false),
    ("INET6_ATON", false),
    ("INET_ATON", false),
    ("JSON_ARRAY", false),
    ("JSON_OBJECT", false),
    ("LINESTRING", false),
    ("LOCALTIME", true),
    ("LOCALTIMESTAMP", true),
    ("MULTIPOINT", false),
    ("NOW", true),
    ("POINT", false),
    ("POLYGON", false),
    ("REPEAT", true),
    ("ST_GEOMFROMTEXT", false),
    ("ST_GEOMFROMWKB", false),
    ("ST_POINTFROMTEXT", false),
    ("TIME", true),
    ("TIMESTAMP", true),
    ("UNHEX", false),
    ("UTC_TIMESTAMP", true),
    ("UUID_TO_BIN", false),
];

/// Words that may stand before a parenthesis and are part of the language, or functions of its grammar that change nothing;
/// upper case.
const GRAMMAR: &[&str] = &[
    "ALL",
    "AND",
    "ANY",
    "AS",
    "AVG",
    "BETWEEN",
    "BIT_AND",
    "BIT_OR",
    "BIT_XOR",
    "BY",
    "CASE",
    "CHARSET",
    "CHECK",
    "COALESCE",
    "COLLATION",
    "COUNT",
    "DATABASE",
    "DAY",
    "DECIMAL",
    "DISTINCT",
    "DIV",
    "ELSE",
    "EXCEPT",
    "EXISTS",
    "EXTRACT",
    "FROM",
    "GROUP_CONCAT",
    "HAVING",
    "HOUR",
    "IF",
    "IN",
    "INSERT",
    "INT",
    "INTERSECT",
    "INTERVAL",
    "JOIN",
    "JSON_ARRAYAGG",
    "JSON_OBJECTAGG",
    "LEFT",
    "LIKE",
    "LIMIT",
    "MAX",
    "MICROSECOND",
    "MIN",
    "MINUTE",
    "MOD",
    "MONTH",
    "NOT",
    "ON",
    "OR",
    "OVER",
    "PARTITION",
    "PASSWORD",
    "POSITION",
    "QUARTER",
    "REPLACE",
    "RIGHT",
    "ROW",
    "SECOND",
    "SELECT",
    "SOME",
    "STD",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SUBSTR",
    "SUBSTRING",
    "SUM",
    "THEN",
    "TRIM",
    "TRUNCATE",
    "UNION",
    "USER",
    "USING",
    "VALUE",
    "VALUES",
    "VARCHAR",
    "VARIANCE",
    "VAR_POP",
    "VAR_SAMP",
    "WEEK",
    "WHEN",
    "WHERE",
    "XOR",
    "YEAR",
];

/// Built-in functions that change something, or run another expression; upper case.
const CHANGE_SOMETHING: &[&str] = &[
    "BENCHMARK",
    "GET_LOCK",
    "LASTVAL",
    "LAST_INSERT_ID",
    "MASTER_GTID_WAIT",
    "MASTER_POS_WAIT",
    "NEXTVAL",
    "RAND",
    "RELEASE_ALL_LOCKS",
    "RELEASE_LOCK",
    "SETVAL",
    "SLEEP",
];

/// What the server at hand has built in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionSet {
    /// Functions that values may call on any connection.
    names: BTreeSet<&'static str>,
    /// All that the server lists, in lower case.
    listed: BTreeSet<Vec<u8>>,
}

impl FunctionSet {
    /// For a server that lists its built-in functions in lower case, or (`None`) does not list them.
    #[must_use]
    pub fn of_server(listed: Option<&BTreeSet<Vec<u8>>>) -> Self {
        let is_native = |name: &str| listed.is_some_and(|all| all.contains(name.to_ascii_lowercase().as_bytes()));
        let names = PURE_FUNCTIONS.iter().filter(|(name, is_grammar)| *is_grammar || is_native(name));
        let listed = listed.cloned().unwrap_or_default();
        Self { names: names.map(|(name, _)| *name).collect(), listed }
    }

    /// All of them, for texts that no server has been asked about.
    #[must_use]
    pub fn all() -> Self {
        Self { names: PURE_FUNCTIONS.iter().map(|(name, _)| *name).collect(), listed: BTreeSet::new() }
    }

    /// Whether a built-in function changes something besides tables, or runs another expression.
    #[must_use]
    pub fn changes_something(&self, name: &[u8]) -> bool {
        CHANGE_SOMETHING.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
    }

    /// Whether what stands before a parenthesis is a word of the language or a built-in function.
    #[must_use]
    pub fn is_built_in(&self, name: &[u8]) -> bool {
        let is_one_of = |words: &[&str]| words.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(name));
        let is_known = || self.has(name) || is_one_of(GRAMMAR) || self.listed.contains(&name.to_ascii_lowercase());
        is_one_of(CHANGE_SOMETHING) || is_known()
    }

    /// Whether a body may call a stored function.
    #[must_use]
    pub fn may_be_called_in(&self, body: &[u8], dialect: &Dialect) -> bool {
        super::reads::may_call_function(&tokens(body, dialect).collect::<Vec<_>>(), self)
    }

    /// The dump defines a function of this name.
    pub fn remove(&mut self, name: &[u8]) {
        self.names.retain(|known| !known.as_bytes().eq_ignore_ascii_case(name));
        self.listed.remove(&name.to_ascii_lowercase());
    }

    /// Whether values may call it.
    #[must_use]
    pub fn has(&self, name: &[u8]) -> bool {
        self.names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
    }
}
