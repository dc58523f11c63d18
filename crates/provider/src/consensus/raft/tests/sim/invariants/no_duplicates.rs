//! No write set is ordered twice (`proposals`; thesis 6.3 requires the same of client sessions).

use std::collections::BTreeMap;

use crate::consensus::proposals::{RequestId, SessionId};
use crate::log::Index;

#[derive(Default)]
pub struct NoneTwice {
    indexes: BTreeMap<(SessionId, RequestId), Index>,
}

impl NoneTwice {
    pub fn committed(&mut self, session: SessionId, request_id: RequestId, index: Index) {
        let before = self.indexes.insert((session, request_id), index);
        assert_eq!(before, None, "{request_id:?} of {session:?} is at {} as well", index.0);
    }
}
