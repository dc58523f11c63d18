//! The encryption of a connection.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Whether a connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Tls {
    /// Never.
    #[default]
    Disabled,
    /// If the server supports it; otherwise unencrypted. The server's certificate is not verified.
    Preferred,
    /// Always: connecting fails if the server does not support it.
    Required(TlsSettings),
}

/// The settings of an encrypted connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TlsSettings {
    /// How far the server's certificate is verified.
    pub verify: Verify,
    /// A PEM file with the trusted authorities. None for those of the operating system.
    pub ca: Option<PathBuf>,
    /// The client certificate, for accounts with `REQUIRE X509`.
    pub identity: Option<Identity>,
}

/// How far the server's certificate is verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verify {
    /// Not at all: safe against eavesdroppers, not against a man in the middle.
    #[default]
    Nothing,
    /// Its certificate was signed by a trusted authority (`--ssl-mode=VERIFY_CA`).
    Authority,
    /// The same, and the certificate must be for the requested host (`--ssl-verify-server-cert`).
    Host,
}

/// A certificate and its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// A PEM file with the certificate, then the intermediate certificates.
    pub certificate: PathBuf,
    /// A PEM file with the unencrypted private key.
    pub key: PathBuf,
}

/// The files with the operating system's trusted authorities, the most common first.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The rustls configuration. An error names the file and the reason.
pub(crate) fn client_config(settings: &TlsSettings) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = versions.map_err(|error| error.to_string())?;
    let builder = match settings.verify {
        Verify::Host => {
            let verifier = WebPkiServerVerifier::builder_with_provider(authorities(settings)?.into(), provider).build();
            builder.with_webpki_verifier(verifier.map_err(|error| error.to_string())?)
        }
        Verify::Authority => {
            let verifier = WebPkiServerVerifier::builder_with_provider(authorities(settings)?.into(), provider).build();
            let verifier = CaOnlyVerifier(verifier.map_err(|error| error.to_string())?);
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
        Verify::Nothing => builder.dangerous().with_custom_certificate_verifier(Arc::new(NoVerifier)),
    };
    let Some(identity) = &settings.identity else { return Ok(builder.with_no_client_auth()) };
    let certificates = certificates(&identity.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&identity.key).map_err(|error| unreadable(&identity.key, &error))?;
    builder.with_client_auth_cert(certificates, key).map_err(|error| {
        format!("{} and {} do not match: {error}", identity.certificate.display(), identity.key.display())
    })
}

fn authorities(settings: &TlsSettings) -> Result<RootCertStore, String> {
    let system = || SYSTEM_AUTHORITIES.iter().map(PathBuf::from).find(|path| path.exists());
    let Some(path) = settings.ca.clone().or_else(system) else {
        return Err("this system has no list of trusted authorities: give a CA file (--ssl-ca)".to_owned());
    };
    let mut store = RootCertStore::empty();
    let (added, _ignored) = store.add_parsable_certificates(certificates(&path)?);
    match added {
        0 => Err(format!("{} contains no usable CA certificate", path.display())),
        _ => Ok(store),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.map_err(|error| unreadable(path, &error))?;
    match certificates.is_empty() {
        true => Err(format!("{} contains no certificate in PEM format", path.display())),
        false => Ok(certificates),
    }
}

fn unreadable(path: &Path, error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => format!("{} contains no unencrypted private key in PEM format", path.display()),
        pem::Error::Io(error) => format!("cannot read {}: {error}", path.display()),
        other => format!("{} is not a PEM file: {other}", path.display()),
    }
}

/// A failed TLS handshake as a message for a DBA.
pub(crate) fn explain(error: &rustls::Error, host: &str) -> String {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "the server's certificate was not signed by a trusted authority: give its CA file (--ssl-ca)".to_owned()
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!("the server's certificate is not valid for the host `{host}` (subjectAltName)"),
        other => other.to_string(),
    }
}

/// Accepts every certificate, and so every server.
#[derive(Debug)]
struct NoVerifier;

impl ServerCertVerifier for NoVerifier {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    // Without verification of the certificate, a proof that the server holds its key has no value, and the proof would
    // refuse the old certificate forms of self-signed certificates.
    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// Verifies everything but the host name.
#[derive(Debug)]
struct CaOnlyVerifier(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for CaOnlyVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        // The verifier checks the name last.
        match self.0.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
