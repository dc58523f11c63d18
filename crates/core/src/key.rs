//! Resources in the hierarchy server / schema / table / row, as hashes.
//!
//! A key is a path of xxh3 hashes: 64 bits for the schema, 64 for the table, 128 for the row (index number and key
//! image). The ancestors of a key are its prefixes, so they cost nothing to find. The hashes are the same on every
//! machine and in every release (a test holds some of them), because keys leave the process in the ordered stream.
//!
//! Two resources whose hashes collide count as one: a transaction may then wait in vain, but never runs too early. A
//! key does not keep names: to show them, keep a map from `Key` to name.

use std::fmt;

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128_with_seed};

#[cfg(test)]
mod tests;

/// A hashed resource. Cheap to copy, compare and hash.
///
/// Names are compared byte by byte: if the server folds the case of names (`lower_case_table_names`), the caller folds
/// them first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    // Zero: the key has no such level. The row comes first, because it distinguishes most keys.
    row: [u64; 2],
    table: u64,
    schema: u64,
}

/// The level of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// The whole server: everything, and objects without a schema (users, global variables).
    Server,
    /// One schema with everything in it.
    Schema,
    /// One table (or view, routine, sequence: any named object of a schema).
    Table,
    /// One row, as identified by one index.
    Row,
}

impl Key {
    /// The length of [`Key::to_bytes`].
    pub const BYTES: usize = 32;

    /// The root of all resources. An exclusive lock on it is a barrier.
    pub const fn server() -> Self {
        Self { schema: 0, table: 0, row: [0, 0] }
    }

    /// A schema, by name.
    pub fn schema(schema: &[u8]) -> Self {
        Self { schema: present(xxh3_64(schema)), ..Self::server() }
    }

    /// A row of a table, as identified by the index with that number; `image` holds the values of the index's columns,
    /// encoded so that equal keys give equal bytes.
    pub fn table(schema: &[u8], table: &[u8]) -> Self {
        let above = Self::schema(schema);
        Self { table: present(xxh3_64_with_seed(table, above.schema)), ..above }
    }

    /// As [`Key::row`], if the caller has the table's key: the names are not hashed for each row.
    ///
    /// # Panics
    /// When `table` is not the key of a table.
    pub fn row(schema: &[u8], table: &[u8], index: u32, image: &[u8]) -> Self {
        Self::row_in(Self::table(schema, table), index, image)
    }

    /// An odd factor spreads consecutive index numbers over the seed and keeps them distinct.
    pub fn row_in(table: Self, index: u32, image: &[u8]) -> Self {
        assert!(table.level() == Level::Table, "{table} is not a table, it has no rows");
        // The level of the resource.
        let seed = table.table ^ (u64::from(index) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = xxh3_128_with_seed(image, seed);
        Self { row: [present(hash as u64), (hash >> 64) as u64], ..table }
    }

    /// The next resource above; None for the server.
    pub fn level(self) -> Level {
        match self {
            Self { schema: 0, .. } => Level::Server,
            Self { table: 0, .. } => Level::Schema,
            Self { row: [0, _], .. } => Level::Table,
            Self { .. } => Level::Row,
        }
    }

    /// The resources above, the nearest first, the server last.
    pub fn parent(self) -> Option<Self> {
        match self.level() {
            Level::Server => None,
            Level::Schema => Some(Self::server()),
            Level::Table => Some(Self { table: 0, ..self }),
            Level::Row => Some(Self { row: [0, 0], ..self }),
        }
    }

    /// The key as bytes, for the ordered stream and the log. This function defines the format.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), |key| key.parent())
    }

    /// The key of these bytes. Any bytes are a valid key.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        for (slot, word) in bytes.chunks_exact_mut(8).zip([self.schema, self.table, self.row[0], self.row[1]]) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The 128 bits that distinguish a row from all other rows of all tables: the whole path determines them.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at * 8 + byte]));
        Self { schema: word(0), table: word(1), row: [word(2), word(3)] }
    }

    pub(crate) fn is_row(self) -> bool {
        self.row[0] != 0
    }

    /// 128 bits that distinguish this resource from any other, at any level.
    pub(crate) fn row_hash(self) -> [u64; 2] {
        self.row
    }

    /// 64 well-mixed bits for hash tables: the parts are hashes already.
    pub(crate) fn resource_hash(self) -> [u64; 2] {
        if self.is_row() { self.row } else { [self.bits(), self.schema] }
    }

    /// Zero means "no such level", so a hash of zero becomes 1.
    pub(crate) fn bits(self) -> u64 {
        if self.is_row() { self.row[0] } else { self.table ^ self.schema }
    }
}

/// Zero means "no such level", so the hash that is zero gives way.
fn present(hash: u64) -> u64 {
    if hash == 0 { 1 } else { hash }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.level() {
            Level::Server => write!(formatter, "server"),
            Level::Schema => write!(formatter, "schema {:016x}", self.schema),
            Level::Table => write!(formatter, "table {:016x}", self.table),
            Level::Row => write!(formatter, "row {:016x}{:016x}", self.row[1], self.row[0]),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
