//! What a statement's place among others is made of: the keys that it takes, in the words of the core.
//!
//! A table's rows are one key, taken exclusively by whoever needs them in order, with an intention by whoever only adds
//! rows that do not touch each other, and shared by whoever looks a parent up. A table's definition is a row below it, so
//! that a definition can be read while rows go in, but not while it changes.

use hortator_core::{Key, Mode, WriteSet};
use hortator_mysql::catalog::TableName;

/// The index number of the one row that stands for a table's definition.
const DEFINITION: u32 = u32::MAX;

/// A schema that no server has: its tables stand for the schemas' lists of relations, and one for the catalog as a whole.
const CATALOG: &[u8] = b"\0catalog";
const WHOLE_CATALOG: &[u8] = b"\0";

/// One of the places at which keys of a table are built: as many tables at a time as there are places.
pub(crate) fn key_build(place: usize) -> Key {
    Key::row(CATALOG, WHOLE_CATALOG, 0, &place.to_be_bytes())
}

/// A table's rows.
pub(crate) fn table(name: &TableName) -> Key {
    Key::table(&name.schema, &name.table)
}

fn definition(name: &TableName) -> Key {
    Key::row(&name.schema, &name.table, DEFINITION, b"")
}

fn catalog() -> Key {
    Key::table(CATALOG, WHOLE_CATALOG)
}

fn relations_of(schema: &[u8]) -> Key {
    Key::table(CATALOG, schema)
}

/// The commit_queue in which a table's chunks commit.
pub(crate) fn commit_queue(name: &TableName) -> Key {
    table(name)
}

/// Rows for a table. `in_order`: after all before and before all behind; else beside others of its kind. `parents` are
/// the tables that are looked into for each row.
pub(crate) fn rows(name: &TableName, in_order: bool, parents: &[TableName]) -> WriteSet {
    let mut write_set = WriteSet::new();
    write_set.add(table(name), if in_order { Mode::Exclusive } else { Mode::IntentionExclusive });
    for parent in parents.iter().filter(|parent| *parent != name) {
        write_set.add(table(parent), Mode::Shared);
    }
    write_set
}

/// A change of tables' definitions that reads others' definitions, and their rows where `reads_rows`.
pub(crate) fn define(tables: &[TableName], references: &[TableName], reads_rows: bool) -> WriteSet {
    let mut write_set = WriteSet::new().with(catalog(), Mode::IntentionExclusive);
    for name in tables {
        write_set.add(relations_of(&name.schema), Mode::IntentionExclusive);
        write_set.add(table(name), Mode::Exclusive);
    }
    for name in references.iter().filter(|name| !tables.contains(name)) {
        if reads_rows {
            write_set.add(table(name), Mode::Shared);
        } else {
            write_set.add(definition(name), Mode::RowShared);
        }
    }
    write_set
}

/// A change of the catalog: after all definitions under way, and after all that is done to these tables.
pub(crate) fn catalog_change(tables: &[TableName]) -> WriteSet {
    let mut write_set = WriteSet::new().with(catalog(), Mode::Exclusive);
    for name in tables {
        write_set.add(table(name), Mode::Exclusive);
    }
    write_set
}

/// A new schema, or looking at its list of relations: after all definitions under way in it.
pub(crate) fn schema(name: &[u8]) -> WriteSet {
    WriteSet::new().with(relations_of(name), Mode::Exclusive)
}

/// Looking at a table's definition.
pub(crate) fn look(name: &TableName) -> WriteSet {
    WriteSet::new().with(definition(name), Mode::RowShared)
}
