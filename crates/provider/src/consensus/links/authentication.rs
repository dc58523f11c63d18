//! The proof that both nodes know the secret (`auth.secret_file`), as a state machine without input and output.
//!
//! ```text
//!   dialling side                       accepting side
//!   Challenge, Hello ─────────────────►
//!                    ◄───────────────── Challenge, Hello
//!   Proof            ─────────────────► checked first: a stranger who calls learns nothing to try secrets on
//!   checked          ◄───────────────── Proof; the link is up there
//!   the link is up here
//! ```
//!
//! A proof is the code (HMAC-SHA-256) of the prover's side, both challenges, both hellos and, with TLS, a value of the
//! session. So it holds for this connection only: not for another one, for other nodes, for the other direction, nor
//! for a connection through somebody in between. What follows the handshake is protected by TLS, or not at all.

use super::security::{MAC_BYTES, Secrets};
use crate::consensus::wire::{self, Hello, Nonce, Signal};

/// What the code is for; the end changes with the format.
const LABEL: &[u8] = b"hortator link proof 1";

/// A side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Dialler,
    Acceptor,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Dialler => Self::Acceptor,
            Self::Acceptor => Self::Dialler,
        }
    }
}

/// Why a node is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Error {
    #[error("the node has sent a second challenge")]
    SecondChallenge,
    #[error("the node has sent this node's own challenge")]
    OwnChallenge,
    #[error("the node has sent a challenge without being asked for a proof")]
    Unasked,
    #[error("the node has sent a proof too early")]
    Early,
    #[error("the node has sent a second proof")]
    SecondProof,
    #[error("the node proves another secret than that of this node: auth.secret_file must be the same on all nodes")]
    WrongProof,
}

/// The authentication on one connection.
#[derive(Debug)]
pub(super) struct Authentication {
    side: Side,
    own_nonce: Nonce,
    peer_nonce: Option<Nonce>,
    /// The hello of this node, as sent: the node may change what it says of itself during the handshake.
    own_hello: Option<Vec<u8>>,
    peer_hello: Option<Vec<u8>>,
}

impl Authentication {
    pub fn new(side: Side, own_nonce: Nonce) -> Self {
        Self { side, own_nonce, peer_nonce: None, own_hello: None, peer_hello: None }
    }

    /// This node's challenge.
    pub fn challenge(&self) -> Signal {
        Signal::Challenge { nonce: self.own_nonce }
    }

    pub fn on_challenge(&mut self, nonce: Nonce) -> Result<(), Error> {
        if self.peer_nonce.is_some() {
            return Err(Error::SecondChallenge);
        }
        if nonce == self.own_nonce {
            return Err(Error::OwnChallenge);
        }
        self.peer_nonce = Some(nonce);
        Ok(())
    }

    /// Whether the other node takes part.
    pub fn is_challenged(&self) -> bool {
        self.peer_nonce.is_some()
    }

    /// This node has sent its hello.
    pub fn on_hello_sent(&mut self, own: &Hello) {
        self.own_hello = Some(encoded(own));
    }

    /// The other node's hello has come.
    pub fn on_hello(&mut self, peer: &Hello) {
        self.peer_hello = Some(encoded(peer));
    }

    /// This node's proof. None: the other node has not said enough.
    pub fn proof(&self, secrets: &Secrets, binding: &[u8]) -> Option<Signal> {
        self.transcript(self.side, binding).map(|transcript| Signal::Proof { mac: secrets.mac(&transcript) })
    }

    /// Checks the other node's proof.
    pub fn check(&self, secrets: &Secrets, binding: &[u8], mac: &[u8; MAC_BYTES]) -> Result<(), Error> {
        let transcript = self.transcript(self.side.other(), binding).ok_or(Error::Early)?;
        if secrets.is_mac(&transcript, mac) { Ok(()) } else { Err(Error::WrongProof) }
    }

    /// What the proof of a side is the code of. Every part has a fixed length or its length before it.
    fn transcript(&self, prover: Side, binding: &[u8]) -> Option<Vec<u8>> {
        let peer_nonce = self.peer_nonce?;
        let (own_hello, peer_hello) = (self.own_hello.as_deref()?, self.peer_hello.as_deref()?);
        let (nonces, hellos) = match self.side {
            Side::Dialler => ([self.own_nonce, peer_nonce], [own_hello, peer_hello]),
            Side::Acceptor => ([peer_nonce, self.own_nonce], [peer_hello, own_hello]),
        };
        let mut transcript = LABEL.to_vec();
        transcript.push(match prover {
            Side::Dialler => 1,
            Side::Acceptor => 2,
        });
        transcript.extend_from_slice(nonces.as_flattened());
        for part in [hellos[0], hellos[1], binding] {
            transcript.extend_from_slice(&(part.len() as u64).to_le_bytes());
            transcript.extend_from_slice(part);
        }
        Some(transcript)
    }
}

fn encoded(hello: &Hello) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A hello over the limit was not sent either.
    let _ = wire::encode_signal(&mut bytes, &Signal::Hello(hello.clone()));
    bytes
}

#[cfg(test)]
mod tests;
