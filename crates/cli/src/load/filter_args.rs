//! The options for what of the input is loaded and how its text changes, and their lines in the summary and the plan.

use std::fmt::Write;

use anyhow::bail;
use clap::Args;
use hortator_load::rewriting::{DatabaseMap, Definer, EngineMap, Rewriting};
use hortator_load::selection::{NamePattern, NamePatterns, Selection};
use hortator_load::{FilterReport, FilterRules};
use indicatif::HumanCount;

/// Names that the summary tells.
const NAMES_SHOWN: usize = 10;

/// Options for a part of the input.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection and changes")]
pub(super) struct FilterArgs {
    /// Load only objects of these names, and no accounts or server settings: SCHEMA.TABLE, with * and ?
    #[arg(long, value_name = "PATTERN,…")]
    only: Vec<NamePatterns>,

    /// Load no objects of these names
    #[arg(long, value_name = "PATTERN,…")]
    skip: Vec<NamePatterns>,

    /// Load definitions and no rows
    #[arg(long, conflicts_with = "no_schema")]
    no_data: bool,

    /// Load rows and no definitions: the tables must exist
    #[arg(long)]
    no_schema: bool,

    /// Create and drop no triggers
    #[arg(long)]
    skip_triggers: bool,

    /// Create and drop no procedures, functions and packages
    #[arg(long)]
    skip_routines: bool,

    /// Create and drop no events
    #[arg(long)]
    skip_events: bool,

    /// The definer of views, triggers, routines and events: none (the account that loads), CURRENT_USER or an account
    #[arg(long, value_name = "strip|CURRENT_USER|USER@HOST")]
    definer: Option<Definer>,

    /// Create tables of the storage engine OLD with NEW
    #[arg(long, value_name = "OLD=NEW")]
    engine: Vec<EngineMap>,

    /// Load what the dump has in the schema OLD into NEW; a view, trigger, routine or event that names OLD is refused
    #[arg(long, value_name = "OLD=NEW")]
    database_map: Vec<DatabaseMap>,
}

impl FilterArgs {
    /// What is loaded of the input, and with which changes.
    ///
    /// # Errors
    /// When two schemas are mapped to one, or one to two.
    pub(super) fn rules(self) -> anyhow::Result<FilterRules> {
        let all = |patterns: Vec<NamePatterns>| -> Vec<NamePattern> {
            patterns.into_iter().flat_map(|NamePatterns(patterns)| patterns).collect()
        };
        let rewriting = Rewriting { definer: self.definer, engines: self.engine, databases: self.database_map };
        if let Some((one, other)) = rewriting.collision() {
            bail!(
                "--database-map={one} and --database-map={other} contradict each other: map each schema to one of its own"
            );
        }
        Ok(FilterRules {
            selection: Selection {
                only: all(self.only),
                skip: all(self.skip),
                no_data: self.no_data,
                no_schema: self.no_schema,
                skip_triggers: self.skip_triggers,
                skip_routines: self.skip_routines,
                skip_events: self.skip_events,
            },
            rewriting,
        })
    }
}

/// The lines of the summary and the plan; none where the input is loaded whole and as it is.
pub(super) fn lines(report: &FilterReport) -> String {
    let mut text = String::new();
    if !report.left_out.is_empty() {
        let counts = report.left_out.iter().map(|(option, count)| format!("{option} {}", HumanCount(*count)));
        let _ = writeln!(text, "left out, statements: {}", counts.collect::<Vec<_>>().join(", "));
    }
    if !report.tables.is_empty() {
        let shown: Vec<&str> = report.tables.iter().take(NAMES_SHOWN).map(String::as_str).collect();
        let more = match report.tables.len().saturating_sub(NAMES_SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more (see --json)"),
        };
        let _ = writeln!(text, "  tables with rows that are left out: {}{more}", shown.join(", "));
    }
    for foreign_key in report.foreign_keys.iter().take(NAMES_SHOWN) {
        let _ = writeln!(text, "  {foreign_key}");
    }
    for option in &report.unmatched {
        let _ = writeln!(text, "  {option} matches no name in the input");
    }
    if report.rewritten > 0 {
        let _ = writeln!(text, "changed, statements: {}", HumanCount(report.rewritten));
    }
    text
}
