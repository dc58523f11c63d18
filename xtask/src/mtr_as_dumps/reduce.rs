//! Cuts a dump that differs down to the statements that it takes.

use std::time::{Duration, Instant};

use super::compare::Difference;
use super::dump::Dump;
use super::trial::{Trial, Verdict};

/// How long one dump may take.
const LIMIT: Duration = Duration::from_secs(240);

/// The smallest dump found with a difference of the same kind and key.
pub(super) fn reduce(trial: &mut Trial, dump: &Dump, wanted: &Difference) -> anyhow::Result<Dump> {
    let deadline = Instant::now() + LIMIT;
    let mut best = shortest_head(trial, dump, wanted)?;
    let mut step = best.statements.len().div_ceil(2);
    while step > 0 {
        let mut at = 0;
        while at < best.statements.len() {
            if Instant::now() > deadline {
                return Ok(best);
            }
            let fewer = best.filtered(|index, _| index < at || index >= at + step);
            if differs(trial, &fewer, wanted)? {
                best = fewer;
            } else {
                at += step;
            }
        }
        step = if step == 1 { 0 } else { step.div_ceil(2) };
    }
    Ok(best)
}

/// The dump up to the statement that shows the difference.
fn shortest_head(trial: &mut Trial, dump: &Dump, wanted: &Difference) -> anyhow::Result<Dump> {
    // So many statements are too few, and so many enough.
    let (mut too_few, mut enough) = (0, dump.statements.len());
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if differs(trial, &dump.filtered(|at, _| at < middle), wanted)? {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    Ok(dump.filtered(|at, _| at < enough))
}

fn differs(trial: &mut Trial, dump: &Dump, wanted: &Difference) -> anyhow::Result<bool> {
    let same = |found: &Difference| found.kind == wanted.kind && found.key == wanted.key;
    match trial.run_once(dump)? {
        Verdict::Differs { differences, .. } => Ok(differences.iter().any(same)),
        Verdict::Same | Verdict::Skipped(_) => Ok(false),
    }
}
