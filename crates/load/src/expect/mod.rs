//! What a stream should leave behind: the tables, keys, views, triggers and routines that its statements name, and which
//! tables hold nothing but its rows.
//!
//! It goes by names, as the statements pass; nothing is asked of a server. What a statement may have done that its words do
//! not tell makes tables *not countable*, with the reason: better no figure than a wrong one.

mod definition;
mod name_context;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use hortator_mysql::catalog::TableName;

use crate::analysis::{StatementInfo, StatementKind, Trait};
use crate::lexer::{Dialect, Location, Tokens, tokens};
use crate::rows::{InsertVerb, insert_head};
pub(crate) use name_context::NameContext;
use name_context::{Name, name_at};

/// Names that are kept, of all kinds together.
const NAMES_LIMIT: usize = 200_000;

/// What is not a table, view or sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Schema,
    Trigger,
    Procedure,
    Function,
    Package,
    PackageBody,
    Event,
}

/// What stands where tables do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelationKind {
    Table,
    View,
    Sequence,
    /// Gone with the session.
    Temporary,
}

/// A table, view or sequence that the stream names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Relation {
    pub(crate) kind: RelationKind,
    /// Whether the stream made it, and it should be there at the end.
    pub(crate) is_made: bool,
    /// Why its rows are not those of the stream alone; `None` where they are.
    pub(crate) not_counted: Option<String>,
    /// What may have dropped or changed it, as its words do not tell.
    pub(crate) touched_by: Option<String>,
    /// Names of indexes that it should have.
    pub(crate) keys: BTreeSet<Vec<u8>>,
    /// Names of foreign keys that it should have.
    pub(crate) foreign_keys: BTreeSet<Vec<u8>>,
    is_dropped: bool,
    has_rows: bool,
    has_triggers: bool,
}

impl Relation {
    /// One that was there before the stream, as far as is known.
    fn found() -> Self {
        Self {
            kind: RelationKind::Table,
            is_made: false,
            not_counted: Some("the table existed before the load and may have had rows".to_owned()),
            touched_by: None,
            keys: BTreeSet::new(),
            foreign_keys: BTreeSet::new(),
            is_dropped: false,
            has_rows: false,
            has_triggers: false,
        }
    }

    fn made(kind: RelationKind) -> Self {
        Self { kind, is_made: true, not_counted: None, ..Self::found() }
    }

    fn do_not_count(&mut self, reason: impl FnOnce() -> String) {
        self.not_counted.get_or_insert_with(reason);
    }
}

/// Something that is no relation.
#[derive(Clone, Debug, Default)]
struct Object {
    /// The table of a trigger.
    table: Option<TableName>,
    touched_by: Option<String>,
}

/// What the statements so far should have left behind.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    relations: BTreeMap<TableName, Relation>,
    /// By kind, schema and name.
    objects: BTreeMap<(Kind, Vec<u8>, Vec<u8>), Object>,
    is_full: bool,
}

impl Expectations {
    /// Every table, view and sequence that was named.
    pub(crate) fn relations(&self) -> &BTreeMap<TableName, Relation> {
        &self.relations
    }

    /// Everything else that should be there, by kind, schema and name; and what may have changed that unseen.
    pub(crate) fn objects(&self) -> impl Iterator<Item = (Kind, &[u8], &[u8], Option<&str>)> {
        self.objects.iter().map(|((kind, schema, name), object)| {
            (*kind, schema.as_slice(), name.as_slice(), object.touched_by.as_deref())
        })
    }

    /// The stream ends inside of a transaction, which goes with its session.
    pub(crate) fn left_open(&mut self) {
        self.count_nothing(None, || "a transaction is open at the end of the dump".to_owned());
    }

    /// Something of the session has changed that no statement tells of: temporary tables, for one.
    pub(crate) fn session_changed(&mut self) {
        self.count_nothing(None, || "a routine that changed the session".to_owned());
    }

    /// Whether there were more names than are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Takes note of a statement that passes.
    pub(crate) fn statement(
        &mut self,
        text: &[u8],
        info: &StatementInfo,
        dialect: &Dialect,
        context: &NameContext,
        location: &Location,
    ) {
        let mut rest = tokens(text, dialect);
        let Some(first) = rest.next() else { return };
        let at = |word: &str| format!("{word} at line {}", location.line);
        if info.is(Trait::MayCallFunction) && !info.is(Trait::MayDoAnything) {
            self.count_nothing(None, || at("a function, which may write anywhere,"));
        }
        if info.is(Trait::SeveralStatements) {
            self.touch_all(&at("several statements in one text"));
        } else if first.is_word(b"INSERT") || first.is_word(b"REPLACE") {
            self.rows(text, dialect, context, location);
        } else if first.is_word(b"CREATE") {
            let is_exclusive = matches!(info.kind, StatementKind::Exclusive { .. });
            let fills = info.is(Trait::CreatesTable) && is_exclusive && info.copies.is_none();
            self.create(rest, context, location);
            if let Some(named) = info.tables.first().filter(|_| fills) {
                let name = Name { schema: named.schema.clone(), name: named.table.clone() };
                if let Some(name) = context.table(name) {
                    self.relation(&name).do_not_count(|| at("rows that come with its definition"));
                }
            }
        } else if first.is_word(b"DROP") {
            self.drop(rest, context);
        } else if first.is_word(b"ALTER") {
            self.alter(rest, context, location);
        } else if first.is_word(b"RENAME") {
            self.rename(rest, context, location);
        } else if first.is_word(b"TRUNCATE") {
            self.truncate(rest, context, location);
        } else if first.is_word(b"SET") {
            if rest.next().is_some_and(|second| second.is_word(b"STATEMENT")) {
                self.touch_all(&at("SET STATEMENT"));
            }
        } else if first.is_word(b"XA") {
            if rest.next().is_some_and(|second| second.is_word(b"ROLLBACK")) {
                self.count_nothing(None, || at("XA ROLLBACK"));
            }
        } else if !info.is(Trait::NoRows) && !info.is(Trait::UsesHandler) {
            let word = String::from_utf8_lossy(&text[first.offset..first.end]).to_ascii_uppercase();
            if info.is(Trait::WritesRows) {
                self.count_nothing(None, || at(&word));
            } else {
                self.touch_all(&at(&word));
            }
        } else if info.is(Trait::RollsBack) || first.is_word(b"ROLLBACK") {
            self.count_nothing(None, || at("ROLLBACK"));
        } else if info.is(Trait::EndsXa) {
            // By EXECUTE: whether it commits or rolls back is in the text that was prepared.
            self.count_nothing(None, || at("the end of an XA transaction"));
        }
    }

    /// Takes note of an INSERT or REPLACE. May be called again for the same statement.
    pub(crate) fn rows(&mut self, text: &[u8], dialect: &Dialect, context: &NameContext, location: &Location) {
        let mut rest = tokens(text, dialect);
        let replaces = rest.next().is_some_and(|first| first.is_word(b"REPLACE"));
        let at = |what: &str| format!("{what} at line {}", location.line);
        let name = insert_head(replaces, rest).and_then(|head| {
            let named = Name { schema: head.schema, name: head.table };
            Some((context.table(named)?, head.verb))
        });
        let Some((name, verb)) = name else {
            self.count_nothing(None, || at("INSERT into a table whose name cannot be resolved"));
            return;
        };
        let relation = self.relation(&name);
        relation.has_rows = true;
        let (kind, has_triggers) = (relation.kind, relation.has_triggers);
        if verb == InsertVerb::Replace {
            relation.do_not_count(|| at("REPLACE"));
        } else if tokens(text, dialect).any(|token| token.is_word(b"DUPLICATE")) {
            relation.do_not_count(|| at("INSERT … ON DUPLICATE KEY UPDATE"));
        }
        if verb == InsertVerb::Replace && context.checks_foreign_keys {
            self.count_nothing(Some(&name), || {
                at(&format!("REPLACE into {name}, which may delete rows that refer to it"))
            });
        }
        if has_triggers {
            self.count_nothing(Some(&name), || at(&format!("rows for {name}, whose triggers may write to any table")));
        }
        if kind == RelationKind::View {
            self.count_nothing(None, || at(&format!("rows through the view {name}")));
        }
    }

    /// Takes note of a statement that is done already, and whose rows nobody has counted.
    pub(crate) fn uncounted(&mut self, text: &[u8], dialect: &Dialect, context: &NameContext, location: &Location) {
        let mut rest = tokens(text, dialect);
        let Some(first) = rest.next() else { return };
        let replaces = first.is_word(b"REPLACE");
        if !replaces && !first.is_word(b"INSERT") {
            return;
        }
        let head = insert_head(replaces, rest);
        if let Some(name) = head.and_then(|head| context.table(Name { schema: head.schema, name: head.table })) {
            let line = location.line;
            self.relation(&name).do_not_count(|| format!("the load did not count the rows of line {line} by table"));
        }
    }

    /// Nothing that is known of now can be counted, but perhaps one table.
    fn count_nothing(&mut self, but: Option<&TableName>, reason: impl Fn() -> String) {
        for (name, relation) in &mut self.relations {
            if Some(name) != but {
                relation.do_not_count(&reason);
            }
        }
    }

    /// Anything may have happened to what is there.
    fn touch_all(&mut self, reason: &str) {
        self.count_nothing(None, || reason.to_owned());
        let relations = self.relations.values_mut().map(|relation| &mut relation.touched_by);
        let objects = self.objects.values_mut().map(|object| &mut object.touched_by);
        for touched_by in relations.chain(objects) {
            touched_by.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// A relation by name; what is not known was there before.
    fn relation(&mut self, name: &TableName) -> &mut Relation {
        self.check_room();
        self.relations.entry(name.clone()).or_insert_with(Relation::found)
    }

    /// Memory stays bounded: beyond the limit all is forgotten, and said so.
    fn check_room(&mut self) {
        let keys: usize = self.objects.len() + self.relations.len();
        if keys >= NAMES_LIMIT {
            self.is_full = true;
            self.relations.clear();
            self.objects.clear();
        }
    }

    fn truncate(&mut self, mut rest: Tokens<'_>, context: &NameContext, location: &Location) {
        if rest.clone().next().is_some_and(|token| token.is_word(b"TABLE")) {
            rest.next();
        }
        let Some(name) = name_at(&mut rest).and_then(|name| context.table(name)) else { return };
        let relation = self.relation(&name);
        if relation.has_rows {
            relation.do_not_count(|| format!("emptied at line {}", location.line));
        } else if relation.kind == RelationKind::Table && !relation.is_made {
            // It is empty now, whatever it held.
            relation.not_counted = None;
        }
    }
}
