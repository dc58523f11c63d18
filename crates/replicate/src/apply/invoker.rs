//! Statements about the account that runs them: on the target that is another one. The source says which it was. And definers,
//! which a source writes in UTF-8 before a text of another character set.

use std::borrow::Cow;
use std::ops::Range;

use hortator_load::lexer::{Charset, Dialect, Token, tokens};
use hortator_mysql::quote_identifier;

use super::refusal::is_about_account;
use super::statement_session::invoker;
use super::statement_settings::prefix;
use crate::binlog::QueryEvent;
use crate::event_definition::definer_place;

/// Most tokens before a definer's end.
const HEAD_TOKENS: usize = 16;
/// What stands behind a definer.
const KINDS: [&[u8]; 8] = [b"SQL", b"VIEW", b"TRIGGER", b"EVENT", b"PROCEDURE", b"FUNCTION", b"AGGREGATE", b"PACKAGE"];

/// Where the definer stands in a definition, if it has letters beyond ASCII: the source has put it there (seen with 10.11).
fn written_definer(query: &QueryEvent) -> Option<Range<usize>> {
    let dialect = Dialect { charset: Charset::from_name(b"utf8mb4"), ..query.dialect() };
    let is_either = |token: &Token<'_>, words: &[&[u8]]| words.iter().any(|word| token.is_word(word));
    let mut all = tokens(&query.text, &dialect);
    let verb = all.next().filter(|verb| is_either(verb, &[b"CREATE", b"ALTER"]))?;
    let head: Vec<Token<'_>> = all.take(HEAD_TOKENS).collect();
    let sign = head.windows(2).position(|pair| pair[0].is_word(b"DEFINER") && pair[1].is_symbol(b"="))? + 1;
    if head[..sign].iter().any(|token| is_either(token, &KINDS)) {
        // It stands in the body.
        return None;
    }
    // Behind the account's first word, which may be any.
    let behind = (sign + 2..head.len()).find(|at| is_either(&head[*at], &KINDS))?;
    // That of ALTER EVENT is as it was typed.
    let is_typed = verb.is_word(b"ALTER") && head[behind].is_word(b"EVENT");
    let range = head[sign + 1].offset..head[behind - 1].end;
    let definer = query.text.get(range.clone())?;
    (!is_typed && !definer.is_ascii() && std::str::from_utf8(definer).is_ok()).then_some(range)
}

/// The account in whose name a statement has run on the source, or the definer that it names, as SQL in UTF-8; `None` where
/// the statement is the same whoever runs it.
pub(super) fn account_of(query: &QueryEvent) -> Option<Vec<u8>> {
    if let Some(range) = written_definer(query) {
        return Some(query.text[range].to_vec());
    }
    let is_wanted = is_about_account(query) || definer_place(&query.text, &query.dialect()).is_some();
    let (user, host) = invoker(&query.status_variables).filter(|_| is_wanted)?;
    // No identifier is empty, and a role has no host.
    let user = if user.is_empty() { b"''".to_vec() } else { quote_identifier(user) };
    Some(if host.is_empty() { user } else { [user, b"@".to_vec(), quote_identifier(host)].concat() })
}

/// The text of a statement as the target runs it, with the account in the character set of the text.
pub(super) fn text_to_run<'q>(query: &'q QueryEvent, account: Option<&[u8]>) -> Cow<'q, [u8]> {
    let (prefix, text) = (prefix(&query.settings), with_invoker(query, account));
    if prefix.is_empty() { text } else { Cow::Owned([prefix, text.into_owned()].concat()) }
}

/// The same behind its settings, for those who look at its words.
pub(super) fn with_any_account(query: &QueryEvent) -> Cow<'_, [u8]> {
    with_invoker(query, account_of(query).map(|_| &b"`a`@`a`"[..]))
}

fn with_invoker<'q>(query: &'q QueryEvent, account: Option<&[u8]>) -> Cow<'q, [u8]> {
    let Some(account) = account else { return Cow::Borrowed(&query.text) };
    let (text, dialect) = (&query.text, query.dialect());
    if let Some(range) = written_definer(query) {
        return Cow::Owned([&text[..range.start], account, &text[range.end..]].concat());
    }
    Cow::Owned(match definer_place(text, &dialect) {
        Some(at) => [&text[..at], b" DEFINER = ", account, &text[at..]].concat(),
        None => with_account(text, &dialect, account),
    })
}

/// The statement with a name in place of CURRENT_USER; a role that has no administrator by name gets this one.
fn with_account(text: &[u8], dialect: &Dialect, account: &[u8]) -> Vec<u8> {
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
        found.extend_from_slice(account);
        copied = end;
    }
    found.extend_from_slice(&text[copied..]);
    let has = |word: &[u8]| all.iter().any(|token| token.is_word(word));
    if all.first().is_some_and(|verb| verb.is_word(b"CREATE")) && has(b"ROLE") && !has(b"ADMIN") {
        // A comment may end the text.
        found.extend_from_slice(&[b"\nWITH ADMIN ".as_slice(), account].concat());
    }
    found
}

const CURRENT_USER: &[u8] = b"CURRENT_USER";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dialect: &Dialect, text: &str, expected: &str) {
        assert_eq!(String::from_utf8(with_account(text.as_bytes(), dialect, b"`a`@`%`")).unwrap(), expected);
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

    /// With the status variable of the account that has run it.
    fn query(text: &str, user: &str, host: &str) -> QueryEvent {
        let field = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        let status_variables = [vec![11], field(user), field(host)].concat();
        QueryEvent { status_variables, ..QueryEvent::of_text(text) }
    }

    #[test]
    fn events_of_the_one_who_changes_them() {
        for (text, user, host, expected) in [
            ("ALTER EVENT e ENABLE", "ä`", "%", Some("ALTER DEFINER = `ä```@`%` EVENT e ENABLE")),
            (
                "SET STATEMENT a=1 FOR /* c */ alter event e DO SELECT 1",
                "a",
                "b",
                Some("SET STATEMENT a=1 FOR alter DEFINER = `a`@`b` event e DO SELECT 1"),
            ),
            ("ALTER EVENT e ENABLE", "r", "", Some("ALTER DEFINER = `r` EVENT e ENABLE")),
            ("ALTER EVENT e ENABLE", "", "h", Some("ALTER DEFINER = ''@`h` EVENT e ENABLE")),
            ("ALTER DEFINER=a@b EVENT e ENABLE", "x", "h", None),
            ("DROP EVENT e", "x", "h", None),
        ] {
            let query = query(text, user, host);
            let account = account_of(&query);
            let found = account.map(|account| text_to_run(&query, Some(&account)).into_owned());
            assert_eq!(found.map(|text| String::from_utf8(text).unwrap()).as_deref(), expected, "{text}");
        }
        // Letters in UTF-8, before a text in another character set.
        for (text, expected) in [
            ("CREATE DEFINER=`ä b`@`%` EVENT e DO SELECT 1", Some("`ä b`@`%`")),
            ("CREATE OR REPLACE ALGORITHM=MERGE DEFINER=ä@b SQL SECURITY DEFINER VIEW v AS SELECT 1", Some("ä@b")),
            ("ALTER ALGORITHM=UNDEFINED DEFINER=`ä`@`b` SQL SECURITY INVOKER VIEW v AS SELECT 1", Some("`ä`@`b`")),
            ("CREATE DEFINER=`ä` FUNCTION f() RETURNS INT RETURN 1", Some("`ä`")),
            ("CREATE DEFINER=`a`@`b` EVENT ä DO SELECT 1", None),
            ("ALTER DEFINER=`ä`@`b` EVENT e ENABLE", None),
            ("ALTER EVENT e DO UPDATE t SET definer = 'ä', event = 1", None),
            ("CREATE TABLE definer (a INT DEFAULT 1) COMMENT 'ä'", None),
        ] {
            let mut query = QueryEvent::of_text(text);
            query.text.extend(b" -- \xe4");
            let account = account_of(&query);
            assert_eq!(
                account.clone().map(|account| String::from_utf8(account).unwrap()).as_deref(),
                expected,
                "{text}"
            );
            let swapped = text_to_run(&query, account.as_ref().map(|_| &b"`\xe4`"[..])).into_owned();
            let kept = expected.map(|account| text.replace(account, "|")).unwrap_or_else(|| text.to_owned());
            let parts: Vec<&[u8]> = kept.split('|').map(str::as_bytes).collect();
            assert_eq!(swapped, [&parts.join(&b"`\xe4`"[..])[..], b" -- \xe4"].concat(), "{text}");
        }
        // A source that does not say it.
        assert_eq!(account_of(&QueryEvent::of_text("ALTER EVENT e ENABLE")), None);
    }
}
