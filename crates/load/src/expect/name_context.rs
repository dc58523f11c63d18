//! Names in statements, and what they mean at a place.

use hortator_mysql::catalog::TableName;

use crate::lexer::Tokens;
use crate::rows;

/// A name as a statement gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) schema: Option<Vec<u8>>,
    pub(super) name: Vec<u8>,
}

/// What names mean at a place of the stream.
#[derive(Clone, Debug)]
pub(crate) struct NameContext {
    /// The default schema.
    pub(crate) database: Option<Vec<u8>>,
    /// Table names are the same in any case.
    pub(crate) folds_case: bool,
    /// Names that are not ASCII are UTF-8.
    pub(crate) names_are_utf8: bool,
    /// Rows that go may take others along.
    pub(crate) checks_foreign_keys: bool,
}

impl NameContext {
    /// The table that is meant; `None` where that is not certain.
    pub(super) fn table(&self, name: Name) -> Option<TableName> {
        let (schema, table) = self.object(name)?;
        let fold = |name: Vec<u8>| if self.folds_case { name.to_ascii_lowercase() } else { name };
        Some(TableName { schema: fold(schema), table: fold(table) })
    }

    /// Schema and name of anything else.
    pub(super) fn object(&self, name: Name) -> Option<(Vec<u8>, Vec<u8>)> {
        let schema = self.schema(name.schema.or_else(|| self.database.clone())?)?;
        self.is_certain(&name.name).then_some((schema, name.name))
    }

    /// A schema's name; `None` where it is not certain how the server keeps it.
    pub(super) fn schema(&self, name: Vec<u8>) -> Option<Vec<u8>> {
        self.is_certain(&name).then_some(name)
    }

    fn is_certain(&self, name: &[u8]) -> bool {
        // Servers fold letters beyond ASCII by tables of their own.
        name.is_ascii() || (self.names_are_utf8 && !self.folds_case)
    }
}

/// Reads `[schema.]name`.
pub(super) fn name_at(rest: &mut Tokens<'_>) -> Option<Name> {
    let first = rows::name(&rest.next()?)?;
    let mut ahead = rest.clone();
    if ahead.next().is_some_and(|token| token.is_symbol(b".")) {
        *rest = ahead;
        return Some(Name { schema: Some(first), name: rows::name(&rest.next()?)? });
    }
    Some(Name { schema: None, name: first })
}

/// Passes the words, if they stand there; tells whether they did.
pub(super) fn pass(rest: &mut Tokens<'_>, words: &[&[u8]]) -> bool {
    let mut ahead = rest.clone();
    let are_there = words.iter().all(|word| ahead.next().is_some_and(|token| token.is_word(word)));
    if are_there {
        *rest = ahead;
    }
    are_there
}

/// Reads `name, name …`.
pub(super) fn names_at(rest: &mut Tokens<'_>) -> Vec<Name> {
    let mut found = Vec::new();
    while let Some(name) = name_at(rest) {
        found.push(name);
        if !rest.next().is_some_and(|token| token.is_symbol(b",")) {
            break;
        }
    }
    found
}
