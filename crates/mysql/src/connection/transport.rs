//! The byte stream under a connection: a Unix or TCP socket, with or without TLS.

use std::io::{self, IoSlice, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{RecvFlags, SendAncillaryBuffer, SendFlags, recv, sendmsg, sockopt};
use rustls::{ClientConnection, StreamOwned};

use super::awake::{self, Awake};
use crate::{Address, Error};

/// A silent TCP peer is probed after this time,
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
/// then at this interval,
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// and is given up after this many probes: two minutes, where Linux alone would take over two hours.
const KEEPALIVE_PROBES: u32 = 6;

/// A connected socket.
#[derive(Debug)]
pub(super) enum Socket {
    Tcp(TcpStream),
    Unix(WokenOnce),
}

/// A Unix socket whose reader sleeps in `poll`. In `recv` it would be woken twice for each statement: by the answer, and
/// before that when the server takes the statement, as there is room to write again. That costs the server's core a
/// context switch for each statement.
#[derive(Debug)]
pub(super) struct WokenOnce {
    stream: UnixStream,
    read_timeout: Option<Duration>,
    /// Of a reader that may stay awake.
    awake: Option<Awake>,
}

impl WokenOnce {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(awake) = &mut self.awake
            && awake.is_worth_it()
        {
            let begun = Instant::now();
            while begun.elapsed() < awake::LIMIT {
                match recv(&self.stream, &mut *buffer, RecvFlags::DONTWAIT) {
                    Err(Errno::WOULDBLOCK | Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                    Ok((_, bytes)) => {
                        awake.came();
                        return Ok(bytes);
                    }
                }
            }
            awake.did_not_come();
        }
        let timeout = self.read_timeout.map(Timespec::try_from).transpose().map_err(io::Error::other)?;
        let mut readable = [PollFd::new(&self.stream, PollFlags::IN)];
        // A signal ends `poll`, whatever its handler says.
        match retry_on_intr(|| poll(&mut readable, timeout.as_ref()))? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => (&self.stream).read(buffer),
        }
    }
}

impl Socket {
    /// Connects; `timeout` applies to each address of a host name.
    pub(super) fn connect(address: &Address, timeout: Duration) -> Result<Socket, Error> {
        let refused = |reason: String| Error::Connect { address: address.to_string(), reason };
        match address {
            Address::Socket(path) => match UnixStream::connect(path) {
                Ok(stream) => Ok(Socket::Unix(WokenOnce { stream, read_timeout: None, awake: None })),
                Err(error) => Err(refused(format!("{error}: check that the server runs and that this is its socket"))),
            },
            Address::Tcp { host, port } => {
                let stream = connect_tcp(host, *port, timeout).map_err(|error| refused(error.to_string()))?;
                Ok(Socket::Tcp(stream))
            }
        }
    }

    /// Sets the time limit for each read.
    pub(super) fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(stream) => stream.set_read_timeout(timeout),
            Socket::Unix(socket) => {
                socket.read_timeout = timeout;
                Ok(())
            }
        }
    }

    /// From here on, reads may stay awake for what is about to come, if the peer runs on this machine.
    pub(super) fn stay_awake(&mut self) {
        if let Socket::Unix(socket) = self {
            socket.awake = Some(Awake::default());
        }
    }

    /// Whether the peer runs on this machine.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Socket::Unix(_) => true,
            Socket::Tcp(stream) => match (stream.peer_addr(), stream.local_addr()) {
                (Ok(peer), Ok(own)) => peer.ip().is_loopback() || peer.ip() == own.ip(),
                _ => false,
            },
        }
    }

    /// Whether it is a Unix socket.
    pub(super) fn is_unix(&self) -> bool {
        matches!(self, Socket::Unix(_))
    }
}

fn connect_tcp(host: &str, port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host name has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                sockopt::set_socket_keepalive(&stream, true)?;
                sockopt::set_tcp_keepidle(&stream, KEEPALIVE_IDLE)?;
                sockopt::set_tcp_keepintvl(&stream, KEEPALIVE_INTERVAL)?;
                sockopt::set_tcp_keepcnt(&stream, KEEPALIVE_PROBES)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(stream) => stream.as_fd(),
            Socket::Unix(socket) => socket.stream.as_fd(),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Unix(socket) => socket.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    // `writev` would raise SIGPIPE on a closed connection in a process that has not ignored it.
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        Ok(sendmsg(&*self, slices, &mut SendAncillaryBuffer::default(), SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A socket, encrypted or not.
#[derive(Debug)]
pub(super) enum Transport {
    Plain(Socket),
    Encrypted(Box<StreamOwned<ClientConnection, Socket>>),
}

impl Transport {
    /// The underlying socket.
    pub(super) fn socket(&self) -> &Socket {
        match self {
            Transport::Plain(socket) => socket,
            Transport::Encrypted(stream) => stream.get_ref(),
        }
    }

    /// The same, to change it.
    pub(super) fn socket_mut(&mut self) -> &mut Socket {
        match self {
            Transport::Plain(socket) => socket,
            Transport::Encrypted(stream) => stream.get_mut(),
        }
    }

    /// Whether the transport protects against eavesdroppers: TLS or a Unix socket.
    pub(super) fn is_private(&self) -> bool {
        self.is_encrypted() || self.socket().is_unix()
    }

    /// Whether TLS is on.
    pub(super) fn is_encrypted(&self) -> bool {
        matches!(self, Transport::Encrypted(_))
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.read(buffer),
            Transport::Encrypted(stream) => stream.read(buffer),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.write(bytes),
            Transport::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Transport::Plain(socket) => socket.write_vectored(slices),
            Transport::Encrypted(stream) => stream.write_vectored(slices),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Transport::Plain(socket) => socket.flush(),
            Transport::Encrypted(stream) => stream.flush(),
        }
    }
}
