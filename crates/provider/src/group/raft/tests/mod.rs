//! Agreement under test: tables and stories that can be read, messages of wrong peers, and a simulator.

mod begun_elsewhere;
mod group;
mod sim;
mod stories;
mod votes;
mod wrong_peers;
