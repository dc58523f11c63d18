//! The system account that the servers run as.
//!
//! mariadbd refuses to run as root, and an rsync state transfer fails when its parts run as different accounts. So if
//! the caller is root, everything in a sandbox belongs to `mysql` and runs as `mysql`; otherwise everything belongs to
//! the caller.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::Error;
use crate::error::At;

const PASSWD: &str = "/etc/passwd";
const SERVER_ACCOUNT: &str = "mysql";
/// Only the owner can enter the folder: a process that reaches the socket is root in the server.
const PRIVATE_FOLDER_MODE: u32 = 0o700;
/// Other accounts can traverse the folder on the way to a folder of their own.
const TRAVERSABLE_FOLDER_MODE: u32 = 0o711;

/// The account that servers run as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// The caller is not root: servers are the caller's own processes.
    Caller,
    /// The caller is root: servers run as this account.
    Other { uid: u32, gid: u32 },
}

impl Account {
    /// The account of servers that the current process starts.
    pub(crate) fn for_servers() -> Result<Account, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Account::Caller);
        }
        let passwd = fs::read_to_string(PASSWD).at("read", Path::new(PASSWD))?;
        account_of(&passwd, SERVER_ACCOUNT).ok_or_else(|| Error::Missing {
            program: format!("the system account {SERVER_ACCOUNT}, which runs the servers of root,"),
            packages: "mariadb-server",
        })
    }

    /// Makes `command` run as this account.
    pub(crate) fn run(self, command: &mut Command) {
        if let Account::Other { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
    }

    /// Makes this account the owner of `path`.
    pub(crate) fn own(self, path: &Path) -> Result<(), Error> {
        match self {
            Account::Caller => Ok(()),
            Account::Other { uid, gid } => chown(path, Some(uid), Some(gid)).at("change the owner of", path),
        }
    }

    /// Creates a folder that only this account (and root) can enter. It must not exist yet.
    pub(crate) fn create_private_folder(self, path: &Path) -> Result<(), Error> {
        fs::create_dir(path).at("create", path)?;
        self.make_private(path)
    }

    /// Makes the folder `path` accessible to this account only.
    pub(crate) fn make_private(self, path: &Path) -> Result<(), Error> {
        fs::set_permissions(path, fs::Permissions::from_mode(PRIVATE_FOLDER_MODE)).at("change the mode of", path)?;
        self.own(path)
    }

    /// Lets this account, and all others, traverse the caller's own folder `path`, and nothing more.
    pub(crate) fn make_traversable(self, path: &Path) -> Result<(), Error> {
        let mode = if self == Account::Caller { PRIVATE_FOLDER_MODE } else { TRAVERSABLE_FOLDER_MODE };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).at("change the mode of", path)
    }

    /// Refuses a folder that this account cannot reach, with a clearer message than the server's.
    pub(crate) fn check_reaches(self, folder: &Path) -> Result<(), Error> {
        let Account::Other { uid, gid } = self else { return Ok(()) };
        for ancestor in folder.ancestors() {
            let metadata = fs::metadata(ancestor).at("inspect", ancestor)?;
            let execute_bit = match metadata {
                _ if metadata.uid() == uid => 0o100,
                _ if metadata.gid() == gid => 0o010,
                _ => 0o001,
            };
            if metadata.mode() & execute_bit == 0 {
                return Err(Error::Invalid(format!(
                    "the account {SERVER_ACCOUNT}, which runs the servers of root, cannot enter {} \
                     (mode {:o}); choose a folder elsewhere",
                    ancestor.display(),
                    metadata.mode() & 0o7777
                )));
            }
        }
        Ok(())
    }
}

fn account_of(passwd: &str, name: &str) -> Option<Account> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(name) {
            return None;
        }
        let uid = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        Some(Account::Other { uid, gid })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_found_by_its_whole_name() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nmysqlx:x:1:2::/:\nmysql:x:106:113:MariaDB Server,,,:/nonexistent:/bin/false\n";
        assert_eq!(account_of(passwd, "mysql"), Some(Account::Other { uid: 106, gid: 113 }));
        assert_eq!(account_of(passwd, "postgres"), None);
    }
}
