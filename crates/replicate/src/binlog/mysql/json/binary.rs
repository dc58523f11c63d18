//! The binary form: a type, and a value in which containers hold offsets of their members.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::number::{date_text, datetime_text, decimal_text, double_text, time_text};
use super::{DEPTH_LIMIT, Json, quote};
use crate::binlog::fields::{Fields, Found};

const SMALL_OBJECT: u8 = 0;
const LARGE_OBJECT: u8 = 1;
const SMALL_ARRAY: u8 = 2;
const LARGE_ARRAY: u8 = 3;
const LITERAL: u8 = 4;
const INT16: u8 = 5;
const UINT16: u8 = 6;
const INT32: u8 = 7;
const UINT32: u8 = 8;
const INT64: u8 = 9;
const UINT64: u8 = 10;
const DOUBLE: u8 = 11;
const TEXT: u8 = 12;
const OPAQUE: u8 = 15;

/// Types of columns whose values stand in JSON as they are.
const TIMESTAMP: u8 = 7;
const DATE: u8 = 10;
const TIME: u8 = 11;
const DATETIME: u8 = 12;
const DECIMAL: u8 = 246;

/// Reads a value with its type before it. A column that was added as NOT NULL has no bytes at all in old rows.
pub(super) fn read(bytes: &[u8]) -> Result<Json, Found> {
    match bytes.split_first() {
        None => Ok(Json::null()),
        Some((kind, rest)) => value(*kind, rest, 0),
    }
}

fn value(kind: u8, bytes: &[u8], depth: usize) -> Result<Json, Found> {
    let mut fields = Fields(bytes);
    let number = |text: String| Json::Scalar(text.into_bytes());
    let what = "a JSON number";
    Ok(match kind {
        SMALL_OBJECT | LARGE_OBJECT | SMALL_ARRAY | LARGE_ARRAY => return container(kind, bytes, depth),
        LITERAL => literal(fields.u8("a JSON literal")?)?,
        INT16 => number(fields.u16(what)?.cast_signed().to_string()),
        UINT16 => number(fields.u16(what)?.to_string()),
        INT32 => number(fields.u32(what)?.cast_signed().to_string()),
        UINT32 => number(fields.u32(what)?.to_string()),
        INT64 => number(fields.u64(what)?.cast_signed().to_string()),
        UINT64 => number(fields.u64(what)?.to_string()),
        DOUBLE => number(double_text(f64::from_bits(fields.u64(what)?))),
        TEXT => quoted(variable(&mut fields)?),
        OPAQUE => {
            let column_type = fields.u8("the type of a JSON value")?;
            opaque(column_type, variable(&mut fields)?)?
        }
        other => return Err(format!("a JSON value of the unknown type {other}")),
    })
}

fn quoted(text: &[u8]) -> Json {
    let mut printed = Vec::with_capacity(text.len() + 2);
    quote(text, &mut printed);
    Json::Scalar(printed)
}

fn literal(number: u8) -> Result<Json, Found> {
    match number {
        0 => Ok(Json::null()),
        1 => Ok(Json::Scalar(b"true".to_vec())),
        2 => Ok(Json::Scalar(b"false".to_vec())),
        other => Err(format!("the unknown JSON literal {other}")),
    }
}

/// Bytes behind their length, of which each byte has seven bits.
fn variable<'a>(fields: &mut Fields<'a>) -> Result<&'a [u8], Found> {
    let mut length = 0usize;
    for shift in (0..35).step_by(7) {
        let byte = fields.u8("the length of a JSON text")?;
        length |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return fields.bytes(length, "a JSON text");
        }
    }
    Err("the length of a JSON text has no end".to_owned())
}

fn container(kind: u8, bytes: &[u8], depth: usize) -> Result<Json, Found> {
    if depth > DEPTH_LIMIT {
        return Err(format!("JSON of more than {DEPTH_LIMIT} levels"));
    }
    let is_large = matches!(kind, LARGE_OBJECT | LARGE_ARRAY);
    let is_object = matches!(kind, SMALL_OBJECT | LARGE_OBJECT);
    let mut fields = Fields(bytes);
    let offset = |fields: &mut Fields<'_>, what: &str| -> Result<usize, Found> {
        if is_large { fields.u32(what).map(|number| number as usize) } else { fields.u16(what).map(usize::from) }
    };
    let from = |start: usize| bytes.get(start..).ok_or_else(|| "a JSON value outside of its container".to_owned());
    let count = offset(&mut fields, "the number of JSON values")?;
    let size = offset(&mut fields, "the size of a JSON value")?;
    if size > bytes.len() {
        return Err(format!("a JSON value of {size} bytes, of which {} are there", bytes.len()));
    }
    let mut keys = Vec::new();
    for _ in 0..if is_object { count } else { 0 } {
        let start = offset(&mut fields, "a JSON key")?;
        let length = fields.u16("the length of a JSON key")?;
        keys.push(Fields(from(start)?).bytes(length.into(), "a JSON key")?.to_vec());
    }
    let mut values = Vec::new();
    for _ in 0..count {
        let kind = fields.u8("the type of a JSON value")?;
        let entry = fields.bytes(if is_large { 4 } else { 2 }, "a JSON value")?;
        // Small values stand in the place of their offset.
        let is_inline = matches!(kind, LITERAL | INT16 | UINT16) || is_large && matches!(kind, INT32 | UINT32);
        values.push(if is_inline {
            value(kind, entry, depth + 1)?
        } else {
            let start = entry.iter().rev().fold(0usize, |number, byte| number << 8 | usize::from(*byte));
            value(kind, from(start)?, depth + 1)?
        });
    }
    Ok(if is_object { Json::Object(keys.into_iter().zip(values).collect()) } else { Json::Array(values) })
}

/// A value of a type that JSON does not have.
fn opaque(column_type: u8, bytes: &[u8]) -> Result<Json, Found> {
    let packed = || Fields(bytes).u64("a time in JSON").map(u64::cast_signed);
    let text = match column_type {
        DECIMAL => return decimal_text(bytes).map(|text| Json::Scalar(text.into_bytes())),
        DATE => date_text(packed()?),
        DATETIME | TIMESTAMP => datetime_text(packed()?),
        TIME => time_text(packed()?),
        other => format!("base64:type{other}:{}", in_lines(&STANDARD.encode(bytes))),
    };
    Ok(quoted(text.as_bytes()))
}

/// The server breaks base64 into lines.
fn in_lines(text: &str) -> String {
    const LINE: usize = 76;
    let lines: Vec<&str> = (0..text.len()).step_by(LINE).map(|at| &text[at..text.len().min(at + LINE)]).collect();
    lines.join("\n")
}
