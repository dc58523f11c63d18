//! What is agreed on takes its place: verdict, seqno, and whoever waits for it.

use std::sync::atomic::Ordering as Atomic;

use super::{Command, Together};
use crate::entry::{self, Cut, Entry, Voter, WriteSetHead};
use crate::gate::Passage;
use crate::group::raft::Term;
use crate::identity::{Gtid, Uuid};
use crate::log::Index;
use crate::node::commit::{Ordered, Proposal};
use crate::node::deliver::{Delivered, Delivery};
use crate::node::receiving::Work;
use crate::node::{Node, Ordering, lock};
use crate::server::{Flags, Meta, Refused};
use crate::turns::Call;

/// What may wait to be applied, in bytes; beyond it nothing more takes its place here.
const QUEUE_LIMIT_BYTES: usize = 64 << 20;

/// What an entry was.
#[derive(Debug)]
pub(super) struct Taken {
    /// Whose leader made it.
    pub term: Term,
    /// A write set's source and ticket.
    pub ticket: Option<(Uuid, u64)>,
    /// Those decide.
    pub group: Option<Vec<Voter>>,
    /// Nobody needs what lies before this in the log.
    pub purge_below: Option<Index>,
    /// A view without this life of the node, which had been in the one before.
    pub is_excluded: bool,
}

impl Node {
    /// Whether the next entry can take its place. What is applied may wait for a transaction of this node to give way, which
    /// it does when its own place comes: then neither the queue's limit nor a pause that still waits may keep that away.
    pub(super) fn may_take(&self, together: &Together) -> bool {
        let has_room = self.receiving.queued_bytes() < QUEUE_LIMIT_BYTES;
        if self.receiving.holds.load(Atomic::SeqCst) {
            self.receiving.drains.load(Atomic::SeqCst) && together.waiting.has_victim()
        } else {
            has_room || together.waiting.has_victim()
        }
    }

    /// The next entry takes its place. What is this node's own goes to whoever waits for it, all else into the queue.
    /// None: the node was paused meanwhile, and nothing is taken.
    /// `lives`: those of this node since it was connected.
    pub(super) fn take_agreed(
        &self,
        together: &Together,
        index: Index,
        bytes: &[u8],
        lives: &[Uuid],
    ) -> Result<Option<Taken>, Refused> {
        let (stamp, entry) = entry::decode(bytes).map_err(|error| {
            self.fail(&format!("entry {index} of the log cannot be understood: {error}"));
            Refused
        })?;
        let mut taken = Taken { term: stamp.term, ticket: None, group: None, purge_below: None, is_excluded: false };
        let mut ordering = lock(&self.order);
        // A pause that came meanwhile has said where it stands: asked again under the lock.
        if self.receiving.holds.load(Atomic::SeqCst) && !self.may_take(together) {
            return Ok(None);
        }
        let Ordering { order, .. } = ordering.as_mut().ok_or(Refused)?;
        let takes_place = matches!(entry, Entry::WriteSet { .. } | Entry::View { .. });
        let seqno = stamp.seqno;
        if takes_place && seqno != order.seqno + 1 {
            let text = format!(
                "entry {index} of the log says that it stands at {seqno}, and the order has come to {}: this log is not \
                 the cluster's. Move the data folder away, and let the node join anew",
                order.seqno
            );
            drop(ordering);
            self.fail(&text);
            return Err(Refused);
        }
        if let Entry::Cut(cut) = &entry
            && cut.upto > order.seqno
        {
            drop(ordering);
            self.fail(&format!("entry {index} of the log is a cut at {seqno} that speaks of what comes after it"));
            return Err(Refused);
        }
        // Where the log was behind the tables.
        let is_applied = seqno <= self.turns.left();
        let verdict = order.take(index, stamp, &entry);
        if takes_place && !is_applied {
            self.turns.give(seqno);
        }
        let what = match (entry, verdict) {
            (Entry::WriteSet { head, keys, data }, Some(verdict)) => {
                taken.ticket = Some((head.source, head.ticket));
                if let Some(proposed) = together.waiting.take(head.source, head.ticket) {
                    let transaction = proposed.transaction.as_deref();
                    let aborted =
                        transaction.is_some_and(|transaction| transaction.ordered(seqno, head.flags, verdict.passed));
                    let gtid = Gtid { history: order.history, seqno };
                    let depends_on = verdict.depends_on;
                    let source = self.name_for_server(head.source);
                    let meta = Meta { gtid, source, trx: head.trx, conn: head.conn, depends_on };
                    self.count(keys.len(), bytes.len() - data.len(), data.len(), seqno - depends_on);
                    let ordered = Ordered { meta, passed: verdict.passed, index: None, aborted };
                    let answer = proposed.answer;
                    // A statement that runs alone has more to wait for than its turn; what is rolled back need not wait.
                    let Some(transaction) = transaction.filter(|_| ordered.passed && !aborted) else {
                        answer.give(Some(ordered));
                        return Ok(Some(taken));
                    };
                    self.turns.call_at(seqno, Call(Box::new(move || answer.give(Some(ordered)))));
                    // An abort that was granted in between has found nobody to interrupt.
                    if transaction.is_aborted() {
                        self.turns.interrupt(seqno);
                    }
                    return Ok(Some(taken));
                }
                // Its first parts were this server's own, and are gone with the life that made them; elsewhere it commits.
                let is_orphan = verdict.passed
                    && lives.contains(&head.source)
                    && !head.flags.has(Flags::TRX_START)
                    && !head.flags.has(Flags::ROLLBACK);
                if is_orphan && !is_applied {
                    drop(ordering);
                    self.fail(&format!(
                        "the end of a transaction that was sent in parts came to stand at {seqno} after this node had lost \
                         touch and given it up. Restart it: it takes it over from the log"
                    ));
                    return Err(Refused);
                }
                Delivered::WriteSet { head, data, passed: verdict.passed, depends_on: verdict.depends_on }
            }
            (Entry::View { number, members }, _) => {
                let is_in = members.iter().any(|member| member.id == order.member);
                taken.is_excluded = !is_in && matches!(self.gate.passage(), Passage::Open | Passage::Paused);
                Delivered::View { number, members }
            }
            (Entry::Cut(Cut { upto, .. }), _) => {
                taken.purge_below = order.begins_at().map(|place| place.index);
                self.inconsistency.forget_to(upto.min(self.turns.released()));
                return Ok(Some(taken));
            }
            (Entry::Decision { of, decision }, _) => {
                self.inconsistency.learn(&[(of, decision)]);
                return Ok(Some(taken));
            }
            (Entry::Group(voters), _) => {
                taken.group = Some(voters);
                return Ok(Some(taken));
            }
            _ => return Ok(Some(taken)),
        };
        if !is_applied {
            self.receiving.push(Work::Deliver(Delivery { seqno, what, is_replay: together.replays(index) }));
        }
        Ok(Some(taken))
    }

    /// Among others, what needs no answer is proposed and comes back as theirs do. False: the node is alone.
    pub(in crate::node) fn send_without_waiting(&self, proposal: &Proposal<'_>) -> bool {
        let Some(together) = self.together() else { return false };
        let Proposal { flags, trx, conn, keys, data, .. } = *proposal;
        let (source, last_seen) = {
            let ordering = lock(&self.order);
            match ordering.as_ref() {
                Some(Ordering { order, is_alone: false }) => (order.member, self.turns.left()),
                _ => return false,
            }
        };
        // Out of touch, the life that it belongs to ends, and with it what that left open.
        if matches!(self.gate.passage(), Passage::Open | Passage::Paused) {
            let ticket = together.ticket();
            let head = WriteSetHead { flags, source, trx, conn, last_seen, ticket };
            let mut bytes = entry::encode_write_set(&head, keys, data.iter().map(|part| part.len()).sum());
            data.iter().for_each(|part| bytes.extend_from_slice(part));
            together.ask(Command::Propose { ticket, bytes });
        }
        true
    }

    /// This node is cut off from the others, or they count it out: whoever waits for a place gets an error, and the
    /// node comes back as another life. Some: that one. None: it had no part in the cluster as it was.
    pub(super) fn lose_touch(&self, together: &Together) -> Option<Uuid> {
        let life = match Uuid::random() {
            Ok(life) => life,
            Err(error) => {
                self.fail(&format!("no random numbers for a UUID: {error}"));
                return None;
            }
        };
        {
            let mut ordering = lock(&self.order);
            let Ordering { order, .. } = ordering.as_mut()?;
            let was_in =
                self.gate.change(Passage::Open, Passage::Closed) || self.gate.change(Passage::Paused, Passage::Closed);
            if !was_in {
                return None;
            }
            order.member = life;
            *lock(&self.member) = life;
        }
        together.waiting.refuse_all();
        // Whoever comes back takes part anew.
        self.counters.desync_count.set_back();
        self.receiving.push(Work::OutOfTouch);
        Some(life)
    }
}
