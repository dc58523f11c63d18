//! Makes a source's events those of the target: by the rules, without compression, without what is about our own tables.

use std::collections::HashMap;
use std::time::Instant;

use hortator_load::lexer::Dialect;
use hortator_mysql::catalog::TableName;

use super::moved_column::moved_column;
use super::{Applier, describe};
use crate::apply::error::Error;
use crate::apply::node_engines::stays_on_node_text;
use crate::apply::refusal::alters_schema;
use crate::apply::shared_definitions::SOURCE_COLUMN_BYTES;
use crate::apply::source_collations;
use crate::apply::statement_session::{client_charset, taken_collations, without_foreign_key_checks};
use crate::apply::target_tables::{TargetTable, table_type};
use crate::binlog::{AddedColumn, Content, Event, QueryEvent, statement_dialect};
use crate::rules::{
    CreatedTable, Rewritten, RowRules, created_table, created_table_in, has_names_beyond_ascii, rewrite,
};
use crate::transaction::Transaction;

/// A setting before a statement that would undo what its session has.
const FOREIGN_KEY_CHECKS: &str = "foreign_key_checks";
/// Character sets of sessions in which names are in UTF-8.
pub(super) const IN_UTF8: [&str; 4] = ["utf8mb4", "utf8mb3", "utf8", "binary"];

impl Applier {
    /// Makes a transaction that of the target.
    pub(super) fn prepare_transaction(&mut self, transaction: &mut Transaction) -> Result<(), Error> {
        if self.rules.is_empty() {
            let prepared = self.prepare(&mut transaction.events, "");
            return prepared
                .map_err(|error| error.at(|| describe(&self.position_behind(transaction), &transaction.text())));
        }
        // What it was under the rules' names is gone behind them. Rows, which are many, are named only in an error.
        let text = transaction.text();
        if transaction.events.iter().any(|event| matches!(event.content, Content::Query(_))) {
            let place = describe(&self.position_behind(transaction), &text);
            return self.prepare(&mut transaction.events, &place);
        }
        let prepared = self.prepare(&mut transaction.events, "");
        prepared.map_err(|error| error.at(|| describe(&self.position_behind(transaction), &text)))
    }

    /// Makes events those of the target.
    pub(super) fn prepare(&mut self, events: &mut Vec<Event>, place: &str) -> Result<(), Error> {
        self.table.strip(events);
        let Some(format) = self.format.as_ref().map(|(format, _)| format.clone()) else { return Ok(()) };
        for event in events.iter_mut() {
            event.uncompress(&format);
            event.check_unique(&format);
        }
        if !self.rules.is_empty() {
            self.rewrite_statements(events, place)?;
            let columns = self.source_columns(events, place)?;
            let done = self.row_rules.apply(&self.rules, events, &format, &columns);
            done.map_err(|found| Error::Event { place: place.to_owned(), found })?;
        }
        // Behind the rules: what they leave out needs none.
        self.check_interrupted(events, place)?;
        self.check_nodes(events, place)?;
        self.name_collations(events, place)?;
        self.convert_times(events, &format, place)
    }

    /// Names the collations of new tables, where the target does not know the variable that they come from.
    fn name_collations(&mut self, events: &mut [Event], place: &str) -> Result<(), Error> {
        if self.connection.version().comment_number() >= source_collations::SINCE {
            return Ok(());
        }
        let refused = |found| Error::Event { place: place.to_owned(), found };
        for event in events {
            let Content::Query(query) = &mut event.content else { continue };
            let taken = taken_collations(&query.status_variables).map_err(refused)?;
            let Some(numbers) = taken.filter(|numbers| !numbers.is_empty()) else { continue };
            let (dialect, _) = self.dialect(query, place)?;
            let taken = source_collations::of_target(&numbers, self.collations(place)?);
            if let Some(text) = source_collations::named(&query.text, &dialect, &taken).map_err(refused)? {
                query.text = text;
            }
        }
        Ok(())
    }

    /// Where the source columns of the events' tables stand.
    fn source_columns(&mut self, events: &[Event], place: &str) -> Result<HashMap<TableName, AddedColumn>, Error> {
        let mut found = HashMap::new();
        self.use_own_charset(place)?;
        for (table, column) in RowRules::source_columns(&self.rules, events) {
            let value = self.rules.source().as_bytes().to_vec();
            let asked = self.target_tables.source_column(&mut self.connection, &table, &column);
            let asked = asked.map_err(|error| self.failed(error, place))?;
            let added = match asked {
                _ if self.will_be_created(events, &table, asked.is_some(), place)? => {
                    AddedColumn { index: usize::MAX, limit_bytes: SOURCE_COLUMN_BYTES, value }
                }
                Some(known) if known.can_hold(self.rules.source()) => {
                    AddedColumn { index: known.index, limit_bytes: known.limit_bytes, value }
                }
                other => {
                    let found = self.no_source_column(&table, &column, other.is_some(), place)?;
                    return Err(Error::Event { place: place.to_owned(), found });
                }
            };
            found.insert(table, added);
        }
        Ok(found)
    }

    /// Whether these events create a table, with the source column behind all others: CREATE TABLE … SELECT.
    fn will_be_created(
        &mut self,
        events: &[Event],
        table: &TableName,
        exists: bool,
        place: &str,
    ) -> Result<bool, Error> {
        for event in events {
            let Content::Query(query) = &event.content else { continue };
            let (dialect, _) = self.dialect(query, place)?;
            let created = created_table(&query.text, &dialect);
            if created.is_some_and(|created| created.is(&table.schema, &table.table) && (created.replaces || !exists)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The table that a statement drops and creates again: what the target has of its name is another one.
    fn replaced_table(&mut self, query: &QueryEvent) -> Result<Option<CreatedTable>, Error> {
        // A source writes it so itself where rows follow.
        if !query.text.starts_with(b"CREATE OR REPLACE") {
            return Ok(None);
        }
        let (dialect, _) = self.dialect(query, "")?;
        Ok(created_table_in(Some(&query.schema), &query.text, &dialect).filter(|created| created.replaces))
    }

    /// Why the source's name cannot be put into a table's rows.
    fn no_source_column(
        &mut self,
        table: &TableName,
        column: &str,
        is_there: bool,
        place: &str,
    ) -> Result<String, Error> {
        let asked = table_type(&mut self.connection, table);
        let table_type = asked.map_err(|error| self.failed(error, place))?;
        let name = format!("{}.{}", String::from_utf8_lossy(&table.schema), String::from_utf8_lossy(&table.table));
        Ok(match table_type.as_str() {
            "" => {
                format!("Table {name} doesn't exist on the target: copy it, with its column `{column}`, then `resume`")
            }
            "SEQUENCE" => format!(
                "{name} is a sequence, which cannot have the column `{column}`: give the sequence a rule of its own \
                 before this one"
            ),
            _ if is_there => format!(
                "the column `{column}` of {name} on the target cannot hold the source's name `{}`: make it \
                 VARCHAR(64) CHARACTER SET utf8mb4",
                self.rules.source()
            ),
            _ => format!(
                "{name} has no column `{column}` of the type VARCHAR on the target: add one, NOT NULL, to the table and \
                 to its unique keys"
            ),
        })
    }

    fn rewrite_statements(&mut self, events: &mut Vec<Event>, place: &str) -> Result<(), Error> {
        if !events.iter().any(|event| matches!(event.content, Content::Query(_))) {
            return Ok(());
        }
        let mut kept: Vec<Event> = Vec::with_capacity(events.len());
        for mut event in events.drain(..) {
            if let Content::Query(query) = &mut event.content {
                let (dialect, charset) = self.dialect(query, place)?;
                let needs_schema = !event.header.needs_no_schema() || alters_schema(query);
                let default = if needs_schema { query.schema.clone() } else { Vec::new() };
                let becomes = rewrite(&self.rules, &default, &query.text, &dialect);
                let new_text = match &becomes {
                    Rewritten::Changed { text, .. } | Rewritten::OwnRowsDeleted { text, .. } => text,
                    _ => &query.text,
                };
                let has_names = [&query.text, new_text].iter().any(|text| has_names_beyond_ascii(text, &dialect));
                if has_names && !IN_UTF8.contains(&charset.as_str()) {
                    let found = format!(
                        "names in it are in the character set {charset}, and rules are in UTF-8: run what it should do on \
                         the target by hand, then `skip` it"
                    );
                    return Err(Error::Event { place: place.to_owned(), found });
                }
                match becomes {
                    Rewritten::AsIs => {}
                    Rewritten::LeftOut => {
                        // With the values before it.
                        let is_value = |event: &Event| {
                            matches!(
                                event.content,
                                Content::IntVar { .. } | Content::Rand { .. } | Content::UserVariable(_)
                            )
                        };
                        while kept.last().is_some_and(is_value) {
                            kept.pop();
                        }
                        continue;
                    }
                    Rewritten::Changed { text, schema } => (query.text, query.schema) = (text, schema),
                    Rewritten::OwnRowsDeleted { text, schema } => {
                        (query.text, query.schema) = (text, schema);
                        let status = std::mem::take(&mut query.status_variables);
                        query.status_variables = without_foreign_key_checks(status);
                        query.settings.retain(|setting| setting.name != FOREIGN_KEY_CHECKS);
                    }
                    Rewritten::Refused(found) => return Err(Error::Event { place: place.to_owned(), found }),
                }
            }
            kept.push(event);
        }
        *events = kept;
        Ok(())
    }

    /// How the source has read a statement, and its character set.
    pub(super) fn dialect(&mut self, query: &QueryEvent, place: &str) -> Result<(Dialect, String), Error> {
        let charset =
            client_charset(&query.status_variables).map_err(|found| Error::Event { place: place.to_owned(), found })?;
        let collations = self.collations(place)?;
        let charset = charset.and_then(|id| collations.names(id)).map_or("utf8mb4", |(charset, _)| charset).to_owned();
        let version = self.connection.version();
        let server = Dialect { mariadb: version.is_mariadb(), ..Dialect::mariadb(version.comment_number()) };
        let dialect = statement_dialect(&query.status_variables, server);
        Ok((dialect, charset))
    }

    /// Whether the target can roll these rows back. It must have a column for each of the source's: a server passes over those
    /// that it has not. That error has no place yet.
    pub(super) fn target_can_roll_back(&mut self, events: &[Event]) -> Result<bool, Error> {
        let (mut can, now) = (true, Instant::now());
        let mut replaced = Vec::new();
        for event in events {
            let map = match &event.content {
                Content::TableMap(map) => map,
                Content::Query(query) => {
                    replaced.extend(self.replaced_table(query)?);
                    continue;
                }
                _ => continue,
            };
            if replaced.iter().any(|created: &CreatedTable| created.is(&map.schema, &map.table)) {
                // CREATE commits, and the table that takes the rows is not there yet.
                can = false;
                continue;
            }
            if let Some(can_roll_back) = self.target_tables.fit(map, now) {
                can &= can_roll_back;
                continue;
            }
            let name = TableName { schema: map.schema.clone(), table: map.table.clone() };
            let Some(mut table) = self.target_table(&name)? else { continue };
            if map.column_types.len() > table.columns_limit {
                // It may have been changed by others.
                self.target_tables.forget();
                let Some(now) = self.target_table(&name)? else { continue };
                table = now;
            }
            if let Some(found) = moved_column(map, &table.column_names, &name, &self.rules) {
                self.flush()?;
                self.target_tables.forget();
                return Err(Error::Event { place: String::new(), found });
            }
            can &= table.can_roll_back;
            if let Some(engine) = &table.local_engine {
                let shown =
                    format!("{}.{}", String::from_utf8_lossy(&name.schema), String::from_utf8_lossy(&name.table));
                let found = stays_on_node_text(&shown, engine) + ". Change it on the target, then `resume`";
                self.flush()?;
                self.target_tables.forget();
                return Err(Error::Event { place: String::new(), found });
            }
            if map.column_types.len() > table.columns_limit {
                let found = format!(
                    "the source's table has {} columns, and {}.{} on the target has {}: change the target's table, then \
                     `resume`",
                    map.column_types.len(),
                    String::from_utf8_lossy(&name.schema),
                    String::from_utf8_lossy(&name.table),
                    table.columns_limit
                );
                self.flush()?;
                return Err(Error::Event { place: String::new(), found });
            }
            self.target_tables.note_fit(map, &name, table.can_roll_back);
        }
        Ok(can)
    }

    /// Whether these rows are the states of sequences only: what a crash leaves of them may be applied again.
    pub(super) fn is_of_sequences(&mut self, events: &[Event]) -> Result<bool, Error> {
        for event in events {
            let Content::TableMap(map) = &event.content else { continue };
            let name = TableName { schema: map.schema.clone(), table: map.table.clone() };
            if !self.target_table(&name)?.is_some_and(|table| table.is_sequence) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn target_table(&mut self, name: &TableName) -> Result<Option<TargetTable>, Error> {
        if let Some(known) = self.target_tables.known(name) {
            return Ok(known);
        }
        // Of a large transaction, statements are sent ahead.
        self.take_answers()?;
        self.use_own_charset("looking at the target's tables")?;
        let asked = self.target_tables.get(&mut self.connection, name);
        asked.map_err(|error| self.failed(error, "looking at the target's tables"))
    }
}
