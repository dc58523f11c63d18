//! CREATE TABLE of a table that several of the sources' tables become, and of their schema: by a statement of the log, or by a
//! copy.
//!
//! It is made under a name of ours first, with the source column and with that column in its unique keys:
//!
//! ```text
//!   CREATE TABLE hortator.replicate_new_…      ── ALTER TABLE … ADD source column ──┐
//!                                                                                  ▼
//!   the target has none:  RENAME to its name        it has one of the same definition: dropped        of another: an error
//! ```
//!
//! The table appears with its last step, so that a crash before that leaves nothing to decide. One source at a time does
//! this, so that none finds a table that has appeared meanwhile.

mod schema;
mod source_column;

use hortator_load::lexer::Dialect;
use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error as ServerError, quote_identifier, quote_string};

use crate::query::{first_value, texts};
use crate::rules::{CreatedTable, Rules, created_schema, created_table};

pub(super) use source_column::SOURCE_COLUMN_BYTES;

/// What a name of ours begins with.
const NEW: &str = "replicate_new_";
/// What a name begins with of a table that is replaced.
const OLD: &str = "replicate_old_";

/// Why something was not created.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The target refused a statement, or the connection is lost.
    Server(ServerError),
    /// The target has the table with another definition: its name, and both.
    Differs { table: String, wanted: String, found: String },
    /// The target has the schema with another collation: its name, and both.
    OtherCollation { schema: String, wanted: String, found: String },
    /// It cannot have a source column: why, and what to do.
    Refused(String),
    /// Another source creates for longer than a definition may wait.
    Busy,
}

impl From<ServerError> for Refusal {
    fn from(error: ServerError) -> Refusal {
        Refusal::Server(error)
    }
}

/// Creates what several sources share.
pub(crate) struct SharedDefinitions<'d> {
    /// To the target.
    pub(crate) connection: &'d mut Connection,
    /// Of the source.
    pub(crate) rules: &'d Rules,
    /// The schema of positions.
    pub(crate) positions: &'d str,
    /// What the statement has before its text: `SET STATEMENT … FOR`, or nothing. It says how what is created is made.
    pub(crate) settings: &'d [u8],
}

impl SharedDefinitions<'_> {
    /// Runs a statement of the log that creates such a table, or a schema for them. False: it is another one.
    pub(super) fn run(&mut self, text: &[u8], dialect: &Dialect) -> Result<bool, Refusal> {
        if let Some(schema) = created_schema(text, dialect) {
            if !self.rules.lead_to_schema(&schema.0) {
                return Ok(false);
            }
            self.schema(text, &schema)?;
            return Ok(true);
        }
        let Some(created) = created_table(text, dialect) else { return Ok(false) };
        let Some(rule) = self.rules.leading_to(&created.schema, &created.table) else { return Ok(false) };
        self.table(text, &created, rule.source_column())?;
        Ok(true)
    }

    /// Creates a table, or finds it with the same definition. `text` creates it under its name on the target, without the
    /// source column.
    pub(crate) fn table(
        &mut self,
        text: &[u8],
        created: &CreatedTable,
        source_column: Option<&str>,
    ) -> Result<(), Refusal> {
        self.keep_others_from_creating()?;
        self.create_table(text, created, source_column)?;
        self.let_others_create()
    }

    /// Creates a schema, or finds it with the same collation. `text` creates it; its name, and where that stands.
    pub(crate) fn schema(&mut self, text: &[u8], schema: &(Vec<u8>, std::ops::Range<usize>)) -> Result<(), Refusal> {
        self.keep_others_from_creating()?;
        self.create_schema(text, schema)?;
        self.let_others_create()
    }

    /// Waits until no other source creates what several share. After an error, the connection ends, and with it this.
    fn keep_others_from_creating(&mut self) -> Result<(), Refusal> {
        // As long as a definition may wait for others.
        let query = format!("SELECT GET_LOCK({}, @@lock_wait_timeout)", self.creation_lock());
        let taken = first_value(self.connection, query.as_bytes())?;
        if taken == "1" { Ok(()) } else { Err(Refusal::Busy) }
    }

    fn let_others_create(&mut self) -> Result<(), Refusal> {
        self.execute(format!("DO RELEASE_LOCK({})", self.creation_lock()).as_bytes())
    }

    /// The name of the user lock, as an expression.
    fn creation_lock(&self) -> String {
        let name = format!("hortator.replicate.{}.{NEW}", self.positions);
        format!("SHA1(X'{}')", name.bytes().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    fn create_table(
        &mut self,
        text: &[u8],
        created: &CreatedTable,
        source_column: Option<&str>,
    ) -> Result<(), Refusal> {
        let name = TableName { schema: created.schema.clone(), table: created.table.clone() };
        let exists = self.exists(&name)?;
        if source_column.is_none() && (!exists || created.replaces) {
            return self.create(&[text]);
        }
        let hash = crc32fast::hash(self.rules.source().as_bytes());
        let own = |table: &str| TableName {
            schema: self.positions.as_bytes().to_vec(),
            table: format!("{table}{hash:08x}").into_bytes(),
        };
        let (new, old) = (own(NEW), own(OLD));
        // A table may refer to itself.
        self.execute(b"SET SESSION foreign_key_checks = 0")?;
        for left in [&new, &old] {
            self.execute(&[b"DROP TABLE IF EXISTS ".as_slice(), &quoted(left)].concat())?;
        }
        self.take_defaults_of(&name.schema)?;
        self.create(&[&text[..created.start], &quoted(&new), &text[created.end..]])?;
        if let Some(column) = source_column {
            self.add_source_column(&new, column)?;
        }
        let rename = [&quoted(&new)[..], b" TO ", &quoted(&name)].concat();
        if !exists {
            return self.execute(&[b"RENAME TABLE ".as_slice(), &rename].concat());
        }
        if created.replaces {
            let both = [b"RENAME TABLE ".as_slice(), &quoted(&name), b" TO ", &quoted(&old), b", ", &rename].concat();
            self.execute(&both)?;
            return self.execute(&[b"DROP TABLE ".as_slice(), &quoted(&old)].concat());
        }
        let (wanted, found) = (self.shape(&new, &name)?, self.shape(&name, &name)?);
        self.execute(&[b"DROP TABLE ".as_slice(), &quoted(&new)].concat())?;
        if wanted == found {
            return Ok(());
        }
        let table = format!("{}.{}", String::from_utf8_lossy(&name.schema), String::from_utf8_lossy(&name.table));
        Err(Refusal::Differs { table, wanted, found })
    }

    /// Makes the defaults of our schema those of another: a table has the character set of its schema.
    fn take_defaults_of(&mut self, schema: &[u8]) -> Result<(), Refusal> {
        let query = [
            b"SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA \
              WHERE SCHEMA_NAME = "
                .as_slice(),
            &quote_string(schema),
        ]
        .concat();
        let rows = texts(self.connection, &query)?;
        let Some([charset, collation]) = rows.first().map(Vec::as_slice) else { return Ok(()) };
        let own = quote_identifier(self.positions);
        let defaults = format!(" CHARACTER SET {charset} COLLATE {collation}");
        self.execute(&[b"ALTER DATABASE ".as_slice(), &own, defaults.as_bytes()].concat())
    }

    fn exists(&mut self, name: &TableName) -> Result<bool, Refusal> {
        let query = [
            b"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = ".as_slice(),
            &quote_string(&name.schema),
            b" AND TABLE_NAME = ",
            &quote_string(&name.table),
        ]
        .concat();
        Ok(first_value(self.connection, &query)? != "0")
    }

    /// A table's definition without what does not say how it is made: its name, generated names, its counter.
    fn shape(&mut self, table: &TableName, named: &TableName) -> Result<String, Refusal> {
        let query = [b"SHOW CREATE TABLE ".as_slice(), &quoted(table)].concat();
        let rows = texts(self.connection, &query)?;
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

    /// Runs a part of what the statement does, of these texts.
    fn create(&mut self, text: &[&[u8]]) -> Result<(), Refusal> {
        self.execute(&[self.settings, &text.concat()].concat())
    }

    fn execute(&mut self, text: &[u8]) -> Result<(), Refusal> {
        self.connection.execute(text)?;
        Ok(())
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
