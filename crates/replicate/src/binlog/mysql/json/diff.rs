//! What a partial update changes in a value (`binlog_row_value_options=PARTIAL_JSON`).

use super::{Json, binary};
use crate::binlog::fields::{Fields, Found};

const REPLACE: u8 = 0;
const INSERT: u8 = 1;
const REMOVE: u8 = 2;

/// A step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(Vec<u8>),
    Index(usize),
}

/// Changes of one value, in their order.
#[derive(Debug)]
pub struct JsonDiffs<'a>(Vec<(u8, Vec<Step>, &'a [u8])>);

impl<'a> JsonDiffs<'a> {
    /// Reads what stands in an after image in the place of a value.
    ///
    /// # Errors
    /// Bytes that are no changes.
    pub fn read(bytes: &'a [u8]) -> Result<JsonDiffs<'a>, Found> {
        let mut fields = Fields(bytes);
        let mut diffs = Vec::new();
        let text = |fields: &mut Fields<'a>, what: &str| -> Result<&'a [u8], Found> {
            let length = usize::try_from(fields.length_encoded(what)?).unwrap_or(usize::MAX);
            fields.bytes(length, what)
        };
        while !fields.0.is_empty() {
            let operation = fields.u8("the operation of a JSON change")?;
            let path = steps(text(&mut fields, "the path of a JSON change")?)?;
            let value: &[u8] = match operation {
                REPLACE | INSERT => text(&mut fields, "the value of a JSON change")?,
                REMOVE => &[],
                other => return Err(format!("a JSON change of the unknown kind {other}")),
            };
            diffs.push((operation, path, value));
        }
        Ok(JsonDiffs(diffs))
    }

    /// The text of a value after the changes; `before` are its bytes before them.
    ///
    /// # Errors
    /// Bytes that are no value, and paths that it does not have.
    pub fn apply(&self, before: &[u8]) -> Result<Vec<u8>, Found> {
        let mut json = binary::read(before)?;
        for (operation, path, value) in &self.0 {
            let new = || binary::read(value);
            let missing = || "a JSON change of a place that the value does not have".to_owned();
            let Some((last, parents)) = path.split_last() else {
                // The whole value.
                json = if *operation == REPLACE { new()? } else { return Err(missing()) };
                continue;
            };
            let mut place = &mut json;
            for step in parents {
                place = place.member(step).ok_or_else(missing)?;
            }
            match (*operation, place, last) {
                (REPLACE, place, step) => *place.member(step).ok_or_else(missing)? = new()?,
                (INSERT, Json::Array(values), Step::Index(index)) => {
                    values.insert((*index).min(values.len()), new()?);
                }
                (INSERT, Json::Object(members), Step::Key(key)) => {
                    // The server's order: shorter keys first.
                    let at = members.partition_point(|(one, _)| (one.len(), one) < (key.len(), key));
                    members.insert(at, (key.clone(), new()?));
                }
                (REMOVE, Json::Array(values), Step::Index(index)) if *index < values.len() => {
                    values.remove(*index);
                }
                (REMOVE, Json::Object(members), Step::Key(key)) => {
                    let at = members.iter().position(|(one, _)| one == key).ok_or_else(missing)?;
                    members.remove(at);
                }
                _ => return Err(missing()),
            }
        }
        let mut text = Vec::new();
        json.print(&mut text);
        Ok(text)
    }
}

impl Json {
    fn member(&mut self, step: &Step) -> Option<&mut Json> {
        match (self, step) {
            (Json::Array(values), Step::Index(index)) => values.get_mut(*index),
            (Json::Object(members), Step::Key(key)) => {
                members.iter_mut().find(|(one, _)| one == key).map(|(_, value)| value)
            }
            _ => None,
        }
    }
}

/// Reads a path, as `$.key[2]."other key"`. The server begins it with `$` or leaves that out.
fn steps(path: &[u8]) -> Result<Vec<Step>, Found> {
    let invalid = || format!("the JSON path `{}` cannot be read", String::from_utf8_lossy(path));
    let mut rest = path.strip_prefix(b"$").unwrap_or(path);
    let mut found = Vec::new();
    while let Some((first, behind)) = rest.split_first() {
        match first {
            b'[' => {
                let end = behind.iter().position(|byte| *byte == b']').ok_or_else(invalid)?;
                let index = std::str::from_utf8(&behind[..end]).ok().and_then(|index| index.parse().ok());
                found.push(Step::Index(index.ok_or_else(invalid)?));
                rest = &behind[end + 1..];
            }
            b'.' if behind.first() == Some(&b'"') => {
                let (key, end) = quoted_key(&behind[1..]).ok_or_else(invalid)?;
                found.push(Step::Key(key));
                rest = &behind[1 + end..];
            }
            b'.' => {
                let end = behind.iter().position(|byte| matches!(byte, b'.' | b'[')).unwrap_or(behind.len());
                found.push(Step::Key(behind[..end].to_vec()));
                rest = &behind[end..];
            }
            _ => return Err(invalid()),
        }
    }
    Ok(found)
}

/// A key up to its closing quote, and where it ends.
fn quoted_key(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut is_escaped = false;
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    })?;
    let quoted = [b"\"", &text[..end], b"\""].concat();
    let key: String = serde_json::from_slice(&quoted).ok()?;
    Some((key.into_bytes(), end + 1))
}
