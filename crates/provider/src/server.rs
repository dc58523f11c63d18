//! The server's callbacks, in safe types.
//!
//! No lock of the provider is held during a call: each may block, and may call the provider.

use crate::galera_lines::KnownMessage;
use crate::identity::{Gtid, Uuid};

/// The level of a message in the error log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// An operation failed.
    Error,
    /// Unexpected, but nothing failed. The servers' test suites fail on new warnings, so they are few.
    Warning,
    /// Information.
    Note,
}

/// The context of a receiving thread, for the callbacks on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver(pub usize);

/// The server's transaction id, with the address of the provider's transaction (0: none).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// The server's id.
    pub id: u64,
    /// The provider's address.
    pub address: usize,
}

/// Flags of a write set: `wsrep_flags_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    /// The last, or only, fragment of its transaction.
    pub const TRX_END: Self = Self(1);
    /// Rolls the transaction back.
    pub const ROLLBACK: Self = Self(1 << 1);
    /// Total order isolation.
    pub const ISOLATION: Self = Self(1 << 2);
    /// Must not be applied in parallel.
    pub const PA_UNSAFE: Self = Self(1 << 3);
    /// The first, or only, fragment of its transaction.
    pub const TRX_START: Self = Self(1 << 6);
    /// Depends on everything that its source had seen.
    pub const IMPLICIT_DEPS: Self = Self(1 << 9);

    /// Whether all flags of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of flags.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The position and the source of a write set: `wsrep_trx_meta_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Its GTID.
    pub gtid: Gtid,
    /// The member ID of its source.
    pub source: Uuid,
    /// The transaction id on the source.
    pub trx: u64,
    /// The connection id on the source.
    pub conn: u64,
    /// The last seqno that it depends on.
    pub depends_on: i64,
}

/// A member of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The member ID.
    pub id: Uuid,
    /// The node's name.
    pub name: String,
    /// Its address for clients.
    pub incoming: String,
}

/// The status of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewStatus {
    /// The members have a quorum.
    Primary,
    /// The members have no quorum.
    NonPrimary,
    /// The node has left.
    Disconnected,
}

/// A view of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The view's GTID.
    pub state: Gtid,
    /// Number of views so far.
    pub number: i64,
    /// The status.
    pub status: ViewStatus,
    /// This node's index in `members`, or -1.
    pub own_index: i32,
    /// The members, in the same order on all nodes.
    pub members: Vec<Member>,
}

/// A callback failed (`WSREP_CB_FAILURE`). The server has logged the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackError;

/// What changes before the server ends its connection to the cluster: it shuts down, or gets another
/// `wsrep_cluster_address`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StopMark {
    /// The server shuts down.
    pub is_stopping: bool,
    /// Where the value of `wsrep_cluster_address` is in memory: each SET moves it.
    pub cluster_address_at: usize,
}

/// The server's callbacks.
pub trait Server: Send + Sync {
    /// Writes a line to the error log, without the provider's name: a line that programs know from Galera.
    fn log_as_galera(&self, level: Level, text: &str);
    /// The same with the provider's name in front.
    fn log(&self, level: Level, text: &str) {
        self.log_as_galera(level, &format!("Hortator: {text}"));
    }
    /// Writes a line that starts with words that scripts look for.
    fn log_known(&self, level: Level, message: &KnownMessage, text: &str) {
        self.log_as_galera(level, &format!("{message}. Hortator: {text}"));
    }
    /// Logs an error, after the words that scripts look for if it has any.
    fn log_error(&self, message: Option<&KnownMessage>, text: &str) {
        match message {
            Some(message) => self.log_known(Level::Error, message, text),
            None => self.log(Level::Error, text),
        }
    }
    /// The node is connected to a cluster, which is at the view's GTID.
    fn connected(&self, view: &View) -> Result<(), CallbackError>;
    /// Delivers a view, in its turn.
    fn view(&self, receiver: Receiver, view: &View) -> Result<(), CallbackError>;
    /// Applies a write set and commits it, or does what its flags say. True: this thread is not needed any more.
    fn apply(
        &self,
        receiver: Receiver,
        handle: Handle,
        flags: Flags,
        data: &[u8],
        meta: &Meta,
    ) -> Result<bool, CallbackError>;
    /// Prepares the server for an SST. Returns the request for the donor.
    fn sst_request(&self) -> Result<Vec<u8>, CallbackError>;
    /// Starts an SST of the server's state at `state` to the node that made the request. Returns when it has started.
    fn sst_donate(&self, receiver: Receiver, request: &[u8], state: Gtid) -> Result<(), CallbackError>;
    /// Ends the process at once, like a crash, so that a service manager restarts it.
    fn end_process(&self);
    /// The node has applied everything: it is synced.
    fn synced(&self) -> Result<(), CallbackError>;
    /// Whether a node at the address may join (`mysql.wsrep_allowlist`). May take long.
    fn allows_address(&self, address: &str) -> bool;
    /// Whether the server writes what it commits to its binary log, if it has one.
    fn write_binary_log(&self, writes: bool);
    /// How many fragments of streaming transactions the server's table has of this member ID. None: it does not tell.
    fn fragments_of(&self, source: Uuid) -> Option<u64>;
    /// The server's mark of this moment.
    fn stop_mark(&self) -> StopMark;
    /// Ends a server that is starting and waits for a view that will not come. A running server continues.
    fn end_start(&self);
}
