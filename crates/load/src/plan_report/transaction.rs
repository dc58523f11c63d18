//! Transactions of the dump in a plan: one that holds nothing but rows of one table goes to a worker, any other is a row of
//! barriers. Which of the two it is shows at its end.

use hortator_mysql::catalog::TableName;

use super::{Found, Reader};
use crate::analysis::{StatementInfo, StatementKind, Trait};
use crate::coordinator::{HELD_BYTES, IN_TRANSACTION, SMALL_BYTES};
use crate::lexer::Location;
use crate::report::beginning;

/// Statements of a transaction that are held; of more it is assumed that nothing else comes.
const HELD_STATEMENTS: usize = 10_000;

/// The transaction that the reader is in.
#[derive(Default)]
pub(super) enum Within {
    /// None, or under autocommit=0 one in which nothing stands yet.
    #[default]
    Nothing,
    /// A BEGIN, and rows of one table.
    Held(Held),
    /// Something else.
    Main,
}

/// What is not known yet to be barriers.
#[derive(Default)]
pub(super) struct Held {
    table: Option<(TableName, Found)>,
    /// Where the statements stand, and how they begin.
    statements: Vec<(Location, String)>,
}

impl Reader {
    /// Whether rows that come now are a part of a transaction.
    pub(super) fn is_in_transaction(&self) -> bool {
        !matches!(self.within, Within::Nothing) || !self.connection.status().autocommit()
    }

    /// Takes a statement that is none of rows; true where nothing more is to be said of it.
    pub(super) fn control(&mut self, info: &StatementInfo, text: &[u8], location: &Location) -> bool {
        let does_nothing = info.is(Trait::Unlocks) && !self.has_locks;
        self.has_locks =
            info.is(Trait::Locks) || (self.has_locks && !info.is(Trait::Unlocks) && !info.is(Trait::BeginsTransaction));
        if info.begins_transaction() && !self.is_in_transaction() {
            let statements = vec![(location.clone(), beginning(text))];
            self.within = Within::Held(Held { table: None, statements });
            return true;
        }
        let is_commit = info.commits_transaction();
        if does_nothing {
            return false;
        }
        if (is_commit || matches!(info.kind, StatementKind::Skip)) && !matches!(self.within, Within::Main) {
            self.commit();
            self.plan.skipped += u64::from(is_commit);
            return is_commit;
        }
        if matches!(self.within, Within::Held(_)) {
            self.goes_to_main();
        }
        if info.is(Trait::BeginsTransaction) || info.is(Trait::BeginsXa) {
            self.within = Within::Main;
        }
        false
    }

    /// A statement has been told of.
    pub(super) fn end(&mut self, info: &StatementInfo) {
        let ends = [Trait::RollsBack, Trait::CommitsTransaction, Trait::EndsXa].into_iter().any(|end| info.is(end));
        if ends || matches!(info.kind, StatementKind::TableDdl | StatementKind::OtherDdl) {
            self.within = Within::Nothing;
        }
    }

    /// Takes rows of a transaction.
    pub(super) fn hold(&mut self, name: &TableName, found: Found, text: &[u8], location: &Location) {
        if matches!(self.within, Within::Nothing) {
            self.within = Within::Held(Held::default());
        }
        let is_new = self.takes_large(name);
        if let Within::Held(held) = &mut self.within {
            let (of, known) = held.table.get_or_insert_with(|| (name.clone(), Found::default()));
            if of == name && (is_new || known.bytes + found.bytes <= HELD_BYTES as u64) {
                known.add(found);
                if held.statements.len() < HELD_STATEMENTS {
                    held.statements.push((location.clone(), beginning(text)));
                }
                return;
            }
        }
        self.barrier(text, location, IN_TRANSACTION);
    }

    /// Whether a transaction with more rows than a chunk can go chunk by chunk.
    fn takes_large(&self, name: &TableName) -> bool {
        self.defined.contains_key(name) && !self.found.contains_key(name) && self.plan.cluster.is_empty()
    }

    /// The transaction needs the main session.
    pub(super) fn goes_to_main(&mut self) {
        if let Within::Held(held) = std::mem::replace(&mut self.within, Within::Main) {
            for (location, statement) in held.statements {
                self.barrier_of(statement, &location, IN_TRANSACTION);
            }
        }
    }

    /// The transaction is committed.
    fn commit(&mut self) {
        let Within::Held(Held { table: Some((name, found)), .. }) = &mut self.within else {
            self.within = Within::Nothing;
            return;
        };
        if found.bytes >= SMALL_BYTES as u64 || !self.found.contains_key(name) {
            let (name, mut found) = (name.clone(), std::mem::take(found));
            if found.bytes <= self.chunk_bytes || !self.takes_large(&name) {
                found.order.insert("each transaction of the dump on one connection".to_owned());
            }
            self.add(&name, found);
        } else {
            self.goes_to_main();
        }
        self.within = Within::Nothing;
    }
}
