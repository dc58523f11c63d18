//! Kinds of changes that a rule may leave out.

use crate::binlog::RowsForm;

/// A kind of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Rows are inserted.
    Insert,
    /// Rows are changed.
    Update,
    /// Rows are deleted.
    Delete,
    /// A table or schema is created.
    Create,
    /// A definition is changed: ALTER, RENAME, CREATE INDEX, DROP INDEX.
    Alter,
    /// All rows of a table are deleted.
    Truncate,
    /// A table or schema is dropped.
    Drop,
    /// A table is looked after: ANALYZE, OPTIMIZE, REPAIR, FLUSH.
    Maintain,
}

/// The words of the configuration.
const WORDS: [(&str, Change); 8] = [
    ("insert", Change::Insert),
    ("update", Change::Update),
    ("delete", Change::Delete),
    ("create", Change::Create),
    ("alter", Change::Alter),
    ("truncate", Change::Truncate),
    ("drop", Change::Drop),
    ("maintain", Change::Maintain),
];

impl Change {
    /// The change that rows of an event are.
    pub(super) fn of_rows(form: RowsForm) -> Change {
        match form {
            RowsForm::Write => Change::Insert,
            RowsForm::Update | RowsForm::PartialUpdate => Change::Update,
            RowsForm::Delete => Change::Delete,
        }
    }

    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        WORDS.iter().find(|(_, change)| *change == self).map_or("", |(word, _)| word)
    }
}

/// Some kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes(u8);

impl Changes {
    /// Reads the words of a configuration.
    ///
    /// # Errors
    /// A word that is none.
    pub fn read<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Changes, String> {
        let mut found = Changes::default();
        for word in words {
            let known = WORDS.iter().find(|(known, _)| *known == word);
            let (_, change) = known.ok_or_else(|| {
                format!("`{word}` is no kind of change: give some of {}", WORDS.map(|(word, _)| word).join(", "))
            })?;
            found.0 |= change.bit();
        }
        Ok(found)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a kind is among them.
    #[must_use]
    pub fn has(self, change: Change) -> bool {
        self.0 & change.bit() != 0
    }
}

impl Change {
    fn bit(self) -> u8 {
        1 << self as u8
    }
}
