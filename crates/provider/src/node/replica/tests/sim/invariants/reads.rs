//! A read sees everything that was confirmed to any client before it started.

use std::collections::BTreeMap;

#[derive(Default)]
pub struct Reads {
    /// By request, the highest seqno that was confirmed when it started.
    started: BTreeMap<u64, i64>,
}

impl Reads {
    pub fn starts(&mut self, request_id: u64, confirmed: i64) {
        self.started.insert(request_id, confirmed);
    }

    pub fn ends(&mut self, request_id: u64, seqno: i64) {
        let confirmed = self.started.remove(&request_id).expect("a read has one answer");
        assert!(seqno >= confirmed, "a read sees seqno {seqno}, though {confirmed} was confirmed before it started");
    }
}
