//! What becomes of a source's tables on the target: other names, several tables as one, tables and changes left out.
//!
//! ```text
//!   configuration     rules in their order; the first whose pattern fits a table decides     mod, pattern
//!        │
//!        ├── rows         table maps get other names or are left out, with their rows        row_events
//!        └── statements   names in known definitions are replaced; what may name a table     statement, names,
//!                         that a rule changes and is of no known form is refused             words
//! ```
//!
//! Pure: it sees events and texts. What it has to know of the target (where a source column stands) it is told.

mod cascades;
mod change;
mod names;
mod pattern;
mod row_events;
mod statement;
mod words;

pub(crate) use cascades::{CASCADES, Cascade};
pub use change::{Change, Changes};
use hortator_mysql::catalog::TableName;
pub(crate) use names::{CreatedTable, created_schema, created_table, created_table_in};
pub use pattern::TablePattern;
pub(crate) use row_events::RowRules;
pub(crate) use statement::{Rewritten, rewrite};
pub(crate) use words::has_names_beyond_ascii;

/// A rule for some tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Which.
    pub tables: TablePattern,
    /// What becomes of them.
    pub effect: Effect,
}

/// What becomes of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing of them reaches the target.
    LeaveOut,
    /// They are applied.
    Apply {
        /// Their names on the target; none where they keep theirs.
        to: Option<TablePattern>,
        /// Changes that are left out.
        without: Changes,
        /// A column of the target's table that holds the source's name.
        source_column: Option<String>,
    },
}

impl Rule {
    /// Why a rule makes no sense.
    pub(crate) fn objection(&self) -> Option<String> {
        let Effect::Apply { to, source_column, .. } = &self.effect else { return None };
        let to = to.as_ref()?;
        if !self.tables.can_fill(to) {
            return Some(format!("`{to}` has a * that `{}` has not: it would stand for nothing", self.tables));
        }
        match source_column {
            Some(column) if column.is_empty() => Some("the source column has no name".to_owned()),
            _ => None,
        }
    }
}

/// What becomes of one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision<'r> {
    /// It is applied as it is.
    AsIs,
    /// Nothing of it is.
    LeaveOut,
    /// It is applied, with changes.
    Apply(&'r Rule),
}

/// Whose rows a table of the target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing<'r> {
    /// Those of one table of this source.
    Own,
    /// Those of others too; this column has the source's name.
    Marked(&'r str),
    /// Those of others too; nothing tells them apart.
    Mixed,
}

/// The rules of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    list: Vec<Rule>,
    /// The tables that other sources have rules for, by their names on the target.
    others: Vec<TablePattern>,
    /// What a source column holds.
    source: String,
    /// Tables of the target that are left out for a while, whatever the list says.
    passed_over: Vec<TableName>,
    /// The source keeps names in small letters.
    folds: bool,
}

impl Rules {
    /// The rules of the source of this name.
    #[must_use]
    pub fn new(source: &str, list: Vec<Rule>) -> Rules {
        Rules { list, source: source.to_owned(), ..Rules::default() }
    }

    /// Where the tables go that these rules give other names.
    #[must_use]
    pub fn destinations(&self) -> Vec<TablePattern> {
        self.list.iter().filter_map(Rule::to).cloned().collect()
    }

    /// Whether all tables become the same as under the rules of another source.
    pub(crate) fn lead_as(&self, other: &Rules) -> bool {
        self.list == other.list
    }

    /// Adds where other sources' tables go.
    #[must_use]
    pub fn beside(mut self, others: Vec<TablePattern>) -> Rules {
        self.others = others;
        self
    }

    /// The same for a source that keeps names in small letters (`lower_case_table_names`): its statements have them as they
    /// were typed.
    pub(crate) fn folding(mut self) -> Rules {
        self.list = self.list.into_iter().map(|rule| Rule { tables: rule.tables.folding(), ..rule }).collect();
        self.folds = true;
        self
    }

    /// The same, but nothing reaches these tables of the target: they are copied by themselves.
    pub(crate) fn passing_over(mut self, tables: Vec<TableName>) -> Rules {
        self.passed_over = tables;
        self
    }

    /// Whether a table of the source is left out because its table of the target is copied by itself.
    pub(crate) fn passes_over(&self, schema: &[u8], table: &[u8]) -> bool {
        !self.passed_over.is_empty()
            && match self.by_list(schema, table) {
                Decision::LeaveOut => false,
                Decision::AsIs => self.is_passed_over(schema, table),
                Decision::Apply(rule) => {
                    let (schema, table) = rule.name_on_target(schema, table);
                    self.is_passed_over(&schema, &table)
                }
            }
    }

    /// The tables of the target that are left out for a while, for a message.
    fn shown_passed_over(&self) -> Option<String> {
        let shown = |name: &TableName| words::shown(&(name.schema.clone(), name.table.clone()));
        let names: Vec<String> = self.passed_over.iter().map(shown).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    fn is_passed_over(&self, schema: &[u8], table: &[u8]) -> bool {
        self.passed_over.iter().any(|name| match self.folds {
            true => name.schema.eq_ignore_ascii_case(schema) && name.table.eq_ignore_ascii_case(table),
            false => name.schema == schema && name.table == table,
        })
    }

    /// Whether nothing is to be looked at: there is no rule, and other sources' tables go nowhere else.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty() && self.others.is_empty() && self.passed_over.is_empty()
    }

    /// What becomes of a table of the source.
    pub(crate) fn decide(&self, schema: &[u8], table: &[u8]) -> Decision<'_> {
        if self.passes_over(schema, table) { Decision::LeaveOut } else { self.by_list(schema, table) }
    }

    fn by_list(&self, schema: &[u8], table: &[u8]) -> Decision<'_> {
        decision(self.list.iter().find(|rule| rule.tables.matches(schema, table)))
    }

    /// What becomes of a schema: what becomes of all its tables for which no other rule stands before.
    fn decide_schema(&self, schema: &[u8]) -> Decision<'_> {
        decision(self.list.iter().find(|rule| rule.tables.matches_all_of(schema)))
    }

    /// A table's name on the target; `None` where it is left out.
    #[must_use]
    pub fn name_on_target(&self, schema: &[u8], table: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        match self.decide(schema, table) {
            Decision::LeaveOut => None,
            Decision::AsIs => Some((schema.to_vec(), table.to_vec())),
            Decision::Apply(rule) => Some(rule.name_on_target(schema, table)),
        }
    }

    /// Whether a table that is copied cannot be as its rule wants it: it would have to be there already, or to have no rows.
    pub(crate) fn lacks_beginning(&self, schema: &[u8], table: &[u8]) -> bool {
        matches!(self.decide(schema, table), Decision::Apply(rule)
            if rule.leaves_out(Change::Insert) || rule.leaves_out(Change::Create))
    }

    /// Whose rows a table of the target may have that has those of this table of the source.
    pub(crate) fn sharing(&self, schema: &[u8], table: &[u8]) -> Sharing<'_> {
        if let Decision::Apply(rule) = self.decide(schema, table)
            && let Some(column) = rule.source_column()
        {
            return Sharing::Marked(column);
        }
        match self.name_on_target(schema, table) {
            Some((schema, table)) if self.is_shared(&schema, &table) => Sharing::Mixed,
            _ => Sharing::Own,
        }
    }

    /// Whether a rule puts tables of this schema of the source among those of others.
    pub(crate) fn merge_tables_of(&self, schema: &[u8]) -> bool {
        let merges = |rule: &&Rule| {
            let to = rule.to().and_then(|to| rule.tables.map_schema(to, schema));
            rule.source_column().is_some() || rule.merges() || to.is_some_and(|to| self.shares_schema(&to))
        };
        self.list.iter().filter(|rule| rule.tables.matches_some_of(schema)).any(|rule| merges(&rule))
    }

    /// Whether a schema of the target may have what other sources have made, or other schemas of this one.
    pub(crate) fn shares_schema(&self, schema: &[u8]) -> bool {
        self.others.iter().any(|to| to.matches_some_of(schema))
            || self
                .list
                .iter()
                .any(|rule| rule.leads_to_schema(schema) && (rule.merges() || rule.source_column().is_some()))
    }

    /// A schema's name on the target; `None` where all its tables are left out.
    pub(crate) fn schema_on_target(&self, schema: &[u8]) -> Option<Vec<u8>> {
        match self.decide_schema(schema) {
            Decision::LeaveOut => None,
            Decision::AsIs => Some(schema.to_vec()),
            Decision::Apply(rule) => {
                let mapped = rule.to().and_then(|to| rule.tables.map_schema(to, schema));
                Some(mapped.unwrap_or_else(|| schema.to_vec()))
            }
        }
    }

    /// Whether a table of the source has a column with the source's name on the target.
    #[must_use]
    pub fn has_source_column(&self, schema: &[u8], table: &[u8]) -> bool {
        matches!(self.decide(schema, table), Decision::Apply(rule) if rule.source_column().is_some())
    }

    /// The rule that gives tables of the source this name on the target, if there is one.
    pub(crate) fn leading_to(&self, schema: &[u8], table: &[u8]) -> Option<&Rule> {
        self.list.iter().find(|rule| rule.to().is_some_and(|to| to.matches(schema, table)))
    }

    /// The rule by which a table of the target has rows of the source; none where it keeps its name and nothing is left out.
    pub(crate) fn of_target(&self, schema: &[u8], table: &[u8]) -> Option<&Rule> {
        let own = match self.decide(schema, table) {
            Decision::Apply(rule) => Some(rule).filter(|rule| rule.to().is_none()),
            Decision::AsIs | Decision::LeaveOut => None,
        };
        self.leading_to(schema, table).or(own)
    }

    /// Whether a rule leaves a kind of change out, and applies others.
    pub(crate) fn leave_out_some(&self, change: Change) -> bool {
        self.list.iter().any(|rule| rule.effect != Effect::LeaveOut && rule.leaves_out(change))
    }

    /// Whether a rule may put tables into this schema of the target.
    pub(crate) fn lead_to_schema(&self, schema: &[u8]) -> bool {
        self.list.iter().any(|rule| rule.leads_to_schema(schema))
    }

    /// Whether a table of the target may have rows of other sources, or of other tables of this one.
    fn is_shared(&self, schema: &[u8], table: &[u8]) -> bool {
        self.others.iter().any(|other| other.matches(schema, table)) || self.takes_several(schema, table)
    }

    /// Whether a table of the target may have rows of several tables of this source.
    fn takes_several(&self, schema: &[u8], table: &[u8]) -> bool {
        let leading: Vec<&Rule> =
            self.list.iter().filter(|rule| rule.to().is_some_and(|to| to.matches(schema, table))).collect();
        leading.len() > 1 || leading.into_iter().any(Rule::merges)
    }

    /// Whether a schema of the target may have tables of other sources, or of other schemas of this one.
    fn is_shared_schema(&self, schema: &[u8]) -> bool {
        self.destinations().iter().chain(&self.others).filter(|to| to.matches_some_of(schema)).count() > 1
            || self.list.iter().any(|rule| rule.merges() && rule.leads_to_schema(schema))
    }

    /// What a source column holds.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }
}

fn decision(rule: Option<&Rule>) -> Decision<'_> {
    match rule {
        None => Decision::AsIs,
        Some(Rule { effect: Effect::LeaveOut, .. }) => Decision::LeaveOut,
        Some(rule) if rule.changes_nothing() => Decision::AsIs,
        Some(rule) => Decision::Apply(rule),
    }
}

impl Rule {
    fn changes_nothing(&self) -> bool {
        match &self.effect {
            Effect::LeaveOut => false,
            Effect::Apply { to, without, source_column } => {
                to.is_none() && without.is_empty() && source_column.is_none()
            }
        }
    }

    fn name_on_target(&self, schema: &[u8], table: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mapped = self.to().and_then(|to| self.tables.map(to, schema, table));
        mapped.unwrap_or_else(|| (schema.to_vec(), table.to_vec()))
    }

    fn to(&self) -> Option<&TablePattern> {
        match &self.effect {
            Effect::Apply { to, .. } => to.as_ref(),
            Effect::LeaveOut => None,
        }
    }

    /// The column of the target that holds the source's name.
    pub(crate) fn source_column(&self) -> Option<&str> {
        match &self.effect {
            Effect::Apply { source_column, .. } => source_column.as_deref(),
            Effect::LeaveOut => None,
        }
    }

    fn without(&self) -> Changes {
        match &self.effect {
            Effect::Apply { without, .. } => *without,
            Effect::LeaveOut => Changes::default(),
        }
    }

    /// Whether a kind of change is left out.
    pub(crate) fn leaves_out(&self, change: Change) -> bool {
        match &self.effect {
            Effect::Apply { without, .. } => without.has(change),
            Effect::LeaveOut => true,
        }
    }

    /// Whether it gives several tables one name.
    fn merges(&self) -> bool {
        self.to().is_some_and(|to| !to.can_fill(&self.tables))
    }

    fn leads_to_schema(&self, schema: &[u8]) -> bool {
        self.to().is_some_and(|to| to.matches_some_of(schema))
    }
}

#[cfg(test)]
mod tests;
