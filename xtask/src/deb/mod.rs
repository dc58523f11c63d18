//! `cargo xtask deb`: Debian packages of the program, of the provider and of its witness, each with one of its debug
//! symbols, in target/debian. With `--check`, installs them in a new Debian system in a folder, and uses them there.

mod clean_system;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::cargo::cargo;

pub(crate) use clean_system::{copy_apt_settings, mirror};

/// The version of cargo-deb that the descriptions of the packages are written for.
const CARGO_DEB: &str = "3.8.0";
/// The crates that have a package.
const CRATES: [&str; 3] = ["hortator", "hortator-provider", "hortator-witness"];
/// The scripts for shells: the argument of `hortator completions`, and the file's name.
const COMPLETIONS: [(&str, &str); 3] = [("bash", "hortator.bash"), ("zsh", "hortator.zsh"), ("fish", "hortator.fish")];

/// Makes the packages.
pub(crate) fn run(repository: &Path, arguments: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let mut is_checked = false;
    for argument in arguments {
        match argument.as_str() {
            "--check" => is_checked = true,
            other => bail!("`{other}` is not --check"),
        }
    }
    let cargo = || {
        let mut cargo = cargo();
        cargo.current_dir(repository);
        cargo
    };
    for name in CRATES {
        // Each alone: together, the program's features of rustls would count for the provider too, and bring it a library
        // whose licence mariadbd's does not allow.
        succeed(cargo().args(["build", "--release", "--locked", "--package", name]))?;
    }
    make_manuals(repository)?;
    let tool = cargo_deb(repository)?;
    let folder = repository.join("target/debian");
    if folder.exists() {
        // What an earlier run has made is not this run's.
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    for name in CRATES {
        let mut deb = Command::new(&tool);
        deb.current_dir(repository).args(["deb", "--no-build", "--locked", "--package", name, "--output"]).arg(&folder);
        succeed(&mut deb)?;
    }
    let made = packages_in(&folder)?;
    for package in &made {
        println!("{}", package.display());
    }
    if is_checked {
        clean_system::check(&made)?;
    }
    Ok(())
}

/// Man pages and completions, as the program itself prints them.
fn make_manuals(repository: &Path) -> anyhow::Result<()> {
    let folder = repository.join("target/package");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("removing {}", folder.display()))?;
    }
    let program = repository.join("target/release/hortator");
    succeed(Command::new(&program).arg("man").arg(folder.join("man")))?;
    for (shell, file) in COMPLETIONS {
        let script = output(Command::new(&program).args(["completions", shell]))?;
        let path = folder.join(file);
        fs::write(&path, script).with_context(|| format!("writing {}", path.display()))?;
    }
    let folder = folder.join("witness");
    fs::create_dir(&folder).with_context(|| format!("creating {}", folder.display()))?;
    let page = output(Command::new(repository.join("target/release/hortator-witness")).arg("--man-page"))?;
    let path = folder.join("hortator-witness.1");
    fs::write(&path, page).with_context(|| format!("writing {}", path.display()))
}

/// The program of cargo-deb, which is built below target/ if it is not there.
fn cargo_deb(repository: &Path) -> anyhow::Result<PathBuf> {
    let root = repository.join("target/tools");
    let program = root.join("bin/cargo-deb");
    let version = Command::new(&program).arg("--version").output();
    let is_there = version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(CARGO_DEB));
    if !is_there {
        let mut install = cargo();
        install.args(["install", "cargo-deb", "--locked", "--force", "--version", CARGO_DEB, "--root"]).arg(&root);
        succeed(&mut install)?;
    }
    Ok(program)
}

/// The packages in a folder, those of debug symbols too.
fn packages_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.context("reading a folder")?.path();
        if path.extension().is_some_and(|ending| ending == OsStr::new("deb") || ending == OsStr::new("ddeb")) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Runs a program that has to succeed.
pub(crate) fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !status.success() {
        bail!("{command:?} ended with {status}");
    }
    Ok(())
}

/// What a program prints that has to succeed.
fn output(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    let output = command.output().with_context(|| format!("cannot run {}", command.get_program().display()))?;
    if !output.status.success() {
        bail!("{command:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(output.stdout)
}
