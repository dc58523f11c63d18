//! Agreement under test: tables and stories that can be read, messages of wrong peers, and a simulator.

mod fixture;
mod install_snapshot;
mod invalid_messages;
mod scenarios;
mod sim;
mod votes;
