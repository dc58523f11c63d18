//! CREATE DATABASE of a schema that rules put tables of several schemas into: it may be there already.
//!
//! Tables that name no character set have that of their schema, and the bytes of their rows come as they are on the source.
//! So a schema that is there must have the same. What a statement would make is seen by what it makes under another name.

use hortator_mysql::quote_identifier;

use super::Applier;
use crate::apply::error::Error;
use crate::query::first_value;

/// What the name of ours begins with.
const NEW: &str = "replicate_new_";

impl Applier {
    /// Creates such a schema, or finds it with the same collation. No other source does so meanwhile.
    pub(super) fn create_schema(
        &mut self,
        text: &[u8],
        (schema, name): &(Vec<u8>, std::ops::Range<usize>),
        place: &str,
    ) -> Result<(), Error> {
        let found = self.collation_of(schema, place)?;
        if found.is_empty() {
            return self.execute(text, place);
        }
        let own = format!("{}_{NEW}{:08x}", self.table.schema(), crc32fast::hash(self.rules.source().as_bytes()));
        let drop = [b"DROP DATABASE IF EXISTS ".as_slice(), &quote_identifier(&own)].concat();
        self.execute(&drop, place)?;
        self.execute(&[&text[..name.start], &quote_identifier(&own), &text[name.end..]].concat(), place)?;
        let wanted = self.collation_of(own.as_bytes(), place)?;
        self.execute(&drop, place)?;
        if wanted == found {
            return Ok(());
        }
        let found = format!(
            "the target has the schema `{}` with the collation {found}, and the source creates it with {wanted}: tables that \
             name no character set would have another one than on the source. ALTER DATABASE on the target, which changes no \
             table, and `resume`; or `skip` it, if all tables name theirs",
            String::from_utf8_lossy(schema)
        );
        Err(Error::Event { place: place.to_owned(), found })
    }

    /// The default collation of a schema; empty where there is none.
    fn collation_of(&mut self, schema: &[u8], place: &str) -> Result<String, Error> {
        let query = [
            b"SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ".as_slice(),
            &hortator_mysql::quote_string(schema),
        ]
        .concat();
        first_value(&mut self.connection, &query).map_err(|error| self.failed(error, place))
    }
}
