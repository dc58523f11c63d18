//! `hortator bench shapes`: this build loads every shape of dumps, and leaves the client's end state.

use std::process::Command;

use hortator_bench::page::Page;

use crate::target;

#[test]
fn every_shape_leaves_the_state_that_the_client_leaves() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("shapes.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.args(["bench", "shapes", "--scale", "0.01", "--dir"]).arg(folder.path()).arg("--json").arg(&json);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
    assert!(output.status.success(), "{said}");
    let page = Page::from_json("a page", &std::fs::read_to_string(json).unwrap()).unwrap();
    assert!(page.runs.len() > 2 * 20);
    for run in &page.runs {
        assert!(run.figure("wall_s").is_some(), "{run:?}");
    }
}

#[test]
fn an_unknown_shape_is_refused_with_the_names_of_all() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_hortator")).args(["bench", "shapes", "--only", "x"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("the shapes are employees, mariadb-dump, "), "{said}");
}
