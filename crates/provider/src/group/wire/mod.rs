//! What nodes say to each other, as bytes.
//!
//! A connection carries frames in both directions. The first one of the side that dialled is a [`Signal::Hello`], and so is
//! the answer, or it is a [`Signal::Rejected`] with the reason. All integers are little endian.
//!
//! # Frame
//!
//! | byte | bytes | what |
//! |---|---|---|
//! | 0 | 2 | `HG` |
//! | 2 | 1 | protocol version: 2 |
//! | 3 | 1 | kind |
//! | 4 | 4 | length of the body, at most [`BODY_LIMIT_BYTES`]; before the greeting [`GREETING_LIMIT_BYTES`] |
//! | 8 | 4 | CRC-32 (IEEE) of the body |
//! | 12 | 4 | CRC-32 (IEEE) of bytes 0 to 11 |
//! | 16 | | body |
//!
//! These 16 bytes stay as they are in every version, and so does the body of kind 2: nodes of different versions can tell
//! each other why they part.
//!
//! # Body
//!
//! Fields one behind the other, nothing behind the last. A text or a payload is its length in bytes (4) and the bytes, a
//! list its number of items (4) and the items, a flag one byte (0 or 1), a place its term (8) and index (8), a membership
//! the ascending list of its voters (8 each), a descent the list of its generations (16 each, the newest first), something that may
//! be missing a flag and what is there.
//!
//! | kind | frame | fields |
//! |---|---|---|
//! | 1 | hello | history 16, descent, node 8, life 16, group, name, incoming, address: texts |
//! | 2 | rejected | text |
//! | 3 | alive | |
//! | 4 | belongs | history 16, descent |
//! | 5 | already | life 16 |
//! | 16 | vote request | trial flag, term 8, last place |
//! | 17 | vote reply | trial flag, term 8, granted flag |
//! | 18 | append | term 8, place before, committed 8, round 8, list of entries: term 8, membership or none, payload |
//! | 19 | append reply | term 8, round 8, taken flag, upto 8 |
//! | 20 | take over | term 8 |
//! | 32 | forward | term 8, origin 16, number 8, payload |
//! | 33 | present | life 16, applied 8, wants view flag, behind flag, address that it gives its state to: text or none |
//! | 34 | join | request: payload, donor: text |
//! | 35 | begin behind | term 8, place, membership, list of node 8 and address text, upto 8, descent |
//! | 36 | leave | node 8 |
//! | 37 | left | |
//! | 38 | confirm | ticket 8 |
//! | 39 | confirmed | ticket 8, index 8 |
//! | 40 | leader is | node 8, address: text |
//! | 41 | refused | text |
//! | 42 | too far behind | |
//! | 43 | wants state | |
//! | 44 | prepare | |
//! | 45 | give | request: payload, life 16, address: text |
//! | 46 | donor is | node 8 |
//! | 47 | ask donor | |
//! | 48 | giving | 0 nothing, 1 at work, 2 sent, 3 failed; the server's code 8, 0 unless it failed |
//!
//! # Why it is so
//!
//! - The head has a checksum of its own, so that no length is believed that was not written by a node: a flipped bit or a
//!   stranger's bytes are refused at once, and not after 2 GiB of waiting.
//! - A buffer grows with what has arrived, never with what a length announces.

mod arriving;
mod body;
mod decode;
mod encode;
mod error;
mod frame;

#[cfg(test)]
pub(super) mod tests;

pub use arriving::{Arrived, Arriving};
pub use encode::{encode, encode_append, encode_signal};
pub use error::Error;
pub use frame::{Begin, Frame, Giving, Hello, Signal};

use crate::log::PAYLOAD_LIMIT_BYTES;

/// The version spoken here.
pub const PROTOCOL_VERSION: u8 = 3;
/// The longest body: one entry at its limit, and what stands around it.
pub const BODY_LIMIT_BYTES: u64 = PAYLOAD_LIMIT_BYTES + (1 << 20);
/// The longest body before both sides have said hello: a stranger gets no more memory.
pub const GREETING_LIMIT_BYTES: u64 = 16 << 10;
/// Who fills an append stops at this many bytes of payloads, unless the first entry alone is larger.
pub const BATCH_LIMIT_BYTES: usize = 1 << 20;

/// What stands before a body.
const HEAD_BYTES: usize = 16;
/// What a frame begins with.
const MARK: [u8; 2] = *b"HG";

/// The kinds of frames.
mod kind {
    pub const HELLO: u8 = 1;
    pub const REJECTED: u8 = 2;
    pub const ALIVE: u8 = 3;
    pub const BELONGS: u8 = 4;
    pub const ALREADY: u8 = 5;
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
