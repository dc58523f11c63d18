//! The library as a server sees it: a C program loads it and makes correct and illegal calls.
//!
//! `HORTATOR_SEED=n` replays one seed, `HORTATOR_SEEDS=n` sets their number. Threads add randomness, so a seed may need
//! several runs to reproduce a failure.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod harness;
mod illegal;
mod kill;
mod layout;
mod legal;
mod licenses;
