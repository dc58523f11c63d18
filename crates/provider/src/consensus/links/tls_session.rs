//! TLS on one connection: turns bytes of the socket into bytes of frames, and back. It does no input or output: the
//! driver's thread moves the bytes when the socket is ready, so TLS adds no thread and no wait to a frame.

use std::io::{self, BufRead, Write};

use rustls::{AlertDescription, CertificateError, Connection};

use super::security::TlsConfigs;

/// Plain bytes that are encrypted at once: what the socket does not take stays in memory twice.
pub(super) const ENCRYPTED_LIMIT_BYTES: usize = 256 << 10;
/// Room for one read of encrypted bytes.
const READ_BYTES: usize = 64 << 10;
/// The first byte of every TLS handshake record (RFC 8446, 5.1).
const HANDSHAKE_RECORD: u8 = 0x16;
/// The first byte of a TLS alert record.
const ALERT_RECORD: u8 = 0x15;
/// Bytes of the value that ties a proof to this session.
pub(super) const BINDING_BYTES: usize = 32;
/// Its label (RFC 5705, 4).
const BINDING_LABEL: &[u8] = b"EXPORTER-hortator-link";

/// Whether the first byte from the other side is one of TLS.
pub(super) fn is_tls(first: u8) -> bool {
    matches!(first, HANDSHAKE_RECORD | ALERT_RECORD)
}

/// The TLS state of one connection.
#[derive(Debug)]
pub(super) struct TlsSession {
    connection: Connection,
    /// Buffer for encrypted input.
    received: Vec<u8>,
    /// After a failure all input is dropped.
    has_failed: bool,
}

impl TlsSession {
    pub fn dial(configs: &TlsConfigs) -> Result<Self, rustls::Error> {
        configs.dial().map(|connection| Self::new(Connection::Client(connection)))
    }

    pub fn accept(configs: &TlsConfigs) -> Result<Self, rustls::Error> {
        configs.accept().map(|connection| Self::new(Connection::Server(connection)))
    }

    fn new(mut connection: Connection) -> Self {
        // The callers limit what they encrypt.
        connection.set_buffer_limit(None);
        Self { connection, received: Vec::new(), has_failed: false }
    }

    pub fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether there are encrypted bytes to send.
    pub fn has_output(&self) -> bool {
        self.connection.wants_write()
    }

    /// Encrypts bytes of frames.
    pub fn encrypt(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.connection.writer().write_all(bytes)
    }

    /// Writes encrypted bytes to the socket, once.
    pub fn write_to(&mut self, socket: &mut dyn Write) -> io::Result<usize> {
        self.connection.write_tls(socket)
    }

    /// Announces the end of the output.
    pub fn close(&mut self) {
        self.connection.send_close_notify();
    }

    /// Empty room for encrypted input: give the filled part to [`Self::decrypt`].
    pub fn take_buffer(&mut self) -> Vec<u8> {
        let mut buffer = std::mem::take(&mut self.received);
        buffer.clear();
        buffer.reserve(READ_BYTES);
        buffer
    }

    /// Takes back room that was not filled.
    pub fn return_buffer(&mut self, buffer: Vec<u8>) {
        self.received = buffer;
    }

    /// Decrypts input, and appends the bytes of frames to `output`.
    ///
    /// # Errors
    /// The TLS connection has failed, with the reason for the error log. An alert for the other side may be
    /// [output](Self::has_output).
    pub fn decrypt(&mut self, input: Vec<u8>, output: &mut Vec<u8>) -> Result<(), String> {
        let result = if self.has_failed { Ok(()) } else { self.decrypt_all(&input, output) };
        self.has_failed |= result.is_err();
        self.received = input;
        result
    }

    fn decrypt_all(&mut self, mut input: &[u8], output: &mut Vec<u8>) -> Result<(), String> {
        while !input.is_empty() {
            let before = input.len();
            let taken = self.connection.read_tls(&mut input).map_err(|error| error.to_string())?;
            self.connection.process_new_packets().map_err(|error| describe(&error))?;
            self.take_plain(output)?;
            if taken == 0 && input.len() == before {
                // After the other side's announcement that it sends no more.
                return Ok(());
            }
        }
        Ok(())
    }

    fn take_plain(&mut self, output: &mut Vec<u8>) -> Result<(), String> {
        let mut reader = self.connection.reader();
        loop {
            match reader.fill_buf() {
                Ok([]) => return Ok(()),
                Ok(plain) => {
                    output.extend_from_slice(plain);
                    let bytes = plain.len();
                    reader.consume(bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error.to_string()),
            }
        }
    }

    /// A value that both ends of this session have, and no other session: in a proof, it shows that nobody sits between
    /// the two nodes. None during the handshake.
    pub fn binding(&self) -> Option<[u8; BINDING_BYTES]> {
        self.connection.export_keying_material([0; BINDING_BYTES], BINDING_LABEL, None).ok()
    }
}

/// The reason, and what to do.
fn describe(error: &rustls::Error) -> String {
    match error {
        // The second: by a CA of the same name with another key.
        rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "the node's certificate (socket.ssl_cert) is not signed by a CA in socket.ssl_ca of this node".to_owned()
        }
        rustls::Error::InvalidCertificate(reason) => format!("the node's certificate is refused: {reason}"),
        rustls::Error::NoCertificatesPresented => "the node presents no certificate".to_owned(),
        rustls::Error::AlertReceived(
            alert @ (AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::DecryptError),
        ) => format!(
            "the node there refuses the certificate of this node (socket.ssl_cert; alert {alert:?}): its socket.ssl_ca \
             must have the CA that signed the certificate; its error log has the reason"
        ),
        rustls::Error::AlertReceived(alert) => {
            format!("the other side refuses the TLS connection (alert {alert:?}); its error log has the reason")
        }
        error => format!("the TLS connection has failed: {error}"),
    }
}
