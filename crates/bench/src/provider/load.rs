//! The employees dump, loaded by the server's own client on the first node, until all nodes have all rows.

use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::{Done, Workload};
use crate::employees::Dump;
use crate::nodes::Nodes;
use crate::resource_usage::Clocks;
use crate::{Error, convergence, measure, server_copy};

/// The log of the client goes to the folder.
pub(super) fn run(dump: &Dump, nodes: &Nodes, folder: &Path, stop: &AtomicBool) -> Result<Done, Error> {
    let mut client = nodes.client();
    client.stdin(Stdio::from(dump.open()?)).current_dir(&dump.folder);
    let before = Clocks::read(nodes)?;
    measure::run(&mut client, &folder.join("provider-load.log"), stop)?;
    let end = Instant::now();
    nodes.wait_until_applied()?;
    let apply_lag = end.elapsed();
    let usage = Clocks::read(nodes)?.since(&before);
    convergence::check(nodes, &Workload::Load.title(), dump.rows, server_copy::loaded_rows)?;
    Ok(Done { rows: dump.rows, conflicts: 0, usage, apply_lag })
}
