//! Transactions whose rows do not fit those of the target, applied event by event, and row by row where an event does not fit.
//!
//! A BINLOG statement of one event that is refused leaves nothing of it, and the transaction open. So the rows that fit are
//! applied as ever; of an event that does not fit, one half after the other, down to the row. What happens then is a table:
//! see [`crate::apply::conflicts`]. A row that exists becomes the source's row by an update event, which fires no trigger and
//! deletes no child; other rows that have its unique keys are deleted by a statement.

use std::collections::HashMap;
use std::sync::Arc;

use hortator_mysql::catalog::TableName;
use hortator_mysql::quote_identifier;

use super::group::made_on;
use super::{Applier, describe};
use crate::apply::ConflictPolicy;
use crate::apply::binlog_statement::BinlogStatement;
use crate::apply::conflicts::unique_table::UniqueTable;
use crate::apply::conflicts::{ConflictLog, Misfit, RowConflict, TableConflicts, misfit};
use crate::apply::error::Error;
use crate::binlog::{ColumnFormat, Content, Event, FormatDescription, Image, RowChange, merged, only};
use crate::query::first_value;
use crate::transaction::Transaction;

/// The session in which the literals of keys mean what is stored, and children are looked at: it may be that of a statement of
/// the source.
const SESSION: &str =
    "SET STATEMENT time_zone = '+00:00', sql_mode = 'ALLOW_INVALID_DATES', foreign_key_checks = 1 FOR";

/// What is known of conflicts.
#[derive(Debug, Default)]
pub(super) struct Resolver {
    policy: ConflictPolicy,
    /// The transaction that is open is applied event by event.
    pub(super) is_on: bool,
    /// The table maps of the open transaction.
    maps: HashMap<u64, Event>,
    tables: HashMap<TableName, Arc<UniqueTable>>,
    pub(super) log: ConflictLog,
}

impl Resolver {
    /// The open transaction is rolled back, and does not come again.
    pub(super) fn abandon(&mut self) {
        self.is_on = false;
        self.maps.clear();
        self.log.roll_back();
    }

    /// What is known of the target's tables may not hold any more.
    pub(super) fn forget_tables(&mut self) {
        self.tables.clear();
    }
}

/// The table of an event's rows.
struct RowTable<'e> {
    name: TableName,
    map: &'e Event,
    formats: Vec<ColumnFormat>,
    format: Arc<FormatDescription>,
    /// The event that the rows are of.
    rows: &'e Event,
    place: &'e str,
}

impl RowTable<'_> {
    fn error(&self, found: &str) -> Error {
        Error::Event { place: self.place.to_owned(), found: format!("rows of {}: {found}", self.name) }
    }
}

impl Applier {
    /// Does this about rows that do not fit.
    #[must_use]
    pub fn with_conflict_policy(mut self, policy: ConflictPolicy) -> Applier {
        self.resolver = Resolver { policy, ..Resolver::default() };
        self
    }

    /// The conflicts of transactions that were committed since the last call, by table.
    pub fn take_conflicts(&mut self) -> Vec<TableConflicts> {
        self.resolver.log.take()
    }

    /// Whether an error is about rows for which there is a policy, and nothing is left of the transaction.
    pub(super) fn can_resolve(&self, error: &Error) -> bool {
        let is_of_rows = matches!(error, Error::Target { error, .. } if misfit(error).is_some());
        self.resolver.policy != ConflictPolicy::Error && !self.resolver.is_on && !self.has_leftovers && is_of_rows
    }

    /// Commits small transactions of rows as one of the target's, event by event.
    pub(super) fn commit_resolved(&mut self, transactions: &[Transaction]) -> Result<(), Error> {
        self.resolver.is_on = true;
        let done = self.commit_each_event(transactions);
        self.end_resolved(done)
    }

    /// A transaction by itself; event by event where its rows do not fit.
    pub(super) fn apply_alone_or_resolve(
        &mut self,
        transaction: &Transaction,
        is_safe: bool,
        is_repeatable: bool,
    ) -> Result<(), Error> {
        let mut done = Ok(());
        if !self.resolver.is_on {
            done = self.apply_alone(transaction, is_safe || is_repeatable);
            self.has_leftovers &= !is_repeatable;
            let is_to_resolve = is_safe && matches!(&done, Err(error) if self.can_resolve(error));
            self.resolver.is_on = is_to_resolve;
        }
        if self.resolver.is_on {
            done = self.apply_alone(transaction, true);
            done = self.end_resolved(done);
        }
        done
    }

    /// What was applied event by event is committed, or nothing of it may stay.
    pub(super) fn end_resolved(&mut self, done: Result<(), Error>) -> Result<(), Error> {
        self.resolver.is_on = false;
        self.resolver.maps.clear();
        match &done {
            Ok(()) => self.resolver.log.commit(),
            Err(_) => {
                self.resolver.log.roll_back();
                self.is_within = false;
                // A lost connection has rolled back by itself.
                let _ = self.connection.execute(b"ROLLBACK");
            }
        }
        done
    }

    fn commit_each_event(&mut self, transactions: &[Transaction]) -> Result<(), Error> {
        let before = self.committed.clone().unwrap_or_default();
        let end = Applier::behind(before.clone(), transactions);
        let Some(last) = transactions.last() else { return Ok(()) };
        let place = describe(&end, &last.text());
        self.log_as(made_on(transactions), &place)?;
        self.execute(b"START TRANSACTION", &place)?;
        for (index, one) in transactions.iter().enumerate() {
            let place = describe(&Applier::behind(before.clone(), &transactions[..=index]), &one.text());
            one.events.iter().try_for_each(|event| self.resolve(event, &place))?;
        }
        self.move_to(&end, &place)?;
        self.execute(b"COMMIT", &place)?;
        self.recorded(end, transactions.len() as u64);
        self.groups += 1;
        Ok(())
    }

    /// Applies a table map or rows of a transaction that is open.
    pub(super) fn resolve(&mut self, event: &Event, place: &str) -> Result<(), Error> {
        match &event.content {
            Content::TableMap(map) => {
                self.resolver.maps.insert(map.table_id, event.clone());
                Ok(())
            }
            Content::Rows(rows) => match self.resolver.maps.get(&rows.table_id).cloned() {
                Some(map) => self.resolve_rows(&map, event, place),
                None => Err(Error::Event { place: place.to_owned(), found: "rows without a table map".to_owned() }),
            },
            _ => Ok(()),
        }
    }

    fn resolve_rows(&mut self, map: &Event, rows: &Event, place: &str) -> Result<(), Error> {
        let Some(misfit) = self.attempt(map, &rows.bytes, place)? else { return Ok(()) };
        let Content::TableMap(content) = &map.content else { return Ok(()) };
        let invalid = |found: String| Error::Event { place: place.to_owned(), found };
        let Some((format, _)) = self.format.clone() else { return Err(invalid("rows without a format".to_owned())) };
        let formats = ColumnFormat::read_all(content).map_err(invalid)?;
        let changes = rows.row_changes(&formats, &format).map_err(invalid)?;
        let name = TableName { schema: content.schema.clone(), table: content.table.clone() };
        let table = RowTable { name, map, formats, format, rows, place };
        match &changes[..] {
            [one] => self.resolve_row(&table, one, misfit),
            changes => self.resolve_halves(&table, changes),
        }
    }

    /// Rows that do not fit as a whole.
    fn resolve_halves(&mut self, table: &RowTable<'_>, changes: &[RowChange]) -> Result<(), Error> {
        let (first, second) = changes.split_at(changes.len() / 2);
        for half in [first, second] {
            match (half, self.send(table, half)?) {
                (_, None) => {}
                ([one], Some(misfit)) => self.resolve_row(table, one, misfit)?,
                (half, Some(_)) => self.resolve_halves(table, half)?,
            }
        }
        Ok(())
    }

    /// A row that does not fit.
    fn resolve_row(&mut self, table: &RowTable<'_>, change: &RowChange, misfit: Misfit) -> Result<(), Error> {
        let keys = self.unique_table(table)?;
        if self.resolver.policy == ConflictPolicy::Overwrite {
            if keys.has_history {
                let found = "conflict = \"overwrite\" does not change tables with history (WITH SYSTEM VERSIONING)";
                return Err(table.error(&format!("{found}, {}", shown(&keys, change, misfit, table))));
            }
            let done = match (change, misfit) {
                (RowChange::Delete(_), _) => Ok(()),
                (RowChange::Insert(image), _) => self.put(table, &keys, image),
                (RowChange::Update { before, after }, Misfit::Missing) => {
                    let whole = merged(after, before);
                    if whole.iter().any(Option::is_none) {
                        let found = "conflict = \"overwrite\" needs the whole row to insert it, and the event has the changed \
                                     columns only: set binlog_row_image = FULL on the source";
                        return Err(table.error(&format!("{found}; {}", shown(&keys, change, misfit, table))));
                    }
                    match self.send(table, &[RowChange::Insert(whole.clone())])? {
                        None => Ok(()),
                        Some(_) => self.put(table, &keys, &whole),
                    }
                }
                (RowChange::Update { before, after }, Misfit::Exists) => {
                    self.make_room_for_update(table, &keys, change, before, after)
                }
            };
            done.map_err(|error| match error {
                Error::Event { place, found } => {
                    Error::Event { place, found: format!("{found}; {}", shown(&keys, change, misfit, table)) }
                }
                error => error,
            })?;
        }
        let key = || RowConflict::new(change, misfit, keys.shown_key(change.known_by(), &table.formats));
        self.resolver.log.add(table.name.to_string(), key);
        Ok(())
    }

    /// Makes the row that has the image's primary key that row, or inserts it; other rows that have its unique keys go.
    fn put(&mut self, table: &RowTable<'_>, keys: &UniqueTable, image: &Image) -> Result<(), Error> {
        if self.put_by_primary(table, keys, image)?.is_none() {
            return Ok(());
        }
        self.delete_in_the_way(table, keys, [image, image], image)?;
        match self.put_by_primary(table, keys, image)? {
            None => Ok(()),
            Some(_) => Err(self.still_in_the_way(table)),
        }
    }

    fn put_by_primary(
        &mut self,
        table: &RowTable<'_>,
        keys: &UniqueTable,
        image: &Image,
    ) -> Result<Option<Misfit>, Error> {
        if let Some(columns) = keys.primary_in(image) {
            let known_by = only(image, &columns);
            if image.iter().all(Option::is_some) {
                let update = RowChange::Update { before: known_by, after: image.clone() };
                match self.send(table, &[update])? {
                    Some(Misfit::Missing) => {}
                    done => return Ok(done),
                }
            } else {
                // What it does not hold gets its default, as on the source: an update would leave it.
                self.check_can_delete(table, keys)?;
                let _ = self.send(table, &[RowChange::Delete(known_by)])?;
            }
        }
        self.send(table, &[RowChange::Insert(image.clone())])
    }

    /// An update to keys that other rows have.
    fn make_room_for_update(
        &mut self,
        table: &RowTable<'_>,
        keys: &UniqueTable,
        change: &RowChange,
        before: &Image,
        after: &Image,
    ) -> Result<(), Error> {
        if keys.primary_in(before).is_none() {
            let found = "the table has no primary key by which the row could be told from those in its way";
            return Err(table.error(found));
        }
        let whole = merged(after, before);
        self.delete_in_the_way(table, keys, [&whole, after], before)?;
        let change = std::slice::from_ref(change);
        if self.send(table, change)?.is_none() {
            return Ok(());
        }
        // Another row has its new primary key.
        let Some(columns) = keys.primary_in(&whole) else { return Err(self.still_in_the_way(table)) };
        self.check_can_delete(table, keys)?;
        let _ = self.send(table, &[RowChange::Delete(only(&whole, &columns))])?;
        match self.send(table, change)? {
            None => Ok(()),
            Some(_) => Err(self.still_in_the_way(table)),
        }
    }

    /// Deletes the rows that have a unique key of an image with columns in `changed`, but for the one that `keep` is an image of.
    fn delete_in_the_way(
        &mut self,
        table: &RowTable<'_>,
        keys: &UniqueTable,
        [image, changed]: [&Image; 2],
        keep: &Image,
    ) -> Result<(), Error> {
        let conditions = keys.conditions([image, changed], keep, &table.formats);
        let conditions =
            conditions.map_err(|why| table.error(&format!("the row in the way cannot be looked up: {why}")))?;
        if conditions.is_empty() {
            return Ok(());
        }
        self.use_own_charset(table.place)?;
        let conditions = conditions.join(" OR ");
        let name = [quote_identifier(&table.name.schema), quote_identifier(&table.name.table)].join(&b'.');
        let name = String::from_utf8_lossy(&name).into_owned();
        let question = format!("{SESSION} SELECT 1 FROM {name} WHERE {conditions} LIMIT 1 FOR UPDATE");
        let is_any = first_value(&mut self.connection, question.as_bytes());
        if is_any.map_err(|error| self.failed(error, table.place))?.is_empty() {
            return Ok(());
        }
        self.check_can_delete(table, keys)?;
        if let Some(trigger) = &keys.delete_trigger {
            let found = format!("the row in the way is not deleted: the trigger `{trigger}` of the target would fire");
            return Err(table.error(&found));
        }
        let delete = format!("{SESSION} DELETE FROM {name} WHERE {conditions}");
        self.execute(delete.as_bytes(), table.place)
    }

    fn check_can_delete(&mut self, table: &RowTable<'_>, keys: &UniqueTable) -> Result<(), Error> {
        let Some(child) = &keys.keeps_rows else { return Ok(()) };
        Err(table.error(&format!(
            "the row in the way is not deleted: the foreign key of {child} could delete or change the rows that refer to it"
        )))
    }

    fn still_in_the_way(&mut self, table: &RowTable<'_>) -> Error {
        table.error("another row is in the way, and does not have the row's unique keys")
    }

    fn unique_table(&mut self, table: &RowTable<'_>) -> Result<Arc<UniqueTable>, Error> {
        if let Some(known) = self.resolver.tables.get(&table.name) {
            return Ok(known.clone());
        }
        self.use_own_charset(table.place)?;
        let asked = UniqueTable::of_target(&mut self.connection, &table.name);
        let found = Arc::new(asked.map_err(|error| self.failed(error, table.place))?);
        self.resolver.tables.insert(table.name.clone(), found.clone());
        Ok(found)
    }

    fn send(&mut self, table: &RowTable<'_>, changes: &[RowChange]) -> Result<Option<Misfit>, Error> {
        let made = table.rows.of_changes(changes, &table.format).map_err(|found| table.error(&found))?;
        self.attempt(table.map, &made, table.place)
    }

    /// Applies rows; what does not fit leaves nothing of them.
    fn attempt(&mut self, map: &Event, rows: &[u8], place: &str) -> Result<Option<Misfit>, Error> {
        let mut statement = BinlogStatement::default();
        statement.push(&map.bytes);
        statement.push(rows);
        let texts = match statement.text_bytes_with(0) > self.packet_limit_bytes {
            true => statement.take_fragments().to_vec(),
            false => vec![statement.take_text()],
        };
        for text in texts {
            let Err(error) = self.connection.execute(&text) else { continue };
            let Some(found) = misfit(&error) else { return Err(self.failed(error, place)) };
            let is_open = first_value(&mut self.connection, b"SELECT @@in_transaction");
            return match is_open {
                Ok(is_open) if is_open == "1" => Ok(Some(found)),
                Ok(_) => Err(self.failed(error, place)),
                Err(error) => Err(self.failed(error, place)),
            };
        }
        Ok(None)
    }
}

fn shown(keys: &UniqueTable, change: &RowChange, misfit: Misfit, table: &RowTable<'_>) -> String {
    RowConflict::new(change, misfit, keys.shown_key(change.known_by(), &table.formats)).to_string()
}
