//! A user variable of the next statement.

use super::fields::{Fields, Found};

/// Its name and value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserVariable {
    /// Its name.
    pub name: Vec<u8>,
    /// Its value; `None` is NULL.
    pub value: Option<UserValue>,
}

/// A value that is not NULL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserValue {
    /// A text, and the number of its collation.
    Text(Vec<u8>, u32),
    /// A geometry: the name of its type, and the server's own form, which is a number of a reference system and WKB.
    Geometry(Vec<u8>, Vec<u8>),
    /// A DOUBLE, as its bits.
    Real(u64),
    /// A signed number.
    Int(i64),
    /// An unsigned number.
    Unsigned(u64),
    /// A DECIMAL, as digits.
    Decimal(String),
}

/// `LOGGED_UNSIGNED`.
const UNSIGNED: u8 = 1;
/// The name of a data type follows, behind its length.
const TYPE_NAME: u8 = 2;
/// Digits that four bytes hold.
const WORD_DIGITS: usize = 9;
/// Bytes of fewer digits, by their number.
const PART_BYTES: [usize; WORD_DIGITS + 1] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

impl UserVariable {
    pub(super) fn read(body: &[u8]) -> Result<UserVariable, Found> {
        let mut fields = Fields(body);
        let length = usize::try_from(fields.u32("the length of the name")?).unwrap_or(usize::MAX);
        let name = fields.bytes(length, "the name")?.to_vec();
        if fields.u8("whether it is NULL")? != 0 {
            return Ok(UserVariable { name, value: None });
        }
        let kind = fields.u8("the type of the value")?;
        let collation = fields.u32("the collation")?;
        let length = usize::try_from(fields.u32("the length of the value")?).unwrap_or(usize::MAX);
        let bytes = fields.bytes(length, "the value")?;
        let mut is_unsigned = false;
        let mut type_name = None;
        // Old servers end here.
        while let Ok(chunk) = fields.u8("the kind of what follows") {
            match chunk {
                TYPE_NAME => type_name = Some(fields.short_text("the name of the data type")?.to_vec()),
                other => is_unsigned = other & UNSIGNED != 0,
            }
        }
        let number = || bytes.try_into().map(u64::from_le_bytes).map_err(|_| format!("a number of {length} bytes"));
        let value = match kind {
            0 if type_name.is_some() => UserValue::Geometry(type_name.unwrap_or_default(), bytes.to_vec()),
            0 => UserValue::Text(bytes.to_vec(), collation),
            1 => UserValue::Real(number()?),
            2 if is_unsigned => UserValue::Unsigned(number()?),
            2 => UserValue::Int(number()?.cast_signed()),
            4 => UserValue::Decimal(decimal(bytes)?),
            other => return Err(format!("a value of the unknown type {other}")),
        };
        Ok(UserVariable { name, value: Some(value) })
    }
}

/// The digits of a DECIMAL: a byte each for all digits and for those behind the point, then groups of nine digits in four
/// bytes, the highest first. The first bit says that it is not negative; of a negative number all bits are inverted.
pub(super) fn decimal(bytes: &[u8]) -> Result<String, Found> {
    let mut fields = Fields(bytes);
    let (digits, behind) = (usize::from(fields.u8("the digits")?), usize::from(fields.u8("the decimals")?));
    let Some(before) = digits.checked_sub(behind) else { return Err(format!("{behind} decimals of {digits} digits")) };
    let Some(&first) = fields.0.first() else { return Err("a DECIMAL without digits".to_owned()) };
    let is_negative = first & 0x80 == 0;
    let mask = if is_negative { 0xff } else { 0 };
    let mut is_first = true;
    let mut group = |count: usize| -> Result<String, Found> {
        let taken = fields.bytes(PART_BYTES[count], "the digits")?;
        let mut number = 0u64;
        for byte in taken {
            let byte = if std::mem::take(&mut is_first) { byte ^ 0x80 } else { *byte };
            number = number << 8 | u64::from(byte ^ mask);
        }
        Ok(format!("{number:0count$}"))
    };
    let mut text = if is_negative { "-".to_owned() } else { String::new() };
    let start = text.len();
    if before % WORD_DIGITS > 0 {
        text += &group(before % WORD_DIGITS)?;
    }
    for _ in 0..before / WORD_DIGITS {
        text += &group(WORD_DIGITS)?;
    }
    if text.len() == start {
        text.push('0');
    }
    if behind > 0 {
        text.push('.');
        for _ in 0..behind / WORD_DIGITS {
            text += &group(WORD_DIGITS)?;
        }
        if behind % WORD_DIGITS > 0 {
            text += &group(behind % WORD_DIGITS)?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::decimal;

    #[test]
    fn decimals() {
        // As MariaDB writes 1234567890.1234, its negative, and 0.5.
        let cases: [(&[u8], &str); 3] = [
            (b"\x0e\x04\x81\x0d\xfb\x38\xd2\x04\xd2", "1234567890.1234"),
            (b"\x0e\x04\x7e\xf2\x04\xc7\x2d\xfb\x2d", "-1234567890.1234"),
            (b"\x01\x01\x85", "0.5"),
        ];
        for (bytes, text) in cases {
            assert_eq!(decimal(bytes).as_deref(), Ok(text));
        }
        assert!(decimal(b"\x0e\x04\x81").is_err());
    }
}
