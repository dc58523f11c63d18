//! Every shape in small, with a stand-in for `hortator load`: the dumps load, and what a load leaves is judged.

use std::path::Path;

use hortator_bench::extent::Extent;
use hortator_bench::page::{Page, Run, RunResult};
use hortator_bench::shapes::{Experiment, SHAPES, Shape, page};

use crate::loads::loader;

/// Measures shapes in small; the stand-in runs one statement more after each load.
fn measured(folder: &Path, shapes: Vec<&'static Shape>, rounds: usize, then: &str) -> Page {
    let hortator = loader(folder, then);
    // With all shapes, a third contender would only take time.
    let baseline = (shapes.len() < SHAPES.len()).then(|| hortator.clone());
    let experiment =
        Experiment { scale: 0.01, shapes, extent: Extent::new(rounds, folder.join("shapes")), baseline, hortator };
    let outcome = experiment.run(&mut |step: &str| println!("{step}")).unwrap();
    page(&experiment, &outcome)
}

fn shape(name: &str) -> &'static Shape {
    Shape::named(name).unwrap()
}

fn runs<'a>(page: &'a Page, shape: &'a str, contender: &'a str) -> impl Iterator<Item = &'a Run> {
    page.runs.iter().filter(move |run| run.cell["shape"] == shape && run.contender == contender)
}

#[test]
fn every_shape_loads_and_equal_end_states_are_found_equal() {
    let folder = tempfile::tempdir().unwrap();
    let page = measured(folder.path(), SHAPES.iter().collect(), 1, "SELECT 1");
    assert!(!page.has_failures(), "{}", page.terminal());
    assert_eq!(page.runs.len(), 2 * SHAPES.len());
    for (shape, row) in SHAPES.iter().zip(&page.sections[0].tables[0].rows) {
        assert!(row[0] == shape.name && row[3] != "—", "{row:?}");
    }
}

#[test]
fn a_load_that_leaves_another_end_state_has_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let delete = "DELETE FROM bench.orders ORDER BY id LIMIT 1";
    let page = measured(folder.path(), vec![shape("single-row-blocks")], 2, delete);
    let first = runs(&page, "single-row-blocks", "hortator").next().unwrap();
    let RunResult::Failed(reason) = &first.result else { panic!("{first:?}") };
    assert!(reason.contains("other end state") && reason.contains("bench: rows of orders"), "{reason}");
    assert!(runs(&page, "single-row-blocks", "client").all(|run| run.figure("wall_s").is_some()));
    let row = &page.sections[0].tables[0].rows[0];
    assert!(row[2] == "—" && row[3] == "—", "{row:?}");
    assert!(page.answers[0].ends_with("1 have no figure."), "{:?}", page.answers);
}

#[test]
fn a_load_that_fails_has_no_figure_and_the_next_shape_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let shapes = vec![shape("updates"), shape("session-state")];
    let page = measured(folder.path(), shapes, 1, "SELECT COUNT(*) FROM bench.totals");
    let failed = runs(&page, "updates", "hortator").next().unwrap();
    let RunResult::Failed(reason) = &failed.result else { panic!("{failed:?}") };
    assert!(reason.contains("bench.totals"), "{reason}");
    assert!(runs(&page, "session-state", "hortator").all(|run| run.figure("wall_s").is_some()));
    assert!(page.terminal().contains("failed: updates, hortator, round 1: "), "{}", page.terminal());
}
