//! The objects on the server, compared with the expected objects.

use std::collections::{BTreeMap, BTreeSet};

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error, quote_identifier, quote_string};

use super::report::Findings;
use crate::expect::{Expectations, Kind, RelationKind};

/// Engines whose tables hold their own rows and nothing else.
const COUNTED_ENGINES: [&str; 8] = ["innodb", "myisam", "aria", "memory", "csv", "archive", "rocksdb", "ndbcluster"];

/// A table, view or sequence on the server.
#[derive(Debug)]
pub(super) struct FoundRelation {
    pub(super) kind: RelationKind,
    /// In lower case; empty for a view.
    pub(super) engine: String,
    /// The next value of its AUTO_INCREMENT column.
    pub(super) counter: Option<u64>,
    pub(super) triggers: Vec<Vec<u8>>,
    /// Whether past rows are kept.
    pub(super) is_versioned: bool,
    keys: BTreeSet<Vec<u8>>,
    /// The first columns of indexes.
    leading: Vec<Vec<u8>>,
    foreign_keys: Vec<Vec<u8>>,
}

impl FoundRelation {
    /// Whether its rows are its own.
    pub(super) fn holds_rows(&self) -> bool {
        COUNTED_ENGINES.contains(&self.engine.as_str())
    }

    /// Whether an index begins with this column.
    pub(super) fn leads(&self, column: &[u8]) -> bool {
        self.leading.iter().any(|leading| leading == column)
    }
}

/// All objects of some schemas.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    pub(super) relations: BTreeMap<TableName, FoundRelation>,
    /// By kind, schema and name in lower case.
    objects: BTreeSet<(Kind, Vec<u8>, Vec<u8>)>,
}

/// The schemas that the stream names.
pub(super) fn schemas(expectations: &Expectations) -> BTreeSet<Vec<u8>> {
    let of_relations = expectations.relations().keys().map(|name| name.schema.clone());
    let of_objects = expectations.objects().map(|(_, schema, _, _)| schema.to_vec());
    of_relations.chain(of_objects).collect()
}

/// Reads what is defined in these schemas.
pub(super) fn read(connection: &mut Connection, schemas: &BTreeSet<Vec<u8>>) -> Result<Inventory, Error> {
    let mut inventory = Inventory::default();
    if schemas.is_empty() {
        return Ok(inventory);
    }
    let list = schemas.iter().map(quote_string).collect::<Vec<_>>().join(&b", "[..]);
    let mut rows = |columns: &str, of: &str, schema: &str| -> Result<Vec<Vec<Vec<u8>>>, Error> {
        let query = format!("SELECT {columns} FROM information_schema.{of} WHERE {schema} IN (");
        let found = connection.fetch(&[query.as_bytes(), &list, b")"].concat())?;
        Ok(found.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect())
    };
    for row in rows("TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, AUTO_INCREMENT", "TABLES", "TABLE_SCHEMA")? {
        let [schema, table, kind, engine, counter] = fields(row);
        let found = FoundRelation {
            kind: match kind.as_slice() {
                b"VIEW" | b"SYSTEM VIEW" => RelationKind::View,
                b"SEQUENCE" => RelationKind::Sequence,
                _ => RelationKind::Table,
            },
            engine: String::from_utf8_lossy(&engine).to_ascii_lowercase(),
            counter: String::from_utf8_lossy(&counter).parse().ok(),
            triggers: Vec::new(),
            is_versioned: kind == b"SYSTEM VERSIONED",
            keys: BTreeSet::new(),
            leading: Vec::new(),
            foreign_keys: Vec::new(),
        };
        inventory.relations.insert(TableName { schema, table }, found);
    }
    let columns = "TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME";
    for row in rows(columns, "STATISTICS", "TABLE_SCHEMA")? {
        let [schema, table, key, place, column] = fields(row);
        if let Some(found) = inventory.relations.get_mut(&TableName { schema, table }) {
            found.keys.insert(key);
            if place == b"1" {
                found.leading.push(column);
            }
        }
    }
    let columns = "CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME";
    for row in rows(columns, "REFERENTIAL_CONSTRAINTS", "CONSTRAINT_SCHEMA")? {
        let [schema, table, key] = fields(row);
        if let Some(found) = inventory.relations.get_mut(&TableName { schema, table }) {
            found.foreign_keys.push(key);
        }
    }
    for row in rows("EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, TRIGGER_NAME", "TRIGGERS", "TRIGGER_SCHEMA")? {
        let [schema, table, name] = fields(row);
        inventory.objects.insert((Kind::Trigger, schema.clone(), name.to_ascii_lowercase()));
        if let Some(found) = inventory.relations.get_mut(&TableName { schema, table }) {
            found.triggers.push(name);
        }
    }
    for row in rows("ROUTINE_TYPE, ROUTINE_SCHEMA, ROUTINE_NAME", "ROUTINES", "ROUTINE_SCHEMA")? {
        let [kind, schema, name] = fields(row);
        let kind = match kind.as_slice() {
            b"PROCEDURE" => Kind::Procedure,
            b"FUNCTION" => Kind::Function,
            b"PACKAGE" => Kind::Package,
            _ => Kind::PackageBody,
        };
        inventory.objects.insert((kind, schema, name.to_ascii_lowercase()));
    }
    for row in rows("EVENT_SCHEMA, EVENT_NAME", "EVENTS", "EVENT_SCHEMA")? {
        let [schema, name] = fields(row);
        inventory.objects.insert((Kind::Event, schema, name.to_ascii_lowercase()));
    }
    for row in rows("SCHEMA_NAME", "SCHEMATA", "SCHEMA_NAME")? {
        let [schema] = fields(row);
        inventory.objects.insert((Kind::Schema, schema, Vec::new()));
    }
    Ok(inventory)
}

/// A row as so many fields; what is missing is empty.
fn fields<const COUNT: usize>(row: Vec<Vec<u8>>) -> [Vec<u8>; COUNT] {
    let mut values = row.into_iter();
    std::array::from_fn(|_| values.next().unwrap_or_default())
}

/// Compares the objects by name.
pub(super) fn compare(expectations: &Expectations, inventory: &Inventory, findings: &mut Findings) {
    for (name, expected) in expectations.relations().iter().filter(|(_, expected)| expected.is_made) {
        let found = inventory.relations.get(name).filter(|found| found.kind == expected.kind);
        let kind = match expected.kind {
            RelationKind::View => "view",
            RelationKind::Sequence => "sequence",
            RelationKind::Table | RelationKind::Temporary => "table",
        };
        let touched_by = expected.touched_by.as_deref();
        findings.named(kind, found.is_some(), touched_by, || name.to_string());
        let Some(found) = found else { continue };
        for key in &expected.keys {
            let is_there = has(&found.keys, key);
            findings.named("index", is_there, touched_by, || format!("{name}.{}", String::from_utf8_lossy(key)));
        }
        // Other engines read foreign keys and forget them, as the server has it.
        for key in expected.foreign_keys.iter().filter(|_| found.engine == "innodb") {
            let is_there = has(&found.foreign_keys, key);
            findings.named("foreign key", is_there, touched_by, || format!("{name}.{}", String::from_utf8_lossy(key)));
        }
    }
    for (kind, schema, name, touched_by) in expectations.objects() {
        let word = match kind {
            Kind::Schema => "database",
            Kind::Trigger => "trigger",
            Kind::Procedure => "procedure",
            Kind::Function => "function",
            Kind::Package => "package",
            Kind::PackageBody => "package body",
            Kind::Event => "event",
        };
        let is_there = inventory.objects.contains(&(kind, schema.to_vec(), name.to_ascii_lowercase()));
        findings.named(word, is_there, touched_by, || {
            let dot = if name.is_empty() { "" } else { "." };
            format!("{}{dot}{}", String::from_utf8_lossy(schema), String::from_utf8_lossy(name))
        });
    }
}

fn has<'a>(names: impl IntoIterator<Item = &'a Vec<u8>>, name: &[u8]) -> bool {
    names.into_iter().any(|found| found.eq_ignore_ascii_case(name))
}

/// Lets the server say whether views work.
pub(super) fn check_views(
    connection: &mut Connection,
    expectations: &Expectations,
    inventory: &Inventory,
    findings: &mut Findings,
) -> Result<(), Error> {
    let is_view = |name: &TableName| inventory.relations.get(name).is_some_and(|it| it.kind == RelationKind::View);
    for name in expectations.relations().keys().filter(|name| is_view(name)) {
        let place = [quote_identifier(&name.schema), quote_identifier(&name.table)].join(&b'.');
        let error = match connection.fetch(&[b"CHECK TABLE ".as_slice(), &place].concat()) {
            // Table, Op, Msg_type, Msg_text.
            Ok(rows) => rows.into_iter().find_map(|row| {
                let [_, _, kind, text] = fields(row.into_iter().map(Option::unwrap_or_default).collect());
                kind.eq_ignore_ascii_case(b"error").then(|| String::from_utf8_lossy(&text).into_owned())
            }),
            Err(Error::Server(refusal)) => Some(refusal.to_string()),
            Err(error) => return Err(error),
        };
        if let Some(error) = error {
            findings.problem(format!("CHECK TABLE reports an error for view {name}: {error}"));
        }
    }
    Ok(())
}
