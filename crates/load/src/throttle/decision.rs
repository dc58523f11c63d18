//! What the samples of servers mean for a load: pure.

use std::time::Duration;

use super::limits::ThrottleLimits;

/// How long the load waits for a replica whose lag is not known, before it goes on without it: a replica that is gone for
/// longer needs a person, and not a load that stands still.
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

/// What is known of the lag of a replica.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lag {
    /// In seconds.
    Known(f64),
    /// Not known for so long, and why.
    Unknown { since: Duration, reason: String },
}

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

/// The decision. `others`: the statements of others that run on the server; `None` while that is not known.
pub(super) fn decide<'r>(
    limits: &ThrottleLimits,
    others: Option<u64>,
    replicas: impl Iterator<Item = (&'r str, &'r Lag)>,
    unreachable: Unreachable,
) -> Decision {
    if limits.is_paused {
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
    match (limits.threads, others) {
        (Some(limit), Some(others)) if others >= limit => {
            Decision::pause(format!("the server runs {others} statements of others (threads={limit})"))
        }
        (Some(limit), others) => Decision {
            allowed: usize::try_from(limit - others.unwrap_or_default()).unwrap_or(usize::MAX),
            reason: Some(format!("the server runs as many statements as threads={limit} allows")),
        },
        (None, _) => Decision::OPEN,
    }
}
