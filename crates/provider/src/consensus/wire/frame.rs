//! The frames.

use crate::consensus::NodeId;
use crate::consensus::lineage::Lineage;
use crate::consensus::raft::{LogId, Membership, Message, Term};
use crate::identity::Uuid;
use crate::log::Index;
use crate::protocol::{ProtocolRange, ProtocolVersion};
use crate::vote_result::ApplyError;

/// A node's identity, the first frame of either side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The protocol versions that it speaks.
    pub versions: ProtocolRange,
    /// The version in force in its cluster, as far as it knows. None: it belongs to no cluster yet.
    pub in_force: Option<ProtocolVersion>,
    /// The history UUID of its log and tables; undefined: none yet.
    pub history_uuid: Uuid,
    /// The generations of its cluster; unknown: it belongs to none yet.
    pub lineage: Lineage,
    /// The node's id.
    pub node: NodeId,
    /// A random id of this connection of the node to its cluster; another one after a restart. Not the member ID of
    /// views.
    pub instance_id: Uuid,
    /// `wsrep_cluster_name`.
    pub cluster_name: String,
    /// `wsrep_node_name`.
    pub name: String,
    /// The address for clients.
    pub incoming: String,
    /// The address for other nodes, host:port.
    pub address: String,
    /// Further fields, as they came: [`Hello::OF_WITNESS`], or those of later releases.
    pub extension: Vec<u8>,
}

impl Hello {
    /// The extension in a witness's hello.
    pub const OF_WITNESS: [u8; 1] = [1];

    /// Whether the node is a witness: a voter without tables.
    pub fn is_witness(&self) -> bool {
        self.extension.starts_with(&Self::OF_WITNESS)
    }
}

/// A random number that is used once.
pub type Nonce = [u8; 32];

/// Frames about the connection itself. The layer above never sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The sender's identity. The first frame of either side.
    Hello(Hello),
    /// The sender closes the connection, with a reason. The same format in every version.
    Rejected {
        /// The reason, for the error log.
        text: String,
    },
    /// Sent on an idle link.
    Keepalive,
    /// The sender has changed its history UUID or lineage.
    Lineage {
        /// The history UUID.
        history_uuid: Uuid,
        /// The generations.
        lineage: Lineage,
    },
    /// Instead of a hello: the nodes have another connection, and this one is closed.
    Duplicate {
        /// The sender's.
        instance_id: Uuid,
    },
    /// Before the hello: the receiver must prove that it knows the secret.
    Challenge {
        /// To be part of the proof.
        nonce: Nonce,
    },
    /// The sender's proof that it knows the secret.
    Proof {
        /// The code.
        mac: [u8; 32],
    },
}

/// Where a joiner's log begins, and in which cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotMeta {
    /// The sender's term as leader.
    pub term: Term,
    /// The entry right before the first one of the joiner's log.
    pub log_id: LogId,
    /// The voters at that entry.
    pub membership: Membership,
    /// Their addresses.
    pub addresses: Vec<(NodeId, String)>,
    /// The joiner needs all entries up to here before it knows all verdicts.
    pub upto: Index,
    /// The generations of the cluster.
    pub lineage: Lineage,
    /// The protocol version in force.
    pub protocol: ProtocolVersion,
}

/// A node's status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// The protocol versions that it speaks.
    pub versions: ProtocolRange,
    /// The member ID of the node. Undefined: it is a witness, which is in no view.
    pub member_id: Uuid,
    /// The seqno up to which its tables are applied.
    pub applied: i64,
    /// No write set that it proposes from now on, or has proposed and not ordered yet, has seen less than this.
    pub oldest_seen: i64,
    /// Whether its tables are current: it is in the view, or waits for one that includes it.
    pub has_tables: bool,
    /// Whether it waits for a view that includes it.
    pub wants_view: bool,
    /// Whether its receive queue is over the flow control limit.
    pub is_behind: bool,
    /// The address of the joiner that it sends an SST to.
    pub donating_to: Option<String>,
    /// The apply error that waits for a vote.
    pub apply_error: Option<ApplyError>,
    /// The number of votes that it wants (`pc.weight`).
    pub weight: u8,
}

/// State of an SST from a donor to a joiner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DonationStatus {
    /// No SST to this joiner: not started yet, or the donor has restarted.
    NotStarted,
    /// The SST is under way.
    InProgress,
    /// The donor has sent everything.
    Sent,
    /// The donor could not send.
    Failed {
        /// The server's error code.
        code: i64,
    },
}

/// A message from one node to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A Raft message.
    Raft {
        /// The message.
        message: Message,
        /// The payloads of an append's entries, one for each, as in the log. Empty with other messages.
        payloads: Vec<Vec<u8>>,
    },
    /// A follower's proposal, for the leader of that term only.
    Forward {
        /// The leader's term.
        term: Term,
        /// The session of the proposing node.
        session: Uuid,
        /// The number in that session and term.
        number: u64,
        /// The entry.
        payload: Vec<u8>,
    },
    /// A node's status, for the leader.
    MemberStatus(MemberStatus),
    /// A joiner asks whether its server may prepare an SST.
    PrepareSstRequest,
    /// It may: no donor sends to its address any more.
    PrepareSst,
    /// A joiner requests an SST; the leader chooses a donor.
    Join {
        /// The joiner server's SST request for the donor. Empty: a witness, which needs a log only.
        request: Vec<u8>,
        /// `wsrep_sst_donor`; empty: any.
        donor: String,
    },
    /// The leader has chosen the receiver as donor.
    StartDonation {
        /// The joiner server's SST request.
        request: Vec<u8>,
        /// The joiner's instance id.
        instance_id: Uuid,
        /// The joiner's address.
        address: String,
    },
    /// Tells a joiner its donor.
    DonorAssigned {
        /// The donor.
        node: NodeId,
    },
    /// A joiner asks its donor for the state of the SST.
    DonationStatusRequest,
    /// Reply to that.
    DonationStatus {
        /// The state of the SST.
        status: DonationStatus,
        /// The donor's tables match all inconsistency votes up to this seqno.
        resolved_upto: i64,
    },
    /// Where a joiner's log begins.
    InstallSnapshot(SnapshotMeta),
    /// The sender wants to leave the cluster.
    Leave,
    /// The sender of [`Frame::Leave`] may go.
    LeaveReply,
    /// Asks for the read index (Raft thesis, 6.4).
    ReadIndex {
        /// Repeated in the reply.
        request_id: u64,
    },
    /// Reply to that.
    ReadIndexReady {
        /// Of the request.
        request_id: u64,
        /// The reader must have applied up to here. 0: the receiver is not the leader.
        index: Index,
    },
    /// Tells a node who the leader is.
    LeaderHint {
        /// The leader.
        node: NodeId,
        /// Its address.
        address: String,
    },
    /// The leader's log no longer holds the entry that the receiver needs next.
    SnapshotRequired,
    /// A request is refused.
    Refused {
        /// The reason, for the error log.
        text: String,
    },
}
