//! One checkpoint: a run of consecutive statements, its state, and the hash of its text.

use hortator_mysql::catalog::TableName;
use xxhash_rust::xxh3::Xxh3;

/// Most tables of one checkpoint whose AUTO_INCREMENT values are recorded.
pub const COUNTERS_LIMIT: usize = 10;

/// A run of statements of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Number of the first statement, from 1.
    pub first: u64,
    /// Number of the last statement.
    pub last: u64,
    /// [`digest`] of the texts of those that were sent.
    pub digest: u128,
    /// The file of the first.
    pub file: String,
    /// The line of the first.
    pub line: u64,
    /// The byte of the file at which the first begins.
    pub byte: u64,
    /// The byte behind the last one's text.
    pub end_byte: u64,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The run has started; its outcome is not recorded.
    Intent = 0,
    /// The database has the run.
    Applied = 1,
    /// The database has the run, which also left session state that no other session has.
    SessionBound = 2,
}

impl State {
    /// From its number in the table.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Self> {
        [Self::Intent, Self::Applied, Self::SessionBound].into_iter().find(|state| *state as u64 == number)
    }
}

/// The beginning of a transaction of the dump whose rows are committed in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LargeTransactionBegin {
    /// The number of its first statement.
    pub first: u64,
    /// The next AUTO_INCREMENT value of its table before it; 0 where the table has none.
    pub next_id: u64,
}

impl LargeTransactionBegin {
    fn from_text(text: &str) -> Option<Self> {
        let (first, next_id) = text.split_once(' ')?;
        Some(Self { first: first.parse().ok()?, next_id: next_id.parse().ok()? })
    }
}

/// The state before the run, to find out later whether an intent was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecoveryHint {
    /// No hint.
    None,
    /// Next AUTO_INCREMENT values of the tables that receive rows, at most [`COUNTERS_LIMIT`]. The rows are part of a
    /// transaction: without an applied checkpoint, the database does not have them.
    Counters(Vec<(TableName, u64)>),
    /// The row count of a table that is not transactional, or that gets its first rows while the load has a local record.
    Rows(u64),
    /// The statement changes rows outside of a transaction, so the load cannot tell whether it is applied.
    NotInTransaction,
    /// Of an applied run of a forced load: the number of failed statements.
    Failed(u64),
    /// Of an applied run: it is a part of this transaction of the dump, and is taken back if the dump does not commit it.
    PartOf(LargeTransactionBegin),
    /// The definition that the statement changes: a hash of it, or `None` where there was none.
    Definition(Option<u128>),
    /// All that the statement drops is there.
    Exists,
}

impl RecoveryHint {
    /// Of a statement that the server has refused: it is to be run again, and has moved no counter.
    #[must_use]
    pub fn refused() -> Self {
        Self::Counters(Vec::new())
    }

    /// The text in the table.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::NotInTransaction => "not_in_transaction".to_owned(),
            Self::Failed(count) => format!("failed {count}"),
            Self::PartOf(begin) => format!("part_of {} {}", begin.first, begin.next_id),
            Self::Counters(counters) => {
                let counter =
                    |(table, next): &(TableName, u64)| format!("{}.{}={next}", hex(&table.schema), hex(&table.table));
                let counters: Vec<String> = counters.iter().take(COUNTERS_LIMIT).map(counter).collect();
                format!("counters {}", counters.join(" "))
            }
            Self::Rows(count) => format!("rows {count}"),
            Self::Exists => "exists".to_owned(),
            Self::Definition(None) => "definition none".to_owned(),
            Self::Definition(Some(hash)) => format!("definition {hash:032x}"),
        }
    }

    /// From the text in the table; unknown text is no hint.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        match text {
            "not_in_transaction" => return Self::NotInTransaction,
            "exists" => return Self::Exists,
            _ => {}
        }
        match text.split_once(' ') {
            Some(("failed", count)) => count.parse().map_or(Self::None, Self::Failed),
            Some(("part_of", begin)) => LargeTransactionBegin::from_text(begin).map_or(Self::None, Self::PartOf),
            Some(("counters", counters)) => {
                let counters = counters.split(' ').filter(|part| !part.is_empty());
                counters.map(counter).collect::<Option<_>>().map_or(Self::None, Self::Counters)
            }
            Some(("rows", count)) => count.parse().map_or(Self::None, Self::Rows),
            Some(("definition", "none")) => Self::Definition(None),
            Some(("definition", hash)) => {
                u128::from_str_radix(hash, 16).map_or(Self::None, |hash| Self::Definition(Some(hash)))
            }
            _ => Self::None,
        }
    }
}

fn counter(text: &str) -> Option<(TableName, u64)> {
    let (name, next) = text.split_once('=')?;
    let (schema, table) = name.split_once('.')?;
    Some((TableName { schema: unhex(schema)?, table: unhex(table)? }, next.parse().ok()?))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = (0..text.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

/// A checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The statements.
    pub span: Span,
    /// The state of the run.
    pub state: State,
    /// The table that received the rows, as `schema.table`; empty for none.
    pub table: String,
    /// Rows affected, as the server says.
    pub rows: u64,
    /// LAST_INSERT_ID() after the run; 0 if it generated no value.
    pub last_id: u64,
    /// The state before the run.
    pub recovery_hint: RecoveryHint,
}

/// The hash of a run of statements: each text with its length before it.
#[must_use]
pub fn digest<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> u128 {
    let mut hash = Digest::default();
    texts.into_iter().for_each(|text| hash.add(text));
    hash.value()
}

/// [`digest`], text by text.
#[derive(Clone, Default)]
pub struct Digest(Xxh3);

impl Digest {
    /// Of one text so far.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        let mut digest = Self::default();
        digest.add(text);
        digest
    }

    /// One more text.
    pub fn add(&mut self, text: &[u8]) {
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    /// The hash so far.
    #[must_use]
    pub fn value(&self) -> u128 {
        self.0.digest128()
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest({:032x})", self.value())
    }
}
