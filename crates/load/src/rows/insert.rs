//! The head of an INSERT or REPLACE: everything before its rows.

use crate::lexer::{Kind, Token, Tokens};

/// What the statement does with a row whose key is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertVerb {
    /// INSERT: an error.
    Insert,
    /// INSERT IGNORE: the row is left out.
    InsertIgnore,
    /// REPLACE: the old row goes.
    Replace,
}

/// Where the rows come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowSource {
    /// `VALUES (…), …`: the tuples start at this byte of the text.
    Values {
        /// Offset behind the word VALUES.
        offset: usize,
    },
    /// `SET column = …`, a SELECT or anything else.
    Other,
}

/// What stands before the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InsertHead {
    /// Which of the three.
    pub verb: InsertVerb,
    /// The schema, where the statement names it.
    pub schema: Option<Vec<u8>>,
    /// The table.
    pub table: Vec<u8>,
    /// The columns, where the statement lists them.
    pub columns: Option<Vec<Vec<u8>>>,
    /// The rows.
    pub source: RowSource,
}

/// Reads the head from the tokens behind INSERT or REPLACE; `None` where it is not understood.
#[must_use]
pub fn insert_head(replace: bool, mut tokens: Tokens<'_>) -> Option<InsertHead> {
    let mut verb = if replace { InsertVerb::Replace } else { InsertVerb::Insert };
    let mut token = tokens.next()?;
    loop {
        if token.is_word(b"IGNORE") && !replace {
            verb = InsertVerb::InsertIgnore;
        } else if !(token.is_word(b"LOW_PRIORITY") || token.is_word(b"HIGH_PRIORITY") || token.is_word(b"INTO")) {
            break;
        }
        token = tokens.next()?;
    }
    let mut table = name(&token)?;
    let mut schema = None;
    token = tokens.next()?;
    if token.is_symbol(b".") {
        schema = Some(table);
        table = name(&tokens.next()?)?;
        token = tokens.next()?;
    }
    if token.is_word(b"PARTITION") {
        while !token.is_symbol(b")") {
            token = tokens.next()?;
        }
        token = tokens.next()?;
    }
    let mut columns = None;
    if token.is_symbol(b"(") {
        let mut names = Vec::new();
        token = tokens.next()?;
        while !token.is_symbol(b")") {
            names.push(name(&token)?);
            token = tokens.next()?;
            if token.is_symbol(b",") {
                token = tokens.next()?;
            } else if !token.is_symbol(b")") {
                return None;
            }
        }
        columns = Some(names);
        token = tokens.next()?;
    }
    let source = if token.is_word(b"VALUES") || token.is_word(b"VALUE") {
        RowSource::Values { offset: token.end }
    } else {
        RowSource::Other
    };
    Some(InsertHead { verb, schema, table, columns, source })
}

/// The name that a token stands for.
pub(crate) fn name(token: &Token<'_>) -> Option<Vec<u8>> {
    match &token.kind {
        Kind::Word(word) => Some(word.to_vec()),
        Kind::QuotedIdentifier(name) => Some(name.to_vec()),
        _ => None,
    }
}
