//! Tests of the suites galera and galera_sr that one node is enough for.
//!
//! None of them was written for one: all begin with a connection to each of two nodes. With both connections to one server, a
//! test that asks for nothing that only two nodes have passes all the same, and shows what the provider does for a client.
//! The list, `single_node.txt`, are those that pass so with Galera's provider.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use super::account::Account;

const LIST: &str = include_str!("single_node.txt");
/// The configuration of one server that is both nodes.
const CONFIGURATION: &str = include_str!("one_node.cnf");
/// The suites that the tests are of.
const SUITES: [&str; 2] = ["galera", "galera_sr"];
/// The configuration that theirs stands in place of.
const REPLACED: &str = "galera/galera_2nodes.cnf";

/// The tests, as in `galera.basic`.
pub(super) fn tests() -> Vec<String> {
    LIST.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// Makes copies of the suites below `folder`, whose tests run on one node.
pub(super) fn copy_suites(installed: &Path, folder: &Path, account: Account) -> anyhow::Result<()> {
    for suite in SUITES {
        let mut copy = Command::new("cp");
        copy.args(["-r", "-L"]).arg(installed.join("suite").join(suite)).arg(folder);
        account.run(&mut copy);
        if !copy.status().context("cannot run cp")?.success() {
            bail!("the suite {suite} could not be copied");
        }
    }
    let replaced = folder.join(REPLACED);
    fs::write(&replaced, CONFIGURATION).with_context(|| format!("writing {}", replaced.display()))
}
