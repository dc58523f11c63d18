//! What can be said.

use crate::decision::Fault;
use crate::group::NodeId;
use crate::group::descent::Descent;
use crate::group::raft::{Membership, Message, Place, Term};
use crate::identity::Uuid;
use crate::log::Index;

/// Who a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The history that its log and its tables belong to; undefined: none yet.
    pub history: Uuid,
    /// Of which generation its group is; unknown: it belongs to none yet.
    pub descent: Descent,
    /// The node, from the beginning of its log on.
    pub node: NodeId,
    /// This process of it; also its member id in views.
    pub life: Uuid,
    /// `wsrep_cluster_name`.
    pub group: String,
    /// `wsrep_node_name`.
    pub name: String,
    /// Where clients find it.
    pub incoming: String,
    /// Where other nodes find it, host:port.
    pub address: String,
}

/// What links say to each other about the connection itself. The layer above never sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Who speaks here. The first frame of either side.
    Hello(Hello),
    /// The connection ends, and why. Its form is the same in every version.
    Rejected {
        /// For the server's log.
        text: String,
    },
    /// Nothing to say, and still there.
    Alive,
    /// The speaker belongs to these from now on.
    Belongs {
        /// A history.
        history: Uuid,
        /// A group's generation, and those before it.
        descent: Descent,
    },
    /// Instead of a hello: there is another connection between these two, this one is not needed.
    Already {
        /// Of the speaker.
        life: Uuid,
    },
}

/// Where a joiner's log begins, and in which group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begin {
    /// Of the leader that says so.
    pub term: Term,
    /// The entry right before the first of its log.
    pub place: Place,
    /// Who decides there.
    pub membership: Membership,
    /// Where these nodes are.
    pub addresses: Vec<(NodeId, String)>,
    /// It must have everything up to here before it can tell what holds.
    pub upto: Index,
    /// Of which generation the group is.
    pub descent: Descent,
}

/// How it stands with a state that goes from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Giving {
    /// The node has given nothing to who asks: it has not begun, or it was started anew since.
    Nothing,
    /// It is at work.
    AtWork,
    /// All was sent.
    Sent,
    /// It could not.
    Failed {
        /// What its server said of it.
        code: i64,
    },
}

/// What nodes say to each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// For agreement.
    Raft {
        /// What is said.
        message: Message,
        /// The bytes of an append's entries, as they stand in the log, one for each. Empty with other messages.
        payloads: Vec<Vec<u8>>,
    },
    /// A follower's proposal, for the leader of that term and no other.
    Forward {
        /// Of the leader that it is meant for.
        term: Term,
        /// The life of the node that proposes.
        origin: Uuid,
        /// Its own number for it.
        number: u64,
        /// What it proposes.
        payload: Vec<u8>,
    },
    /// How a node stands, for the leader.
    Present {
        /// This process of it.
        life: Uuid,
        /// Up to here its tables are.
        applied: i64,
        /// Whether it waits for a view with it inside.
        wants_view: bool,
        /// Whether it has more to apply than it wants.
        is_behind: bool,
        /// Where the node is that its state goes to.
        gives_to: Option<String>,
        /// What it could not apply, while nothing is decided on that.
        fault: Option<Fault>,
    },
    /// A node without the data asks whether its server may prepare to be given them.
    WantsState,
    /// It may: nobody sends anything to its address any more.
    Prepare,
    /// A node without the data asks for them; the leader chooses a donor.
    Join {
        /// What its server wants to be told to a donor.
        request: Vec<u8>,
        /// `wsrep_sst_donor`; empty: any.
        donor: String,
    },
    /// The leader has chosen the receiver as donor.
    Give {
        /// What the joiner's server said.
        request: Vec<u8>,
        /// The process of the joiner that asked.
        life: Uuid,
        /// Where the joiner is.
        address: String,
    },
    /// A joiner is told who gives it the state.
    DonorIs {
        /// That node.
        node: NodeId,
    },
    /// How does it stand with the state that goes from you to me?
    AskDonor,
    /// The answer to that.
    Giving {
        /// How it stands.
        standing: Giving,
        /// What was decided on places up to there is how its tables are.
        heeded_to: i64,
    },
    /// Where a joiner's log begins.
    BeginBehind(Begin),
    /// Who sends this goes in order.
    Leave,
    /// It may go.
    Left,
    /// Up to where must I have applied before I read?
    Confirm {
        /// Echoed.
        ticket: u64,
    },
    /// The answer to that.
    Confirmed {
        /// Of the question.
        ticket: u64,
        /// Up to here. 0: the node does not lead, and cannot tell.
        index: Index,
    },
    /// To one who asked the wrong node.
    LeaderIs {
        /// The right one.
        node: NodeId,
        /// Where it is.
        address: String,
    },
    /// What the other node needs next is not in the leader's log any more.
    TooFarBehind,
    /// What was asked for is not done.
    Refused {
        /// Why, for the server's log.
        text: String,
    },
}
