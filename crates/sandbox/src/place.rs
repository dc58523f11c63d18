//! Where sandboxes and their data template live, and what they may be called. The only place that looks at HOME.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::account::Account;
use crate::error::At;

/// Longer names would only eat up the 107 bytes that a socket's path may have.
const NAME_LIMIT_BYTES: usize = 32;
/// Root's home cannot be entered by the account that servers then run as.
const ROOTS_STATE: &str = "/var/lib/hortator/sandbox";

/// Where named sandboxes are kept unless told otherwise: `$XDG_STATE_HOME/hortator/sandbox`, else
/// `~/.local/state/hortator/sandbox`; for root `/var/lib/hortator/sandbox`, since the account that servers then run as
/// cannot enter root's home.
pub fn default_folder() -> Result<PathBuf, Error> {
    if let Some(state) = absolute("XDG_STATE_HOME") {
        return Ok(state.join("hortator/sandbox"));
    }
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from(ROOTS_STATE));
    }
    match absolute("HOME") {
        Some(home) => Ok(home.join(".local/state/hortator/sandbox")),
        None => Err(Error::Invalid("HOME is not set, so there is no default folder; give one with --dir".to_owned())),
    }
}

/// Where the data folder of a fresh server is kept to be copied; `None` means to make a new one each time.
pub(crate) fn template_folder() -> Option<PathBuf> {
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(cache.join("hortator/sandbox"))
}

/// Creates `folder` where it is missing and gives its path without links, as the servers will see it. Nothing is created
/// that `account` could not reach.
pub(crate) fn ensure(folder: &Path, account: Account) -> Result<PathBuf, Error> {
    if !folder.exists() {
        let parent = match folder.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let parent = ensure(parent, account)?;
        account.check_reaches(&parent)?;
        fs::create_dir(folder).at("create", folder)?;
        account.let_through(folder)?;
    }
    folder.canonicalize().at("resolve", folder)
}

/// Refuses a name that is not a plain folder name.
pub(crate) fn check_name(name: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > NAME_LIMIT_BYTES || name.starts_with(['.', '-']) || !name.chars().all(plain) {
        return Err(Error::Invalid(format!(
            "`{name}` is no name for a sandbox: 1 to {NAME_LIMIT_BYTES} letters, digits, `-`, `_` and `.`, \
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
