//! The connections of a test to the source. A statement that waits for another connection does not hold up the rest.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use hortator_mysql::{ConnectOptions, Connection};

use crate::mtr_as_dumps::server::{DATABASE, Server};

/// How long a statement may keep the statements of other connections waiting.
const PATIENCE: Duration = Duration::from_millis(300);
/// How long to wait for a connection that has another statement for it.
const BUSY_LIMIT: Duration = Duration::from_secs(4);
/// How long sessions may take to end.
const END_LIMIT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(10);

struct Session {
    id: u32,
    statements: Sender<Vec<u8>>,
    done: Receiver<bool>,
    is_busy: bool,
}

/// Sessions by the test's names.
pub(super) struct Sessions<'s> {
    server: &'s Server,
    sessions: HashMap<String, Session>,
    /// Statements that the source has run without an error.
    pub(super) succeeded: usize,
}

impl<'s> Sessions<'s> {
    pub(super) fn new(server: &'s Server) -> Sessions<'s> {
        Sessions { server, sessions: HashMap::new(), succeeded: 0 }
    }

    /// Runs a statement in the session of the name, which is opened if it is not there. An error of the source is its own
    /// business: the test may expect it.
    pub(super) fn run(&mut self, name: &str, text: &[u8]) -> anyhow::Result<()> {
        if !self.sessions.contains_key(name) {
            self.sessions.insert(name.to_owned(), Session::open(&self.server.options())?);
        }
        let Some(session) = self.sessions.get_mut(name) else { return Ok(()) };
        self.succeeded += session.wait(BUSY_LIMIT);
        if session.is_busy {
            return Ok(());
        }
        if session.statements.send(text.to_vec()).is_err() {
            // The source has ended it.
            self.sessions.remove(name);
            return Ok(());
        }
        session.is_busy = true;
        self.succeeded += session.wait(PATIENCE);
        Ok(())
    }

    /// Ends a session, as the test does.
    pub(super) fn end(&mut self, name: &str) {
        self.sessions.remove(name);
    }

    /// Ends all, and waits until the source has written what it writes about that.
    pub(super) fn end_all(mut self) -> anyhow::Result<usize> {
        let mut control = self.server.connect()?;
        let ids: Vec<String> = self.sessions.values().map(|session| session.id.to_string()).collect();
        for session in self.sessions.values_mut() {
            self.succeeded += session.wait(PATIENCE);
            if session.is_busy {
                let _ = control.execute(format!("KILL {}", session.id).as_bytes());
            }
        }
        self.sessions.clear();
        if !ids.is_empty() {
            let query =
                format!("SELECT 1 FROM information_schema.PROCESSLIST WHERE ID IN ({}) LIMIT 1", ids.join(", "));
            let end = Instant::now() + END_LIMIT;
            while !control.fetch(query.as_bytes())?.is_empty() && Instant::now() < end {
                thread::sleep(POLL);
            }
        }
        Ok(self.succeeded)
    }
}

impl Session {
    fn open(options: &ConnectOptions) -> anyhow::Result<Session> {
        let mut connection = Connection::open(options)?;
        // It may be gone.
        let _ = connection.execute(format!("USE {DATABASE}").as_bytes());
        let id = connection.id();
        let (statements, to_run) = channel::<Vec<u8>>();
        let (has_run, done) = channel();
        thread::spawn(move || {
            for text in to_run {
                let result = connection.execute(&text);
                let is_lost = matches!(result, Err(hortator_mysql::Error::Lost { .. }));
                if has_run.send(result.is_ok()).is_err() || is_lost {
                    return;
                }
            }
        });
        Ok(Session { id, statements, done, is_busy: false })
    }

    /// Waits until its statement has ended; gives 1 if it has succeeded.
    fn wait(&mut self, limit: Duration) -> usize {
        if !self.is_busy {
            return 0;
        }
        match self.done.recv_timeout(limit) {
            Ok(has_succeeded) => {
                self.is_busy = false;
                usize::from(has_succeeded)
            }
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => 0,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => {
                self.is_busy = false;
                0
            }
        }
    }
}
