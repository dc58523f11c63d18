//! How the rows of a table are written in its `.txt` file, by the table's definition.
//!
//! `SELECT … INTO OUTFILE` writes a text in the character set of its column, unless the dump asks for another. It escapes
//! the bytes of a character of one byte only. So in some character sets a byte that looks like an escape is a part of a
//! character, and in others a character looks like the end of a field.

use hortator_mysql::catalog::{ColumnKind, ColumnType, TableName, table_of_definition, types_of_definition};

use crate::input::delimited::{Bits, Columns, Content, Encoding, Field, Format};
use crate::lexer::{Charset, Dialect, Kind, is_ascii_safe, is_single_byte, is_wide, tokens};

/// The character set of the session for rows whose columns have each its own.
pub(super) const BINARY: &str = "binary";

/// The character set of the rows. Without `--default-character-set`, each column has its own; else all have that, which
/// the definition names. utf8mb4 is what it names without the option.
pub(super) fn rows_charset(definition: &[u8]) -> Result<String, String> {
    const NAMES: &[u8] = b"SET NAMES ";
    let Some(at) = memchr::memmem::find(definition, NAMES) else { return Ok(BINARY.to_owned()) };
    let rest = &definition[at + NAMES.len()..];
    let end = rest.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let charset = String::from_utf8_lossy(&rest[..end]).into_owned();
    if Charset::from_name(charset.as_bytes()) != Charset::AsciiSafe {
        return Err(format!("its rows are in {charset}, which is not supported: dump without --default-character-set"));
    }
    Ok(if charset == "utf8mb4" { BINARY.to_owned() } else { charset })
}

/// The fields of a table's rows: the file has all columns, and computed ones are left to the server. A UUID, an address
/// and JSON are text there, although the rows are read as bytes.
pub(super) fn of_definition(
    table: &[u8],
    definition: &[u8],
    rows_charset: &str,
    format: &Format,
) -> Result<Columns, String> {
    let name = TableName { schema: Vec::new(), table: table.to_owned() };
    let types = types_of_definition(definition);
    let (Some(table), Some(types)) = (table_of_definition(&name, definition), types) else {
        return match uncertain_type(definition, rows_charset, format) {
            None => Ok(Columns::All),
            Some(uncertain) => Err(format!(
                "it is not certain which of its columns are {uncertain}: dump without --skip-create-options and \
                 --skip-quote-names"
            )),
        };
    };
    let field = |(column, column_type): (hortator_mysql::catalog::Column, ColumnType)| {
        let encoding = match column.kind {
            _ if column.generated => Encoding::Omitted,
            ColumnKind::FixedBinary => Encoding::Utf8,
            // MySQL takes no JSON of bytes (error 3144).
            _ if column_type.name == "json" && rows_charset == BINARY => Encoding::Utf8,
            _ if column_type.name == "bit" && rows_charset != BINARY => Encoding::Bytes,
            _ => Encoding::Plain,
        };
        let content = match &column_type.charset {
            Some(charset) if rows_charset == BINARY => Content::Text(splittable(&column.name, charset, format)?),
            None if column_type.name == "bit" && !escapes_numbers(format) => {
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
    let fields: Result<_, String> = table.columns.into_iter().zip(types).map(field).collect();
    fields.map(Columns::Named)
}

/// Whether the server escapes numbers, and bits: where what stands around a field is a part of a number.
fn escapes_numbers(format: &Format) -> bool {
    let first = format.enclosed.or(format.fields_terminated.first().copied());
    first.is_some_and(|byte| b".0123456789e+-".contains(&byte))
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

/// What a definition names first that decides where fields end: a character set in which not every byte that looks like ASCII
/// is, if its texts are in it, or BIT.
fn uncertain_type(definition: &[u8], rows_charset: &str, format: &Format) -> Option<String> {
    let mut rest = tokens(definition, &Dialect::mariadb(u32::MAX)).peekable();
    while let Some(token) = rest.next() {
        let Kind::Word(word) = token.kind else { continue };
        let word = String::from_utf8_lossy(word).to_ascii_lowercase();
        if word == "bit" {
            let digits = rest.next_if(|next| next.is_symbol(b"(")).and_then(|_| rest.next());
            let length =
                digits.and_then(|token| std::str::from_utf8(&definition[token.offset..token.end]).ok()?.parse().ok());
            if !is_plain_bit(length.unwrap_or(1), format) {
                return Some("BIT".to_owned());
            }
        }
        let charset = word.split('_').next().unwrap_or_default();
        if rows_charset == BINARY && !is_ascii_safe(charset) {
            return Some(format!("in {charset}"));
        }
    }
    None
}

/// BIT columns of so many bits need no definition to be read; 0 where those of one bit do.
pub(super) fn plain_bits(format: &Format) -> u32 {
    (1..8).take_while(|&bits| is_plain_bit(bits, format)).last().unwrap_or(0)
}

/// Whether each value of so many bits is one byte that means nothing else.
fn is_plain_bit(bits: u32, format: &Format) -> bool {
    let first = |bytes: &[u8]| bytes.first().copied();
    let separators = [first(&format.fields_terminated), first(&format.lines_terminated)];
    let others = [format.enclosed, format.escaped, format.null.as_deref().and_then(first)];
    bits < 8 && separators.into_iter().chain(others).flatten().all(|byte| u32::from(byte) >= 1 << bits)
}

#[test]
fn a_definition_that_is_not_certain_may_have_small_bits() {
    let columns = |definition: &str| {
        of_definition(b"t", definition.as_bytes(), BINARY, &Format::load_data()).map(|columns| columns == Columns::All)
    };
    for bits in ["bit", "bit(1)", "bit(3)"] {
        assert_eq!(columns(&format!("CREATE TABLE `t` (\n  `a` {bits} DEFAULT NULL\n)")), Ok(true), "{bits}");
    }
    // Nine and ten are a tab and a line end.
    for bits in [4, 6, 8, 64] {
        assert!(columns(&format!("CREATE TABLE t (\n  a bit({bits}) DEFAULT NULL\n)")).is_err(), "{bits}");
    }
    let known = "CREATE TABLE IF NOT EXISTS `t` (\n  `a` bit(9) DEFAULT NULL\n) ENGINE=InnoDB";
    assert_eq!(columns(known), Ok(false));
}

#[test]
fn json_and_addresses_are_text_among_bytes() {
    let definition =
        b"CREATE TABLE `t` (\n  `j` json DEFAULT NULL,\n  `a` inet6 NOT NULL,\n  `c` longtext NOT NULL\n) \
                       ENGINE=InnoDB DEFAULT CHARSET=utf8mb4";
    let encodings = |charset| match of_definition(b"t", definition, charset, &Format::load_data()) {
        Ok(Columns::Named(fields)) => fields.into_iter().map(|field| field.encoding).collect(),
        _ => Vec::new(),
    };
    assert_eq!(encodings(BINARY), [Encoding::Utf8, Encoding::Utf8, Encoding::Plain]);
    assert_eq!(encodings("latin1"), [Encoding::Plain, Encoding::Utf8, Encoding::Plain]);
}
