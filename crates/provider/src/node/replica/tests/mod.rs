//! Tests of the replica: a simulator.

mod sim;
