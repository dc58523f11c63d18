//! Proof that `hortator load` leaves the state that the `mariadb` client leaves, and tells its errors.
//!
//! [`servers`] holds two private servers, [`programs`] runs the client and the binary, and [`compare`] loads one dump
//! with both and looks for differences. What is loaded comes from [`cases`] (files, one construct each), [`features`]
//! (what `mariadb-dump` writes of schemas), [`random`] (dumps made from seeds) and [`large`] (dumps of several
//! megabytes). [`cluster`] does the same with a Galera cluster on Hortator's side, and [`cluster_lost`] takes nodes away
//! from one. [`deferred`] and [`deferred_unique`] are about checks that are deferred,
//! [`deferred_indexes`] about indexes. [`errors`] is about ends that have no
//! counterpart in the client: killed servers, full disks, Ctrl-C. [`accounts`], [`folded_names`] and [`idle_session`] are about
//! dumps that need a server or an account of their own, [`resumed_session`] is about what a resumed load misses of its first
//! session, and [`plan_predictions`] holds `--plan` against the load. [`sandboxes`] is about `hortator sandbox`,
//! [`layouts`] about folders of dump files, [`selection`] about parts of dumps, [`replicate`] about `hortator replicate`.
//!
//! `cargo xtask mysql` runs all of this against MySQL's servers and client ([`target`]), with more in [`mysql`].
//!
//! With `HORTATOR_COMPARE_WITH=client` in the environment the client loads both sides: that shows what of a comparison
//! is the load's doing, and what its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where, and stop")]

mod accounts;
mod added_keys;
mod bench_csv;
mod bench_foreign_keys;
mod bench_interrupted;
mod bench_oltp_short;
mod bench_pages;
mod bench_semisync;
mod bench_shapes;
#[path = "../../../sandbox/tests/it/provider.rs"]
mod build_provider;
mod cases;
mod cluster;
mod cluster_lost;
mod compare;
mod deferred;
mod deferred_indexes;
mod deferred_unique;
mod errors;
mod events;
mod features;
mod folded_names;
mod idle_session;
mod inputs;
mod interrupted;
mod large;
mod layouts;
mod load_verify;
mod local_journal;
mod lock_waits;
mod locks_by_text;
mod look_ahead;
mod manuals;
mod mysql;
mod plan_predictions;
mod programs;
mod random;
mod rejected;
mod relay;
mod replicate;
mod resumed;
mod resumed_corners;
mod resumed_in_doubt;
mod resumed_known;
mod resumed_session;
mod rewritten;
mod sandboxes;
mod selection;
mod sequence_without_row;
mod servers;
mod shown;
mod small_loads;
mod target;
mod throttled;
mod verify;
