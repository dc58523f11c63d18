//! What a connection must prove before it becomes a link: settings that are read from files at the start and on
//! `socket.ssl_reload`.
//!
//! - `tls`: both sides present a certificate that a CA of `socket.ssl_ca` has signed. Names are not checked.
//! - `secret`: both sides prove that they know a secret. That authenticates the nodes; it encrypts nothing.
//!
//! The two are independent. A *dynamic* node (`socket.dynamic`) accepts connections without either: for the time in
//! which the nodes of a running cluster get them one by one.

mod cpu;
mod secret;
#[cfg(test)]
pub(super) mod test_files;
mod tls;
mod verifier;

pub use secret::{MAC_BYTES, Secrets};
pub use tls::TlsConfigs;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Limit of a file with certificates, keys or secrets.
const FILE_LIMIT_BYTES: u64 = 1 << 20;

/// The files that the options name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecurityFiles {
    /// None: without TLS.
    pub tls: Option<TlsFiles>,
    /// `auth.secret_file`.
    pub secret: Option<PathBuf>,
    /// `socket.dynamic`.
    pub is_dynamic: bool,
}

/// The files of TLS; all in PEM format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// `socket.ssl_key`.
    pub key: PathBuf,
    /// `socket.ssl_cert`: the node's certificate, then those of intermediate CAs.
    pub cert: PathBuf,
    /// `socket.ssl_ca`.
    pub ca: PathBuf,
}

/// What a connection needs to become a link. The default: nothing.
#[derive(Debug, Default)]
pub struct Security {
    /// None: without TLS.
    pub tls: Option<TlsConfigs>,
    /// None: without a secret.
    pub secrets: Option<Secrets>,
    /// Whether connections without TLS or a proof are accepted all the same.
    pub is_dynamic: bool,
}

/// Why the files cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read.
    #[error("{option}: cannot read {path}: {source}. The server's account must be able to read the file")]
    Unreadable {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file that does not contain what it should.
    #[error("{option}: {path} {what}")]
    Content {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The processor lacks instructions.
    #[error(
        "socket.ssl: the TLS of this provider needs a processor with {needed}, and this one lacks {missing}. In a \
         virtual machine, choose a newer processor model; or set socket.ssl=no, and protect the network otherwise"
    )]
    Processor {
        /// All that are needed.
        needed: String,
        /// Those that are missing.
        missing: String,
    },
    /// TLS cannot be set up.
    #[error("socket.ssl: {0}")]
    Tls(String),
}

impl Security {
    /// Reads the files.
    ///
    /// # Errors
    /// A file cannot be read, or its content cannot be used, or the processor cannot run TLS.
    pub fn load(files: &SecurityFiles) -> Result<Self, Error> {
        Ok(Self {
            tls: files.tls.as_ref().map(TlsConfigs::load).transpose()?,
            secrets: files.secret.as_deref().map(Secrets::load).transpose()?,
            is_dynamic: files.is_dynamic,
        })
    }

    /// Whether nodes must prove anything.
    pub fn is_on(&self) -> bool {
        self.tls.is_some() || self.secrets.is_some()
    }

    /// Whether a connection must use TLS.
    pub fn requires_tls(&self) -> bool {
        self.tls.is_some() && !self.is_dynamic
    }

    /// Whether a node must prove that it knows the secret.
    pub fn requires_proof(&self) -> bool {
        self.secrets.is_some() && !self.is_dynamic
    }
}

/// The whole file.
fn read_file(option: &'static str, path: &Path) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(FILE_LIMIT_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|source| Error::Unreadable { option, path: path.to_owned(), source })?;
    if bytes.len() as u64 > FILE_LIMIT_BYTES {
        return Err(content(option, path, format!("is larger than {FILE_LIMIT_BYTES} bytes")));
    }
    Ok(bytes)
}

fn content(option: &'static str, path: &Path, what: impl Into<String>) -> Error {
    Error::Content { option, path: path.to_owned(), what: what.into() }
}
