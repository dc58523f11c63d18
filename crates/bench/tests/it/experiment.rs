//! The whole experiment in small, with a stand-in for `hortator load`: what is tested here is that its work is judged.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hortator_bench::experiment::{Experiment, Outcome, Verdict};
use hortator_bench::ways::Way;
use hortator_bench::{Error, report};

/// A program that loads as it is told to, then runs one statement more.
pub fn loader(folder: &Path, then: &str) -> PathBuf {
    let path = folder.join("loader");
    // Called as: load, the client's own options and one of Hortator's, employees.sql
    let script = format!(
        "#!/bin/sh\nset -e\n[ \"$1\" = --version ] && echo stand-in && exit\n\
         shift\nclient=mariadb\nwhile [ $# -gt 1 ]; do\n\
         case $1 in --foreign-keys=*) ;; *) client=\"$client $1\" ;; esac; shift\ndone\n\
         $client < \"$1\"\n$client -e \"{then}\"\n"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn experiment(folder: &Path, ways: &[Way], then: &str) -> Result<Outcome, Error> {
    let experiment = Experiment {
        rounds: 2,
        scale: 0.005,
        threads: None,
        ways: ways.to_vec(),
        folder: folder.join("bench"),
        keep: false,
        hortator: loader(folder, then),
        stop: Arc::new(AtomicBool::new(false)),
    };
    experiment.run(&mut |step| println!("{step}"))
}

#[test]
fn every_way_loads_every_row_and_equal_states_are_found_equal() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = experiment(folder.path(), &Way::ALL, "SELECT 1").unwrap();
    let Verdict::Same { rows, definitions } = outcome.verdict else { panic!("{}", report::verdict(&outcome)) };
    assert_eq!(rows, outcome.dump.rows);
    // The schema, six tables, two views.
    assert_eq!(definitions, 9);
    assert_eq!(outcome.runs.len() + 2 * outcome.left_out.len(), 2 * Way::ALL.len());
    let page = report::markdown(&outcome);
    assert!(page.contains("| hortator load |") && page.contains("stand-in"), "{page}");
}

#[test]
fn one_row_that_differs_is_found_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let update = "UPDATE employees.salaries SET salary = 1 WHERE emp_no = 10500 ORDER BY from_date LIMIT 1";
    let outcome = experiment(folder.path(), &[Way::Client, Way::Hortator], update).unwrap();
    let Verdict::Differs(differences) = &outcome.verdict else { panic!("{:?}", outcome.verdict) };
    let told = differences.join("\n");
    assert!(told.contains("rows of salaries"), "{told}");
    assert!(told.contains("only in the second: ('10500', '1', "), "{told}");
    // The order goes wrong at once: no second round.
    assert_eq!(outcome.runs.len(), 2);
}

#[test]
fn a_loader_that_loses_a_row_ends_the_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let delete = "DELETE FROM employees.titles LIMIT 1";
    let error = experiment(folder.path(), &[Way::Client, Way::Hortator], delete).unwrap_err();
    assert!(matches!(error, Error::Incomplete { .. }), "{error}");
}

#[test]
fn a_loader_that_fails_is_told_with_its_own_words() {
    let folder = tempfile::tempdir().unwrap();
    let error = experiment(folder.path(), &[Way::Hortator], "SELECT nothing_like_it").unwrap_err().to_string();
    assert!(error.contains("nothing_like_it"), "{error}");
}
