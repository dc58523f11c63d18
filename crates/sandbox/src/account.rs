//! The system account that the servers run as.
//!
//! mariadbd refuses to run as root, and an rsync state transfer fails when its parts run as different accounts: so as
//! root everything of a sandbox belongs to `mysql` and runs as it; as anybody else it is the caller's own.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::Error;
use crate::error::At;

const PASSWD: &str = "/etc/passwd";
const SERVER_ACCOUNT: &str = "mysql";
/// A folder that nobody but its owner enters: whoever reaches the socket is root in the server.
const PRIVATE_FOLDER_MODE: u32 = 0o700;
/// A folder that others can pass through on their way to one of their own.
const PASSAGE_FOLDER_MODE: u32 = 0o711;

/// Whom servers run as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    /// The caller is not root: servers are the caller's own processes.
    Caller,
    /// The caller is root: servers run as this account.
    Other { uid: u32, gid: u32 },
}

impl Account {
    /// Whom servers of the current process run as.
    pub(crate) fn for_servers() -> Result<Account, Error> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Account::Caller);
        }
        let passwd = fs::read_to_string(PASSWD).at("read", Path::new(PASSWD))?;
        account_of(&passwd, SERVER_ACCOUNT).ok_or_else(|| Error::Missing {
            program: format!("the system account {SERVER_ACCOUNT}, which servers run as when root starts them,"),
            packages: "mariadb-server",
        })
    }

    /// Makes `command` run as this account.
    pub(crate) fn run(self, command: &mut Command) {
        if let Account::Other { uid, gid } = self {
            command.uid(uid).gid(gid);
        }
    }

    /// Gives `path` to this account.
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

    /// Gives the folder `path` to this account alone.
    pub(crate) fn make_private(self, path: &Path) -> Result<(), Error> {
        fs::set_permissions(path, fs::Permissions::from_mode(PRIVATE_FOLDER_MODE)).at("change the mode of", path)?;
        self.own(path)
    }

    /// Lets this account pass through the caller's own folder `path`, and nobody do more.
    pub(crate) fn let_through(self, path: &Path) -> Result<(), Error> {
        let mode = if self == Account::Caller { PRIVATE_FOLDER_MODE } else { PASSAGE_FOLDER_MODE };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).at("change the mode of", path)
    }

    /// Refuses a folder that this account cannot reach, which the server would only say in its own words.
    pub(crate) fn check_reaches(self, folder: &Path) -> Result<(), Error> {
        let Account::Other { uid, gid } = self else { return Ok(()) };
        for ancestor in folder.ancestors() {
            let metadata = fs::metadata(ancestor).at("look at", ancestor)?;
            let execute_bit = match metadata {
                _ if metadata.uid() == uid => 0o100,
                _ if metadata.gid() == gid => 0o010,
                _ => 0o001,
            };
            if metadata.mode() & execute_bit == 0 {
                return Err(Error::Invalid(format!(
                    "the account {SERVER_ACCOUNT}, which servers run as when root starts them, cannot enter {} \
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
