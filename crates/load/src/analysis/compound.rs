//! Texts that hold several statements: what stands between two delimiters need not be one, and the client sends it whole.

use super::{TOKENS_LIMIT, has_body};
use crate::lexer::{Dialect, Token, tokens};

/// Words behind END that end something else than a BEGIN or a CASE expression.
const ENDS_OTHERS: [&[u8]; 6] = [b"IF", b"LOOP", b"REPEAT", b"WHILE", b"FOR", b"CASE"];

/// Splits a text's tokens into the statements that they are: most often one.
///
/// A definition whose body may hold statements goes from its BEGIN to the END of it. Where the END cannot be told, it counts
/// as several, which costs time and no correctness.
pub fn statements<'t, 'a>(all: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let end_of_body = |start: usize| match &all[start..] {
        rest if has_body(rest) => body_end(rest).map_or(0, |end| start + end),
        _ => 0,
    };
    let mut parts = Vec::new();
    let mut start = 0;
    let mut behind_body = end_of_body(start);
    for (index, token) in all.iter().enumerate() {
        if index >= behind_body && token.is_symbol(b";") {
            parts.push(&all[start..index]);
            start = index + 1;
            behind_body = end_of_body(start);
        }
    }
    parts.push(&all[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

/// The tokens of each statement that a text holds; `None` where it has more of them than are analyzed.
pub(crate) fn statement_tokens<'t>(text: &'t [u8], dialect: &Dialect) -> Option<Vec<Vec<Token<'t>>>> {
    let all: Vec<Token<'t>> = tokens(text, dialect).take(TOKENS_LIMIT + 1).collect();
    if all.len() > TOKENS_LIMIT {
        return None;
    }
    let found: Vec<Vec<Token<'t>>> = statements(&all).into_iter().map(<[_]>::to_vec).collect();
    if found.len() > 1 && is_oracle_definition(&all) {
        return Some(vec![all]);
    }
    Some(found)
}

/// Whether a text is one definition in Oracle's syntax, in which `;` stands before the first BEGIN: a package, or a routine or
/// trigger with declarations (`AS a INT; BEGIN …`, `DECLARE a INT; BEGIN …`), and its last END ends the text.
fn is_oracle_definition(all: &[Token<'_>]) -> bool {
    const KINDS: [&[u8]; 4] = [b"PACKAGE", b"PROCEDURE", b"FUNCTION", b"TRIGGER"];
    const DECLARES: [&[u8]; 3] = [b"AS", b"IS", b"DECLARE"];
    const DEFINES: [&[u8]; 7] = [b"CREATE", b"DROP", b"ALTER", b"TRUNCATE", b"RENAME", b"GRANT", b"USE"];
    const ACTS: [&[u8]; 15] = [
        b"BEGIN", b"SELECT", b"SET", b"CALL", b"IF", b"SIGNAL", b"EXECUTE", b"DROP", b"INSERT", b"UPDATE", b"DELETE",
        b"REPLACE", b"WITH", b"ALTER", b"CREATE",
    ];
    let is_one_of = |token: &Token<'_>, words: &[&[u8]]| words.iter().any(|word| token.is_word(word));
    let Some(kind) = all.iter().take(16).position(|token| is_one_of(token, &KINDS)) else { return false };
    let is_create = all[0].is_word(b"CREATE");
    let acts = |token: &&Token<'_>| is_one_of(token, &DECLARES) || is_one_of(token, &ACTS);
    // The head of a trigger says of what it is one: BEFORE INSERT ON t FOR EACH ROW.
    let is_trigger = all[kind].is_word(b"TRIGGER");
    let head = if is_trigger { all.iter().position(|token| token.is_word(b"ROW")) } else { Some(kind) };
    let behind = &all[head.map_or(all.len(), |head| head + 1)..];
    let declares =
        all[kind].is_word(b"PACKAGE") || behind.iter().find(acts).is_some_and(|token| is_one_of(token, &DECLARES));
    // Another definition may stand behind this one.
    let defines = |pair: &[Token<'_>]| pair[0].is_symbol(b";") && is_one_of(&pair[1], &DEFINES);
    let is_alone = !all.windows(2).any(defines);
    let end = all.iter().rposition(|token| !token.is_symbol(b";"));
    let ends = end.is_some_and(|end| all[end].is_word(b"END") || (end > 0 && all[end - 1].is_word(b"END")));
    is_create && declares && is_alone && ends
}

/// The position behind the END of the first BEGIN, and behind its label; `None` where there is no BEGIN before the first
/// `;`, or no END of it.
fn body_end(all: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut has_begun = false;
    let mut index = 0;
    while let Some(token) = all.get(index) {
        if !has_begun && token.is_symbol(b";") {
            return None;
        }
        if token.is_word(b"BEGIN") {
            let next = all.get(index + 1);
            // It begins a transaction.
            if !has_begun && next.is_none_or(|next| next.is_symbol(b";") || next.is_word(b"WORK")) {
                return None;
            }
            has_begun = true;
            depth += 1;
        } else if token.is_word(b"CASE") && has_begun {
            depth += 1;
        } else if token.is_word(b"END") && has_begun {
            let next = all.get(index + 1);
            let ends_case = next.is_some_and(|next| next.is_word(b"CASE"));
            let ends_other = next.is_some_and(|next| ENDS_OTHERS.iter().any(|word| next.is_word(word)));
            if !ends_other || ends_case {
                depth = depth.checked_sub(1)?;
            }
            // The word behind it begins nothing.
            index += usize::from(ends_other);
            if depth == 0 {
                let has_label = all.get(index + 1).is_some_and(|next| !next.is_symbol(b";"));
                return Some(index + 1 + usize::from(has_label));
            }
        }
        index += 1;
    }
    None
}
