//! Tests with real servers and files that real servers wrote.

mod files_of_others;
mod live;
