//! A statement of the stream with what is known of it.

use crate::analysis::StatementInfo;
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
    /// What it is and does.
    pub(super) info: StatementInfo,
}
