//! The status of all sources as a table.

use comfy_table::{Table, presets};
use hortator_replicate::agent::{SourceState, SourceStatus};

/// A line for each source, and one for each that has something to say.
pub fn table(sources: &[SourceStatus]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["source", "state", "lag", "transactions", "retries", "position"]);
    for source in sources {
        let lag = source.lag_s.map_or_else(|| "unknown".to_owned(), |lag| format!("{lag} s"));
        table.add_row([
            source.name.clone(),
            state(source.state).to_owned(),
            lag,
            source.transactions.to_string(),
            source.retries.to_string(),
            position(source),
        ]);
    }
    let errors = sources.iter().filter_map(|source| Some(format!("\n{}: {}", source.name, source.error.as_ref()?)));
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + &errors.collect::<String>()
}

fn state(state: SourceState) -> &'static str {
    match state {
        SourceState::Connecting => "connecting",
        SourceState::Running => "running",
        SourceState::Paused => "paused",
        SourceState::Stopped => "stopped",
        SourceState::Ended => "ended",
    }
}

fn position(source: &SourceStatus) -> String {
    let place = format!("{}:{}", source.applied_file, source.applied_position);
    match (source.applied_file.is_empty(), source.applied_gtid.is_empty()) {
        (true, true) => "none".to_owned(),
        (true, false) => source.applied_gtid.clone(),
        (false, true) => place,
        (false, false) => format!("{place} ({})", source.applied_gtid),
    }
}
