//! Splits a table into key ranges that contain the same rows at both endpoints.
//!
//! The bounds of ranges are key values at the first endpoint, found by walking its index. Both endpoints get them as
//! literals that denote the stored value, in its own character set and collation. Only keys for which that is certain
//! are used.

use std::fmt::Write;
use std::ops::ControlFlow;

use hortator_mysql::{Column, Connection, Error, RowSink, quote_identifier};

use crate::definitions::{NamedRow, named_rows};
use crate::row_source::{RowSource, exactly, query_as_stored};

/// A unique key whose columns are never NULL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    index: Vec<u8>,
    columns: Vec<KeyColumn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KeyColumn {
    /// Quoted.
    name: Vec<u8>,
    literal: Literal,
}

/// How a value of a column is written as a literal.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Literal {
    /// As in the server's text.
    Number,
    /// In quotes.
    Quoted,
    /// As bytes with a character set and a collation.
    Text { charset: String, collation: String },
    /// As bytes.
    Bytes,
}

impl Literal {
    fn of(data_type: &str, charset: &str, collation: &str) -> Option<Self> {
        Some(match data_type {
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "year" => Self::Number,
            "date" | "datetime" | "timestamp" | "time" | "uuid" | "inet4" | "inet6" => Self::Quoted,
            "binary" | "varbinary" => Self::Bytes,
            "char" | "varchar" => Self::Text { charset: charset.to_owned(), collation: collation.to_owned() },
            // The text of FLOAT is not its value, ENUM and SET sort by number and compare as text, BIT has no text.
            _ => return None,
        })
    }

    fn write(&self, value: &[u8]) -> Vec<u8> {
        let hex = |value: &[u8]| {
            value.iter().fold(String::new(), |mut hex, byte| {
                // Writing to a String cannot fail.
                let _ = write!(hex, "{byte:02x}");
                hex
            })
        };
        match self {
            Self::Number => value.to_vec(),
            Self::Quoted => [b"'", value, b"'"].concat(),
            Self::Bytes => format!("X'{}'", hex(value)).into_bytes(),
            Self::Text { charset, collation } => {
                format!("_{charset} X'{}' COLLATE {collation}", hex(value)).into_bytes()
            }
        }
    }
}

impl Key {
    /// The same without a column.
    pub(super) fn without(mut self, column: &str) -> Self {
        let name = quote_identifier(column);
        self.columns.retain(|column| !column.name.eq_ignore_ascii_case(&name));
        self
    }

    /// Whether both sort rows by the same columns.
    pub(super) fn has_columns_of(&self, other: &Self) -> bool {
        self.columns == other.columns
    }
}

/// The bound of a range: a literal for each column of the key.
type End = Vec<Vec<u8>>;

/// The rows after one bound, up to and including another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    after: Option<End>,
    upto: Option<End>,
}

/// The keys by which a table can be split, in the server's order.
pub(super) fn keys(connection: &mut Connection, schema: &[u8], table: &[u8]) -> Result<Vec<Key>, Error> {
    let list = [
        b"SELECT COLUMN_NAME, LOWER(DATA_TYPE), COALESCE(CHARACTER_SET_NAME, ''), COALESCE(COLLATION_NAME, '') \
          FROM information_schema.COLUMNS WHERE "
            .as_slice(),
        &exactly("TABLE_SCHEMA", schema),
        b" AND ",
        &exactly("TABLE_NAME", table),
    ]
    .concat();
    let columns: Vec<Vec<String>> = connection.fetch(&list)?.into_iter().map(|row| texts(row.into_iter())).collect();
    let show = [b"SHOW INDEX FROM ".as_slice(), &quote_identifier(schema), b".", &quote_identifier(table)].concat();
    let mut keys: Vec<(Key, bool)> = Vec::new();
    for part in named_rows(connection, &show)? {
        let name = value(&part, "Column_name");
        let column = columns.iter().find(|column| column[0] == name);
        let literal = column.and_then(|column| Literal::of(&column[1], &column[2], &column[3]));
        let is_plain = value(&part, "Non_unique") == "0"
            && value(&part, "Sub_part").is_empty()
            && value(&part, "Null") != "YES"
            && value(&part, "Index_type") == "BTREE"
            && value(&part, "Ignored") != "YES"
            && value(&part, "Visible") != "NO";
        let index = quote_identifier(value(&part, "Key_name"));
        if keys.last().is_none_or(|(key, _)| key.index != index) {
            keys.push((Key { index, columns: Vec::new() }, true));
        }
        let Some((key, is_usable)) = keys.last_mut() else { continue };
        match literal {
            Some(literal) if is_plain => key.columns.push(KeyColumn { name: quote_identifier(name), literal }),
            _ => *is_usable = false,
        }
    }
    Ok(keys.into_iter().filter_map(|(key, is_usable)| is_usable.then_some(key)).collect())
}

fn texts(values: impl Iterator<Item = Option<Vec<u8>>>) -> Vec<String> {
    values.map(|value| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned()).collect()
}

/// A column of `SHOW INDEX`; empty if it is NULL or this server has no such column.
fn value(row: &NamedRow, name: &str) -> String {
    let found = row.iter().find(|(column, _)| column == name.as_bytes()).and_then(|(_, value)| value.clone());
    String::from_utf8_lossy(&found.unwrap_or_default()).into_owned()
}

impl Range {
    /// The start of the range after this one; `None` for the last range.
    pub(super) fn next(&self) -> Option<Self> {
        let end = self.upto.clone()?;
        Some(Self { after: Some(end), upto: None })
    }

    /// Sets the end of the range so that it holds at most `rows` rows at this endpoint; no end if it holds fewer.
    pub(super) fn end_after(
        &mut self,
        connection: &mut Connection,
        source: &RowSource,
        key: &Key,
        rows: u64,
    ) -> Result<(), Error> {
        let names: Vec<&[u8]> = key.columns.iter().map(|column| column.name.as_slice()).collect();
        let names = names.join(&b", "[..]);
        let query = [
            b"SELECT ",
            names.as_slice(),
            b" FROM ",
            source.table_expression(),
            &self.condition(source, key),
            b" ORDER BY ",
            &names,
            format!(" LIMIT 1 OFFSET {}", rows.saturating_sub(1)).as_bytes(),
        ]
        .concat();
        let mut found = End::default();
        query_as_stored(connection, &query, &mut EndReader { key, found: &mut found })?;
        self.upto = (!found.is_empty()).then_some(found);
        Ok(())
    }

    /// A SELECT of all rows of the range.
    pub(super) fn select(&self, source: &RowSource, key: Option<&Key>) -> Vec<u8> {
        match key {
            Some(key) => [source.select(), self.condition(source, key)].concat(),
            None => match source.filter() {
                Some(filter) => [&source.select(), b" WHERE ".as_slice(), filter].concat(),
                None => source.select(),
            },
        }
    }

    /// The same in key order.
    pub(super) fn select_in_order(&self, source: &RowSource, key: Option<&Key>) -> Vec<u8> {
        let mut query = self.select(source, key);
        if let Some(key) = key {
            let names: Vec<&[u8]> = key.columns.iter().map(|column| column.name.as_slice()).collect();
            query.extend_from_slice(b" ORDER BY ");
            query.extend(names.join(&b", "[..]));
        }
        query
    }

    /// Index hint and condition, to follow the table.
    fn condition(&self, source: &RowSource, key: &Key) -> Vec<u8> {
        let after = self.after.as_ref().map(|end| beyond(key, end, b">", b">"));
        let upto = self.upto.as_ref().map(|end| beyond(key, end, b"<", b"<="));
        let conditions: Vec<Vec<u8>> =
            source.filter().map(<[u8]>::to_vec).into_iter().chain(after).chain(upto).collect();
        let index = [b" FORCE INDEX (", key.index.as_slice(), b")"].concat();
        if conditions.is_empty() {
            return index;
        }
        [index, b" WHERE ".to_vec(), conditions.join(&b" AND "[..])].concat()
    }
}

/// The condition that the key is beyond a bound in lexicographic order, in the form for which servers use an index: `(a
/// > 1 OR (a = 1 AND b > 2))`. The last column's comparison may include the bound.
fn beyond(key: &Key, end: &End, comparison: &[u8], last: &[u8]) -> Vec<u8> {
    let mut alternatives = Vec::new();
    for position in 0..key.columns.len() {
        let mut parts = Vec::new();
        for (index, (column, literal)) in key.columns.iter().zip(end).take(position + 1).enumerate() {
            let operator = match index == position {
                false => b"=".as_slice(),
                true if position + 1 == key.columns.len() => last,
                true => comparison,
            };
            parts.push([column.name.as_slice(), b" ", operator, b" ", literal].concat());
        }
        alternatives.push([b"(", parts.join(&b" AND "[..]).as_slice(), b")"].concat());
    }
    [b"(", alternatives.join(&b" OR "[..]).as_slice(), b")"].concat()
}

/// Reads the key's values of a row.
struct EndReader<'a> {
    key: &'a Key,
    found: &'a mut End,
}

impl RowSink for EndReader<'_> {
    fn columns(&mut self, _: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let values = self.key.columns.iter().zip(values);
        *self.found = values.map(|(column, value)| column.literal.write(value.unwrap_or_default())).collect();
        ControlFlow::Break(())
    }
}
