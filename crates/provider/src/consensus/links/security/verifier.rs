//! The check of another node's certificate, in both directions.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{CertificateError, DigitallySignedStruct, DistinguishedName, RootCertStore, SignatureScheme};

/// Accepts a certificate that a trusted CA has signed, whatever its name, as Galera does; and a certificate that is
/// itself in the file of trusted ones, so that the nodes can share one self-signed certificate.
#[derive(Debug)]
pub(super) struct NodeVerifier {
    /// The certificates of `socket.ssl_ca`.
    trusted: Vec<CertificateDer<'static>>,
    of_acceptors: Arc<WebPkiServerVerifier>,
    of_diallers: Arc<dyn ClientCertVerifier>,
}

/// The name that a dialling node asks for. It is not sent, and not checked.
pub(super) fn server_name() -> ServerName<'static> {
    ServerName::try_from("node").expect("a valid name")
}

impl NodeVerifier {
    /// # Errors
    /// None of the certificates can be trusted: the reason.
    pub fn new(trusted: Vec<CertificateDer<'static>>, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        for certificate in &trusted {
            roots.add(certificate.clone()).map_err(|error| format!("contains an unusable certificate: {error}"))?;
        }
        let roots = Arc::new(roots);
        let describe = |error: &dyn std::fmt::Display| format!("cannot be used: {error}");
        let of_acceptors = WebPkiServerVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider));
        let of_diallers = WebPkiClientVerifier::builder_with_provider(roots, provider);
        Ok(Self {
            trusted,
            of_acceptors: of_acceptors.build().map_err(|error| describe(&error))?,
            of_diallers: of_diallers.build().map_err(|error| describe(&error))?,
        })
    }

    /// Checks a node's own certificates as the other nodes will.
    pub fn check(&self, certificates: &[CertificateDer<'_>]) -> Result<(), rustls::Error> {
        let (first, rest) = certificates.split_first().ok_or(rustls::Error::NoCertificatesPresented)?;
        let now = UnixTime::now();
        self.verify_server_cert(first, rest, &server_name(), &[], now)?;
        self.verify_client_cert(first, rest, now).map(drop)
    }

    fn is_trusted_itself(&self, certificate: &CertificateDer<'_>) -> bool {
        self.trusted.iter().any(|trusted| trusted == certificate)
    }
}

impl ServerCertVerifier for NodeVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.is_trusted_itself(end_entity) {
            return Ok(ServerCertVerified::assertion());
        }
        // The name is checked last.
        match self.of_acceptors.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
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
        self.of_acceptors.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.of_acceptors.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.of_acceptors.supported_verify_schemes()
    }
}

impl ClientCertVerifier for NodeVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        // A node has one certificate, and shows it whoever asks.
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        if self.is_trusted_itself(end_entity) {
            return Ok(ClientCertVerified::assertion());
        }
        self.of_diallers.verify_client_cert(end_entity, intermediates, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.of_diallers.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.of_diallers.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.of_diallers.supported_verify_schemes()
    }
}
