//! What became of deferred keys, for the summary.

use serde::Serialize;

use super::DeferIndexes;

/// The deferred keys of a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeferredKeysReport {
    /// When the load built non-unique keys.
    pub mode: DeferIndexes,
    /// Why the load deferred none although that was asked for; null without such a reason.
    pub disabled_reason: Option<&'static str>,
    /// The tables whose keys were built after their rows.
    pub built: Vec<BuiltKeys>,
    /// The first 100 tables whose keys stayed, and why.
    pub kept: Vec<KeptKeys>,
    /// The statements that add the keys which are missing now, together for each table.
    pub missing: Vec<String>,
}

/// A table whose keys were built after its rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BuiltKeys {
    /// `schema.table`.
    pub table: String,
    /// The names of the keys.
    pub keys: Vec<String>,
    /// Seconds that it took.
    pub elapsed_s: f64,
    /// Seconds for which each ALTER TABLE stopped the writer of a cluster; the other nodes run it at the same time. None on
    /// a single server.
    pub cluster_stops_s: Vec<f64>,
}

/// A table whose keys stayed while its rows went in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptKeys {
    /// `schema.table`.
    pub table: String,
    /// Why.
    pub reason: String,
}
