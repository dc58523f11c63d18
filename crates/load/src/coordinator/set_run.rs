//! SETs in a row go to the server together: dumps are full of them, and each by itself is a wait for an answer.
//!
//! Only SETs that concern nothing but the session are gathered, and only up to one on which the reading of the text behind it
//! depends. The server stops at the first that fails, as the client would.

use super::Coordinator;
use super::analyzed_statement::AnalyzedStatement;
use super::main_session::MainSession;
use crate::analysis::{StatementKind, Trait};
use crate::apply::Stopped;

/// SETs of one packet.
const LENGTH_LIMIT: usize = 64;
/// Text of one SET that is gathered.
const TEXT_BYTES: usize = 1 << 10;
/// What may be written into a SET, and what separates it from the next.
const BESIDE_BYTES: usize = 128;
/// Variables on which it depends how text is read, or what the server reports; the latter by the beginning of their names.
const DECISIVE: [&str; 3] = ["sql_mode", "character_set_client", "session_track_"];

impl Coordinator<'_> {
    /// Takes a SET to those before it, if it is of their kind.
    pub(super) fn joins_sets(&self, statement: &AnalyzedStatement) -> bool {
        !self.sets.is_empty() && self.can_gather(statement)
    }

    /// Whether a SET can be sent together with others.
    pub(super) fn can_gather(&self, statement: &AnalyzedStatement) -> bool {
        let info = &statement.info;
        let assignments = &info.assignments;
        matches!(info.kind, StatementKind::Set)
            && self.resume.is_none()
            && !info.reads_diagnostics()
            && !info.is(Trait::SeveralStatements)
            && !assignments.beyond_session
            && !assignments.reads_beyond_session
            && !assignments.is_one_shot
            && !assignments.next_number
            && !assignments.autocommit
            && assignments.session_local.is_empty()
            && statement.text.len() <= TEXT_BYTES
            && is_closed(&statement.text)
    }

    /// Keeps a SET until the next statement that is none, or runs it with all before it.
    pub(super) fn gather_set(&mut self, statement: AnalyzedStatement) -> Result<(), Stopped> {
        let is_decisive = |name: &String| DECISIVE.iter().any(|decisive| name.starts_with(decisive));
        let is_last = statement.info.assignments.propagated.iter().any(is_decisive);
        self.sets.push(statement);
        let bytes: usize = self.sets.iter().map(|set| set.text.len() + BESIDE_BYTES).sum();
        let is_full =
            self.sets.len() >= LENGTH_LIMIT || bytes + TEXT_BYTES + BESIDE_BYTES > self.main.packet_limit_bytes();
        if is_last || is_full { self.run_sets() } else { Ok(()) }
    }

    /// Runs the SETs that are kept.
    pub(super) fn run_sets(&mut self) -> Result<(), Stopped> {
        let sets = std::mem::take(&mut self.sets);
        let Some(last) = sets.last() else { return Ok(()) };
        let location = last.location.clone();
        let mut rest = &sets[..];
        while !rest.is_empty() {
            let ran = self.main.run_sets(rest)?;
            rest = &rest[ran..];
        }
        self.look_after_main(&location)
    }
}

impl MainSession<'_> {
    /// Runs SETs in one packet, up to the first that fails; gives how many were tried.
    fn run_sets(&mut self, sets: &[AnalyzedStatement]) -> Result<usize, Stopped> {
        if let [only] = sets {
            return self.run(only).map(|_| 1);
        }
        let texts: Vec<_> = sets.iter().map(|set| set.with_scopes().unwrap_or_else(|| set.text.clone())).collect();
        let mut results = Vec::with_capacity(sets.len());
        let sent = self.query_together(&texts.join(&b"\n;\n"[..]), &mut results);
        let tried = results.len();
        for (index, (set, done)) in sets.iter().zip(results).enumerate() {
            // The server's reports of all of them are there by now.
            self.handle_ran(set, &done, index + 1 == tried)?;
        }
        match sent {
            Ok(()) => Ok(sets.len()),
            Err(error) => self.handle_result(&sets[tried.min(sets.len() - 1)], Err(error)).map(|_| tried + 1),
        }
    }
}

/// Whether nothing that comes behind a text could become a part of it.
fn is_closed(text: &[u8]) -> bool {
    let inside = text.strip_prefix(b"/*!").and_then(|text| text.strip_suffix(b"*/")).unwrap_or(text);
    memchr::memchr(b';', text).is_none()
        && memchr::memmem::find(inside, b"/*").is_none()
        && memchr::memmem::find(inside, b"*/").is_none()
}
