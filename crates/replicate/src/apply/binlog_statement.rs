//! Row events as a BINLOG statement: the form in which a server takes them from a client.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::binlog::Event;

const HEAD: &[u8] = b"BINLOG '";
const TAIL: &[u8] = b"'";
/// User variables of which BINLOG takes its text in two parts. It frees them.
const FRAGMENTS: [&str; 2] = ["@hortator_fragment_0", "@hortator_fragment_1"];
/// Base64 writes three bytes as four.
const IN_BYTES: usize = 3;
const OUT_BYTES: usize = 4;

/// A BINLOG statement that grows. Its events are encoded as one text, without gaps.
#[derive(Debug, Default)]
pub struct BinlogStatement {
    events: Vec<u8>,
}

impl BinlogStatement {
    /// An empty one with room for these events.
    pub fn for_events<'e>(events: impl Iterator<Item = &'e Event>) -> BinlogStatement {
        BinlogStatement { events: Vec::with_capacity(events.map(|event| event.bytes.len()).sum()) }
    }

    /// Adds an event as it stands, or without its compression.
    pub fn push(&mut self, bytes: &[u8]) {
        self.events.extend_from_slice(bytes);
    }

    /// Whether it has no event.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// The length of the statement's text with `more` bytes of events, in bytes.
    #[must_use]
    pub fn text_bytes_with(&self, more: usize) -> usize {
        (self.events.len() + more).div_ceil(IN_BYTES) * OUT_BYTES + HEAD.len() + TAIL.len()
    }

    /// The statements that send it in two parts, where its text is larger than a packet of the server; it is empty again.
    pub fn take_fragments(&mut self) -> [Vec<u8>; 3] {
        let text = STANDARD.encode(&self.events);
        self.events.clear();
        let (first, second) = text.split_at(text.len() / 2);
        let [first, second] =
            [(FRAGMENTS[0], first), (FRAGMENTS[1], second)].map(|(name, part)| format!("SET {name} = '{part}'"));
        [first.into_bytes(), second.into_bytes(), format!("BINLOG {}", FRAGMENTS.join(", ")).into_bytes()]
    }

    /// The statement's text; it is empty again.
    pub fn take_text(&mut self) -> Vec<u8> {
        // Encoded where it is to stand: it can be a megabyte.
        let mut text = vec![0; self.text_bytes_with(0)];
        text[..HEAD.len()].copy_from_slice(HEAD);
        let written = STANDARD.encode_slice(&self.events, &mut text[HEAD.len()..]);
        let end = HEAD.len() + written.expect("the text has room for the events in base64");
        text.truncate(end);
        text.extend_from_slice(TAIL);
        self.events.clear();
        text
    }
}
