//! Cleans up after a process that cannot do so itself, because it was killed.
//!
//! A shell waits on a pipe whose other end only this process holds. The pipe closes when this process ends for any
//! reason; then the shell kills every server of the sandbox and removes its folders. For a sandbox that is meant to
//! outlive this process, the process sends `keep` first. The shell finds servers by the data folder in their command
//! line, so it needs no pids.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::Error;
use crate::error::At;

/// `$1` is the sandbox's folder; further arguments are folders to remove with it. The script needs two checks without a
/// server, a moment apart, because a server may be just about to start; and never more than 100 checks. `grep` reads
/// its patterns from standard input, so as not to find itself; the second form is that of a state transfer's shell, the third that of a witness.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
read -r word
[ "$word" = keep ] && exit 0
empty=0 looks=0
while [ $empty -lt 2 ] && [ $looks -lt 100 ]; do
  empty=$((empty + 1)) looks=$((looks + 1))
  for file in $(printf '%s\n' "--datadir=$1/" "--datadir '$1/" "--dir=$1/witness" | grep -lsFf - /proc/[0-9]*/cmdline); do
    pid=${file#/proc/} pid=${pid%/cmdline} empty=0
    kill -9 "-$pid" "$pid" 2>/dev/null
  done
  sleep 0.1
done
rm -rf -- "$@"
"#;

/// A watchdog that is active from its creation.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Child,
    /// Open as long as nothing is to be cleaned up.
    pipe: Option<ChildStdin>,
}

impl Watchdog {
    /// Watches the sandbox in `folder`, and folders elsewhere that belong to it.
    pub(crate) fn over(folder: &Path, elsewhere: &[PathBuf]) -> Result<Watchdog, Error> {
        let shell = Path::new("/bin/sh");
        let mut child = Command::new(shell)
            .args(["-c", SCRIPT, "hortator-watchdog"])
            .arg(folder)
            .args(elsewhere)
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .at("run", shell)?;
        let pipe = child.stdin.take();
        Ok(Watchdog { shell: child, pipe })
    }

    /// Ends the watchdog without cleaning up.
    pub(crate) fn dismiss(mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            // Fails only if the shell was killed, and then the watchdog has ended anyway.
            let _gone = pipe.write_all(b"keep\n");
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        drop(self.pipe.take());
        let _reaped = self.shell.wait();
    }
}
