//! Delimited text: rows of fields, as LOAD DATA, SELECT … INTO OUTFILE and CSV have them, turned into INSERT statements.
//!
//! [`Format`] says what separates fields and lines and what stands for NULL. `split` splits the bytes into fields by
//! it, exactly; `records` has the positions. `inserts` writes the fields as literals of an INSERT. The statements then go the way
//! of any other, so that the server checks each value as INSERT does, and never bends one as LOAD DATA does.

mod bits;
mod blank_lines;
mod format;
mod inserts;
mod records;
mod search;
mod split;

use std::path::PathBuf;

use hortator_mysql::quote_identifier;

use crate::lexer::Charset;
pub use bits::Bits;
pub use format::Separators;
pub use format::{Format, FormatError, bytes_of_option};
pub(crate) use inserts::{RowError, RowStatement, RowStatements, RowsHead};

#[cfg(test)]
mod tests;

/// A file of rows for one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsFile {
    /// The file; `-` is standard input.
    pub(crate) path: PathBuf,
    pub(crate) table: RowsTable,
    pub(crate) columns: Columns,
    pub(crate) format: Format,
    /// Lines that are not rows, before all else.
    pub(crate) ignored_lines: u64,
    /// The folder defines the table. Else it is there before, and the server tells its columns.
    pub(crate) is_defined: bool,
    /// Why the file cannot be read, as far as that is known before: its rows can only be left out.
    pub(crate) unreadable: Option<String>,
}

impl RowsFile {
    /// Whether its first record names the columns.
    pub(crate) fn has_header(&self) -> bool {
        self.columns == Columns::Header
    }
}

/// The table that rows go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowsTable {
    /// `None` for the schema of the session.
    pub(crate) schema: Option<Vec<u8>>,
    pub(crate) name: Vec<u8>,
}

impl RowsTable {
    /// As an INSERT names it.
    pub(crate) fn quoted(&self) -> Vec<u8> {
        let name = quote_identifier(&self.name);
        match &self.schema {
            Some(schema) => [&quote_identifier(schema)[..], b".", &name].concat(),
            None => name,
        }
    }
}

/// Which column a field goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// All columns of the table, in its order.
    All,
    /// The first record names them.
    Header,
    /// These.
    Named(Vec<Field>),
}

/// What becomes of one field of each record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The column's name.
    pub name: Vec<u8>,
    /// How its value is written.
    pub encoding: Encoding,
    /// What of its bytes looks like an escape or a separator, and is none.
    pub content: Content,
}

/// What a field of a dump holds, as far as it matters for its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A text: in some character sets, a byte that looks like an escape or a separator may be the second half of a character.
    Text(Charset),
    /// A BIT column: its bytes as they are, without escapes.
    Bits(Bits),
}

impl Default for Content {
    fn default() -> Self {
        Self::Text(Charset::AsciiSafe)
    }
}

/// How a field holds its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// As text, or as bytes of the file's character set.
    Plain,
    /// As text in UTF-8, in a file that is else bytes.
    Utf8,
    /// As bytes, in a file that is else text.
    Bytes,
    /// As decimal digits, of which a string would be other bits.
    Number,
    /// As hexadecimal digits.
    Hex,
    /// In Base64.
    Base64,
    /// The field is left out: the server computes the column.
    Omitted,
}

impl Field {
    /// A column whose value is as it stands.
    #[must_use]
    pub fn plain(name: impl Into<Vec<u8>>) -> Self {
        Self::encoded(name, Encoding::Plain)
    }

    /// A column whose value is written in this encoding.
    #[must_use]
    pub fn encoded(name: impl Into<Vec<u8>>, encoding: Encoding) -> Self {
        Self { name: name.into(), encoding, content: Content::default() }
    }
}
