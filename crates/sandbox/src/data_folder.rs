//! Fresh data folders: initialised once per server version, then copied.
//!
//! mariadb-install-db takes over a second, a copy a tenth of one, and tests start servers by the dozen. The template is
//! kept in the user's cache folder; a server never runs on it. Without a cache folder each data folder is initialised.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::account::Account;
use crate::error::At;
use crate::program::{Programs, search_path};
use crate::{Error, error_log, mysql, paths};

/// Increase this when the creation of templates changes.
const TEMPLATE_VERSION: u32 = 1;
/// A file of a template, written last: the number of its files. A cache cleaner may have removed some since.
const COMPLETE_FILE: &str = "hortator-files";
/// The file with MySQL's server UUID: each server creates its own.
const IDENTITY_FILE: &str = "auto.cnf";
/// Small, because it is copied; the server resizes it at its first start.
const TEMPLATE_LOG_SIZE: &str = "--innodb-log-file-size=4M";
/// Root can connect through the socket only: any local user can connect to a port on 127.0.0.1.
const ACCOUNTS: &str = "DELETE FROM mysql.global_priv WHERE Host <> 'localhost';\n";

/// Creates the data folder of a fresh server at `data`, which must not exist. `node_folder` belongs to the account and
/// holds temporary files, the server's own in its `tmp`.
pub(crate) fn create(data: &Path, node_folder: &Path, programs: &Programs, account: Account) -> Result<(), Error> {
    let flavor = if programs.mysql.is_some() { "mysql-" } else { "" };
    let template =
        paths::template_folder().map(|cache| cache.join(format!("{flavor}{}-{TEMPLATE_VERSION}", programs.version)));
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
        // If the cache is not writable, the next start takes a second longer.
        let _uncached = publish(data, template);
    }
    Ok(())
}

/// Copies the folder `from` to `to`, which must not exist, and makes `account` the owner. Skips files named in
/// `without`. Returns the number of files.
pub(crate) fn copy(from: &Path, to: &Path, without: &[&str], account: Account) -> Result<usize, Error> {
    account.create_private_folder(to)?;
    let mut files = 0;
    for entry in fs::read_dir(from).at("read", from)? {
        let entry = entry.at("read", from)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if without.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type().at("inspect", &source)?.is_dir() {
            files += copy(&source, &target, without, account)?;
        } else {
            fs::copy(&source, &target).at("copy", &source)?;
            account.own(&target)?;
            files += 1;
        }
    }
    Ok(files)
}

/// Returns false when there is no complete template; then `data` does not exist either.
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
    command.arg("--no-defaults");
    if let Some(base) = &programs.base {
        command.arg(argument("--basedir=", base));
    }
    command
        .args(["--skip-test-db", "--auth-root-authentication-method=normal"])
        // Without --force it ends where the machine's own name has no address, as in a container; the name is not used.
        .args(["--force", "--skip-name-resolve", TEMPLATE_LOG_SIZE])
        .arg(argument("--datadir=", data))
        .arg(argument("--extra-file=", &accounts));
    initialise(command, node_folder, account)?;
    fs::remove_file(&accounts).at("remove", &accounts)
}

/// Runs the command that fills a data folder, as the servers' account.
fn initialise(mut command: Command, node_folder: &Path, account: Account) -> Result<(), Error> {
    let log = node_folder.join("install.log");
    let output = File::create(&log).at("create", &log)?;
    command
        .env_clear()
        .env("PATH", search_path())
        // A server that starts removes all `#sql*` files in its folder for temporary files, also those of other servers.
        .env("TMPDIR", node_folder.join("tmp"))
        .current_dir(node_folder)
        // Ctrl-C goes to the caller, which cleans up.
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

/// Copies a fresh data folder to the cache, atomically.
fn publish(data: &Path, template: &Path) -> Result<(), Error> {
    let cache = template.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(cache).at("create", cache)?;
    let scratch = tempfile::Builder::new().prefix("new-").tempdir_in(cache).at("create a folder in", cache)?;
    let new: PathBuf = scratch.path().join("template");
    let files = copy(data, &new, &[IDENTITY_FILE], Account::Caller)?;
    fs::write(new.join(COMPLETE_FILE), files.to_string()).at("write", &new)?;
    // Fails when another process was first; its template is equivalent.
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
    fn a_template_with_a_missing_file_is_discarded() {
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
