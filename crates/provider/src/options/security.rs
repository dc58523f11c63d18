//! The options of TLS and of the shared secret.

use std::path::PathBuf;

use super::{CHECKED, Error, Options, kind};
use crate::consensus::links::{SecurityFiles, TlsFiles};

impl Options {
    /// A key and a certificate alone turn TLS on, as with Galera, unless the configuration says something else.
    pub(super) fn resolve_tls(&mut self) {
        let is_given = self.given.contains("socket.ssl");
        if !is_given && !self.value("socket.ssl_key").is_empty() && !self.value("socket.ssl_cert").is_empty() {
            self.values.insert("socket.ssl", "yes".to_owned());
        }
    }

    pub(super) fn check_tls(&self) -> Result<(), Error> {
        if !self.has_tls() {
            return Ok(());
        }
        let missing = ["socket.ssl_key", "socket.ssl_cert"].into_iter().find(|name| self.value(name).is_empty());
        missing.map_or(Ok(()), |name| Err(Error::TlsWithout(name)))
    }

    fn has_tls(&self) -> bool {
        kind::boolean(self.value("socket.ssl")).expect(CHECKED)
    }

    /// The files that protect the links. Without socket.ssl_ca, the certificate itself is the only one that is trusted.
    pub fn security_files(&self) -> SecurityFiles {
        let path = |name| Some(self.value(name)).filter(|value| !value.is_empty()).map(PathBuf::from);
        let tls = self.has_tls().then(|| {
            let cert = path("socket.ssl_cert").unwrap_or_default();
            let ca = path("socket.ssl_ca").unwrap_or_else(|| cert.clone());
            TlsFiles { key: path("socket.ssl_key").unwrap_or_default(), cert, ca }
        });
        SecurityFiles {
            tls,
            secret: path("auth.secret_file"),
            is_dynamic: kind::boolean(self.value("socket.dynamic")).expect(CHECKED),
        }
    }

    /// Whether a text that was just set asks to read the files of TLS and the secret again.
    pub fn is_reload_wanted(&self, text: &str) -> bool {
        sets(text, "socket.ssl_reload") && kind::boolean(self.value("socket.ssl_reload")) == Some(true)
    }
}

/// Whether the text sets the option.
fn sets(text: &str, name: &str) -> bool {
    text.split(';').filter_map(|setting| setting.split_once('=')).any(|(found, _)| found.trim() == name)
}
