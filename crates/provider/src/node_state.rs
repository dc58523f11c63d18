//! The states of a node, with Galera's names and numbers, and the events that change them.
//!
//! ```text
//!   CLOSED ─► OPEN ─► PRIMARY ─► JOINED ─► SYNCED ◄─► DONOR/DESYNCED
//!                        └► JOINER ┘
//! ```
//!
//! A node that takes part and loses the quorum is open until it has caught up again; one that leaves or fails is closed. The
//! state decides whether the node
//! takes write sets (`gate`), and gives `wsrep_local_state` (`status`) and the "Shifting" lines of the error log
//! (`galera_lines`).

#[cfg(test)]
mod tests;

/// The state of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeState {
    /// Not connected, or failed.
    #[default]
    Closed,
    /// Connected, without a quorum.
    Open,
    /// With a quorum; its tables are not current yet.
    Primary,
    /// It receives an SST.
    Joiner,
    /// It has its tables, and applies what they lack.
    Joined,
    /// It takes part.
    Synced,
    /// It takes part, and sends an SST or is desynced: the others do not wait for it.
    Donor,
}

/// What changes the state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateEvent {
    /// It is connected to a cluster, and looks for its nodes.
    Connected,
    /// It starts with a quorum.
    QuorumFound,
    /// It requests an SST.
    SstRequested,
    /// The SST is complete.
    SstReceived,
    /// Its tables have reached a view that it is in.
    CaughtUp,
    /// An SST that it sends, or a desync, begins.
    Desynced,
    /// It sends no SST any more, and is not desynced.
    Resynced,
    /// It has lost the quorum, or is not in the view any more.
    QuorumLost,
    /// It leaves its cluster, or has failed.
    Left,
}

/// States, an event, and the states that follow, in order. The last one stays.
type Transition = (&'static [NodeState], StateEvent, &'static [NodeState]);

/// All transitions. An event changes no state that its rows do not name: it comes too late.
const TRANSITIONS: &[Transition] = {
    use NodeState::{Closed, Donor, Joined, Joiner, Open, Primary, Synced};
    &[
        (&[Closed], StateEvent::Connected, &[Open]),
        (&[Open], StateEvent::QuorumFound, &[Primary]),
        (&[Open], StateEvent::SstRequested, &[Primary, Joiner]),
        (&[Primary, Joined], StateEvent::SstRequested, &[Joiner]),
        (&[Joiner], StateEvent::SstReceived, &[Joined]),
        (&[Open], StateEvent::CaughtUp, &[Primary, Joined, Synced]),
        (&[Primary, Joiner], StateEvent::CaughtUp, &[Joined, Synced]),
        (&[Joined], StateEvent::CaughtUp, &[Synced]),
        (&[Synced], StateEvent::Desynced, &[Donor]),
        (&[Donor], StateEvent::Resynced, &[Joined, Synced]),
        (&[Synced, Donor], StateEvent::QuorumLost, &[Open]),
        (&[Open, Primary, Joiner, Joined, Synced, Donor], StateEvent::Left, &[Closed]),
    ]
};

impl NodeState {
    /// The states that follow an event, in order. None of them: the event changes nothing.
    pub fn after(self, event: StateEvent) -> &'static [NodeState] {
        let row = TRANSITIONS.iter().find(|(from, on, _)| *on == event && from.contains(&self));
        row.map_or(&[], |(_, _, path)| path)
    }

    /// Whether clients can write here, and the node counts as a member.
    pub fn takes_part(self) -> bool {
        matches!(self, Self::Synced | Self::Donor)
    }

    /// The name in the lines of the error log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "CLOSED",
            Self::Open => "OPEN",
            Self::Primary => "PRIMARY",
            Self::Joiner => "JOINER",
            Self::Joined => "JOINED",
            Self::Synced => "SYNCED",
            Self::Donor => "DONOR/DESYNCED",
        }
    }

    /// `wsrep_local_state` and `wsrep_local_state_comment`.
    pub fn status(self) -> (i64, &'static str) {
        match self {
            Self::Closed | Self::Open => (0, "Initialized"),
            Self::Primary | Self::Joiner => (1, "Joining"),
            Self::Donor => (2, "Donor/Desynced"),
            Self::Joined => (3, "Joined"),
            Self::Synced => (4, "Synced"),
        }
    }
}
