//! What the samples of servers mean for a load: pure.

use std::time::Duration;

use super::limits::ThrottleLimits;

/// How long the load waits for a server that does not answer any more, before it goes on without its answer: a server that
/// is gone for longer needs a person, and not a load that stands still.
pub(super) const UNKNOWN_TIMEOUT: Duration = Duration::from_secs(600);

/// What to do while the lag of a replica is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unreachable {
    /// Wait, but not for ever.
    #[default]
    Wait,
    /// Go on.
    Ignore,
}

/// What a server has answered.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer<T> {
    /// The latest sample.
    Known(T),
    /// Not known for so long, and why.
    Unknown { since: Duration, reason: String },
}

/// The lag of a replica, in seconds.
pub(super) type Lag = Answer<f64>;

/// How many chunks may be under way, and why no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) allowed: usize,
    /// Why none may, or fewer than there are workers.
    pub(super) reason: Option<String>,
}

impl Decision {
    /// No limit.
    pub(super) const OPEN: Decision = Decision { allowed: usize::MAX, reason: None };

    fn pause(reason: String) -> Self {
        Self { allowed: 0, reason: Some(reason) }
    }
}

/// The decision. `others`: the statements of others that run on the server; `None` if that was never known.
pub(super) fn decide<'r>(
    limits: &ThrottleLimits,
    others: Option<Answer<u64>>,
    replicas: impl Iterator<Item = (&'r str, &'r Lag)>,
    unreachable: Unreachable,
) -> Decision {
    if limits.is_paused == Some(true) {
        return Decision::pause("as asked for".to_owned());
    }
    if let Some(limit) = limits.lag_s {
        let waits = |(name, lag): (&str, &Lag)| match lag {
            Lag::Known(lag) if *lag > limit => {
                Some(format!("replica {name} lags {:.1} s behind (lag={limit})", (lag * 10.0).floor() / 10.0))
            }
            Lag::Unknown { since, reason } if unreachable == Unreachable::Wait && *since < UNKNOWN_TIMEOUT => {
                Some(format!("the lag of replica {name} is unknown: {reason}"))
            }
            Lag::Known(_) | Lag::Unknown { .. } => None,
        };
        if let Some(reason) = replicas.filter_map(waits).next() {
            return Decision::pause(reason);
        }
    }
    let Some(limit) = limits.threads else { return Decision::OPEN };
    let others = match others {
        Some(Answer::Known(others)) => others,
        Some(Answer::Unknown { since, reason }) if since < UNKNOWN_TIMEOUT => {
            return Decision::pause(format!(
                "the server does not tell its running statements (threads={limit}): {reason}"
            ));
        }
        Some(Answer::Unknown { .. }) | None => 0,
    };
    if others >= limit {
        return Decision::pause(format!("the server runs {others} statements of others (threads={limit})"));
    }
    Decision {
        allowed: usize::try_from(limit - others).unwrap_or(usize::MAX),
        reason: Some(format!("the server runs as many statements as threads={limit} allows")),
    }
}
