//! One turn: wait until something can be done, and do it.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::stream::{Stage, Stream};
use super::{Event, Links, STRANGERS_LIMIT};
use crate::group::wire::{Arrived, Signal};

/// New connections that are taken before the others have their turn.
const ACCEPTS_PER_TURN: usize = 16;
/// After the system could not accept a connection it is not asked for so long.
const DEAF_FOR: Duration = Duration::from_millis(500);
/// After the system could not even wait.
const OUT_OF_MEMORY_PAUSE: Duration = Duration::from_millis(10);

/// What the system says can be done.
struct Ready {
    bell: bool,
    listener: bool,
    streams: Vec<(u64, PollFlags)>,
}

impl Links {
    /// Sends what is queued, waits until something happens or the time is over, and says what happened. It may return early
    /// with nothing to say.
    pub fn poll(&mut self, limit: Duration, events: &mut Vec<Event>) {
        let before = Instant::now();
        self.dial_due(before);
        self.flush();
        let time = if self.waiting.is_empty() { limit.min(self.idle_time(before)) } else { Duration::ZERO };
        let time = if self.wake.may_sleep() { time } else { Duration::ZERO };
        let ready = self.wait(time);
        if self.wake.is_woken() {
            self.waiting.push(Event::Woken);
        }
        if ready.bell {
            self.wake.silence();
        }
        let now = Instant::now();
        if ready.listener {
            self.accept(now);
        }
        for (id, flags) in ready.streams {
            self.serve(id, flags, now);
        }
        self.end_overdue(now);
        events.append(&mut self.waiting);
    }

    fn wait(&self, time: Duration) -> Ready {
        let mut descriptors = Vec::with_capacity(2 + self.streams.len());
        descriptors.push(PollFd::from_borrowed_fd(self.wake.bell(), PollFlags::IN));
        let listens = if self.deaf_until.is_some() { PollFlags::empty() } else { PollFlags::IN };
        descriptors.push(PollFd::from_borrowed_fd(self.listener.as_fd(), listens));
        for stream in self.streams.values() {
            let wanted = match stream.stage {
                Stage::Connecting => PollFlags::OUT,
                _ if stream.outgoing.bytes() > 0 && stream.failure.is_none() => PollFlags::IN | PollFlags::OUT,
                _ => PollFlags::IN,
            };
            descriptors.push(PollFd::from_borrowed_fd(stream.socket.as_fd(), wanted));
        }
        let time = Timespec::try_from(time).ok();
        if let Err(error) = poll(&mut descriptors, time.as_ref()) {
            if error != Errno::INTR {
                // The kernel is out of memory: not at once again.
                std::thread::sleep(OUT_OF_MEMORY_PAUSE);
            }
            return Ready { bell: false, listener: false, streams: Vec::new() };
        }
        let flags_of = |descriptor: &PollFd<'_>| descriptor.revents();
        let ids = self.streams.keys().copied();
        let streams = ids.zip(descriptors[2..].iter().map(flags_of)).filter(|(_, flags)| !flags.is_empty());
        Ready {
            bell: !descriptors[0].revents().is_empty(),
            listener: !descriptors[1].revents().is_empty(),
            streams: streams.collect(),
        }
    }

    fn accept(&mut self, now: Instant) {
        for _ in 0..ACCEPTS_PER_TURN {
            match self.listener.accept() {
                // What was accepted is closed: who calls finds nobody, and tries again.
                Ok(_) if self.is_isolated => {}
                Ok((socket, place)) => self.welcome(socket, place, now),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return,
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => {}
                    _ => {
                        self.deaf_until = Some(now + DEAF_FOR);
                        let text = format!("cannot accept connections for now: {error}");
                        let event = self.notes.refused("", &self.own.address, &text, now);
                        self.waiting.extend(event);
                        return;
                    }
                },
            }
        }
    }

    fn welcome(&mut self, socket: TcpStream, place: SocketAddr, now: Instant) {
        if socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true)).is_err() {
            return;
        }
        let is_stranger = |stream: &Stream| stream.dialled.is_none() && stream.peer().is_none();
        let mut strangers = self.streams.iter().filter(|(_, stream)| is_stranger(stream)).map(|(id, _)| *id);
        if let Some(oldest) = strangers.next()
            && strangers.count() + 1 >= STRANGERS_LIMIT
        {
            let text = format!("{STRANGERS_LIMIT} connections have not said who they are, which is the limit");
            self.end(oldest, &text);
        }
        let stream = Stream::new(socket, Stage::Greeting, place.to_string(), None, now);
        self.streams.insert(self.next_stream, stream);
        self.next_stream += 1;
    }

    fn serve(&mut self, id: u64, flags: PollFlags, now: Instant) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        if matches!(stream.stage, Stage::Connecting) {
            return match stream.socket.take_error() {
                Ok(None) => {
                    stream.enter(Stage::Greeting, now);
                    self.signal(id, &Signal::Hello(self.own.clone()));
                }
                Ok(Some(error)) | Err(error) => self.end(id, &format!("cannot connect: {error}")),
            };
        }
        if flags.contains(PollFlags::OUT) && stream.failure.is_none() {
            stream.is_blocked = false;
            stream.flush(now);
        }
        if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            stream.fill(now);
            self.take_arrived(id);
        }
    }

    /// Takes the frames that are there, and then the connection's end.
    fn take_arrived(&mut self, id: u64) {
        while let Some(stream) = self.streams.get_mut(&id) {
            if matches!(stream.stage, Stage::Leaving) {
                stream.arriving.forget();
            }
            match stream.arriving.next() {
                Ok(Some(arrived)) => match (&stream.stage, arrived) {
                    (Stage::Linked(peer), Arrived::Frame(frame)) => {
                        self.waiting.push(Event::Message { from: peer.node, frame });
                    }
                    (_, arrived) => self.take(id, arrived),
                },
                Ok(None) if stream.is_over => {
                    let why = stream.failure.take().unwrap_or_else(|| "closed by the other side".to_owned());
                    return self.end(id, &why);
                }
                Ok(None) => return,
                Err(error) => self.reject(id, &error.to_string()),
            }
        }
    }
}
