//! `hortator bench csv`: this build loads the file, and leaves what LOAD DATA leaves.

use std::process::Command;

use hortator_bench::page::Page;

use crate::target;

#[test]
fn this_build_loads_a_csv_file_as_the_servers_tools_do() {
    if target::mysql().is_some() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("csv.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_hortator"));
    command.args(["bench", "csv", "--rows", "3000", "--dir"]).arg(folder.path()).arg("--json").arg(&json);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("With three secondary indexes, hortator load is "), "{said}");
    let page = Page::from_json("a page", &std::fs::read_to_string(json).unwrap()).unwrap();
    for run in &page.runs {
        assert!(run.figure("wall_s").is_some(), "{run:?}");
    }
    assert_eq!(page.runs.len(), 2 * 4);
}
