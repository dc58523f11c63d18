//! Messages between nodes, as bytes.
//!
//! A connection carries frames in both directions. The first one of the dialling side is a [`Signal::Hello`]; the reply
//! is one too, or a [`Signal::Rejected`] with the reason. All integers are little endian.
//!
//! # Frame
//!
//! | byte | bytes | content |
//! |---|---|---|
//! | 0 | 2 | `HG` |
//! | 2 | 1 | protocol version |
//! | 3 | 1 | kind |
//! | 4 | 4 | length of the body, at most [`BODY_LIMIT_BYTES`]; during the handshake [`HANDSHAKE_LIMIT_BYTES`] |
//! | 8 | 4 | CRC-32 (IEEE) of the body |
//! | 12 | 4 | CRC-32 (IEEE) of bytes 0 to 11 |
//! | 16 | | body |
//!
//! These 16 bytes are the same in every version, and so is the body of kind 2: nodes of different versions can tell
//! each other why they do not link.
//!
//! Frames about the connection itself (kinds below 16) have the version [`HANDSHAKE_VERSION`], whatever the nodes speak:
//! only they tell which versions a node speaks. A later release may add fields to the end of a hello; the others keep them
//! as they came, for the proof. All other frames have a version that both nodes speak (the module `links`), and the
//! receiver decodes each by its own version.
//!
//! # Body
//!
//! The fields in order, nothing after the last. A text or a payload is its length in bytes (4) and the bytes, a list
//! its number of items (4) and the items, a flag one byte (0 or 1), a log id its term (8) and index (8), a membership
//! the ascending list of its voters (8 each), from version 9 on each as often as it has votes, a lineage the list of its
//! generations (16 each, newest first), an optional field a flag and the field if it is there.
//!
//! | kind | frame | fields |
//! |---|---|---|
//! | 1 | hello | lowest and newest protocol version 1 each, optional version in force 1, history UUID 16, lineage, node 8, instance id 16, cluster name, name, incoming, address: texts; of a witness 1 (1 byte); then fields of later releases |
//! | 2 | rejected | text |
//! | 3 | keepalive | |
//! | 4 | lineage | history UUID 16, lineage |
//! | 5 | duplicate | instance id 16 |
//! | 6 | challenge | nonce 32 |
//! | 7 | proof | code 32 |
//! | 16 | vote request | pre-vote flag, term 8, last log id |
//! | 17 | vote reply | pre-vote flag, term 8, granted flag, recovering flag, list of memberships |
//! | 18 | append | term 8, previous log id, leader commit 8, round 8, list of entries: term 8, optional membership, payload |
//! | 19 | append reply | term 8, round 8, accepted flag, upto 8, last 8 |
//! | 20 | timeout now | term 8 |
//! | 32 | forward | term 8, session 16, number 8, payload |
//! | 33 | member status | lowest and newest protocol version 1 each, member ID 16 (undefined: a witness), applied 8, oldest seen 8, has tables flag, wants view flag, behind flag, optional address of its joiner: text, optional apply error: seqno 8, error 8; from version 9 on: wanted votes 1 |
//! | 34 | join | request: payload (empty: a witness, which needs a log only), donor: text |
//! | 35 | install snapshot | term 8, log id, membership, list of node 8 and address text, upto 8, lineage; from version 8 on: version in force 1 |
//! | 36 | leave | |
//! | 37 | leave reply | |
//! | 38 | read index | request id 8 |
//! | 39 | read index ready | request id 8, index 8 |
//! | 40 | leader hint | node 8, address: text |
//! | 41 | refused | text |
//! | 42 | snapshot required | |
//! | 43 | prepare SST request | |
//! | 44 | prepare SST | |
//! | 45 | start donation | request: payload, instance id 16, address: text |
//! | 46 | donor assigned | node 8 |
//! | 47 | donation status request | |
//! | 48 | donation status | 0 not started, 1 in progress, 2 sent, 3 failed; the server's code 8, 0 unless it failed; resolved up to 8 |
//!
//! # Design
//!
//! - The head has its own checksum, so that no length is used that a node did not write: a flipped bit or foreign bytes
//!   are refused at once, and not after a wait for 2 GiB.
//! - A buffer grows with the input, never with an announced length.

mod body;
mod decode;
mod encode;
mod error;
mod frame;
mod frame_reader;

#[cfg(test)]
pub(super) mod tests;

pub use encode::{encode, encode_append, encode_signal};
pub use error::Error;
pub use frame::{DonationStatus, Frame, Hello, MemberStatus, Nonce, Signal, SnapshotMeta};
pub use frame_reader::{FrameReader, IncomingFrame};

use crate::log::PAYLOAD_LIMIT_BYTES;
use crate::protocol::ProtocolVersion;

/// The version of all frames about the connection itself. The body of a hello may get longer, nothing else changes.
pub const HANDSHAKE_VERSION: ProtocolVersion = ProtocolVersion::FIRST;
/// The largest body: one entry of the largest size, and its frame.
pub const BODY_LIMIT_BYTES: u64 = PAYLOAD_LIMIT_BYTES + (1 << 20);
/// The largest body during the handshake: limits the memory for unidentified peers.
pub const HANDSHAKE_LIMIT_BYTES: u64 = 16 << 10;
/// An append stops at this many bytes of payloads, unless its first entry is larger.
pub const BATCH_LIMIT_BYTES: usize = 1 << 20;

/// Length of the head.
const HEAD_BYTES: usize = 16;
/// The first bytes of a frame.
const MARK: [u8; 2] = *b"HG";

/// The kinds of frames.
mod kind {
    /// Smaller kinds are about the connection itself.
    pub const FIRST_MESSAGE: u8 = 16;
    pub const HELLO: u8 = 1;
    pub const REJECTED: u8 = 2;
    pub const ALIVE: u8 = 3;
    pub const BELONGS: u8 = 4;
    pub const ALREADY: u8 = 5;
    pub const CHALLENGE: u8 = 6;
    pub const PROOF: u8 = 7;
    pub const VOTE_REQUEST: u8 = 16;
    pub const VOTE_REPLY: u8 = 17;
    pub const APPEND: u8 = 18;
    pub const APPEND_REPLY: u8 = 19;
    pub const TAKE_OVER: u8 = 20;
    pub const FORWARD: u8 = 32;
    pub const PRESENT: u8 = 33;
    pub const JOIN: u8 = 34;
    pub const BEGIN_BEHIND: u8 = 35;
    pub const LEAVE: u8 = 36;
    pub const LEFT: u8 = 37;
    pub const CONFIRM: u8 = 38;
    pub const CONFIRMED: u8 = 39;
    pub const LEADER_IS: u8 = 40;
    pub const REFUSED: u8 = 41;
    pub const TOO_FAR_BEHIND: u8 = 42;
    pub const WANTS_STATE: u8 = 43;
    pub const PREPARE: u8 = 44;
    pub const GIVE: u8 = 45;
    pub const DONOR_IS: u8 = 46;
    pub const ASK_DONOR: u8 = 47;
    pub const GIVING: u8 = 48;
}
