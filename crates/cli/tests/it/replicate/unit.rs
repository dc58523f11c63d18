//! The unit of systemd: that systemd takes it, that it starts what there is, and that it does not start again for nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn unit() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/systemd/hortator-replicate@.service")
}

/// The values of a key.
fn values<'u>(unit: &'u str, key: &str) -> Vec<&'u str> {
    unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=')).collect()
}

#[test]
fn systemd_takes_the_unit() {
    let text = fs::read_to_string(unit()).unwrap();
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        eprintln!("this machine has no systemd-analyze: the unit is not verified");
        return;
    }
    // It also looks whether the program is there.
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("hortator-replicate@.service");
    fs::write(&copy, text.replace("/usr/bin/hortator", env!("CARGO_BIN_EXE_hortator"))).unwrap();
    let verified = Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&copy).output().unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && said.is_empty(), "{said}");
}

#[test]
fn the_unit_fits_the_program() {
    let text = fs::read_to_string(unit()).unwrap();
    let folder = "/etc/hortator/replicate/%i";
    assert_eq!(values(&text, "ExecStart"), [format!("/usr/bin/hortator replicate run {folder}/replicate.toml")]);
    // The socket stands beside the configuration.
    assert_eq!(values(&text, "ReadWritePaths"), [folder]);
    assert!(values(&text, "RestrictAddressFamilies")[0].contains("AF_UNIX"));
    // An end with a stopped source has exit status 1, a wrong command 2: see the other tests.
    assert_eq!(values(&text, "Restart"), ["on-failure"]);
    assert_eq!(values(&text, "RestartPreventExitStatus"), ["1 2"]);
    let wrong = Command::new(env!("CARGO_BIN_EXE_hortator")).args(["replicate", "run"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}
