//! The source, the target, and the stock replica of a trial.

use std::collections::BTreeMap;
use std::path::Path;

use hortator_check::state::State;

use crate::mtr_as_dumps::server::{SERVER_QUERIES, Server};

/// Of the source: the format follows.
const OF_SOURCE: [(&str, &str); 2] = [("log_bin", "bin"), ("sync_binlog", "0")];
const OF_REPLICA: [(&str, &str); 2] = [("slave_net_timeout", "10"), ("slave_parallel_threads", "0")];

/// The same accounts on all.
const SETUP: &[&str] = &["CREATE USER repl@'127.0.0.1' IDENTIFIED BY 'secret'", "GRANT ALL ON *.* TO repl@'127.0.0.1'"];
const SETUP_OF_REPLICA: &[&str] = &[SETUP[0], SETUP[1], "SET GLOBAL server_id = 3"];

/// The schema of the agent's positions.
const OWN_SCHEMA: &str = "hortator";
/// Stands before each line of what is no schema's.
const ACCOUNTS: &str = "the server's tables";
/// The first of the queries is of variables, the last of the names of tables.
const FIRST_OF_ACCOUNTS: usize = 1;

/// Which server is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Source,
    Target,
    Replica,
}

/// Whether only the state of an event differs: those of a source are disabled on the target, as on a replica.
fn is_disabled_event(difference: &str) -> bool {
    let definitions = difference.split_once("\n  first:").and_then(|(_, both)| both.split_once("\n  second:"));
    let plain = |text: &str| {
        [" DISABLE ON SLAVE", " DISABLE", " ENABLE"]
            .iter()
            .fold(text.trim().to_owned(), |text, state| text.replace(state, ""))
    };
    difference.starts_with("event ") && definitions.is_some_and(|(first, second)| plain(first) == plain(second))
}

pub(super) fn start(role: Role, format: &str, suites: &Path) -> anyhow::Result<Server> {
    let (settings, setup): (&[(&str, &str)], _) = match role {
        Role::Source => (&OF_SOURCE, SETUP),
        Role::Target => (&[], SETUP),
        Role::Replica => (&OF_REPLICA, SETUP_OF_REPLICA),
    };
    let settings = settings.iter().copied().chain([("binlog_format", format)]);
    let settings: Vec<(String, String)> = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Server::start_with(&settings, suites, 0, setup)
}

/// What can be compared of a server.
pub(super) struct Picture {
    schemas: BTreeMap<String, Result<State, String>>,
    accounts: Vec<String>,
}

impl Picture {
    pub(super) fn take(server: &Server) -> Picture {
        let mut snapshot = server.snapshot_of(&SERVER_QUERIES[FIRST_OF_ACCOUNTS..]);
        snapshot.schemas.remove(OWN_SCHEMA);
        Picture { schemas: snapshot.schemas, accounts: snapshot.server }
    }

    /// Of one schema only.
    pub(super) fn only(&self, schema: &str) -> Picture {
        let schemas = self.schemas.iter().filter(|(name, _)| *name == schema);
        Picture { schemas: schemas.map(|(name, state)| (name.clone(), state.clone())).collect(), accounts: Vec::new() }
    }

    /// The number of rows of a schema.
    pub(super) fn rows(&self, schema: &str) -> u64 {
        self.schemas.get(schema).and_then(|state| state.as_ref().ok()).map_or(0, State::row_count)
    }

    /// What the other one has otherwise.
    pub(super) fn differences(&self, other: &Picture) -> Vec<String> {
        let mut found = Vec::new();
        for (name, state) in &self.schemas {
            match (state, other.schemas.get(name)) {
                (Ok(mine), Some(Ok(theirs))) => {
                    let differences = mine.differences(theirs).into_iter().filter(|text| !is_disabled_event(text));
                    found.extend(differences.map(|text| format!("{name}: {text}")));
                }
                (Ok(_), Some(Err(error))) => found.push(format!("{name}: it cannot be read: {error}")),
                // The test keeps locks on the source: there is nothing to compare with.
                (Err(_), _) => {}
                (Ok(_), None) => found.push(format!("{name}: the schema is not there")),
            }
        }
        let more = other.schemas.keys().filter(|name| !self.schemas.contains_key(*name));
        found.extend(more.map(|name| format!("{name}: the source has no such schema")));
        let of_one = |one: &Picture, other: &Picture, side: &str| {
            let lines = one.accounts.iter().filter(|line| !other.accounts.contains(line));
            lines.map(|line| format!("{ACCOUNTS}: only {side}: {line}")).collect::<Vec<_>>()
        };
        found.extend(of_one(self, other, "on the source"));
        found.extend(of_one(other, self, "here"));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::is_disabled_event;

    #[test]
    fn events_that_are_disabled() {
        let text = "event e, Create Event:\n  first:  EVENT `e` ENABLE DO SELECT 1\n  second: EVENT `e` DISABLE ON SLAVE DO SELECT ";
        assert!(is_disabled_event(&format!("{text}1")) && !is_disabled_event(&format!("{text}2")));
    }
}
