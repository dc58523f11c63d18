//! How the bytes of frames travel on a connection: as they are, or by TLS.
//!
//! The side that dials chooses. The first byte tells the accepting side which: `H` of a frame, or a record of TLS. A
//! side that speaks no TLS answers a record of TLS with a frame that has the reason, so the dialling side reads that.

use super::tls_session::TlsSession;

/// The first byte of a frame.
const FRAME: u8 = b'H';

/// The state of a connection's transport.
#[derive(Debug)]
pub(super) enum Transport {
    /// An accepted connection, without input so far, on a node that has TLS.
    Undecided,
    /// Frames as they are.
    Plain,
    /// By TLS.
    Tls(Box<TlsSession>),
    /// The dialled node answers TLS with frames: it has none.
    PlainAnswer,
}

impl Transport {
    /// The TLS session, if there is one.
    pub fn tls(&self) -> Option<&TlsSession> {
        match self {
            Self::Tls(session) => Some(session),
            Self::Undecided | Self::Plain | Self::PlainAnswer => None,
        }
    }

    /// Whether a frame can be sent now.
    pub fn is_open(&self) -> bool {
        match self {
            Self::Undecided | Self::Plain => true,
            Self::Tls(session) => !session.is_handshaking(),
            Self::PlainAnswer => false,
        }
    }
}

/// Whether the other side of a session that has received nothing yet speaks frames.
pub(super) fn is_plain_answer(first: u8) -> bool {
    first == FRAME
}
