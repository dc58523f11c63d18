//! What the provider asks of the server that loaded it: the callbacks, in safe types.
//!
//! No lock of ours is held over any of these calls: each may block, and may call back into the provider.

use crate::identity::{Gtid, Uuid};

/// How much a message of the error log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// An operation failed.
    Error,
    /// Unexpected, but nothing failed. The servers' test suites fail on new ones, so they are few.
    Warning,
    /// What happens.
    Note,
}

/// What a receiving thread brings along, for the callbacks made on it. A number to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver(pub usize);

/// The server's name for a transaction, with the address of ours (0: none).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// The server's number.
    pub id: u64,
    /// Ours.
    pub address: usize,
}

/// Flags of a write set, as the wsrep API numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags(pub u32);

impl Flags {
    /// The last, or only, part of its transaction.
    pub const TRX_END: Self = Self(1);
    /// Rolls back what came before.
    pub const ROLLBACK: Self = Self(1 << 1);
    /// Runs alone.
    pub const ISOLATION: Self = Self(1 << 2);
    /// Must not be applied beside others.
    pub const PA_UNSAFE: Self = Self(1 << 3);
    /// The first, or only, part of its transaction.
    pub const TRX_START: Self = Self(1 << 6);
    /// Depends on all that its origin had seen.
    pub const IMPLICIT_DEPS: Self = Self(1 << 9);

    /// Whether all of those are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Where a write set stands and comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Its place.
    pub gtid: Gtid,
    /// The node (its life) that it comes from.
    pub source: Uuid,
    /// The transaction's number there.
    pub trx: u64,
    /// The connection's number there.
    pub conn: u64,
    /// The last place that it may depend on.
    pub depends_on: i64,
}

/// One member of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// One life of its process.
    pub id: Uuid,
    /// Its name.
    pub name: String,
    /// Where clients find it.
    pub incoming: String,
}

/// What a group of nodes is to its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewStatus {
    /// It may write.
    Primary,
    /// It is cut off from a majority.
    NonPrimary,
    /// Left.
    Disconnected,
}

/// Who is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// The history and the place of the view in it.
    pub state: Gtid,
    /// How many views there were.
    pub number: i64,
    /// What it may do.
    pub status: ViewStatus,
    /// Ourselves in `members`, or -1.
    pub own_index: i32,
    /// In an order that is the same everywhere.
    pub members: Vec<Member>,
}

/// The server said no to a callback. It has told why in its own log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallbackError;

/// The server.
pub trait Server: Send + Sync {
    /// A line for its error log.
    fn log(&self, level: Level, text: &str);
    /// The group is there, at that place.
    fn connected(&self, view: &View) -> Result<(), CallbackError>;
    /// A view, in its place of the order.
    fn view(&self, receiver: Receiver, view: &View) -> Result<(), CallbackError>;
    /// Apply a write set and commit it (or what its flags say). True: this thread is not needed any more.
    fn apply(
        &self,
        receiver: Receiver,
        handle: Handle,
        flags: Flags,
        data: &[u8],
        meta: &Meta,
    ) -> Result<bool, CallbackError>;
    /// What a donor must be told to send this server its state. The server prepares to take it.
    fn sst_request(&self) -> Result<Vec<u8>, CallbackError>;
    /// Send the server's state, which is at that place, to whoever made the request. Returns when that has begun.
    fn sst_donate(&self, receiver: Receiver, request: &[u8], state: Gtid) -> Result<(), CallbackError>;
    /// Ends the server's process at once, as a fault does, so that whoever watches over it starts it anew.
    fn end_process(&self);
    /// All there is has been applied.
    fn synced(&self) -> Result<(), CallbackError>;
    /// No place will come for which a server that is starting waits: it ends. One that has started goes on.
    fn end_start(&self);
}
