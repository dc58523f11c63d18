//! How the rows of a table are written in its `.txt` file, by the table's definition.
//!
//! `SELECT … INTO OUTFILE` writes a text in the character set of its column, unless the dump asks for another. It escapes
//! the bytes of a character of one byte only. So in some character sets a byte that looks like an escape is a part of a
//! character, and in others a character looks like the end of a field.

use hortator_mysql::catalog::{Column, ColumnKind, ColumnType, TableName, table_of_definition, types_of_definition};

use crate::input::delimited::{Bits, Columns, Content, Encoding, Field, Format};
use crate::lexer::{Charset, Dialect, Kind, Token, is_ascii_safe, is_single_byte, is_wide, tokens};

/// The character set of the session for rows whose columns have each its own.
pub(super) const BINARY: &str = "binary";

/// The fields of a table's rows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RowsFields {
    pub(super) columns: Columns,
    /// Where fields end depends on the default character set of the schema: texts are in it.
    pub(super) are_in_default_charset: bool,
}

/// The fields of a table's rows: the file has all columns, and computed ones are left to the server. A UUID, an address
/// and JSON are text there, although the rows are read as bytes. Behind a header, each value was converted to text.
pub(super) fn of_definition(
    table: &[u8],
    definition: &[u8],
    rows_charset: &str,
    format: &Format,
    has_header: bool,
) -> Result<RowsFields, String> {
    let Some(Understood { columns, types, are_in_default_charset }) = understood(table, definition) else {
        return match uncertain_type(definition, rows_charset, format, has_header) {
            None => {
                let are_in_default_charset = rows_charset == BINARY && !names_charset(definition);
                Ok(RowsFields { columns: Columns::All, are_in_default_charset })
            }
            Some(uncertain) => Err(format!(
                "it is not certain which of its columns are {uncertain}: dump without --skip-create-options and \
                 --skip-quote-names"
            )),
        };
    };
    let field = |(column, column_type): (Column, ColumnType)| {
        let encoding = match column.kind {
            _ if column.generated => Encoding::Omitted,
            ColumnKind::FixedBinary => Encoding::Utf8,
            // MySQL takes no JSON of bytes (error 3144).
            _ if column_type.name == "json" && rows_charset == BINARY => Encoding::Utf8,
            _ if column_type.name == "bit" && has_header => Encoding::Number,
            _ if column_type.name == "bit" && rows_charset != BINARY => Encoding::Bytes,
            _ => Encoding::Plain,
        };
        let content = match &column_type.charset {
            Some(charset) if rows_charset == BINARY => Content::Text(splittable(&column.name, charset, format)?),
            None if column_type.name == "bit" && !has_header && !escapes_numbers(format) => {
                let bits = column_type.length.unwrap_or(1);
                if bits > 7 && rows_charset != BINARY && !is_single_byte(rows_charset) {
                    return Err(format!(
                        "the server has replaced bytes of column {}, a BIT, by question marks, because the dump is in \
                         {rows_charset}: dump without --default-character-set",
                        String::from_utf8_lossy(&column.name)
                    ));
                }
                Content::Bits(Bits { bits, nullable: column.nullable })
            }
            _ => Content::default(),
        };
        Ok(Field { content, ..Field::encoded(column.name, encoding) })
    };
    let fields: Result<_, String> = columns.into_iter().zip(types).map(field).collect();
    let are_in_default_charset = are_in_default_charset && rows_charset == BINARY;
    Ok(RowsFields { columns: Columns::Named(fields?), are_in_default_charset })
}

/// What a definition says.
struct Understood {
    columns: Vec<Column>,
    types: Vec<ColumnType>,
    /// Texts are in the default character set, which it does not name.
    are_in_default_charset: bool,
}

/// Reads a definition; `--skip-create-options` leaves out what stands behind its columns.
fn understood(table: &[u8], definition: &[u8]) -> Option<Understood> {
    let name = TableName { schema: Vec::new(), table: table.to_owned() };
    let with = |option: &str| [definition, option.as_bytes()].concat();
    let table =
        table_of_definition(&name, definition).or_else(|| table_of_definition(&name, &with(" ENGINE=InnoDB")))?;
    let named = types_of_definition(definition);
    let are_in_default_charset = named.is_none();
    let types = named.or_else(|| types_of_definition(&with(" DEFAULT CHARSET=utf8mb4")))?;
    Some(Understood { columns: table.columns, types, are_in_default_charset })
}

/// Whether the server escapes numbers, and bits: where what stands around a field is a part of a number.
fn escapes_numbers(format: &Format) -> bool {
    let first = format.enclosed.or(format.fields_terminated.first().copied());
    format.escaped.is_some() && first.is_some_and(|byte| b".0123456789e+-".contains(&byte))
}

/// How to tell the characters of a column from separators; why not, where they cannot be told apart.
fn splittable(column: &[u8], charset: &str, format: &Format) -> Result<Charset, String> {
    let known = Charset::from_name(charset.as_bytes());
    // In ucs2, U+0905 begins with a tab.
    if is_wide(charset) || (known != Charset::AsciiSafe && !format.is_ascii()) {
        return Err(format!(
            "column {} is in {charset}, whose characters cannot be told from separators there: dump this table as SQL, \
             without --tab, and move this file and the one of its definition elsewhere",
            String::from_utf8_lossy(column)
        ));
    }
    Ok(known)
}

/// Types whose values are text among bytes.
const ADDRESSES: [&str; 3] = ["uuid", "inet4", "inet6"];

/// What a definition names first that decides how its rows are read: a character set in which not every byte that looks like
/// ASCII is, if its texts are in it, BIT, a type whose text may be taken for its bytes, or a column that INSERT passes over.
fn uncertain_type(definition: &[u8], rows_charset: &str, format: &Format, has_header: bool) -> Option<String> {
    let mut rest = tokens(definition, &Dialect::mariadb(u32::MAX)).peekable();
    let mut item = Item::default();
    while let Some(token) = rest.next() {
        let is_type = item.is_type(&token);
        let Kind::Word(word) = token.kind else { continue };
        let word = String::from_utf8_lossy(word).to_ascii_lowercase();
        if word == "bit" {
            let mut ahead = rest.clone();
            let digits = ahead.next_if(|next| next.is_symbol(b"(")).and_then(|_| ahead.next());
            let length =
                digits.and_then(|token| std::str::from_utf8(&definition[token.offset..token.end]).ok()?.parse().ok());
            if has_header || !is_plain_bit(length.unwrap_or(1), format) {
                return Some("BIT".to_owned());
            }
        }
        if is_type && rows_charset == BINARY && ADDRESSES.contains(&&word[..]) {
            return Some(word.to_ascii_uppercase());
        }
        if word == "invisible" || (word == "generated" && rest.peek().is_some_and(|next| next.is_word(b"ALWAYS"))) {
            return Some(word.to_ascii_uppercase());
        }
        let charset = word.split('_').next().unwrap_or_default();
        if rows_charset == BINARY && !is_ascii_safe(charset) {
            return Some(format!("in {charset}"));
        }
    }
    None
}

/// Where a token stands among the columns and keys of a definition.
#[derive(Default)]
struct Item {
    depth: usize,
    /// Words and names of the column or key so far.
    words: usize,
    is_key: bool,
}

impl Item {
    /// Words that begin what is no column.
    const NO_COLUMN: [&str; 10] =
        ["CHECK", "CONSTRAINT", "FOREIGN", "FULLTEXT", "INDEX", "KEY", "PERIOD", "PRIMARY", "SPATIAL", "UNIQUE"];

    /// Takes the next token: whether it is the type of a column.
    fn is_type(&mut self, token: &Token<'_>) -> bool {
        match token.kind {
            Kind::Symbol(b"(") => {
                self.depth += 1;
                self.words *= usize::from(self.depth > 1);
            }
            Kind::Symbol(b")") => self.depth = self.depth.saturating_sub(1),
            Kind::Symbol(b",") if self.depth == 1 => self.words = 0,
            Kind::Word(_) | Kind::QuotedIdentifier(_) if self.depth == 1 => {
                self.words += 1;
                if self.words == 1 {
                    self.is_key = Self::NO_COLUMN.iter().any(|word| token.is_word(word.as_bytes()));
                }
                return self.words == 2 && !self.is_key;
            }
            _ => {}
        }
        false
    }
}

/// Whether a definition names a character set, or a collation, which has one.
fn names_charset(definition: &[u8]) -> bool {
    let names =
        |word: &[u8]| ["CHARSET", "CHARACTER", "COLLATE"].iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes()));
    tokens(definition, &Dialect::mariadb(u32::MAX)).any(|token| matches!(token.kind, Kind::Word(word) if names(word)))
}

/// BIT columns of so many bits need no definition to be read; 0 where those of one bit do.
pub(super) fn plain_bits(format: &Format, has_header: bool) -> u32 {
    // Behind a header, they are decimal digits.
    if has_header {
        return 0;
    }
    (1..8).take_while(|&bits| is_plain_bit(bits, format)).last().unwrap_or(0)
}

/// Whether each value of so many bits is one byte that means nothing else.
fn is_plain_bit(bits: u32, format: &Format) -> bool {
    let first = |bytes: &[u8]| bytes.first().copied();
    let separators = [first(&format.fields_terminated), first(&format.lines_terminated)];
    let others = [format.enclosed, format.escaped, format.null.as_deref().and_then(first)];
    bits < 8 && separators.into_iter().chain(others).flatten().all(|byte| u32::from(byte) >= 1 << bits)
}

#[cfg(test)]
mod tests;
