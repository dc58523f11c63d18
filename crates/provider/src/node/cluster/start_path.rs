//! How a node starts: as a single node or as a member. The thread that starts it and the Raft driver decide that together.
//!
//! Another node may link while a single voter starts, and be gone a moment later. The start goes on as that of a member then, with
//! the order of a member; the driver must not take the node for a single node meanwhile, or nobody would append its view.

use super::ClusterStatus;
use crate::node::supervisor::Step;

/// The path of a start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum StartPath {
    #[default]
    Undecided,
    /// As a single node.
    Alone,
    /// As a member: it has met others, who may be gone again.
    Joining,
}

impl StartPath {
    /// The driver takes the node for a single node, if this is true.
    pub fn take_alone(&mut self) -> bool {
        if *self == Self::Undecided {
            *self = Self::Alone;
        }
        *self == Self::Alone
    }

    /// The status that the start goes by.
    pub fn of(self, status: ClusterStatus) -> ClusterStatus {
        ClusterStatus { is_single_node: status.is_single_node || self == Self::Alone, ..status }
    }

    /// The start takes this step.
    pub fn note(&mut self, step: &Step) {
        *self = match step {
            Step::Wait => *self,
            Step::RecoverAlone => Self::Alone,
            _ => Self::Joining,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::node::supervisor::Supervisor;

    /// The next step of a start with a log.
    fn step(supervisor: &mut Supervisor, path: &mut StartPath, status: ClusterStatus) -> Step {
        let step = supervisor.next(&path.of(status), true, &mut None, Duration::ZERO);
        path.note(&step);
        step
    }

    #[test]
    fn a_start_that_has_met_others_is_not_that_of_a_single_node() {
        let quorum = ClusterStatus { has_quorum: true, ..ClusterStatus::default() };
        let (mut supervisor, mut path) = (Supervisor::default(), StartPath::default());
        assert_eq!(step(&mut supervisor, &mut path, ClusterStatus::default()), Step::Wait);
        assert!(matches!(step(&mut supervisor, &mut path, quorum), Step::Compare(_)));
        assert!(!path.take_alone(), "the other node is gone while log and tables are compared");
    }

    #[test]
    fn a_single_node_starts_as_one_also_if_its_status_is_told_late() {
        let quorum = ClusterStatus { has_quorum: true, ..ClusterStatus::default() };
        let (mut supervisor, mut path) = (Supervisor::default(), StartPath::default());
        assert!(path.take_alone());
        assert_eq!(step(&mut supervisor, &mut path, quorum), Step::RecoverAlone);
        assert!(path.take_alone());
    }
}
