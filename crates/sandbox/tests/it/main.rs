//! Sandboxes of real servers, from their start to their end.

mod standalone;
