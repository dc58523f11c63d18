//! What pages are made of: spreads, the machine, the date, warnings, numbers as text.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::employees::calendar::days_in_month;

/// If other programs use more cores than this, the report warns.
const OTHER_LOAD_LIMIT_CORES: f64 = 0.2;

const SECONDS_PER_DAY: u64 = 86_400;

/// A figure over several runs: seconds, unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Half of the runs are below.
    pub median: f64,
    /// The least of all runs.
    pub least: f64,
    /// The most of all runs.
    pub most: f64,
}

impl Spread {
    pub(crate) fn of_numbers(numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let mut numbers: Vec<f64> = numbers.collect();
        numbers.sort_by(f64::total_cmp);
        let (least, most) = (*numbers.first()?, *numbers.last()?);
        let middle = numbers.len() / 2;
        let median = if numbers.len().is_multiple_of(2) {
            (numbers[middle - 1] + numbers[middle]) / 2.0
        } else {
            numbers[middle]
        };
        Some(Self { median, least, most })
    }
}

/// The median in a table; a dash where there is no figure.
pub(crate) fn median(spread: Option<Spread>, decimals: usize) -> String {
    spread.map_or_else(|| "—".to_owned(), |spread| decimal(spread.median, decimals))
}

/// The median with the range of all runs, if they differ.
pub(crate) fn median_and_range(spread: Option<Spread>, decimals: usize) -> String {
    let shown = |spread: Spread| match spread {
        Spread { median, least, most } if least < most => {
            let [median, least, most] = [median, least, most].map(|number| decimal(number, decimals));
            format!("{median} ({least}–{most})")
        }
        Spread { median, .. } => decimal(median, decimals),
    };
    spread.map_or_else(|| "—".to_owned(), shown)
}

/// A number with so many decimals, and with separators of thousands if it has none.
fn decimal(number: f64, decimals: usize) -> String {
    match decimals {
        0 if number >= 0.0 => thousands(number.round() as u64),
        _ => format!("{number:.decimals$}"),
    }
}

/// Warnings that a reader must know, from the seconds of each run and the CPU time of everything else on the machine.
pub(crate) fn warnings_of_cpu(times: impl Iterator<Item = (f64, f64)>) -> Vec<String> {
    let mut warnings = Vec::new();
    if cfg!(debug_assertions) {
        warnings.push("this is a debug build: the times have no meaning".to_owned());
    }
    warnings.extend(warning_of_other_cpu(times));
    warnings
}

/// A warning where other programs used the machine; from wall time and other programs' CPU time of each run.
pub(crate) fn warning_of_other_cpu(times: impl Iterator<Item = (f64, f64)>) -> Option<String> {
    let (wall, other) = times.fold((0.0, 0.0), |sums, run| (sums.0 + run.0, sums.1 + run.1));
    let cores = other / wall.max(f64::MIN_POSITIVE);
    (cores > OTHER_LOAD_LIMIT_CORES).then(|| {
        format!("other programs used {cores:.1} cores during the runs: repeat the experiment on an idle machine")
    })
}

/// Processor, cores and memory, as far as known.
pub(crate) fn machine() -> String {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(file).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim_start_matches([' ', '\t', ':']).to_owned())
    };
    let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = field("/proc/meminfo", "MemTotal").and_then(|size| gibibytes(&size));
    format!("{processor}, {cores} cores, memory {}", memory.unwrap_or_else(|| "unknown".to_owned()))
}

/// As `23.5 GiB`, of the kernel's `24684092 kB`.
fn gibibytes(size: &str) -> Option<String> {
    let kibibytes: f64 = size.strip_suffix("kB")?.trim().parse().ok()?;
    Some(format!("{:.1} GiB", kibibytes / f64::from(1 << 20)))
}

/// The date of a moment in UTC, as `2026-02-28`.
pub(crate) fn date(moment: SystemTime) -> String {
    let seconds = moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (mut year, mut month, mut days) = (1970, 1, seconds / SECONDS_PER_DAY);
    while days >= days_in_month(year, month) {
        days -= days_in_month(year, month);
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

/// The text with a capital letter at its beginning.
pub(crate) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// A number with thousands separators.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_busy_machine_gives_a_warning() {
        let is_told = |other_s| {
            let warnings = warnings_of_cpu([(9.0, other_s), (3.0, other_s / 3.0)].into_iter());
            warnings.iter().any(|warning| warning.contains("0.5 cores"))
        };
        assert!(is_told(4.5));
        assert!(!is_told(0.9));
    }

    #[test]
    fn a_moment_has_a_date() {
        let cases = [(0, "1970-01-01"), (951_782_399, "2000-02-28"), (951_782_400, "2000-02-29")];
        for (seconds, text) in cases.into_iter().chain([(1_767_225_599, "2025-12-31"), (1_767_225_600, "2026-01-01")]) {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_range_stands_where_runs_differ() {
        let spread = |least, most| Some(Spread { median: 1_234.5, least, most });
        assert_eq!(median_and_range(spread(1_000.0, 2_000.4), 0), "1,235 (1,000–2,000)");
        assert_eq!(median_and_range(spread(1_234.5, 1_234.5), 1), "1234.5");
        assert_eq!((median_and_range(None, 1), median(spread(0.0, 0.0), 0)), ("—".to_owned(), "1,235".to_owned()));
        assert_eq!(gibibytes("24684092 kB").as_deref(), Some("23.5 GiB"));
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
    }
}
