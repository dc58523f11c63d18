//! The versions of each key, in their order.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Anomaly, Key, Step, Transaction};
use crate::fire::session::Outcome;

/// Who wrote a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// The transaction's index.
    pub by: usize,
    /// It is the transaction's last one of the key.
    pub is_final: bool,
}

#[derive(Debug, Default)]
pub struct Versions {
    writes: HashMap<(Key, i64), Write>,
    /// The order of the values of each list.
    lists: BTreeMap<Key, Vec<i64>>,
    /// By register and value, None: the first one: the transactions that read it right before they replaced it, with what
    /// they wrote in the end.
    replaced: BTreeMap<(Key, Option<i64>), Vec<usize>>,
    lost: Vec<(Anomaly, usize, String)>,
}

impl Versions {
    pub fn of(history: &[Transaction], last: &BTreeMap<Key, Vec<i64>>) -> Versions {
        let mut versions = Versions::default();
        for (at, transaction) in history.iter().enumerate() {
            versions.add_writes(at, transaction);
        }
        for (key, values) in last {
            if matches!(key, Key::List(_)) {
                versions.lists.insert(*key, values.clone());
            }
        }
        // A read may show what is lost in the end.
        let reads = history.iter().flat_map(|transaction| &transaction.steps);
        for step in reads {
            if let Step::Read { key: key @ Key::List(_), seen, .. } = step {
                let longest = versions.lists.entry(*key).or_default();
                if seen.len() > longest.len() {
                    longest.clone_from(seen);
                }
            }
        }
        versions.find_lost(history, last);
        versions
    }

    fn add_writes(&mut self, at: usize, transaction: &Transaction) {
        let mut read: HashMap<Key, Option<i64>> = HashMap::new();
        let mut finals: HashMap<Key, i64> = HashMap::new();
        for step in &transaction.steps {
            match step {
                Step::Read { key: key @ Key::Register(_), seen, .. } if !finals.contains_key(key) => {
                    read.insert(*key, seen.last().copied());
                }
                Step::Read { .. } => {}
                Step::Write { key, value } => {
                    self.writes.insert((*key, *value), Write { by: at, is_final: false });
                    finals.insert(*key, *value);
                }
            }
        }
        for (key, value) in finals {
            if let Some(write) = self.writes.get_mut(&(key, value)) {
                write.is_final = true;
            }
            if let Some(before) = read.get(&key)
                && transaction.outcome != Outcome::Refused
            {
                self.replaced.entry((key, *before)).or_default().push(at);
            }
        }
    }

    fn find_lost(&mut self, history: &[Transaction], last: &BTreeMap<Key, Vec<i64>>) {
        for (key, values) in last {
            let mut once = HashSet::new();
            for value in values.iter().filter(|value| !once.insert(**value)) {
                if let Some(write) = self.writes.get(&(*key, *value)) {
                    self.lost.push((Anomaly::Garbage, write.by, format!("{value} stands twice in {key}:")));
                }
            }
        }
        let present: HashMap<Key, HashSet<i64>> =
            last.iter().map(|(key, values)| (*key, values.iter().copied().collect())).collect();
        for (at, transaction) in history.iter().enumerate() {
            if transaction.outcome != Outcome::Confirmed {
                continue;
            }
            for step in &transaction.steps {
                if let Step::Write { key: key @ Key::List(_), value } = step
                    && !present.get(key).is_some_and(|values| values.contains(value))
                {
                    self.lost.push((Anomaly::Lost, at, format!("{value} is not in {key}:")));
                }
            }
        }
    }

    pub fn write(&self, key: Key, value: i64) -> Option<Write> {
        self.writes.get(&(key, value)).copied()
    }

    /// Whether a list that was seen is the beginning of the longest one.
    pub fn is_beginning(&self, key: Key, seen: &[i64]) -> bool {
        matches!(key, Key::Register(_)) || self.lists.get(&key).is_some_and(|values| values.starts_with(seen))
    }

    /// Confirmed writes that are not there in the end, and values that are there twice.
    pub fn lost(&self) -> impl Iterator<Item = (Anomaly, usize, &str)> {
        self.lost.iter().map(|(anomaly, at, text)| (*anomaly, *at, text.as_str()))
    }

    /// The transactions that wrote the version right behind what was seen.
    pub fn next(&self, key: Key, seen: &[i64]) -> Vec<usize> {
        match key {
            Key::List(_) => {
                let next = self.lists.get(&key).and_then(|values| values.get(seen.len()));
                next.and_then(|value| self.write(key, *value)).map(|write| write.by).into_iter().collect()
            }
            Key::Register(_) => self.replaced.get(&(key, seen.last().copied())).cloned().unwrap_or_default(),
        }
    }

    /// Pairs of transactions of which the second wrote the next version of a key.
    pub fn overwrites(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for (key, values) in &self.lists {
            let writers: Vec<usize> =
                values.iter().filter_map(|value| self.write(*key, *value)).map(|write| write.by).collect();
            pairs.extend(writers.windows(2).map(|pair| (pair[0], pair[1])));
        }
        for ((key, before), by) in &self.replaced {
            let Some(write) = before.and_then(|value| self.write(*key, value)) else { continue };
            pairs.extend(by.iter().map(|next| (write.by, *next)));
        }
        pairs.retain(|(from, to)| from != to);
        pairs
    }

    /// Pairs of confirmed transactions that read the same value of a register with a lock, and both replaced it.
    pub fn lost_updates(&self, history: &[Transaction]) -> Vec<(usize, usize, Key)> {
        let has_locked = |at: usize, of: Key| {
            let steps = &history[at].steps;
            let read = steps.iter().find_map(|step| match step {
                Step::Read { key, is_locking, .. } if *key == of => Some(*is_locking),
                _ => None,
            });
            history[at].outcome == Outcome::Confirmed && read == Some(true)
        };
        let mut pairs = Vec::new();
        // A row that is not there cannot be locked.
        for ((key, _), by) in self.replaced.iter().filter(|((_, before), _)| before.is_some()) {
            let locked: Vec<usize> = by.iter().copied().filter(|at| has_locked(*at, *key)).collect();
            pairs.extend(locked.windows(2).map(|pair| (pair[0], pair[1], *key)));
        }
        pairs
    }
}
