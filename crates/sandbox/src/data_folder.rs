//! Fresh data folders: made once per server version, then copied.
//!
//! mariadb-install-db takes over a second, a copy a tenth of one, and tests start servers by the dozen. The template is
//! kept in the user's cache folder; a server never runs on it. Without a cache folder each server is made anew.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::account::Account;
use crate::error::At;
use crate::program::{Programs, search_path};
use crate::{Error, error_log, mysql, place};

/// Raised when the way templates are made changes.
const RECIPE: u32 = 1;
/// In a template, written last: the number of its files. A cache cleaner may have been at work since.
const COMPLETE_FILE: &str = "hortator-files";
/// Where MySQL keeps a server's UUID: each makes its own.
const IDENTITY_FILE: &str = "auto.cnf";
/// Small, as it is copied; the server resizes it at its first start.
const TEMPLATE_LOG_SIZE: &str = "--innodb-log-file-size=4M";
/// Only the socket lets root in: any local user can connect to a port on 127.0.0.1.
const ACCOUNTS: &str = "DELETE FROM mysql.global_priv WHERE Host <> 'localhost';\n";

/// Makes the data folder of a fresh server at `data`, which must not exist. `node_folder` is the account's and takes
/// what is needed on the way.
pub(crate) fn create(data: &Path, node_folder: &Path, programs: &Programs, account: Account) -> Result<(), Error> {
    let flavor = if programs.mysql.is_some() { "mysql-" } else { "" };
    let template = place::template_folder().map(|cache| cache.join(format!("{flavor}{}-{RECIPE}", programs.version)));
    if let Some(template) = &template
        && copy_template(template, data, account)?
    {
        return Ok(());
    }
    match &programs.mysql {
        Some(base) => initialise(mysql::initialise(programs, base, data), node_folder, account)?,
        None => install(data, node_folder, programs, account)?,
    }
    if let Some(template) = &template {
        // A cache that cannot be written costs a second at the next start, and no more.
        let _uncached = publish(data, template);
    }
    Ok(())
}

/// Copies the folder `from` to `to`, which must not exist, giving all to `account`. Files named in `without` are left
/// out. Returns the number of files.
pub(crate) fn copy(from: &Path, to: &Path, without: &[&str], account: Account) -> Result<usize, Error> {
    account.create_private_folder(to)?;
    let mut files = 0;
    for entry in fs::read_dir(from).at("read", from)? {
        let entry = entry.at("read", from)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if without.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type().at("look at", &source)?.is_dir() {
            files += copy(&source, &target, without, account)?;
        } else {
            fs::copy(&source, &target).at("copy", &source)?;
            account.own(&target)?;
            files += 1;
        }
    }
    Ok(files)
}

/// False when there is no whole template; then there is nothing at `data` either.
fn copy_template(template: &Path, data: &Path, account: Account) -> Result<bool, Error> {
    let Ok(expected) = fs::read_to_string(template.join(COMPLETE_FILE)) else { return Ok(false) };
    let files = copy(template, data, &[COMPLETE_FILE], account)?;
    if expected.trim() == files.to_string() {
        return Ok(true);
    }
    fs::remove_dir_all(data).at("remove", data)?;
    fs::remove_dir_all(template).at("remove", template)?;
    Ok(false)
}

fn install(data: &Path, node_folder: &Path, programs: &Programs, account: Account) -> Result<(), Error> {
    let accounts = node_folder.join("accounts.sql");
    fs::write(&accounts, ACCOUNTS).at("write", &accounts)?;
    account.own(&accounts)?;
    let mut command = Command::new(&programs.installer);
    command
        .args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"])
        .args(["--skip-name-resolve", TEMPLATE_LOG_SIZE])
        .arg(argument("--datadir=", data))
        .arg(argument("--extra-file=", &accounts));
    initialise(command, node_folder, account)?;
    fs::remove_file(&accounts).at("remove", &accounts)
}

/// Runs what fills a data folder, as the servers' account.
fn initialise(mut command: Command, node_folder: &Path, account: Account) -> Result<(), Error> {
    let log = node_folder.join("install.log");
    let output = File::create(&log).at("create", &log)?;
    command
        .env_clear()
        .env("PATH", search_path())
        .current_dir(node_folder)
        // A Ctrl-C is for the caller, who then cleans up.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(output.try_clone().at("open", &log)?)
        .stderr(output);
    account.run(&mut command);
    let program = PathBuf::from(command.get_program());
    let status = command.status().at("run", &program)?;
    if !status.success() {
        let what = format!("could not be initialised: {} ended with {status}", program.display());
        let node = node_folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        return Err(Error::Server { node, what, tail: error_log::tail(&log), log });
    }
    Ok(())
}

/// Copies a fresh data folder to the cache. It appears there whole or not at all.
fn publish(data: &Path, template: &Path) -> Result<(), Error> {
    let cache = template.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(cache).at("create", cache)?;
    let scratch = tempfile::Builder::new().prefix("new-").tempdir_in(cache).at("create a folder in", cache)?;
    let new: PathBuf = scratch.path().join("template");
    let files = copy(data, &new, &[IDENTITY_FILE], Account::Caller)?;
    fs::write(new.join(COMPLETE_FILE), files.to_string()).at("write", &new)?;
    // Fails when another process was first, whose template is as good.
    fs::rename(&new, template).at("rename", &new)
}

pub(crate) fn argument(option: &str, path: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from(option);
    argument.push(path);
    argument
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_with_a_missing_file_is_thrown_away() {
        let folder = tempfile::tempdir().unwrap();
        let (data, template) = (folder.path().join("data"), folder.path().join("cache/template"));
        fs::create_dir_all(data.join("mysql")).unwrap();
        fs::write(data.join("ibdata1"), "x").unwrap();
        fs::write(data.join("mysql/user.frm"), "y").unwrap();
        publish(&data, &template).unwrap();

        let copied = folder.path().join("copy");
        assert!(copy_template(&template, &copied, Account::Caller).unwrap());
        assert_eq!(fs::read(copied.join("mysql/user.frm")).unwrap(), b"y");
        assert!(!copied.join(COMPLETE_FILE).exists());

        fs::remove_file(template.join("ibdata1")).unwrap();
        let second = folder.path().join("second");
        assert!(!copy_template(&template, &second, Account::Caller).unwrap());
        assert!(!second.exists() && !template.exists());
    }
}
