//! Numbers, dates and times of JSON as the server prints them.

use crate::binlog::fields::Found;
use crate::binlog::user_variable::decimal;

/// Exponents beyond this are written as such, as the server's `my_gcvt` does with all digits of a double.
const PLAIN_DIGITS: i32 = 15;

/// The shortest text that is this number.
pub(super) fn double_text(number: f64) -> String {
    if !number.is_finite() {
        // No JSON has it.
        return "null".to_owned();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    // The place of the point in front of all digits.
    let point = exponent + 1;
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    // A large number with a fraction stays plain.
    let is_large = point > PLAIN_DIGITS && i32::try_from(digits).is_ok_and(|digits| digits <= point);
    if number != 0.0 && (point < 1 - PLAIN_DIGITS || is_large) {
        return format!("{mantissa}e{exponent}");
    }
    let plain = format!("{number}");
    if plain.contains('.') { plain } else { format!("{plain}.0") }
}

/// A decimal behind its precision and scale.
pub(super) fn decimal_text(bytes: &[u8]) -> Result<String, Found> {
    let text = decimal(bytes)?;
    let (sign, digits) = text.strip_prefix('-').map_or(("", &text[..]), |digits| ("-", digits));
    let shown = digits.trim_start_matches('0');
    let zero = if shown.is_empty() || shown.starts_with('.') { "0" } else { "" };
    Ok(format!("{sign}{zero}{shown}"))
}

const FRACTION_BITS: u32 = 24;

fn day_text(days: i64) -> String {
    let (year_month, day) = (days >> 5, days & 31);
    format!("{:04}-{:02}-{day:02}", year_month / 13, year_month % 13)
}

fn clock_text(clock: i64, fraction: i64) -> String {
    format!("{:02}:{:02}:{:02}.{fraction:06}", clock >> 12, clock >> 6 & 63, clock & 63)
}

/// A date in the form in which the server compares them.
pub(super) fn date_text(packed: i64) -> String {
    day_text(packed >> FRACTION_BITS >> 17)
}

/// A date with a time.
pub(super) fn datetime_text(packed: i64) -> String {
    let seconds = packed >> FRACTION_BITS;
    let fraction = packed & ((1 << FRACTION_BITS) - 1);
    format!("{} {}", day_text(seconds >> 17), clock_text(seconds & ((1 << 17) - 1), fraction))
}

/// A time, which may be negative.
pub(super) fn time_text(packed: i64) -> String {
    let (sign, packed) = if packed < 0 { ("-", packed.wrapping_neg()) } else { ("", packed) };
    format!("{sign}{}", clock_text(packed >> FRACTION_BITS & ((1 << 22) - 1), packed & ((1 << FRACTION_BITS) - 1)))
}
