//! The process of a node or of the witness, whether it runs or not: found by its folder and its recorded pid.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::At;
use crate::node::State;
use crate::process::{KILL_TIMEOUT, Process};
use crate::sandbox::Sandbox;
use crate::{Error, error_log};

/// A process of a sandbox.
pub(crate) struct ServerProcess<'a> {
    pub(crate) sandbox: &'a Sandbox,
    /// The name in messages, and of the file with the pid.
    pub(crate) name: String,
    /// The folder that its command line names.
    pub(crate) folder: PathBuf,
    pub(crate) error_log: PathBuf,
}

impl ServerProcess<'_> {
    /// The running process.
    pub(crate) fn find(&self) -> Option<Process> {
        self.recorded_pid().and_then(|pid| Process::find(pid, &self.folder)).or_else(|| Process::on(&self.folder))
    }

    pub(crate) fn state(&self) -> State {
        match self.find() {
            Some(process) if process.is_paused() => State::Paused,
            Some(_) => State::Running,
            None if self.recorded_pid().is_some() => State::Crashed,
            None => State::Stopped,
        }
    }

    /// Ends it by SIGTERM.
    pub(crate) fn stop(&self, limit: Duration) -> Result<(), Error> {
        if let Some(process) = self.find() {
            process.terminate();
            if !process.wait_gone(limit) {
                return Err(self.failed(format!("did not shut down within {} s: use `kill`", limit.as_secs())));
            }
            self.sandbox.reap();
            self.forget_pid()?;
        }
        Ok(())
    }

    /// Waits until it has ended after SIGKILL.
    pub(crate) fn wait_killed(&self, process: Option<&Process>) -> Result<(), Error> {
        if let Some(process) = process {
            if !process.wait_gone(KILL_TIMEOUT) {
                return Err(self.failed(format!("still runs {} s after SIGKILL", KILL_TIMEOUT.as_secs())));
            }
            self.sandbox.reap();
        }
        Ok(())
    }

    /// Stops it (SIGSTOP) until [`ServerProcess::resume`].
    pub(crate) fn pause(&self) -> Result<(), Error> {
        match self.find() {
            Some(process) if process.is_paused() => {
                Err(Error::Invalid(format!("{} is already paused: `resume` continues it", self.name)))
            }
            Some(process) => process.pause().at("pause the process of", &self.folder),
            None => Err(Error::Invalid(format!("{} does not run, so it cannot be paused", self.name))),
        }
    }

    /// Continues it (SIGCONT).
    pub(crate) fn resume(&self) -> Result<(), Error> {
        match self.find() {
            Some(process) if process.is_paused() => process.resume().at("resume the process of", &self.folder),
            _ => Err(Error::Invalid(format!("{} is not paused: it is {}", self.name, self.state()))),
        }
    }

    /// Outside of the process's own folder, so that only the sandbox writes it.
    fn pid_file(&self) -> PathBuf {
        self.sandbox.folder().join(format!("{}.pid", self.name))
    }

    pub(crate) fn record(&self, process: &Process) -> Result<(), Error> {
        fs::write(self.pid_file(), process.pid().to_string()).at("write", &self.pid_file())
    }

    /// The pid of the last start, unless the process was stopped since.
    pub(crate) fn recorded_pid(&self) -> Option<u32> {
        fs::read_to_string(self.pid_file()).ok()?.trim().parse().ok()
    }

    fn forget_pid(&self) -> Result<(), Error> {
        match fs::remove_file(self.pid_file()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error).at("remove", &self.pid_file()),
            _ => Ok(()),
        }
    }

    /// It has failed: what its log says is part of the error.
    pub(crate) fn failed(&self, what: String) -> Error {
        self.failed_by(what, &self.error_log)
    }

    pub(crate) fn failed_by(&self, what: String, log: &Path) -> Error {
        Error::Server { node: self.name.clone(), what, log: log.to_owned(), tail: error_log::tail(log) }
    }
}
