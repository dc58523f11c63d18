//! CREATE TABLE of a table that several of the sources' tables become.
//!
//! It is made under a name of ours first, with the source column and with that column in its unique keys:
//!
//! ```text
//!   CREATE TABLE hortator.replicate_new_…      ── ALTER TABLE … ADD source column ──┐
//!                                                                                  ▼
//!   the target has none:  RENAME to its name        it has one of the same definition: dropped        of another: an error
//! ```
//!
//! The table appears with its last step, so that a crash before that leaves nothing to decide.

use hortator_mysql::catalog::TableName;
use hortator_mysql::{quote_identifier, quote_string};

use super::Applier;
use crate::apply::definition::dialect;
use crate::apply::error::Error;
use crate::query::{first_value, texts};
use crate::rules::created_table;

/// What a name of ours begins with.
const NEW: &str = "replicate_new_";
/// The type of a source column that Hortator adds: names of sources have up to 64 bytes.
const SOURCE_COLUMN: &[u8] = b" VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL";

impl Applier {
    /// Runs a statement that creates such a table. False: it is another one.
    pub(super) fn create_merged(&mut self, text: &[u8], place: &str) -> Result<bool, Error> {
        if self.rules.is_empty() {
            return Ok(false);
        }
        let dialect = dialect(&mut self.connection).map_err(|error| self.failed(error, place))?;
        let Some(created) = created_table(text, &dialect) else { return Ok(false) };
        let Some(rule) = self.rules.leading_to(&created.schema, &created.table) else { return Ok(false) };
        let source_column = rule.source_column().map(str::to_owned);
        let name = TableName { schema: created.schema, table: created.table };
        let exists = self.exists(&name, place)?;
        if source_column.is_none() && (!exists || created.replaces) {
            return Ok(false);
        }
        let hash = crc32fast::hash(self.rules.source().as_bytes());
        let new = TableName {
            schema: self.table.schema().as_bytes().to_vec(),
            table: format!("{NEW}{hash:08x}").into_bytes(),
        };
        self.execute(&[b"DROP TABLE IF EXISTS ".as_slice(), &quoted(&new)].concat(), place)?;
        self.execute(&[&text[..created.start], &quoted(&new), &text[created.end..]].concat(), place)?;
        if let Some(column) = &source_column {
            self.add_source_column(&new, column, place)?;
        }
        if exists && created.replaces {
            self.execute(&[b"DROP TABLE ".as_slice(), &quoted(&name)].concat(), place)?;
        } else if exists {
            let (wanted, found) = (self.shape(&new, &name, place)?, self.shape(&name, &name, place)?);
            self.execute(&[b"DROP TABLE ".as_slice(), &quoted(&new)].concat(), place)?;
            return if wanted == found { Ok(true) } else { Err(differ(&name, &wanted, &found, place)) };
        }
        self.execute(&[b"RENAME TABLE ".as_slice(), &quoted(&new), b" TO ", &quoted(&name)].concat(), place)?;
        Ok(true)
    }

    fn exists(&mut self, name: &TableName, place: &str) -> Result<bool, Error> {
        let query = [
            b"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ".as_slice(),
            &quote_string(&name.schema),
            b" AND TABLE_NAME = ",
            &quote_string(&name.table),
        ]
        .concat();
        let asked = first_value(&mut self.connection, &query);
        asked.map(|count| count != "0").map_err(|error| self.failed(error, place))
    }

    /// Adds the column, and adds it to each unique key. A table that is made LIKE one that has it has it already.
    fn add_source_column(&mut self, table: &TableName, column: &str, place: &str) -> Result<(), Error> {
        let asked = self.target_tables.source_column(&mut self.connection, table, column);
        let has_column = asked.map_err(|error| self.failed(error, place))?.is_some();
        self.target_tables.forget();
        if has_column {
            return Ok(());
        }
        let query = [
            b"SELECT INDEX_NAME, COLUMN_NAME, COALESCE(SUB_PART, ''), INDEX_TYPE, COLLATION FROM \
              information_schema.STATISTICS WHERE NON_UNIQUE = 0 AND TABLE_SCHEMA = "
                .as_slice(),
            &quote_string(&table.schema),
            b" AND TABLE_NAME = ",
            &quote_string(&table.table),
            b" ORDER BY INDEX_NAME, SEQ_IN_INDEX",
        ]
        .concat();
        let parts = texts(&mut self.connection, &query).map_err(|error| self.failed(error, place))?;
        let column = quote_identifier(column);
        let mut clauses = vec![[b"ADD COLUMN ".as_slice(), &column, SOURCE_COLUMN].concat()];
        for key in parts.chunk_by(|one, next| one[0] == next[0]) {
            let name = quote_identifier(&key[0][0]);
            let of_part = |part: &Vec<String>| {
                let length = if part[2].is_empty() { String::new() } else { format!("({})", part[2]) };
                let order: &[u8] = if part[4] == "D" { b" DESC" } else { b"" };
                [&quote_identifier(&part[1])[..], length.as_bytes(), order].concat()
            };
            let mut columns: Vec<Vec<u8>> = key.iter().map(of_part).collect();
            columns.push(column.clone());
            let columns = columns.join(&b", "[..]);
            let (drop, add) = match key[0][0].as_str() {
                "PRIMARY" => (b"DROP PRIMARY KEY".to_vec(), b"ADD PRIMARY KEY".to_vec()),
                _ => ([b"DROP KEY ".as_slice(), &name].concat(), [b"ADD UNIQUE KEY ".as_slice(), &name].concat()),
            };
            clauses.push(drop);
            clauses.push([&add[..], b" (", &columns, b")"].concat());
        }
        let alter = [b"ALTER TABLE ".as_slice(), &quoted(table), b" ", &clauses.join(&b", "[..])].concat();
        self.execute(&alter, place)
    }

    /// A table's definition without what does not say how it is made: its name, generated names, its counter.
    fn shape(&mut self, table: &TableName, named: &TableName, place: &str) -> Result<String, Error> {
        let query = [b"SHOW CREATE TABLE ".as_slice(), &quoted(table)].concat();
        let rows = texts(&mut self.connection, &query).map_err(|error| self.failed(error, place))?;
        let text = rows.into_iter().next().and_then(|row| row.into_iter().nth(1)).unwrap_or_default();
        let quoted_name = |name: &[u8]| String::from_utf8_lossy(&quote_identifier(name)).into_owned();
        let generated = format!("CONSTRAINT `{}_ibfk_", String::from_utf8_lossy(&table.table));
        let schema = format!("REFERENCES {}.", quoted_name(&named.schema));
        let mut lines = Vec::new();
        for line in text.lines().skip(1) {
            let line = line.replace(&generated, "CONSTRAINT `ibfk_").replace(&schema, "REFERENCES ");
            lines.push(without_counter(&line));
        }
        Ok(lines.join("\n"))
    }
}

/// A line without `AUTO_INCREMENT=n`.
fn without_counter(line: &str) -> String {
    const COUNTER: &str = " AUTO_INCREMENT=";
    let Some((before, behind)) = line.split_once(COUNTER).filter(|_| line.starts_with(')')) else {
        return line.to_owned();
    };
    let rest = behind.trim_start_matches(|letter: char| letter.is_ascii_digit());
    format!("{before}{rest}")
}

fn quoted(name: &TableName) -> Vec<u8> {
    [quote_identifier(&name.schema), b".".to_vec(), quote_identifier(&name.table)].concat()
}

fn differ(name: &TableName, wanted: &str, found: &str, place: &str) -> Error {
    let table = format!("{}.{}", String::from_utf8_lossy(&name.schema), String::from_utf8_lossy(&name.table));
    Error::Event {
        place: place.to_owned(),
        found: format!(
            "the target has {table} with another definition. `skip` keeps the target's; or change the target's table and \
             `resume`; or drop it and `resume`, which makes the source's.\nthe source's:\n{wanted}\nthe target's:\n{found}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::without_counter;

    #[test]
    fn counters() {
        for (line, expected) in [
            (") ENGINE=InnoDB AUTO_INCREMENT=17 DEFAULT CHARSET=utf8mb4", ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"),
            ("  `v` text COMMENT ' AUTO_INCREMENT=17'", "  `v` text COMMENT ' AUTO_INCREMENT=17'"),
            (") ENGINE=InnoDB", ") ENGINE=InnoDB"),
        ] {
            assert_eq!(without_counter(line), expected);
        }
    }
}
