//! Where the rows of a table go.
//!
//! ```text
//!   Own      a table that the copy has made             a copy that ends early drops it
//!   Marked   a table with rows of other sources,        it deletes what has this source's name
//!            which has a source column
//!   Staged   a table with rows of other sources,        it drops the staging table; what is moved from there, when the copy
//!            without one, or with history               is whole, stays                                          (staged)
//! ```

use super::objects::{Kind, Object};

/// What the name of a staging table begins with, in the schema of positions.
pub(crate) const STAGING: &str = "replicate_staged_";
/// Its column with the number of the row.
pub(super) const ROW_NUMBER: &str = "hortator_row_number";

/// Where rows go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Own,
    /// The source column.
    Marked {
        column: String,
    },
    /// The table that they are gathered in, and the source column.
    Staged {
        staging: Object,
        column: Option<String>,
    },
}

impl Destination {
    /// The staging table of one table of a source, in the schema of positions.
    pub(super) fn staged(positions: &str, source: &str, table: &Object, column: Option<&str>) -> Destination {
        let mut hash = crc32fast::Hasher::new();
        for part in [source.as_bytes(), b"\0", &table.schema, b"\0", &table.name] {
            hash.update(part);
        }
        let name = format!("{STAGING}{:08x}_{:08x}", crc32fast::hash(source.as_bytes()), hash.finalize());
        let staging = Object { kind: Kind::Table, schema: positions.into(), name: name.into_bytes() };
        Destination::Staged { staging, column: column.map(str::to_owned) }
    }
}
