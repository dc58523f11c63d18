//! Whether and how a connection is encrypted.

use std::path::PathBuf;

/// Whether a connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Tls {
    /// Never.
    #[default]
    Disabled,
    /// When the server can; in the clear when it cannot. The server's certificate is not verified.
    Preferred,
    /// Always: connecting fails when the server cannot.
    Required(TlsSettings),
}

/// How an encrypted connection is set up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsSettings {
    /// How far the server has to prove who it is.
    pub verify: Verify,
    /// A PEM file of the authorities to trust. Without one, those that the operating system trusts.
    pub ca: Option<PathBuf>,
    /// Our own certificate, for accounts with `REQUIRE X509`.
    pub identity: Option<Identity>,
}

/// How far the server has to prove who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// Not at all: safe against listeners, not against somebody who sits between.
    #[default]
    Nothing,
    /// Its certificate was signed by a trusted authority (`--ssl-mode=VERIFY_CA`).
    Authority,
    /// The same, and the certificate names the host that was asked for (`--ssl-verify-server-cert`).
    Host,
}

/// A certificate and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// A PEM file with the certificate, then those of the authorities in between.
    pub certificate: PathBuf,
    /// A PEM file with the unencrypted private key.
    pub key: PathBuf,
}
