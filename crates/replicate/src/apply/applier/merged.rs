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
//! The table appears with its last step, so that a crash before that leaves nothing to decide. One source at a time does
//! this, so that none finds a table that has appeared meanwhile.

use hortator_mysql::catalog::TableName;
use hortator_mysql::{quote_identifier, quote_string};

use super::Applier;
use crate::apply::definition::dialect;
use crate::apply::error::Error;
use crate::query::{first_value, texts};
use crate::rules::{CreatedTable, created_schema, created_table};

/// What a name of ours begins with.
const NEW: &str = "replicate_new_";
/// What a name begins with of a table that is replaced.
const OLD: &str = "replicate_old_";
/// The type of a source column that Hortator adds: names of sources have up to 64 bytes.
const SOURCE_COLUMN: &[u8] = b" VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL";
/// The longest value of such a column, in bytes.
pub(super) const SOURCE_COLUMN_BYTES: u16 = 256;

/// A foreign key that is made again with the source column in it.
struct ForeignKey {
    /// Its quoted name.
    name: Vec<u8>,
    /// The clause of ALTER TABLE.
    clause: Vec<u8>,
}

impl Applier {
    /// Runs a statement that creates such a table, or a schema for them. False: it is another one.
    pub(super) fn create_merged(&mut self, text: &[u8], place: &str) -> Result<bool, Error> {
        if self.rules.is_empty() {
            return Ok(false);
        }
        let dialect = dialect(&mut self.connection).map_err(|error| self.failed(error, place))?;
        if let Some(schema) = created_schema(text, &dialect) {
            if !self.rules.lead_to_schema(&schema.0) {
                return Ok(false);
            }
            self.keep_others_from_creating(place)?;
            self.create_schema(text, &schema, place)?;
            return self.let_others_create(place);
        }
        let Some(created) = created_table(text, &dialect) else { return Ok(false) };
        let Some(rule) = self.rules.leading_to(&created.schema, &created.table) else { return Ok(false) };
        let source_column = rule.source_column().map(str::to_owned);
        self.keep_others_from_creating(place)?;
        self.create_table(text, &created, source_column.as_deref(), place)?;
        self.let_others_create(place)
    }

    /// Waits until no other source creates what several share. After an error, the connection ends, and with it this.
    fn keep_others_from_creating(&mut self, place: &str) -> Result<(), Error> {
        // As long as a definition may wait for others.
        let query = format!("SELECT GET_LOCK({}, @@lock_wait_timeout)", self.creation_lock());
        let taken = first_value(&mut self.connection, query.as_bytes());
        if taken.map_err(|error| self.failed(error, place))? != "1" {
            return Err(Error::Busy { name: self.rules.source().to_owned() });
        }
        Ok(())
    }

    fn let_others_create(&mut self, place: &str) -> Result<bool, Error> {
        self.execute(format!("DO RELEASE_LOCK({})", self.creation_lock()).as_bytes(), place)?;
        Ok(true)
    }

    /// The name of the user lock, as an expression.
    fn creation_lock(&self) -> String {
        let name = format!("hortator.replicate.{}.{NEW}", self.table.schema());
        format!("SHA1(X'{}')", name.bytes().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    fn create_table(
        &mut self,
        text: &[u8],
        created: &CreatedTable,
        source_column: Option<&str>,
        place: &str,
    ) -> Result<(), Error> {
        let name = TableName { schema: created.schema.clone(), table: created.table.clone() };
        let exists = self.exists(&name, place)?;
        if source_column.is_none() && (!exists || created.replaces) {
            return self.execute(text, place);
        }
        let hash = crc32fast::hash(self.rules.source().as_bytes());
        let own = |table: &str| TableName {
            schema: self.table.schema().as_bytes().to_vec(),
            table: format!("{table}{hash:08x}").into_bytes(),
        };
        let (new, old) = (own(NEW), own(OLD));
        // A table may refer to itself.
        self.execute(b"SET SESSION foreign_key_checks = 0", place)?;
        for left in [&new, &old] {
            self.execute(&[b"DROP TABLE IF EXISTS ".as_slice(), &quoted(left)].concat(), place)?;
        }
        self.take_defaults_of(&name.schema, place)?;
        self.execute(&[&text[..created.start], &quoted(&new), &text[created.end..]].concat(), place)?;
        if let Some(column) = source_column {
            self.add_source_column(&new, column, place)?;
        }
        let rename = [&quoted(&new)[..], b" TO ", &quoted(&name)].concat();
        if !exists {
            return self.execute(&[b"RENAME TABLE ".as_slice(), &rename].concat(), place);
        }
        if created.replaces {
            let both = [b"RENAME TABLE ".as_slice(), &quoted(&name), b" TO ", &quoted(&old), b", ", &rename].concat();
            self.execute(&both, place)?;
            return self.execute(&[b"DROP TABLE ".as_slice(), &quoted(&old)].concat(), place);
        }
        let (wanted, found) = (self.shape(&new, &name, place)?, self.shape(&name, &name, place)?);
        self.execute(&[b"DROP TABLE ".as_slice(), &quoted(&new)].concat(), place)?;
        if wanted == found { Ok(()) } else { Err(differ(&name, &wanted, &found, place)) }
    }

    /// Makes the defaults of our schema those of another: a table has the character set of its schema.
    fn take_defaults_of(&mut self, schema: &[u8], place: &str) -> Result<(), Error> {
        let query = [
            b"SELECT DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA \
              WHERE SCHEMA_NAME = "
                .as_slice(),
            &quote_string(schema),
        ]
        .concat();
        let rows = texts(&mut self.connection, &query).map_err(|error| self.failed(error, place))?;
        let Some([charset, collation]) = rows.first().map(Vec::as_slice) else { return Ok(()) };
        let own = quote_identifier(self.table.schema());
        let defaults = format!(" CHARACTER SET {charset} COLLATE {collation}");
        self.execute(&[b"ALTER DATABASE ".as_slice(), &own, defaults.as_bytes()].concat(), place)
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
        // The server finds rows by the hash of such a key, which is another one with the column in it.
        if parts.iter().any(|part| part[3] == "HASH") && parts.iter().all(|part| part[0] != "PRIMARY") {
            let found = format!(
                "it has a unique key of long columns (USING HASH) and no primary key: with the column `{column}` in that key, \
                 the target does not find the rows that change. Give the table a primary key on the source and on the target; \
                 or leave it out by a rule"
            );
            return Err(Error::Event { place: place.to_owned(), found });
        }
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
        let foreign = self.foreign_keys(table, &column, place)?;
        clauses.extend(foreign.iter().map(|key| [b"DROP FOREIGN KEY ".as_slice(), &key.name].concat()));
        let alter = [b"ALTER TABLE ".as_slice(), &quoted(table), b" "].concat();
        self.execute(&[&alter[..], &clauses.join(&b", "[..])].concat(), place)?;
        for key in foreign {
            self.execute(&[&alter[..], &key.clause].concat(), place)?;
        }
        Ok(())
    }

    /// The foreign keys of a new table to tables that have a source column too. Without it, the rows of one source would be held by those of another, and go with them.
    fn foreign_keys(&mut self, table: &TableName, column: &[u8], place: &str) -> Result<Vec<ForeignKey>, Error> {
        let query = [
            b"SELECT k.CONSTRAINT_NAME, k.COLUMN_NAME, k.REFERENCED_TABLE_SCHEMA, k.REFERENCED_TABLE_NAME, \
              k.REFERENCED_COLUMN_NAME, r.DELETE_RULE, r.UPDATE_RULE FROM information_schema.KEY_COLUMN_USAGE k \
              JOIN information_schema.REFERENTIAL_CONSTRAINTS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA \
              AND r.TABLE_NAME = k.TABLE_NAME AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME WHERE k.TABLE_SCHEMA = "
                .as_slice(),
            &quote_string(&table.schema),
            b" AND k.TABLE_NAME = ",
            &quote_string(&table.table),
            b" AND k.REFERENCED_TABLE_NAME IS NOT NULL ORDER BY 1, k.ORDINAL_POSITION",
        ]
        .concat();
        let parts = texts(&mut self.connection, &query).map_err(|error| self.failed(error, place))?;
        let generated = [&table.table[..], b"_ibfk_"].concat();
        let mut found = Vec::new();
        for key in parts.chunk_by(|one, next| one[0] == next[0]) {
            let [name, _, schema, referenced, _, on_delete, on_update] = &key[0][..] else { continue };
            let leading = self.rules.leading_to(schema.as_bytes(), referenced.as_bytes());
            if leading.and_then(|rule| rule.source_column()).is_none() {
                continue;
            }
            if [on_delete, on_update].iter().any(|rule| rule.starts_with("SET ")) {
                let found = format!(
                    "its foreign key to {schema}.{referenced} sets columns to NULL, and the source column must keep its \
                     value: create the table on the target by hand, then `skip` it"
                );
                return Err(Error::Event { place: place.to_owned(), found });
            }
            let list = |index: usize| {
                let own = key.iter().map(|part| quote_identifier(&part[index]));
                own.chain([column.to_vec()]).collect::<Vec<_>>().join(&b", "[..])
            };
            let quoted_name = quote_identifier(name);
            let constraint = match name.as_bytes().starts_with(&generated) {
                true => Vec::new(),
                false => [b"CONSTRAINT ".as_slice(), &quoted_name, b" "].concat(),
            };
            let other = TableName { schema: schema.clone().into_bytes(), table: referenced.clone().into_bytes() };
            let clause = [
                b"ADD ".as_slice(),
                &constraint,
                b"FOREIGN KEY (",
                &list(1),
                b") REFERENCES ",
                &quoted(&other),
                b" (",
                &list(4),
                format!(") ON DELETE {on_delete} ON UPDATE {on_update}").as_bytes(),
            ]
            .concat();
            found.push(ForeignKey { name: quoted_name, clause });
        }
        Ok(found)
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
