//! Functions that values may call on any connection: those that depend on nothing but their arguments and the statement's
//! time. Which of them are built in is what the server at hand says; a name that the dump defines is never one of them.

use std::collections::BTreeSet;

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

/// Functions that values may call on any connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionSet {
    names: BTreeSet<&'static str>,
}

impl FunctionSet {
    /// For a server that lists its built-in functions in lower case, or (`None`) does not list them.
    #[must_use]
    pub fn of_server(listed: Option<&BTreeSet<Vec<u8>>>) -> Self {
        let is_native = |name: &str| listed.is_some_and(|all| all.contains(name.to_ascii_lowercase().as_bytes()));
        let names = PURE_FUNCTIONS.iter().filter(|(name, is_grammar)| *is_grammar || is_native(name));
        Self { names: names.map(|(name, _)| *name).collect() }
    }

    /// All of them, for texts that no server has been asked about.
    #[must_use]
    pub fn all() -> Self {
        Self { names: PURE_FUNCTIONS.iter().map(|(name, _)| *name).collect() }
    }

    /// The dump defines a function of this name.
    pub fn remove(&mut self, name: &[u8]) {
        self.names.retain(|known| !known.as_bytes().eq_ignore_ascii_case(name));
    }

    /// Whether values may call it.
    #[must_use]
    pub fn has(&self, name: &[u8]) -> bool {
        self.names.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
    }
}
