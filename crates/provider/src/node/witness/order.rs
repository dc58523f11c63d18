//! The total order as a witness follows it: seqnos, views and commit cuts, without verdicts.
//!
//! It tells where a log may begin, so what may be purged, and who is in the view. A verdict needs all keys since the
//! commit cut before; a witness may have begun later, and nothing that it does depends on one.

use crate::entry::{self, Entry};
use crate::identity::Uuid;
use crate::log::Index;
use crate::node::TotalOrder;
use crate::node::replica::OrderedEntry;

/// The order of a witness's log.
#[derive(Debug, Default)]
pub(in crate::node) struct WitnessOrder {
    /// None: no entry of the log is ordered yet.
    order: Option<TotalOrder>,
}

impl WitnessOrder {
    /// The order so far.
    pub fn order(&self) -> Option<&TotalOrder> {
        self.order.as_ref()
    }

    /// All members of the view have applied everything up to this seqno, as far as the log says.
    pub fn applied_by_all(&self) -> i64 {
        self.order.as_ref().map_or(0, |order| order.last_cut_upto)
    }

    /// Orders the next committed entry. The first one after a start, or after a new log, may be any.
    ///
    /// # Errors
    /// The entry cannot be the next one of this order, or is not valid.
    pub fn order_entry(&mut self, history_uuid: Uuid, index: Index, bytes: &[u8]) -> Result<OrderedEntry, String> {
        let invalid = |error: entry::Error| format!("entry {index} of the log is not valid: {error}");
        let (stamp, _) = entry::meta(bytes).map_err(invalid)?;
        let order = self.order.get_or_insert_with(|| {
            // Nothing counts as applied before the first commit cut says so.
            let mut order = TotalOrder::new(history_uuid, 0);
            order.seqno = stamp.seqno - i64::from(entry::takes_seqno(bytes));
            order
        });
        order.protocol = order.protocol.max(stamp.protocol);
        if entry::is_write_set(bytes) {
            // Its keys are not decoded.
            if stamp.seqno != order.seqno + 1 {
                let (found, last) = (stamp.seqno, order.seqno);
                return Err(format!(
                    "entry {index} of the log has seqno {found}, but the last ordered seqno is {last}"
                ));
            }
            order.pass_write_set(stamp.seqno);
        } else {
            let (_, entry) = entry::decode(bytes).map_err(invalid)?;
            order.check_entry(index, stamp, &entry)?;
            if let Entry::WriteSet { .. } = entry {
                order.pass_write_set(stamp.seqno);
            } else {
                order.apply_entry(index, stamp, &entry);
            }
        }
        Ok(OrderedEntry { term: stamp.term, request: None, is_excluded: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::raft::Term;
    use crate::entry::{CommitCut, SEEN_ALL, Stamp, WriteSetHead};
    use crate::protocol::ProtocolVersion;
    use crate::server::{Flags, Member};

    fn member() -> Member {
        Member { id: Uuid([1; 16]), name: "node1".to_owned(), incoming: String::new() }
    }

    fn stamped(mut bytes: Vec<u8>, seqno: i64) -> Vec<u8> {
        entry::set_stamp(&mut bytes, Stamp { seqno, term: Term(3), protocol: ProtocolVersion::WEIGHTS });
        bytes
    }

    fn write_set(seqno: i64) -> Vec<u8> {
        let flags = Flags::TRX_START.with(Flags::TRX_END);
        let head = WriteSetHead {
            flags,
            source: Uuid([1; 16]),
            trx: 1,
            conn: 1,
            last_seen: SEEN_ALL,
            request_id: seqno as u64,
        };
        stamped(entry::encode_write_set(&head, &[], 0), seqno)
    }

    fn cut(upto: i64, seqno: i64) -> Vec<u8> {
        let cut =
            CommitCut { upto, verdicts_upto: seqno, view_number: 4, members: vec![member()], ..CommitCut::default() };
        stamped(entry::encode_commit_cut(&cut), seqno)
    }

    /// Orders entries from `first` on.
    fn ordered(first: u64, entries: &[Vec<u8>]) -> Result<WitnessOrder, String> {
        let mut order = WitnessOrder::default();
        for (index, bytes) in (first..).zip(entries) {
            order.order_entry(Uuid([7; 16]), Index(index), bytes)?;
        }
        Ok(order)
    }

    #[test]
    fn a_log_may_begin_at_a_commit_cut_that_a_later_one_covers() {
        let entries = [write_set(500), cut(450, 500), write_set(501), cut(501, 501)];
        let order = ordered(90, &entries).unwrap();
        assert_eq!(order.order().unwrap().snapshot_point(), None, "the second cut is no proof for the first yet");
        assert_eq!(order.applied_by_all(), 501);
        let entries = [&entries[..], &[write_set(502), cut(502, 502)]].concat();
        let order = ordered(90, &entries).unwrap();
        let point = order.order().unwrap().snapshot_point().unwrap();
        assert_eq!((point.index, point.last_seqno_before), (Index(93), 501));
        assert_eq!(order.order().unwrap().members(), [member()]);
    }

    #[test]
    fn nothing_counts_as_applied_before_a_commit_cut() {
        let order = ordered(90, &[write_set(500), write_set(501)]).unwrap();
        assert_eq!((order.applied_by_all(), order.order().unwrap().seqno), (0, 501));
    }

    #[test]
    fn a_gap_between_seqnos_is_an_error() {
        let message = ordered(90, &[write_set(500), write_set(502)]).unwrap_err();
        assert_eq!(message, "entry 91 of the log has seqno 502, but the last ordered seqno is 500");
    }
}
