//! Private MariaDB servers and clusters in a folder of their own, and single MySQL servers.
//!
//! A sandbox is one server, a cluster by Galera or by Hortator's own provider, or a source with a semi-synchronous replica.
//! Each of its nodes has its own data folder, socket and free ports, reads no option file, and never touches a server that
//! runs already. Nodes can be stopped, killed, paused, and cut off from each other.
//! The root account has no password and is let in through the node's socket only, in a folder that only the
//! servers' own account can enter.
//!
//! Entry points: [`Builder`] makes a sandbox, [`Temporary`] is one that ends with the process that made it, and
//! [`Sandbox`] is one on disk that outlives it: [`Sandbox::open`] and [`Sandbox::list`] find it again.
//!
//! What it is not: a supervisor. Nothing stays behind to restart a server; what runs is found out by looking.
//! Nothing here prints, and no signal handler is installed: [`Builder::interrupt_flag`] takes the caller's.

mod account;
mod builder;
mod cluster;
mod cut;
mod data_folder;
mod error;
mod error_log;
mod galera;
mod interrupt;
mod mysql;
mod node;
mod options;
mod pause;
mod place;
mod ports;
mod process;
mod program;
mod provider;
mod random;
mod record;
mod sandbox;
mod saved_state;
mod semisync;
mod standing;
mod status;
mod temporary;
mod topology;
mod watchdog;
mod wsrep;

pub use builder::Builder;
pub use cut::Healed;
pub use error::Error;
pub use node::{Node, State};
pub use place::default_folder;
pub use ports::Ports;
pub use sandbox::{Lock, Sandbox};
pub use standing::Standing;
pub use temporary::Temporary;
pub use topology::{MAX_CLUSTER_NODES, MAX_NODES, Topology};
