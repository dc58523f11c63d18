//! The files that protect the links: read at the start, and again when the options say so.

use std::net::IpAddr;
use std::sync::Arc;

use super::{Error, Node, lock};
use crate::consensus::links::{Allowlist, Security};
use crate::options::Options;
use crate::server::{Level, Server};

impl Node {
    pub(super) fn load_security(options: &Options, server: &dyn Server) -> Result<Security, Error> {
        let security = Security::load(&options.security_files())?;
        if security.is_on() && security.is_dynamic {
            let text = "socket.dynamic=yes: this node also links without TLS or a proof of the secret. Set it to no when \
                        all nodes have them";
            server.log(Level::Note, text);
        }
        Ok(security)
    }

    /// What other nodes must prove.
    pub(super) fn security(&self) -> Arc<Security> {
        Arc::clone(&lock(&self.security))
    }

    /// Reads the files again, if the new options ask for it. A file that cannot be used changes nothing.
    pub(super) fn reload_security(&self, before: &Options, next: &Options, text: &str) -> Result<(), Error> {
        if !next.is_reload_wanted(text) && before.security_files() == next.security_files() {
            return Ok(());
        }
        let security = Arc::new(Self::load_security(next, &*self.server)?);
        *lock(&self.security) = Arc::clone(&security);
        if security.is_on() {
            self.note("the files of TLS and of the shared secret were read: new links use them");
        }
        if let Some(cluster) = self.cluster() {
            // The driver takes the new settings before it waits.
            cluster.waker().wake();
        }
        Ok(())
    }
}

/// The server's list of addresses, for the links.
pub(super) struct ServerAllowlist(pub Arc<dyn Server>);

impl Allowlist for ServerAllowlist {
    fn allows(&self, address: IpAddr) -> bool {
        self.0.allows_address(&address.to_string())
    }
}
