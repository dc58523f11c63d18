//! One connection that applies one source's transactions in their order.

mod account;
mod begun;
mod charset;
mod conversion;
mod group;
mod interrupted;
mod large;
mod merged;
mod misfit;
mod moved_column;
mod node_tables;
mod position;
mod prepare;
mod resolve;
mod row_times;
mod rows;
mod side_by_side;
mod statement_engines;
mod temporary;

use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Instant;

use hortator_mysql::{Connection, LockWaits, quote_string};

use super::binlog_statement::BinlogStatement;
use super::collations::Collations;
use super::definition::Begun;
use super::error::{APPLYING, Error};
use super::invoker::text_to_run;
use super::position_table::{PositionTable, SourcePosition};
use super::session::prepare_session;
use super::target_tables::TargetTables;
use super::tolerated::{explain, is_done, is_of_a_node};
use super::workers::{Pace, Workers};
use crate::binlog::{Content, Event, FormatDescription};
use crate::keys::{Order, TableCache};
use crate::query::first_value;
use crate::rules::{RowRules, Rules};
use crate::transaction::{End, Transaction};
use begun::is_announcement;
use charset::SessionCharset;
use group::Group;
pub(super) use group::made_on;
pub use large::LargeTransaction;
use resolve::Resolver;
use row_times::RowTimes;
use rows::RowParameters;
use statement_engines::KnownEngines;
use temporary::{Temporary, is_of_session};

/// What a statement's packet may be shorter than `max_allowed_packet`, in bytes.
const PACKET_MARGIN_BYTES: usize = 1 << 10;

/// A node of a cluster reads what others have committed before.
const CLUSTER_CURRENT: &[u8] = b"SET SESSION wsrep_sync_wait = 1";
const CLUSTER_BEHIND: &[u8] = b"SET SESSION wsrep_sync_wait = 0";
/// What is sent ahead runs also behind an error that has rolled the transaction back: it must not commit by itself then.
const AUTOCOMMIT_OFF: &[u8] = b"SET SESSION autocommit = 0";
/// It commits what is open.
const AUTOCOMMIT_ON: &[u8] = b"SET SESSION autocommit = 1";
/// How long a session of an earlier run may take to end, in seconds.
const LOCK_TIMEOUT_S: u32 = 10;

/// Applies transactions.
#[derive(Debug)]
pub struct Applier {
    connection: Connection,
    /// The source's name.
    source: String,
    table: PositionTable,
    engines: KnownEngines,
    /// Asked for when a statement needs them.
    collations: Option<Collations>,
    charset: SessionCharset,
    target_tables: TargetTables,
    ignore_errors: Vec<u16>,
    resolver: Resolver,
    /// What was said of transactions that were passed over.
    passed_over: Vec<String>,
    rules: Rules,
    row_rules: RowRules,
    row_times: RowTimes,
    packet_limit_bytes: usize,
    /// The format description that the session knows, and its bytes.
    format: Option<(Arc<FormatDescription>, Arc<Vec<u8>>)>,
    /// Behind the last transaction that is committed; none before the first.
    committed: Option<SourcePosition>,
    /// What the target has on record.
    on_record: Option<SourcePosition>,
    /// What an earlier run had begun behind that, and what became of it is not known.
    begun: Option<Begun>,
    group: Group,
    /// Further connections for groups; none where all go over this one.
    workers: Option<Workers>,
    /// Which groups wait for each other.
    order: Order,
    /// Who waits for whose row locks, as all sources see it.
    lock_waits: Arc<LockWaits>,
    pace: Pace,
    /// What the pace knows of replays.
    paced_replays: u64,
    /// Tables of rows, with their keys, for groups that go to workers.
    keyed_tables: TableCache,
    /// The connection that everything behind it waits for.
    waited_for: Arc<AtomicU32>,
    temporary: Temporary,
    /// The table maps of the statement whose rows have not ended.
    open_maps: Vec<Vec<u8>>,
    /// Transactions that it has committed or skipped.
    transactions: u64,
    /// Transactions of the target that they became.
    groups: u64,
    /// The target has rows of a transaction that it has refused: their engine cannot roll back.
    has_leftovers: bool,
    /// A transaction was open behind the last error.
    was_open: bool,
    /// The parts of the open transaction can be rolled back.
    is_open_safe: bool,
    /// The first parts of a transaction are applied, and not committed.
    is_within: bool,
    next_large: LargeTransaction,
    /// What the large transaction is that is on record, for a message.
    large_text: Vec<u8>,
    row_parameters: RowParameters,
    /// What was sent without waiting for the answer, as a message names it. Nothing of it commits by itself.
    ahead: Option<String>,
    /// The session commits nothing by itself: statements can be sent ahead.
    is_autocommit_off: bool,
    /// The server whose id the session's changes have in the target's log; 0 for the target's own.
    server_id: u32,
    /// Since when `committed` is ahead of its record, by transactions of which nothing was to be applied.
    unrecorded_since: Option<Instant>,
}

/// What to do about a statement that an earlier run had begun and not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InDoubt {
    /// The target is asked what became of it; where it cannot tell, that is [`Error::InDoubt`].
    Ask,
    /// It runs again, or is skipped: a person has decided.
    Decided,
}

impl Applier {
    /// Takes over a connection to the target. `schema` holds the positions. A user lock on the target keeps a second
    /// applier of the same source out.
    ///
    /// # Errors
    /// What the target refuses, and [`Error::Busy`] while another session applies the source.
    pub fn open(mut connection: Connection, schema: &str, source: &str, in_doubt: InDoubt) -> Result<Applier, Error> {
        let cannot = |error| Error::Prepare { doing: "preparing the target".to_owned(), error };
        let lock = quote_string(format!("hortator.replicate.{schema}.{source}"));
        let lock = [b"SELECT GET_LOCK(SHA1(".as_slice(), &lock, format!("), {LOCK_TIMEOUT_S})").as_bytes()].concat();
        if first_value(&mut connection, &lock).map_err(cannot)? != "1" {
            return Err(Error::Busy { name: source.to_owned() });
        }
        prepare_session(&mut connection).map_err(cannot)?;
        let table = PositionTable::create(&mut connection, schema, source).map_err(cannot)?;
        let limit = first_value(&mut connection, b"SELECT @@max_allowed_packet").map_err(cannot)?;
        let limit: usize = limit.parse().unwrap_or_default();
        // A server that knows of no clusters refuses it.
        let _ = connection.execute(CLUSTER_CURRENT);
        let mut committed = table.read(&mut connection).map_err(cannot)?;
        let _ = connection.execute(CLUSTER_BEHIND);
        let begun = committed.as_mut().and_then(|at| at.begun.take()).filter(|_| in_doubt == InDoubt::Ask);
        let open = committed.as_ref().map(|at| at.temporary.clone()).unwrap_or_default();
        Ok(Applier {
            temporary: Temporary::of_new_session(open),
            waited_for: Arc::new(AtomicU32::new(connection.id())),
            connection,
            table,
            engines: KnownEngines::default(),
            collations: None,
            charset: SessionCharset::Names,
            target_tables: TargetTables::default(),
            ignore_errors: Vec::new(),
            resolver: Resolver::default(),
            passed_over: Vec::new(),
            rules: Rules::default(),
            row_rules: RowRules::default(),
            row_times: RowTimes::default(),
            packet_limit_bytes: limit.saturating_sub(PACKET_MARGIN_BYTES),
            format: None,
            on_record: committed.clone(),
            committed,
            begun,
            source: source.to_owned(),
            open_maps: Vec::new(),
            transactions: 0,
            groups: 0,
            group: Group::default(),
            workers: None,
            order: Order::default(),
            lock_waits: Arc::default(),
            pace: Pace::default(),
            paced_replays: 0,
            keyed_tables: TableCache::default(),
            has_leftovers: false,
            was_open: false,
            is_open_safe: true,
            is_within: false,
            next_large: LargeTransaction::default(),
            large_text: Vec::new(),
            row_parameters: RowParameters::default(),
            ahead: None,
            is_autocommit_off: false,
            server_id: 0,
            unrecorded_since: None,
        })
    }

    /// Applies under these rules.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Applier {
        self.rules = rules;
        self
    }

    /// Passes a transaction over that the target refuses with one of these errors, unless something of it stays.
    #[must_use]
    pub fn ignoring(mut self, errors: Vec<u16>) -> Applier {
        self.ignore_errors = errors;
        self
    }

    /// The errors with which transactions were passed over since the last call.
    pub fn take_passed_over(&mut self) -> Vec<String> {
        std::mem::take(&mut self.passed_over)
    }

    /// Behind the last transaction that is committed; `None` before the first.
    #[must_use]
    pub fn position(&self) -> Option<&SourcePosition> {
        self.committed.as_ref()
    }

    /// Transactions that this applier has committed or skipped.
    #[must_use]
    pub fn transactions(&self) -> u64 {
        self.transactions
    }

    /// Transactions of the target that those became which it has committed.
    #[must_use]
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// Passes a transaction over: its position is recorded, and it is not applied.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn skip(&mut self, transaction: &Transaction) -> Result<(), Error> {
        self.flush()?;
        self.leave_out(transaction)
    }

    /// As [`Applier::skip`], where everything before it is committed.
    fn leave_out(&mut self, transaction: &Transaction) -> Result<(), Error> {
        self.begun = None;
        self.restore_autocommit()?;
        let end = self.position_behind(transaction);
        self.move_to(&end, &describe(&end, &transaction.text()))?;
        self.temporary.settle_skipped(&end.temporary);
        self.recorded(end, 1);
        Ok(())
    }

    /// Takes a format description: the events behind it are of this form.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn format(&mut self, event: &Event) -> Result<(), Error> {
        let Content::Format(format) = &event.content else { return Ok(()) };
        if self.format.as_ref().is_some_and(|(_, bytes)| **bytes == event.bytes) {
            return Ok(());
        }
        self.flush()?;
        self.end_sessions(format)?;
        let mut statement = BinlogStatement::default();
        statement.push(&event.bytes);
        self.execute(&statement.take_text(), "a format description")?;
        self.format = Some((Arc::new(FormatDescription::clone(format)), Arc::new(event.bytes.clone())));
        Ok(())
    }

    /// Applies a transaction, now or with those behind it: see [`Applier::flush`].
    ///
    /// # Errors
    /// See [`Error`]. Nothing of the transaction is applied then, and nothing behind it must be; those before it may not
    /// be committed yet.
    pub fn apply(&mut self, mut transaction: Transaction) -> Result<(), Error> {
        self.take_answers()?;
        if let Err(error) = self.prepare_transaction(&mut transaction) {
            // What came before it is in order.
            self.flush()?;
            return Err(error);
        }
        // What had begun of one that is left out by now does not matter.
        if transaction.events.is_empty() {
            self.begun = None;
        }
        if self.begun.is_some() && self.was_applied(&transaction)? || is_announcement(&transaction) {
            return self.skip(&transaction);
        }
        let bytes: usize = transaction.events.iter().map(|event| event.bytes.len()).sum();
        let is_of_rows =
            transaction.events.iter().all(|event| matches!(event.content, Content::TableMap(_) | Content::Rows(_)));
        let is_small = BinlogStatement::default().text_bytes_with(bytes) <= self.packet_limit_bytes;
        if transaction.events.is_empty() && !self.is_within && !self.has_group() {
            return self.advance(&transaction);
        }
        let mut can_roll_back = self
            .target_can_roll_back(&transaction.events)
            .map_err(|error| error.at(|| describe(&self.position_behind(&transaction), &transaction.text())))?;
        // Where it is not to be applied as one that can, nobody needs to ask.
        if !is_of_rows && (self.is_within || transaction.can_roll_back()) {
            let place = describe(&self.position_behind(&transaction), &transaction.text());
            can_roll_back = can_roll_back && self.can_roll_back_statements(&transaction.events, &place)?;
        }
        if self.is_within && !can_roll_back {
            let place = describe(&self.position_behind(&transaction), &transaction.text());
            self.check_open(can_roll_back, &place)?;
        }
        let is_safe = transaction.events.is_empty() || transaction.can_roll_back() && can_roll_back;
        let is_repeatable = !is_safe && is_of_rows && !self.is_within && self.is_of_sequences(&transaction.events)?;
        if !is_of_rows || self.is_within || !is_safe || !is_small {
            self.flush()?;
            let mut done = self.apply_alone_or_resolve(&transaction, is_safe, is_repeatable);
            if !is_safe && !is_repeatable && transaction.end == End::Commit {
                done = done.map_err(|error| self.take_off_record(error));
            }
            done.or_else(|error| self.pass_or_keep(&transaction, error))?;
            return self.restore_autocommit();
        }
        if !self.group.takes(&transaction, bytes, self.packet_limit_bytes) {
            self.hand_over()?;
        }
        self.group.push(transaction, bytes);
        Ok(())
    }

    /// Moves the position over a transaction that is not for this target.
    ///
    /// # Errors
    /// As [`Applier::apply`].
    pub fn pass_over(&mut self, mut transaction: Transaction) -> Result<(), Error> {
        transaction.events.clear();
        self.apply(transaction)
    }

    /// A transaction that is none of rows only, or a large one.
    fn apply_alone(&mut self, transaction: &Transaction, is_safe: bool) -> Result<(), Error> {
        let end = self.position_behind(transaction);
        let place = describe(&end, &transaction.text());
        let has_begun = std::mem::take(&mut self.is_within);
        if !has_begun {
            self.restore_autocommit()?;
            self.log_as(transaction.server_id, &place)?;
        }
        if !has_begun && !is_safe && !is_of_session(&transaction.events) {
            let begun = self.look(transaction, &place)?;
            self.record_begun(begun, &place)?;
        }
        if transaction.end == End::ByItself {
            self.run_by_itself(transaction, &place)?;
            self.move_to(&end, &place)?;
        } else {
            if !has_begun {
                self.execute(b"START TRANSACTION", &place)?;
            }
            self.run(&transaction.events, &place)?;
            self.take_answers()?;
            // What cannot be rolled back stays, as on the source.
            if transaction.end == End::Rollback {
                self.execute(b"ROLLBACK", &place)?;
                // The position commits by itself, behind a large transaction too.
                self.restore_autocommit()?;
                self.move_to(&end, &place)?;
            } else {
                self.move_to(&end, &place)?;
                self.execute(b"COMMIT", &place)?;
            }
        }
        self.temporary.settle(&end.temporary);
        self.recorded(end, 1);
        self.groups += 1;
        Ok(())
    }

    /// Sends rows and statements, in their order.
    fn run(&mut self, events: &[Event], place: &str) -> Result<(), Error> {
        let mut rows = BinlogStatement::default();
        let mut values = 0;
        for (index, event) in events.iter().enumerate() {
            match &event.content {
                Content::TableMap(_) | Content::Rows(_) if self.resolver.is_on => self.resolve(event, place)?,
                Content::TableMap(_) | Content::Rows(_) => self.add_rows(event, &mut rows, place)?,
                Content::Query(query) => {
                    if !rows.is_empty() {
                        self.send_rows(&mut rows, place)?;
                    }
                    self.take_answers()?;
                    let before = &events[index - values..index];
                    values = 0;
                    if self.table.is_written_by(&query.text) || is_of_a_node(&query.text) {
                        continue;
                    }
                    self.check_temporary(query, place)?;
                    self.enter_session(event, query, before, place)?;
                    self.check_conversion(query, place)?;
                    let event = self.changed_event(&query.text, place)?;
                    let account = self.account(query, place)?;
                    if !self.create_merged(query, place)? {
                        let done = match self.connection.execute(&text_to_run(query, account.as_deref())) {
                            Err(error) if is_done(query, &error) => Ok(()),
                            done => done.map(drop),
                        };
                        self.check_as_source(done, query.error_code, place)?;
                    }
                    if let Some(event) = event {
                        self.disable_event(&event, place)?;
                    }
                    self.note_definition(&query.text);
                }
                _ => values += 1,
            }
        }
        if rows.is_empty() { Ok(()) } else { self.send_rows(&mut rows, place) }
    }

    /// A statement that failed in part on the source must fail here in the same way.
    fn check_as_source(
        &mut self,
        done: Result<(), hortator_mysql::Error>,
        expected: u16,
        place: &str,
    ) -> Result<(), Error> {
        match done {
            Err(hortator_mysql::Error::Server(error)) if expected != 0 && error.code == expected => Ok(()),
            Ok(()) if expected != 0 => Err(Error::Event {
                place: place.to_owned(),
                found: format!("the statement failed with error {expected} on the source, and succeeded here"),
            }),
            Ok(()) => Ok(()),
            Err(error) => Err(self.failed(error, place)),
        }
    }

    fn execute(&mut self, text: &[u8], place: &str) -> Result<(), Error> {
        self.take_answers()?;
        let done = self.connection.execute(text);
        done.map(drop).map_err(|error| self.failed(error, place))
    }

    fn failed(&mut self, mut error: hortator_mysql::Error, place: &str) -> Error {
        explain(&mut error);
        // What was sent behind it has run all the same, and is rolled back with it.
        while self.connection.answers_due() > 0 {
            let _ = self.connection.take_answer();
        }
        self.ahead = None;
        // Some errors, and a COMMIT that fails, have ended the transaction: the rollback says nothing then.
        let asked = first_value(&mut self.connection, b"SELECT @@in_transaction");
        self.was_open = asked.is_ok_and(|value| value == "1");
        // A lost connection has rolled back by itself. A warning says that rows of some engine could not be.
        let rolled_back = self.connection.execute(b"ROLLBACK");
        self.has_leftovers |= rolled_back.as_ref().is_ok_and(|done| done.warnings > 0);
        let is_large = self.is_autocommit_off;
        if self.is_autocommit_off && rolled_back.is_ok() {
            self.is_autocommit_off = self.connection.execute(AUTOCOMMIT_ON).is_err();
        }
        (self.group, self.is_within) = (Group::default(), false);
        self.open_maps.clear();
        self.forget_tables();
        let error = Error::Target { doing: format!("{APPLYING}{place}"), error };
        // Its first parts are gone: they come again.
        if is_large && self.can_resolve(&error) { Error::DoesNotFit(error.to_string()) } else { error }
    }
}

/// A transaction, for a message.
fn describe(end: &SourcePosition, text: &[u8]) -> String {
    let shown = &text[..text.len().min(SHOWN_BYTES)];
    let more = if shown.len() < text.len() { " …" } else { "" };
    format!("the transaction that ends at {end}, `{}{more}`", String::from_utf8_lossy(shown))
}

/// How much of a statement a message shows.
const SHOWN_BYTES: usize = 300;
