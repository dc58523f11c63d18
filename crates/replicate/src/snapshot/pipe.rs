//! Statements on their way from the thread that reads the source to the load: a bounded pipe. It ends where the writer says
//! so; a writer that goes away before that is an error for the reader, not an end.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Pieces that wait. Each is a statement.
const PIECES_LIMIT: usize = 2;

/// What goes through.
#[derive(Debug)]
enum Piece {
    Bytes(Vec<u8>),
    End,
}

/// The end that writes.
#[derive(Debug)]
pub(super) struct PipeWriter(SyncSender<Piece>);

/// The end that reads.
#[derive(Debug)]
pub(super) struct PipeReader {
    pieces: Receiver<Piece>,
    piece: Vec<u8>,
    at: usize,
    has_ended: bool,
}

/// Nobody reads any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed;

/// A pipe.
pub(super) fn pipe() -> (PipeWriter, PipeReader) {
    let (sender, pieces) = sync_channel(PIECES_LIMIT);
    (PipeWriter(sender), PipeReader { pieces, piece: Vec::new(), at: 0, has_ended: false })
}

impl PipeWriter {
    /// Waits while the pipe is full.
    pub(super) fn write(&self, bytes: Vec<u8>) -> Result<(), Closed> {
        self.0.send(Piece::Bytes(bytes)).map_err(|_| Closed)
    }

    /// Everything is written.
    pub(super) fn finish(self) -> Result<(), Closed> {
        self.0.send(Piece::End).map_err(|_| Closed)
    }
}

impl Read for PipeReader {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        while self.at == self.piece.len() && !self.has_ended {
            match self.pieces.recv() {
                Ok(Piece::Bytes(bytes)) => (self.piece, self.at) = (bytes, 0),
                Ok(Piece::End) => self.has_ended = true,
                Err(_) => return Err(io::Error::other("the source is not read to its end")),
            }
        }
        let rest = &self.piece[self.at..];
        let length = rest.len().min(target.len());
        target[..length].copy_from_slice(&rest[..length]);
        self.at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_said() {
        let (writer, mut reader) = pipe();
        writer.write(b"ab".to_vec()).unwrap();
        writer.write(Vec::new()).unwrap();
        let sender = std::thread::spawn(move || writer.write(b"c".to_vec()).and_then(|()| writer.finish()));
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "abc");
        assert_eq!(sender.join().unwrap(), Ok(()));
    }

    #[test]
    fn a_writer_that_goes_away_is_no_end() {
        let (writer, mut reader) = pipe();
        writer.write(b"ab".to_vec()).unwrap();
        drop(writer);
        assert!(reader.read_to_end(&mut Vec::new()).is_err());
        let (writer, reader) = pipe();
        drop(reader);
        assert_eq!(writer.write(b"ab".to_vec()), Err(Closed));
    }
}
