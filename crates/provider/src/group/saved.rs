//! What a node must remember of its votes and of the group.
