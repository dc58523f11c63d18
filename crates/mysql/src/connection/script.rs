//! A byte stream for tests of single layers: returns the given bytes in small portions, and keeps written bytes.

use std::io::{self, Read, Write};

/// Reads come from `incoming`, writes go to `outgoing`, both at most `portion` bytes at a time.
#[derive(Debug)]
pub(super) struct Script {
    incoming: Vec<u8>,
    read: usize,
    pub(super) outgoing: Vec<u8>,
    portion: usize,
}

impl Script {
    pub(super) fn new(incoming: &[u8], portion: usize) -> Script {
        Script { incoming: incoming.to_vec(), read: 0, outgoing: Vec::new(), portion }
    }
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = &self.incoming[self.read..];
        let length = rest.len().min(buffer.len()).min(self.portion);
        buffer[..length].copy_from_slice(&rest[..length]);
        self.read += length;
        Ok(length)
    }
}

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(self.portion);
        self.outgoing.extend_from_slice(&bytes[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Packets of one chunk each, numbered from `first` on.
pub(super) fn packets(first: u8, bodies: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sequence = first;
    for body in bodies {
        bytes.extend(&u32::try_from(body.len()).unwrap().to_le_bytes()[..3]);
        bytes.push(sequence);
        bytes.extend_from_slice(body);
        sequence = sequence.wrapping_add(1);
    }
    bytes
}
