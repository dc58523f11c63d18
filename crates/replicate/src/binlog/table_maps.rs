//! Table maps that repeat: a table has one before the rows of each statement, mostly with the same bytes.
//!
//! [`KnownMaps`] reads equal ones once, and gives one value for all of them. [`ByTableMap`] keeps what was found out about such a
//! value, by its address. Both have one place for each table number modulo their size: a server numbers its tables one after
//! the other.

use std::sync::Arc;

use super::fields::Found;
use super::format_description::FormatDescription;
use super::rows::TableMap;

/// Table maps that are kept.
const SLOTS: usize = 64;

fn slot(table_id: u64) -> usize {
    usize::try_from(table_id % SLOTS as u64).unwrap_or_default()
}

/// The last table maps of a stream, with their bytes.
#[derive(Debug, Default)]
pub(super) struct KnownMaps(Vec<Option<(Vec<u8>, Arc<TableMap>)>>);

impl KnownMaps {
    /// Reads the event's bytes between header and checksum.
    pub(super) fn read(&mut self, body: &[u8], format: &FormatDescription) -> Result<Arc<TableMap>, Found> {
        let slot = slot(TableMap::table_id(body)?);
        if let Some(Some((known, map))) = self.0.get(slot)
            && known == body
        {
            return Ok(map.clone());
        }
        let map = Arc::new(TableMap::read(body, format)?);
        if self.0.is_empty() {
            self.0.resize_with(SLOTS, || None);
        }
        self.0[slot] = Some((body.to_vec(), map.clone()));
        Ok(map)
    }
}

/// Values by table maps that are one value.
#[derive(Debug)]
pub(crate) struct ByTableMap<T>(Vec<Option<(Arc<TableMap>, T)>>);

impl<T> Default for ByTableMap<T> {
    fn default() -> ByTableMap<T> {
        ByTableMap(Vec::new())
    }
}

impl<T> ByTableMap<T> {
    /// The value of a table map.
    pub(crate) fn get(&self, map: &Arc<TableMap>) -> Option<&T> {
        let (known, value) = self.0.get(slot(map.table_id))?.as_ref()?;
        Arc::ptr_eq(known, map).then_some(value)
    }

    /// Keeps a value, in the place of another one.
    pub(crate) fn insert(&mut self, map: &Arc<TableMap>, value: T) {
        if self.0.is_empty() {
            self.0.resize_with(SLOTS, || None);
        }
        self.0[slot(map.table_id)] = Some((map.clone(), value));
    }

    /// Forgets all.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table map of a table `t` with columns of these types.
    fn body(table_id: u64, column_types: &[u8]) -> Vec<u8> {
        let columns = u8::try_from(column_types.len()).unwrap();
        [&table_id.to_le_bytes()[..6], b"\x01\0\x01s\0\x01t\0", &[columns], column_types, b"\0\0"].concat()
    }

    fn format() -> FormatDescription {
        FormatDescription::with_fixed_bytes(crate::binlog::EventKind::TABLE_MAP, 8)
    }

    #[test]
    fn equal_bytes_are_one_table_map() {
        let mut known = KnownMaps::default();
        let mut read = |table_id, types: &[u8]| known.read(&body(table_id, types), &format()).unwrap();
        let first = read(7, &[3]);
        assert!(Arc::ptr_eq(&first, &read(7, &[3])));
        // The same number after ALTER TABLE on a server that was started again.
        let altered = read(7, &[3, 15]);
        assert_eq!((altered.table_id, &altered.column_types[..]), (7, &[3, 15][..]));
        // Another table in the same place.
        let other = read(7 + SLOTS as u64, &[3]);
        assert_eq!(other.table_id, 7 + SLOTS as u64);
        assert_eq!(read(7, &[3]), first);
        assert!(known.read(&[7, 0, 0], &format()).unwrap_err().contains("the table's number needs 6 bytes"));
    }

    #[test]
    fn values_are_of_one_table_map() {
        let map = |table_id| Arc::new(TableMap::read(&body(table_id, &[3]), &format()).unwrap());
        let (one, alike, other) = (map(7), map(7), map(7 + SLOTS as u64));
        let mut values = ByTableMap::default();
        assert_eq!(values.get(&one), None);
        values.insert(&one, 1);
        assert_eq!((values.get(&one), values.get(&alike), values.get(&other)), (Some(&1), None, None));
        values.insert(&other, 2);
        assert_eq!((values.get(&one), values.get(&other)), (None, Some(&2)));
        values.clear();
        assert_eq!(values.get(&other), None);
    }
}
