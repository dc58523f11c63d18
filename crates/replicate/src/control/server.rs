//! The agent's side of the socket.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use super::{Answer, Request, TIMEOUT, read_line, write_line};
use crate::agent::{Agent, Wish};

/// A socket that takes requests.
#[derive(Debug)]
pub struct ControlServer {
    listener: UnixListener,
    path: PathBuf,
}

impl ControlServer {
    /// Listens at a path. A socket that a killed agent has left there is replaced.
    ///
    /// # Errors
    /// [`io::ErrorKind::AddrInUse`] while another agent listens there, and others of the file system.
    pub fn open(path: &Path) -> io::Result<ControlServer> {
        match UnixStream::connect(path) {
            Ok(_) => return Err(io::Error::from(io::ErrorKind::AddrInUse)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path)?,
            // Nothing is there; or listening says what is wrong.
            Err(_) => {}
        }
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
        Ok(ControlServer { listener, path: path.to_owned() })
    }

    /// Answers one request. True: the agent shall end.
    ///
    /// # Errors
    /// Of the listener. What goes wrong with one client is that client's matter.
    pub fn serve_one(&self, agent: &Agent) -> io::Result<bool> {
        let (mut stream, _) = self.listener.accept()?;
        let limits = stream.set_read_timeout(Some(TIMEOUT)).and_then(|()| stream.set_write_timeout(Some(TIMEOUT)));
        let request = limits.and_then(|()| read_line(&stream));
        let (answer, ends) = match request {
            Ok(request) => answer(agent, &request),
            Err(error) => (Answer::Refused { reason: error.to_string() }, false),
        };
        // A client that has gone does not hear it.
        let _ = write_line(&mut stream, &answer);
        Ok(ends)
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        // Left behind, it is replaced at the next start.
        let _ = fs::remove_file(&self.path);
    }
}

fn answer(agent: &Agent, request: &Request) -> (Answer, bool) {
    let answer = match request {
        Request::Status => Answer::Status { sources: agent.status() },
        Request::Pause { source } => wish(agent, source, Wish::Pause),
        Request::Resume { source } => wish(agent, source, Wish::Run),
        Request::Skip { source } => {
            match agent.can_skip(source) || !agent.status().iter().any(|status| status.name == *source) {
                true => wish(agent, source, Wish::Skip),
                false => Answer::Refused { reason: format!("the source {source} is not stopped by a transaction") },
            }
        }
        Request::CopyAgain { source, tables } => match agent.copy_again(source, tables) {
            Ok(()) => Answer::Done,
            Err(reason) => Answer::Refused { reason },
        },
        Request::Hold { source, by, until } => hold(agent, source, *by, until.as_deref()),
        Request::Release { source, by } => {
            agent.release(source, *by);
            Answer::Done
        }
        Request::Stop => return (Answer::Done, true),
    };
    (answer, false)
}

fn hold(agent: &Agent, source: &str, by: u64, until: Option<&str>) -> Answer {
    let until = until.map(str::parse).transpose();
    match until.and_then(|until| agent.hold(source, by, until)) {
        Ok(state) => Answer::Hold { state },
        Err(reason) => Answer::Refused { reason },
    }
}

fn wish(agent: &Agent, source: &str, wish: Wish) -> Answer {
    match agent.wish(source, wish) {
        true => Answer::Done,
        false => Answer::Refused { reason: format!("there is no source {source}") },
    }
}
