//! The rows of a table for a comparison: every value in a form that distinguishes it from all other values.
//!
//! Values come as the server stores them, without conversion to another character set. Extra expressions cover what
//! their text would hide: the bits of a FLOAT, the number of an ENUM or a SET, invisible and generated columns, the
//! history of versioned rows.

use hortator_mysql::{Connection, Error, RowSink, quote_identifier, quote_string};
use xxhash_rust::xxh3::Xxh3;

use crate::definitions::Kind;

/// The bytes of each value in a message.
const SHOWN_VALUE_BYTES: usize = 80;

/// The expressions to select from a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowSource {
    /// The quoted table, with its history if it has one.
    table_expression: Vec<u8>,
    /// The values of a row.
    values: Vec<Value>,
    /// A condition that its rows meet; empty for all rows of the table.
    filter: Vec<u8>,
    /// Whether historical rows are included.
    pub(crate) is_versioned: bool,
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    /// Its name in a message; empty if it needs none.
    label: Vec<u8>,
    expression: Vec<u8>,
}

impl RowSource {
    /// For a table or sequence. `row_times`: include the start and end times of versioned rows.
    pub(crate) fn of(
        connection: &mut Connection,
        schema: &[u8],
        table: &[u8],
        kind: Kind,
        row_times: bool,
    ) -> Result<Self, Error> {
        let mut table_expression = [quote_identifier(schema), quote_identifier(table)].join(&b'.');
        if kind == Kind::Sequence {
            let all = Value { label: Vec::new(), expression: b"*".to_vec() };
            return Ok(Self { table_expression, values: vec![all], filter: Vec::new(), is_versioned: false });
        }
        let list = [
            b"SELECT COLUMN_NAME, LOWER(DATA_TYPE), UPPER(COALESCE(GENERATION_EXPRESSION, '')) \
              FROM information_schema.COLUMNS WHERE "
                .as_slice(),
            &exactly("TABLE_SCHEMA", schema),
            b" AND ",
            &exactly("TABLE_NAME", table),
            b" ORDER BY ORDINAL_POSITION",
        ]
        .concat();
        let type_query = [
            b"SELECT TABLE_TYPE FROM information_schema.TABLES WHERE ".as_slice(),
            &exactly("TABLE_SCHEMA", schema),
            b" AND ",
            &exactly("TABLE_NAME", table),
        ]
        .concat();
        let is_versioned = connection.fetch(&type_query)? == [[Some(b"SYSTEM VERSIONED".to_vec())]];

        let (mut start, mut end) = (b"ROW_START".to_vec(), b"ROW_END".to_vec());
        let mut by_transaction = false;
        let mut values = Vec::new();
        for column in connection.fetch(&list)? {
            let field = |index: usize| column.get(index).cloned().flatten().unwrap_or_default();
            let (label, name) = (field(0), quote_identifier(field(0)));
            match (field(2).as_slice(), field(1).as_slice()) {
                (b"ROW START", _) => start = name,
                (b"ROW END", data_type) => {
                    by_transaction = data_type == b"bigint";
                    end = name;
                }
                // The text of a FLOAT is rounded to six digits. Only MySQL shows the sign of zero, which the sum does not have.
                (_, b"float" | b"double") => {
                    values.push(Value { label, expression: [name.as_slice(), b" + 0e0"].concat() });
                }
                // The empty text may be a member, or the error value 0.
                (_, b"enum" | b"set") => {
                    let number = [name.as_slice(), b" + 0"].concat();
                    values.push(Value { label: [label.as_slice(), b" + 0"].concat(), expression: number });
                    values.push(Value { label, expression: name });
                }
                _ => values.push(Value { label, expression: name }),
            }
        }
        if is_versioned {
            table_expression.extend_from_slice(b" FOR SYSTEM_TIME ALL");
            let forever: &[u8] = if by_transaction { b" = 18446744073709551615" } else { b" > NOW(6)" };
            let value = |label: &str, expression| Value { label: label.into(), expression };
            values.push(value("is current", [end.as_slice(), forever].concat()));
            if row_times {
                values.extend([value("row start", start), value("row end", end)]);
            }
        }
        if values.is_empty() {
            values.push(Value { label: Vec::new(), expression: b"1".to_vec() });
        }
        Ok(Self { table_expression, values, filter: Vec::new(), is_versioned })
    }

    /// A SELECT of all values, without the condition that the rows meet.
    pub(crate) fn select(&self) -> Vec<u8> {
        [b"SELECT ".as_slice(), &self.values(), b" FROM ", &self.table_expression].concat()
    }

    /// The table in a FROM clause.
    pub(crate) fn table_expression(&self) -> &[u8] {
        &self.table_expression
    }

    /// The condition that its rows meet, if there is one.
    pub(crate) fn filter(&self) -> Option<&[u8]> {
        (!self.filter.is_empty()).then_some(self.filter.as_slice())
    }

    /// The rows that have a text in a column, without this column; `None` if there is no such column.
    pub(crate) fn marked_by(mut self, column: &str, text: &str) -> Option<Self> {
        let is_it = |value: &Value| value.label.eq_ignore_ascii_case(column.as_bytes());
        let at = self.values.iter().position(is_it)?;
        self.values.remove(at);
        let (column, text) = (quote_identifier(column), quote_string(text));
        // The first condition can use a key, the second one distinguishes letters that the collation does not.
        self.filter = [column.as_slice(), b" = ", &text, b" AND BINARY ", &column, b" = BINARY ", &text].concat();
        Some(self)
    }

    /// The values of the other source, in its order, and the names of those that the other one does not have; `None` if
    /// one is missing here.
    pub(crate) fn with_columns_of(&self, other: &Self) -> Option<(Self, Vec<Vec<u8>>)> {
        let has = |of: &Self, label: &[u8]| of.values.iter().any(|value| value.label.eq_ignore_ascii_case(label));
        let extra = self.values.iter().filter(|value| !has(other, &value.label));
        let extra: Vec<Vec<u8>> = extra.map(|value| value.label.clone()).collect();
        let values = self.values.iter().filter(|value| has(other, &value.label)).cloned().collect();
        let shared = Self { values, ..self.clone() };
        Some((shared.in_order_of(other)?, extra))
    }

    fn values(&self) -> Vec<u8> {
        let expressions: Vec<&[u8]> = self.values.iter().map(|value| value.expression.as_slice()).collect();
        expressions.join(&b", "[..])
    }

    /// The names of the values.
    pub(crate) fn labels(&self) -> Vec<Vec<u8>> {
        self.values.iter().map(|value| value.label.clone()).collect()
    }

    /// The same source with its values in the other's order; `None` if the two do not have the same columns.
    pub(crate) fn in_order_of(&self, other: &Self) -> Option<Self> {
        let find = |wanted: &Value| {
            let same = |value: &&Value| value.label.eq_ignore_ascii_case(&wanted.label);
            self.values.iter().find(same).cloned()
        };
        let values: Vec<Value> = other.values.iter().map(find).collect::<Option<_>>()?;
        (values.len() == self.values.len()).then(|| Self { values, ..self.clone() })
    }
}

/// A condition for exactly this name in a catalog. The collation of information_schema ignores case; names on most
/// systems do not.
pub(crate) fn exactly(column: &str, name: &[u8]) -> Vec<u8> {
    let name = quote_string(name);
    [column.as_bytes(), b" = ", &name, b" AND BINARY ", column.as_bytes(), b" = ", &name].concat()
}

/// Runs a query whose values come as they are stored, without conversion: nothing is lost or becomes equal.
pub(crate) fn query_as_stored(connection: &mut Connection, query: &[u8], rows: &mut dyn RowSink) -> Result<(), Error> {
    connection.execute(b"SET SESSION character_set_results = NULL")?;
    let done = connection.query(query, rows);
    if !done.as_ref().is_err_and(Error::is_lost) {
        connection.execute(b"SET SESSION character_set_results = utf8mb4")?;
    }
    done.map(drop)
}

/// A row's hash: each value with its length before it, so that no two rows give the same bytes.
pub(crate) fn hash(values: &[Option<&[u8]>]) -> u128 {
    let mut hash = Xxh3::new();
    for value in values {
        match value {
            None => hash.update(&u64::MAX.to_le_bytes()),
            Some(value) => {
                hash.update(&(value.len() as u64).to_le_bytes());
                hash.update(value);
            }
        }
    }
    hash.digest128()
}

/// A row for a message.
pub(crate) fn show<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> String {
    format!("({})", values.map(show_value).collect::<Vec<_>>().join(", "))
}

/// A value for a message, at most about one line.
pub(crate) fn show_value(value: Option<&[u8]>) -> String {
    match value {
        None => "NULL".to_owned(),
        Some(value) if value.len() > SHOWN_VALUE_BYTES => {
            format!("'{}'… ({} bytes)", value[..SHOWN_VALUE_BYTES].escape_ascii(), value.len())
        }
        Some(value) => format!("'{}'", value.escape_ascii()),
    }
}
