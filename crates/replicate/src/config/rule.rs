//! A rule as the configuration has it.

use serde::Deserialize;

use super::Error;
use crate::rules::{Changes, Effect, Rule, TablePattern};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    #[serde(rename = "match")]
    tables: String,
    to: Option<String>,
    #[serde(default)]
    skip: bool,
    #[serde(default)]
    skip_events: Vec<String>,
    source_column: Option<String>,
}

impl RawRule {
    /// `table` is the table of the configuration that the rule stands in.
    pub(super) fn read(self, table: &str) -> Result<Rule, Error> {
        let table = format!("{table}, the rule for {}", self.tables);
        let invalid = |key: &str, found: String| Error::Value { table: table.clone(), key: key.to_owned(), found };
        let pattern = |key: &str, text: &str| text.parse::<TablePattern>().map_err(|found| invalid(key, found));
        let tables = pattern("match", &self.tables)?;
        let to = self.to.as_deref().map(|to| pattern("to", to)).transpose()?;
        let without = self.skip_events.iter().map(String::as_str);
        let without = Changes::read(without).map_err(|found| invalid("skip_events", found))?;
        let source_column = self.source_column;
        if self.skip && (to.is_some() || !without.is_empty() || source_column.is_some()) {
            return Err(invalid("skip", "a rule that skips its tables has no other key than `match`".to_owned()));
        }
        if source_column.is_some() && to.is_none() {
            let found = "a source column is for tables that are merged: say with `to` which table they become";
            return Err(invalid("source_column", found.to_owned()));
        }
        let effect = if self.skip { Effect::LeaveOut } else { Effect::Apply { to, without, source_column } };
        let rule = Rule { tables, effect };
        match rule.objection() {
            Some(found) => Err(invalid("to", found)),
            None => Ok(rule),
        }
    }
}
