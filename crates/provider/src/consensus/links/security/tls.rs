//! TLS 1.3 with certificates on both sides: the files become the configurations of rustls.

use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::NoServerSessionStorage;
use rustls::version::TLS13;
use rustls::{CertificateError, ClientConfig, ClientConnection, ServerConfig, ServerConnection};

use super::verifier::{NodeVerifier, server_name};
use super::{Error, TlsFiles, content, cpu, read_file};

const KEY: &str = "socket.ssl_key";
const CERT: &str = "socket.ssl_cert";
const CA: &str = "socket.ssl_ca";

/// The configurations of both sides of a connection.
#[derive(Clone, Debug)]
pub struct TlsConfigs {
    of_diallers: Arc<ClientConfig>,
    of_acceptors: Arc<ServerConfig>,
}

impl TlsConfigs {
    /// Reads the files, and checks that the certificate is one that the other nodes accept.
    pub fn load(files: &TlsFiles) -> Result<Self, Error> {
        cpu::check()?;
        let provider = Arc::new(rustls_graviola::default_provider());
        let own = certificates(CERT, &files.cert)?;
        let key = private_key(&files.key)?;
        let trusted = certificates(CA, &files.ca)?;
        let verifier =
            NodeVerifier::new(trusted, Arc::clone(&provider)).map_err(|what| content(CA, &files.ca, what))?;
        let verifier = Arc::new(verifier);
        verifier.check(&own).map_err(|error| content(CERT, &files.cert, describe_own(&error, &files.ca)))?;
        let setup = |error: rustls::Error| Error::Tls(error.to_string());
        let mismatch = |error: rustls::Error| {
            content(KEY, &files.key, format!("cannot be used with {}: {error}", files.cert.display()))
        };

        let mut of_acceptors = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(setup)?
            .with_client_cert_verifier(Arc::clone(&verifier) as _)
            .with_single_cert(own.clone(), key.clone_key())
            .map_err(mismatch)?;
        let mut of_diallers = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(setup)?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_client_auth_cert(own, key)
            .map_err(mismatch)?;
        // A resumed session would count on a certificate that is trusted no more.
        of_acceptors.send_tls13_tickets = 0;
        of_acceptors.session_storage = Arc::new(NoServerSessionStorage {});
        of_diallers.resumption = Resumption::disabled();
        of_diallers.enable_sni = false;
        Ok(Self { of_diallers: Arc::new(of_diallers), of_acceptors: Arc::new(of_acceptors) })
    }

    /// The state of a connection that this node makes.
    pub fn dial(&self) -> Result<ClientConnection, rustls::Error> {
        ClientConnection::new(Arc::clone(&self.of_diallers), server_name())
    }

    /// The state of a connection that this node accepts.
    pub fn accept(&self) -> Result<ServerConnection, rustls::Error> {
        ServerConnection::new(Arc::clone(&self.of_acceptors))
    }
}

fn certificates(option: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let bytes = read_file(option, path)?;
    let read: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&bytes).collect();
    match read {
        Ok(certificates) if certificates.is_empty() => {
            Err(content(option, path, "contains no certificate in PEM format"))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(content(option, path, format!("is not a PEM file: {error}"))),
    }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Error> {
    let bytes = read_file(KEY, path)?;
    PrivateKeyDer::from_pem_slice(&bytes).map_err(|error| match error {
        pem::Error::NoItemsFound => content(
            KEY,
            path,
            "contains no unencrypted private key in PEM format. The provider reads no encrypted keys \
             (socket.ssl_password_file): decrypt it with `openssl pkey`, and let only the server's account read it",
        ),
        error => content(KEY, path, format!("is not a PEM file: {error}")),
    })
}

/// What the other nodes would refuse in this node's certificate.
fn describe_own(error: &rustls::Error, ca: &Path) -> String {
    match error {
        // The second: by a CA of the same name with another key.
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            format!("is not signed by a CA in {} ({CA})", ca.display())
        }
        rustls::Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => format!("is not valid now: {error}. Get a new certificate, and check the clock"),
        rustls::Error::InvalidCertificate(
            CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. },
        ) => {
            "must be for servers and for clients (extendedKeyUsage = serverAuth, clientAuth, or none), since a node is \
              both"
                .to_owned()
        }
        rustls::Error::InvalidCertificate(CertificateError::Other(reason))
            if reason.to_string().contains("UnsupportedCertVersion") =>
        {
            "is an X.509 certificate of version 1, which `openssl x509 -req` makes without extensions. Make one of \
             version 3, with -extfile and a file that says basicConstraints = CA:FALSE"
                .to_owned()
        }
        error => format!("cannot be used: {error}"),
    }
}

#[cfg(test)]
mod tests;
