//! Whether and how a connection is encrypted.

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

/// Where operating systems keep the authorities that they trust, most common first.
const SYSTEM_AUTHORITIES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// What rustls needs to encrypt a connection. An error says which file is at fault and why.
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
            let verifier = AnyHost(verifier.map_err(|error| error.to_string())?);
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
        Verify::Nothing => builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody)),
    };
    let Some(identity) = &settings.identity else { return Ok(builder.with_no_client_auth()) };
    let certificates = certificates(&identity.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&identity.key).map_err(|error| unreadable(&identity.key, &error))?;
    builder.with_client_auth_cert(certificates, key).map_err(|error| {
        format!("{} and {} do not work together: {error}", identity.certificate.display(), identity.key.display())
    })
}

fn authorities(settings: &TlsSettings) -> Result<RootCertStore, String> {
    let system = || SYSTEM_AUTHORITIES.iter().map(PathBuf::from).find(|path| path.exists());
    let Some(path) = settings.ca.clone().or_else(system) else {
        return Err("this system has no list of trusted authorities; name a CA file (--ssl-ca)".to_owned());
    };
    let mut store = RootCertStore::empty();
    let (added, _ignored) = store.add_parsable_certificates(certificates(&path)?);
    match added {
        0 => Err(format!("{} holds no certificate that can be used as an authority", path.display())),
        _ => Ok(store),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let certificates = read.map_err(|error| unreadable(path, &error))?;
    match certificates.is_empty() {
        true => Err(format!("{} holds no certificate in PEM form", path.display())),
        false => Ok(certificates),
    }
}

fn unreadable(path: &Path, error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => format!("{} holds no unencrypted private key in PEM form", path.display()),
        pem::Error::Io(error) => format!("cannot read {}: {error}", path.display()),
        other => format!("{} is not a PEM file: {other}", path.display()),
    }
}

/// A refused TLS handshake in a DBA's words.
pub(crate) fn explain(error: &rustls::Error, host: &str) -> String {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "the server's certificate was not signed by a trusted authority; name its CA file (--ssl-ca)".to_owned()
        }
        rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!("the server's certificate was not made for the host `{host}` (subjectAltName)"),
        other => other.to_string(),
    }
}

/// Takes every certificate, and so every server.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
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

    // Nothing is gained by a proof that the server holds the key of a certificate which nobody vouches for, and
    // the proof would refuse the old certificate forms that self-made ones have.
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

/// Verifies all but the host name.
#[derive(Debug)]
struct AnyHost(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        // The name is the last thing that it looks at.
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
