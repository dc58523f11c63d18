//! Which anomalies a history of transactions shows, after A. Adya ("Weak Consistency", 1999), by the method of Elle (K.
//! Kingsbury, P. Alvaro, VLDB 2020): each value is written once, so a read tells which transaction it comes from, and a list
//! tells the order of those that appended to it.
//!
//! | anomaly | what it is |
//! |---|---|
//! | G0 | a cycle of transactions, each of which overwrote the one before |
//! | G1a | a read of what a transaction wrote that did not commit |
//! | G1b | a read of what a transaction wrote and then wrote over |
//! | G1c | a cycle of writes over and reads of one another |
//! | G-single | a cycle with one read that missed a write: a torn read, or a lost update |
//! | lost update | two transactions read the same value with a lock, and both replaced it |
//! | internal | a transaction does not see what it wrote or had read itself |
//! | order | two reads of a list of which neither is the beginning of the other |
//! | lost | a confirmed write that is not there in the end |
//! | garbage | a read of a value that nobody wrote, or the same value twice |
//!
//! [`graph`] finds the cycles, [`versions`] the order of the values of a key.

mod graph;
#[cfg(test)]
mod tests;
mod versions;

use std::collections::BTreeMap;
use std::fmt;

use super::session::Outcome;
use graph::{Edge, Graph};
use versions::{Versions, Write};

/// An isolation level of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::ReadCommitted, Level::RepeatableRead, Level::Serializable];

    pub fn name(self) -> &'static str {
        match self {
            Level::ReadCommitted => "READ COMMITTED",
            Level::RepeatableRead => "REPEATABLE READ",
            Level::Serializable => "SERIALIZABLE",
        }
    }
}

/// A list or a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    List(i64),
    Register(i64),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::List(number) => write!(f, "list {number}"),
            Key::Register(number) => write!(f, "register {number}"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The values of a list, or the value of a register; none: there is no row yet. `is_locking`: SELECT … FOR UPDATE.
    Read { key: Key, seen: Vec<i64>, is_locking: bool },
    /// Appends to a list, or replaces the value of a register.
    Write { key: Key, value: i64 },
}

/// What a client did, and what it saw.
#[derive(Debug, Clone)]
pub struct Transaction {
    /// The client, and its number of the transaction.
    pub id: (usize, i64),
    pub node: usize,
    pub level: Level,
    /// Each statement is a fragment.
    pub is_streaming: bool,
    pub outcome: Outcome,
    /// The error of a transaction that was not confirmed.
    pub error: Option<String>,
    pub steps: Vec<Step>,
}

impl fmt::Display for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (client, number) = self.id;
        let streaming = if self.is_streaming { ", streaming" } else { "" };
        write!(f, "T{client}.{number} (node{}, {:?}{streaming}, {:?}", self.node + 1, self.level, self.outcome)?;
        write!(f, "{}:", self.error.iter().map(|error| format!(", {error}")).collect::<String>())?;
        for step in &self.steps {
            match step {
                Step::Read { key, seen, .. } => {
                    // The end of a long list tells enough.
                    let shown = &seen[seen.len().saturating_sub(3)..];
                    write!(f, " {key} = …{shown:?}")?;
                }
                Step::Write { key, value } => write!(f, " {key} + {value}")?,
            }
        }
        f.write_str(")")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    G0,
    G1a,
    G1b,
    G1c,
    GSingle,
    LostUpdate,
    Internal,
    Order,
    Lost,
    Garbage,
}

impl Anomaly {
    pub const ALL: [Anomaly; 10] = [
        Anomaly::G0,
        Anomaly::G1a,
        Anomaly::G1b,
        Anomaly::G1c,
        Anomaly::GSingle,
        Anomaly::LostUpdate,
        Anomaly::Internal,
        Anomaly::Order,
        Anomaly::Lost,
        Anomaly::Garbage,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Anomaly::G0 => "G0",
            Anomaly::G1a => "G1a",
            Anomaly::G1b => "G1b",
            Anomaly::G1c => "G1c",
            Anomaly::GSingle => "G-single",
            Anomaly::LostUpdate => "lost update",
            Anomaly::Internal => "internal",
            Anomaly::Order => "order",
            Anomaly::Lost => "lost",
            Anomaly::Garbage => "garbage",
        }
    }

    /// Whether the level forbids it. Below SERIALIZABLE, a plain read before an UPDATE takes no lock, and MariaDB's snapshots are
    /// not always of one moment, on a standalone server too ([`super::snapshots`]): so G-single is allowed there.
    pub fn is_forbidden(self, level: Level) -> bool {
        self != Anomaly::GSingle || level == Level::Serializable
    }
}

/// The anomalies of a history, each with the level of the transaction that saw it, and a text.
#[derive(Debug, Default)]
pub struct Found(BTreeMap<(Anomaly, Level), Vec<String>>);

impl Found {
    fn add(&mut self, anomaly: Anomaly, level: Level, text: String) {
        self.0.entry((anomaly, level)).or_default().push(text);
    }

    pub fn count(&self, anomaly: Anomaly, level: Level) -> usize {
        self.0.get(&(anomaly, level)).map_or(0, Vec::len)
    }

    /// What the levels forbid, with an example of each kind.
    pub fn forbidden(&self) -> Vec<String> {
        let forbidden = self.0.iter().filter(|((anomaly, level), _)| anomaly.is_forbidden(*level));
        forbidden
            .map(|((anomaly, level), texts)| {
                format!("{} at {}: {}, such as {}", anomaly.name(), level.name(), texts.len(), texts[0])
            })
            .collect()
    }
}

/// Checks a history. `last`: the values of each key in the end.
pub fn check(history: &[Transaction], last: &BTreeMap<Key, Vec<i64>>) -> Found {
    let mut found = Found::default();
    history.iter().for_each(|transaction| check_internal(transaction, &mut found));
    let versions = Versions::of(history, last);
    check_reads(history, &versions, &mut found);
    check_writes(history, &versions, &mut found);
    let graph = graph_of(history, &versions);
    let mut cycles = vec![
        (Anomaly::G0, graph.cycles(&[Edge::Overwrites])),
        (Anomaly::G1c, graph.cycles(&[Edge::Overwrites, Edge::Reads])),
    ];
    cycles.extend(Level::ALL.map(|level| {
        let of_level = (0..history.len()).filter(|at| history[*at].level == level);
        (Anomaly::GSingle, graph.cycles_with_one_miss(of_level))
    }));
    for (anomaly, cycles) in cycles {
        for cycle in cycles {
            // A cycle of writes over one another is no G1c, too.
            if anomaly == Anomaly::G1c && cycle.iter().all(|(_, edge)| *edge == Edge::Overwrites) {
                continue;
            }
            // Of the one that has missed a write, which is the first; else of the strictest.
            let levels = cycle.iter().map(|(at, _)| history[*at].level);
            let level = if anomaly == Anomaly::GSingle { levels.take(1).max() } else { levels.max() };
            let level = level.unwrap_or(Level::ReadCommitted);
            let shown = cycle.iter().map(|(at, edge)| format!("{} {}", history[*at], edge.words()));
            found.add(anomaly, level, shown.chain(["the first".to_owned()]).collect::<Vec<_>>().join(" "));
        }
    }
    found
}

/// What a transaction knows of a key.
#[derive(Default)]
struct Known<'a> {
    /// What it saw last.
    seen: Option<&'a Vec<i64>>,
    /// What it has written since.
    written: Vec<i64>,
    /// It has written, so the row is locked.
    is_own: bool,
}

/// A transaction sees what it has written, and, from REPEATABLE READ on, what it has read.
fn check_internal(transaction: &Transaction, found: &mut Found) {
    let mut keys: BTreeMap<Key, Known<'_>> = BTreeMap::new();
    for step in &transaction.steps {
        match step {
            Step::Write { key, value } => {
                let known = keys.entry(*key).or_default();
                known.written.push(*value);
                known.is_own = true;
            }
            Step::Read { key, seen, is_locking } => {
                let known = keys.entry(*key).or_default();
                let own: &[i64] = match key {
                    Key::List(_) => &known.written,
                    Key::Register(_) => &known.written[known.written.len().saturating_sub(1)..],
                };
                // A read with a lock sees the newest version.
                let is_stable = known.is_own || transaction.level > Level::ReadCommitted && !is_locking;
                let is_wrong = match known.seen {
                    _ if !seen.ends_with(own) => true,
                    Some(before) if known.written.is_empty() && is_stable => before != seen,
                    Some(before) if matches!(key, Key::List(_)) => !seen.starts_with(before),
                    _ => false,
                };
                if is_wrong {
                    found.add(Anomaly::Internal, transaction.level, format!("{transaction}, of {key}"));
                }
                (known.seen, known.written) = (Some(seen), Vec::new());
            }
        }
    }
}

/// The first reads of each key, before own writes: what others have written.
fn external_reads(transaction: &Transaction) -> impl Iterator<Item = (Key, &Vec<i64>)> {
    let mut own = Vec::new();
    transaction.steps.iter().filter_map(move |step| match step {
        Step::Write { key, .. } => {
            own.push(*key);
            None
        }
        Step::Read { key, seen, .. } => (!own.contains(key)).then_some((*key, seen)),
    })
}

fn check_reads(history: &[Transaction], versions: &Versions, found: &mut Found) {
    for (at, transaction) in history.iter().enumerate() {
        let level = transaction.level;
        for (key, seen) in external_reads(transaction) {
            if !versions.is_beginning(key, seen) {
                found.add(Anomaly::Order, level, format!("{transaction}, of {key}"));
            }
            for value in seen {
                match versions.write(key, *value) {
                    None => found.add(Anomaly::Garbage, level, format!("{value} of {key} in {transaction}")),
                    Some(Write { by, .. }) if history[by].outcome == Outcome::Refused => {
                        found.add(Anomaly::G1a, level, format!("{transaction} has {value} of {}", history[by]));
                    }
                    Some(_) => {}
                }
            }
            let last = seen.last().and_then(|value| versions.write(key, *value));
            if let Some(Write { by, is_final: false }) = last.filter(|write| write.by != at) {
                found.add(Anomaly::G1b, level, format!("{transaction} has seen a part of {}, in {key}", history[by]));
            }
        }
    }
}

fn check_writes(history: &[Transaction], versions: &Versions, found: &mut Found) {
    for (anomaly, at, text) in versions.lost() {
        let transaction = &history[at];
        found.add(anomaly, transaction.level, format!("{text} of {transaction}"));
    }
    for (one, other, key) in versions.lost_updates(history) {
        let level = history[one].level.max(history[other].level);
        let text = format!("{} and {}, of {key}", history[one], history[other]);
        found.add(Anomaly::LostUpdate, level, text);
    }
}

/// Who depends on whom.
fn graph_of(history: &[Transaction], versions: &Versions) -> Graph {
    let mut graph = Graph::new(history.len());
    for (from, to) in versions.overwrites() {
        graph.add(from, Edge::Overwrites, to);
    }
    for (at, transaction) in history.iter().enumerate().filter(|(_, one)| one.outcome != Outcome::Refused) {
        for (key, seen) in external_reads(transaction) {
            if let Some(write) = seen.last().and_then(|value| versions.write(key, *value)) {
                graph.add(write.by, Edge::Reads, at);
            }
            for next in versions.next(key, seen) {
                graph.add(at, Edge::Misses, next);
            }
        }
    }
    graph
}
