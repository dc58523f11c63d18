//! Statements of the log that create what several sources share.

use super::Applier;
use crate::apply::definition::dialect;
use crate::apply::error::Error;
use crate::apply::shared_definitions::{Refusal, SharedDefinitions};
use crate::apply::statement_settings::prefix;
use crate::binlog::QueryEvent;

impl Applier {
    /// Runs a statement that creates such a table, or a schema for them. False: it is another one.
    pub(super) fn create_merged(&mut self, query: &QueryEvent, place: &str) -> Result<bool, Error> {
        if self.rules.is_empty() {
            return Ok(false);
        }
        let dialect = dialect(&mut self.connection).map_err(|error| self.failed(error, place))?;
        let mut definitions = SharedDefinitions {
            connection: &mut self.connection,
            rules: &self.rules,
            positions: self.table.schema(),
            settings: &prefix(&query.settings),
        };
        definitions.run(&query.text, &dialect).map_err(|refusal| self.not_created(refusal, place))
    }

    fn not_created(&mut self, refusal: Refusal, place: &str) -> Error {
        let found = match refusal {
            Refusal::Server(error) => return self.failed(error, place),
            Refusal::Busy => return Error::Busy { name: self.rules.source().to_owned() },
            Refusal::Refused(found) => found,
            Refusal::Differs { table, wanted, found } => format!(
                "the target has {table} with another definition. `skip` keeps the target's; or change the target's table and \
                 `resume`; or drop it and `resume`, which makes the source's.\nthe source's:\n{wanted}\nthe target's:\n{found}"
            ),
            Refusal::OtherCollation { schema, wanted, found } => format!(
                "the target has the schema `{schema}` with the collation {found}, and the source creates it with {wanted}: \
                 tables that name no character set would have another one than on the source. ALTER DATABASE on the target, \
                 which changes no table, and `resume`; or `skip` it, if all tables name theirs"
            ),
        };
        Error::Event { place: place.to_owned(), found }
    }
}
