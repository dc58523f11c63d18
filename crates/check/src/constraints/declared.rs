//! The declared constraints: foreign keys and unique keys, as the server lists them.

use std::collections::{BTreeMap, BTreeSet};

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error, quote_string};

/// A constraint that can be validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// Every row has its parent.
    ForeignKey(ForeignKey),
    /// No two rows have the same values.
    Unique(UniqueKey),
}

/// A foreign key. A row with NULL in any of the columns has no reference (MATCH SIMPLE, the only kind in servers).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its name, unique within the child's schema.
    pub name: Vec<u8>,
    /// The referencing table.
    pub child: TableName,
    /// Its columns.
    pub columns: Vec<Vec<u8>>,
    /// The referenced table.
    pub parent: TableName,
    /// The referenced columns, in the order of `columns`.
    pub parent_columns: Vec<Vec<u8>>,
}

/// A unique key. Rows with NULL in any of the columns are distinct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueKey {
    /// The table.
    pub table: TableName,
    /// The key's name; `PRIMARY` for the primary key.
    pub name: Vec<u8>,
    /// Its columns, each with the number of significant characters (bytes for binary columns), if not all are
    /// significant.
    pub columns: Vec<(Vec<u8>, Option<u64>)>,
}

/// The selection of constraints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The constraints of these tables.
    pub of: BTreeSet<TableName>,
    /// Foreign keys that reference these tables.
    pub to: BTreeSet<TableName>,
    /// All tables of these schemas, and foreign keys that reference any of them.
    pub schemas: BTreeSet<Vec<u8>>,
}

impl Scope {
    /// All constraints of one schema, and all foreign keys that reference it.
    #[must_use]
    pub fn schema(name: impl Into<Vec<u8>>) -> Self {
        Self { schemas: BTreeSet::from([name.into()]), ..Self::default() }
    }

    fn has(&self, key: &ForeignKey) -> bool {
        self.of.contains(&key.child)
            || self.to.contains(&key.parent)
            || self.schemas.contains(&key.child.schema)
            || self.schemas.contains(&key.parent.schema)
    }

    /// The schemas of tables that may have constraints in the scope; `None` if any may.
    fn schemas_of(&self) -> Option<BTreeSet<&Vec<u8>>> {
        let only_of = self.to.is_empty() && self.schemas.is_empty();
        only_of.then(|| self.of.iter().map(|table| &table.schema).collect())
    }
}

/// The foreign keys in scope that are visible to this account, by child and name.
///
/// # Errors
/// Any error of the server or the connection.
pub fn foreign_keys(connection: &mut Connection, scope: &Scope) -> Result<Vec<ForeignKey>, Error> {
    let mut query = b"SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME, REFERENCED_TABLE_SCHEMA, \
                      REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE \
                      WHERE REFERENCED_TABLE_NAME IS NOT NULL"
        .to_vec();
    restrict(&mut query, scope.schemas_of());
    query.extend_from_slice(b" ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION");
    // By exact bytes: the server compares names in a collation, and two tables may differ in case only.
    let mut found: BTreeMap<(TableName, Vec<u8>), ForeignKey> = BTreeMap::new();
    for row in connection.fetch(&query)? {
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || row.next().unwrap_or_default();
        let child = TableName { schema: next(), table: next() };
        let (name, column) = (next(), next());
        let parent = TableName { schema: next(), table: next() };
        let parent_column = next();
        let key = found.entry((child.clone(), name.clone())).or_insert_with(|| ForeignKey {
            name,
            child,
            columns: Vec::new(),
            parent,
            parent_columns: Vec::new(),
        });
        key.columns.push(column);
        key.parent_columns.push(parent_column);
    }
    Ok(found.into_values().filter(|key| scope.has(key)).collect())
}

/// The unique keys, including primary keys, of the tables in scope that are visible to this account.
///
/// # Errors
/// Any error of the server or the connection.
pub fn unique_keys(connection: &mut Connection, scope: &Scope) -> Result<Vec<UniqueKey>, Error> {
    let schemas = scope.of.iter().map(|table| &table.schema).chain(&scope.schemas).collect();
    let mut query = b"SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME, SUB_PART \
                      FROM information_schema.STATISTICS WHERE NON_UNIQUE = 0"
        .to_vec();
    restrict(&mut query, Some(schemas));
    query.extend_from_slice(b" ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX");
    let mut found: BTreeMap<(TableName, Vec<u8>), UniqueKey> = BTreeMap::new();
    for mut row in connection.fetch(&query)? {
        let part = row.pop().flatten().and_then(|part| std::str::from_utf8(&part).ok()?.parse().ok());
        let mut row = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || row.next().unwrap_or_default();
        let table = TableName { schema: next(), table: next() };
        let (name, column) = (next(), next());
        let key = found.entry((table.clone(), name.clone())).or_insert_with(|| UniqueKey {
            table,
            name,
            columns: Vec::new(),
        });
        key.columns.push((column, part));
    }
    let has = |key: &UniqueKey| scope.of.contains(&key.table) || scope.schemas.contains(&key.table.schema);
    Ok(found.into_values().filter(has).collect())
}

fn restrict(query: &mut Vec<u8>, schemas: Option<BTreeSet<&Vec<u8>>>) {
    let Some(schemas) = schemas else { return };
    let names: Vec<Vec<u8>> = schemas.into_iter().map(quote_string).collect();
    // An empty list would be a syntax error; no schema has an empty name.
    let list = if names.is_empty() { b"''".to_vec() } else { names.join(&b", "[..]) };
    query.extend_from_slice(b" AND TABLE_SCHEMA IN (");
    query.extend_from_slice(&list);
    query.push(b')');
}

/// The parent's key, which the server needs to check a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParentKey {
    /// The parent table does not exist.
    NoTable,
    /// No index of the parent begins with the referenced columns, complete and in order.
    NoKey,
    /// The key exists.
    There,
}

pub(super) fn parent_key(connection: &mut Connection, key: &ForeignKey) -> Result<ParentKey, Error> {
    let condition = table_condition(&key.parent);
    let tables = connection.fetch(&[b"SELECT 1 FROM information_schema.TABLES WHERE ", &condition[..]].concat())?;
    if tables.is_empty() {
        return Ok(ParentKey::NoTable);
    }
    let query = [
        b"SELECT INDEX_NAME, COLUMN_NAME, SUB_PART FROM information_schema.STATISTICS WHERE INDEX_TYPE = 'BTREE' AND ",
        &condition[..],
        b" ORDER BY INDEX_NAME, SEQ_IN_INDEX",
    ]
    .concat();
    let mut indexes: BTreeMap<Vec<u8>, Vec<(Vec<u8>, bool)>> = BTreeMap::new();
    for row in connection.fetch(&query)? {
        let [name, column, part] = row.try_into().unwrap_or_default();
        indexes.entry(name.unwrap_or_default()).or_default().push((column.unwrap_or_default(), part.is_none()));
    }
    let begins = |index: &Vec<(Vec<u8>, bool)>| {
        let mut pairs = index.iter().zip(&key.parent_columns);
        index.len() >= key.parent_columns.len()
            && pairs.all(|((column, is_whole), wanted)| *is_whole && same_name(column, wanted))
    };
    Ok(if indexes.values().any(begins) { ParentKey::There } else { ParentKey::NoKey })
}

/// Column names are equal in any case.
fn same_name(one: &[u8], other: &[u8]) -> bool {
    String::from_utf8_lossy(one).to_lowercase() == String::from_utf8_lossy(other).to_lowercase()
}

/// The primary key's columns of a table; empty if it has none.
pub(super) fn primary_key(connection: &mut Connection, table: &TableName) -> Result<Vec<Vec<u8>>, Error> {
    let query = [
        b"SELECT COLUMN_NAME FROM information_schema.STATISTICS WHERE INDEX_NAME = 'PRIMARY' AND ",
        &table_condition(table)[..],
        b" ORDER BY SEQ_IN_INDEX",
    ]
    .concat();
    Ok(connection.fetch(&query)?.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
}

/// The condition for one table in `information_schema`. The server compares names there in a case-insensitive
/// collation, even where tables may differ in case only.
pub(super) fn table_condition(table: &TableName) -> Vec<u8> {
    let (schema, name) = (quote_string(&table.schema), quote_string(&table.table));
    [
        b"TABLE_SCHEMA = ",
        &schema[..],
        b" AND TABLE_NAME = ",
        &name,
        b" AND (@@lower_case_table_names <> 0 OR BINARY TABLE_SCHEMA = BINARY ",
        &schema,
        b" AND BINARY TABLE_NAME = BINARY ",
        &name,
        b")",
    ]
    .concat()
}
