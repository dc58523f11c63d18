//! What a SET statement assigns: the names of the session variables, and what makes it more than that.

use crate::lexer::{Dialect, Kind, Token, tokens};

/// What a SET statement touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignments {
    /// Session variables, lower case, to propagate to other connections.
    pub propagated: Vec<String>,
    /// Something beyond this session changes: a global variable, a role.
    pub beyond_session: bool,
    /// Session-local variables: only the main session can have them until they are set to DEFAULT; `true` for such a reset.
    pub session_local: Vec<(String, bool)>,
    /// A variable for the next statement only.
    pub is_one_shot: bool,
}

/// The scope of a session variable that is not propagated.
enum VariableScope {
    /// Local to the session: statements run in the main session until it is reset.
    SessionLocal,
    /// It acts on the next statement of the session.
    OneShot,
    /// It depends on statements of other connections: set it after all of them.
    ReadByAll,
    /// The server reports it in the status flags of every answer.
    Reported,
}

/// All variables that are not propagated.
const SPECIAL: &[(&str, VariableScope)] = &[
    ("timestamp", VariableScope::SessionLocal),
    ("pseudo_slave_mode", VariableScope::SessionLocal),
    ("pseudo_thread_id", VariableScope::SessionLocal),
    ("insert_id", VariableScope::OneShot),
    ("last_insert_id", VariableScope::ReadByAll),
    ("identity", VariableScope::ReadByAll),
    ("rand_seed1", VariableScope::OneShot),
    ("rand_seed2", VariableScope::OneShot),
    ("gtid_seq_no", VariableScope::OneShot),
    ("gtid_next", VariableScope::SessionLocal),
    ("autocommit", VariableScope::Reported),
];

/// The variables that SET NAMES and SET CHARACTER SET assign.
pub(super) const CHARSET_VARIABLES: [&str; 4] =
    ["character_set_client", "character_set_connection", "character_set_results", "collation_connection"];

/// The variables that SET SESSION TRANSACTION assigns: MariaDB's names, then MySQL's, which MariaDB has too since 11.1.
const TRANSACTION_VARIABLES: [&str; 4] =
    ["tx_isolation", "tx_read_only", "transaction_isolation", "transaction_read_only"];

/// Reads a SET statement.
#[must_use]
pub fn assignments(text: &[u8], dialect: &Dialect) -> Assignments {
    let mut found = Assignments::default();
    let mut all = tokens(text, dialect);
    // USE is of the session too, but assigns no variable.
    if !all.next().is_some_and(|first| first.is_word(b"SET")) {
        return found;
    }
    let all: Vec<Token<'_>> = all.collect();
    for item in split_at_commas(&all) {
        read_item(item, &mut found);
    }
    found
}

/// The items of a SET, split at commas outside parentheses.
fn split_at_commas<'t, 'a>(all: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut items = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (index, token) in all.iter().enumerate() {
        if token.is_symbol(b"(") {
            depth += 1;
        } else if token.is_symbol(b")") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && token.is_symbol(b",") {
            items.push(&all[start..index]);
            start = index + 1;
        }
    }
    items.push(&all[start..]);
    items
}

fn read_item(item: &[Token<'_>], found: &mut Assignments) {
    let mut rest = item;
    if let Some(scope) = rest.first() {
        if ["GLOBAL", "PERSIST", "PERSIST_ONLY"].iter().any(|word| scope.is_word(word.as_bytes())) {
            found.beyond_session = true;
            // Connections that open later would begin with the new value, the main session keeps its own.
            if let Some(Kind::Word(name)) = item.get(1).map(|token| &token.kind) {
                found.propagated.push(String::from_utf8_lossy(name).to_ascii_lowercase());
            }
            return;
        }
        if scope.is_word(b"SESSION") || scope.is_word(b"LOCAL") {
            rest = &rest[1..];
        }
    }
    let Some(first) = rest.first() else { return };
    let is_reset = rest.last().is_some_and(|last| last.is_word(b"DEFAULT"));
    match &first.kind {
        Kind::SystemVariable(name) => {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase().replace('`', "");
            match name.split_once('.') {
                Some(("session" | "local", name)) => variable(name, is_reset, found),
                Some((_, name)) => {
                    found.beyond_session = true;
                    found.propagated.push(name.to_owned());
                }
                None => variable(&name, is_reset, found),
            }
        }
        Kind::Word(_) if first.is_word(b"NAMES") || first.is_word(b"CHARSET") || first.is_word(b"CHARACTER") => {
            found.propagated.extend(CHARSET_VARIABLES.map(str::to_owned));
        }
        Kind::Word(_) if first.is_word(b"TRANSACTION") => {
            if rest.len() == item.len() {
                // For the next transaction only.
                found.is_one_shot = true;
            } else {
                found.propagated.extend(TRANSACTION_VARIABLES.map(str::to_owned));
            }
        }
        Kind::Word(_) if first.is_word(b"ROLE") => {
            found.beyond_session = true;
            found.session_local.push(("role".to_owned(), rest.last().is_some_and(|last| last.is_word(b"NONE"))));
        }
        Kind::Word(name) => variable(&String::from_utf8_lossy(name).to_ascii_lowercase(), is_reset, found),
        Kind::QuotedIdentifier(name) => variable(&String::from_utf8_lossy(name).to_ascii_lowercase(), is_reset, found),
        // User variables are the main session's own.
        _ => {}
    }
}

fn variable(name: &str, is_reset: bool, found: &mut Assignments) {
    match SPECIAL.iter().find(|(special, _)| *special == name) {
        Some((_, VariableScope::SessionLocal)) => found.session_local.push((name.to_owned(), is_reset)),
        Some((_, VariableScope::OneShot)) => found.is_one_shot = true,
        Some((_, VariableScope::ReadByAll)) => found.beyond_session = true,
        Some((_, VariableScope::Reported)) => {}
        None => found.propagated.push(name.to_owned()),
    }
}
