//! What a replica needs from its surroundings: clock, log, links, and the threads of its server.
//!
//! The process has one implementation (`node/cluster/node_host.rs`), the simulator another one. A host decides nothing
//! about the cluster; a replica sees no file, no socket, no clock and no thread but through these traits. Calls return at
//! once, except those that write to the log.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::RaftStatus;
use super::input::Command;
use super::status::{ClusterStatus, SstResult};
use crate::consensus::NodeId;
use crate::consensus::hard_state::{self, HardState};
use crate::consensus::lineage::Lineage;
use crate::consensus::raft::{Append, LogId, Term};
use crate::consensus::wire::{DonationStatus, Frame};
use crate::gate::GateState;
use crate::identity::{Gtid, Uuid};
use crate::log::{self, Index, LogRecords, Shared};
use crate::node::TotalOrder;
use crate::protocol::ProtocolVersion;
use crate::server::{CallbackError, Level, Member};
use crate::vote_result::{ApplyError, VoteResult};

/// Everything around a replica.
pub(in crate::node) trait Host: Clock + EntryLog + Transport + LocalNode + Waiters {}

impl<H: Clock + EntryLog + Transport + LocalNode + Waiters> Host for H {}

/// Time and chance.
pub(in crate::node) trait Clock {
    /// The time since the replica started. Never goes back.
    fn now(&self) -> Duration;
    /// A random UUID.
    fn random_uuid(&mut self) -> io::Result<Uuid>;
}

/// A sync of the log up to an entry, with its result.
pub(in crate::node) type Synced = (LogId, Result<(), log::Error>);

/// The log on disk, and the hard state beside it.
pub(in crate::node) trait EntryLog {
    /// The log, to read.
    fn records(&self) -> Option<impl LogRecords>;
    /// Whether there is a log: else the node waits to join.
    fn has_log(&self) -> bool;
    /// The first and the last entry; an empty log ends before it begins. None: there is no log.
    fn bounds(&self) -> Option<(Index, Index)>;
    /// Appended entries are written up to here.
    fn flushed(&self) -> Index;
    /// Entries from `first` on, at least one unless `first` is after the end.
    fn entries(&self, first: Index, limit_bytes: usize) -> Result<Vec<Shared>, log::Error>;
    /// Whether there is room for another entry. Waits a moment while the disk is behind.
    fn throttle(&self) -> Result<(), log::Error>;
    /// Appends an entry, not durable yet.
    fn append(&mut self, bytes: &[u8]) -> Result<Index, log::Error>;
    /// Removes the entries from `from` on.
    fn truncate(&mut self, from: Index) -> Result<(), log::Error>;
    /// The same for entries that this node may have acknowledged. After a crash before [`EntryLog::confirm_tail`], the log
    /// has lost its end.
    fn abandon_tail(&mut self, from: Index) -> Result<(), log::Error>;
    /// Makes everything appended durable.
    fn flush(&mut self) -> Result<(), log::Error>;
    /// The same on the disk, also with sync off.
    fn flush_to_disk(&mut self) -> Result<(), log::Error>;
    /// The result of a sync that has ended since the last call.
    fn take_synced(&mut self) -> Option<Synced>;
    /// Waits for the end of the sync that runs.
    fn wait_for_synced(&mut self) -> Synced;
    /// Whether appended entries fill the memory, since the disk stalls.
    fn is_backed_up(&self) -> bool;
    /// Removes entries before `below`, as far as the log need not keep them anyway.
    fn purge(&mut self, below: Index);
    /// The log has again what it had lost.
    fn confirm_tail(&mut self) -> Result<(), log::Error>;
    /// Replaces the log by an empty one that begins after `index`.
    fn install_snapshot(&mut self, history_uuid: Uuid, index: Index) -> Result<(), log::Error>;
    /// Saves the hard state durably.
    fn save_hard_state(&mut self, hard_state: &HardState) -> Result<(), hard_state::Error>;
}

/// The links to other nodes.
pub(in crate::node) trait Transport {
    /// Sends a frame. False: the node is not linked, or its queue is full.
    fn send(&mut self, to: NodeId, frame: &Frame) -> bool;
    /// Sends entries. False: as [`Transport::send`].
    fn send_append(&mut self, to: NodeId, append: &Append, payloads: &[Arc<[u8]>]) -> bool;
    /// Bytes that wait to be sent to the node.
    fn queued_bytes(&self, to: NodeId) -> usize;
    /// Sends what is queued, as far as that is possible without waiting.
    fn flush_links(&mut self);
    /// Whether the node is linked.
    fn is_linked(&self, node: NodeId) -> bool;
    /// Keeps a link to that address from now on.
    fn dial(&mut self, address: &str);
    /// Dials the address no more.
    fn hang_up(&mut self, address: &str);
    /// Drops all links, or restores them.
    fn isolate(&mut self, is_isolated: bool);
    /// The own address.
    fn own_address(&self) -> String;
    /// The lineage of this node in its handshakes.
    fn set_lineage(&mut self, history_uuid: Uuid, lineage: Lineage);
    /// The protocol version in force: nodes that do not speak it are disconnected.
    fn set_protocol(&mut self, version: ProtocolVersion);
}

/// The node's total order, tables and server.
pub(in crate::node) trait LocalNode {
    /// The node's name.
    fn name(&self) -> String;
    /// Writes to the error log.
    fn log(&self, level: Level, text: &str);
    /// Logs that a joiner has requested an SST, and has a donor; by their names.
    fn log_transfer_request(&self, joiner: &str, preference: &str, donor: &str);
    /// Writes a note to the error log.
    fn note(&self, text: &str) {
        self.log(Level::Note, text);
    }
    /// The node cannot continue, and leaves.
    fn fail(&mut self, text: &str);
    /// Ends the start of the server.
    fn end_start(&mut self);
    /// Whether clients' write sets pass.
    fn gate_state(&self) -> GateState;
    /// The current member ID.
    fn member_id(&self) -> Uuid;
    /// This node as a member.
    fn own_member(&self) -> Member;
    /// The history UUID of the log; undefined without one.
    fn history_uuid(&self) -> Uuid;
    /// The history UUID of the tables is known to be none.
    fn has_no_tables(&self) -> bool;
    /// The position of the tables. None: there are none, or it is not known.
    fn tables_position(&self) -> Option<Gtid>;
    /// Reads the total order. None: the tables are not there yet.
    fn with_order<T>(&self, read: impl FnOnce(&TotalOrder) -> T) -> Option<T>;
    /// The seqno up to which the tables are applied.
    fn last_released(&self) -> i64;
    /// The tables have reached the position from which entries are ordered.
    fn is_caught_up(&self) -> bool;
    /// Whether the next entry can be ordered.
    fn can_order(&self) -> bool;
    /// Orders the next committed entry. None: the node was paused meanwhile, and nothing is ordered. `own_member_ids`:
    /// all since the connect.
    fn order_committed(
        &mut self,
        index: Index,
        bytes: &[u8],
        own_member_ids: &[Uuid],
    ) -> Result<Option<OrderedEntry>, CallbackError>;
    /// Number of entries that wait to be applied, and the limit for flow control.
    fn queued(&self) -> (u64, u64);
    /// The length of the queue at which a node that was behind is so no more. At most the limit.
    fn resume_limit(&self) -> u64;
    /// The node may fall behind.
    fn is_desynced(&self) -> bool;
    /// The term that this node leads in.
    fn set_leader_term(&mut self, term: Term);
    /// Clients' threads append to the log from now on, if nothing is on its way through the replica. `ordered`: the last
    /// ordered entry. False: not now.
    fn enter_single_node(&mut self, ordered: Option<Index>, has_proposals: bool) -> bool;
    /// Orders the rollbacks of streaming transactions that the server's threads could not order, as far as that is possible now.
    fn order_held_rollbacks(&mut self) {}
    /// Clients' threads propose from now on. None: not now, or the log cannot be written, and the node fails.
    fn leave_single_node(&mut self) -> Option<SingleNodeEnd>;
    /// The node has lost the quorum, or was excluded from the view. Returns its new member ID; None: it was not in the
    /// cluster. No thread waits for a proposal any more, but for those with the last fragment of a streaming transaction.
    fn lose_quorum(&mut self) -> Option<Uuid>;
    /// Whether the node continues without a majority.
    fn ignores_quorum(&self) -> bool;
    /// The number of votes that the node wants: `pc.weight`.
    fn wanted_weight(&self) -> u8;
    /// The lineage to save with the tables' state.
    fn set_lineage_of_tables(&mut self, lineage: Lineage);
    /// Saves it now.
    fn save_lineage(&mut self);
    /// Counts for the status variables.
    fn count(&mut self, event: FlowEvent);

    /// The apply error that waits for a vote.
    fn apply_error(&self) -> Option<ApplyError>;
    /// Whether the failed statement is this node's own.
    fn is_own_statement(&self) -> bool;
    /// The result of the vote on a seqno.
    fn vote_result(&self, seqno: i64) -> Option<VoteResult>;
    /// Adds vote results from the log.
    fn add_vote_results(&mut self, results: &[(i64, VoteResult)]);
    /// No vote is possible now.
    fn abandon_vote(&mut self);
    /// Leaves if the tables hold what the vote skips.
    fn check_vote_results(&mut self);
    /// The tables match all vote results up to this seqno.
    fn resolved_upto(&self) -> i64;

    /// The preferred donors.
    fn preferred_donor(&self) -> String;
    /// The address of the joiner that this node sends an SST to.
    fn donating_to(&self) -> Option<String>;
    /// Sends an SST when everything ordered until now is applied.
    fn start_donation(&mut self, request: Vec<u8>, instance_id: Uuid, address: String);
    /// The state of the SST to that instance of a joiner.
    fn donation_status(&self, instance_id: Uuid) -> DonationStatus;
}

/// The server's threads that command the replica and wait for its answers.
pub(in crate::node) trait Waiters {
    /// The commands since the last call.
    fn take_commands(&mut self) -> Vec<Command>;
    /// A command comes again with the next round.
    fn defer_command(&mut self, command: Command);
    /// The node's state in its cluster has changed.
    fn set_status(&mut self, status: ClusterStatus);
    /// Raft's state, for status variables.
    fn set_raft_status(&mut self, status: RaftStatus);
    /// The least last-seen seqno of the proposals that threads wait for. To be read with [`LocalNode::with_order`], since a
    /// thread registers its proposal under the order's lock. None: no thread waits.
    fn oldest_seen(&self) -> Option<i64>;
    /// A proposal is refused. A thread may not wait for it.
    fn refuse_proposal(&mut self, request_id: u64);
    /// Whether a waiting transaction blocks the applying, and yields once it is ordered.
    fn has_victim(&self) -> bool;
    /// Answers a read; None: ask again.
    fn answer_read_index(&mut self, request_id: u64, seqno: Option<i64>);
    /// The asked leader may not reply any more: the threads ask again.
    fn refuse_read_requests(&mut self);
    /// The SST has ended.
    fn set_sst_result(&mut self, result: SstResult);
}

/// What an ordered entry was.
#[derive(Debug)]
pub(in crate::node) struct OrderedEntry {
    /// Its term.
    pub term: Term,
    /// Source and request id of a write set.
    pub request: Option<(Uuid, u64)>,
    /// The entry is a view that no longer contains this node.
    pub is_excluded: bool,
}

/// What clients' threads have appended.
#[derive(Clone, Copy, Debug)]
pub(in crate::node) struct SingleNodeEnd {
    /// The last entry.
    pub last: Index,
    /// The last seqno.
    pub seqno: i64,
    /// The protocol version of the last entry.
    pub protocol: ProtocolVersion,
}

/// What flow control counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::node) enum FlowEvent {
    /// This node reports to be behind.
    Sent,
    /// A pause begins.
    Paused,
    /// A pause has lasted that long.
    Lasted(Duration),
    /// A pause ends.
    Resumed,
}
