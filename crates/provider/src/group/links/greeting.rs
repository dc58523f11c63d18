//! Who may be linked, and by which of two connections; and how a connection ends.

use std::net::Shutdown;
use std::time::Instant;

use super::dial::Standing;
use super::notes::one_line;
use super::stream::Stage;
use super::{Event, LINKS_LIMIT, Links};
use crate::group::descent::Kinship;
use crate::group::wire::{self, Arrived, BODY_LIMIT_BYTES, Hello, Signal};
use crate::identity::Uuid;

/// Why two nodes of different histories part.
pub(super) fn histories_differ(own: &Hello, other: &Hello) -> Option<String> {
    if own.history.is_undefined() || other.history.is_undefined() || own.history == other.history {
        return None;
    }
    Some(format!(
        "histories differ: {} belongs to {}, {} to {}; a node whose data come from another cluster joins this one only after \
         its provider's log and state were moved away",
        one_line(&other.name),
        other.history,
        one_line(&own.name),
        own.history,
    ))
}

/// Why two nodes may not be linked.
fn differ(own: &Hello, other: &Hello) -> Option<String> {
    if own.group != other.group {
        return Some(format!(
            "cluster names differ: {} is in `{}`, {} in `{}`; see wsrep_cluster_name and wsrep_cluster_address",
            one_line(&other.name),
            one_line(&other.group),
            one_line(&own.name),
            one_line(&own.group),
        ));
    }
    if own.node == other.node {
        return Some(format!(
            "{} at {} and {} at {} are the same node ({}): the data of one were copied from the other; move the \
             provider's log and state of the copy away",
            one_line(&other.name),
            one_line(&other.address),
            one_line(&own.name),
            one_line(&own.address),
            own.node,
        ));
    }
    histories_differ(own, other)
}

impl Links {
    /// Takes what arrived on a connection that is not a message on a link.
    pub(super) fn take(&mut self, id: u64, arrived: Arrived) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        match (&mut stream.stage, arrived) {
            (Stage::Greeting, Arrived::Signal(Signal::Hello(hello))) => self.greet(id, hello),
            (Stage::Greeting, Arrived::Signal(Signal::Already { life })) if stream.dialled.is_some() => {
                self.settle(id, life);
            }
            (Stage::Linked(peer), Arrived::Signal(Signal::Belongs { history, descent })) => {
                (peer.history, peer.descent) = (history, descent);
                let peer = peer.clone();
                self.part_from_strangers(id, &peer);
            }
            (Stage::Greeting | Stage::Linked(_), Arrived::Signal(Signal::Rejected { text })) => {
                if let Some(target) = stream.dialled.as_ref().and_then(|address| self.targets.get_mut(address)) {
                    target.rejected();
                }
                self.end(id, &format!("the node there says: {}", one_line(&text)));
            }
            (Stage::Linked(_), Arrived::Signal(Signal::Alive)) | (Stage::Leaving | Stage::Connecting, _) => {}
            (Stage::Greeting, _) => self.reject(id, "it did not begin by saying who it is"),
            (Stage::Linked(_), _) => self.reject(id, "it said twice who it is"),
        }
    }

    fn greet(&mut self, id: u64, hello: Hello) {
        let is_dialled = self.streams.get(&id).is_some_and(|stream| stream.dialled.is_some());
        if hello.life == self.own.life {
            return self.recognise_own(id);
        }
        if let Some(text) = differ(&self.own, &hello) {
            return self.reject(id, &text);
        }
        if !is_dialled && self.own.descent.kinship(&hello.descent) != Kinship::Same {
            // It finds out by itself how it stands to this node.
            self.signal(id, &Signal::Hello(self.own.clone()));
        }
        if self.part_from_kin(id, &hello) {
            return;
        }
        match self.linked.get(&hello.node).copied() {
            Some(old) if self.is_better(old, is_dialled, &hello) => {
                // Should the other side have lost the old one, this makes it say so.
                self.signal(old, &Signal::Alive);
                return if is_dialled {
                    self.settle(id, hello.life);
                } else {
                    self.part(id, &Signal::Already { life: self.own.life });
                };
            }
            Some(old) => self.replace(old, &hello),
            None if self.linked.len() >= LINKS_LIMIT => {
                return self.reject(id, &format!("{LINKS_LIMIT} nodes are linked already, which is the limit"));
            }
            None => {}
        }
        if !is_dialled {
            self.signal(id, &Signal::Hello(self.own.clone()));
        }
        self.link(id, hello);
    }

    /// Whether a link is kept in place of a new connection to the same node.
    fn is_better(&self, old: u64, is_dialled: bool, hello: &Hello) -> bool {
        let Some(old) = self.streams.get(&old) else { return false };
        let is_same_life = old.peer().is_some_and(|peer| peer.life == hello.life);
        is_same_life && old.dialled.is_some() != is_dialled && is_dialled != (self.own.life < hello.life)
    }

    /// Ends a link for a newer connection to the same node.
    fn replace(&mut self, old: u64, hello: &Hello) {
        let Some(life) = self.streams.get(&old).and_then(|stream| Some(stream.peer()?.life)) else { return };
        if life == hello.life {
            return self.end(old, "another connection to it takes the place of this one");
        }
        for target in self.targets.values_mut().filter(|target| target.life == Some(life)) {
            target.life = Some(hello.life);
        }
        self.end(old, "it has started anew");
    }

    fn link(&mut self, id: u64, peer: Hello) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.enter(Stage::Linked(Box::new(peer.clone())), Instant::now());
        stream.arriving.allow(BODY_LIMIT_BYTES);
        if let Some(target) = stream.dialled.as_ref().and_then(|address| self.targets.get_mut(address)) {
            target.life = Some(peer.life);
            target.answered();
        }
        self.linked.insert(peer.node, id);
        self.serve_targets();
        self.waiting.push(Event::Up(peer));
    }

    /// Addresses that lead to linked nodes are not dialled.
    pub(super) fn serve_targets(&mut self) {
        for (address, target) in &mut self.targets {
            let mut peers = self.linked.values().filter_map(|id| self.streams.get(id)?.peer());
            let leads_to = |peer: &&Hello| target.life == Some(peer.life) || peer.address == *address;
            if matches!(target.standing, Standing::Waits(_))
                && let Some(peer) = peers.find(leads_to)
            {
                target.standing = Standing::Served(peer.life);
            }
        }
    }

    /// The dialled address leads to a node that has, or wants, another connection with this one.
    fn settle(&mut self, id: u64, life: Uuid) {
        let Some(stream) = self.streams.remove(&id) else { return };
        if let Some(target) = stream.dialled.and_then(|address| self.targets.get_mut(&address)) {
            target.life = Some(life);
            target.answered();
            target.failed(None, Instant::now());
        }
        self.serve_targets();
    }

    /// Both ends of the connection are here.
    fn recognise_own(&mut self, id: u64) {
        let target = self.streams.get(&id).and_then(|stream| self.targets.get_mut(stream.dialled.as_ref()?));
        if let Some(target) = target {
            target.standing = Standing::Own;
            self.streams.remove(&id);
        } else {
            self.part(id, &Signal::Hello(self.own.clone()));
        }
    }

    /// Puts a signal behind what waits.
    pub(super) fn signal(&mut self, id: u64, signal: &Signal) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if let Err(why) = stream.outgoing.push(|buffer| wire::encode_signal(buffer, signal)) {
            self.end(id, &why.to_string());
        }
    }

    /// Parts from the other side, and tells it and the log why.
    pub(super) fn reject(&mut self, id: u64, text: &str) {
        let is_link = self.streams.get(&id).is_some_and(|stream| stream.peer().is_some());
        if !is_link {
            self.note(id, text);
        }
        self.refuse(id, text);
    }

    /// The same, where the log was told.
    pub(super) fn refuse(&mut self, id: u64, text: &str) {
        if let Some(target) = self.target_of(id) {
            target.rejected();
        }
        self.unlink(id, text);
        self.part(id, &Signal::Rejected { text: text.to_owned() });
    }

    /// Says a last word, and closes once the other side had time to read it: closed with something unread, a connection is
    /// torn down and the word may be lost.
    fn part(&mut self, id: u64, last: &Signal) {
        let now = Instant::now();
        self.signal(id, last);
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.enter(Stage::Leaving, now);
        stream.flush(now);
        if stream.outgoing.bytes() == 0 {
            let _ = stream.socket.shutdown(Shutdown::Write);
        }
    }

    /// Closes a connection.
    pub(super) fn end(&mut self, id: u64, why: &str) {
        let stage = self.streams.get(&id).map(|stream| &stream.stage);
        if matches!(stage, Some(Stage::Connecting | Stage::Greeting)) && !self.is_isolated {
            self.note(id, why);
        }
        self.unlink(id, why);
        self.streams.remove(&id);
    }

    /// From here on the connection is no link, nor will it be one.
    fn unlink(&mut self, id: u64, why: &str) {
        let now = Instant::now();
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if matches!(stream.stage, Stage::Leaving) {
            return;
        }
        let mut lived = None;
        if let Stage::Linked(peer) = std::mem::replace(&mut stream.stage, Stage::Leaving) {
            lived = Some(now.saturating_duration_since(stream.since));
            self.linked.remove(&peer.node);
            self.waiting.push(Event::Down { node: peer.node, why: why.to_owned() });
            for target in self.targets.values_mut().filter(|target| target.standing == Standing::Served(peer.life)) {
                target.again_at(now);
            }
        }
        if let Some(target) = self.target_of(id) {
            target.failed(lived, now);
        }
    }

    fn target_of(&mut self, id: u64) -> Option<&mut super::Target> {
        let address = self.streams.get(&id)?.dialled.as_ref()?;
        self.targets.get_mut(address)
    }

    /// Tells the log of a connection that came to nothing.
    fn note(&mut self, id: u64, text: &str) {
        let Some(stream) = self.streams.get(&id) else { return };
        let (host, address) = match &stream.dialled {
            Some(address) if !self.targets.contains_key(address) => return,
            Some(address) => (address.as_str(), address.as_str()),
            None => (stream.place.rsplit_once(':').map_or("", |(host, _)| host), stream.place.as_str()),
        };
        let event = self.notes.refused(host, address, text, Instant::now());
        self.waiting.extend(event);
    }
}
