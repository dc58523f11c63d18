//! Writes of rows that the main session runs together: gathered while nothing else is under way.
//!
//! Whole transactions of the dump are gathered too, from BEGIN to COMMIT, and become parts of one transaction of ours:
//!
//! ```text
//!   dump:   a;  BEGIN; b; c; COMMIT;  BEGIN; d; COMMIT;          e;  …
//!   sent:   START TRANSACTION; a; b; c; d; e; record; COMMIT
//! ```
//!
//! A transaction that has something else in it, or is too large, is sent as it is written. Where a statement of one fails,
//! see [`super::journal`].

use std::collections::BTreeMap;

use hortator_mysql::catalog::TableName;

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::journal::{Asked, BatchResult, BatchStatement};
use crate::analysis::{JournalMode, StatementInfo, StatementKind, Trait};
use crate::apply::Stopped;
use crate::lexer::{Dialect, Location, tokens};

/// Text of a batch; a statement that would bring it above begins a new one.
const BATCH_BYTES: usize = 256 << 10;
/// What may be sent with a statement: the settings it needs, and what separates it from the next.
const BESIDE_BYTES: usize = 128;
/// Statements of a batch.
const BATCH_STATEMENTS: usize = 500;
/// Text of an INSERT for the workers that stays in the main session, between changes that it would have to wait for.
const JOINING_BYTES: usize = 4 << 10;
/// How many of those in a row; more begin a chunk.
const JOINING_STATEMENTS: usize = 4;

/// The statements that are gathered.
#[derive(Debug, Default)]
pub(super) struct MainBatch {
    statements: Vec<BatchStatement>,
    /// The dump's transactions among them; only the last may be open.
    blocks: Vec<Block>,
    bytes: usize,
    /// How many of the last statements are rows that workers could have taken.
    joined: usize,
    /// One of them may do something else when it is done again.
    has_unrepeatable: bool,
    /// How their text is read; one for all.
    dialect: Option<Dialect>,
}

/// A transaction of the dump of which nothing is sent yet.
#[derive(Debug)]
struct Block {
    begin: AnalyzedStatement,
    /// The first of its statements.
    first: usize,
    commit: Option<AnalyzedStatement>,
}

impl MainBatch {
    /// Whether what comes now stands within a transaction of the dump of which nothing is sent yet.
    pub(super) fn has_open_block(&self) -> bool {
        self.blocks.last().is_some_and(|block| block.commit.is_none())
    }

    /// Whether it holds nothing but the beginning of a transaction.
    pub(super) fn is_only_begun(&self) -> bool {
        self.statements.is_empty() && self.has_open_block()
    }

    /// Takes the last beginning of a transaction out, if nothing of it stands behind it.
    pub(super) fn take_begin(&mut self) -> Option<AnalyzedStatement> {
        let block = self.blocks.pop_if(|block| block.commit.is_none() && block.first == self.statements.len())?;
        Some(block.begin)
    }

    pub(super) fn open_block(&mut self, begin: AnalyzedStatement) {
        self.blocks.push(Block { begin, first: self.statements.len(), commit: None });
    }

    fn close_block(&mut self, commit: AnalyzedStatement) {
        self.take_begin();
        if let Some(block) = self.blocks.last_mut().filter(|block| block.commit.is_none()) {
            block.commit = Some(commit);
        }
    }

    /// Takes out the open transaction where something stands before it; else nothing.
    fn take_open(&mut self) -> MainBatch {
        let open = self.blocks.pop_if(|block| block.commit.is_none() && block.first > 0);
        let mut taken = MainBatch { dialect: self.dialect, ..MainBatch::default() };
        if let Some(block) = open {
            taken.statements = self.statements.split_off(block.first);
            taken.bytes = taken.statements.iter().map(|item| item.statement.text.len() + BESIDE_BYTES).sum();
            for item in &mut taken.statements {
                item.block = Some(0);
            }
            taken.blocks.push(Block { first: 0, ..block });
        }
        taken
    }
}

impl Coordinator<'_> {
    /// Whether a statement may be sent together with others: it writes rows, returns none but those (and stands in no
    /// transaction of which nothing is sent yet), asks nothing of the statement before it, and nothing acts on it alone. Within a transaction that the dump has begun, nothing of ours comes between,
    /// so that a SET for the next statement may stand before it. A SET of user variables may stand behind a write. Functions
    /// that it calls must do nothing but read and write rows.
    pub(super) fn can_batch(&self, statement: &AnalyzedStatement) -> bool {
        let info = &statement.info;
        let is_within = self.main.is_in_dumps_transaction();
        let is_write = matches!(info.kind, StatementKind::Rows(_) | StatementKind::Write { .. })
            && info.journal == JournalMode::Rows;
        let is_right = match info.is(Trait::AppliesEvents) {
            true => is_within,
            false => is_write || (is_within && info.assignments.only_for_next) || self.joins_as_setting(info),
        };
        is_right
            && (!info.is(Trait::ReturnsRows) || self.prints_in_batch(statement))
            && (!info.is(Trait::MayCallFunction) || self.catalog.has_plain_routines())
            && !info.is(Trait::SeveralStatements)
            && info.diagnostics.is_none()
            && statement.location.ordinal != 0
            && (is_within || !self.main.has_one_shot_variable())
            && !self.main.is_closed_to_others()
            && self.main.journal.takes_batches()
            && !has_open_end(&statement.text, &self.main.dialect())
            && statement.text.len() + BESIDE_BYTES <= self.batch_packet_bytes()
    }

    /// Whether the rows that a statement returns can be printed while it is not committed: a node of a cluster may refuse the
    /// commit, and a transaction of the dump may be run as it is written. `\G` would hold for the whole packet.
    fn prints_in_batch(&self, statement: &AnalyzedStatement) -> bool {
        !statement.is_vertical && !self.batch.has_open_block() && !self.main.is_on_cluster()
    }

    /// Whether a SET of user variables goes with the changes before it, which may be done again together.
    fn joins_as_setting(&self, info: &StatementInfo) -> bool {
        info.assignments.only_variables && self.has_batch() && self.resume.is_none()
    }

    /// Takes the beginning or the end of a transaction whose statements can be gathered; gives the statement back where it
    /// must be sent.
    pub(super) fn gather_transaction(&mut self, statement: AnalyzedStatement) -> Option<AnalyzedStatement> {
        let info = &statement.info;
        let is_open = self.batch.has_open_block();
        if info.commits_transaction() && is_open {
            self.batch.close_block(statement);
            return None;
        }
        let can_open = info.begins_transaction()
            && !is_open
            && statement.location.ordinal != 0
            && self.main.is_between_transactions()
            && !(self.batch.has_unrepeatable && self.main.is_on_cluster())
            && self.completes_plainly()
            // There, BEGIN is the beginning of a block.
            && !self.main.state().has_mode("ORACLE");
        if !can_open {
            return Some(statement);
        }
        self.batch.open_block(statement);
        None
    }

    /// Sends the BEGIN before row events: they are only gathered within a transaction that the dump has begun.
    pub(super) fn begin_for_events(&mut self, statement: &AnalyzedStatement) -> Result<(), Stopped> {
        let is_first = statement.info.is(Trait::AppliesEvents) && self.batch.is_only_begun();
        if is_first { self.run_batch() } else { Ok(()) }
    }

    /// Whether rows that workers could take go with what is gathered: they are few, and changes are all around them.
    pub(super) fn joins_batch(&self, statement: &AnalyzedStatement) -> bool {
        self.has_batch()
            && self.batch.joined < JOINING_STATEMENTS
            && statement.text.len() <= JOINING_BYTES
            && self.can_batch(statement)
    }

    /// What a batch's packet may hold, so that what is sent along cannot bring it above what the server takes.
    fn batch_packet_bytes(&self) -> usize {
        self.main.packet_limit_bytes() / 2
    }

    /// Adds a statement to the batch. The first waits for all before it.
    pub(super) fn add_to_batch(&mut self, statement: AnalyzedStatement) -> Result<(), Stopped> {
        let bytes = statement.text.len() + BESIDE_BYTES;
        let dialect = self.main.dialect();
        let limit_bytes = BATCH_BYTES.min(self.batch_packet_bytes());
        let is_full = self.batch.bytes + bytes > limit_bytes || self.batch.statements.len() >= BATCH_STATEMENTS;
        let applies_events = statement.info.is(Trait::AppliesEvents);
        let is_other = self.batch.dialect != Some(dialect)
            || self.batch.statements.iter().any(|item| item.applies_events() != applies_events);
        if !self.batch.statements.is_empty() && is_other {
            self.run_batch()?;
        } else if is_full {
            let open = self.batch.take_open();
            self.run_batch()?;
            self.batch = open;
            let mut statements = std::mem::take(&mut self.batch.statements);
            self.renew_counters(&mut statements)?;
            self.batch.statements = statements;
        }
        if self.batch.statements.is_empty() {
            self.admit_open()?;
            self.main.commit_pending()?;
            self.pool.drain(&mut || self.main.keep_alive())?;
            self.main.check_writer(&statement.text, &statement.location)?;
            self.main.take_latest_id(&statement.location)?;
        }
        self.catalog.new_tables.clear();
        let table = self.written_table(&statement.info);
        let mut effects = self.row_effects(&statement.info, table.as_ref(), &statement.location)?;
        self.note_constraints(&statement)?;
        if effects.is_non_transactional || effects.names_other_engines || effects.must_stand_alone {
            let is_first = self.batch.statements.is_empty() && self.batch.blocks.is_empty();
            self.run_batch()?;
            return self.run_exclusive_with(&statement, Asked::No, is_first.then_some(effects));
        }
        let may_change_session = effects.may_change_session;
        if may_change_session && self.batch.statements.iter().any(BatchStatement::is_setting) {
            // The server reports what both have changed together.
            self.run_batch()?;
        }
        if effects.is_unrepeatable && !self.batch.blocks.is_empty() && self.main.is_on_cluster() {
            // Where a statement fails, a cluster gets what stands before it again.
            self.run_batch()?;
            effects = self.row_effects(&statement.info, table.as_ref(), &statement.location)?;
        }
        self.batch.has_unrepeatable |= effects.is_unrepeatable;
        self.batch.bytes += bytes;
        self.batch.dialect = Some(dialect);
        let is_rows = matches!(statement.info.kind, StatementKind::Rows(_));
        self.batch.joined = if is_rows && !self.batch.has_open_block() { self.batch.joined + 1 } else { 0 };
        let block = self.batch.has_open_block().then(|| self.batch.blocks.len() - 1);
        self.batch.statements.push(BatchStatement { statement, effects, table, block });
        if may_change_session { self.run_batch() } else { Ok(()) }
    }

    /// The counters of a table that are known from a statement of the same batch: those before the first of them.
    pub(super) fn batch_counters(&self, name: &TableName) -> Option<Vec<(TableName, u64)>> {
        let same = self.batch.statements.iter().find(|item| item.table.as_ref() == Some(name))?;
        Some(same.effects.counters.clone())
    }

    /// Whether the dump has given the next row that is numbered its number.
    pub(super) fn has_given_number(&self) -> bool {
        let gathered = &self.batch.statements;
        let behind = gathered.iter().rposition(|item| !item.is_setting()).map_or(0, |at| at + 1);
        gathered[behind..].iter().any(|item| item.statement.info.assignments.next_number)
            || (behind == 0 && self.main.has_given_number())
    }

    /// Whether anything is gathered.
    pub(super) fn has_batch(&self) -> bool {
        !self.batch.statements.is_empty()
    }

    /// Runs what is gathered. A transaction that is still open is sent as far as it goes.
    pub(super) fn run_batch(&mut self) -> Result<(), Stopped> {
        // Nothing is gathered while it runs: what runs alone meanwhile must not send anything else.
        let MainBatch { mut statements, blocks, .. } = std::mem::take(&mut self.batch);
        let open = blocks.last().filter(|block| block.commit.is_none());
        let rest = open.map(|block| statements.split_off(block.first)).unwrap_or_default();
        while let Some(first) = statements.first() {
            let location = first.statement.location.clone();
            match self.main.run_batch(&statements)? {
                BatchResult::Ran(rows) => self.note_ran(&mut statements, rows, &location)?,
                BatchResult::BlockFails => {
                    let index = first.block;
                    let length = statements.iter().take_while(|item| item.block == index).count();
                    let own = statements.drain(..length).collect();
                    let Some(block) = index.and_then(|index| blocks.get(index)) else { continue };
                    self.run_block(block, own)?;
                }
            }
            self.renew_counters(&mut statements)?;
        }
        match open {
            Some(block) => self.run_block(block, rest),
            None => Ok(()),
        }
    }

    /// Runs a transaction of the dump as it is written.
    fn run_block(&mut self, block: &Block, mut statements: Vec<BatchStatement>) -> Result<(), Stopped> {
        for item in &mut statements {
            item.block = None;
        }
        self.run_exclusive(&block.begin, Asked::No)?;
        while let Some(first) = statements.first() {
            let location = first.statement.location.clone();
            if let BatchResult::Ran(rows) = self.main.run_batch(&statements)? {
                self.note_ran(&mut statements, rows, &location)?;
            }
            self.renew_counters(&mut statements)?;
        }
        match &block.commit {
            Some(commit) => self.run_exclusive(commit, Asked::No),
            None => Ok(()),
        }
    }

    /// Asks for the counters of what is still to be sent, which those before it have moved, and what failed among them.
    fn renew_counters(&mut self, statements: &mut [BatchStatement]) -> Result<(), Stopped> {
        let mut renewed: BTreeMap<TableName, Vec<(TableName, u64)>> = BTreeMap::new();
        for item in statements.iter_mut().filter(|item| !item.effects.counters.is_empty()) {
            let Some(name) = &item.table else { continue };
            let counters = match renewed.get(name) {
                Some(known) => known.clone(),
                None => self.row_effects(&item.statement.info, Some(name), &item.statement.location)?.counters,
            };
            renewed.insert(name.clone(), counters.clone());
            item.effects.counters = counters;
        }
        Ok(())
    }

    /// Takes note of the statements that ran: these are taken off, with the rows that they affected.
    fn note_ran(
        &mut self,
        statements: &mut Vec<BatchStatement>,
        rows: Vec<u64>,
        location: &Location,
    ) -> Result<(), Stopped> {
        let tried = rows.len().min(statements.len());
        for (item, rows) in statements.drain(..tried).zip(rows) {
            self.throttle.charge(rows, item.statement.text.len() as u64);
            if let Some(name) = &item.table {
                self.affected(name, rows);
                self.expect_rows(&item.statement);
                self.note_numbers(name, &item.statement.info);
            }
        }
        self.count_committed();
        self.look_after_main(location)
    }
}

/// Whether a text may end inside of a comment, which would take the next statement in, or has a semicolon of its own, behind
/// which there would be an empty statement.
fn has_open_end(text: &[u8], dialect: &Dialect) -> bool {
    memchr::memmem::find(text, b"/*").is_some()
        || (memchr::memchr(b';', text).is_some() && tokens(text, dialect).any(|token| token.is_symbol(b";")))
}
