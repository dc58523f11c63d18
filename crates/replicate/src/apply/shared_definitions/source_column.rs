//! The source column of a table that is created: in the table, in its unique keys, and in its foreign keys to tables that have
//! one too.

use hortator_mysql::catalog::TableName;
use hortator_mysql::{quote_identifier, quote_string};

use super::{Refusal, SharedDefinitions, quoted};
use crate::apply::target_tables::source_column;
use crate::query::texts;

/// The type of a source column that Hortator adds: names of sources have up to 64 bytes.
const SOURCE_COLUMN: &[u8] = b" VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL";
/// The longest value of such a column, in bytes.
pub(in crate::apply) const SOURCE_COLUMN_BYTES: u16 = 256;

/// A foreign key that is made again with the source column in it.
struct ForeignKey {
    /// Its quoted name.
    name: Vec<u8>,
    /// The clause of ALTER TABLE.
    clause: Vec<u8>,
}

impl SharedDefinitions<'_> {
    /// Adds the column, and adds it to each unique key. A table that is made LIKE one that has it has it already.
    pub(super) fn add_source_column(&mut self, table: &TableName, column: &str) -> Result<(), Refusal> {
        if source_column(self.connection, table, column)?.is_some() {
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
        let parts = texts(self.connection, &query)?;
        // The server finds rows by the hash of such a key, which is another one with the column in it.
        if parts.iter().any(|part| part[3] == "HASH") && parts.iter().all(|part| part[0] != "PRIMARY") {
            let found = format!(
                "it has a unique key of long columns (USING HASH) and no primary key: with the column `{column}` in that key, \
                 the target does not find the rows that change. Give the table a primary key on the source and on the target; \
                 or leave it out by a rule"
            );
            return Err(Refusal::Refused(found));
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
        let foreign = self.foreign_keys(table, &column)?;
        clauses.extend(foreign.iter().map(|key| [b"DROP FOREIGN KEY ".as_slice(), &key.name].concat()));
        let alter = [b"ALTER TABLE ".as_slice(), &quoted(table), b" "].concat();
        self.create(&[&alter, &clauses.join(&b", "[..])])?;
        for key in foreign {
            self.create(&[&alter, &key.clause])?;
        }
        Ok(())
    }

    /// The foreign keys of a new table to tables that have a source column too. Without it, the rows of one source would be held by those of another, and go with them.
    fn foreign_keys(&mut self, table: &TableName, column: &[u8]) -> Result<Vec<ForeignKey>, Refusal> {
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
        let parts = texts(self.connection, &query)?;
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
                return Err(Refusal::Refused(found));
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
}
