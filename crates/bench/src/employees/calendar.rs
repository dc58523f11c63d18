//! Days as the dump writes them: a number of days since 1950-01-01, and its text from a precomputed table, because a
//! full dump holds eight million dates.

/// A day, as days since 1950-01-01.
pub type Day = u64;

/// The last year in the table, well after the last date of the data.
const LAST_YEAR: u64 = 2010;
const FIRST_YEAR: u64 = 1950;

/// The text of each day from 1950 to 2010.
#[derive(Debug)]
pub struct Calendar {
    texts: Vec<[u8; 10]>,
}

impl Calendar {
    /// Creates the table.
    #[must_use]
    pub fn new() -> Self {
        let mut texts = Vec::new();
        for year in FIRST_YEAR..=LAST_YEAR {
            for month in 1..=12 {
                for day in 1..=days_in_month(year, month) {
                    let text = format!("{year:04}-{month:02}-{day:02}");
                    texts.push(text.into_bytes().try_into().expect("a date's text has ten bytes"));
                }
            }
        }
        Self { texts }
    }

    /// The day's text, as `1986-06-26`.
    ///
    /// # Panics
    /// When the day is after 2010-12-31: the generated data end before.
    #[must_use]
    pub fn text(&self, day: Day) -> &[u8] {
        &self.texts[day as usize]
    }
}

impl Default for Calendar {
    fn default() -> Self {
        Self::new()
    }
}

/// The day number of a date from 1950 on.
#[must_use]
pub const fn day(year: u64, month: u64, day_of_month: u64) -> Day {
    let mut days = day_of_month - 1;
    let mut past_year = FIRST_YEAR;
    while past_year < year {
        days += if is_leap(past_year) { 366 } else { 365 };
        past_year += 1;
    }
    let mut past_month = 1;
    while past_month < month {
        days += days_in_month(year, past_month);
        past_month += 1;
    }
    days
}

const fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

/// The days of the month, 28 to 31.
#[must_use]
pub const fn days_in_month(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
