//! What a statement leaves in its session.

/// What a statement left in the session beyond what its words say: for the coordinator to look into.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeftBehind {
    /// Something changed that is neither a variable nor the default schema: user variables, temporary tables.
    pub(super) is_changed: bool,
    /// The default schema is another, or its definition may be.
    pub(super) schema: bool,
    /// Routines or triggers may have run, or a block.
    pub(super) ran_routines: bool,
}
