//! What a node proves on a connection before it may link: TLS, the secret, and that the server lets its address join.
//!
//! The order: TLS, the hellos, the proofs, the server's answer. Only then the nodes compare what they are part of: a
//! stranger's claims about that change nothing here.

use std::fs::File;
use std::io::{self, Read};
use std::time::Instant;

use super::Links;
use super::admission::Admission;
use super::authentication::{self, Authentication, Side};
use super::log_limiter::one_line;
use super::security::MAC_BYTES;
use super::stream::{Stage, Stream};
use super::tls_session::TlsSession;
use super::transport::Transport;
use crate::consensus::wire::{Hello, IncomingFrame, Nonce, Signal};

/// What the connection lacks, and this node requires.
pub(super) fn missing_security(stream: &Stream) -> Option<String> {
    let security = &stream.security;
    if security.requires_tls() && stream.transport.tls().is_none() {
        return Some(
            "this node links by TLS only: set socket.ssl, socket.ssl_key, socket.ssl_cert and socket.ssl_ca on \
                     all nodes"
                .to_owned(),
        );
    }
    let takes_part = stream.handshake.authentication.as_ref().is_some_and(Authentication::is_challenged);
    let is_missing = match &stream.handshake.authentication {
        // A dynamic node that has asked for a proof gets one, or a refusal.
        Some(_) => !takes_part,
        None => security.requires_proof(),
    };
    is_missing.then(|| {
        "this node links only with nodes that prove that they know its secret: set auth.secret_file on all nodes"
            .to_owned()
    })
}

fn random_nonce() -> io::Result<Nonce> {
    let mut nonce = Nonce::default();
    File::open("/dev/urandom")?.read_exact(&mut nonce)?;
    Ok(nonce)
}

impl Links {
    /// The dialled node has answered TLS with a frame.
    pub(super) fn on_plain_answer(&mut self, id: u64, received: IncomingFrame) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let said = match received {
            IncomingFrame::Signal(Signal::Rejected { text }) => format!(": {}", one_line(&text)),
            _ => String::new(),
        };
        let is_dynamic = stream.security.is_dynamic;
        if let Some(target) = stream.dialled.as_ref().and_then(|address| self.targets.get_mut(address)) {
            target.tries_unsecured = is_dynamic;
        }
        let next = if is_dynamic { ", so this node connects without (socket.dynamic)" } else { "" };
        self.close(id, &format!("the node there has no TLS (socket.ssl), and this node has{next}{said}"));
    }

    /// The connect was successful: begins the handshake.
    pub(super) fn begin_handshake(&mut self, id: u64, now: Instant) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.enter(Stage::Handshake, now);
        let target = stream.dialled.as_ref().and_then(|address| self.targets.get_mut(address));
        stream.handshake.is_unsecured = target.is_some_and(|target| std::mem::take(&mut target.tries_unsecured));
        if !stream.handshake.is_unsecured {
            if let Some(configs) = &stream.security.tls {
                match TlsSession::dial(configs) {
                    Ok(session) => stream.transport = Transport::Tls(Box::new(session)),
                    Err(error) => return self.close(id, &error.to_string()),
                }
            }
            if self.challenge(id, Side::Dialler).is_none() {
                return;
            }
        }
        self.send_hello(id);
    }

    /// Sends a challenge, if this node has a secret. None: the connection is closed.
    fn challenge(&mut self, id: u64, side: Side) -> Option<()> {
        let stream = self.streams.get_mut(&id)?;
        if stream.security.secrets.is_none() {
            return Some(());
        }
        match random_nonce() {
            Ok(nonce) => {
                let authentication = Authentication::new(side, nonce);
                let challenge = authentication.challenge();
                stream.handshake.authentication = Some(authentication);
                self.send_signal(id, &challenge);
                Some(())
            }
            Err(error) => {
                self.reject(id, &format!("no random number for a challenge: {error}"));
                None
            }
        }
    }

    pub(super) fn on_challenge(&mut self, id: u64, nonce: Nonce) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if stream.security.secrets.is_none() {
            return self.reject(
                id,
                &format!(
                    "{} has no shared secret, and the node that connects asks for a proof of one: set auth.secret_file \
                     on all nodes",
                    one_line(&self.own.name)
                ),
            );
        }
        if stream.handshake.is_unsecured {
            // A node that asks for a proof has had one offered before: a proof of the wrong side must not go there.
            return self.reject(id, &authentication::Error::Unasked.to_string());
        }
        if stream.handshake.authentication.is_none() && self.challenge(id, Side::Acceptor).is_none() {
            return;
        }
        let authentication = self.streams.get_mut(&id).and_then(|stream| stream.handshake.authentication.as_mut());
        if let Some(Err(error)) = authentication.map(|authentication| authentication.on_challenge(nonce)) {
            self.reject(id, &error.to_string());
        }
    }

    pub(super) fn send_proof(&mut self, id: u64) {
        let Some(stream) = self.streams.get(&id) else { return };
        let (Some(secrets), Some(authentication)) = (&stream.security.secrets, &stream.handshake.authentication) else {
            return;
        };
        if let Some(proof) = authentication.proof(secrets, &stream.binding()) {
            self.send_signal(id, &proof);
        }
    }

    pub(super) fn on_proof(&mut self, id: u64, mac: &[u8; MAC_BYTES]) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let verdict = match (&stream.security.secrets, &stream.handshake.authentication) {
            (Some(_), Some(_)) if stream.is_authenticated => Err(authentication::Error::SecondProof),
            (Some(secrets), Some(authentication)) => authentication.check(secrets, &stream.binding(), mac),
            _ => Err(authentication::Error::Early),
        };
        if let Err(error) = verdict {
            return self.reject(id, &error.to_string());
        }
        stream.is_authenticated = true;
        if let Some(hello) = stream.handshake.peer.take() {
            self.on_authenticated(id, hello);
        }
    }

    /// The node is who it says. The server may know that it must not join.
    pub(super) fn on_authenticated(&mut self, id: u64, hello: Hello) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let Some(admission) = self.admission.as_mut().filter(|_| stream.dialled.is_none()) else {
            return self.on_admitted(id, hello);
        };
        let asked = match stream.socket.peer_addr() {
            Ok(address) => admission.ask(id, address.ip(), &self.wake),
            Err(error) => Err(format!("the address of the node is unknown: {error}")),
        };
        stream.handshake.awaits_admission = true;
        stream.handshake.peer = Some(hello);
        if let Err(text) = asked {
            self.reject(id, &text);
        }
    }

    /// Takes the server's answers about nodes.
    pub(super) fn take_admissions(&mut self) {
        let answers = self.admission.as_ref().map(Admission::take_answers).unwrap_or_default();
        for (id, is_allowed) in answers {
            let Some(stream) = self.streams.get_mut(&id) else { continue };
            if !matches!(stream.stage, Stage::Handshake) || !std::mem::take(&mut stream.handshake.awaits_admission) {
                continue;
            }
            let Some(hello) = stream.handshake.peer.take() else { continue };
            if is_allowed {
                self.on_admitted(id, hello);
                continue;
            }
            let address = stream.socket.peer_addr().map_or_else(|_| String::new(), |address| address.ip().to_string());
            let text = format!(
                "{address}, the address of {}, is not in mysql.wsrep_allowlist of {}: insert the address there if the \
                 node belongs to the cluster",
                one_line(&hello.name),
                one_line(&self.own.name),
            );
            self.reject(id, &text);
        }
    }
}
