//! The unique and foreign keys of a table of the target.

use std::collections::BTreeMap;

use hortator_core::Key;

/// A column of a unique key, as the server lists it.
#[derive(Clone, Debug)]
pub(crate) struct UniqueColumn {
    /// The key's name.
    pub(crate) key: String,
    /// The column's name.
    pub(crate) column: String,
    /// Its place among the table's columns, from 0.
    pub(crate) index: usize,
}

/// A column of a foreign key, as the server lists it.
#[derive(Clone, Debug)]
pub(crate) struct ForeignColumn {
    /// The constraint's name.
    pub(crate) constraint: String,
    /// The column's place among the table's columns, from 0.
    pub(crate) index: usize,
    /// The schema, the table and the column that it refers to.
    pub(crate) parent: [String; 3],
}

/// Names of a unique key's columns, and the places where their values stand.
type NamedColumns = Vec<(String, usize)>;

/// Columns whose values together are a key, in the order of the names that they have in the table with the unique key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KeyColumns {
    /// The same for a unique key and for what refers to it.
    pub(super) number: u32,
    /// NamedColumns among the table's columns, from 0.
    pub(super) indexes: Vec<usize>,
}

impl KeyColumns {
    fn new(mut columns: NamedColumns) -> KeyColumns {
        columns.iter_mut().for_each(|(name, _)| *name = name.to_lowercase());
        columns.sort();
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let number = crc32fast::hash(names.join("\0").as_bytes());
        KeyColumns { number, indexes: columns.into_iter().map(|(_, index)| index).collect() }
    }
}

/// The keys of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TableKeys {
    /// Each can have a row by its values once.
    pub(super) unique: Vec<KeyColumns>,
    /// Rows of other tables that must exist.
    pub(super) references: Vec<(Key, KeyColumns)>,
    /// Columns up to the last one for which the target makes values if a row has none: they depend on the order of rows.
    pub(super) columns_with_made_values: usize,
}

impl TableKeys {
    /// From the columns of all keys.
    pub(crate) fn new(unique: Vec<UniqueColumn>, foreign: Vec<ForeignColumn>) -> TableKeys {
        let mut by_key: BTreeMap<String, NamedColumns> = BTreeMap::new();
        for UniqueColumn { key, column, index } in unique {
            by_key.entry(key).or_default().push((column, index));
        }
        let mut by_constraint: BTreeMap<String, ([String; 2], NamedColumns)> = BTreeMap::new();
        for ForeignColumn { constraint, index, parent: [schema, table, column] } in foreign {
            let entry = by_constraint.entry(constraint).or_insert_with(|| ([schema, table], Vec::new()));
            entry.1.push((column, index));
        }
        let reference = |([schema, table], columns): ([String; 2], _)| {
            (Key::table(schema.as_bytes(), table.as_bytes()), KeyColumns::new(columns))
        };
        TableKeys {
            unique: by_key.into_values().map(KeyColumns::new).collect(),
            references: by_constraint.into_values().map(reference).collect(),
            columns_with_made_values: 0,
        }
    }

    /// With so many columns up to the last one for which the target makes values.
    pub(crate) fn making_values_up_to(self, columns_with_made_values: usize) -> TableKeys {
        TableKeys { columns_with_made_values, ..self }
    }
}
