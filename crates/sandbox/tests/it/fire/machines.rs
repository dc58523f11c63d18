//! What each node has of its own, as if it were a machine: a network and a disk that faults can reach.

use std::time::Duration;

use hortator_sandbox::{Builder, Host, Node};

use super::NODES;
use crate::disk::{AS_SERVER, Disk, Library, Lost};
use crate::kills::dice::Dice;
use crate::network::{self, Network};

/// The networks and disks of all nodes.
pub struct Machines {
    pub network: Network,
    disks: Vec<Disk>,
    /// With the disks' library.
    _folder: tempfile::TempDir,
}

impl Machines {
    pub fn new() -> Machines {
        let network = Network::new(NODES);
        let folder = tempfile::tempdir().unwrap();
        let library = Library::compile(folder.path());
        let disks = (0..NODES).map(|_| Disk::new(&library)).collect();
        Machines { network, disks, _folder: folder }
    }

    /// The same cluster, on these machines.
    pub fn under(&self, builder: Builder) -> Builder {
        (0..NODES).fold(builder, |builder, node| {
            let mut command = self.network.command(node);
            command.extend(AS_SERVER.into_iter().chain(["env"]).map(str::to_owned));
            // Servers start in their node's folder.
            command.extend(self.disks[node].environment("data"));
            builder.host(node, Host { address: network::address(node), command })
        })
    }

    /// Kills a node, and takes back what it had not synced.
    pub fn lose_power(&self, node: Node<'_>, dice: &mut Dice) -> Lost {
        node.kill().unwrap();
        self.disk(node).lose_power(&node.data_dir(), dice)
    }

    pub fn disk(&self, node: Node<'_>) -> &Disk {
        &self.disks[node.number() - 1]
    }

    /// Everything works as usual again.
    pub fn repair(&self) {
        self.network.heal();
        for disk in &self.disks {
            disk.slow(Duration::ZERO);
            disk.set_full(false);
        }
    }
}
