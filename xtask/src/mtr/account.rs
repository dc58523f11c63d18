//! Whom the suites run as: servers refuse to be root.

use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

const SERVER_ACCOUNT: &str = "mysql";

/// The account of the servers and of what starts them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Account {
    Caller,
    Other { uid: u32, gid: u32 },
}

impl Account {
    /// The caller's own, or the servers' where that is root.
    pub(super) fn for_servers() -> anyhow::Result<Account> {
        match id(&["-u"])? {
            0 => Ok(Account::Other { uid: id(&["-u", SERVER_ACCOUNT])?, gid: id(&["-g", SERVER_ACCOUNT])? }),
            _ => Ok(Account::Caller),
        }
    }

    /// Makes `command` run as this account.
    pub(super) fn run(self, command: &mut Command) {
        if let Account::Other { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
    }

    /// Gives `path` to this account.
    pub(super) fn own(self, path: &Path) -> anyhow::Result<()> {
        match self {
            Account::Caller => Ok(()),
            Account::Other { uid, gid } => {
                chown(path, Some(uid), Some(gid)).with_context(|| format!("changing the owner of {}", path.display()))
            }
        }
    }
}

fn id(arguments: &[&str]) -> anyhow::Result<u32> {
    let output = Command::new("id").args(arguments).output().context("cannot run id")?;
    if !output.status.success() {
        bail!("there is no account {SERVER_ACCOUNT}; on Debian: apt-get install mariadb-server");
    }
    String::from_utf8_lossy(&output.stdout).trim().parse().context("`id` gives no number")
}
