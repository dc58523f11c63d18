//! The sessions that drop and build keys.
//!
//! There is one more of them than builds at a time, so that the drop of a table's keys, which is soon done, waits for no build.
//! All are opened at the start, as the dump may change who can log in.
//!
//! A server goes on with an ALTER TABLE whose client is gone: keys that a look finds there may be dropped a moment later, and
//! those that it misses be built. So each session holds the user lock of its number. Once a session is lost, nobody else
//! looks at keys before its statement is over and its lock is free.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Release;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use hortator_mysql::{Connection, Error};

use super::{BUILDS_LIMIT, build};
use crate::checkpoint::{Checkpoints, KEY_SESSION};
use crate::cluster::{Targets, WriterConnection};

/// How many there are.
pub(crate) const KEY_SESSIONS: usize = BUILDS_LIMIT + 1;

/// The sessions of a load.
#[derive(Debug)]
pub(super) struct KeySessions {
    targets: Arc<Targets>,
    /// Those that nobody uses, by number; `None` where it is not open.
    free: Mutex<Vec<(usize, Option<WriterConnection>)>>,
    freed: Condvar,
    /// By number: lost, and not seen to have ended.
    is_lost: [AtomicBool; KEY_SESSIONS],
}

impl KeySessions {
    /// None of them is open.
    pub(super) fn new(targets: &Arc<Targets>) -> Self {
        let free = (0..KEY_SESSIONS).map(|number| (number, None)).collect();
        Self {
            targets: Arc::clone(targets),
            free: Mutex::new(free),
            freed: Condvar::new(),
            is_lost: Default::default(),
        }
    }

    /// Opens all.
    ///
    /// # Errors
    /// What the server or the connection says.
    pub(super) fn open(&self, checkpoints: &Checkpoints) -> Result<(), Error> {
        for (number, session) in self.lock().iter_mut() {
            *session = Some(self.connect(checkpoints, *number)?);
        }
        Ok(())
    }

    /// Runs `work` on one of the sessions, which is given up where it is lost.
    ///
    /// # Errors
    /// Those of `work`; what the server or the connection says.
    pub(super) fn run<T>(
        &self,
        checkpoints: &Checkpoints,
        work: impl FnOnce(&mut Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (number, mut session) = self.take();
        let result = self.run_on(checkpoints, number, &mut session, work);
        if result.as_ref().is_err_and(|error| !matches!(error, Error::Server(_))) && session.take().is_some() {
            self.is_lost[number].store(true, Release);
        }
        self.lock().push((number, session));
        self.freed.notify_one();
        result
    }

    fn run_on<T>(
        &self,
        checkpoints: &Checkpoints,
        number: usize,
        session: &mut Option<WriterConnection>,
        work: impl FnOnce(&mut Connection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // A server that was started again has ended it, and a former writer has no say any more.
        let is_usable = |open: &mut WriterConnection| {
            self.targets.is_current(open.failover_epoch) && open.connection.ping().is_ok()
        };
        let open = match session.take().and_then(|mut open| is_usable(&mut open).then_some(open)) {
            Some(open) => open,
            None => self.connect(checkpoints, number)?,
        };
        let connection = &mut session.insert(open).connection;
        self.await_lost(checkpoints, connection)?;
        work(connection)
    }

    /// Takes a session that is open, else any; waits for one.
    fn take(&self) -> (usize, Option<WriterConnection>) {
        let mut free = self.lock();
        loop {
            let open = free.iter().position(|(_, session)| session.is_some());
            match open.or(free.len().checked_sub(1)) {
                Some(at) => return free.swap_remove(at),
                None => free = self.freed.wait(free).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn connect(&self, checkpoints: &Checkpoints, number: usize) -> Result<WriterConnection, Error> {
        let mut writer = self.targets.connect_internal(&|| false)?;
        self.await_lost(checkpoints, &mut writer.connection)?;
        checkpoints.claim(&mut writer.connection, KEY_SESSION + number)?;
        build::settings(&mut writer.connection)?;
        Ok(writer)
    }

    /// Waits until the statements of all lost sessions are over.
    fn await_lost(&self, checkpoints: &Checkpoints, connection: &mut Connection) -> Result<(), Error> {
        let mut lost = self.is_lost.iter().enumerate();
        lost.try_for_each(|(number, is_lost)| checkpoints.await_lost(connection, KEY_SESSION + number, is_lost))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(usize, Option<WriterConnection>)>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
