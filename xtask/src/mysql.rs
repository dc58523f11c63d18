//! `cargo xtask mysql`: the tests that compare Hortator with a client, against MySQL's servers and MySQL's own client.
//!
//! Slow, and no part of `make test`: it fetches MySQL from Debian's unstable suite, since Debian 12 has none.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::cargo::cargo;

/// Names a folder that has bin/mysqld already.
const FOLDER_VARIABLE: &str = "HORTATOR_MYSQL";
/// Read by `crates/cli/tests/it/target.rs`.
const TEST_VARIABLE: &str = "HORTATOR_TEST_MYSQL";
/// Random dumps, of the 200 that run against MariaDB.
const SEEDS: (&str, &str) = ("HORTATOR_SEEDS", "1-100");
/// The modules of `crates/cli/tests/it`, and a test, that say nothing of MariaDB alone.
const MODULES: [&str; 10] = [
    "cases::",
    "features::",
    "random::",
    "large::",
    "inputs::",
    "errors::",
    "interrupted::",
    "layouts::tab::json_of_mysql_is_text_among_bytes",
    "mysql::",
    "resumed::corners::",
];
/// Tests in them that do, each with what it asks for.
const NOT_ON_MYSQL: [&str; 2] = [
    // The very byte of a statement: where comments are sent, it begins with the space before it.
    "errors::a_broken_dump_is_told_with_its_place",
    // Parents that MySQL refuses to create, for a default of a BLOB: their children are told as not proven.
    "random::dumps_from_seeds_with_checks_put_off",
];

/// Fetches the server where it is not there, and runs the tests.
pub(crate) fn run(repository: &Path) -> anyhow::Result<()> {
    let folder = env::var_os(FOLDER_VARIABLE).map_or_else(|| repository.join("target/mysql-server"), PathBuf::from);
    if !folder.join("bin/mysqld").is_file() {
        let script = repository.join("scripts/mysql-server");
        let fetched = Command::new(&script).arg(&folder).status();
        if !fetched.with_context(|| format!("cannot run {}", script.display()))?.success() {
            bail!("no MySQL server: set the folder that has bin/mysqld in {FOLDER_VARIABLE}");
        }
    }
    let mut tests = cargo();
    tests.current_dir(repository).env(TEST_VARIABLE, &folder).env(SEEDS.0, SEEDS.1);
    tests.args(["test", "--locked", "--package", "hortator", "--test", "it", "--", "--include-ignored"]).args(MODULES);
    for test in NOT_ON_MYSQL {
        tests.args(["--skip", test]);
    }
    if !tests.status().context("cannot run cargo")?.success() {
        bail!("MySQL's client and Hortator give different results");
    }
    Ok(())
}
