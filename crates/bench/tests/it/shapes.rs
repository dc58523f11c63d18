//! Every shape in small, with a stand-in for `hortator load`: the dumps load, and what a load leaves is judged.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hortator_bench::shapes::experiment::{Contender, Verdict};
use hortator_bench::shapes::{Experiment, Outcome, SHAPES, Shape, report};

use crate::experiment::loader;

/// Measures shapes in small; the stand-in runs one statement more after each load.
fn outcome(folder: &Path, shapes: Vec<&'static Shape>, rounds: usize, then: &str) -> Outcome {
    let hortator = loader(folder, then);
    // With all shapes, a third contender would only take time.
    let baseline = (shapes.len() < SHAPES.len()).then(|| hortator.clone());
    let experiment = Experiment {
        rounds,
        scale: 0.01,
        shapes,
        folder: folder.join("shapes"),
        baseline,
        hortator,
        stop: Arc::new(AtomicBool::new(false)),
    };
    experiment.run(&mut |step| println!("{step}")).unwrap()
}

fn shape(name: &str) -> &'static Shape {
    Shape::named(name).unwrap()
}

#[test]
fn every_shape_loads_and_equal_end_states_are_found_equal() {
    let folder = tempfile::tempdir().unwrap();
    let outcome = outcome(folder.path(), SHAPES.iter().collect(), 1, "SELECT 1");
    assert!(outcome.is_valid(), "{}", report::table(&outcome));
    let page = report::markdown(&outcome);
    let json = report::json(&outcome);
    for (shape, measured) in SHAPES.iter().zip(&outcome.shapes) {
        assert!(measured.loads.iter().all(|loads| loads.runs.len() == 1), "{shape:?}");
        assert!(measured.ratio(Contender::Hortator).is_some(), "{shape:?}");
        assert!(page.contains(&format!("| {} | ", shape.name)), "{page}");
        assert!(json.contains(&format!("\"name\": \"{}\"", shape.name)), "{json}");
    }
}

#[test]
fn a_load_that_leaves_another_end_state_has_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let delete = "DELETE FROM bench.orders ORDER BY id LIMIT 1";
    let outcome = outcome(folder.path(), vec![shape("single-row-blocks")], 2, delete);
    assert!(!outcome.is_valid());
    let measured = &outcome.shapes[0];
    let hortator = measured.of(Contender::Hortator).unwrap();
    let Some(Verdict::Differs { differences }) = &hortator.verdict else { panic!("{:?}", hortator.verdict) };
    assert!(differences.join("\n").contains("bench: rows of orders"), "{differences:?}");
    assert!(hortator.runs.is_empty() && measured.ratio(Contender::Hortator).is_none());
    assert_eq!(measured.of(Contender::Client).unwrap().runs.len(), 2);
    assert!(report::markdown(&outcome).contains("other end state"));
}

#[test]
fn a_load_that_fails_has_no_figure_and_the_next_shape_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let shapes = vec![shape("updates"), shape("session-state")];
    let outcome = outcome(folder.path(), shapes, 1, "SELECT COUNT(*) FROM bench.totals");
    let verdicts = outcome.shapes.iter().map(|measured| measured.of(Contender::Hortator).unwrap().verdict.as_ref());
    let verdicts: Vec<_> = verdicts.collect();
    let [Some(Verdict::Failed { message }), Some(Verdict::Same { .. })] = verdicts[..] else { panic!("{verdicts:?}") };
    assert!(message.contains("bench.totals"), "{message}");
    assert!(report::table(&outcome).contains("failed"));
}
