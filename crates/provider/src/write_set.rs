//! What a transaction collects before it is ordered: the keys that it touches, and its events.

use std::collections::HashMap;

use hortator_core::{Key, Mode};

#[cfg(test)]
mod tests;

/// Below this many keys a look through all of them is cheaper than a table.
const LOOK_THROUGH_LIMIT: usize = 16;

/// Keys and events of one transaction, or of one part of it.
#[derive(Debug, Default)]
pub struct WriteSet {
    keys: Vec<(Key, Mode)>,
    /// Where in `keys`; empty while there are few.
    positions: HashMap<Key, u32>,
    table: LastTable,
    data: Vec<u8>,
}

/// The table of the last key: rows come in runs, and its names are not hashed for each.
#[derive(Debug, Default)]
struct LastTable {
    schema: Vec<u8>,
    table: Vec<u8>,
    key: Option<Key>,
}

impl WriteSet {
    /// A key by its parts: schema, table, and the row as one index sees it. None of them: the server.
    ///
    /// # Errors
    /// When it has more parts, which no server sends.
    pub fn key(&mut self, parts: &[&[u8]]) -> Result<Key, TooManyParts> {
        match *parts {
            [] => Ok(Key::server()),
            [schema] => Ok(Key::schema(schema)),
            [schema, table] => Ok(self.table.key(schema, table)),
            // The image begins with the index's number, so that one number of ours does for all.
            [schema, table, image] => Ok(Key::row_in(self.table.key(schema, table), 0, image)),
            _ => Err(TooManyParts(parts.len())),
        }
    }

    /// Adds a key; of the same one the stronger mode stays.
    pub fn add(&mut self, key: Key, mode: Mode) {
        let place = if self.positions.is_empty() {
            self.keys.iter().position(|(known, _)| *known == key)
        } else {
            self.positions.get(&key).map(|place| *place as usize)
        };
        if let Some(place) = place {
            let known = &mut self.keys[place].1;
            // Declared from weak to strong, and each excludes all that the weaker do.
            *known = mode.max(*known);
            return;
        }
        self.keys.push((key, mode));
        if !self.positions.is_empty() {
            self.positions.insert(key, self.keys.len() as u32 - 1);
        } else if self.keys.len() > LOOK_THROUGH_LIMIT {
            self.positions = self.keys.iter().enumerate().map(|(place, (key, _))| (*key, place as u32)).collect();
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

    /// How much it takes in the log, nearly.
    pub fn bytes(&self) -> usize {
        self.data.len() + self.keys.len() * (1 + Key::BYTES)
    }

    /// Whether nothing was collected.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty() && self.data.is_empty()
    }

    /// Forgets what was collected.
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

/// A key of more parts than schema, table and row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a key has {0} parts: at most schema, table and row are known")]
pub struct TooManyParts(usize);
