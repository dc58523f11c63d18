//! The cluster experiment at a small scale, with a stand-in for `hortator load`: the tests check that the experiment
//! judges all nodes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hortator_bench::Error;
use hortator_bench::experiment::Verdict;
use hortator_bench::galera::{Contender, Experiment, Outcome, markdown, table};

/// A program that loads through the first node, then runs `then` on the second, if there is one.
fn loader(folder: &Path, then: &str) -> PathBuf {
    let path = folder.join("loader");
    let script = format!(
        "#!/bin/sh\nset -e\n[ \"$1\" = --version ] && echo stand-in && exit\n\
         client='mariadb --no-defaults --default-character-set=utf8mb4 -u root'\n\
         while [ $# -gt 1 ]; do\n\
           case $1 in\n\
             --nodes) first=${{2%%,*}}; others=${{2#*,}}; second=${{others%%,*}}; shift ;;\n\
             -S) first=$2; shift ;;\n\
           esac\n\
           shift\n\
         done\n\
         $client -S \"$first\" < \"$1\"\n\
         [ -z \"$second\" ] || $client -S \"$second\" -e \"SET wsrep_sync_wait = 1; SELECT 1; {then}\" > /dev/null\n"
    );
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn experiment(folder: &Path, then: &str) -> Result<Outcome, Error> {
    let experiment = Experiment {
        rounds: 1,
        scale: 0.005,
        nodes: 2,
        threads: None,
        folder: folder.join("bench"),
        hortator: loader(folder, then),
        stop: Arc::new(AtomicBool::new(false)),
    };
    experiment.run(&mut |step| println!("{step}"))
}

#[test]
fn equal_nodes_are_found_equal_and_one_row_on_one_node_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = experiment(folder.path(), "SELECT 1").unwrap();
    let Verdict::Same { rows, definitions } = outcome.verdict else { panic!("{}", table(&outcome)) };
    assert_eq!((rows, definitions), (outcome.dump.rows, 9));
    assert_eq!(outcome.runs.len(), Contender::ALL.len());
    let page = markdown(&outcome);
    assert!(page.contains("| hortator load, keys deferred |") && page.contains("stand-in"), "{page}");

    let apart =
        "SET wsrep_on = 0; UPDATE employees.salaries SET salary = 1 WHERE emp_no = 10500 ORDER BY from_date LIMIT 1";
    let outcome = experiment(folder.path(), apart).unwrap();
    let Verdict::Differs(differences) = &outcome.verdict else { panic!("{}", table(&outcome)) };
    let message = differences.join("\n");
    assert!(message.contains("hortator load, node 2: rows of salaries") && !message.contains("node 1:"), "{message}");
}
