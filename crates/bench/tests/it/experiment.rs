//! The whole experiment at a small scale, with a stand-in for `hortator load`: the tests check that the experiment
//! judges its work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hortator_bench::contenders::Contender;
use hortator_bench::experiment::{Experiment, Outcome, Verdict};
use hortator_bench::{Error, report};

/// A program that loads its input, then runs one more statement.
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

fn experiment(folder: &Path, contenders: &[Contender], then: &str) -> Result<Outcome, Error> {
    let experiment = Experiment {
        rounds: 2,
        scale: 0.005,
        threads: None,
        contenders: contenders.to_vec(),
        folder: folder.join("bench"),
        keep: false,
        hortator: loader(folder, then),
        stop: Arc::new(AtomicBool::new(false)),
    };
    experiment.run(&mut |step| println!("{step}"))
}

#[test]
fn every_contender_loads_every_row_and_equal_states_are_found_equal() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = experiment(folder.path(), &Contender::ALL, "SELECT 1").unwrap();
    let Verdict::Same { rows, definitions } = outcome.verdict else { panic!("{}", report::verdict(&outcome)) };
    assert_eq!(rows, outcome.dump.rows);
    // The schema, six tables, two views.
    assert_eq!(definitions, 9);
    assert_eq!(outcome.runs.len() + 2 * outcome.skipped.len(), 2 * Contender::ALL.len());
    let page = report::markdown(&outcome);
    assert!(page.contains("| hortator load |") && page.contains("stand-in"), "{page}");
}

#[test]
fn one_differing_row_is_found_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let update = "UPDATE employees.salaries SET salary = 1 WHERE emp_no = 10500 ORDER BY from_date LIMIT 1";
    let outcome = experiment(folder.path(), &[Contender::Client, Contender::Hortator], update).unwrap();
    let Verdict::Differs(differences) = &outcome.verdict else { panic!("{:?}", outcome.verdict) };
    let message = differences.join("\n");
    assert!(message.contains("rows of salaries"), "{message}");
    assert!(message.contains("only in the second: ('10500', '1', "), "{message}");
    // The experiment ends at the first difference: no second round.
    assert_eq!(outcome.runs.len(), 2);
}

#[test]
fn a_loader_that_loses_a_row_ends_the_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let delete = "DELETE FROM employees.titles LIMIT 1";
    let error = experiment(folder.path(), &[Contender::Client, Contender::Hortator], delete).unwrap_err();
    assert!(matches!(error, Error::Incomplete { .. }), "{error}");
}

#[test]
fn the_error_of_a_failed_loader_contains_its_output() {
    let folder = tempfile::tempdir().unwrap();
    let error = experiment(folder.path(), &[Contender::Hortator], "SELECT nothing_like_it").unwrap_err().to_string();
    assert!(error.contains("nothing_like_it"), "{error}");
}
