//! `SET STATEMENT … FOR` before a statement: taken off its text, so that whoever looks at the text finds the statement.
//!
//! Source: MariaDB knowledge base, "SET STATEMENT".

use hortator_load::lexer::{Dialect, Kind, Token, Tokens, tokens};

/// A variable that has its value for one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementSetting {
    /// Its name, in lower case.
    pub name: String,
    /// The assignment as it is written, without comments.
    pub text: Vec<u8>,
}

/// The settings before a statement and the statement behind them; `None` where it has none. `dialect` is that of the
/// source, which has run what version comments have.
pub(super) fn split(text: &[u8], dialect: &Dialect) -> Option<(Vec<StatementSetting>, Vec<u8>)> {
    let mut rest = tokens(text, dialect);
    let mut settings = Vec::new();
    // Several may stand one behind the other.
    while let Some(found) = one(&mut rest, text) {
        settings.extend(found);
    }
    if settings.is_empty() {
        return None;
    }
    let first = rest.next()?;
    let statement = &text[first.offset..];
    // The comment's end is behind it.
    let comment: &[u8] = if rest.is_in_executed_comment() { b"/*! " } else { b"" };
    Some((settings, [comment, statement].concat()))
}

/// The settings from SET to FOR, which are passed then.
fn one(rest: &mut Tokens<'_>, text: &[u8]) -> Option<Vec<StatementSetting>> {
    let mut ahead = rest.clone();
    let begins = ahead.next()?.is_word(b"SET") && ahead.next()?.is_word(b"STATEMENT");
    if !begins {
        return None;
    }
    let (mut settings, mut item, mut depth) = (Vec::new(), Vec::new(), 0usize);
    loop {
        let token = ahead.next()?;
        let is_end = depth == 0 && token.is_word(b"FOR");
        if is_end || depth == 0 && token.is_symbol(b",") {
            settings.push(setting(&item, text)?);
            item.clear();
        } else {
            match token.kind {
                Kind::Symbol(b"(") => depth += 1,
                Kind::Symbol(b")") => depth = depth.saturating_sub(1),
                _ => {}
            }
            item.push(token);
        }
        if is_end {
            *rest = ahead;
            return Some(settings);
        }
    }
}

fn setting(item: &[Token<'_>], text: &[u8]) -> Option<StatementSetting> {
    let sign = item.iter().position(|token| token.is_symbol(b"=") || token.is_symbol(b":="))?;
    let name = match &item.get(sign.checked_sub(1)?)?.kind {
        Kind::Word(word) => word.to_vec(),
        Kind::QuotedIdentifier(name) => name.to_vec(),
        _ => return None,
    };
    let mut written = Vec::new();
    let mut before = None;
    for token in item {
        if before.is_some_and(|end| end < token.offset) {
            written.push(b' ');
        }
        written.extend_from_slice(&text[token.offset..token.end]);
        before = Some(token.end);
    }
    Some(StatementSetting { name: String::from_utf8_lossy(&name).to_ascii_lowercase(), text: written })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)], statement: &str) {
        check_in(&Dialect::mariadb(u32::MAX), text, expected, statement);
    }

    fn check_in(dialect: &Dialect, text: &str, expected: &[(&str, &str)], statement: &str) {
        let (settings, rest) = split(text.as_bytes(), dialect).unwrap_or_default();
        let settings: Vec<_> =
            settings.iter().map(|one| (one.name.as_str(), std::str::from_utf8(&one.text).unwrap())).collect();
        assert_eq!((settings.as_slice(), std::str::from_utf8(&rest).unwrap()), (expected, statement), "{text}");
    }

    #[test]
    fn settings_of_one_statement() {
        check("set statement a=7 for insert into t values ('x')", &[("a", "a=7")], "insert into t values ('x')");
        check("/* a */ SET/**/STATEMENT `A` := 'x'\nFOR\n\tUPDATE t", &[("a", "`A` := 'x'")], "UPDATE t");
        check(
            "SET STATEMENT a=(1 + SUBSTRING('12' FOR 1)), b = 1 /* , */, session.c\n = 99 FOR DELETE FROM t",
            &[("a", "a=(1 + SUBSTRING('12' FOR 1))"), ("b", "b = 1"), ("c", "session.c = 99")],
            "DELETE FROM t",
        );
        check("SET STATEMENT a='b, c=1 FOR' FOR DO 1", &[("a", "a='b, c=1 FOR'")], "DO 1");
        check("SET STATEMENT a=3 FOR SET STATEMENT b='' FOR DO 1", &[("a", "a=3"), ("b", "b=''")], "DO 1");
        check("INSERT INTO t VALUES ('SET STATEMENT a=1 FOR')", &[], "");
        check("SET STATEMENT a=1", &[], "");
        check("SET a = 1", &[], "");
        check("", &[], "");
    }

    #[test]
    fn settings_in_other_modes() {
        let dialect = Dialect { no_backslash_escapes: true, ..Dialect::mariadb(u32::MAX) };
        let text = r"SET STATEMENT a='\' FOR INSERT INTO t VALUES (' FOR x')";
        check_in(&dialect, text, &[("a", r"a='\'")], "INSERT INTO t VALUES (' FOR x')");
    }

    #[test]
    fn settings_in_version_comments() {
        let both = [("a", "a=3"), ("b", "b=9")];
        check("set statement/*!100000 a=3,*/ b=9 for DO 1", &both, "DO 1");
        check("set statement a=3 /*M!100000 ,b=9*/ for DO 1", &both, "DO 1");
        check("set statement a /*!100000 =3, b=*/9 /*!for*/ DO 1", &[("a", "a =3"), ("b", "b= 9")], "DO 1");
        check("/*!100000 set statement a=3, b=9 for */ DO 1", &both, "DO 1");
        check("set statement a=3, b=9 for /*!100000 DO */ 1", &both, "/*! DO */ 1");
        check("/*!100000 set statement a=3, b=9 for DO*/ 1", &both, "/*! DO*/ 1");
    }
}
