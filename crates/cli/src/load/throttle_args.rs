//! The arguments of `hortator load` that hold it back for the sake of others.

use std::path::PathBuf;

use clap::Args;
use clap::error::ErrorKind;
use hortator_load::throttle::{HeartbeatTable, ThrottleLimits, ThrottleOptions, Unreachable};

/// The arguments of `hortator load` that hold it back for the sake of others.
#[derive(Debug, Args)]
#[command(next_help_heading = "Throttle")]
pub(super) struct ThrottleArgs {
    /// Pause while the server runs N statements of others (threads=N) or a replica lags (lag=SECONDS); load at most so many
    /// rows (rate=N) and bytes of statements (bytes=N, with K, M or G) a second
    #[arg(long, value_name = "LIMIT=N,…")]
    throttle: Option<ThrottleLimits>,

    /// A file with limits that take the place of those of --throttle, read again when it changes: also `pause` and `pause=no`
    #[arg(long, value_name = "FILE")]
    throttle_file: Option<PathBuf>,

    /// Replicas whose lag counts for lag=SECONDS: the account and the encryption are those of the load
    #[arg(long, value_name = "HOST[:PORT],…", value_delimiter = ',')]
    throttle_replicas: Vec<String>,

    /// The table that a heartbeat writes to, as pt-heartbeat does: the lag is the age of its latest `ts` on the replica
    /// [default: the lag that the replica reports]
    #[arg(long, value_name = "DB.TABLE", requires = "throttle_replicas", value_parser = heartbeat_table)]
    throttle_heartbeat: Option<HeartbeatTable>,

    /// While the lag of a replica is unknown: wait, up to ten minutes, or go on
    #[arg(long, value_name = "wait|ignore", value_parser = ["wait", "ignore"], requires = "throttle_replicas")]
    throttle_unreachable: Option<String>,
}

impl ThrottleArgs {
    /// The options; an error of the command line if they do not go together.
    pub(super) fn options(&self) -> Result<ThrottleOptions, clap::Error> {
        let options = ThrottleOptions {
            limits: self.throttle.unwrap_or_default(),
            file: self.throttle_file.clone(),
            replicas: self.throttle_replicas.clone(),
            heartbeat: self.throttle_heartbeat.clone(),
            unreachable: match self.throttle_unreachable.as_deref() {
                Some("ignore") => Unreachable::Ignore,
                _ => Unreachable::Wait,
            },
        };
        let checked = options.check();
        checked.map_err(|error| clap::Error::raw(ErrorKind::MissingRequiredArgument, format!("{error}\n")))?;
        Ok(options)
    }
}

fn heartbeat_table(text: &str) -> Result<HeartbeatTable, String> {
    match text.split_once('.') {
        Some((schema, table)) if !schema.is_empty() && !table.is_empty() => {
            Ok(HeartbeatTable { schema: schema.to_owned(), table: table.to_owned() })
        }
        _ => Err("write DB.TABLE".to_owned()),
    }
}
