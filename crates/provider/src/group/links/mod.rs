//! Connections to the other nodes.
