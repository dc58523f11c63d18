//! Where the replay of files ends.

use std::fmt;
use std::str::FromStr;

use crate::binlog::{Gtid, MySqlGtid};
use crate::transaction::LogPosition;

/// Where the replay of files ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// Behind this transaction of MariaDB.
    Gtid(Gtid),
    /// Behind this transaction of MySQL.
    MySqlGtid(MySqlGtid),
    /// Behind the last transaction that ends at or before this place.
    Position(LogPosition),
    /// Before the first transaction that begins at or after this time, in seconds since 1970.
    Time(u32),
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Until, String> {
        let text = text.trim();
        if let Some(time) = time_of(text) {
            return time.map(Until::Time);
        }
        if let Ok(gtid) = text.parse() {
            return Ok(Until::Gtid(gtid));
        }
        if let Ok(gtid) = text.parse() {
            return Ok(Until::MySqlGtid(gtid));
        }
        match text.rsplit_once(':').and_then(|(file, position)| Some((file, position.parse().ok()?))) {
            Some((file, position)) if !file.is_empty() => {
                Ok(Until::Position(LogPosition { file: file.as_bytes().to_vec(), position }))
            }
            _ => Err(format!(
                "`{text}` is no place of a log: give a GTID as 0-1-100 or UUID:100, FILE:POSITION as binlog.000001:4711, or a time as \
                 \"2026-11-23 12:00:00\""
            )),
        }
    }
}

impl fmt::Display for Until {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Until::Gtid(gtid) => write!(f, "{gtid}"),
            Until::MySqlGtid(gtid) => write!(f, "{gtid}"),
            Until::Position(LogPosition { file, position }) => {
                write!(f, "{}:{position}", String::from_utf8_lossy(file))
            }
            Until::Time(seconds) => f.write_str(&utc(*seconds)),
        }
    }
}

const SECONDS_OF_DAY: i64 = 86_400;
/// From the first of March of the year 0 until 1970, in days.
const DAYS_BEFORE_1970: i64 = 719_468;
/// The days of 400 years, after which the calendar is the same.
const DAYS_OF_ERA: i64 = 146_097;

/// Reads `YYYY-MM-DD HH:MM:SS`, with `T` between both, and with `Z` or an offset behind it. `None`: it is no time at all.
fn time_of(text: &str) -> Option<Result<u32, String>> {
    let (date, rest) = text.split_at_checked(10)?;
    let date = numbers::<3>(date, "-", &[4, 2, 2])?;
    let rest = rest.strip_prefix([' ', 'T'])?;
    let invalid = || {
        format!(
            "`{text}` is no time: give YYYY-MM-DD HH:MM:SS, which is UTC, or with an offset behind it, as in +02:00"
        )
    };
    Some(seconds_since_1970(date, rest).ok_or_else(invalid))
}

/// The seconds since 1970 of a date, and of a time with or without an offset.
fn seconds_since_1970([year, month, day]: [i64; 3], time_text: &str) -> Option<u32> {
    let (clock, offset) = time_text.split_at_checked(8)?;
    let [hour, minute, second] = numbers(clock, ":", &[2, 2, 2])?;
    let is_possible = (1..=12).contains(&month) && (1..=days_of_month(year, month)).contains(&day);
    if !is_possible || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let local_s = days_since_1970(year, month, day) * SECONDS_OF_DAY + (hour * 60 + minute) * 60 + second;
    u32::try_from(local_s - offset_s(offset.trim())?).ok()
}

/// `Z`, nothing, `+02:00` or `+0200`, in seconds.
fn offset_s(text: &str) -> Option<i64> {
    let (sign, rest) = match text.as_bytes().first() {
        None | Some(b'Z') => return text.get(1..).is_none_or(str::is_empty).then_some(0),
        Some(b'+') => (1, &text[1..]),
        Some(b'-') => (-1, &text[1..]),
        _ => return None,
    };
    let [hours, minutes] = numbers(rest, ":", &[2, 2]).or_else(|| {
        let (hours, minutes) = rest.split_at_checked(2)?;
        numbers(&format!("{hours}:{minutes}"), ":", &[2, 2])
    })?;
    (hours <= 14 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60)
}

/// Numbers of so many digits.
fn numbers<const N: usize>(text: &str, separator: &str, digits: &[usize; N]) -> Option<[i64; N]> {
    let parts: Vec<&str> = text.split(separator).collect();
    let mut found = [0; N];
    if parts.len() != N {
        return None;
    }
    for ((number, part), digits) in found.iter_mut().zip(parts).zip(digits) {
        if part.len() != *digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    Some(found)
}

fn days_of_month(year: i64, month: i64) -> i64 {
    let (next_year, next_month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    days_since_1970(next_year, next_month, 1) - days_since_1970(year, month, 1)
}

/// The years begin in March here: so the day that is not in every year is the last one.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - DAYS_BEFORE_1970
}

/// A time, as a person reads it.
pub(super) fn utc(seconds: u32) -> String {
    let (days, second) = (i64::from(seconds) / SECONDS_OF_DAY, i64::from(seconds) % SECONDS_OF_DAY);
    // The year that has the day: an estimate, and a step back where that year begins behind it.
    let shifted = days + DAYS_BEFORE_1970;
    let mut year = shifted * 400 / DAYS_OF_ERA + 1;
    while days_since_1970(year, 1, 1) > days {
        year -= 1;
    }
    let month = (1..=12).rev().find(|month| days_since_1970(year, *month, 1) <= days).unwrap_or(1);
    let day = days - days_since_1970(year, month, 1) + 1;
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", second / 3600, second / 60 % 60, second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        let gtid = Gtid { domain: 0, server_id: 1, seqno: 100 };
        assert_eq!("0-1-100".parse(), Ok(Until::Gtid(gtid)));
        for text in ["3e11fa47-71ca-11e1-9e33-c80aa9429562:7", "3e11fa47-71ca-11e1-9e33-c80aa9429562:tag:7"] {
            assert_eq!(text.parse(), Ok(Until::MySqlGtid(text.parse().unwrap())));
            assert_eq!(text.parse::<Until>().unwrap().to_string(), text);
        }
        let place = LogPosition { file: b"bin.000003".to_vec(), position: 500 };
        assert_eq!("bin.000003:500".parse(), Ok(Until::Position(place)));
        for (text, said) in [
            ("", "is no place of a log"),
            ("bin.000003", "is no place of a log"),
            (":4", "is no place of a log"),
            ("bin.000003:x", "is no place of a log"),
            ("2026-11-23 12:00", "is no time"),
            ("2026-02-29 12:00:00", "is no time"),
            ("2026-11-23 24:00:00", "is no time"),
            ("2026-11-23 12:00:00 CET", "is no time"),
            ("2026-11-23 12:00:00.5", "is no time"),
            ("1969-12-31 12:00:00", "is no time"),
        ] {
            let error = text.parse::<Until>().unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn times() {
        for (text, seconds) in [
            ("1970-01-01 00:00:00", 0),
            ("2000-02-29 23:59:59", 951_868_799),
            ("2024-02-29T00:00:00Z", 1_709_164_800),
            ("2026-11-23 12:00:00", 1_795_435_200),
            ("2026-11-23 12:00:00+02:00", 1_795_435_200 - 7_200),
            ("2026-11-23 12:00:00 -0530", 1_795_435_200 + 19_800),
        ] {
            assert_eq!(text.parse(), Ok(Until::Time(seconds)), "{text}");
        }
    }

    #[test]
    fn times_are_shown_as_they_are_read() {
        for seconds in (0..u32::MAX).step_by(12_345_678).chain([951_782_399, 951_782_400, 951_868_800, 1_735_689_599]) {
            assert_eq!(utc(seconds).trim_end_matches(" UTC").parse(), Ok(Until::Time(seconds)), "{}", utc(seconds));
        }
    }
}
