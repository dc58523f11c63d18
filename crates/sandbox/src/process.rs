//! Server processes: found by their data folder, signalled only when they are ours, with bounded waits.
//!
//! The system may have reused a recorded pid. So a process counts as a node's server only while its command line names
//! that node's data folder, and signals go through a pidfd, which cannot change its process between the check and the
//! signal.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, pidfd_send_signal};

/// The time limit for a process to end after SIGKILL; a large one has memory to free.
pub(crate) const KILL_TIMEOUT: Duration = Duration::from_secs(20);

/// The time limit for a signal to stop all threads of a process: one may be in the middle of a write to a slow disk.
const PAUSE_TIMEOUT: Duration = Duration::from_secs(10);
/// The process's state, and its group, among the fields of /proc/PID/stat.
const STATE_FIELD: usize = 0;
const GROUP_FIELD: usize = 2;

/// A running server of a sandbox.
#[derive(Debug)]
pub(crate) struct Process {
    pid: Pid,
    pidfd: OwnedFd,
}

impl Process {
    /// The server with this pid, if it runs on this data folder.
    pub(crate) fn find(pid: u32, data_folder: &Path) -> Option<Process> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // Checked after the pidfd is open: the signal then goes to the checked process.
        runs_on(pid, data_folder).then_some(Process { pid, pidfd })
    }

    /// A server that this process has just started and not yet waited for, so that its pid is still valid. Its command
    /// line is not checked: for a moment it has none.
    pub(crate) fn started(child: &Child) -> std::io::Result<Process> {
        let pid = Pid::from_child(child);
        Ok(Process { pid, pidfd: pidfd_open(pid, PidfdFlags::empty())? })
    }

    /// The server that runs on this data folder, if any.
    pub(crate) fn on(data_folder: &Path) -> Option<Process> {
        let pids = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.into_iter().find_map(|pid| Process::find(pid, data_folder))
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Asks the server to shut down, even if it is paused.
    pub(crate) fn terminate(&self) {
        // Fails only if the process has ended by itself, which is the aim.
        let _ended = pidfd_send_signal(&self.pidfd, Signal::TERM);
        let _ended = pidfd_send_signal(&self.pidfd, Signal::CONT);
    }

    /// Makes a witness drop all its links.
    pub(crate) fn isolate(&self) -> rustix::io::Result<()> {
        pidfd_send_signal(&self.pidfd, Signal::USR1)
    }

    /// Makes an isolated witness link again.
    pub(crate) fn end_isolation(&self) -> rustix::io::Result<()> {
        pidfd_send_signal(&self.pidfd, Signal::USR2)
    }

    /// Stops only the server: its child processes continue. Returns when all its threads have stopped.
    pub(crate) fn pause(&self) -> rustix::io::Result<()> {
        pidfd_send_signal(&self.pidfd, Signal::STOP)?;
        self.wait_until_paused(true)
    }

    /// Continues a paused server.
    pub(crate) fn resume(&self) -> rustix::io::Result<()> {
        pidfd_send_signal(&self.pidfd, Signal::CONT)?;
        self.wait_until_paused(false)
    }

    /// Waits until a signal has reached every thread, or the process has ended.
    fn wait_until_paused(&self, is_paused: bool) -> rustix::io::Result<()> {
        let deadline = Instant::now() + PAUSE_TIMEOUT;
        while self.is_paused() != is_paused {
            if self.wait_gone(Duration::from_millis(1)) {
                return Err(rustix::io::Errno::SRCH);
            }
            if Instant::now() > deadline {
                return Err(rustix::io::Errno::TIMEDOUT);
            }
        }
        Ok(())
    }

    /// Whether it is paused.
    pub(crate) fn is_paused(&self) -> bool {
        let process = format!("/proc/{}", self.pid.as_raw_nonzero());
        field_of(Path::new(&process), STATE_FIELD).as_deref() == Some("T")
    }

    /// Kills the server, as a crash does, with its child processes.
    pub(crate) fn kill(&self) {
        // A server leads its own process group; the scripts of a state transfer are in it.
        let _group_ended = kill_process_group(self.pid, Signal::KILL);
        let _ended = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }

    /// Waits until all its threads have ended and its files are closed. Returns false at the limit.
    pub(crate) fn wait_gone(&self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let timeout = Timespec::try_from(left).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
            match poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&timeout)) {
                Ok(0) => return false,
                Ok(_) => return true,
                Err(_interrupted) if left.is_zero() => return false,
                Err(_interrupted) => {}
            }
        }
    }
}

/// Kills what is left of a state transfer whose server, the leader of process group `group`, has ended.
pub(crate) fn end_leftovers(group: u32, data_folder: &Path) {
    let Some(pid) = i32::try_from(group).ok().and_then(Pid::from_raw) else { return };
    let ours = |entry: &fs::DirEntry| {
        let folder = entry.path();
        group_of(&folder) == Some(group) && mentions(&folder, data_folder)
    };
    let Ok(entries) = fs::read_dir("/proc") else { return };
    if entries.flatten().any(|entry| ours(&entry)) {
        let _ended = kill_process_group(pid, Signal::KILL);
    }
}

/// Whether an argument of the process is `--datadir=` this folder, or a witness's `--dir=`.
fn runs_on(pid: Pid, data_folder: &Path) -> bool {
    let folder = data_folder.as_os_str().as_bytes();
    let wanted = [[b"--datadir=", folder].concat(), [b"--dir=", folder].concat()];
    let command_line = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    command_line.split(|byte| *byte == 0).any(|argument| wanted.iter().any(|wanted| argument == wanted))
}

fn mentions(process: &Path, data_folder: &Path) -> bool {
    let wanted = data_folder.as_os_str().as_bytes();
    let command_line = fs::read(process.join("cmdline")).unwrap_or_default();
    command_line.windows(wanted.len()).any(|window| window == wanted)
}

fn group_of(process: &Path) -> Option<u32> {
    field_of(process, GROUP_FIELD)?.parse().ok()
}

/// A field of /proc/PID/stat, counted from 0 behind the parenthesised name, which may hold anything (proc(5)).
fn field_of(process: &Path, field: usize) -> Option<String> {
    let stat = fs::read_to_string(process.join("stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(field).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    fn sleeper(argument: &str) -> Child {
        // The argument after `--` only makes the command line match.
        let mut command = Command::new("sh");
        command.args(["-c", "echo; sleep 60; true", "sh", argument]).process_group(0).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // When it prints something, it has its command line.
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        child
    }

    #[test]
    fn a_pid_counts_only_with_its_data_folder() {
        let mut child = sleeper("--datadir=/one/data");
        assert!(Process::find(child.id(), Path::new("/one/dat")).is_none());
        assert!(Process::find(child.id(), Path::new("/two/data")).is_none());
        let process = Process::find(child.id(), Path::new("/one/data")).unwrap();
        assert_eq!(process.pid(), Process::started(&child).unwrap().pid());
        assert!(!process.wait_gone(Duration::from_millis(1)));
        process.kill();
        assert!(process.wait_gone(KILL_TIMEOUT));
        child.wait().unwrap();
        assert!(Process::find(child.id(), Path::new("/one/data")).is_none());
    }

    #[test]
    fn a_paused_process_can_be_resumed_and_terminated() {
        let mut child = sleeper("--datadir=/five/data");
        let process = Process::started(&child).unwrap();
        process.pause().unwrap();
        assert!(process.is_paused());
        process.resume().unwrap();
        assert!(!process.is_paused());
        process.pause().unwrap();
        process.terminate();
        assert!(process.wait_gone(KILL_TIMEOUT));
        child.wait().unwrap();
    }

    #[test]
    fn leftover_processes_are_killed_only_if_they_mention_the_folder() {
        let mut child = sleeper("--datadir=/three/data");
        end_leftovers(child.id(), Path::new("/four/data"));
        assert!(child.try_wait().unwrap().is_none());
        end_leftovers(child.id(), Path::new("/three/data"));
        assert!(!child.wait().unwrap().success());
    }
}
