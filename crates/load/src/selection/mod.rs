//! Which statements of the input a load runs: the user's rules, and what they say of one statement.
//!
//! ```text
//!   text ──► tokens ──► SCOPES (scope.rs) ──► Scope ──► decide ──► Run │ LeaveOut │ Refuse
//!                                               rules (names.rs) ──┘
//! ```
//!
//! The decision is pure: it depends on the text, the rules and on how names are understood at its place. What it cannot be
//! certain of is refused, and never left out or run by a guess: a statement that touches both selected and left-out
//! tables, and a statement that may do anything.

mod decide;
mod name_pattern;
mod named_tables;
mod scope;
#[cfg(test)]
mod tests;

pub use name_pattern::{NamePattern, NamePatternError, NamePatterns};

pub(crate) use decide::{Decision, LeftOut, decide, names_match, selects_schema};
pub(crate) use named_tables::named_tables;
pub(crate) use scope::{ObjectKind, Part, Scope, scope};

/// The user's rules for what is loaded. Without any, everything is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Only objects of these names, and no accounts or settings of the server; without any, all.
    pub only: Vec<NamePattern>,
    /// No objects of these names.
    pub skip: Vec<NamePattern>,
    /// No rows.
    pub no_data: bool,
    /// No definitions.
    pub no_schema: bool,
    /// No triggers.
    pub skip_triggers: bool,
    /// No procedures, functions and packages.
    pub skip_routines: bool,
    /// No events.
    pub skip_events: bool,
}

impl Selection {
    /// Whether everything is loaded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a statement that may touch any table or row cannot be judged by these rules.
    pub(crate) fn restricts_tables(&self) -> bool {
        self.has_names() || self.no_data || self.no_schema
    }

    /// Whether the rules name objects.
    pub(crate) fn has_names(&self) -> bool {
        !self.only.is_empty() || !self.skip.is_empty()
    }

    /// The options that state the rules, in an order of their own: equal rules have equal words.
    #[must_use]
    pub fn options(&self) -> Vec<String> {
        let patterns = |option: &str, patterns: &[NamePattern]| {
            let mut words: Vec<String> = patterns.iter().map(|pattern| format!("{option}={pattern}")).collect();
            words.sort();
            words.dedup();
            words
        };
        let switches = [
            (self.no_data, "--no-data"),
            (self.no_schema, "--no-schema"),
            (self.skip_triggers, "--skip-triggers"),
            (self.skip_routines, "--skip-routines"),
            (self.skip_events, "--skip-events"),
        ];
        let switches = switches.into_iter().filter(|(is_on, _)| *is_on).map(|(_, option)| option.to_owned());
        let mut options = patterns("--only", &self.only);
        options.extend(patterns("--skip", &self.skip));
        options.extend(switches);
        options
    }
}
