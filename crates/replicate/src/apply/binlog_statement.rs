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

/// COM_STMT_EXECUTE behind its statement: no cursor, once, no NULL, types of two parameters (VAR_STRING) follow.
const COM_STMT_EXECUTE: u8 = 0x17;
const TWO_TEXTS: [u8; 11] = [0, 1, 0, 0, 0, 0, 1, 0xfd, 0, 0xfd, 0];
/// A length of eight bytes follows.
const LONG: u8 = 0xfe;

/// What is to be prepared for [`BinlogStatement::take_parameters`].
pub const PARAMETERS: &[u8] = b"SET @hortator_fragment_0 = ?, @hortator_fragment_1 = ?";
/// Applies what those parameters hold.
pub const OF_PARAMETERS: &[u8] = b"BINLOG @hortator_fragment_0, @hortator_fragment_1";

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

    /// The command that sends it as parameters of a prepared statement (`PARAMETERS`), for `OF_PARAMETERS`; it is empty again.
    /// A server reads a literal byte by byte, and only copies a parameter. The last four bytes are the second parameter: an empty
    /// one can count as NULL.
    pub fn take_parameters(&mut self, prepared_id: u32) -> Vec<u8> {
        let text_bytes = self.events.len().div_ceil(IN_BYTES) * OUT_BYTES;
        let first_bytes = text_bytes.saturating_sub(OUT_BYTES);
        let head_bytes = 1 + 4 + TWO_TEXTS.len() + 1 + 8;
        let mut command = Vec::with_capacity(head_bytes + text_bytes + 1);
        command.push(COM_STMT_EXECUTE);
        command.extend(prepared_id.to_le_bytes());
        command.extend(TWO_TEXTS);
        command.push(LONG);
        command.extend((first_bytes as u64).to_le_bytes());
        let text_at = command.len();
        command.resize(text_at + text_bytes, 0);
        let written = STANDARD.encode_slice(&self.events, &mut command[text_at..]);
        assert_eq!(written, Ok(text_bytes), "the command has room for the events in base64");
        command.insert(text_at + first_bytes, (text_bytes - first_bytes) as u8);
        self.events.clear();
        command
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_any_length() {
        for length in [3, 4, 5, 19, 300, 70_000] {
            let events: Vec<u8> = (0..length).map(|byte| u8::try_from(byte % 251).unwrap()).collect();
            let mut statement = BinlogStatement::default();
            statement.push(&events);
            let command = statement.take_parameters(0x0102_0304);
            assert_eq!(command[..16], [0x17, 4, 3, 2, 1, 0, 1, 0, 0, 0, 0, 1, 0xfd, 0, 0xfd, 0]);
            let first_bytes = u64::from_le_bytes(command[17..25].try_into().unwrap());
            let (first, second) = command[25..].split_at(usize::try_from(first_bytes).unwrap());
            assert_eq!((command[16], second[0]), (0xfe, 4), "{length}");
            assert_eq!(STANDARD.decode([first, &second[1..]].concat()).unwrap(), events, "{length}");
            assert!(statement.is_empty());
        }
    }
}
