//! The write set of a transaction: certification keys and events.

use std::collections::HashMap;

use hortator_core::{Key, Mode};

#[cfg(test)]
mod tests;

/// Up to this many keys, a linear search is cheaper than a hash table.
const LOOK_THROUGH_LIMIT: usize = 16;

/// Keys and events of a transaction, or of a fragment.
#[derive(Debug, Default)]
pub struct WriteSet {
    keys: Vec<(Key, Mode)>,
    /// Positions in `keys`; empty while there are few.
    positions: HashMap<Key, u32>,
    table: LastTable,
    data: Vec<u8>,
}

/// The table of the last key: rows of a table usually come together, so its name is hashed once.
#[derive(Debug, Default)]
struct LastTable {
    schema: Vec<u8>,
    table: Vec<u8>,
    key: Option<Key>,
}

impl WriteSet {
    /// A key from its parts: schema, table, and row image of one index. No parts: the whole server.
    ///
    /// # Errors
    /// More parts, which no server sends.
    pub fn key(&mut self, parts: &[&[u8]]) -> Result<Key, TooManyParts> {
        match *parts {
            [] => Ok(Key::server()),
            [schema] => Ok(Key::schema(schema)),
            [schema, table] => Ok(self.table.key(schema, table)),
            // The image starts with the index number, so one number is enough here.
            [schema, table, image] => Ok(Key::row_in(self.table.key(schema, table), 0, image)),
            _ => Err(TooManyParts(parts.len())),
        }
    }

    /// Adds a key; a key that is there keeps the stronger mode.
    pub fn add(&mut self, key: Key, mode: Mode) {
        let position = if self.positions.is_empty() {
            self.keys.iter().position(|(known, _)| *known == key)
        } else {
            self.positions.get(&key).map(|position| *position as usize)
        };
        if let Some(position) = position {
            let known = &mut self.keys[position].1;
            // Modes ascend from weak to strong; each excludes all that weaker ones exclude.
            *known = mode.max(*known);
            return;
        }
        self.keys.push((key, mode));
        if !self.positions.is_empty() {
            self.positions.insert(key, self.keys.len() as u32 - 1);
        } else if self.keys.len() > LOOK_THROUGH_LIMIT {
            self.positions = self.keys.iter().enumerate().map(|(position, (key, _))| (*key, position as u32)).collect();
        }
    }

    /// Adds events.
    pub fn append(&mut self, data: &[u8]) {
        self.data.extend_from_slice(data);
    }

    /// The keys, each once.
    pub fn keys(&self) -> &[(Key, Mode)] {
        &self.keys
    }

    /// The events.
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Its approximate length in the log.
    pub fn bytes(&self) -> usize {
        self.data.len() + self.keys.len() * (1 + Key::BYTES)
    }

    /// Whether the write set is empty.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.data.is_empty()
    }

    /// Empties the write set.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.positions.clear();
        self.data.clear();
    }
}

impl LastTable {
    fn key(&mut self, schema: &[u8], table: &[u8]) -> Key {
        if let Some(key) = self.key
            && self.schema == schema
            && self.table == table
        {
            return key;
        }
        self.schema.clear();
        self.schema.extend_from_slice(schema);
        self.table.clear();
        self.table.extend_from_slice(table);
        *self.key.insert(Key::table(schema, table))
    }
}

/// A key with more parts than schema, table and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key has {0} parts: only schema, table and row are supported")]
pub struct TooManyParts(usize);
