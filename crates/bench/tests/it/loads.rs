//! Loads of the sample at a small scale, with a stand-in for `hortator load`: the tests check that the experiment judges
//! its work, on one server and on all nodes of a cluster.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hortator_bench::extent::Extent;
use hortator_bench::loads::{Compared, Contender, Experiment, Outcome, Target, page};
use hortator_bench::page::{Page, RunResult};

use crate::executable;

/// A program that loads its input through the first node, then runs `then` on the second, or on the only one.
pub fn loader(folder: &Path, then: &str) -> PathBuf {
    let script = format!(
        "#!/bin/sh\nset -e\n[ \"$1\" = --version ] && echo stand-in && exit\n\
         client='mariadb --no-defaults --default-character-set=utf8mb4 -u root'\n\
         while [ $# -gt 1 ]; do\n\
           case $1 in\n\
             --nodes) first=${{2%%,*}}; others=${{2#*,}}; second=${{others%%,*}}; shift ;;\n\
             -S) first=$2; shift ;;\n\
             -D) client=\"$client -D $2\"; shift ;;\n\
           esac\n\
           shift\n\
         done\n\
         $client -S \"$first\" < \"$1\"\n\
         case $second in\n\
           '') $client -S \"$first\" -e \"{then}\" > /dev/null ;;\n\
           *) $client -S \"$second\" -e \"SET wsrep_sync_wait = 1; SELECT 1; {then}\" > /dev/null ;;\n\
         esac\n"
    );
    let path = folder.join("loader");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn measured(folder: &Path, target: Target, contenders: &[Contender], then: &str) -> (Outcome, Page) {
    let experiment = Experiment {
        target,
        contenders: contenders.to_vec(),
        scale: 0.005,
        threads: None,
        extent: Extent::new(if matches!(target, Target::Cluster(_)) { 1 } else { 2 }, folder.join("bench")),
        hortator: loader(folder, then),
    };
    let outcome = experiment.run(&mut |step: &str| println!("{step}")).unwrap();
    let page = page(&experiment, &outcome);
    (outcome, page)
}

const SERVER: Target = Target::Server { is_kept: false };

fn reasons(page: &Page) -> Vec<(&str, &str)> {
    let failed = page.runs.iter().filter_map(|run| match &run.result {
        RunResult::Failed(reason) => Some((run.contender.as_str(), reason.as_str())),
        RunResult::Figures(_) => None,
    });
    failed.collect()
}

#[test]
fn every_contender_loads_every_row_and_equal_states_are_found_equal() {
    let folder = tempfile::tempdir().unwrap();
    let (outcome, page) = measured(folder.path(), SERVER, &Contender::ON_SERVER, "SELECT 1");
    assert_eq!(reasons(&page), []);
    // The schema, six tables, two views.
    let rows = outcome.dump.as_ref().unwrap().rows;
    assert_eq!(outcome.compared, Some(Compared { rows, definitions: 9 }));
    assert_eq!(page.runs.len() + 2 * outcome.left_out.len(), 2 * Contender::ON_SERVER.len());
    let text = page.markdown();
    assert!(text.contains("| hortator load |") && text.contains("stand-in"), "{text}");
    assert!(page.terminal().contains("All contenders left the same state: 9 definitions and "), "{}", page.terminal());
}

/// The program says nothing of it; the row is shown, and there is no figure.
#[test]
fn one_differing_row_is_found_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let update = "UPDATE employees.salaries SET salary = 1 WHERE emp_no = 10500 ORDER BY from_date LIMIT 1";
    let (_, page) = measured(folder.path(), SERVER, &[Contender::Client, Contender::Load], update);
    let (contender, reason) = reasons(&page)[0];
    assert_eq!(contender, "hortator load");
    for part in ["hortator load left another state", "rows of salaries", "only in the second: ('10500', '1', "] {
        assert!(reason.contains(part), "{reason}");
    }
    let row = &page.sections[0].tables[0].rows[1];
    assert!(row[1] == "—" && row[2] == "—", "{row:?}");
    assert!(!page.terminal().contains("left the same state"), "{}", page.terminal());
}

#[test]
fn a_loader_that_loses_a_row_and_one_that_fails_have_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let delete = "DELETE FROM employees.titles LIMIT 1";
    let (_, page) = measured(folder.path(), SERVER, &[Contender::Client, Contender::Load], delete);
    let failed = reasons(&page);
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert!(failed[0].1.starts_with("after workload hortator load the nodes have "), "{failed:?}");

    let (_, page) = measured(folder.path(), SERVER, &[Contender::Client, Contender::Load], "SELECT nothing_like_it");
    assert!(reasons(&page)[0].1.contains("nothing_like_it"), "{:?}", reasons(&page));
    assert_eq!(page.runs.iter().filter(|run| run.figure("wall_s").is_some()).count(), 2);
}

#[test]
fn equal_nodes_are_found_equal_and_one_row_on_one_node_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Target::Cluster(2);
    let (outcome, page) = measured(folder.path(), cluster, &Contender::ON_CLUSTER, "SELECT 1");
    assert_eq!(reasons(&page), []);
    assert_eq!(outcome.compared.map(|compared| compared.definitions), Some(9));
    assert_eq!(page.runs.len(), Contender::ON_CLUSTER.len());
    assert!(page.markdown().contains("| hortator load, keys deferred |"), "{}", page.markdown());

    let apart =
        "SET wsrep_on = 0; UPDATE employees.salaries SET salary = 1 WHERE emp_no = 10500 ORDER BY from_date LIMIT 1";
    let (_, page) = measured(folder.path(), cluster, &[Contender::Client, Contender::Load], apart);
    let (_, reason) = reasons(&page)[0];
    assert!(reason.starts_with("hortator load left another state on node 2 "), "{reason}");
    assert!(reason.contains("rows of salaries"), "{reason}");
}

/// The programs are found by their name.
#[test]
fn a_contender_whose_program_is_missing_is_left_out_with_its_package() {
    if executable("mydumper") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (outcome, page) = measured(folder.path(), SERVER, &[Contender::Client, Contender::Myloader], "SELECT 1");
    assert_eq!(outcome.contenders, [Contender::Client]);
    let left_out = "myloader is left out: mydumper is not installed; on Debian: apt-get install mydumper";
    assert!(page.warnings.iter().any(|warning| warning == left_out), "{:?}", page.warnings);
}
