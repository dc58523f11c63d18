//! The employees dump, loaded by the server's own client on the first node, until all nodes have all rows.

use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::AtomicBool;

use super::Workload;
use crate::employees::Dump;
use crate::load_run::LoadRun;
use crate::nodes::Nodes;
use crate::quiesce::AtRest;
use crate::rounds::Figures;
use crate::{Error, convergence, measure, server_copy};

/// The log of the client goes to the folder.
pub(super) fn run(
    rest: AtRest,
    dump: &Dump,
    nodes: &Nodes,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Figures, Error> {
    let mut client = nodes.client();
    client.stdin(Stdio::from(dump.open()?)).current_dir(&dump.folder);
    let log = folder.join("provider-load.log");
    let run = LoadRun::measure(rest, nodes, || measure::run(&mut client, &log, stop).map(Some))?;
    convergence::check(nodes, &Workload::Load.title(), dump.rows, server_copy::loaded_rows)?;
    Ok(run.figures(dump.rows))
}
