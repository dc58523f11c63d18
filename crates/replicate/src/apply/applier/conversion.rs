//! A statement of MySQL that converts a table's character set: it stops the source where MariaDB would lose values by it.

use hortator_mysql::Error as ServerError;

use super::Applier;
use crate::apply::error::Error;
use crate::binlog::QueryEvent;
use crate::from_mysql::{Column, MemberConversion};

impl Applier {
    /// Looks at the columns of the table that a statement converts, in the session in which it is to run.
    ///
    /// A MariaDB source has lost the same values: the target becomes equal to it.
    pub(super) fn check_conversion(&mut self, query: &QueryEvent, place: &str) -> Result<(), Error> {
        let is_of_mysql = self.format.as_ref().is_some_and(|(format, _)| !format.is_mariadb());
        if !is_of_mysql || !query.text.windows(CONVERT.len()).any(|word| word.eq_ignore_ascii_case(CONVERT)) {
            return Ok(());
        }
        let (dialect, _) = self.dialect(query, place)?;
        let Some(conversion) = MemberConversion::of(&query.text, &dialect) else { return Ok(()) };
        // Unlike information_schema, this has temporary tables too.
        let asked = self.connection.fetch(&[b"SHOW FULL COLUMNS FROM ".as_slice(), &conversion.table].concat());
        let rows = match asked {
            Ok(rows) => rows,
            // The statement itself is refused with the same.
            Err(ServerError::Server(_)) => return Ok(()),
            Err(error) => return Err(self.failed(error, place)),
        };
        let broken: Vec<Column> = rows.into_iter().map(column).filter(|column| conversion.breaks(column)).collect();
        if broken.is_empty() {
            return Ok(());
        }
        Err(Error::Event { place: place.to_owned(), found: found(&broken) })
    }
}

const CONVERT: &[u8] = b"CONVERT";

/// A row of SHOW FULL COLUMNS.
fn column(row: Vec<Option<Vec<u8>>>) -> Column {
    let mut values = row.into_iter().map(|value| String::from_utf8_lossy(&value.unwrap_or_default()).into_owned());
    let mut next = || values.next().unwrap_or_default();
    Column { name: next(), column_type: next(), collation: next() }
}

/// What was found, and what to do.
fn found(broken: &[Column]) -> String {
    let names: Vec<String> =
        broken.iter().map(|column| format!("`{}` ({})", column.name, column.column_type)).collect();
    format!(
        "`CONVERT TO CHARACTER SET` leaves the members of ENUM and SET columns as they are, and the target would lose the values \
         of {}. The source may have kept them as numbers. Run the statement on the target by hand, with a MODIFY of each of \
         these columns in it that lists the members and all else of the column (`ALTER TABLE …, MODIFY column ENUM(…) …, CONVERT \
         TO CHARACTER SET …`), which keeps the values; then `skip`. docs/replicate.md, \"From MySQL to MariaDB\", says how to \
         mend the source",
        names.join(", ")
    )
}
