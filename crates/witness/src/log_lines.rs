//! The lines on standard error: as in a server's error log, or with the priorities that systemd's journal reads.

use std::env;
use std::io::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use hortator_wsrep::witness::{Level, LogSink};

/// Set by systemd when standard error goes to its journal (systemd.exec(5)).
const JOURNAL: &str = "JOURNAL_STREAM";

/// Writes to standard error.
pub struct StandardError {
    is_journal: bool,
}

impl StandardError {
    pub fn new() -> Self {
        Self { is_journal: env::var_os(JOURNAL).is_some() }
    }
}

impl LogSink for StandardError {
    fn log(&self, level: Level, text: &str) {
        // Texts of other nodes are in it: one line each.
        let text = text.replace(['\n', '\r'], " ");
        let line = if self.is_journal { format!("<{}>{text}\n", priority(level)) } else { dated(now(), level, &text) };
        // Nobody may read it.
        let _unread = std::io::stderr().write_all(line.as_bytes());
    }
}

/// Of syslog(3).
fn priority(level: Level) -> u8 {
    match level {
        Level::Error => 3,
        Level::Warning => 4,
        Level::Note => 6,
    }
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// The line with its time in UTC.
fn dated(seconds: u64, level: Level, text: &str) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    let level = match level {
        Level::Error => "ERROR",
        Level::Warning => "Warning",
        Level::Note => "Note",
    };
    format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z [{level}] {text}\n")
}

/// Year, month and day of a day since 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_time() {
        assert_eq!(dated(0, Level::Note, "x"), "1970-01-01T00:00:00Z [Note] x\n");
        assert_eq!(dated(951_827_696, Level::Error, "y"), "2000-02-29T12:34:56Z [ERROR] y\n");
        assert_eq!(dated(1_798_761_599, Level::Warning, "z"), "2026-12-31T23:59:59Z [Warning] z\n");
    }
}
