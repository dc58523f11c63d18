//! What to do when a source's session has failed: a pure rule.

use std::time::Duration;

use hortator_mysql::Error as ServerError;
use hortator_mysql::error::{DEADLOCK, LOCK_WAIT_TIMEOUT};

use super::session::Error;
use crate::{apply, snapshot, source};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Again from the recorded position.
    Retry,
    /// A person must see to it.
    Stop,
}

/// Errors of a server that pass by themselves: it starts or ends, has too many clients, or too many of the account, has killed
/// the session, or is a node of a cluster without quorum.
pub(crate) const PASSING: [u16; 13] =
    [DEADLOCK, LOCK_WAIT_TIMEOUT, CHANGED_ROW, 1040, 1047, 1053, 1077, 1080, 1158, 1203, 1226, 1317, 1927];

/// Under `innodb_snapshot_isolation`, MariaDB's default since 11.6: a transaction has read before another one has changed a
/// row, and changes it too. It is rolled back, as in a deadlock.
const CHANGED_ROW: u16 = 1020;

/// The first pause, in milliseconds; each further one is twice as long.
const FIRST_PAUSE_MS: u64 = 100;
/// The longest pause, in milliseconds.
const LONGEST_PAUSE_MS: u64 = 10_000;

/// What to do about an error.
pub(super) fn verdict(error: &Error) -> Verdict {
    let of_server = match error {
        Error::Source(source::Error::Server { error, .. })
        | Error::Snapshot(
            snapshot::Error::Log(source::Error::Server { error, .. })
            | snapshot::Error::Source { error, .. }
            | snapshot::Error::Target { error, .. },
        )
        | Error::Apply(apply::Error::Target { error, .. } | apply::Error::Prepare { error, .. }) => error,
        // No number: the connection was lost.
        Error::Snapshot(snapshot::Error::Rows { code, .. }) => {
            let passes = code.is_none_or(|code| PASSING.contains(&code));
            return if passes { Verdict::Retry } else { Verdict::Stop };
        }
        // The former session may be about to end; the source starts again.
        Error::Apply(
            apply::Error::Busy { .. }
            | apply::Error::Moved { .. }
            | apply::Error::SourceRestarted
            | apply::Error::DoesNotFit(_)
            | apply::Error::CannotRollBack(_),
        )
        | Error::Source(source::Error::Ended)
        | Error::Snapshot(snapshot::Error::Log(source::Error::Ended)) => return Verdict::Retry,
        Error::Source(_) | Error::Apply(_) | Error::Snapshot(_) => return Verdict::Stop,
    };
    match of_server {
        ServerError::Lost { .. } | ServerError::Connect { .. } => Verdict::Retry,
        ServerError::Server(error) if PASSING.contains(&error.code) => Verdict::Retry,
        _ => Verdict::Stop,
    }
}

/// Whether the target's server is gone, or is a node without quorum: another node may do better.
pub(super) fn leaves_target(error: &Error) -> bool {
    match error {
        Error::Apply(apply::Error::Target { error, .. } | apply::Error::Prepare { error, .. })
        | Error::Snapshot(snapshot::Error::Target { error, .. }) => match error {
            ServerError::Lost { .. } | ServerError::Connect { .. } => true,
            ServerError::Server(error) => LEAVING.contains(&error.code),
            _ => false,
        },
        // No number: the connection was lost.
        Error::Snapshot(snapshot::Error::Rows { code, .. }) => code.is_none_or(|code| LEAVING.contains(&code)),
        Error::Apply(_) | Error::Source(_) | Error::Snapshot(_) => false,
    }
}

/// Of a node without quorum, and of a server that ends.
const LEAVING: [u16; 4] = [1047, 1053, 1077, 1927];

/// Whether a host of the source is at fault, which others may not be: its history, its log, its account.
pub(super) fn is_of_host(error: &Error) -> bool {
    matches!(
        error,
        Error::Source(
            source::Error::Unfit(_)
                | source::Error::Server { error: ServerError::Server(_) | ServerError::Tls { .. }, .. }
        )
    )
}

/// How long to wait before the next try; `failures` in a row, at least one.
pub(super) fn pause(failures: u32) -> Duration {
    let doubled = FIRST_PAUSE_MS.saturating_mul(1 << failures.saturating_sub(1).min(20));
    Duration::from_millis(doubled.min(LONGEST_PAUSE_MS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_limit() {
        let pauses: Vec<u128> = [1, 2, 3, 7, 8, 1000].map(|failures| pause(failures).as_millis()).to_vec();
        assert_eq!(pauses, [100, 200, 400, 6_400, 10_000, 10_000]);
    }

    #[test]
    fn what_passes_by_itself() {
        let server = |code| {
            ServerError::Server(hortator_mysql::ServerError {
                code,
                sqlstate: *b"HY000",
                message: "said so".to_owned(),
            })
        };
        let of_source = |error| Error::Source(source::Error::Server { doing: "reading".to_owned(), error });
        let of_target = |error| Error::Apply(apply::Error::Target { doing: "applying".to_owned(), error });
        let lost =
            || ServerError::Lost { address: "db1".to_owned(), doing: "reading".to_owned(), reason: "reset".to_owned() };
        for (error, expected) in [
            (of_source(lost()), Verdict::Retry),
            (of_target(lost()), Verdict::Retry),
            (of_target(server(DEADLOCK)), Verdict::Retry),
            (of_target(server(CHANGED_ROW)), Verdict::Retry),
            (of_target(server(1047)), Verdict::Retry),
            // Too many connections of the account: those of the session before may not have ended.
            (of_target(server(1203)), Verdict::Retry),
            (of_target(server(1226)), Verdict::Retry),
            // Duplicate row, missing table, read-only server, access denied, purged logs.
            (of_target(server(1062)), Verdict::Stop),
            (of_target(server(1146)), Verdict::Stop),
            (of_target(server(1290)), Verdict::Stop),
            (of_source(server(1045)), Verdict::Stop),
            (of_source(server(1236)), Verdict::Stop),
            (Error::Source(source::Error::Unfit("no log".to_owned())), Verdict::Stop),
            (Error::Source(source::Error::Ended), Verdict::Retry),
            (Error::Apply(apply::Error::SourceRestarted), Verdict::Retry),
            (Error::Apply(apply::Error::Busy { name: "a".to_owned() }), Verdict::Retry),
        ] {
            assert_eq!(verdict(&error), expected, "{error}");
        }
    }
}
