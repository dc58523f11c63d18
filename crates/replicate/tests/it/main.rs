//! Tests with real servers and files that real servers wrote.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as the tests do")]

mod applied;
mod file_log;
mod files_of_others;
mod live;
mod source;
