//! Tests of Raft: tables, scenarios, invalid messages, and a simulator.

mod fixture;
mod install_snapshot;
mod invalid_messages;
mod pending_memberships;
mod scenarios;
mod sim;
mod votes;
mod weights;
