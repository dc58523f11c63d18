//! Statements that do nothing but add keys to a table, and which of them may be sent as one `ALTER TABLE`.
//!
//! One statement with all the additions leaves what they leave one by one, and is an error where any of them is. Where that is
//! not certain they stay apart:
//!
//! - A primary key comes first or alone: the columns that it makes NOT NULL change the order of the keys before it.
//! - Behind a foreign key come foreign keys only, and none beside a primary key: an addition behind it could be what it needs.
//!   One that refers to its own table is left alone by the coordinator, which knows what names mean.
//! - One FULLTEXT or SPATIAL key: with two of them InnoDB copies the table row by row.
//! - Everything that is not a plain addition: options of the table, ALGORITHM and LOCK, IF NOT EXISTS, version comments.

use super::NamedTable;
use super::pattern::read_table;
use crate::lexer::{Dialect, Kind, Token, tokens};
use crate::rows::name;

/// What one clause adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAddition {
    /// The primary key.
    Primary,
    /// A key, unique or not.
    Key,
    /// A FULLTEXT or SPATIAL key.
    Special,
    /// A foreign key.
    Foreign,
}

/// A statement that only adds keys to a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAdditions {
    /// The table.
    pub table: NamedTable,
    /// What is added, in its order.
    pub kinds: Vec<KeyAddition>,
    /// The table's name text.
    written_table: Vec<u8>,
    /// `ADD …, ADD …`.
    clauses: Vec<u8>,
}

/// Reads a statement from its tokens; `None` for one that does anything else, and for one that is not to be sent with
/// others.
#[must_use]
pub fn parse_key_additions(text: &[u8], all: &[Token<'_>], dialect: &Dialect) -> Option<KeyAdditions> {
    // MySQL has rules of its own. What stands in a comment may end outside of it.
    if !dialect.mariadb || memchr::memmem::find(text, b"/*").is_some() {
        return None;
    }
    let mut reader = Reader { text, all, at: 0 };
    let found = if reader.word(b"ALTER") { reader.alter_table() } else { reader.create_index() }?;
    (reader.at == all.len() && can_merge(&found.kinds)).then_some(found)
}

/// Whether one statement may add these in this order.
#[must_use]
pub fn can_merge(kinds: &[KeyAddition]) -> bool {
    let count = |kind| kinds.iter().filter(|found| **found == kind).count();
    let first_foreign = kinds.iter().position(|kind| *kind == KeyAddition::Foreign).unwrap_or(kinds.len());
    let has_primary = count(KeyAddition::Primary) > 0;
    count(KeyAddition::Primary) <= 1
        && (!has_primary || (kinds[0] == KeyAddition::Primary && first_foreign == kinds.len()))
        && kinds[first_foreign..].iter().all(|kind| *kind == KeyAddition::Foreign)
        && count(KeyAddition::Special) <= 1
}

/// The one statement for several on the same table.
#[must_use]
pub fn merge_key_additions<'t>(texts: impl IntoIterator<Item = &'t [u8]>, dialect: &Dialect) -> Option<Vec<u8>> {
    let parse = |text| parse_key_additions(text, &tokens(text, dialect).collect::<Vec<_>>(), dialect);
    let all: Vec<KeyAdditions> = texts.into_iter().map(parse).collect::<Option<_>>()?;
    let clauses: Vec<&[u8]> = all.iter().map(|addition| addition.clauses.as_slice()).collect();
    Some([b"ALTER TABLE ", all.first()?.written_table.as_slice(), b" ", &clauses.join(&b", "[..])].concat())
}

/// Goes through a statement's tokens.
struct Reader<'a, 't> {
    text: &'t [u8],
    all: &'a [Token<'t>],
    at: usize,
}

impl Reader<'_, '_> {
    fn next_is(&self, word: &[u8]) -> bool {
        self.all.get(self.at).is_some_and(|token| token.is_word(word))
    }

    fn next_is_symbol(&self, symbol: &[u8]) -> bool {
        self.all.get(self.at).is_some_and(|token| token.is_symbol(symbol))
    }

    /// Passes a word, if it is the next.
    fn word(&mut self, word: &[u8]) -> bool {
        let is_next = self.next_is(word);
        self.at += usize::from(is_next);
        is_next
    }

    fn one_of(&mut self, words: &[&[u8]]) -> bool {
        words.iter().any(|word| self.word(word))
    }

    fn symbol(&mut self, symbol: &[u8]) -> bool {
        let is_next = self.next_is_symbol(symbol);
        self.at += usize::from(is_next);
        is_next
    }

    fn name(&mut self) -> Option<()> {
        name(self.all.get(self.at)?)?;
        self.at += 1;
        Some(())
    }

    /// A table's name, and how it is written.
    fn table(&mut self) -> Option<(NamedTable, Vec<u8>)> {
        let mut found = Vec::with_capacity(1);
        let from = self.at;
        self.at = read_table(self.all, self.at, &mut found)?;
        Some((found.pop()?, self.written(from, self.at).to_vec()))
    }

    /// The text from one token to right before another.
    fn written(&self, from: usize, to: usize) -> &[u8] {
        &self.text[self.all[from].offset..self.all[to - 1].end]
    }

    /// Passes a list in parentheses, whatever is in it.
    fn parentheses(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            if self.next_is_symbol(b"(") {
                depth += 1;
            } else if self.next_is_symbol(b")") {
                depth = depth.checked_sub(1)?;
            }
            if depth == 0 && !self.next_is_symbol(b")") {
                return None;
            }
            self.at += 1;
            if depth == 0 {
                return Some(());
            }
            self.all.get(self.at)?;
        }
    }

    /// Behind ALTER.
    fn alter_table(&mut self) -> Option<KeyAdditions> {
        if !self.word(b"TABLE") {
            return None;
        }
        let (table, written_table) = self.table()?;
        let from = self.at;
        let mut kinds = Vec::new();
        loop {
            if !self.word(b"ADD") {
                return None;
            }
            kinds.push(self.clause()?);
            if !self.symbol(b",") {
                break;
            }
        }
        Some(KeyAdditions { table, kinds, written_table, clauses: self.written(from, self.at).to_vec() })
    }

    /// Behind ADD.
    fn clause(&mut self) -> Option<KeyAddition> {
        const CONSTRAINTS: [&[u8]; 3] = [b"PRIMARY", b"UNIQUE", b"FOREIGN"];
        let is_constraint = self.word(b"CONSTRAINT");
        if is_constraint && !CONSTRAINTS.iter().any(|word| self.next_is(word)) {
            self.name()?;
        }
        if self.word(b"PRIMARY") {
            return (self.word(b"KEY")).then(|| self.key(true)).flatten().map(|()| KeyAddition::Primary);
        }
        if self.word(b"FOREIGN") {
            return (self.word(b"KEY")).then(|| self.foreign_key()).flatten().map(|()| KeyAddition::Foreign);
        }
        let is_unique = self.word(b"UNIQUE");
        let is_special = !is_unique && !is_constraint && self.one_of(&[b"FULLTEXT", b"SPATIAL"]);
        let is_key = self.one_of(&[b"KEY", b"INDEX"]);
        if !(is_unique || is_special || (is_key && !is_constraint)) {
            return None;
        }
        self.key(false)?;
        Some(if is_special { KeyAddition::Special } else { KeyAddition::Key })
    }

    /// `[name] [USING type] (columns) [options]`.
    fn key(&mut self, is_primary: bool) -> Option<()> {
        if !is_primary && !self.next_is_symbol(b"(") && !self.next_is(b"USING") {
            self.name()?;
        }
        self.columns_and_options()
    }

    fn columns_and_options(&mut self) -> Option<()> {
        self.using()?;
        self.parentheses()?;
        loop {
            if self.next_is(b"USING") {
                self.using()?;
            } else if self.word(b"KEY_BLOCK_SIZE") {
                self.symbol(b"=");
                self.passes(|kind| matches!(kind, Kind::Number(_)))?;
            } else if self.word(b"COMMENT") {
                self.passes(|kind| matches!(kind, Kind::String(_)))?;
            } else if self.word(b"WITH") {
                self.word(b"PARSER").then(|| self.name()).flatten()?;
            } else if self.word(b"NOT") {
                self.word(b"IGNORED").then_some(())?;
            } else if !self.word(b"IGNORED") {
                return Some(());
            }
        }
    }

    fn passes(&mut self, is_such: impl FnOnce(&Kind<'_>) -> bool) -> Option<()> {
        let is_next = is_such(&self.all.get(self.at)?.kind);
        self.at += 1;
        is_next.then_some(())
    }

    fn using(&mut self) -> Option<()> {
        if !self.word(b"USING") {
            return Some(());
        }
        self.one_of(&[b"BTREE", b"HASH", b"RTREE"]).then_some(())
    }

    /// `[name] (columns) REFERENCES table (columns) [MATCH …] [ON …]`.
    fn foreign_key(&mut self) -> Option<()> {
        if !self.next_is_symbol(b"(") {
            self.name()?;
        }
        self.parentheses()?;
        self.word(b"REFERENCES").then_some(())?;
        self.table()?;
        self.parentheses()?;
        loop {
            if self.word(b"MATCH") {
                self.one_of(&[b"FULL", b"PARTIAL", b"SIMPLE"]).then_some(())?;
            } else if self.word(b"ON") {
                self.one_of(&[b"DELETE", b"UPDATE"]).then_some(())?;
                let is_two = (self.word(b"SET") && self.one_of(&[b"NULL", b"DEFAULT"]))
                    || (self.word(b"NO") && self.word(b"ACTION"));
                (is_two || self.one_of(&[b"RESTRICT", b"CASCADE"])).then_some(())?;
            } else {
                return Some(());
            }
        }
    }

    /// `CREATE [kind] INDEX name [USING type] ON table (columns) [options]`.
    fn create_index(&mut self) -> Option<KeyAdditions> {
        self.word(b"CREATE").then_some(())?;
        let (kind, words): (_, &[u8]) = if self.word(b"UNIQUE") {
            (KeyAddition::Key, b"ADD UNIQUE INDEX ")
        } else if self.word(b"FULLTEXT") {
            (KeyAddition::Special, b"ADD FULLTEXT INDEX ")
        } else if self.word(b"SPATIAL") {
            (KeyAddition::Special, b"ADD SPATIAL INDEX ")
        } else {
            (KeyAddition::Key, b"ADD INDEX ")
        };
        self.word(b"INDEX").then_some(())?;
        let from = self.at;
        self.name()?;
        self.using()?;
        let named = self.written(from, self.at).to_vec();
        self.word(b"ON").then_some(())?;
        let (table, written_table) = self.table()?;
        let from = self.at;
        self.columns_and_options()?;
        let columns = self.written(from, self.at);
        let clauses = [words, &named, b" ", columns].concat();
        Some(KeyAdditions { table, kinds: vec![kind], written_table, clauses })
    }
}

#[cfg(test)]
mod tests;
