//! The phases of a load behind its last statement: loaded, validated, verified. Each is a value that the next consumes.

use crate::deferral::{self, Validations};
use crate::expect::Expectations;
use crate::verify::{Verification, Verify};

use super::Options;
use super::analyze::AnalyzeReport;
use super::state::LoadState;

/// The input is read to its end, or to where the load stopped, and no chunk is under way.
pub(super) struct Loaded {
    /// What the input should have left, where that is to be verified.
    pub(super) expectations: Option<Expectations>,
}

/// The deferred checks are made.
pub(super) struct Validated {
    expectations: Option<Expectations>,
    /// `None` where the load stopped before.
    validations: Option<Validations>,
}

/// The load is over: what it knows only now.
#[derive(Default)]
pub(super) struct Verified {
    /// `None` where the load stopped before.
    pub(super) validations: Option<Validations>,
    /// Whether checkpoints are left, so that the load can be resumed.
    pub(super) can_resume: bool,
    /// Seconds from the last commit until every node had everything; `None` where that is not known.
    pub(super) all_nodes_s: Option<f64>,
    /// What came of renewing the statistics; `None` where it was not asked for, or the load stopped before.
    pub(super) analyzed: Option<AnalyzeReport>,
    /// `None` where it was not asked for, or the load stopped before.
    pub(super) verification: Option<Verification>,
}

impl Loaded {
    /// Makes the deferred checks, unless the load stopped.
    pub(super) fn validate(self, state: &LoadState, options: &Options) -> Validated {
        let LoadState { threads, targets, pool, deferral, .. } = state;
        let validations = state.is_through().then(|| deferral::validate(deferral, options, targets, pool, *threads));
        Validated { expectations: self.expectations, validations }
    }
}

impl Validated {
    /// Ends the load's checkpoints, waits until all nodes of a cluster have everything, verifies what the server holds, and
    /// tells of nodes without deferred keys.
    pub(super) fn verify(self, state: &LoadState) -> Verified {
        let can_resume = self.end_checkpoints(state);
        let all_nodes_s = wait_for_all_nodes(state);
        let lacking = state.deferred_keys.lacking_nodes();
        let expectations = self.expectations.as_ref().filter(|_| state.is_through());
        let verification = expectations.map(|expectations| verify(state, expectations, self.validations.as_ref()));
        for failure in lacking {
            state.pool.fail(state.pool.end_position(), failure, true);
        }
        Verified { validations: self.validations, can_resume, all_nodes_s, analyzed: None, verification }
    }

    /// Discards the checkpoints of the load, unless it can be resumed; returns whether it can.
    fn end_checkpoints(&self, state: &LoadState) -> bool {
        let Some(checkpoints) = &state.checkpoints else { return false };
        let is_validation_open = self.validations.as_ref().is_some_and(Validations::have_failed);
        let is_complete = state.is_through() && !is_validation_open;
        // If the server does not answer, the checkpoints stay.
        checkpoints.end(is_complete).unwrap_or(!is_complete)
    }
}

/// Waits until all nodes of a cluster have applied all rows, unless the load has stopped; returns the seconds.
fn wait_for_all_nodes(state: &LoadState) -> Option<f64> {
    if state.targets.size() == 0 || state.pool.is_ending() {
        return None;
    }
    let longest = state.deferred_keys.longest_stop();
    let waited = state.monitor.wait_for_all_nodes(&state.targets, longest, &|| state.pool.is_interrupted());
    waited.map(|waited| waited.as_secs_f64())
}

fn verify(state: &LoadState, expectations: &Expectations, validations: Option<&Validations>) -> Verification {
    let validated = validations.and_then(|validations| validations.foreign_keys.as_ref());
    let verify = Verify {
        expectations,
        loaded: state.progress.rows_by_table().into_iter().collect(),
        left_out_parents: state.progress.filtered().left_out_parents,
        connect: state.targets.options(),
        nodes: state.targets.nodes(),
        validated_foreign_keys: validated.map(|validation| validation.constraints as u64),
        threads: state.threads,
    };
    verify.run()
}
