//! CREATE, DROP, ALTER and RENAME: what is there behind them, by name.

use hortator_mysql::catalog::TableName;

use super::name_context::{Name, NameContext, name_at, names_at, pass};
use super::{Expectations, Kind, Object, Relation, RelationKind};
use crate::lexer::{Location, Token, Tokens};
use crate::rows;

/// Tokens between CREATE and what it makes: OR REPLACE, DEFINER, ALGORITHM …
const CLAUSES_LIMIT: usize = 40;

/// What CREATE and DROP name, by its word.
const WORDS: [(&[u8], What); 11] = [
    (b"TABLE", What::Relation(RelationKind::Table)),
    (b"VIEW", What::Relation(RelationKind::View)),
    (b"SEQUENCE", What::Relation(RelationKind::Sequence)),
    (b"TRIGGER", What::Object(Kind::Trigger)),
    (b"PROCEDURE", What::Object(Kind::Procedure)),
    (b"FUNCTION", What::Object(Kind::Function)),
    (b"PACKAGE", What::Object(Kind::Package)),
    (b"EVENT", What::Object(Kind::Event)),
    (b"DATABASE", What::Object(Kind::Schema)),
    (b"SCHEMA", What::Object(Kind::Schema)),
    (b"INDEX", What::Index),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Relation(RelationKind),
    Object(Kind),
    Index,
}

/// Words before what a statement is about.
#[derive(Default)]
struct Clauses {
    or_replace: bool,
    is_temporary: bool,
    ignores: bool,
}

/// Passes the clauses of CREATE, DROP or ALTER up to the word that says what it is about.
fn what(rest: &mut Tokens<'_>) -> Option<(What, Clauses)> {
    let mut clauses = Clauses::default();
    for token in rest.by_ref().take(CLAUSES_LIMIT) {
        clauses.or_replace |= token.is_word(b"REPLACE");
        clauses.is_temporary |= token.is_word(b"TEMPORARY");
        clauses.ignores |= token.is_word(b"IGNORE");
        if token.is_word(b"USER") || token.is_word(b"ROLE") || token.is_word(b"SERVER") {
            return None;
        }
        if let Some((_, what)) = WORDS.iter().find(|(word, _)| token.is_word(word)) {
            return Some((*what, clauses));
        }
    }
    None
}

impl Expectations {
    pub(super) fn create(&mut self, mut rest: Tokens<'_>, context: &NameContext, location: &Location) {
        let Some((what, clauses)) = what(&mut rest) else { return };
        let body = what == What::Object(Kind::Package) && pass(&mut rest, &[b"BODY"]);
        let if_not_exists = pass(&mut rest, &[b"IF", b"NOT", b"EXISTS"]);
        let Some(name) = name_at(&mut rest) else { return };
        match what {
            What::Relation(kind) => {
                let Some(name) = context.table(name) else { return };
                let kind = self.copied_kind(rest.clone(), context).unwrap_or(kind);
                self.create_relation(&name, kind, &clauses, if_not_exists, rest, location);
            }
            What::Index => {
                let table = rest.find(|token| token.is_word(b"ON")).and_then(|_| name_at(&mut rest));
                if let Some(table) = table.and_then(|table| context.table(table)) {
                    self.relation(&table).keys.insert(name.name);
                }
            }
            What::Object(Kind::Schema) => {
                if clauses.or_replace {
                    self.drop_schema(&name.name);
                }
                if let Some(schema) = context.schema(name.name) {
                    self.add(Kind::Schema, schema, Vec::new(), None);
                }
            }
            What::Object(Kind::Trigger) => {
                let table = rest.find(|token| token.is_word(b"ON")).and_then(|_| name_at(&mut rest));
                let Some(table) = table.and_then(|table| context.table(table)) else { return };
                self.relation(&table).has_triggers = true;
                self.add(Kind::Trigger, table.schema.clone(), name.name, Some(table));
            }
            // A function of a library belongs to no schema.
            What::Object(Kind::Function) if rest.clone().any(|token| token.is_word(b"SONAME")) => {}
            What::Object(kind) => {
                let kind = if body { Kind::PackageBody } else { kind };
                if let Some((schema, name)) = context.object(name) {
                    self.add(kind, schema, name, None);
                }
            }
        }
    }

    /// What CREATE TABLE … LIKE makes: a copy of a sequence is a sequence.
    fn copied_kind(&self, mut rest: Tokens<'_>, context: &NameContext) -> Option<RelationKind> {
        let first = rest.next().filter(|token| token.is_symbol(b"(") || token.is_word(b"LIKE"))?;
        if first.is_symbol(b"(") && !rest.next()?.is_word(b"LIKE") {
            return None;
        }
        let source = context.table(name_at(&mut rest)?)?;
        self.relations.get(&source).map(|source| source.kind).filter(|kind| *kind == RelationKind::Sequence)
    }

    fn create_relation(
        &mut self,
        name: &TableName,
        kind: RelationKind,
        clauses: &Clauses,
        if_not_exists: bool,
        rest: Tokens<'_>,
        location: &Location,
    ) {
        self.check_room();
        let known = self.relations.get(name);
        if clauses.is_temporary {
            match self.relations.get_mut(name) {
                Some(known) => {
                    known
                        .do_not_count(|| format!("a temporary table has the same name from line {} on", location.line));
                }
                None => {
                    let temporary = Relation { is_made: false, ..Relation::made(RelationKind::Temporary) };
                    self.relations.insert(name.clone(), temporary);
                }
            }
            return;
        }
        if if_not_exists && known.is_none_or(|known| !known.is_dropped) {
            if known.is_none() {
                let mut relation = Relation::found();
                relation.kind = kind;
                relation.is_made = true;
                relation.not_counted = Some("CREATE … IF NOT EXISTS: the table may have had rows".to_owned());
                self.relations.insert(name.clone(), relation);
            }
            return;
        }
        let mut relation = Relation::made(kind);
        if known.is_some_and(|known| known.has_rows) {
            relation.has_rows = true;
            relation.do_not_count(|| format!("created again at line {}, after it received rows", location.line));
        }
        if kind == RelationKind::Table {
            if rest.clone().any(|token| token.is_word(b"SELECT")) {
                relation.do_not_count(|| format!("CREATE TABLE … SELECT at line {}", location.line));
            }
            read_keys(rest, &mut relation);
        }
        self.relations.insert(name.clone(), relation);
    }

    fn add(&mut self, kind: Kind, schema: Vec<u8>, name: Vec<u8>, table: Option<TableName>) {
        self.check_room();
        self.objects.insert((kind, schema, name), Object { table, touched_by: None });
    }

    pub(super) fn drop(&mut self, mut rest: Tokens<'_>, context: &NameContext) {
        let Some((what, clauses)) = what(&mut rest) else { return };
        let body = what == What::Object(Kind::Package) && pass(&mut rest, &[b"BODY"]);
        pass(&mut rest, &[b"IF", b"EXISTS"]);
        match what {
            What::Relation(kind) => {
                for name in names_at(&mut rest) {
                    if let Some(name) = context.table(name) {
                        self.drop_relation(&name, kind, clauses.is_temporary);
                    }
                }
            }
            What::Index => {
                let Some(name) = name_at(&mut rest) else { return };
                let table = rest.find(|token| token.is_word(b"ON")).and_then(|_| name_at(&mut rest));
                if let Some(table) = table.and_then(|table| context.table(table)) {
                    forget(&mut self.relation(&table).keys, &name.name);
                }
            }
            What::Object(Kind::Schema) => {
                if let Some(name) = name_at(&mut rest) {
                    self.drop_schema(&name.name);
                }
            }
            What::Object(kind) => {
                let kind = if body { Kind::PackageBody } else { kind };
                let Some((schema, name)) = name_at(&mut rest).and_then(|name| context.object(name)) else { return };
                let is_it = |key: &(Kind, Vec<u8>, Vec<u8>)| {
                    let of_package = kind == Kind::Package && key.0 == Kind::PackageBody;
                    (key.0 == kind || of_package) && key.1 == schema && key.2.eq_ignore_ascii_case(&name)
                };
                self.objects.retain(|key, _| !is_it(key));
            }
        }
    }

    fn drop_relation(&mut self, name: &TableName, kind: RelationKind, is_temporary: bool) {
        let is_other = self.relations.get(name).is_some_and(|known| {
            let is_view = known.kind == RelationKind::View;
            (kind == RelationKind::View) != is_view && !known.is_dropped
        });
        if is_temporary || is_other {
            return;
        }
        let relation = self.relation(name);
        let has_rows = relation.has_rows;
        *relation = Relation { is_dropped: true, has_rows, kind, ..Relation::found() };
        self.objects.retain(|_, object| object.table.as_ref() != Some(name));
    }

    fn drop_schema(&mut self, schema: &[u8]) {
        self.objects.retain(|(_, of, _), _| of != schema);
        for (name, relation) in &mut self.relations {
            if name.schema == schema {
                let has_rows = relation.has_rows;
                *relation = Relation { is_dropped: true, has_rows, ..Relation::found() };
            }
        }
    }

    pub(super) fn rename(&mut self, mut rest: Tokens<'_>, context: &NameContext, location: &Location) {
        if !(pass(&mut rest, &[b"TABLE"]) || pass(&mut rest, &[b"TABLES"])) {
            return;
        }
        pass(&mut rest, &[b"IF", b"EXISTS"]);
        loop {
            let Some(from) = name_at(&mut rest) else { return };
            // WAIT n, NOWAIT
            let Some(_) = rest.find(|token| token.is_word(b"TO")) else { return };
            let Some(to) = name_at(&mut rest) else { return };
            self.rename_relation(from, to, context, location);
            if !rest.next().is_some_and(|token| token.is_symbol(b",")) {
                return;
            }
        }
    }

    fn rename_relation(&mut self, from: Name, to: Name, context: &NameContext, location: &Location) {
        let (Some(from), Some(to)) = (context.table(from), context.table(to)) else { return };
        let old = self.relation(&from);
        let mut moved = old.clone();
        *old = Relation { is_dropped: true, has_rows: old.has_rows, ..Relation::found() };
        moved.do_not_count(|| format!("renamed at line {}", location.line));
        self.relations.insert(to.clone(), moved);
        let triggers = self.objects.values_mut().filter_map(|object| object.table.as_mut());
        triggers.filter(|table| **table == from).for_each(|table| *table = to.clone());
    }

    pub(super) fn alter(&mut self, mut rest: Tokens<'_>, context: &NameContext, location: &Location) {
        let Some((what, clauses)) = what(&mut rest) else { return };
        pass(&mut rest, &[b"IF", b"EXISTS"]);
        let Some(name) = name_at(&mut rest) else { return };
        match what {
            What::Relation(RelationKind::Table) => {
                if let Some(table) = context.table(name) {
                    if clauses.ignores {
                        self.relation(&table).do_not_count(|| format!("ALTER IGNORE TABLE at line {}", location.line));
                    }
                    self.alter_table(&table, rest, context, location);
                }
            }
            What::Object(Kind::Event) if rest.any(|token| token.is_word(b"RENAME")) => {
                if let Some((schema, name)) = context.object(name) {
                    self.objects.remove(&(Kind::Event, schema, name));
                }
            }
            _ => {}
        }
    }

    fn alter_table(&mut self, table: &TableName, rest: Tokens<'_>, context: &NameContext, location: &Location) {
        let mut renamed = None;
        let relation = self.relation(table);
        for action in elements(rest, 0) {
            let word =
                |index: usize, word: &[u8]| action.get(index).is_some_and(|token: &Token<'_>| token.is_word(word));
            let name = |index: usize| action.get(index).and_then(rows::name);
            let is_key = |index: usize| word(index, b"KEY") || word(index, b"INDEX");
            if word(0, b"ADD") {
                read_key(&action[1..], relation);
            } else if word(0, b"DROP") && is_key(1) {
                let at = if word(2, b"IF") { 4 } else { 2 };
                if let Some(name) = name(at) {
                    forget(&mut relation.keys, &name);
                }
            } else if word(0, b"DROP") && word(1, b"PRIMARY") {
                forget(&mut relation.keys, b"PRIMARY");
            } else if word(0, b"DROP") && (word(1, b"FOREIGN") || word(1, b"CONSTRAINT")) {
                let at = if word(1, b"FOREIGN") { 3 } else { 2 };
                let at = if word(at, b"IF") { at + 2 } else { at };
                if let Some(name) = name(at) {
                    forget(&mut relation.foreign_keys, &name);
                    forget(&mut relation.keys, &name);
                }
            } else if word(0, b"RENAME") && is_key(1) {
                if let (Some(from), Some(to)) = (name(2), name(4)) {
                    forget(&mut relation.keys, &from);
                    relation.keys.insert(to);
                }
            } else if word(0, b"RENAME") && !word(1, b"COLUMN") {
                let at = if word(1, b"TO") || word(1, b"AS") { 2 } else { 1 };
                let dotted = action.get(at + 1).is_some_and(|token| token.is_symbol(b"."));
                renamed = match dotted {
                    true => name(at).zip(name(at + 2)).map(|(schema, name)| Name { schema: Some(schema), name }),
                    false => name(at).map(|name| Name { schema: None, name }),
                };
            } else if word(0, b"DROP") && !word(1, b"PARTITION") {
                // A column takes its keys along.
                relation.keys.clear();
            } else if [b"DROP".as_slice(), b"TRUNCATE", b"EXCHANGE", b"IMPORT", b"DISCARD"]
                .iter()
                .any(|verb| word(0, verb))
                || (word(0, b"CONVERT") && !word(1, b"TO"))
            {
                relation.do_not_count(|| format!("ALTER TABLE at line {}", location.line));
            }
        }
        if let Some(to) = renamed {
            let from = Name { schema: Some(table.schema.clone()), name: table.table.clone() };
            self.rename_relation(from, to, context, location);
        }
    }
}

/// Takes a name out, in any case.
fn forget(names: &mut std::collections::BTreeSet<Vec<u8>>, name: &[u8]) {
    names.retain(|known| !known.eq_ignore_ascii_case(name));
}

/// The keys between the brackets of a CREATE TABLE.
fn read_keys(mut rest: Tokens<'_>, relation: &mut Relation) {
    if rest.next().is_some_and(|token| token.is_symbol(b"(")) {
        for element in elements(rest, 1) {
            read_key(&element, relation);
        }
    }
}

/// First tokens of each element between commas, down to the closing bracket at the depth given (or the end, at 0).
fn elements(rest: Tokens<'_>, depth: usize) -> Vec<Vec<Token<'_>>> {
    /// None of the forms that are read is longer up to its last name.
    const ELEMENT_TOKENS: usize = 12;
    let mut found = vec![Vec::new()];
    let mut open = depth;
    for token in rest {
        if token.is_symbol(b"(") {
            open += 1;
        } else if token.is_symbol(b")") {
            open = open.saturating_sub(1);
            if depth > 0 && open < depth {
                break;
            }
        } else if token.is_symbol(b",") && open == depth {
            found.push(Vec::new());
            continue;
        }
        if let Some(element) = found.last_mut().filter(|element| element.len() < ELEMENT_TOKENS) {
            element.push(token);
        }
    }
    found
}

/// `[CONSTRAINT [name]] {PRIMARY KEY | [UNIQUE|FULLTEXT|SPATIAL] [KEY|INDEX] [IF NOT EXISTS] [name] | FOREIGN KEY …}`; a
/// key without a name gets one from the server, and is not expected by name.
fn read_key(element: &[Token<'_>], relation: &mut Relation) {
    let word = |index: usize, word: &[u8]| element.get(index).is_some_and(|token| token.is_word(word));
    let mut at = 0;
    let mut constraint = None;
    if word(at, b"CONSTRAINT") {
        at += 1;
        if ![b"PRIMARY".as_slice(), b"UNIQUE", b"FOREIGN", b"CHECK"].iter().any(|kind| word(at, kind)) {
            at += if word(at, b"IF") { 3 } else { 0 };
            constraint = element.get(at).and_then(rows::name);
            at += 1;
        }
    }
    if word(at, b"PRIMARY") {
        relation.keys.insert(b"PRIMARY".to_vec());
        return;
    }
    if word(at, b"FOREIGN") {
        relation.foreign_keys.extend(constraint);
        return;
    }
    let is_special = [b"UNIQUE".as_slice(), b"FULLTEXT", b"SPATIAL"].iter().any(|kind| word(at, kind));
    at += usize::from(is_special);
    let has_key = word(at, b"KEY") || word(at, b"INDEX");
    at += usize::from(has_key);
    if !is_special && !has_key {
        // A column that is the primary key by itself.
        if (1..element.len()).any(|at| word(at, b"PRIMARY") && word(at + 1, b"KEY")) {
            relation.keys.insert(b"PRIMARY".to_vec());
        }
        return;
    }
    at += if word(at, b"IF") { 3 } else { 0 };
    let is_named = element.get(at).is_some_and(|token| !token.is_symbol(b"(")) && !word(at, b"USING");
    let name = if is_named { element.get(at).and_then(rows::name) } else { constraint };
    relation.keys.extend(name);
}
