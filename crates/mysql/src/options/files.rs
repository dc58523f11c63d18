//! The list of option files, in order, and the operating system's user name.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::names::GROUPS;
use super::{Environment, Error};
use crate::option_file::{Entry, Reader};

/// The system's option files, in the client's order (Debian's).
pub const SYSTEM_FILES: &[&str] = &["/etc/my.cnf", "/etc/mysql/my.cnf"];

/// The selection of option files: options that are valid on the command line only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileChoice {
    /// `--no-defaults`: none at all.
    pub no_defaults: bool,
    /// `--defaults-file`: only this one.
    pub defaults_file: Option<PathBuf>,
    /// `--defaults-extra-file`: also this one, after the system's files and before the user's own.
    pub extra_file: Option<PathBuf>,
    /// `--defaults-group-suffix`: also read the groups with this suffix. Without it `MARIADB_GROUP_SUFFIX`, then
    /// `MYSQL_GROUP_SUFFIX`.
    pub group_suffix: Option<String>,
}

impl FileChoice {
    /// The options of the selected files, and warnings for the user. `system_files` are [`SYSTEM_FILES`] except in
    /// tests; after them come `my.cnf` in `MARIADB_HOME` or `MYSQL_HOME`, and finally `~/.my.cnf`.
    ///
    /// # Errors
    /// When a file is invalid, or a requested file is missing.
    pub fn read(
        &self,
        system_files: &[&str],
        environment: Environment<'_>,
    ) -> Result<(Vec<Entry>, Vec<String>), Error> {
        if self.no_defaults {
            return Ok((Vec::new(), Vec::new()));
        }
        let folder = |variable: &str| environment(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = folder("HOME");
        let mut reader = Reader::new(self.groups(environment), home.clone());
        if let Some(file) = &self.defaults_file {
            reader.read(file)?;
            return Ok(reader.finish());
        }
        for file in system_files {
            reader.read_if_present(Path::new(file))?;
        }
        if let Some(folder) = folder("MARIADB_HOME").or_else(|| folder("MYSQL_HOME")) {
            reader.read_if_present(&folder.join("my.cnf"))?;
        }
        if let Some(file) = &self.extra_file {
            reader.read(file)?;
        }
        if let Some(home) = home {
            reader.read_if_present(&home.join(".my.cnf"))?;
        }
        Ok(reader.finish())
    }

    fn groups(&self, environment: Environment<'_>) -> Vec<String> {
        let text = |variable: &str| environment(variable).map(|value| value.to_string_lossy().into_owned());
        let suffix = (self.group_suffix.clone())
            .or_else(|| text("MARIADB_GROUP_SUFFIX"))
            .or_else(|| text("MYSQL_GROUP_SUFFIX"))
            .filter(|suffix| !suffix.is_empty());
        let mut groups: Vec<String> = GROUPS.iter().map(|&group| group.to_owned()).collect();
        if let Some(suffix) = suffix {
            groups.extend(GROUPS.iter().map(|group| format!("{group}{suffix}")));
        }
        groups
    }
}

/// The name of the effective user, from the passwd file, else (users of a directory service) from `USER` or `LOGNAME`.
///
/// # Errors
/// When none of them gives a name.
pub fn os_user_name(environment: Environment<'_>) -> Result<String, Error> {
    let uid = rustix::process::geteuid().as_raw();
    // Even if user id 0 has another name: server accounts are called root.
    if uid == 0 {
        return Ok("root".to_owned());
    }
    let passwd = fs::read("/etc/passwd").unwrap_or_default();
    let name = |variable| environment(variable).filter(|name: &OsString| !name.is_empty());
    name_in(&passwd, uid)
        .or_else(|| name("USER").or_else(|| name("LOGNAME")).as_deref().map(OsStr::to_string_lossy).map(Into::into))
        .ok_or(Error::NoUser { uid })
}

/// The name of a user id in a passwd file: `name:password:uid:…`.
pub(super) fn name_in(passwd: &[u8], uid: u32) -> Option<String> {
    passwd.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b':');
        let name = fields.next()?;
        let is_it = fields.nth(1)? == uid.to_string().as_bytes();
        is_it.then(|| String::from_utf8_lossy(name).into_owned())
    })
}
