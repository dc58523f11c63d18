//! How the text of a statement changes before it runs: by tokens and their byte ranges, also within the version comments
//! that dumps are written with. Everything else of the text stays as it is.

mod database_map;
mod definer;
mod engine;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::analysis::NamedTable;
use crate::lexer::{Dialect, Token, tokens};
use crate::planner::Names;
use crate::rows::insert_head;
use crate::selection::Scope;

pub use database_map::{DatabaseMap, DatabaseMapError};
pub use definer::{Definer, DefinerError};
pub use engine::{EngineMap, EngineMapError};

/// The changes that a user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewriting {
    /// Who views, triggers, routines and events run as.
    pub definer: Option<Definer>,
    /// Storage engines that others take the place of.
    pub engines: Vec<EngineMap>,
    /// Schemas that others take the place of.
    pub databases: Vec<DatabaseMap>,
}

/// A piece of the text, and what takes its place.
type Edit = (Range<usize>, Vec<u8>);

impl Rewriting {
    /// Whether every text stays as it is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a statement may have to be refused.
    pub(crate) fn may_refuse(&self) -> bool {
        !self.databases.is_empty() || self.definer.as_ref().is_some_and(|definer| !definer.is_ascii())
    }

    /// Two maps that would bring the tables of two schemas into one, or of one into two.
    #[must_use]
    pub fn collision(&self) -> Option<(&DatabaseMap, &DatabaseMap)> {
        self.databases.iter().enumerate().find_map(|(at, one)| {
            self.databases[..at].iter().find(|other| one.collides_with(other)).map(|other| (other, one))
        })
    }

    /// The options that state the changes: equal changes have equal words.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let mut engines: Vec<String> = self.engines.iter().map(|engine| format!("--engine={engine}")).collect();
        engines.sort();
        engines.dedup();
        let mut databases: Vec<String> = self.databases.iter().map(|map| format!("--database-map={map}")).collect();
        databases.sort();
        databases.dedup();
        self.definer.iter().map(|definer| format!("--definer={definer}")).chain(engines).chain(databases).collect()
    }

    /// The schema that takes the place of this one.
    pub(crate) fn mapped_schema(&self, schema: &[u8], folds: bool) -> Option<&[u8]> {
        self.databases.iter().find(|map| map.is_of(schema, folds)).map(DatabaseMap::target)
    }

    /// The map by which another schema comes into one that the input names itself.
    pub(crate) fn map_into(&self, schema: &[u8], folds: bool) -> Option<&DatabaseMap> {
        let is_mapped = self.mapped_schema(schema, folds).is_some();
        self.databases.iter().find(|map| !is_mapped && map.leads_to(schema, folds))
    }
}

/// The text with all changes; `None` where nothing changes. `statements`: the tokens of each statement in it, and `scopes`
/// what each touches.
///
/// # Errors
/// The reason why it is not certain what to change.
pub(crate) fn rewrite(
    text: &[u8],
    statements: &[Vec<Token<'_>>],
    scopes: &[Scope],
    rules: &Rewriting,
    names: Names<'_>,
) -> Result<Option<Vec<u8>>, String> {
    let mut edits = Vec::new();
    for (all, scope) in statements.iter().zip(scopes) {
        if let Some(definer) = &rules.definer {
            let edit = definer::edit(all, definer);
            if edit.is_some() && !definer.is_ascii() && !names.are_utf8 {
                return Err(format!(
                    "the dump sets a character set other than UTF-8 here, in which --definer cannot write `{definer}`: take a \
                     definer in ASCII"
                ));
            }
            edits.extend(edit);
        }
        if !rules.engines.is_empty() {
            edits.extend(engine::edits(all, &rules.engines));
        }
        if !rules.databases.is_empty() {
            edits.extend(database_map::edits(all, scope, &rules.databases, names)?);
        }
    }
    Ok(apply(text, edits))
}

/// The same of an INSERT of literals, of which only the head can change.
pub(crate) fn rewrite_head(text: &[u8], dialect: &Dialect, rules: &Rewriting, names: Names<'_>) -> Option<Vec<u8>> {
    if rules.databases.is_empty() {
        return None;
    }
    // The name of the table stands before these.
    let is_end = |token: &Token<'_>| token.is_symbol(b"(") || token.is_word(b"VALUES") || token.is_word(b"VALUE");
    let head: Vec<Token<'_>> = tokens(text, dialect).take_while(|token| !is_end(token)).collect();
    apply(text, database_map::edit_of_head(&head, &rules.databases, names.folds_case).into_iter().collect())
}

/// The table that an INSERT or REPLACE of literals names.
pub(crate) fn insert_target(text: &[u8], dialect: &Dialect) -> Option<NamedTable> {
    let mut rest = tokens(text, dialect);
    let is_replace = rest.next()?.is_word(b"REPLACE");
    let head = insert_head(is_replace, rest)?;
    Some(NamedTable { schema: head.schema, table: head.table })
}

/// A text with its edits, which stand in any order and do not overlap.
fn apply(text: &[u8], mut edits: Vec<Edit>) -> Option<Vec<u8>> {
    if edits.is_empty() {
        return None;
    }
    edits.sort_by_key(|(range, _)| range.start);
    let mut changed = Vec::with_capacity(text.len());
    let mut from = 0;
    for (range, replacement) in edits {
        changed.extend_from_slice(&text[from..range.start]);
        changed.extend_from_slice(&replacement);
        from = range.end;
    }
    changed.extend_from_slice(&text[from..]);
    Some(changed)
}
