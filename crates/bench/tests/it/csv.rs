//! A small CSV file, with a stand-in for `hortator load --table`: what a load leaves is judged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hortator_bench::csv::{Experiment, Indexes, page};
use hortator_bench::extent::Extent;
use hortator_bench::page::{Page, RunResult};

/// A program that loads its last argument into the table, then runs `then`.
fn loader(folder: &Path, then: &str) -> PathBuf {
    let script = format!(
        "#!/bin/sh\nset -e\n[ \"$1\" = --version ] && echo stand-in && exit\n\
         while [ $# -gt 1 ]; do\n\
           case $1 in -S) socket=$2; shift ;; esac\n\
           shift\n\
         done\n\
         mariadb --no-defaults -u root -S \"$socket\" --local-infile=1 -D csv -e \"LOAD DATA LOCAL INFILE '$1' INTO TABLE orders \
         FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\\\"' ESCAPED BY ''; {then}\"\n"
    );
    let path = folder.join("loader");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn measured(folder: &Path, indexes: &[Indexes], then: &str) -> Page {
    let experiment = Experiment {
        rows: 2_000,
        indexes: indexes.to_vec(),
        hortator: loader(folder, then),
        extent: Extent::new(2, folder.join("csv")),
    };
    let outcome = experiment.run(&mut |step: &str| println!("{step}")).unwrap();
    page(&experiment, &outcome)
}

#[test]
fn every_contender_loads_every_row_of_both_tables() {
    let folder = tempfile::tempdir().unwrap();
    let page = measured(folder.path(), &Indexes::ALL, "SELECT 1");
    assert!(!page.has_failures(), "{}", page.terminal());
    assert_eq!(page.runs.len(), 2 * 4 * 2);
    assert!(page.runs.iter().all(|run| run.figure("rows_per_s").is_some_and(|rate| rate > 0.0)));
    assert_eq!(page.answers.len(), 2, "{:?}", page.answers);
}

#[test]
fn a_load_that_changes_a_value_has_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let page = measured(folder.path(), &[Indexes::Three], "UPDATE orders SET amount = amount + 1 WHERE id = 7");
    let first = page.runs.iter().find(|run| run.contender == "hortator load").unwrap();
    let RunResult::Failed(reason) = &first.result else { panic!("{first:?}") };
    assert!(reason.contains("left another state than LOAD DATA: rows of orders"), "{reason}");
    let others = page.runs.iter().filter(|run| !run.contender.starts_with("hortator load"));
    assert!(others.into_iter().all(|run| run.figure("wall_s").is_some()));
    assert_eq!(page.answers, Vec::<String>::new());
}

#[test]
fn a_load_that_loses_a_row_has_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let page = measured(folder.path(), &[Indexes::None], "DELETE FROM orders WHERE id = 7");
    let first = page.runs.iter().find(|run| run.contender == "hortator load").unwrap();
    let RunResult::Failed(reason) = &first.result else { panic!("{first:?}") };
    assert!(reason.contains("1999"), "{reason}");
}
