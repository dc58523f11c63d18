//! The types of a table's columns as `SHOW CREATE TABLE` of MariaDB and MySQL has them: for those who read values that the
//! server has written somewhere else.

use super::{Reader, Token};
use crate::catalog::ColumnKind;

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// Its name in lower case, such as `varchar`.
    pub name: String,
    /// The number behind the name, such as the bits of `bit(8)`.
    pub length: Option<u32>,
    /// The character set in lower case, for text.
    pub charset: Option<String>,
}

/// The types in the order of the columns; `None` where anything in the text is unknown, or the character set of a text is.
pub(in crate::catalog) fn types(text: &[u8]) -> Option<Vec<ColumnType>> {
    let mut reader = Reader::new(text);
    reader.create_table()?;
    let mut types = Vec::new();
    loop {
        let item = reader.item()?;
        let mut parts = Reader::new(item.text);
        if let Token::Name(_) = parts.next()? {
            types.push(column_type(&mut parts)?);
        }
        if item.is_last {
            break;
        }
    }
    let of_table = charset(&mut reader);
    for column in &mut types {
        let is_text = ColumnKind::from_data_type(&column.name) == ColumnKind::Text && column.name != "json";
        if is_text && column.charset.is_none() {
            column.charset = Some(of_table.clone()?);
        }
    }
    Some(types)
}

/// What stands behind a column's name.
fn column_type(reader: &mut Reader<'_>) -> Option<ColumnType> {
    let Token::Word(name) = reader.next()? else { return None };
    let mut length = None;
    if reader.peek().is_some_and(|token| token.is_symbol(b'(')) {
        reader.next();
        if let Some(Token::Word(digits)) = reader.peek() {
            length = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok());
        }
        reader.skip_parentheses()?;
    }
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    Some(ColumnType { name, length, charset: charset(reader) })
}

/// The first character set that the rest names: `CHARACTER SET name`, `CHARSET=name`, or that of `COLLATE name`.
fn charset(reader: &mut Reader<'_>) -> Option<String> {
    let mut of_collation = None;
    while let Some(token) = reader.next() {
        let Token::Word(word) = token else {
            if token.is_symbol(b'(') {
                reader.skip_parentheses()?;
            }
            continue;
        };
        let is_named = match word.to_ascii_uppercase().as_slice() {
            b"CHARACTER" => reader.peek().is_some_and(|token| token.is_word("SET")) && reader.next().is_some(),
            b"CHARSET" => true,
            b"COLLATE" => false,
            _ => continue,
        };
        if reader.peek().is_some_and(|token| token.is_symbol(b'=')) {
            reader.next();
        }
        let Some(Token::Word(value)) = reader.next() else { continue };
        let value = String::from_utf8_lossy(value).to_ascii_lowercase();
        if is_named {
            return Some(value);
        }
        // A collation of several character sets does not name one: then it stands behind one.
        let (charset, _) = value.split_once('_').unwrap_or((&value, ""));
        of_collation = of_collation.or_else(|| (charset != "uca1400").then(|| charset.to_owned()));
    }
    of_collation
}
