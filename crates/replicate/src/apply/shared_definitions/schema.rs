//! CREATE DATABASE of a schema that rules put tables of several schemas into: it may be there already.
//!
//! Tables that name no character set have that of their schema, and the bytes of their rows come as they are on the source.
//! So a schema that is there must have the same. What a statement would make is seen by what it makes under another name.

use hortator_mysql::{quote_identifier, quote_string};

use super::{NEW, Refusal, SharedDefinitions};
use crate::query::first_value;

impl SharedDefinitions<'_> {
    /// Creates such a schema, or finds it with the same collation. `name`: where its name stands in the text. No other source
    /// does so meanwhile.
    pub(super) fn create_schema(
        &mut self,
        text: &[u8],
        (schema, name): &(Vec<u8>, std::ops::Range<usize>),
    ) -> Result<(), Refusal> {
        let found = self.collation_of(schema)?;
        if found.is_empty() {
            return self.create(&[text]);
        }
        let own = format!("{}_{NEW}{:08x}", self.positions, crc32fast::hash(self.rules.source().as_bytes()));
        let drop = [b"DROP DATABASE IF EXISTS ".as_slice(), &quote_identifier(&own)].concat();
        self.execute(&drop)?;
        self.create(&[&text[..name.start], &quote_identifier(&own), &text[name.end..]])?;
        let wanted = self.collation_of(own.as_bytes())?;
        self.execute(&drop)?;
        if wanted == found {
            return Ok(());
        }
        Err(Refusal::OtherCollation { schema: String::from_utf8_lossy(schema).into_owned(), wanted, found })
    }

    /// The default collation of a schema; empty where there is none.
    fn collation_of(&mut self, schema: &[u8]) -> Result<String, Refusal> {
        let query = [
            b"SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ".as_slice(),
            &quote_string(schema),
        ]
        .concat();
        Ok(first_value(self.connection, &query)?)
    }
}
