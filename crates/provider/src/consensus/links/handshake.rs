//! The handshake: which nodes may link, which of two connections stays, and how a connection ends.

use std::time::Instant;

use super::dial::DialState;
use super::log_limiter::one_line;
use super::proof::missing_security;
use super::stream::Stage;
use super::transport::Transport;
use super::version_check::link_version;
use super::{Event, LINKS_LIMIT, Links};
use crate::consensus::lineage::LineageRelation;
use crate::consensus::wire::{self, BODY_LIMIT_BYTES, Hello, IncomingFrame, Signal};
use crate::identity::Uuid;

/// Why two nodes with different history UUIDs may not link.
pub(super) fn history_mismatch(own: &Hello, other: &Hello) -> Option<String> {
    if own.history_uuid.is_undefined() || other.history_uuid.is_undefined() || own.history_uuid == other.history_uuid {
        return None;
    }
    Some(format!(
        "history UUIDs differ: {} belongs to {}, {} to {}. A node with data of another cluster can join only after \
         its provider's log and state files are moved away",
        one_line(&other.name),
        other.history_uuid,
        one_line(&own.name),
        own.history_uuid,
    ))
}

/// Why two nodes may not link.
fn identity_mismatch(own: &Hello, other: &Hello) -> Option<String> {
    if own.cluster_name != other.cluster_name {
        return Some(format!(
            "cluster names differ: {} is in `{}`, {} in `{}`. Check wsrep_cluster_name and wsrep_cluster_address",
            one_line(&other.name),
            one_line(&other.cluster_name),
            one_line(&own.name),
            one_line(&own.cluster_name),
        ));
    }
    if own.node == other.node {
        return Some(format!(
            "{} at {} and {} at {} have the same node id ({}): the data of one are a copy of the other's. Move the \
             provider's log and state files of the copy away",
            one_line(&other.name),
            one_line(&other.address),
            one_line(&own.name),
            one_line(&own.address),
            own.node,
        ));
    }
    history_mismatch(own, other)
}

impl Links {
    /// Handles a frame that is not a message on a link.
    pub(super) fn on_signal(&mut self, id: u64, received: IncomingFrame) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if matches!(stream.transport, Transport::PlainAnswer) {
            return self.on_plain_answer(id, received);
        }
        match (&mut stream.stage, received) {
            (Stage::Handshake, IncomingFrame::Signal(Signal::Challenge { nonce })) => self.on_challenge(id, nonce),
            (Stage::Handshake, IncomingFrame::Signal(Signal::Hello(hello))) if stream.handshake.peer.is_none() => {
                self.on_hello(id, hello);
            }
            (Stage::Handshake, IncomingFrame::Signal(Signal::Proof { mac })) => self.on_proof(id, &mac),
            (Stage::Handshake, IncomingFrame::Signal(Signal::Duplicate { instance_id }))
                if stream.dialled.is_some() =>
            {
                self.on_duplicate(id, instance_id);
            }
            (Stage::Handshake, IncomingFrame::Signal(Signal::Lineage { history_uuid, lineage })) => {
                match &mut stream.handshake.peer {
                    Some(peer) => (peer.history_uuid, peer.lineage) = (history_uuid, lineage),
                    None => self.reject(id, "the first frame is no hello"),
                }
            }
            (Stage::Linked(peer), IncomingFrame::Signal(Signal::Lineage { history_uuid, lineage })) => {
                (peer.history_uuid, peer.lineage) = (history_uuid, lineage);
                let peer = peer.clone();
                self.recheck_peer(id, &peer);
            }
            (Stage::Handshake | Stage::Linked(_), IncomingFrame::Signal(Signal::Rejected { text })) => {
                self.on_rejected(id, &text);
            }
            (Stage::Linked(_), IncomingFrame::Signal(Signal::Keepalive)) | (Stage::Closing | Stage::Connecting, _) => {}
            (Stage::Handshake, _) if stream.handshake.peer.is_some() => {
                self.reject(id, "the node has sent another frame before the link is up");
            }
            (Stage::Handshake, _) => self.reject(id, "the first frame is no hello"),
            (Stage::Linked(_), _) => self.reject(id, "the node has sent a second hello"),
        }
    }

    fn on_rejected(&mut self, id: u64, text: &str) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let may_lack_secret = matches!(stream.stage, Stage::Handshake) && stream.transport.tls().is_none();
        let tries_unsecured = may_lack_secret && stream.security.is_dynamic && !stream.handshake.is_unsecured;
        if let Some(target) = stream.dialled.as_ref().and_then(|address| self.targets.get_mut(address)) {
            target.on_rejected();
            target.tries_unsecured = tries_unsecured;
        }
        self.close(id, &format!("the node there refuses the link: {}", one_line(text)));
    }

    fn on_hello(&mut self, id: u64, hello: Hello) {
        if hello.instance_id == self.own.instance_id {
            return self.on_self_connection(id);
        }
        if let Some(text) = identity_mismatch(&self.own, &hello).or_else(|| link_version(&self.own, &hello).err()) {
            return self.reject(id, &text);
        }
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if let Some(text) = missing_security(stream) {
            return self.reject(id, &text);
        }
        let is_dialled = stream.dialled.is_some();
        let Some(authentication) = &mut stream.handshake.authentication else {
            return self.on_authenticated(id, hello);
        };
        authentication.on_hello(&hello);
        stream.handshake.peer = Some(hello);
        if is_dialled {
            self.send_proof(id);
        } else {
            self.send_hello(id);
        }
    }

    /// The node may link, if it belongs to the same cluster and has no better connection.
    pub(super) fn on_admitted(&mut self, id: u64, hello: Hello) {
        // Another version may be in force since the hello.
        if let Err(text) = link_version(&self.own, &hello) {
            return self.reject(id, &text);
        }
        let is_dialled = self.streams.get(&id).is_some_and(|stream| stream.dialled.is_some());
        if !is_dialled && self.own.lineage.relation_to(&hello.lineage) != LineageRelation::Same {
            // The other side compares the lineages by itself.
            self.send_acceptance(id);
        }
        if self.reject_other_lineage(id, &hello) {
            return;
        }
        match self.linked.get(&hello.node).copied() {
            Some(old) if self.should_keep(old, is_dialled, &hello) => {
                // If the other side has lost the old link, sending on it makes this side notice.
                self.send_signal(old, &Signal::Keepalive);
                return if is_dialled {
                    self.on_duplicate(id, hello.instance_id);
                } else {
                    self.close_after(id, &Signal::Duplicate { instance_id: self.own.instance_id });
                };
            }
            Some(old) => self.replace_link(old, &hello),
            None if self.linked.len() >= LINKS_LIMIT => {
                return self.reject(id, &format!("the limit of {LINKS_LIMIT} linked nodes is reached"));
            }
            None => {}
        }
        if !is_dialled {
            self.send_acceptance(id);
        }
        self.establish_link(id, hello);
    }

    /// Sends what makes the dialling side bring its link up: the proof, or without a secret the hello.
    fn send_acceptance(&mut self, id: u64) {
        if self.streams.get(&id).is_some_and(|stream| stream.handshake.authentication.is_some()) {
            self.send_proof(id);
        } else {
            self.send_hello(id);
        }
    }

    /// Whether the old link stays, and the new connection to the same node is closed.
    fn should_keep(&self, old: u64, is_dialled: bool, hello: &Hello) -> bool {
        let Some(old) = self.streams.get(&old) else { return false };
        let is_same_life = old.peer().is_some_and(|peer| peer.instance_id == hello.instance_id);
        is_same_life && old.dialled.is_some() != is_dialled && is_dialled != (self.own.instance_id < hello.instance_id)
    }

    /// Closes a link in favour of a newer connection to the same node.
    fn replace_link(&mut self, old: u64, hello: &Hello) {
        let Some(instance_id) = self.streams.get(&old).and_then(|stream| Some(stream.peer()?.instance_id)) else {
            return;
        };
        if instance_id == hello.instance_id {
            return self.close(old, "another connection to the node replaces this one");
        }
        for target in self.targets.values_mut().filter(|target| target.instance_id == Some(instance_id)) {
            target.instance_id = Some(hello.instance_id);
        }
        self.close(old, "the node has restarted");
    }

    fn establish_link(&mut self, id: u64, peer: Hello) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.version = link_version(&self.own, &peer).unwrap_or(stream.version);
        stream.enter(Stage::Linked(Box::new(peer.clone())), Instant::now());
        stream.incoming.set_limit(BODY_LIMIT_BYTES);
        if let Some(target) = stream.dialled.as_ref().and_then(|address| self.targets.get_mut(address)) {
            target.instance_id = Some(peer.instance_id);
            target.on_answered();
        }
        self.linked.insert(peer.node, id);
        self.mark_linked_targets();
        self.pending_events.push(Event::Up(peer));
    }

    /// Addresses of linked nodes are not dialled.
    pub(super) fn mark_linked_targets(&mut self) {
        for (address, target) in &mut self.targets {
            let mut peers = self.linked.values().filter_map(|id| self.streams.get(id)?.peer());
            let leads_to = |peer: &&Hello| target.instance_id == Some(peer.instance_id) || peer.address == *address;
            if matches!(target.state, DialState::Waiting(_))
                && let Some(peer) = peers.find(leads_to)
            {
                target.state = DialState::LinkedElsewhere(peer.instance_id);
            }
        }
    }

    /// The dialled node has, or prefers, another connection with this node.
    fn on_duplicate(&mut self, id: u64, instance_id: Uuid) {
        let Some(stream) = self.streams.remove(&id) else { return };
        if let Some(target) = stream.dialled.and_then(|address| self.targets.get_mut(&address)) {
            target.instance_id = Some(instance_id);
            target.on_answered();
            target.on_failed(None, Instant::now());
        }
        self.mark_linked_targets();
    }

    /// Both ends of the connection are this node.
    fn on_self_connection(&mut self, id: u64) {
        let target = self.streams.get(&id).and_then(|stream| self.targets.get_mut(stream.dialled.as_ref()?));
        if let Some(target) = target {
            target.state = DialState::Own;
            self.streams.remove(&id);
        } else {
            self.close_after(id, &Signal::Hello(self.own.clone()));
        }
    }

    /// Queues this node's hello.
    pub(super) fn send_hello(&mut self, id: u64) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if let Some(authentication) = &mut stream.handshake.authentication {
            authentication.on_hello_sent(&self.own);
        }
        self.send_signal(id, &Signal::Hello(self.own.clone()));
    }

    /// Queues a signal.
    pub(super) fn send_signal(&mut self, id: u64, signal: &Signal) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if let Err(why) = stream.send_queue.push(|buffer| wire::encode_signal(buffer, signal)) {
            self.close(id, &why.to_string());
        }
    }

    /// Closes the connection with a reason, for the other side and the error log.
    pub(super) fn reject(&mut self, id: u64, text: &str) {
        let is_link = self.streams.get(&id).is_some_and(|stream| stream.peer().is_some());
        if !is_link {
            self.log_failure(id, text);
        }
        self.reject_without_log(id, text);
    }

    /// The same, if the error log has the reason already.
    pub(super) fn reject_without_log(&mut self, id: u64, text: &str) {
        if let Some(target) = self.target_of(id) {
            target.on_rejected();
        }
        self.unlink(id, text);
        self.close_after(id, &Signal::Rejected { text: text.to_owned() });
    }

    /// Sends a last frame, and closes when the other side has had time to read it: a close with unread input resets the
    /// connection, and the frame may be lost.
    fn close_after(&mut self, id: u64, last: &Signal) {
        let now = Instant::now();
        self.send_signal(id, last);
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.enter(Stage::Closing, now);
        stream.finish_output(now);
    }

    /// TLS has failed. The other side gets the alert that TLS has for it, and time to read it.
    pub(super) fn on_tls_failure(&mut self, id: u64, text: &str) {
        let Some(stream) = self.streams.get(&id) else { return };
        if stream.peer().is_none() {
            self.log_failure(id, text);
        }
        if let Some(target) = self.target_of(id) {
            target.on_rejected();
        }
        self.unlink(id, text);
        let now = Instant::now();
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.enter(Stage::Closing, now);
            stream.finish_output(now);
        }
    }

    /// Closes a connection.
    pub(super) fn close(&mut self, id: u64, why: &str) {
        let stage = self.streams.get(&id).map(|stream| &stream.stage);
        if matches!(stage, Some(Stage::Connecting | Stage::Handshake)) && !self.is_isolated {
            self.log_failure(id, why);
        }
        self.unlink(id, why);
        self.streams.remove(&id);
    }

    /// The connection is no longer a link, and will not become one.
    fn unlink(&mut self, id: u64, why: &str) {
        let now = Instant::now();
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if matches!(stream.stage, Stage::Closing) {
            return;
        }
        let mut lived = None;
        if let Stage::Linked(peer) = std::mem::replace(&mut stream.stage, Stage::Closing) {
            lived = Some(now.saturating_duration_since(stream.since));
            self.linked.remove(&peer.node);
            self.pending_events.push(Event::Down { node: peer.node, why: why.to_owned() });
            for target in
                self.targets.values_mut().filter(|target| target.state == DialState::LinkedElsewhere(peer.instance_id))
            {
                target.schedule(now);
            }
        }
        if let Some(target) = self.target_of(id) {
            target.on_failed(lived, now);
        }
    }

    fn target_of(&mut self, id: u64) -> Option<&mut super::DialTarget> {
        let address = self.streams.get(&id)?.dialled.as_ref()?;
        self.targets.get_mut(address)
    }

    /// Logs a connection that did not become a link.
    fn log_failure(&mut self, id: u64, text: &str) {
        let Some(stream) = self.streams.get(&id) else { return };
        let (host, address) = match &stream.dialled {
            Some(address) if !self.targets.contains_key(address) => return,
            Some(address) => (address.as_str(), address.as_str()),
            None => (stream.peer_address.rsplit_once(':').map_or("", |(host, _)| host), stream.peer_address.as_str()),
        };
        let event = self.log_limiter.refused_event(host, address, text, Instant::now());
        self.pending_events.extend(event);
    }
}
