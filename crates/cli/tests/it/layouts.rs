//! Folders of dump files, and files of rows: what each tool writes is loaded as the tool's own loader does it, and what is
//! not certain is refused before anything is loaded.

mod mydumper;
mod rows;
mod rows_columns;
mod shell;
mod sql_folder;
mod tab;
mod tab_left_out;
mod tab_options;

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::compare::assert_same;
use crate::errors::load_into;
use crate::programs::{Outcome, run};
use crate::servers::{Pair, Server};

/// Loads a folder into a server.
fn load_folder(server: &Server, folder: &Path, options: &[&str]) -> Outcome {
    run(load_into(server, &[options, &[folder.to_str().unwrap()]].concat()))
}

/// Writes files into a new folder.
fn folder_of(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// Runs a program of the system, which must succeed.
fn succeed(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be started: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Both servers hold the same schemas with the same content.
fn assert_equal(pair: &Pair) {
    let (theirs, ours) = (pair.client.state(false), pair.hortator.state(false));
    let mut differences = Vec::new();
    assert_eq!(theirs.keys().collect::<Vec<_>>(), ours.keys().collect::<Vec<_>>());
    for (name, state) in &theirs {
        differences.extend(state.differences(&ours[name]));
    }
    assert_same(&differences);
}
