//! What a node has proposed and not seen in the order yet.
