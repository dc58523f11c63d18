//! The variables of a test, as far as the file itself says what they hold.

use std::collections::HashMap;

use super::commands::is_of_name;

/// Some digits of a number that a condition compares; anything else is text.
type Number = i64;

/// What is known of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Known(Vec<u8>),
    /// The result of a query, for one.
    Unknown,
}

/// All variables of a test.
#[derive(Debug, Default)]
pub(super) struct Variables(HashMap<Vec<u8>, Value>);

impl Variables {
    /// Gives the variable a value that is known.
    pub(super) fn set(&mut self, name: &str, value: &str) {
        self.0.insert(name.as_bytes().to_vec(), Value::Known(value.as_bytes().to_vec()));
    }

    /// `let $name = value`.
    pub(super) fn assign(&mut self, assignment: &[u8]) {
        let Some(equals) = assignment.iter().position(|byte| *byte == b'=') else { return };
        let (name, value) = (assignment[..equals].trim_ascii(), assignment[equals + 1..].trim_ascii());
        let name = name.strip_prefix(b"$").unwrap_or(name).to_vec();
        let is_asked =
            [b"`".as_slice(), b"query_get_value", b"convert_error"].iter().any(|head| value.starts_with(head));
        let value = if is_asked { None } else { self.substitute(value) };
        self.0.insert(name, value.map_or(Value::Unknown, Value::Known));
    }

    /// `inc $name` and `dec $name`.
    pub(super) fn add(&mut self, name: &[u8], by: Number) {
        let name = name.strip_prefix(b"$").unwrap_or(name).to_vec();
        let value = match self.0.get(&name) {
            Some(Value::Unknown) => Value::Unknown,
            Some(Value::Known(value)) => number(value).map_or(Value::Unknown, |value| known(value + by)),
            None => known(by),
        };
        self.0.insert(name, value);
    }

    /// The text with its variables' values in it; `None` where one is not known.
    pub(super) fn substitute(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut result = Vec::with_capacity(text.len());
        let mut at = 0;
        while let Some(byte) = text.get(at) {
            at += 1;
            match byte {
                b'\\' if text.get(at).is_some_and(|next| matches!(next, b'\\' | b'$' | b'"')) => {
                    // A backslash before these goes; what it stands before stays.
                    result.push(text[at]);
                    at += 1;
                }
                b'$' => {
                    let length = text[at..].iter().position(|byte| !is_of_name(*byte)).unwrap_or(text.len() - at);
                    match self.0.get(&text[at..at + length]) {
                        Some(Value::Known(value)) => result.extend(value),
                        Some(Value::Unknown) | None => return None,
                    }
                    at += length;
                }
                other => result.push(*other),
            }
        }
        Some(result)
    }

    /// Whether a condition holds; `None` where that is not known. A variable without a value is false.
    pub(super) fn holds(&self, condition: &[u8]) -> Option<bool> {
        let condition = condition.trim_ascii();
        if let Some(rest) = condition.strip_prefix(b"!") {
            return self.holds(rest).map(|holds| !holds);
        }
        if let Some((left, operator, right)) = comparison(condition) {
            let (left, right) = (self.operand(left)?, self.operand(right)?);
            return compare(&left, operator, &right);
        }
        let value = self.operand(condition)?;
        Some(match number(&value) {
            Some(number) => number != 0,
            None => !value.is_empty(),
        })
    }

    fn operand(&self, text: &[u8]) -> Option<Vec<u8>> {
        let text = text.trim_ascii();
        if text.starts_with(b"`") {
            return None;
        }
        if let Some(name) = text.strip_prefix(b"$") {
            return match self.0.get(name) {
                Some(Value::Known(value)) => Some(value.clone()),
                Some(Value::Unknown) => None,
                None => Some(Vec::new()),
            };
        }
        let quoted = |quote: &[u8]| text.strip_prefix(quote)?.strip_suffix(quote);
        Some(quoted(b"'").or_else(|| quoted(b"\"")).unwrap_or(text).to_vec())
    }
}

fn known(number: Number) -> Value {
    Value::Known(number.to_string().into_bytes())
}

fn number(text: &[u8]) -> Option<Number> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// A condition's two sides and what stands between, the longest operator first.
fn comparison(condition: &[u8]) -> Option<(&[u8], &'static str, &[u8])> {
    if !condition.starts_with(b"$") {
        return None;
    }
    for operator in ["==", "!=", "<=", ">=", "=~", "!~", "<", ">"] {
        let found = condition.windows(operator.len()).position(|window| window == operator.as_bytes());
        if let Some(at) = found {
            return Some((&condition[..at], operator, &condition[at + operator.len()..]));
        }
    }
    None
}

fn compare(left: &[u8], operator: &str, right: &[u8]) -> Option<bool> {
    let order = match (number(left), number(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => left.to_ascii_lowercase().cmp(&right.to_ascii_lowercase()),
    };
    match operator {
        "==" => Some(order.is_eq()),
        "!=" => Some(order.is_ne()),
        "<=" => Some(order.is_le()),
        ">=" => Some(order.is_ge()),
        "<" => Some(order.is_lt()),
        ">" => Some(order.is_gt()),
        // Patterns.
        _ => None,
    }
}
