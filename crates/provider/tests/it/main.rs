//! The library as a server sees it: a C program loads it and calls it, as a server does and as none should.
//!
//! `HORTATOR_SEED=n` replays one seed, `HORTATOR_SEEDS=n` says how many. Threads make the rest of the chance, so a seed may
//! need several runs to show again what it has shown.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod harness;
mod illegal;
mod kill;
mod layout;
mod legal;
