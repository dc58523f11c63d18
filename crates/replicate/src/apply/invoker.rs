//! Statements about the account that runs them: on the target that is another one. The source says which it was.

use std::borrow::Cow;

use hortator_load::lexer::{Dialect, Token, tokens};
use hortator_mysql::quote_identifier;

use super::refusal::is_about_account;
use super::statement_session::invoker;
use super::statement_settings::prefix;
use crate::binlog::QueryEvent;

/// The text of a statement as the target runs it.
pub(super) fn text_to_run(query: &QueryEvent) -> Cow<'_, [u8]> {
    let (prefix, text) = (prefix(&query.settings), with_invoker(query));
    if prefix.is_empty() { text } else { Cow::Owned([prefix, text.into_owned()].concat()) }
}

/// The same behind its settings.
pub(super) fn with_invoker(query: &QueryEvent) -> Cow<'_, [u8]> {
    if !is_about_account(query) {
        return Cow::Borrowed(&query.text);
    }
    match invoker(&query.status_variables) {
        Some((user, host)) => Cow::Owned(with_account(&query.text, &query.dialect(), &user, &host)),
        None => Cow::Borrowed(&query.text),
    }
}

/// The statement with a name in place of CURRENT_USER; a role that has no administrator by name gets this one.
fn with_account(text: &[u8], dialect: &Dialect, user: &str, host: &str) -> Vec<u8> {
    let account = [quote_identifier(user), b"@".to_vec(), quote_identifier(host)].concat();
    let all: Vec<Token<'_>> = tokens(text, dialect).collect();
    let mut found = Vec::new();
    let mut copied = 0;
    for (index, token) in all.iter().enumerate() {
        if !token.is_word(CURRENT_USER) {
            continue;
        }
        let is_call = all.get(index + 1).is_some_and(|next| next.is_symbol(b"("))
            && all.get(index + 2).is_some_and(|next| next.is_symbol(b")"));
        let end = if is_call { all[index + 2].end } else { token.end };
        found.extend_from_slice(&text[copied..token.offset]);
        found.extend_from_slice(&account);
        copied = end;
    }
    found.extend_from_slice(&text[copied..]);
    let has = |word: &[u8]| all.iter().any(|token| token.is_word(word));
    if all.first().is_some_and(|verb| verb.is_word(b"CREATE")) && has(b"ROLE") && !has(b"ADMIN") {
        // A comment may end the text.
        found.extend_from_slice(&[b"\nWITH ADMIN ".as_slice(), &account].concat());
    }
    found
}

const CURRENT_USER: &[u8] = b"CURRENT_USER";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: &Dialect, text: &str, expected: &str) {
        assert_eq!(String::from_utf8(with_account(text.as_bytes(), dialect, "a", "%")).unwrap(), expected);
    }

    #[test]
    fn accounts_by_name() {
        for (text, expected) in [
            ("CREATE ROLE r", "CREATE ROLE r\nWITH ADMIN `a`@`%`"),
            ("CREATE ROLE r WITH ADMIN CURRENT_USER", "CREATE ROLE r WITH ADMIN `a`@`%`"),
            ("GRANT SELECT ON d.t TO current_user ( ) -- c", "GRANT SELECT ON d.t TO `a`@`%` -- c"),
            (
                "ALTER USER CURRENT_USER(), b IDENTIFIED BY 'CURRENT_USER'",
                "ALTER USER `a`@`%`, b IDENTIFIED BY 'CURRENT_USER'",
            ),
        ] {
            check(&Dialect::mariadb(u32::MAX), text, expected);
        }
        let dialect = Dialect { no_backslash_escapes: true, ..Dialect::mariadb(u32::MAX) };
        check(
            &dialect,
            r"GRANT SELECT ON d.t TO CURRENT_USER, b IDENTIFIED BY '\', CURRENT_USER",
            r"GRANT SELECT ON d.t TO `a`@`%`, b IDENTIFIED BY '\', `a`@`%`",
        );
    }
}
