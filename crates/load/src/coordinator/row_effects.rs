//! What a statement of the main session is known to do with rows, asked of the server before it runs: what a record has to
//! say of it.

use std::sync::Arc;

use hortator_mysql::catalog::{Table, TableKind, TableName};
use hortator_mysql::{Error, quote_string};

use super::Coordinator;
use super::catalog_cache::RoutineEffect;
use super::journal::RowEffects;
use super::view_effects::is_view;
use crate::analysis::{StatementInfo, StatementKind, Trait, identifiers};
use crate::apply::{Stopped, close_table};
use crate::checkpoint::COUNTERS_LIMIT;
use crate::lexer::{Dialect, Kind, Location};
use crate::planner::Catalog;

/// What fires on a table, as far as a record is concerned.
#[derive(Clone, Debug, Default)]
pub(super) struct TriggerFacts {
    /// Names that the bodies hold.
    names: Vec<Vec<u8>>,
    /// A body names a user variable.
    has_variables: bool,
    /// A body calls a routine, sets variables of the session or creates temporary tables.
    may_change_session: bool,
}

/// Tables that may number the rows of a statement.
#[derive(Debug, Default)]
struct Numbered {
    /// These, with the names in their triggers.
    tables: Vec<(Arc<Table>, Vec<Vec<u8>>)>,
    has_triggers: bool,
    /// A column's default or value names a variable.
    names_variable: bool,
}

impl Coordinator<'_> {
    /// For a statement that writes rows of this table, where it is known to be one.
    pub(super) fn row_effects(
        &mut self,
        info: &StatementInfo,
        table: Option<&TableName>,
        location: &Location,
    ) -> Result<RowEffects, Stopped> {
        let mut effects =
            RowEffects { table: table.map(ToString::to_string).unwrap_or_default(), ..Default::default() };
        let asks = |catalog: &mut super::CatalogCache<'_>| catalog.routines_may(RoutineEffect::AskForTransaction);
        effects.must_stand_alone =
            info.is(Trait::ReadsTransaction) || (info.is(Trait::MayCallFunction) && self.ask(location, asks)?);
        if info.is(Trait::MayCallFunction) {
            // Where they do no more than that, the next such statement may go with others.
            self.ask(location, |catalog| catalog.routines_may(RoutineEffect::ActOnSession))?;
        }
        if !info.is(Trait::WritesRows) {
            effects.is_plain_table = self.copies_base_table(info);
            return Ok(effects);
        }
        effects.is_unrepeatable = info.is(Trait::ReadsSession) || (table.is_none() && info.changes.is_none());
        // A temporary table may hide the one that is known by the name.
        let named = info.changes.as_ref().filter(|_| !self.main.has_temporary_tables());
        let changed = named.and_then(|named| self.names().resolve(named));
        // What it reads may be of any engine; what it writes is known by the table.
        let is_unknown = table.is_none() && changed.is_none();
        if (info.is(Trait::AnyEngine) && is_unknown) || info.is(Trait::MayCallFunction) {
            effects.names_other_engines = self.ask(location, super::CatalogCache::has_other_engines)?;
        }
        let Some(name) = table.or(changed.as_ref()) else { return Ok(effects) };
        if self.main.is_closed_to_others() && self.catalog.remembered(name).is_none() {
            // The dump's own locks may be in the way of a look at the table, and one intent stands for all under them.
            return Ok(effects);
        }
        let Some(known) = self.table(name, location)? else { return Ok(effects) };
        let behind = match is_view(&known) {
            true => self.tables_behind(name, location)?,
            false => None,
        };
        // A view's rows may be anywhere, and so may those of tables that stand for others.
        effects.names_other_engines |= known.kind == TableKind::Other && behind.is_none();
        effects.is_unrepeatable |= behind.is_some();
        let tables = behind.as_deref().unwrap_or_default();
        let mut numbered = Numbered::default();
        effects.is_plain_table = matches!(known.kind, TableKind::Base { .. })
            && !known.has_triggers
            && !known.columns.iter().any(|column| column.draws_from_sequence);
        self.table_effects(name, &mut effects, &mut numbered, location)?;
        for table in tables {
            self.table_effects(table, &mut effects, &mut numbered, location)?;
        }
        if behind.is_some() {
            // Which of its tables gets the rows is not asked.
            effects.names_other_engines |= effects.is_non_transactional;
            effects.is_non_transactional = false;
        }
        // A query of the counter would open the table, and decide what the variables in its defaults are.
        let inserts = changed.is_none() && !numbered.names_variable;
        let numbers = numbered.has_triggers
            || (!numbered.tables.is_empty() && !self.has_given_number() && !self.gives_ids(info, name));
        if self.main.is_recorded() && inserts && numbers {
            effects.counters = match self.batch_counters(name) {
                Some(counters) => counters,
                None => self.counters_of(&numbered, location)?,
            };
        }
        Ok(effects)
    }

    /// Whether a statement copies the definition of a base table, and not of a sequence.
    fn copies_base_table(&self, info: &StatementInfo) -> bool {
        let source = info.copies.as_ref().filter(|_| !self.main.has_temporary_tables());
        source
            .and_then(|named| self.names().resolve(named))
            .is_some_and(|name| self.catalog.is_table(&name) == Some(true))
    }

    /// What a statement does by writing rows of this table, added to what is known of it.
    fn table_effects(
        &mut self,
        name: &TableName,
        effects: &mut RowEffects,
        numbered: &mut Numbered,
        location: &Location,
    ) -> Result<(), Stopped> {
        let Some(known) = self.table(name, location)? else { return Ok(()) };
        let asks = |catalog: &mut super::CatalogCache<'_>| catalog.routines_may(RoutineEffect::AskForTransaction);
        effects.is_non_transactional |= known.kind == TableKind::Base { transactional: false };
        effects.must_stand_alone |= known.versioned
            || known.numbers_documents()
            || known.columns.iter().any(|column| column.default_reads_session);
        let triggers = match known.has_triggers {
            true => {
                effects.is_unrepeatable = true;
                effects.names_other_engines |= self.ask(location, super::CatalogCache::has_other_engines)?;
                self.trigger_facts(name, location)?
            }
            false => TriggerFacts::default(),
        };
        effects.is_session_bound |= triggers.has_variables;
        effects.may_change_session |= triggers.may_change_session;
        // What fires on the table may write to others on which something fires.
        effects.must_stand_alone |= known.has_triggers && self.ask(location, asks)?;
        numbered.names_variable |= known.columns.iter().any(|column| column.names_variable);
        numbered.has_triggers |= known.has_triggers;
        if known.has_triggers || known.auto_increment().is_some() {
            numbered.tables.push((known, triggers.names));
        }
        Ok(())
    }

    /// Whether each row has a number of its own: the counter is then behind it, however often the row is stored.
    fn gives_ids(&self, info: &StatementInfo, table: &TableName) -> bool {
        let (StatementKind::Rows(rows), Some(known)) = (&info.kind, &self.main.look_ahead.known) else { return false };
        let form = &known.form;
        form.name == *table
            && rows.head.as_ref().is_none_or(|head| *head == form.head)
            && form.only_adds()
            && form.id_value.is_some()
            && rows.values.id_value == form.id_value
            && !rows.values.implicit_id
    }

    /// The counters of tables, and of those that their triggers name.
    fn counters_of(&mut self, numbered: &Numbered, location: &Location) -> Result<Vec<(TableName, u64)>, Stopped> {
        let mut all: Vec<(TableName, u64)> = Vec::new();
        for (known, named_by_triggers) in &numbered.tables {
            let mut counters = self.ask(location, |catalog| {
                let mut connection = catalog.connection();
                let found = counters(&mut connection, &known.name, named_by_triggers);
                close_table(&mut connection, known);
                found
            })?;
            // MySQL tells no counter of a table that has not given a number yet.
            if known.auto_increment().is_some() && !counters.iter().any(|(counted, _)| *counted == known.name) {
                counters.push((known.name.clone(), 1));
            }
            counters.retain(|(counted, _)| !all.iter().any(|(other, _)| other == counted));
            all.extend(counters);
        }
        Ok(all)
    }

    fn trigger_facts(&mut self, name: &TableName, location: &Location) -> Result<TriggerFacts, Stopped> {
        if let Some(known) = self.catalog.triggers.get(name) {
            return Ok(known.clone());
        }
        let query = [
            b"SELECT ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = ".as_slice(),
            &quote_string(&name.schema),
            b" AND EVENT_OBJECT_TABLE = ",
            &quote_string(&name.table),
        ]
        .concat();
        let bodies = self.ask(location, |catalog| catalog.connection().fetch(&query))?;
        let dialect = Dialect::mariadb(u32::MAX);
        let mut facts = TriggerFacts::default();
        for body in bodies.into_iter().flatten().flatten() {
            facts.has_variables |= memchr::memchr(b'@', &body).is_some();
            let names = identifiers(&body, &dialect);
            let changing: [&[u8]; 5] = [b"CALL", b"SESSION", b"LOCAL", b"TEMPORARY", b"EXECUTE"];
            facts.may_change_session |= memchr::memmem::find(&body, b"@@").is_some()
                || names.iter().any(|name| changing.iter().any(|word| name.eq_ignore_ascii_case(word)))
                || sets_variables(&body, &dialect)
                || self.main.look_ahead.functions().may_be_called_in(&body, &dialect);
            facts.names.extend(names);
        }
        self.catalog.triggers.insert(name.clone(), facts.clone());
        Ok(facts)
    }
}

/// Whether a body assigns anything but columns, as in `NEW.a`, and user variables: a variable of its own, or of the session.
fn sets_variables(body: &[u8], dialect: &Dialect) -> bool {
    let mut depth = 0_usize;
    // Within a SET, and at the beginning of one of its items.
    let (mut is_set, mut is_target) = (false, false);
    for token in crate::lexer::tokens(body, dialect) {
        if is_target && !token.is_word(b"NEW") && !matches!(token.kind, Kind::UserVariable(_)) {
            return true;
        }
        is_target = false;
        match token.kind {
            Kind::Symbol(b"(") => depth += 1,
            Kind::Symbol(b")") => depth = depth.saturating_sub(1),
            Kind::Symbol(b",") if is_set && depth == 0 => is_target = true,
            Kind::Symbol(b";") => (is_set, depth) = (false, 0),
            // Also in `UPDATE t SET`, which then looks like one.
            Kind::Word(word) if word.eq_ignore_ascii_case(b"SET") => (is_set, is_target, depth) = (true, true, 0),
            _ => {}
        }
    }
    false
}

/// The counters of a table and of those in its schema that its triggers name.
pub(super) fn counters(
    connection: &mut hortator_mysql::Connection,
    name: &TableName,
    named_by_triggers: &[Vec<u8>],
) -> Result<Vec<(TableName, u64)>, Error> {
    let mut names = vec![quote_string(&name.table)];
    names.extend(named_by_triggers.iter().map(Vec::as_slice).map(quote_string));
    let query = [
        b"SELECT TABLE_NAME, AUTO_INCREMENT FROM information_schema.TABLES WHERE AUTO_INCREMENT IS NOT NULL \
          AND TABLE_SCHEMA = "
            .as_slice(),
        &quote_string(&name.schema),
        b" AND TABLE_NAME IN (",
        &names.join(&b","[..]),
        format!(") LIMIT {COUNTERS_LIMIT}").as_bytes(),
    ]
    .concat();
    let rows = connection.fetch(&query)?;
    let counter = |row: hortator_mysql::Row| {
        let mut values = row.into_iter().flatten();
        let table = TableName { schema: name.schema.clone(), table: values.next()? };
        Some((table, String::from_utf8(values.next()?).ok()?.parse().ok()?))
    };
    Ok(rows.into_iter().filter_map(counter).collect())
}
