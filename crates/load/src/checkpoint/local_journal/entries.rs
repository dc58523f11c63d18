//! What the file says, in memory: what is to go to the server when the file is renewed. Pure.
//!
//! Statements that follow each other and have ended plainly become one checkpoint, as rows of a chunk do: so what goes to
//! the server is little.

use std::collections::BTreeMap;

use crate::checkpoint::{Checkpoint, Digest, RecoveryHint, State};

/// The checkpoints of one file.
#[derive(Debug, Default)]
pub(super) struct Entries(BTreeMap<u64, Entry>);

#[derive(Debug)]
struct Entry {
    checkpoint: Checkpoint,
    /// Of the texts so far, where the next statement can join: the checkpoint has the hash of the first of them.
    digest: Option<Digest>,
}

impl Entries {
    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A statement begins.
    pub(super) fn begin(&mut self, checkpoint: &Checkpoint) {
        self.0.insert(checkpoint.span.first, Entry { checkpoint: checkpoint.clone(), digest: None });
    }

    /// Whether it has begun here, and is yet to end.
    pub(super) fn has_begun(&self, first: u64) -> bool {
        self.0.get(&first).is_some_and(|entry| entry.checkpoint.state == State::Intent)
    }

    /// Whether all that have begun here have ended.
    pub(super) fn have_ended(&self) -> bool {
        self.0.values().all(|entry| entry.checkpoint.state != State::Intent)
    }

    /// It has ended. `text`: of a single statement, which others may join.
    pub(super) fn end(&mut self, checkpoint: &Checkpoint, text: Option<&[u8]>) {
        let first = checkpoint.span.first;
        let is_plain = checkpoint.state == State::Applied && checkpoint.recovery_hint == RecoveryHint::None;
        let before = self.0.range_mut(..first).next_back();
        if let (true, Some(text), Some((_, Entry { checkpoint: run, digest: Some(digest) }))) = (is_plain, text, before)
            && run.span.last + 1 == first
            && run.table == checkpoint.table
            && run.span.file == checkpoint.span.file
        {
            digest.add(text);
            run.span.last = checkpoint.span.last;
            run.span.end_byte = checkpoint.span.end_byte;
            run.rows += checkpoint.rows;
            self.0.remove(&first);
            return;
        }
        let digest = text.filter(|_| is_plain).map(Digest::of);
        self.0.insert(first, Entry { checkpoint: checkpoint.clone(), digest });
    }

    /// Replaces what is known of a statement; gives what it was.
    pub(super) fn replace(&mut self, checkpoint: &Checkpoint) -> Option<Checkpoint> {
        let entry = self.0.get_mut(&checkpoint.span.first)?;
        Some(std::mem::replace(&mut entry.checkpoint, checkpoint.clone()))
    }

    /// Nothing of it is there.
    pub(super) fn retract(&mut self, first: u64) {
        self.0.remove(&first);
    }

    /// In the order of the stream.
    pub(super) fn checkpoints(&self) -> impl Iterator<Item = Checkpoint> {
        self.0.values().map(|Entry { checkpoint, digest }| {
            let mut checkpoint = checkpoint.clone();
            checkpoint.span.digest = digest.as_ref().map_or(checkpoint.span.digest, Digest::value);
            checkpoint
        })
    }
}
