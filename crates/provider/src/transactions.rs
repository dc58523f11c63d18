//! The open transactions of this node, by the server's ids.
//!
//! Sharded, since every writing statement uses it. Each shard's lock is held for one lookup.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::transaction::{Transaction, TransactionState};

const SHARDS: usize = 64;

/// The open transactions.
#[derive(Debug)]
pub struct Transactions {
    shards: [Mutex<HashMap<u64, Arc<Transaction>>>; SHARDS],
}

impl Default for Transactions {
    fn default() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl Transactions {
    /// Adds a transaction; replaces an unreleased one with the same id.
    pub fn add(&self, id: u64) -> Arc<Transaction> {
        let transaction = Arc::new(Transaction::new(id));
        self.in_shard(id, |shard| shard.insert(id, Arc::clone(&transaction)));
        transaction
    }

    /// The transaction with this id.
    pub fn find(&self, id: u64) -> Option<Arc<Transaction>> {
        self.in_shard(id, |shard| shard.get(&id).cloned())
    }

    /// Removes the transaction, unless another one has its id by now.
    pub fn remove(&self, transaction: &Arc<Transaction>) {
        self.in_shard(transaction.id, |shard| {
            if shard.get(&transaction.id).is_some_and(|known| Arc::ptr_eq(known, transaction)) {
                shard.remove(&transaction.id);
            }
        });
    }

    /// The number of fragments of each open streaming transaction.
    pub fn streaming(&self) -> Vec<u64> {
        let shards = self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner));
        let states = shards.flat_map(|shard| shard.values().map(|transaction| transaction.state()).collect::<Vec<_>>());
        states.filter(TransactionState::is_streaming).map(|state| state.fragments).collect()
    }

    /// Number of open transactions.
    pub fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).len()).sum()
    }

    fn in_shard<T>(&self, id: u64, look: impl FnOnce(&mut HashMap<u64, Arc<Transaction>>) -> T) -> T {
        let shard = &self.shards[id as usize % SHARDS];
        look(&mut shard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
