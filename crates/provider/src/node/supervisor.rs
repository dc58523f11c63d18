//! The supervisor of a start: what the node does next until its tables are those of its cluster.
//!
//! ```text
//!   Begin ──────► Over          it is alone: its log is all there is
//!     │
//!     └─► Compare ──► Over      the log leads from its tables to the cluster's
//!            │  ▲
//!            ▼  └──────────────────────────────────────────┐
//!         NeedsSst ─► Prepare ─► Receive ─► Complete ─► Report
//! ```
//!
//! A state machine without I/O. Its input is what the replica tells ([`ClusterStatus`]), the result of an SST, and what a
//! comparison of log and tables has found; its output is the next [`Step`]. The receiving thread carries the steps out
//! (`cluster/joiner.rs`); the simulator of whole nodes runs the same machine.

use std::time::Duration;

use super::replica::{ClusterStatus, JoinerLog, SstResult};
use crate::identity::{Gtid, Uuid};
use crate::recovery::{self, Plan};

/// The donor reports the end of the SST within this time of its arrival.
const DONOR_REPLY_TIMEOUT: Duration = Duration::from_secs(20);

/// What a starting node waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// A quorum, to be alone, or a node to join.
    #[default]
    Begin,
    /// The comparison of log and tables. `has_received`: the tables are those of an SST.
    Compare { has_received: bool },
    /// The history UUID of a linked node.
    NeedsSst,
    /// The leader's word that the server may prepare an SST.
    Prepare { history_uuid: Uuid },
    /// The tables.
    Receive { history_uuid: Uuid },
    /// The log, up to what the tables need.
    Complete { history_uuid: Uuid },
    /// The donor's report. `since`: when all the rest was there.
    Report { history_uuid: Uuid, since: Duration },
    /// Nothing: the node orders entries, or has given up.
    Over,
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Wait for another status, the result of the SST, or [`Supervisor::deadline`].
    Wait,
    /// Apply the whole log, and open to clients.
    RecoverAlone,
    /// Compare log and tables, and say what has come out: [`Supervisor::compared`].
    Compare(Comparing),
    /// Tell the server that the cluster has this history, and ask the leader whether it may prepare.
    AskToPrepare(Uuid),
    /// Let the server prepare, and request the SST.
    RequestSst,
    /// The tables are there, at this position.
    TablesReceived(Gtid),
    /// The log is there, too. The tables match the vote results up to this seqno; -1: unknown.
    LogReceived { history_uuid: Uuid, resolved_upto: i64 },
    /// The SST has failed.
    Fail(SstFailure),
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comparing {
    /// The tables are those of an SST.
    pub has_received: bool,
    /// The log counts: else the leader's no longer joins it.
    pub has_log: bool,
}

/// What a comparison has found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// The log leads from the tables to the cluster's.
    Fits,
    /// The tables of another node are needed.
    NeedsSst,
    /// The tables that have just arrived do not fit.
    Unusable(SstFailure),
}

/// Why an SST gives no tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SstFailure {
    /// Of another cluster.
    #[error("the received state is at {position}, which is not of the cluster {history_uuid}")]
    OtherHistory { position: Gtid, history_uuid: Uuid },
    /// The server says so.
    #[error("the SST failed with error {0}: read the lines above, and the donor's error log")]
    Server(i32),
    /// The replica says so.
    #[error("{0}")]
    DonorLost(String),
    /// The leader has purged what the tables need.
    #[error(
        "the leader no longer has the entries of the log after index {after}, which the received tables need: it has \
         changed, or its link to this node was down, meanwhile"
    )]
    LogLost { after: crate::log::Index },
    /// The log has a gap before the tables.
    #[error("the log of the joiner begins after the state of the SST")]
    Gap,
    /// The donor has what a vote has skipped.
    #[error("inconsistency vote on seqno {0}: most nodes could not apply it, but the donor has applied it")]
    WronglyApplied(i64),
    /// The log cannot be used.
    #[error("{0}")]
    Recovery(String),
}

/// The state machine.
#[derive(Debug, Default)]
pub(super) struct Supervisor {
    stage: Stage,
}

impl Supervisor {
    /// What the node waits for.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// When to ask again at the latest, by the clock of [`Self::next`].
    pub fn deadline(&self) -> Option<Duration> {
        match self.stage {
            Stage::Report { since, .. } => Some(since + DONOR_REPLY_TIMEOUT),
            _ => None,
        }
    }

    /// The next step. `has_log`: the node has a log. `sst_result`: taken when it is wanted.
    pub fn next(
        &mut self,
        status: &ClusterStatus,
        has_log: bool,
        sst_result: &mut Option<SstResult>,
        now: Duration,
    ) -> Step {
        match self.stage {
            Stage::Begin => {
                let needs_sst = status.needs_snapshot || !has_log;
                if status.is_single_node {
                    self.stage = Stage::Over;
                    Step::RecoverAlone
                } else if status.has_quorum || status.is_linked && needs_sst {
                    self.compare(status, has_log, false)
                } else {
                    Step::Wait
                }
            }
            Stage::Compare { has_received } => self.compare(status, has_log, has_received),
            Stage::NeedsSst if !status.history_uuid.is_undefined() => {
                self.stage = Stage::Prepare { history_uuid: status.history_uuid };
                Step::AskToPrepare(status.history_uuid)
            }
            Stage::Prepare { history_uuid } if status.can_prepare_sst => {
                self.stage = Stage::Receive { history_uuid };
                Step::RequestSst
            }
            Stage::Receive { history_uuid } => match sst_result.take() {
                Some(SstResult::Received(position)) if position.history_uuid == history_uuid => {
                    self.stage = Stage::Complete { history_uuid };
                    Step::TablesReceived(position)
                }
                Some(SstResult::Received(position)) => self.fail(SstFailure::OtherHistory { position, history_uuid }),
                Some(SstResult::Failed(code)) => self.fail(SstFailure::Server(code)),
                Some(SstResult::DonorLost(text)) => self.fail(SstFailure::DonorLost(text)),
                None => Step::Wait,
            },
            Stage::Complete { history_uuid } => match status.joiner_log() {
                JoinerLog::Lost => self.fail(SstFailure::LogLost { after: status.apply_bound }),
                JoinerLog::Incomplete => Step::Wait,
                JoinerLog::Complete => {
                    self.stage = Stage::Report { history_uuid, since: now };
                    self.next(status, has_log, sst_result, now)
                }
            },
            Stage::Report { history_uuid, since } => {
                if status.donor_resolved_upto.is_none() && now < since + DONOR_REPLY_TIMEOUT {
                    return Step::Wait;
                }
                self.stage = Stage::Compare { has_received: true };
                // A donor that is gone may have left as inconsistent.
                let resolved_upto = status.donor_resolved_upto.unwrap_or(-1);
                Step::LogReceived { history_uuid, resolved_upto }
            }
            Stage::NeedsSst | Stage::Prepare { .. } | Stage::Over => Step::Wait,
        }
    }

    fn compare(&mut self, status: &ClusterStatus, has_log: bool, has_received: bool) -> Step {
        self.stage = Stage::Compare { has_received };
        let has_log = has_log && (has_received || !status.needs_snapshot);
        Step::Compare(Comparing { has_received, has_log })
    }

    /// Goes on after a comparison.
    pub fn compared(&mut self, compared: &Compared) {
        self.stage = match compared {
            Compared::Fits | Compared::Unusable(_) => Stage::Over,
            Compared::NeedsSst => Stage::NeedsSst,
        };
    }

    fn fail(&mut self, failure: SstFailure) -> Step {
        self.stage = Stage::Over;
        Step::Fail(failure)
    }
}

/// What the comparison of log and tables means. `plan`: None without a log; `wrongly_applied`: a seqno that the tables hold, and
/// that the nodes have voted to skip.
///
/// # Errors
/// The log cannot be used, and no SST helps.
pub(super) fn judge(
    plan: Option<&Result<Plan, recovery::Error>>,
    wrongly_applied: impl FnOnce(&Plan) -> Option<i64>,
    has_received: bool,
) -> Result<Compared, String> {
    let why = match plan {
        // A log that ends before the tables has lost entries that the others may have.
        Some(Ok(plan)) if plan.has_all_verdicts && (plan.tables_at <= plan.end || has_received) => {
            match wrongly_applied(plan) {
                None => return Ok(Compared::Fits),
                Some(seqno) => SstFailure::WronglyApplied(seqno),
            }
        }
        Some(Err(error)) if !matches!(error, recovery::Error::Gap { .. } | recovery::Error::NoPosition { .. }) => {
            if !has_received {
                return Err(error.to_string());
            }
            SstFailure::Recovery(error.to_string())
        }
        Some(_) | None => SstFailure::Gap,
    };
    Ok(if has_received { Compared::Unusable(why) } else { Compared::NeedsSst })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Index;

    const HISTORY: Uuid = Uuid([7; 16]);

    /// The steps of a start with these states of the cluster, one second each, until the machine waits. Comparisons find
    /// `found` in turn.
    fn steps(has_log: bool, states: &[(ClusterStatus, Option<SstResult>)], found: &[Compared]) -> Vec<String> {
        let (mut supervisor, mut found) = (Supervisor::default(), found.iter());
        let mut steps = Vec::new();
        for (second, (status, sst_result)) in states.iter().enumerate() {
            let mut sst_result = sst_result.clone();
            loop {
                let step = supervisor.next(status, has_log, &mut sst_result, Duration::from_secs(second as u64));
                if step == Step::Wait {
                    break;
                }
                if matches!(step, Step::Compare(_)) {
                    supervisor.compared(found.next().expect("one comparison too many"));
                }
                let step = format!("{step:?}");
                steps.push(step.split(['(', ' ']).next().unwrap_or_default().to_owned());
            }
        }
        steps
    }

    fn linked() -> ClusterStatus {
        ClusterStatus { is_linked: true, history_uuid: HISTORY, ..ClusterStatus::default() }
    }

    fn received() -> Option<SstResult> {
        Some(SstResult::Received(Gtid { history_uuid: HISTORY, seqno: 5 }))
    }

    #[test]
    fn a_node_with_a_log_waits_for_a_quorum() {
        let quorum = ClusterStatus { has_quorum: true, ..linked() };
        let alone = ClusterStatus { is_single_node: true, ..ClusterStatus::default() };
        let nothing = (ClusterStatus::default(), None);
        assert_eq!(steps(true, &[nothing.clone(), (linked(), None)], &[]), [""; 0]);
        assert_eq!(steps(true, &[nothing.clone(), (linked(), None), (quorum, None)], &[Compared::Fits]), ["Compare"]);
        assert_eq!(steps(true, &[nothing, (alone, None)], &[]), ["RecoverAlone"]);
    }

    #[test]
    fn a_joiner_receives_tables_and_log() {
        let found = [Compared::NeedsSst, Compared::Fits];
        let may_prepare = ClusterStatus { can_prepare_sst: true, ..linked() };
        let with_log = ClusterStatus { snapshot_upto: Some(Index(9)), apply_bound: Index(9), ..may_prepare };
        let reported = ClusterStatus { donor_resolved_upto: Some(3), ..with_log };
        let begin = [(linked(), None), (may_prepare, None), (may_prepare, received())];
        let until_received = ["Compare", "AskToPrepare", "RequestSst", "TablesReceived"];
        assert_eq!(steps(false, &begin, &found), until_received);
        for last in [
            // The log, and the donor's report.
            vec![(with_log, None), (reported, None)],
            // The donor is gone.
            vec![(with_log, None); 22],
        ] {
            let all: Vec<_> = begin.iter().cloned().chain(last).collect();
            assert_eq!(steps(false, &all, &found), [&until_received[..], &["LogReceived", "Compare"]].concat());
        }
        assert_eq!(steps(false, &[&begin[..], &vec![(with_log, None); 15]].concat(), &found), until_received);
    }

    #[test]
    fn an_sst_that_gives_no_tables_ends_the_start() {
        let may_prepare = ClusterStatus { can_prepare_sst: true, ..linked() };
        let other = SstResult::Received(Gtid { history_uuid: Uuid([8; 16]), seqno: 5 });
        for result in [other, SstResult::Failed(1), SstResult::DonorLost("it is gone".to_owned())] {
            let states = [(linked(), None), (may_prepare, None), (may_prepare, Some(result))];
            let expected = ["Compare", "AskToPrepare", "RequestSst", "Fail"];
            assert_eq!(steps(false, &states, &[Compared::NeedsSst]), expected);
        }
        let lost = ClusterStatus { needs_snapshot: true, snapshot_upto: Some(Index(9)), ..may_prepare };
        let states = [(linked(), None), (may_prepare, None), (may_prepare, received()), (lost, None)];
        assert_eq!(steps(false, &states, &[Compared::NeedsSst]).last().unwrap(), "Fail");
    }
}
