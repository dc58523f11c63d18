//! A cluster by Hortator's own wsrep provider, of one node so far: its first start, and every later one.
//!
//! The very first start begins the history. Every later one takes two steps: the server is asked how far its storage
//! engine has got, and is then started there, so that the provider knows which part of its log is to be applied again.
//! It never begins the cluster anew then: that would reset the storage engine's own place, and with it what is needed to
//! recover. Source: the server's own start scripts, which take the same two steps for Galera.

use hortator_mysql::Connection;

use crate::program::Programs;
use crate::sandbox::Sandbox;
use crate::saved_state::recovered;
use crate::status::status;
use crate::wsrep::{NEW_CLUSTER, at};
use crate::{Error, data_folder, provider};

/// Starts a cluster that has no data folders yet.
pub(crate) fn first_start(sandbox: &Sandbox, programs: &Programs) -> Result<(), Error> {
    take_provider(sandbox)?;
    let node = sandbox.node(0);
    data_folder::create(&node.data_dir(), &node.folder(), programs, sandbox.account())?;
    node.launch(&[NEW_CLUSTER.to_owned()])
}

/// Starts those nodes, none of which runs.
pub(crate) fn start(sandbox: &Sandbox, indices: &[usize]) -> Result<(), Error> {
    if indices.is_empty() {
        return Ok(());
    }
    take_provider(sandbox)?;
    indices.iter().try_for_each(|index| {
        let node = sandbox.node(*index);
        node.launch(&at(recovered(sandbox, node)?.as_ref()))
    })
}

/// Whether the node answers statements: not before everything of its log is applied.
pub(crate) fn is_ready(connection: &mut Connection) -> Result<bool, hortator_mysql::Error> {
    Ok(status(connection, "wsrep_ready")?.is_some_and(|ready| ready == "ON"))
}

/// Gives the sandbox the provider as it is now: the one that the caller names, else the one that it was made with, which
/// may have been built anew. One that is gone leaves its copy.
fn take_provider(sandbox: &Sandbox) -> Result<(), Error> {
    let recorded = sandbox.record().provider.clone();
    let source = match (provider::named()?, recorded) {
        (Some(named), _) => named,
        (None, Some(recorded)) if recorded.is_file() => recorded,
        (None, Some(_)) if provider::copy_in(sandbox.folder()).is_file() => return Ok(()),
        (None, _) => provider::find()?,
    };
    provider::copy(&source, sandbox.folder())?;
    sandbox.take_note_of_provider(source)
}
