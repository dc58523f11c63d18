//! The status of all sources as a table, narrow enough for a hundred columns.

use comfy_table::{CellAlignment, Table, presets};
use hortator_replicate::agent::{SourceState, SourceStatus, WaitsFor};

/// Columns of the whole table.
const WIDTH_LIMIT: usize = 100;
/// Columns of a source's name.
const NAME_LIMIT: usize = 20;
/// What a position has at least, however wide the rest is.
const POSITION_MINIMUM: usize = 12;
/// A wait of this many seconds is worth a line.
const LONG_WAIT_S: u64 = 3;

/// As wide as most values, so that columns stay where they are while someone watches.
const HEADER: [&str; 7] = ["source", "state    ", "    lag", "   behind", "  per s", "retries", "position"];

/// A line for each source, and further ones for each that has something to say.
pub fn table(sources: &[SourceStatus]) -> String {
    let mut rows: Vec<[String; 7]> = sources.iter().map(row).collect();
    let width = |column: usize| {
        let of_rows = rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        of_rows.max(HEADER[column].len())
    };
    // One column stands on each side of a value.
    let others: usize = (0..HEADER.len() - 1).map(|column| width(column) + 2).sum();
    let left = WIDTH_LIMIT.saturating_sub(others + 2).max(POSITION_MINIMUM);
    for row in &mut rows {
        row[HEADER.len() - 1] = without_beginning(&row[HEADER.len() - 1], left);
    }
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(HEADER);
    for row in rows {
        table.add_row(row);
    }
    for number in [2, 3, 4, 5] {
        if let Some(column) = table.column_mut(number) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned()).chain(sources.iter().filter_map(wait));
    let errors = sources.iter().filter_map(|source| Some(format!("{}: {}", source.name, source.error.as_ref()?)));
    let conflicts = sources.iter().filter_map(conflicts);
    let lines = lines.chain(sources.iter().filter_map(copied_tables));
    lines.chain(conflicts).chain(errors).collect::<Vec<String>>().join("\n")
}

fn row(source: &SourceStatus) -> [String; 7] {
    let unknown = || "unknown".to_owned();
    [
        without_end(&source.name, NAME_LIMIT),
        source.state.name().to_owned(),
        source.lag_s.map_or_else(unknown, |lag| format!("{lag} s")),
        source.lag_bytes.map_or_else(unknown, size),
        format!("{}", source.transactions_per_s),
        source.retries.to_string(),
        position(source),
    ]
}

/// Tables that are copied by themselves.
fn copied_tables(source: &SourceStatus) -> Option<String> {
    let tables = source.copied_tables.join(", ");
    (!tables.is_empty()).then(|| format!("{}: copies by themselves: {tables}", source.name))
}

/// Rows that a policy has decided about.
fn conflicts(source: &SourceStatus) -> Option<String> {
    let (ignored, overwritten) = (source.conflicts_ignored, source.conflicts_overwritten);
    let parts = [(ignored, "ignored"), (overwritten, "overwritten")];
    let parts = parts.iter().filter(|(rows, _)| *rows > 0).map(|(rows, policy)| format!("{rows} {policy}"));
    let text = parts.collect::<Vec<String>>().join(", ");
    (!text.is_empty()).then(|| format!("{}: rows that differ on the target: {text}", source.name))
}

/// What a source waits for, where that is worth a line: an error says more, and an idle source is in order.
fn wait(source: &SourceStatus) -> Option<String> {
    let (name, waits_s) = (&source.name, source.waits_s);
    let detail = source.waits_detail.as_ref().map(|detail| format!(": {detail}")).unwrap_or_default();
    match source.waits_for? {
        WaitsFor::Target if waits_s >= LONG_WAIT_S => {
            Some(format!("{name}: waits for the target for {waits_s} s{detail}"))
        }
        WaitsFor::Lock => Some(format!("{name}: waits for a lock in the target for {waits_s} s{detail}")),
        WaitsFor::Retry => Some(format!("{name}: tries again in {waits_s} s")),
        WaitsFor::Source if waits_s >= LONG_WAIT_S && source.state == SourceState::Connecting => {
            Some(format!("{name}: waits for the source for {waits_s} s"))
        }
        WaitsFor::Source | WaitsFor::Target | WaitsFor::Person => None,
    }
}

/// A file and a position; where there is no file, a GTID position.
fn position(source: &SourceStatus) -> String {
    if let Some(copy) = source.copy {
        return format!("{}/{} tables, {} rows", copy.tables_done, copy.tables, copy.rows);
    }
    match (source.applied_file.is_empty(), source.applied_gtid.is_empty()) {
        (true, true) => "none".to_owned(),
        (true, false) => source.applied_gtid.clone(),
        (false, _) => format!("{}:{}", source.applied_file, source.applied_position),
    }
}

/// Bytes with a unit, in at most nine columns.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let unit = (0..UNITS.len() - 1).find(|unit| bytes >> (10 * unit) < 1024).unwrap_or(UNITS.len() - 1);
    let value = bytes as f64 / (1_u64 << (10 * unit)) as f64;
    if unit > 0 && value < 99.95 {
        format!("{value:.1} {}", UNITS[unit])
    } else {
        format!("{value:.0} {}", UNITS[unit])
    }
}

/// A text, shortened at its end.
fn without_end(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    text.chars().take(limit - 1).chain(['…']).collect()
}

/// A text, shortened at its beginning: files of a log differ at their end.
fn without_beginning(text: &str, limit: usize) -> String {
    let count = text.chars().count();
    if count <= limit {
        return text.to_owned();
    }
    ['…'].into_iter().chain(text.chars().skip(count + 1 - limit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(name: &str) -> SourceStatus {
        SourceStatus {
            name: name.to_owned(),
            state: SourceState::Running,
            lag_s: Some(0),
            lag_bytes: Some(0),
            applied_file: "binlog.000003".to_owned(),
            applied_position: 1174,
            applied_gtid: "0-1-18204".to_owned(),
            waits_for: Some(WaitsFor::Source),
            waits_s: 100,
            ..SourceStatus::default()
        }
    }

    #[test]
    fn a_table() {
        let one = SourceStatus { transactions_per_s: 1820.4, ..running("shop1") };
        let stopped = SourceStatus {
            state: SourceState::Stopped,
            lag_s: Some(4),
            lag_bytes: Some(81_730),
            retries: 3,
            waits_for: Some(WaitsFor::Person),
            error: Some("ERROR 1062".to_owned()),
            ..running("shop2")
        };
        let locked = SourceStatus {
            lag_s: None,
            lag_bytes: None,
            waits_for: Some(WaitsFor::Lock),
            waits_s: 12,
            waits_detail: Some("COMMIT: Waiting for backup lock".to_owned()),
            applied_file: String::new(),
            conflicts_ignored: 6,
            ..running("shop3")
        };
        let expected = "
 source  state          lag     behind    per s  retries  position
 shop1   running        0 s        0 B   1820.4        0  binlog.000003:1174
 shop2   stopped        4 s   79.8 KiB        0        3  binlog.000003:1174
 shop3   running    unknown    unknown        0        0  0-1-18204
shop3: waits for a lock in the target for 12 s: COMMIT: Waiting for backup lock
shop3: rows that differ on the target: 6 ignored
shop2: ERROR 1062";
        assert_eq!(table(&[one, stopped, locked]), expected.trim_start_matches('\n'));
    }

    #[test]
    fn a_hundred_columns_are_enough() {
        let wide = SourceStatus {
            state: SourceState::Connecting,
            lag_s: Some(31_536_000),
            lag_bytes: Some(u64::MAX),
            transactions_per_s: 123_456.7,
            retries: 1_000_000,
            applied_file: "a-very-long-name-of-a-binary-log-file.000123".to_owned(),
            applied_position: 1_073_741_824,
            ..running(&"ü".repeat(64))
        };
        let text = table(&[wide, running("shop1")]);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH_LIMIT, "{line}");
        }
        assert!(text.contains("…") && text.contains("23:1073741824") && text.contains("üü…"), "{text}");
    }

    #[test]
    fn sizes() {
        for (bytes, expected) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (102_400, "100 KiB"),
            (1 << 20, "1.0 MiB"),
            (5 << 30, "5.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(size(bytes), expected, "{bytes}");
        }
    }
}
