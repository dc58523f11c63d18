//! Whether an agent is well: a pure rule.

use crate::agent::{SourceState, SourceStatus};

/// How an agent is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// Every source runs, or a person has paused it.
    Well,
    /// Some do not: a line for each, with its name, its state and its error.
    Ill(String),
}

/// Tells it from the status of all sources.
#[must_use]
pub fn health(sources: &[SourceStatus]) -> Health {
    let is_well = |source: &&SourceStatus| {
        matches!(source.state, SourceState::Copying | SourceState::Running | SourceState::Paused)
    };
    let lines: String = sources.iter().filter(|source| !is_well(source)).map(line).collect();
    if lines.is_empty() { Health::Well } else { Health::Ill(lines) }
}

fn line(source: &SourceStatus) -> String {
    let error = source.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
    // One line, whatever a statement has in it.
    let text = format!("{}: {}{error}", source.name, source.state.name());
    text.replace(char::is_control, " ") + "\n"
}
