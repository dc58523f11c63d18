//! One poll: waits until a socket is ready, and handles it.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::stream::{Stage, Stream};
use super::{Event, Links, UNIDENTIFIED_PEERS_LIMIT};
use crate::consensus::wire::IncomingFrame;

/// Limit of accepts per poll, so that the links get their turn.
const ACCEPTS_PER_POLL: usize = 16;
/// Limit of TLS handshakes of accepted connections that go on in one poll: strangers must not keep the links waiting.
const KEY_EXCHANGES_PER_POLL: usize = 2;
/// After a failed accept, no other one for this long.
const ACCEPT_PAUSE: Duration = Duration::from_millis(500);
/// Pause after a failed poll.
const OUT_OF_MEMORY_PAUSE: Duration = Duration::from_millis(10);

/// What is ready.
struct Ready {
    waker: bool,
    listener: bool,
    streams: Vec<(u64, PollFlags)>,
}

impl Links {
    /// Sends what is queued, waits until something happens or `limit` has passed, and returns the events. It may return
    /// early without events.
    pub fn poll(&mut self, limit: Duration, events: &mut Vec<Event>) {
        let before = Instant::now();
        self.dial_due(before);
        self.flush();
        let time = if self.pending_events.is_empty() { limit.min(self.idle_time(before)) } else { Duration::ZERO };
        let time = if self.wake.may_sleep() { time } else { Duration::ZERO };
        let ready = self.wait(time);
        if self.wake.is_woken() {
            self.pending_events.push(Event::Woken);
        }
        if ready.waker {
            self.wake.drain();
        }
        let now = Instant::now();
        if ready.listener {
            self.accept(now);
        }
        let mut key_exchanges = 0;
        for (id, flags) in ready.streams {
            if self.streams.get(&id).is_some_and(Stream::costs_key_exchange) {
                key_exchanges += 1;
                if key_exchanges > KEY_EXCHANGES_PER_POLL {
                    continue;
                }
            }
            self.on_ready(id, flags, now);
        }
        self.take_admissions();
        self.close_overdue(now);
        events.append(&mut self.pending_events);
    }

    fn wait(&self, time: Duration) -> Ready {
        let mut descriptors = Vec::with_capacity(2 + self.streams.len());
        descriptors.push(PollFd::from_borrowed_fd(self.wake.event_fd(), PollFlags::IN));
        let listens = if self.accept_paused_until.is_some() { PollFlags::empty() } else { PollFlags::IN };
        descriptors.push(PollFd::from_borrowed_fd(self.listener.as_fd(), listens));
        for stream in self.streams.values() {
            let wanted = match stream.stage {
                Stage::Connecting => PollFlags::OUT,
                _ if stream.has_output() && stream.failure.is_none() => PollFlags::IN | PollFlags::OUT,
                _ => PollFlags::IN,
            };
            descriptors.push(PollFd::from_borrowed_fd(stream.socket.as_fd(), wanted));
        }
        let time = Timespec::try_from(time).ok();
        if let Err(error) = poll(&mut descriptors, time.as_ref()) {
            if error != Errno::INTR {
                // The kernel is out of memory: do not retry at once.
                std::thread::sleep(OUT_OF_MEMORY_PAUSE);
            }
            return Ready { waker: false, listener: false, streams: Vec::new() };
        }
        let flags_of = |descriptor: &PollFd<'_>| descriptor.revents();
        let ids = self.streams.keys().copied();
        let streams = ids.zip(descriptors[2..].iter().map(flags_of)).filter(|(_, flags)| !flags.is_empty());
        Ready {
            waker: !descriptors[0].revents().is_empty(),
            listener: !descriptors[1].revents().is_empty(),
            streams: streams.collect(),
        }
    }

    fn accept(&mut self, now: Instant) {
        for _ in 0..ACCEPTS_PER_POLL {
            match self.listener.accept() {
                // Drops the accepted socket: the other side retries.
                Ok(_) if self.is_isolated => {}
                Ok((socket, place)) => self.on_accepted(socket, place, now),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    _ => {
                        self.accept_paused_until = Some(now + ACCEPT_PAUSE);
                        let text = format!("cannot accept connections for now: {error}");
                        let event = self.log_limiter.refused_event("", &self.own.address, &text, now);
                        self.pending_events.extend(event);
                        return;
                    }
                },
            }
        }
    }

    fn on_accepted(&mut self, socket: TcpStream, place: SocketAddr, now: Instant) {
        if socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true)).is_err() {
            return;
        }
        let is_stranger = |stream: &Stream| stream.dialled.is_none() && stream.peer().is_none();
        let mut strangers = self.streams.iter().filter(|(_, stream)| is_stranger(stream)).map(|(id, _)| *id);
        if let Some(oldest) = strangers.next()
            && strangers.count() + 1 >= UNIDENTIFIED_PEERS_LIMIT
        {
            let text = format!("the limit of {UNIDENTIFIED_PEERS_LIMIT} connections without a handshake is reached");
            self.close(oldest, &text);
        }
        let stream = Stream::accept(socket, place.to_string(), &self.security, self.own.versions, now);
        self.streams.insert(self.next_stream, stream);
        self.next_stream += 1;
    }

    fn on_ready(&mut self, id: u64, flags: PollFlags, now: Instant) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if matches!(stream.stage, Stage::Connecting) {
            return match stream.socket.take_error() {
                Ok(None) => self.begin_handshake(id, now),
                Ok(Some(error)) | Err(error) => self.close(id, &format!("cannot connect: {error}")),
            };
        }
        if flags.contains(PollFlags::OUT) && stream.failure.is_none() {
            stream.is_blocked = false;
            stream.flush(now);
        }
        if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            stream.read_available(now);
            self.handle_received(id);
        }
    }

    /// Handles the received frames, and then the end of the connection.
    fn handle_received(&mut self, id: u64) {
        while let Some(stream) = self.streams.get_mut(&id) {
            if matches!(stream.stage, Stage::Closing) {
                stream.incoming.discard();
            }
            match stream.incoming.next() {
                Ok(Some(received)) => match (&stream.stage, received) {
                    (Stage::Linked(peer), IncomingFrame::Frame(frame)) => {
                        self.pending_events.push(Event::Message { from: peer.node, frame });
                    }
                    (_, received) => self.on_signal(id, received),
                },
                Ok(None) if stream.tls_failure.is_some() && !matches!(stream.stage, Stage::Closing) => {
                    let why = stream.tls_failure.take().unwrap_or_default();
                    return self.on_tls_failure(id, &why);
                }
                Ok(None) if stream.is_eof => {
                    let why =
                        stream.failure.take().unwrap_or_else(|| "the other side closed the connection".to_owned());
                    return self.close(id, &why);
                }
                Ok(None) => return,
                Err(error) => self.reject(id, &error.to_string()),
            }
        }
    }
}
