//! A server that a test starts itself on a node's data folder, in an environment that no sandbox provides.

use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::Node;

use crate::signal;

/// The time limit for a server to start or end on a busy machine.
const WAIT_TIMEOUT: Duration = Duration::from_secs(180);

/// The server is killed when this value is dropped.
pub struct Own(Child);

impl Own {
    /// Starts the server's command with a prefix `around`: programs that run a command, with their arguments.
    pub fn spawn(arguments: &[String], around: &[String]) -> Self {
        let mut command = Command::new("env");
        command.args(around).args(arguments).arg("--user=mysql");
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// As `spawn`; returns when the server answers.
    pub fn start(node: Node<'_>, arguments: &[String], around: &[String]) -> Self {
        let mut own = Self::spawn(arguments, around);
        let start = Instant::now();
        while node.connect().is_err() {
            let ended = own.0.try_wait().unwrap();
            let log = || std::fs::read_to_string(node.error_log()).unwrap();
            assert!(ended.is_none() && start.elapsed() < WAIT_TIMEOUT, "it does not come up ({ended:?}):\n{}", log());
            thread::sleep(Duration::from_millis(50));
        }
        own
    }

    /// A prefix that limits the size of each file, which for the log's next file is a full disk.
    pub fn no_file_beyond(bytes: u64) -> Vec<String> {
        // The signal that comes with the limit, unlike a full disk's error, would end the server.
        ["--ignore-signal=XFSZ", "prlimit", &format!("--fsize={bytes}:")].map(str::to_owned).to_vec()
    }

    /// Pauses the server during a function.
    pub fn still<T>(&self, during: impl FnOnce() -> T) -> T {
        signal(self.0.id(), "-STOP");
        let done = during();
        signal(self.0.id(), "-CONT");
        done
    }

    /// Waits until the server, which runs on the files of `node`, ends by itself.
    pub fn end(mut self, node: Node<'_>) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status;
            }
            let log = || std::fs::read_to_string(node.error_log()).unwrap();
            assert!(start.elapsed() < WAIT_TIMEOUT, "it does not end:\n{}", log());
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Shuts the server down cleanly.
    pub fn shut_down(mut self) {
        signal(self.0.id(), "-TERM");
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Clients of the node may write.
pub fn is_ready(node: Node<'_>) -> bool {
    let ready = node.connect().ok().and_then(|mut connection| connection.fetch(b"SHOW STATUS LIKE 'wsrep_ready'").ok());
    ready.is_some_and(|rows| rows.first().and_then(|row| row[1].as_deref()) == Some(b"ON"))
}
