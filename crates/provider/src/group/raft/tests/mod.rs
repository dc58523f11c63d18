//! Agreement under test: cases that can be read as tables, messages of wrong peers, and a simulator.

mod sim;
