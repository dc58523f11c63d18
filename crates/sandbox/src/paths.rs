//! The folders of sandboxes and their data template, and the rules for names. Only this module reads HOME.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::account::Account;
use crate::error::At;

/// Longer names would use up the 107 bytes of a socket's path.
const NAME_LIMIT_BYTES: usize = 32;
/// The account that servers then run as cannot enter root's home.
const ROOT_STATE_FOLDER: &str = "/var/lib/hortator/sandbox";

/// The default folder of named sandboxes: `$XDG_STATE_HOME/hortator/sandbox`, else `~/.local/state/hortator/sandbox`;
/// for root `/var/lib/hortator/sandbox`, because the account that servers then run as cannot enter root's home.
pub fn default_folder() -> Result<PathBuf, Error> {
    if let Some(state) = absolute("XDG_STATE_HOME") {
        return Ok(state.join("hortator/sandbox"));
    }
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from(ROOT_STATE_FOLDER));
    }
    match absolute("HOME") {
        Some(home) => Ok(home.join(".local/state/hortator/sandbox")),
        None => Err(Error::Invalid(
            "the default folder is unknown because HOME is not set: give a folder with --dir".to_owned(),
        )),
    }
}

/// The folder of data templates; `None` if there is no cache folder.
pub(crate) fn template_folder() -> Option<PathBuf> {
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("hortator/sandbox"))
}

/// Creates `folder` if it is missing and returns its path without links, as the servers see it. Creates nothing that
/// `account` could not reach.
pub(crate) fn ensure(folder: &Path, account: Account) -> Result<PathBuf, Error> {
    if !folder.exists() {
        let parent = match folder.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let parent = ensure(parent, account)?;
        account.check_reaches(&parent)?;
        fs::create_dir(folder).at("create", folder)?;
        account.make_traversable(folder)?;
    }
    folder.canonicalize().at("resolve", folder)
}

/// Refuses a name that is not a plain folder name.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > NAME_LIMIT_BYTES || name.starts_with(['.', '-']) || !name.chars().all(plain) {
        return Err(Error::Invalid(format!(
            "`{name}` is not a valid sandbox name: use 1 to {NAME_LIMIT_BYTES} letters, digits, `-`, `_` and `.`, \
             not beginning with `-` or `.`"
        )));
    }
    Ok(())
}

fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_plain_folder_name() {
        for good in ["a", "galera-3", "x_1.2"] {
            check_name(good).unwrap();
        }
        for bad in ["", "..", ".hidden", "-f", "a/b", "a b", "ä", &"x".repeat(33)] {
            assert!(check_name(bad).is_err(), "{bad}");
        }
    }
}
