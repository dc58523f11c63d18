//! A further connection to a server, for questions about what happens on the first: with time limits, and pauses where the
//! server does not answer.

use std::time::{Duration, Instant};

use hortator_mysql::{ConnectOptions, Connection, Error};

/// How long connecting, and each answer, may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// When to ask again a server that cannot be reached, or refuses.
const FAILED_INTERVAL: Duration = Duration::from_secs(10);
/// When to ask again one that does not answer: each question that hangs leaves a connection there until it wakes up.
const HUNG_INTERVAL: Duration = Duration::from_secs(300);

/// The connection, which is opened when it is needed.
#[derive(Debug)]
pub(super) struct SideConnection {
    open: Option<(ConnectOptions, Connection)>,
    usual_interval: Duration,
    interval: Duration,
}

impl SideConnection {
    /// For questions at intervals.
    pub(super) fn new(usual_interval: Duration) -> SideConnection {
        SideConnection { open: None, usual_interval, interval: usual_interval }
    }

    /// When to ask next.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Nothing is to be asked this time.
    pub(super) fn pass(&mut self) {
        self.interval = self.usual_interval;
    }

    /// Asks a server; `None` where it does not answer. What is wrong with the server is said by those who need it.
    pub(super) fn ask<T>(
        &mut self,
        server: &ConnectOptions,
        question: impl FnOnce(&mut Connection) -> Result<T, Error>,
    ) -> Option<T> {
        let begin = Instant::now();
        let kept = self.open.take().filter(|(options, _)| options == server).map(|(_, connection)| connection);
        let answer = kept.map_or_else(|| connect(server), Ok).and_then(|mut connection| {
            let answer = question(&mut connection)?;
            Ok((connection, answer))
        });
        match answer {
            Ok((connection, answer)) => {
                self.interval = self.usual_interval;
                self.open = Some((server.clone(), connection));
                Some(answer)
            }
            Err(error) => {
                let has_hung = begin.elapsed() >= TIMEOUT && !matches!(error, Error::Connect { .. });
                self.interval = if has_hung { HUNG_INTERVAL } else { FAILED_INTERVAL };
                None
            }
        }
    }
}

fn connect(server: &ConnectOptions) -> Result<Connection, Error> {
    let connect_timeout = server.connect_timeout.min(TIMEOUT);
    Connection::open(&ConnectOptions { connect_timeout, read_timeout: Some(TIMEOUT), ..server.clone() })
}
