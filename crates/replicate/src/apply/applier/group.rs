//! Small transactions of rows that become one of the target's.

use super::{Applier, describe};
use crate::apply::binlog_statement::BinlogStatement;
use crate::apply::error::Error;
use crate::apply::position_table::SourcePosition;
use crate::binlog::Event;
use crate::transaction::Transaction;

/// Transactions that become one of the target's.
const TRANSACTIONS_LIMIT: usize = 100;
/// Bytes of their statement.
const BYTES_LIMIT: usize = 1 << 20;

/// Transactions of rows that are not sent yet.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) transactions: Vec<Transaction>,
    /// Of their events.
    pub(super) bytes: usize,
    /// The server on which all with events were first made.
    server_id: Option<u32>,
}

impl Group {
    pub(super) fn is_empty(&self) -> bool {
        self.transactions.is_empty()
    }

    pub(super) fn events(&self) -> impl Iterator<Item = &Event> {
        self.transactions.iter().flat_map(|one| &one.events)
    }

    /// Whether further transactions of the usual size go with these for sure.
    pub(super) fn is_filling(&self) -> bool {
        self.transactions.len() < TRANSACTIONS_LIMIT && self.bytes < BYTES_LIMIT / 2
    }

    /// Whether a transaction with events of so many bytes goes with the others.
    pub(super) fn takes(&self, one: &Transaction, bytes: usize, packet_limit_bytes: usize) -> bool {
        let text_bytes = BinlogStatement::default().text_bytes_with(self.bytes + bytes);
        // The id of a server whose transactions are passed over is nowhere to be seen.
        let is_of_same_server = one.events.is_empty() || self.server_id.is_none_or(|id| id == one.server_id);
        self.is_empty()
            || is_of_same_server
                && self.transactions.len() < TRANSACTIONS_LIMIT
                && text_bytes <= BYTES_LIMIT.min(packet_limit_bytes)
    }

    pub(super) fn push(&mut self, transaction: Transaction, bytes: usize) {
        if !transaction.events.is_empty() {
            self.server_id = Some(transaction.server_id);
        }
        self.transactions.push(transaction);
        self.bytes += bytes;
    }
}

/// The server on which the transactions of a group were first made. Those without events, which are passed over, may be of
/// another one; 0 where all are.
pub(in crate::apply) fn made_on(transactions: &[Transaction]) -> u32 {
    transactions.iter().find(|one| !one.events.is_empty()).map_or(0, |one| one.server_id)
}

impl Applier {
    /// Whether something is taken that is not committed yet.
    #[must_use]
    pub fn has_group(&self) -> bool {
        !self.group.is_empty() || self.has_groups_under_way()
    }

    /// Commits what has been taken and is not applied yet. Where the target refuses a group, its transactions are applied
    /// one by one: those before the one at fault stay, and the error names it.
    ///
    /// # Errors
    /// What the target refuses.
    pub fn flush(&mut self) -> Result<(), Error> {
        self.wait_for_groups()?;
        let Group { transactions, .. } = std::mem::take(&mut self.group);
        if transactions.iter().all(|one| one.events.is_empty()) {
            return transactions.iter().try_for_each(|one| self.advance(one));
        }
        self.commit_or_split(&transactions)
    }

    /// Commits a group, or what the target takes of it.
    pub(super) fn commit_or_split(&mut self, transactions: &[Transaction]) -> Result<(), Error> {
        match self.commit_rows(transactions) {
            Err(error) if self.has_leftovers => {
                let text =
                    format!("rows of {} transactions, some of which the target cannot roll back", transactions.len());
                Err(self.keep_in_doubt(error, text.into_bytes()))
            }
            Err(error) if self.can_resolve(&error) => match self.commit_resolved(transactions) {
                Ok(()) => Ok(()),
                // A lost connection says nothing about them.
                Err(error) if is_about_rows(&error) => self.commit_one_by_one(transactions),
                failed => failed,
            },
            Err(Error::Target { error: hortator_mysql::Error::Server(_), .. }) => self.commit_one_by_one(transactions),
            done => done,
        }
    }

    fn commit_one_by_one(&mut self, transactions: &[Transaction]) -> Result<(), Error> {
        for one in transactions {
            let one_alone = std::slice::from_ref(one);
            let done = match self.commit_rows(one_alone) {
                Err(error) if self.can_resolve(&error) => self.commit_resolved(one_alone),
                done => done,
            };
            done.or_else(|error| self.pass_or_keep(one, error))?;
        }
        Ok(())
    }

    /// The source's position behind transactions of rows that follow a position.
    pub(super) fn behind(mut at: SourcePosition, transactions: &[Transaction]) -> SourcePosition {
        for one in transactions {
            at.position = one.position.clone();
            one.advance(&mut at.gtid);
        }
        at
    }

    /// What follows is a change of this server in the target's log too: who reads that can leave it out.
    pub(super) fn log_as(&mut self, server_id: u32, place: &str) -> Result<(), Error> {
        if server_id == 0 || server_id == self.server_id {
            return Ok(());
        }
        self.execute(format!("SET SESSION server_id = {server_id}").as_bytes(), place)?;
        self.server_id = server_id;
        Ok(())
    }

    /// Row events and the position behind them as one transaction.
    fn commit_rows(&mut self, transactions: &[Transaction]) -> Result<(), Error> {
        let Some(last) = transactions.last() else { return Ok(()) };
        let end = Applier::behind(self.committed.clone().unwrap_or_default(), transactions);
        let events = || transactions.iter().flat_map(|one| &one.events);
        let mut statement = BinlogStatement::for_events(events());
        events().for_each(|event| statement.push(&event.bytes));
        let place = describe(&end, &last.text());
        self.log_as(made_on(transactions), &place)?;
        self.use_charset_for_rows(statement.text_bytes_with(0), &place)?;
        self.execute(b"START TRANSACTION", &place)?;
        if !statement.is_empty() {
            self.execute(&statement.take_text(), &place)?;
        }
        self.move_to(&end, &place)?;
        self.execute(b"COMMIT", &place)?;
        self.recorded(end, transactions.len() as u64);
        self.groups += 1;
        Ok(())
    }
}

/// Whether it is about one of the transactions that were applied, and not about the connection.
fn is_about_rows(error: &Error) -> bool {
    matches!(error, Error::Target { error: hortator_mysql::Error::Server(_), .. } | Error::Event { .. })
}
