//! Dates and times in the one spelling that a dump uses, as the binary protocol carries them.
//!
//! Only what every `sql_mode` takes as it stands: a full date that the calendar has, from year 1 on, a time within the
//! day. Anything else (zero dates, other separators, more digits) travels as a string and is the server's to judge.

/// A date with a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DateTime {
    date: (u16, u8, u8),
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
}

impl DateTime {
    /// In the binary protocol's form: a length, then as much as is not zero.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let (year, month, day) = self.date;
        let length = match (self.hour, self.minute, self.second, self.micros) {
            (0, 0, 0, 0) => 4,
            (_, _, _, 0) => 7,
            _ => 11,
        };
        out.push(length);
        out.extend_from_slice(&year.to_le_bytes());
        out.extend_from_slice(&[month, day]);
        if length > 4 {
            out.extend_from_slice(&[self.hour, self.minute, self.second]);
        }
        if length > 7 {
            out.extend_from_slice(&self.micros.to_le_bytes());
        }
    }
}

/// `YYYY-MM-DD` as year, month and day.
pub(super) fn date(text: &[u8]) -> Option<(u16, u8, u8)> {
    let &[y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = text else { return None };
    let year = u16::from(two_digits(y1, y2)?) * 100 + u16::from(two_digits(y3, y4)?);
    let month = two_digits(m1, m2)?;
    let day = two_digits(d1, d2)?;
    (year > 0 && (1..=12).contains(&month) && day > 0 && day <= days_in(year, month)).then_some((year, month, day))
}

/// `YYYY-MM-DD HH:MM:SS`, with up to six digits of a fraction.
pub(super) fn date_time(text: &[u8]) -> Option<DateTime> {
    let date = date(text.get(..10)?)?;
    let (&[b' ', h1, h2, b':', m1, m2, b':', s1, s2], fraction) = text.get(10..)?.split_first_chunk::<9>()? else {
        return None;
    };
    let hour = two_digits(h1, h2).filter(|&hour| hour < 24)?;
    let minute = two_digits(m1, m2).filter(|&minute| minute < 60)?;
    let second = two_digits(s1, s2).filter(|&second| second < 60)?;
    let micros = match fraction {
        [] => 0,
        [b'.', digits @ ..] if (1..=6).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) => {
            let value = digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
            value * 10_u32.pow(6 - digits.len() as u32)
        }
        _ => return None,
    };
    Some(DateTime { date, hour, minute, second, micros })
}

fn two_digits(tens: u8, ones: u8) -> Option<u8> {
    (tens.is_ascii_digit() && ones.is_ascii_digit()).then(|| (tens - b'0') * 10 + (ones - b'0'))
}

const fn days_in(year: u16, month: u8) -> u8 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
