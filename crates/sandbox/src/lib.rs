//! Private MariaDB servers and clusters in a folder of their own, and single MySQL servers.
//!
//! A sandbox is one server, a cluster of Galera or of Hortator's own provider, a source with a semi-synchronous replica, or
//! two servers that are replicas of each other. Each of its nodes has its own data folder, socket and free ports, reads no
//! option file, and never touches other running servers. Nodes can be stopped, killed, paused, and isolated from each other.
//! The root account has no password and can connect through the node's socket only, in a folder that only the servers' own
//! account can enter.
//!
//! Entry points: [`Builder`] creates a sandbox; [`Temporary`] is a sandbox that ends with the process that created it;
//! [`Sandbox`] is a sandbox on disk that outlives it: [`Sandbox::open`] and [`Sandbox::list`] find it again.
//!
//! Not in this crate: a supervisor. No process stays behind to restart a server; the state of a server is found by
//! inspection. Nothing here prints or installs a signal handler: [`Builder::interrupt_flag`] takes the caller's flag.

mod account;
mod builder;
mod cluster;
mod data_folder;
mod error;
mod error_log;
mod fan_in;
mod galera;
mod host;
mod interrupt;
mod isolate;
mod metadata;
mod mysql;
mod node;
mod options;
mod paths;
mod pause;
mod ports;
mod process;
mod program;
mod provider;
mod provider_options;
mod random;
mod replaced_file;
mod sandbox;
mod saved_state;
mod semisync;
mod server_process;
mod status;
mod temporary;
mod topology;
mod watchdog;
mod witness;
mod wsrep;
mod wsrep_status;

pub use builder::Builder;
pub use error::Error;
pub use host::Host;
pub use isolate::Healed;
pub use node::{Node, State};
pub use paths::default_folder;
pub use ports::Ports;
pub use provider_options::{has_option_variables, set_provider_options};
pub use sandbox::{Lock, Sandbox};
pub use temporary::Temporary;
pub use topology::{MAX_CLUSTER_NODES, MAX_NODES, MAX_SOURCES, Topology};
pub use witness::Witness;
pub use wsrep_status::WsrepStatus;
