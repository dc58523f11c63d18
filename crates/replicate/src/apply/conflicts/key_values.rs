//! Values of keys as the target's SQL: literals that are equal to the value of a column, and to no other one. Pure.
//!
//! Source: MySQL internals, "Date and Time Data Type Representation"; the manual on DECIMAL.

use crate::binlog::ColumnFormat;

const BIT: u8 = 16;
const STRING: u8 = 254;
const ENUM: u8 = 247;
const SET: u8 = 248;

/// A column of a unique key on the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::apply) struct KeyColumn {
    pub(in crate::apply) name: String,
    /// Its place, from 0.
    pub(in crate::apply) index: usize,
    /// Its type without length.
    pub(in crate::apply) data_type: String,
    pub(in crate::apply) is_unsigned: bool,
    /// The character set; empty where it has none.
    pub(in crate::apply) charset: String,
    /// The first so many characters or bytes count; 0 for all.
    pub(in crate::apply) prefix: usize,
    /// Computed, and not stored.
    pub(in crate::apply) is_virtual: bool,
}

/// The literal for a value, in a session whose time zone is UTC; `None` for a type whose values have none here.
pub(in crate::apply) fn literal(format: &ColumnFormat, value: &[u8], column: &KeyColumn) -> Option<String> {
    let metadata = |index: usize| format.metadata.get(index).copied().unwrap_or_default();
    let (first, second) = (metadata(0), metadata(1));
    Some(match (format.column_type, column.data_type.as_str()) {
        (STRING, _) if [ENUM, SET].contains(&first) => unsigned_le(value)?.to_string(),
        (ENUM | SET, _) => unsigned_le(value)?.to_string(),
        (1 | 2 | 3 | 8 | 9, "tinyint" | "smallint" | "mediumint" | "int" | "bigint") => {
            if column.is_unsigned {
                unsigned_le(value)?.to_string()
            } else {
                signed_le(value)?.to_string()
            }
        }
        (13, "year") => match value {
            [0] => "'0000'".to_owned(),
            [year] => (1_900 + u32::from(*year)).to_string(),
            _ => return None,
        },
        (4, "float") => format!("{:e}", f64::from(f32::from_le_bytes(value.try_into().ok()?))),
        (5, "double") => format!("{:e}", f64::from_le_bytes(value.try_into().ok()?)),
        (246, "decimal") => decimal(value, first.into(), second.into())?,
        (BIT, "bit") => unsigned_be(value)?.to_string(),
        (10 | 14, "date") => {
            let packed = unsigned_le(value)?;
            format!("'{:04}-{:02}-{:02}'", packed >> 9, packed >> 5 & 15, packed & 31)
        }
        (17, "timestamp") => {
            let (seconds, fraction) = value.split_at_checked(4)?;
            let fraction = fraction_text(unsigned_be(fraction)?, fraction.len());
            match unsigned_be(seconds)? {
                0 if value.iter().all(|byte| *byte == 0) => format!("'0000-00-00 00:00:00{fraction}'"),
                seconds => format!("'{}{fraction}'", utc(seconds)),
            }
        }
        (18, "datetime") => {
            let (packed, fraction) = value.split_at_checked(5)?;
            let packed = unsigned_be(packed)?.checked_sub(1 << 39)?;
            let (date, time) = (packed >> 17, packed & 0x1_ffff);
            let (months, day) = (date >> 5, date & 31);
            format!(
                "'{:04}-{:02}-{day:02} {:02}:{:02}:{:02}{}'",
                months / 13,
                months % 13,
                time >> 12,
                time >> 6 & 63,
                time & 63,
                fraction_text(unsigned_be(fraction)?, fraction.len())
            )
        }
        (19, "time") => time(value)?,
        (252 | 15 | 253 | STRING, "binary") => {
            // Zeros at the end are not in the event.
            let length = usize::from(second) | usize::from((first & 0x30) ^ 0x30) << 4;
            let padded: Vec<u8> =
                value.iter().copied().chain(std::iter::repeat(0)).take(length.max(value.len())).collect();
            hex(&padded)
        }
        (252 | 15 | 253, "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob") => hex(value),
        (252 | 15 | 253 | STRING, "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "json")
            if !column.charset.is_empty() =>
        {
            format!("_{} {}", column.charset, hex(value))
        }
        _ => return None,
    })
}

/// A value for a person: the literal, or a text that can be read.
pub(in crate::apply) fn shown(format: &ColumnFormat, value: &[u8], column: &KeyColumn) -> String {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && *byte != b'\'';
    match literal(format, value, column) {
        Some(_) if !column.charset.is_empty() && format.is_text() && value.iter().all(is_plain) => {
            format!("'{}'", String::from_utf8_lossy(value))
        }
        Some(literal) => literal,
        None => hex(value),
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("X'{digits}'")
}

fn unsigned_le(bytes: &[u8]) -> Option<u64> {
    (bytes.len() <= 8).then(|| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn unsigned_be(bytes: &[u8]) -> Option<u64> {
    (bytes.len() <= 8).then(|| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

fn signed_le(bytes: &[u8]) -> Option<i64> {
    let shift = 64 - 8 * u32::try_from(bytes.len()).ok().filter(|length| (1..=8).contains(length))?;
    Some((unsigned_le(bytes)? << shift).cast_signed() >> shift)
}

/// The fraction of a second, of so many bytes.
fn fraction_text(fraction: u64, bytes: usize) -> String {
    if bytes == 0 { String::new() } else { format!(".{fraction:0width$}", width = bytes * 2) }
}

fn time(value: &[u8]) -> Option<String> {
    let fraction_bytes = value.len().checked_sub(3).filter(|bytes| *bytes <= 3)?;
    let fraction_bits = 8 * u32::try_from(fraction_bytes).ok()?;
    let packed = unsigned_be(value)?.cast_signed() - (1 << (23 + fraction_bits));
    let (sign, packed) = (if packed < 0 { "-" } else { "" }, packed.unsigned_abs());
    let (whole, fraction) = (packed >> fraction_bits, packed & ((1 << fraction_bits) - 1));
    let fraction = fraction_text(fraction, fraction_bytes);
    Some(format!("'{sign}{:02}:{:02}:{:02}{fraction}'", whole >> 12, whole >> 6 & 63, whole & 63))
}

/// A time since 1970 as a date and a time.
fn utc(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400 + 719_468, seconds % 86_400);
    // Years that begin in March, in eras of 400 years.
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60)
}

/// Groups of nine digits take four bytes, the rest as few as it can; the first bit is the sign, and negative numbers are
/// inverted.
fn decimal(value: &[u8], precision: usize, scale: usize) -> Option<String> {
    const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let is_negative = value.first()? & 0x80 == 0;
    let mut bytes = value.to_vec();
    *bytes.first_mut()? ^= 0x80;
    if is_negative {
        bytes.iter_mut().for_each(|byte| *byte = !*byte);
    }
    let whole = precision.checked_sub(scale)?;
    let mut rest = &bytes[..];
    let mut take = |digits: usize| {
        let (taken, behind) = rest.split_at_checked(BYTES[digits])?;
        rest = behind;
        Some(format!("{:0digits$}", unsigned_be(taken)?))
    };
    let group = |count: usize| std::iter::repeat_n(9, count / 9);
    let mut text = if is_negative { "-".to_owned() } else { String::new() };
    text += if whole == 0 { "0" } else { "" };
    for digits in std::iter::once(whole % 9).filter(|digits| *digits > 0).chain(group(whole)) {
        text += &take(digits)?;
    }
    if scale > 0 {
        text += ".";
        for digits in group(scale).chain(std::iter::once(scale % 9).filter(|digits| *digits > 0)) {
            text += &take(digits)?;
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.replace(' ', "");
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
    }

    /// Those that a server writes itself are in the tests of the command line: `keys_of_all_types`.
    #[test]
    fn literals() {
        let text = |charset: &str| KeyColumn { charset: charset.to_owned(), ..KeyColumn::default() };
        let unsigned = || KeyColumn { is_unsigned: true, ..KeyColumn::default() };
        let plain = KeyColumn::default;
        for (column_type, metadata, value, data_type, column, expected) in [
            (1, "", "ff", "tinyint", plain(), Some("-1")),
            (1, "", "ff", "tinyint", unsigned(), Some("255")),
            (9, "", "ffff7f", "mediumint", plain(), Some("8388607")),
            (8, "", "0000000000000080", "bigint", plain(), Some("-9223372036854775808")),
            (8, "", "ffffffffffffffff", "bigint", unsigned(), Some("18446744073709551615")),
            (13, "", "00", "year", plain(), Some("'0000'")),
            (13, "", "7c", "year", plain(), Some("2024")),
            (4, "04", "cdcccc3d", "float", plain(), Some("1.0000000149011612e-1")),
            (5, "08", "9a9999999999b93f", "double", plain(), Some("1e-1")),
            (246, "0502", "800102", "decimal", plain(), Some("001.02")),
            (246, "0502", "7ffefd", "decimal", plain(), Some("-001.02")),
            (246, "0202", "8c", "decimal", plain(), Some("0.12")),
            (246, "0e04", "810dfb38d204d2", "decimal", plain(), Some("1234567890.1234")),
            (16, "0101", "0105", "bit", plain(), Some("261")),
            (10, "", "58d00f", "date", plain(), Some("'2024-02-24'")),
            (10, "", "000000", "date", plain(), Some("'0000-00-00'")),
            (17, "00", "65d9d7ac", "timestamp", plain(), Some("'2024-02-24 11:49:00'")),
            (17, "03", "65d9d7ac 0c30", "timestamp", plain(), Some("'2024-02-24 11:49:00.3120'")),
            (17, "00", "00000000", "timestamp", plain(), Some("'0000-00-00 00:00:00'")),
            (18, "00", "99b2b0bc40", "datetime", plain(), Some("'2024-02-24 11:49:00'")),
            (19, "00", "80bc40", "time", plain(), Some("'11:49:00'")),
            (19, "00", "7ffffe", "time", plain(), Some("'-00:00:02'")),
            (19, "02", "7ffffe ce", "time", plain(), Some("'-00:00:01.50'")),
            (254, "f701", "03", "enum", plain(), Some("3")),
            (254, "f802", "0501", "set", plain(), Some("261")),
            (15, "5000", "6162", "varchar", text("utf8mb4"), Some("_utf8mb4 X'6162'")),
            (15, "5000", "", "varchar", text("latin1"), Some("_latin1 X''")),
            (252, "02", "00ff", "blob", plain(), Some("X'00ff'")),
            (254, "fe04", "6100", "binary", plain(), Some("X'61000000'")),
            (254, "fe10", "00112233445566778899aabbccddeeff", "uuid", plain(), None),
            (7, "", "65d9d7ac", "timestamp", plain(), None),
        ] {
            let format = ColumnFormat { column_type, metadata: bytes(metadata) };
            let column = KeyColumn { data_type: data_type.to_owned(), ..column };
            assert_eq!(literal(&format, &bytes(value), &column).as_deref(), expected, "{data_type} {value}");
        }
    }

    #[test]
    fn values_for_a_person() {
        let format = ColumnFormat { column_type: 15, metadata: vec![80, 0] };
        let column =
            KeyColumn { data_type: "varchar".to_owned(), charset: "utf8mb4".to_owned(), ..KeyColumn::default() };
        assert_eq!(shown(&format, b"a b", &column), "'a b'");
        assert_eq!(shown(&format, b"it's", &column), "_utf8mb4 X'69742773'");
    }
}
