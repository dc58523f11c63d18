//! A statement of the stream with what is known of it.

use crate::analysis::{StatementInfo, StatementKind};
use crate::apply::ChunkStatement;
use crate::lexer::Location;

/// A statement of the stream with what is known of it.
#[derive(Clone, Debug)]
pub(super) struct AnalyzedStatement {
    /// Its bytes, as they are sent.
    pub(super) text: Vec<u8>,
    /// Where it stands.
    pub(super) location: Location,
    /// Its rows are shown one value a line.
    pub(super) is_vertical: bool,
    /// What it is and does; in a box, since statements go from hand to hand.
    pub(super) info: Box<StatementInfo>,
}

impl AnalyzedStatement {
    /// An INSERT of literals as a worker sends it; `None` for any other statement.
    pub(super) fn into_rows(self) -> Option<ChunkStatement> {
        let StatementKind::Rows(rows) = &self.info.kind else { return None };
        Some(ChunkStatement { tuples: Some(rows.offset), text: self.text, location: self.location })
    }

    /// A SET with the scope of the session written out where a target has none, which means the same: MariaDB does not report
    /// what `SET @@name = …` assigns.
    pub(super) fn with_scopes(&self) -> Option<Vec<u8>> {
        let offsets = &self.info.assignments.unscoped;
        if offsets.is_empty() || !matches!(self.info.kind, StatementKind::Set) {
            return None;
        }
        let mut text = Vec::with_capacity(self.text.len() + offsets.len() * 8);
        let mut from = 0;
        for &offset in offsets {
            text.extend_from_slice(&self.text[from..offset]);
            text.extend_from_slice(b"session.");
            from = offset;
        }
        text.extend_from_slice(&self.text[from..]);
        Some(text)
    }
}
