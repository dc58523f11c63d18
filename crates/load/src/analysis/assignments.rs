//! What a SET statement assigns: which session variables, and what makes it more than that.

use super::plain_set::PlainSet;
use super::reads::reads_session;
use crate::lexer::{Kind, Token};

/// What a SET statement touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assignments {
    /// Session variables, lower case, that it names and that other connections take on.
    pub propagated: Vec<String>,
    /// Something beyond this session changes: a global variable, a role.
    pub beyond_session: bool,
    /// Variables that only the main session can hold until they are set to DEFAULT; `true` where this is such a reset.
    pub session_local: Vec<(String, bool)>,
    /// A variable that acts on the next statement only.
    pub is_one_shot: bool,
    /// A variable that acts on the next statement that changes anything: one that only reads leaves it.
    pub is_for_next_change: bool,
    /// It assigns the number of the next row that the server numbers.
    pub next_number: bool,
    /// That number, where its words say it.
    pub given_number: Option<u64>,
    /// It assigns autocommit, which may end a transaction.
    pub autocommit: bool,
    /// A value is more than a constant or a variable of this session: a function, a table, a global variable, the
    /// results of the last statement.
    pub reads_beyond_session: bool,
    /// It assigns user variables.
    pub user_variables: bool,
    /// It does nothing but give the next statement its time or its numbers, as `mariadb-binlog` prints it.
    pub only_for_next: bool,
    /// It does nothing but give user variables constants, the last number or what rows say, and does the same when it is done
    /// again behind the same statements.
    pub only_variables: bool,
    /// What it is as a part of a larger SET, where it can be one.
    pub plain: Option<PlainSet>,
    /// Byte offsets in the text behind the `@@` of targets that name no scope.
    pub unscoped: Vec<usize>,
}

/// How a session variable is treated that is not simply copied to the other connections.
#[derive(Clone, Copy)]
enum VariableScope {
    /// The session follows its own value from then on: statements stay in the main session until it is reset.
    SessionLocal,
    /// It acts on the next statement of the session that changes anything: on its global transaction id.
    NextChange,
    /// It is the next number that the session gives a row: it stays until one gets it.
    NextNumber,
    /// It stands for what statements of other connections have done: it is set after all of them.
    SharedResult,
    /// The server's status flags tell of it after every statement.
    InStatus,
    /// It concerns how long a session may be idle or wait, what its SELECTs return, or is the session's own identity: other
    /// connections go without.
    MainOnly,
}

/// All variables that are not simply copied.
const SPECIAL: &[(&str, VariableScope)] = &[
    ("timestamp", VariableScope::SessionLocal),
    ("pseudo_slave_mode", VariableScope::SessionLocal),
    ("pseudo_thread_id", VariableScope::SessionLocal),
    ("gtid_next", VariableScope::SessionLocal),
    ("insert_id", VariableScope::NextNumber),
    ("gtid_seq_no", VariableScope::NextChange),
    ("last_insert_id", VariableScope::SharedResult),
    ("identity", VariableScope::SharedResult),
    ("autocommit", VariableScope::InStatus),
    ("character_set_database", VariableScope::MainOnly),
    ("collation_database", VariableScope::MainOnly),
    ("error_count", VariableScope::MainOnly),
    ("idle_readonly_transaction_timeout", VariableScope::MainOnly),
    ("idle_transaction_timeout", VariableScope::MainOnly),
    ("idle_write_transaction_timeout", VariableScope::MainOnly),
    ("in_transaction", VariableScope::MainOnly),
    ("innodb_lock_wait_timeout", VariableScope::MainOnly),
    ("interactive_timeout", VariableScope::MainOnly),
    ("last_gtid", VariableScope::MainOnly),
    ("lock_wait_timeout", VariableScope::MainOnly),
    ("max_statement_time", VariableScope::MainOnly),
    ("net_read_timeout", VariableScope::MainOnly),
    ("net_write_timeout", VariableScope::MainOnly),
    ("rand_seed1", VariableScope::MainOnly),
    ("rand_seed2", VariableScope::MainOnly),
    ("session_track_schema", VariableScope::MainOnly),
    ("session_track_state_change", VariableScope::MainOnly),
    ("session_track_system_variables", VariableScope::MainOnly),
    ("session_track_transaction_info", VariableScope::MainOnly),
    ("sql_select_limit", VariableScope::MainOnly),
    ("statement_id", VariableScope::MainOnly),
    ("system_versioning_asof", VariableScope::MainOnly),
    ("wait_timeout", VariableScope::MainOnly),
    ("warning_count", VariableScope::MainOnly),
];

/// The variables that SET NAMES and SET CHARACTER SET assign.
pub(super) const CHARSET_VARIABLES: [&str; 4] =
    ["character_set_client", "character_set_connection", "character_set_results", "collation_connection"];

/// The variables that SET SESSION TRANSACTION assigns: MariaDB's names, then MySQL's, which MariaDB has too since 11.1.
const TRANSACTION_VARIABLES: [&str; 4] =
    ["tx_isolation", "tx_read_only", "transaction_isolation", "transaction_read_only"];

/// What stands for a variable where blanks divide its name, as in `@@session . sql_mode`.
const SCOPES: [&str; 3] = ["session", "local", "global"];

/// Variables whose values are the results of earlier statements.
const RESULTS: [&str; 6] =
    ["identity", "last_insert_id", "warning_count", "error_count", "in_transaction", "rand_seed1"];

/// Reads a SET statement.
#[must_use]
pub fn of_set(all: &[Token<'_>]) -> Assignments {
    Assignments {
        plain: PlainSet::read(all),
        only_for_next: is_only_for_next(all),
        only_variables: split_at_commas(&all[1..]).into_iter().all(is_repeatable_variable),
        ..assignments(&all[1..])
    }
}

impl Assignments {
    /// Whether it changes more than its session, and nothing that only this session can hold.
    #[must_use]
    pub fn is_global(&self) -> bool {
        self.beyond_session && self.session_local.is_empty() && !self.only_for_next
    }

    /// Whether it gives user variables values, and no other variable.
    pub(crate) fn is_of_user_variables(&self) -> bool {
        let is_of_others = self.beyond_session
            || self.is_one_shot
            || self.next_number
            || self.autocommit
            || self.only_for_next
            || !self.propagated.is_empty()
            || !self.session_local.is_empty();
        self.user_variables && !is_of_others
    }
}

/// What `mariadb-binlog` assigns before a statement.
const FOR_NEXT: [&[u8]; 3] = [b"timestamp", b"insert_id", b"last_insert_id"];

/// Whether it assigns a constant to one of these, and nothing else.
fn is_only_for_next(all: &[Token<'_>]) -> bool {
    let [_, target, sign, value] = all else { return false };
    let (Kind::Word(name) | Kind::SystemVariable(name)) = target.kind else { return false };
    let name = name.to_ascii_lowercase();
    let name = name.strip_prefix(b"session.").unwrap_or(&name);
    sign.is_symbol(b"=") && matches!(value.kind, Kind::Number(_)) && FOR_NEXT.contains(&name)
}

/// Whether a SELECT does nothing but put the last number into a user variable.
pub(super) fn is_last_id_into_variable(all: &[Token<'_>]) -> bool {
    match all {
        [select, value @ .., into, target] => {
            select.is_word(b"SELECT")
                && is_last_id(value)
                && into.is_word(b"INTO")
                && matches!(target.kind, Kind::UserVariable(_))
        }
        _ => false,
    }
}

fn is_last_id(value: &[Token<'_>]) -> bool {
    let [function, open, close] = value else { return false };
    function.is_word(b"LAST_INSERT_ID") && open.is_symbol(b"(") && close.is_symbol(b")")
}

/// Whether an item of a SET gives a user variable a constant, the last number, or what the rows of tables say.
fn is_repeatable_variable(item: &[Token<'_>]) -> bool {
    let [target, sign, value @ ..] = item else { return false };
    let is_constant = |kind: &Kind<'_>| matches!(kind, Kind::Number(_) | Kind::String(_));
    let is_repeatable = match value {
        [value] => is_constant(&value.kind) || value.is_word(b"NULL"),
        [sign, value] => sign.is_symbol(b"-") && is_constant(&value.kind),
        [open, select, rest @ ..] if open.is_symbol(b"(") && select.is_word(b"SELECT") => !reads_session(rest),
        value => is_last_id(value),
    };
    matches!(target.kind, Kind::UserVariable(_)) && (sign.is_symbol(b"=") || sign.is_symbol(b":=")) && is_repeatable
}

/// A variable of the session whose value is the name of a table, which the server looks for. CREATE TABLE reads its rows: the
/// words that FULLTEXT indexes leave out.
const NAMES_TABLE: &str = "innodb_ft_user_stopword_table";

/// Reads assignments from the tokens of a SET behind its first words.
#[must_use]
pub fn assignments(behind: &[Token<'_>]) -> Assignments {
    let mut found = Assignments::default();
    for item in split_at_commas(behind) {
        read_item(item, &mut found);
    }
    let names_table = found.propagated.iter().any(|name| name == NAMES_TABLE);
    found.reads_beyond_session = names_table || behind.iter().any(reads_beyond_session);
    found
}

/// Whether a token of a SET reads more than constants and variables of this session.
fn reads_beyond_session(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Symbol(symbol) => symbol == b"(",
        Kind::Word(word) => {
            [&b"NEXT"[..], b"PREVIOUS", b"SELECT", b"NEXTVAL"].iter().any(|known| word.eq_ignore_ascii_case(known))
        }
        Kind::SystemVariable(name) => {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase().replace('`', "");
            match name.split_once('.') {
                Some(("session" | "local", name)) => RESULTS.contains(&name),
                // A global variable that is assigned shows here too; that is beyond the session as well.
                Some(_) => true,
                None => RESULTS.contains(&name.as_str()) || SCOPES.contains(&name.as_str()),
            }
        }
        _ => false,
    }
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
            return;
        }
        if scope.is_word(b"SESSION") || scope.is_word(b"LOCAL") {
            rest = &rest[1..];
        }
    }
    let Some(first) = rest.first() else { return };
    let had_number = found.next_number;
    let is_reset = rest.last().is_some_and(|last| last.is_word(b"DEFAULT"));
    match &first.kind {
        Kind::SystemVariable(name) => {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase().replace('`', "");
            match name.split_once('.') {
                Some(("session" | "local", name)) => variable(name, is_reset, found),
                Some(_) => found.beyond_session = true,
                None if SCOPES.contains(&name.as_str()) => found.beyond_session = true,
                // For the next transaction only, as SET TRANSACTION.
                None if TRANSACTION_VARIABLES.contains(&name.as_str()) => found.is_one_shot = true,
                None => {
                    found.unscoped.push(first.offset + 2);
                    variable(&name, is_reset, found);
                }
            }
        }
        Kind::UserVariable(_) => found.user_variables = true,
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
        _ => {}
    }
    if found.next_number && !had_number {
        found.given_number = match rest {
            [_, _, Token { kind: Kind::Number(digits), .. }] => {
                std::str::from_utf8(digits).ok().and_then(|n| n.parse().ok())
            }
            _ => None,
        };
    }
}

fn variable(name: &str, is_reset: bool, found: &mut Assignments) {
    match SPECIAL.iter().find(|(special, _)| *special == name).map(|(_, scope)| *scope) {
        Some(VariableScope::SessionLocal) => found.session_local.push((name.to_owned(), is_reset)),
        Some(VariableScope::NextChange) => {
            found.is_one_shot = true;
            found.is_for_next_change = true;
        }
        Some(VariableScope::NextNumber) => {
            found.is_one_shot = true;
            found.next_number = true;
        }
        Some(VariableScope::SharedResult) => found.beyond_session = true,
        Some(VariableScope::InStatus) => found.autocommit = true,
        Some(VariableScope::MainOnly) | None => found.propagated.push(name.to_owned()),
    }
}

/// Whether only the main session can hold a variable of this name, lower case.
#[must_use]
pub fn is_session_local(name: &str) -> bool {
    SPECIAL.iter().any(|(special, scope)| *special == name && matches!(scope, VariableScope::SessionLocal))
}

/// Whether other connections take on a session variable of this name, lower case.
#[must_use]
pub fn is_propagated(name: &str) -> bool {
    !SPECIAL.iter().any(|(special, _)| *special == name)
}

#[cfg(test)]
mod tests;
