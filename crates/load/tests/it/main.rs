//! Loads against real servers and the real client.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod lexer;
