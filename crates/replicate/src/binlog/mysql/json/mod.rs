//! JSON as MySQL keeps it, as the text that MySQL prints: MariaDB keeps texts.
//!
//! ```text
//!   binary    bytes ──► Json            MySQL reference manual, "The JSON Data Type"; the layout as seen with 9.7
//!   diff      what a partial update changes in a Json
//!   number    doubles, decimals, dates and times as text
//!   Json      ──► text
//! ```

mod binary;
mod diff;
mod number;

use crate::binlog::fields::Found;

pub use diff::JsonDiffs;

/// More than the server accepts.
const DEPTH_LIMIT: usize = 110;

/// A value.
#[derive(Clone, Debug, PartialEq)]
enum Json {
    /// A number, `true`, `false`, `null`, or a quoted text, as it is printed.
    Scalar(Vec<u8>),
    Array(Vec<Json>),
    /// Its keys in the server's order.
    Object(Vec<(Vec<u8>, Json)>),
}

/// What the server prints for a value of a JSON column.
///
/// # Errors
/// Bytes that are no such value.
pub fn json_text(bytes: &[u8]) -> Result<Vec<u8>, Found> {
    let mut text = Vec::with_capacity(bytes.len() * 2);
    binary::read(bytes)?.print(&mut text);
    Ok(text)
}

impl Json {
    fn null() -> Json {
        Json::Scalar(b"null".to_vec())
    }

    fn print(&self, text: &mut Vec<u8>) {
        match self {
            Json::Scalar(printed) => text.extend_from_slice(printed),
            Json::Array(values) => {
                text.push(b'[');
                for (index, value) in values.iter().enumerate() {
                    if index > 0 {
                        text.extend_from_slice(b", ");
                    }
                    value.print(text);
                }
                text.push(b']');
            }
            Json::Object(members) => {
                text.push(b'{');
                for (index, (key, value)) in members.iter().enumerate() {
                    if index > 0 {
                        text.extend_from_slice(b", ");
                    }
                    quote(key, text);
                    text.extend_from_slice(b": ");
                    value.print(text);
                }
                text.push(b'}');
            }
        }
    }
}

/// Adds a text in quotes.
fn quote(raw: &[u8], text: &mut Vec<u8>) {
    text.push(b'"');
    for byte in raw {
        let escaped: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            0x08 => b"\\b",
            b'\t' => b"\\t",
            b'\n' => b"\\n",
            0x0c => b"\\f",
            b'\r' => b"\\r",
            0..0x20 => {
                text.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
                continue;
            }
            other => {
                text.push(*other);
                continue;
            }
        };
        text.extend_from_slice(escaped);
    }
    text.push(b'"');
}
