//! All nodes change the protocol version at the same entry, also after a restart from a log that begins in the middle, and
//! never back.

use std::collections::BTreeMap;

use super::super::world::Slot;
use crate::log::Index;
use crate::protocol::ProtocolVersion;

#[derive(Default)]
pub struct SameProtocol {
    versions: BTreeMap<Index, ProtocolVersion>,
}

impl SameProtocol {
    pub fn ordered(&mut self, slot: Slot, index: Index, version: ProtocolVersion) {
        let before = *self.versions.entry(index).or_insert(version);
        assert_eq!(before, version, "{slot:?} orders entry {index} in another protocol version");
        if let Some((earlier, higher)) = self.versions.range(..index).next_back() {
            assert!(*higher <= version, "entry {earlier} has protocol version {higher}, entry {index} has {version}");
        }
    }
}
