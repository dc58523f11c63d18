//! The tables that a MERGE table stands for.

use super::TableName;
use super::tokens::{Backslash, Token, tokens};
use crate::error::WRONG_MERGE_TABLE;
use crate::{Connection, Error, quote_identifier};

/// The engine of MERGE tables, in lower case.
pub(super) const ENGINE: &[u8] = b"mrg_myisam";

/// Asks for the children of the MERGE table `name`; `None` where the server cannot tell, since one of them is missing or
/// does not fit.
pub(super) fn children(connection: &mut Connection, name: &TableName) -> Result<Option<Vec<TableName>>, Error> {
    let query =
        [b"SHOW CREATE TABLE ".as_slice(), &quote_identifier(&name.schema), b".", &quote_identifier(&name.table)]
            .concat();
    let rows = match connection.fetch(&query) {
        Err(error) if error.code() == Some(WRONG_MERGE_TABLE) => return Ok(None),
        outcome => outcome?,
    };
    let definition = rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).flatten().unwrap_or_default();
    Ok(Some(union_list(&definition, &name.schema, Backslash::Escapes)))
}

/// The names in the table option `UNION=(…)` of a definition; those without a schema are in `schema`.
pub(super) fn union_list(definition: &[u8], schema: &[u8], backslash: Backslash) -> Vec<TableName> {
    let mut tokens = tokens(definition, backslash);
    let mut depth = 0_u32;
    let mut is_option = false;
    for token in tokens.by_ref() {
        if is_option && token.is_symbol(b'(') {
            break;
        }
        match token {
            Token::Symbol(b'(') => depth += 1,
            Token::Symbol(b')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_option = depth == 0 && (token.is_word("UNION") || (is_option && token.is_symbol(b'=')));
    }

    let mut names = Vec::new();
    let mut parts: Vec<Vec<u8>> = Vec::new();
    for token in tokens {
        match token {
            Token::Name(name) => parts.push(name.into_owned()),
            Token::Word(name) => parts.push(name.to_vec()),
            Token::Symbol(b'.') => {}
            Token::Symbol(_) | Token::Text => {
                if let Some(table) = parts.pop() {
                    names.push(TableName { schema: parts.pop().unwrap_or_else(|| schema.to_vec()), table });
                }
                parts.clear();
                if !token.is_symbol(b',') {
                    break;
                }
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_children() {
        let head = "CREATE TABLE `m` (\n  `id` int(11) COMMENT ') UNION=(`x`)',\n  `union` int,\n  KEY `id` (`id`)\n) \
                    ENGINE=MRG_MyISAM";
        for (options, expected) in [
            ("", ""),
            (" COMMENT='UNION=(`x`)' INSERT_METHOD=LAST", ""),
            (" UNION=()", ""),
            (" UNION=(`a`)", "s.a"),
            (" COMMENT='it''s\\' UNION=(`x`)' INSERT_METHOD=LAST UNION=(`a`,`b``,(`,`o`.`a`)", "s.a s.b`,( o.a"),
            (" union=(a,o.b) COMMENT='UNION=(`x`)'", "s.a o.b"),
        ] {
            let found = union_list((head.to_owned() + options).as_bytes(), b"s", Backslash::Escapes);
            let found: Vec<_> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found.join(" "), expected, "{options}");
        }
    }
}
