//! One client's journal, as texts of rows: the rows before, and the changes of each transaction.
//!
//! The client records a transaction before it sends its last statement. So after a kill at most the last transaction is
//! in doubt, and the tables must hold the result of all confirmed transactions, with or without the one in doubt.

use std::collections::BTreeMap;

/// The rows of one client, in all tables, with their counts.
pub type Rows = BTreeMap<String, i64>;

/// The changes of one transaction.
#[derive(Debug, Clone, Default)]
pub struct Change {
    pub removes: Vec<String>,
    pub adds: Vec<String>,
}

impl Change {
    pub fn add(mut self, row: String) -> Change {
        self.adds.push(row);
        self
    }

    pub fn remove(mut self, row: String) -> Change {
        self.removes.push(row);
        self
    }
}

/// The transactions of one client since the last comparison with its tables.
#[derive(Debug, Default)]
pub struct Journal {
    pub before: Rows,
    changes: Vec<Change>,
    confirmed: usize,
}

/// The result of comparing the tables with a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// All confirmed transactions. True: the one in doubt too.
    All(bool),
    /// All but that many of the confirmed transactions.
    Lost(usize),
    /// The content matches no number of whole transactions.
    Torn,
}

impl Journal {
    pub fn new(before: Rows) -> Journal {
        Journal { before, ..Journal::default() }
    }

    /// Records a transaction before its commit.
    pub fn attempt(&mut self, change: Change) {
        assert_eq!(self.changes.len(), self.confirmed, "one at a time");
        self.changes.push(change);
    }

    /// Records that the server confirmed the commit.
    pub fn confirm(&mut self) {
        self.confirmed = self.changes.len();
    }

    /// Records that the server refused the commit.
    pub fn refuse(&mut self) {
        self.changes.truncate(self.confirmed);
    }

    pub fn confirmed(&self) -> usize {
        self.confirmed
    }

    pub fn has_unsettled(&self) -> bool {
        self.changes.len() > self.confirmed
    }

    /// Compares the tables with the journal.
    pub fn compare(&self, tables: &Rows) -> Found {
        let mut rows = self.before.clone();
        let differs = |rows: &Rows, row: &str| rows.get(row).unwrap_or(&0) != tables.get(row).unwrap_or(&0);
        let mut different = rows.keys().filter(|row| differs(&rows, row)).count();
        different += tables.keys().filter(|row| !rows.contains_key(*row)).count();
        let mut whole = (different == 0).then_some(0);
        for (index, change) in self.changes.iter().enumerate() {
            let removes = change.removes.iter().map(|row| (row, -1));
            for (row, by) in removes.chain(change.adds.iter().map(|row| (row, 1))) {
                different -= usize::from(differs(&rows, row));
                *rows.entry(row.clone()).or_insert(0) += by;
                different += usize::from(differs(&rows, row));
            }
            if different == 0 {
                whole = Some(index + 1);
            }
        }
        match whole {
            None => Found::Torn,
            Some(whole) if whole < self.confirmed => Found::Lost(self.confirmed - whole),
            Some(whole) => Found::All(whole > self.confirmed),
        }
    }

    /// The differences between the tables and the confirmed transactions, for a message.
    pub fn differences(&self, tables: &Rows) -> Vec<String> {
        let mut rows = self.before.clone();
        for change in &self.changes[..self.confirmed] {
            change.removes.iter().for_each(|row| *rows.entry(row.clone()).or_insert(0) -= 1);
            change.adds.iter().for_each(|row| *rows.entry(row.clone()).or_insert(0) += 1);
        }
        let count = |rows: &Rows, row: &String| *rows.get(row).unwrap_or(&0);
        let mut all: Vec<&String> = rows.keys().chain(tables.keys()).collect();
        all.sort();
        all.dedup();
        let told = |row: &String| format!("{row}: {} expected, {} found", count(&rows, row), count(tables, row));
        let differing = all.into_iter().filter(|row| count(&rows, row) != count(tables, row));
        let mut told: Vec<String> = differing.map(told).collect();
        told.extend(self.changes.get(self.confirmed).map(|change| format!("unsettled: {change:?}")));
        told
    }
}

#[test]
fn a_journal_knows_what_is_missing() {
    let row = |text: &str| Change::default().add(text.to_owned());
    let rows = |texts: &[&str]| texts.iter().map(|text| ((*text).to_owned(), 1)).collect::<Rows>();
    let mut journal = Journal::new(rows(&["old"]));
    journal.attempt(row("a"));
    journal.confirm();
    journal.attempt(row("refused"));
    journal.refuse();
    journal.attempt(row("b").add("c".to_owned()).remove("old".to_owned()));
    journal.confirm();
    journal.attempt(row("d"));
    assert_eq!(journal.compare(&rows(&["a", "b", "c"])), Found::All(false));
    assert_eq!(journal.compare(&rows(&["a", "b", "c", "d"])), Found::All(true));
    assert_eq!(journal.compare(&rows(&["a", "old"])), Found::Lost(1));
    assert_eq!(journal.compare(&rows(&["old"])), Found::Lost(2));
    for torn in [&["a", "b"][..], &["a", "b", "c", "old"], &["a", "b", "c", "e"], &["a", "b", "c", "refused"]] {
        assert_eq!(journal.compare(&rows(torn)), Found::Torn, "{torn:?}");
    }
}
