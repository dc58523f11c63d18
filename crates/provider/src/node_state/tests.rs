//! All states, with all events.

use super::NodeState::{Closed, Donor, Joined, Joiner, Open, Primary, Synced};
use super::StateEvent::{
    CaughtUp, Connected, Desynced, Left, QuorumFound, QuorumLost, Resynced, SstReceived, SstRequested,
};
use super::{NodeState, StateEvent, TRANSITIONS};

const STATES: [NodeState; 7] = [Closed, Open, Primary, Joiner, Joined, Synced, Donor];

fn after(events: &[StateEvent]) -> Vec<&'static str> {
    let mut state = Closed;
    let mut names = Vec::new();
    for event in events {
        for next in state.after(*event) {
            names.push(next.name());
            state = *next;
        }
    }
    names
}

#[test]
fn a_node_passes_through_galeras_states() {
    assert_eq!(after(&[Connected, QuorumFound, CaughtUp]), ["OPEN", "PRIMARY", "JOINED", "SYNCED"]);
    assert_eq!(
        after(&[Connected, QuorumFound, SstRequested, SstReceived, CaughtUp]),
        ["OPEN", "PRIMARY", "JOINER", "JOINED", "SYNCED"]
    );
    let synced = [Connected, QuorumFound, CaughtUp];
    let then = |events: &[StateEvent]| after(&[&synced, events].concat()).split_off(4);
    assert_eq!(then(&[Desynced, Resynced]), ["DONOR/DESYNCED", "JOINED", "SYNCED"]);
    assert_eq!(then(&[QuorumLost, CaughtUp]), ["OPEN", "PRIMARY", "JOINED", "SYNCED"]);
    assert_eq!(then(&[Desynced, QuorumLost, Resynced]), ["DONOR/DESYNCED", "OPEN"]);
    assert_eq!(
        then(&[Left, CaughtUp, QuorumLost, Left]),
        ["CLOSED"],
        "a node that has left comes back by connecting only"
    );
    assert_eq!(then(&[Left, Connected]), ["CLOSED", "OPEN"]);
}

#[test]
fn each_state_has_at_most_one_row_for_an_event() {
    for (from, event, path) in TRANSITIONS {
        assert!(!path.is_empty(), "{event:?}");
        for state in *from {
            let rows = TRANSITIONS.iter().filter(|(from, on, _)| on == event && from.contains(state));
            assert_eq!(rows.count(), 1, "{state:?} {event:?}");
            assert!(!path.contains(state) || *state == Synced, "{state:?} {event:?}");
        }
    }
}

/// Else a node would never take statements, or would take them for ever.
#[test]
fn a_connected_node_always_catches_up_and_can_always_leave() {
    for state in STATES {
        let leads_to = |event| state.after(event).last().copied().unwrap_or(state);
        assert_eq!(leads_to(Left), Closed);
        assert!(leads_to(CaughtUp).takes_part() || state == Closed, "{state:?}");
        assert!(!leads_to(QuorumLost).takes_part(), "{state:?}");
        let allowed = state.takes_part();
        assert_eq!(allowed, matches!(state.status().1, "Synced" | "Donor/Desynced"));
    }
}
