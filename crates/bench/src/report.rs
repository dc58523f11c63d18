//! The result as text: a table for a terminal, and a page of Markdown.

use std::fmt::Write as _;
use std::fs;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use comfy_table::{CellAlignment, Table, presets};
use serde::{Deserialize, Serialize};

use crate::contenders::Contender;
use crate::employees::calendar::days_in_month;
use crate::experiment::{Outcome, Run, Verdict};
use crate::server::SETTINGS;

const HEADINGS: [&str; 7] =
    ["contender", "wall s, median (min–max)", "× client", "rows/s", "loader peak MiB", "loader CPU s", "server CPU s"];

/// If other programs use more cores than this, the report warns.
const OTHER_LOAD_LIMIT_CORES: f64 = 0.2;

const SECONDS_PER_DAY: u64 = 86_400;

/// The figures of one contender.
#[derive(Clone, Debug, PartialEq)]
struct Line {
    contender: Contender,
    wall: Spread,
    /// The speed relative to the client, by the medians.
    ratio: Option<f64>,
    rows_per_s: f64,
    /// The maximum of all runs, because this much memory is necessary.
    peak_mib: Option<f64>,
    loader_cpu_s: Option<f64>,
    server_cpu_s: f64,
}

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
    pub(crate) fn of(durations: impl Iterator<Item = Duration>) -> Option<Self> {
        Self::of_numbers(durations.map(|duration| duration.as_secs_f64()))
    }

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
    spread.map_or_else(|| "—".to_owned(), |spread| format!("{:.decimals$}", spread.median))
}

/// The median with the range of all runs.
pub(crate) fn median_and_range(spread: Option<Spread>, decimals: usize) -> String {
    let shown = |Spread { median, least, most }| format!("{median:.decimals$} ({least:.decimals$}–{most:.decimals$})");
    spread.map_or_else(|| "—".to_owned(), shown)
}

impl Line {
    fn of(contender: Contender, outcome: &Outcome) -> Option<Self> {
        let runs = || outcome.runs.iter().filter(move |run| run.contender == contender);
        let wall = Spread::of(runs().map(|run| run.wall))?;
        let client =
            Spread::of(outcome.runs.iter().filter(|run| run.contender == Contender::Client).map(|run| run.wall));
        let loaders = || runs().filter_map(|run| run.loader);
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        Some(Self {
            contender,
            wall,
            ratio: client.map(|client| client.median / wall.median),
            rows_per_s: outcome.dump.rows as f64 / wall.median,
            peak_mib: loaders().map(|usage| usage.peak_bytes).max().map(mib),
            loader_cpu_s: Spread::of(loaders().map(|usage| usage.cpu)).map(|spread| spread.median),
            server_cpu_s: Spread::of(runs().map(|run| run.server_cpu))?.median,
        })
    }

    fn cells(&self) -> [String; 7] {
        let Spread { median, least, most } = self.wall;
        let known = |number: Option<f64>, decimals: usize| {
            number.map_or_else(|| "—".to_owned(), |number| format!("{number:.decimals$}"))
        };
        [
            self.contender.title().to_owned(),
            format!("{median:.2} ({least:.2}–{most:.2})"),
            known(self.ratio, 2),
            thousands(self.rows_per_s as u64),
            known(self.peak_mib, 0),
            known(self.loader_cpu_s, 1),
            format!("{:.1}", self.server_cpu_s),
        ]
    }
}

/// The table for a terminal, in plain characters.
#[must_use]
pub fn table(outcome: &Outcome) -> String {
    plain_table(&HEADINGS, 1, lines(outcome).map(|line| line.cells()))
}

/// A table for a terminal; the first columns are text, the others numbers.
pub(crate) fn plain_table<const N: usize>(
    headings: &[&str; N],
    words: usize,
    lines: impl Iterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_preset(presets::UTF8_HORIZONTAL_ONLY).set_header(headings);
    for line in lines {
        table.add_row(line);
    }
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

/// The same table in Markdown.
pub(crate) fn markdown_table<const N: usize>(
    headings: &[&str; N],
    words: usize,
    lines: impl Iterator<Item = [String; N]>,
) -> String {
    let mut table = format!("| {} |\n|{}{}\n", headings.join(" | "), "---|".repeat(words), "---:|".repeat(N - words));
    for line in lines {
        let _ = writeln!(table, "| {} |", line.join(" | "));
    }
    table
}

/// One sentence, or the list of differences.
#[must_use]
pub fn verdict(outcome: &Outcome) -> String {
    verdict_text(&outcome.verdict)
}

pub(crate) fn verdict_text(verdict: &Verdict) -> String {
    match verdict {
        Verdict::NotCompared => "states not compared: a comparison needs the contenders client and hortator".to_owned(),
        Verdict::Same { rows, definitions } => {
            format!("same state: {definitions} definitions and {} rows are equal", thousands(*rows))
        }
        Verdict::Differs(differences) => format!("the states differ:\n{}", differences.join("\n")),
    }
}

/// A page that describes the comparison, the machine, and how to repeat it.
#[must_use]
pub fn markdown(outcome: &Outcome) -> String {
    let mut page = String::from("# Loading an employees-shaped dump\n\n");
    let dump = &outcome.dump;
    let settings = SETTINGS.map(|(name, value)| format!("{name}={value}")).join(", ");
    let facts = [
        format!("{} rows, {} bytes, checksum {:032x}", thousands(dump.rows), thousands(dump.bytes), dump.checksum),
        format!("standalone server, {settings}; the same for every contender"),
        machine(),
        outcome.versions.join("; "),
        "each run goes into an empty schema on a warmed-up idle server; rounds interleave the contenders".to_owned(),
    ];
    for fact in facts.iter().chain(&outcome.skipped).chain(&warnings(outcome)) {
        let _ = writeln!(page, "- {fact}");
    }
    let _ = writeln!(page, "\n{}", markdown_table(&HEADINGS, 1, lines(outcome).map(|line| line.cells())));
    let _ = writeln!(page, "{}\n\n## Contenders\n", verdict(outcome));
    for line in lines(outcome) {
        let _ = writeln!(page, "- **{}**: {}", line.contender.title(), line.contender.rules());
    }
    page.push_str("\n## Every run\n\n| contender | wall s | loader CPU s | server CPU s | other CPU s |\n");
    page.push_str("|---|---:|---:|---:|---:|\n");
    for Run { contender, wall, loader, server_cpu, other_cpu } in &outcome.runs {
        let loader = loader.map_or_else(|| "—".to_owned(), |usage| format!("{:.2}", usage.cpu.as_secs_f64()));
        let [wall, server, other] = [wall, server_cpu, other_cpu].map(Duration::as_secs_f64);
        let _ = writeln!(page, "| {} | {wall:.2} | {loader} | {server:.2} | {other:.2} |", contender.title());
    }
    page
}

/// Warnings that a reader of the table must know.
#[must_use]
pub fn warnings(outcome: &Outcome) -> Vec<String> {
    warnings_of(outcome.runs.iter().map(|run| (run.wall, run.other_cpu)))
}

/// The same warnings from each run's wall time and the CPU time of everything else on the machine.
pub(crate) fn warnings_of(times: impl Iterator<Item = (Duration, Duration)>) -> Vec<String> {
    warnings_of_cpu(times.map(|(wall, other)| (wall.as_secs_f64(), other.as_secs_f64())))
}

/// The same from seconds.
pub(crate) fn warnings_of_cpu(times: impl Iterator<Item = (f64, f64)>) -> Vec<String> {
    let mut warnings = Vec::new();
    if cfg!(debug_assertions) {
        warnings.push("this is a debug build: the times have no meaning".to_owned());
    }
    let (wall, other) = times.fold((0.0, 0.0), |sums, run| (sums.0 + run.0, sums.1 + run.1));
    let cores = other / wall.max(f64::MIN_POSITIVE);
    if cores > OTHER_LOAD_LIMIT_CORES {
        warnings.push(format!(
            "other programs used {cores:.1} cores during the runs: repeat the experiment on an idle machine"
        ));
    }
    warnings
}

fn lines(outcome: &Outcome) -> impl Iterator<Item = Line> {
    Contender::ALL.into_iter().filter_map(|contender| Line::of(contender, outcome))
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
    let memory = field("/proc/meminfo", "MemTotal").unwrap_or_else(|| "unknown".to_owned());
    format!("{processor}, {cores} cores, memory {memory}")
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
    use std::path::PathBuf;

    use super::*;
    use crate::employees::Dump;
    use crate::measure::Usage;

    fn outcome() -> Outcome {
        let run = |contender, wall_ms, loader: bool| Run {
            contender,
            wall: Duration::from_millis(wall_ms),
            loader: loader.then_some(Usage {
                wall: Duration::from_millis(wall_ms),
                cpu: Duration::from_millis(500),
                peak_bytes: 8 << 20,
            }),
            server_cpu: Duration::from_millis(wall_ms / 2),
            other_cpu: Duration::from_millis(wall_ms / 2),
        };
        Outcome {
            dump: Dump { folder: PathBuf::new(), rows: 9_000, bytes: 1_234_567, checksum: 7 },
            runs: vec![
                run(Contender::Client, 9_000, true),
                run(Contender::Hortator, 3_000, true),
                run(Contender::ServerCopy, 2_000, false),
                run(Contender::Client, 11_000, true),
                run(Contender::Hortator, 3_000, true),
                run(Contender::Client, 9_000, true),
            ],
            versions: vec!["server 1".to_owned()],
            skipped: Vec::new(),
            verdict: Verdict::Same { rows: 9_000, definitions: 9 },
        }
    }

    #[test]
    fn a_line_gives_medians_and_the_ratio_to_the_client() {
        let outcome = outcome();
        let cells: Vec<_> = lines(&outcome).map(|line| line.cells().join(" | ")).collect();
        assert_eq!(
            cells,
            [
                "mariadb client | 9.00 (9.00–11.00) | 1.00 | 1,000 | 8 | 0.5 | 4.5",
                "hortator load | 3.00 (3.00–3.00) | 3.00 | 3,000 | 8 | 0.5 | 1.5",
                "server's own copy | 2.00 (2.00–2.00) | 4.50 | 4,500 | — | — | 1.0",
            ]
        );
    }

    #[test]
    fn the_page_contains_the_verdict_and_every_run() {
        let page = markdown(&outcome());
        assert!(page.contains("same state: 9 definitions and 9,000 rows are equal"), "{page}");
        assert_eq!(page.matches("| mariadb client |").count(), 4, "{page}");
        assert!(page.contains("innodb_flush_log_at_trx_commit=1"), "{page}");
    }

    #[test]
    fn a_busy_machine_gives_a_warning() {
        let message = |outcome: &Outcome| warnings(outcome).iter().any(|warning| warning.contains("0.5 cores"));
        let mut outcome = outcome();
        assert!(message(&outcome));
        outcome.runs.iter_mut().for_each(|run| run.other_cpu = run.wall / 10);
        assert!(!message(&outcome));
    }

    #[test]
    fn a_moment_has_a_date() {
        let cases = [(0, "1970-01-01"), (951_782_399, "2000-02-28"), (951_782_400, "2000-02-29")];
        for (seconds, text) in cases.into_iter().chain([(1_767_225_599, "2025-12-31"), (1_767_225_600, "2026-01-01")]) {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), text);
        }
    }
}
