//! Answers HTTP requests: each connection has one request, a thread, and little time.
//!
//! There are few connections at a time. A new one takes the place of the oldest, so that those who say nothing keep nobody
//! out.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::request::{self, HEAD_LIMIT_BYTES};
use super::{Reporter, page};

/// Connections at a time.
const CONNECTIONS_LIMIT: usize = 32;
/// What a connection may take from its beginning to its end.
const TIMEOUT: Duration = Duration::from_secs(5);
/// After an answer, how long it waits for the other side to close.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);
/// After a failed accept, no other one for this long.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// A socket that listens.
#[derive(Debug)]
pub struct Listener(TcpListener);

impl Listener {
    /// Listens at an address.
    ///
    /// # Errors
    /// The address is none of this machine, or another process has the port.
    pub fn open(address: SocketAddr) -> io::Result<Listener> {
        TcpListener::bind(address).map(Listener)
    }

    /// Where it listens: the port too, where the system has chosen it.
    ///
    /// # Errors
    /// Of the socket.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Answers requests until the process ends, in a thread.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub fn serve(self, report: Arc<Reporter>) -> io::Result<()> {
        thread::Builder::new().name("monitoring".to_owned()).spawn(move || accept(&self.0, &report)).map(drop)
    }
}

fn accept(listener: &TcpListener, report: &Arc<Reporter>) {
    let connections = Arc::new(Connections::default());
    loop {
        let Ok((stream, _)) = listener.accept() else {
            // Too many files are open, or the client has gone: others come.
            thread::sleep(ACCEPT_PAUSE);
            continue;
        };
        let stream = Arc::new(stream);
        connections.add(&stream);
        let (report, connections) = (report.clone(), connections.clone());
        let own = stream.clone();
        let started = thread::Builder::new().name("monitoring client".to_owned()).spawn(move || {
            // A client that is gone or too slow gets nothing.
            let _ = answer(&own, &report);
            connections.remove(&own);
        });
        if started.is_err() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Those that are open, the oldest first.
#[derive(Debug, Default)]
struct Connections(Mutex<VecDeque<Arc<TcpStream>>>);

impl Connections {
    /// Adds one, and ends the oldest where there are too many.
    fn add(&self, stream: &Arc<TcpStream>) {
        let mut open = self.lock();
        open.push_back(stream.clone());
        if open.len() > CONNECTIONS_LIMIT
            && let Some(oldest) = open.pop_front()
        {
            // Its thread sees the end. One that has ended by itself needs nothing.
            let _ = oldest.shutdown(Shutdown::Both);
        }
    }

    fn remove(&self, stream: &Arc<TcpStream>) {
        self.lock().retain(|open| !Arc::ptr_eq(open, stream));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<TcpStream>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn answer(stream: &TcpStream, report: &Arc<Reporter>) -> io::Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    let mut bytes = Vec::new();
    let request = loop {
        if let Some(request) = request::read(&bytes) {
            break request;
        }
        let mut buffer = [0; 1 << 10];
        let room = buffer.len().min(HEAD_LIMIT_BYTES - bytes.len());
        let count = read(stream, &mut buffer[..room], deadline)?;
        if count == 0 {
            return Ok(());
        }
        bytes.extend_from_slice(&buffer[..count]);
    };
    let head_only = request.as_ref().is_ok_and(|request| request.head_only);
    write(stream, &page(&request, &**report).bytes(head_only), deadline)?;
    // Closed with something unread, a connection loses what is on its way to the client.
    stream.shutdown(Shutdown::Write)?;
    let deadline = deadline.min(Instant::now() + CLOSE_TIMEOUT);
    let mut rest = [0; 1 << 10];
    while read(stream, &mut rest, deadline)? > 0 {}
    Ok(())
}

fn time_left(deadline: Instant) -> io::Result<Option<Duration>> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
}

fn read(mut stream: &TcpStream, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
    stream.set_read_timeout(time_left(deadline)?)?;
    stream.read(buffer)
}

fn write(mut stream: &TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(time_left(deadline)?)?;
        let count = stream.write(bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = &bytes[count..];
    }
    Ok(())
}
