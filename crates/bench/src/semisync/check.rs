//! Whether each server has exactly the confirmed rows, and whether semi-synchronous replication was what confirmed them.

use std::collections::HashSet;
use std::ops::ControlFlow;

use hortator_mysql::{Column, Connection, RowSink};

use super::SCHEMA;
use super::clients::Inserted;
use super::rows::checksum;
use super::servers::Servers;
use crate::Error;

/// The number of rows, and `SUM(CRC32(c2))` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Contents {
    rows: u64,
    checksum: u64,
}

impl Contents {
    /// What these keys' rows are.
    pub(super) fn of_keys(keys: impl Iterator<Item = u32>) -> Self {
        keys.fold(Self { rows: 0, checksum: 0 }, |contents, key| Self {
            rows: contents.rows + 1,
            checksum: contents.checksum + checksum(key),
        })
    }

    fn read(connection: &mut Connection) -> Result<Self, Error> {
        let query = format!("SELECT COUNT(*), COALESCE(SUM(CRC32(c2)), 0) FROM {SCHEMA}.tab1");
        let answer = connection.fetch(query.as_bytes()).map_err(Error::server("counting the rows"))?;
        let mut numbers = answer.into_iter().flatten().flatten().map(|value| {
            let text = String::from_utf8_lossy(&value).into_owned();
            text.parse().map_err(|_| Error::Answer(format!("`{text}` in place of a number of rows")))
        });
        let mut number = || numbers.next().unwrap_or(Ok(0));
        Ok(Self { rows: number()?, checksum: number()? })
    }
}

/// Checks that every server has these rows and no others, after all have been waited for.
pub(super) fn check_contents(servers: &Servers, work: &str, confirmed: Contents) -> Result<(), Error> {
    let mut found = Vec::new();
    for (_, mut connection) in servers.connect_alive()? {
        found.push(Contents::read(&mut connection)?);
    }
    compare(work, confirmed, &found)
}

fn compare(work: &str, confirmed: Contents, found: &[Contents]) -> Result<(), Error> {
    if found.iter().any(|contents| contents.rows != confirmed.rows) {
        let found = found.iter().map(|contents| contents.rows).collect();
        return Err(Error::NotConverged { work: work.to_owned(), confirmed: confirmed.rows, unknown: 0, found });
    }
    match found.iter().zip(1..).find(|(contents, _)| contents.checksum != confirmed.checksum) {
        None => Ok(()),
        Some((contents, node)) => Err(Error::Answer(format!(
            "after workload {work} node {node} has other values than were inserted: SUM(CRC32(c2)) is {}, not {}",
            contents.checksum, confirmed.checksum
        ))),
    }
}

/// Checks that every commit waited for its acknowledgement. `before` is what [`Servers::unacknowledged`] said at first.
pub(super) fn check_semisync(servers: &Servers, before: &[u64]) -> Result<(), Error> {
    let (after, are_on) = (servers.unacknowledged()?, servers.are_semisync()?);
    let sources = servers.deployment.links().iter().map(|(source, _)| source + 1);
    let commits = after.iter().zip(before).map(|(after, before)| after.saturating_sub(*before));
    sources.zip(commits.zip(are_on)).try_for_each(|(node, (commits, is_on))| fallback(node, commits, is_on))
}

fn fallback(node: usize, commits: u64, is_on: bool) -> Result<(), Error> {
    if commits == 0 && is_on {
        return Ok(());
    }
    let now = if is_on { "ON" } else { "OFF" };
    Err(Error::Answer(format!(
        "node {node} fell back to asynchronous, {commits} commits (Rpl_semi_sync_master_status is {now} at the end): raise \
         rpl_semi_sync_master_timeout, or see why its replica is slow"
    )))
}

/// Checks that no confirmed row is lost where connections were lost: their rows may be there or not, on all servers alike.
pub(super) fn check_none_lost(survival: Survival, work: &str) -> Result<(), Error> {
    match survival.lost {
        0 => Ok(()),
        lost => Err(Error::Answer(format!("after workload {work} the servers lack {lost} rows that were confirmed"))),
    }
}

/// What the servers that are left have of the rows of a failover run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survival {
    /// Confirmed rows that no server has.
    pub(super) lost: u64,
    /// Rows that a server has whose client lost its connection before it heard of them.
    pub(super) unheard: u64,
}

/// Checks that the servers that are left have the same rows, all of which were inserted, and counts those that are lost.
pub(super) fn survival(servers: &Servers, work: &str, inserted: &Inserted) -> Result<Survival, Error> {
    let confirmed: HashSet<u32> = inserted.confirmed.iter().map(|row| row.key).collect();
    let unknown: HashSet<u32> = inserted.unknown.iter().copied().collect();
    let mut present: Option<HashSet<u32>> = None;
    for (node, mut connection) in servers.connect_alive()? {
        let mut keys = KeyReader::default();
        let asked = connection.query(format!("SELECT c1 FROM {SCHEMA}.tab1").as_bytes(), &mut keys);
        asked.map_err(Error::server("reading the keys"))?;
        let contents = Contents::read(&mut connection)?;
        compare(work, Contents::of_keys(keys.0.iter().copied()), &[contents])?;
        match &present {
            Some(others) if *others != keys.0 => {
                let differing = others.symmetric_difference(&keys.0).count();
                return Err(Error::Answer(format!(
                    "node {node} has other rows than those before it: {differing} differ"
                )));
            }
            _ => present = Some(keys.0),
        }
    }
    count(&present.unwrap_or_default(), &confirmed, &unknown)
}

fn count(present: &HashSet<u32>, confirmed: &HashSet<u32>, unknown: &HashSet<u32>) -> Result<Survival, Error> {
    let strange = present.iter().filter(|key| !confirmed.contains(key) && !unknown.contains(key)).count();
    match strange {
        0 => Ok(Survival {
            lost: confirmed.difference(present).count() as u64,
            unheard: unknown.intersection(present).count() as u64,
        }),
        rows => Err(Error::Answer(format!("the servers have {rows} rows that no thread inserted"))),
    }
}

/// Takes keys as they arrive.
#[derive(Default)]
struct KeyReader(HashSet<u32>);

impl RowSink for KeyReader {
    fn columns(&mut self, _columns: &[Column]) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn row(&mut self, values: &[Option<&[u8]>]) -> ControlFlow<()> {
        let key = values.first().copied().flatten().and_then(|key| std::str::from_utf8(key).ok()?.parse().ok());
        // What is no key differs from all that were inserted.
        self.0.insert(key.unwrap_or(u32::MAX));
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_extra_and_changed_rows_are_errors() {
        let confirmed = Contents::of_keys(0..7);
        compare("inserts", confirmed, &[confirmed, confirmed]).unwrap();
        let says = |other| compare("inserts", confirmed, &[confirmed, other]).unwrap_err().to_string();
        for other in [Contents::of_keys(0..6), Contents::of_keys(0..8)] {
            assert!(says(other).contains(&format!("the nodes have 7, {} rows, but 7 rows", other.rows)));
        }
        let changed = says(Contents::of_keys(1..8));
        assert!(changed.starts_with("after workload inserts node 2 has other values than were inserted"), "{changed}");
    }

    #[test]
    fn a_commit_without_acknowledgement_is_an_error() {
        fallback(1, 0, true).unwrap();
        for (commits, is_on, end) in [(3, true, "ON"), (3, false, "OFF"), (0, false, "OFF")] {
            let message = fallback(2, commits, is_on).unwrap_err().to_string();
            assert!(message.starts_with(&format!("node 2 fell back to asynchronous, {commits} commits")), "{message}");
            assert!(message.contains(&format!("is {end} at the end")), "{message}");
        }
    }

    #[test]
    fn a_confirmed_row_that_is_lost_beside_lost_connections_is_an_error() {
        check_none_lost(Survival { lost: 0, unheard: 1 }, "2 threads").unwrap();
        let message = check_none_lost(Survival { lost: 3, unheard: 1 }, "2 threads").unwrap_err().to_string();
        assert_eq!(message, "after workload 2 threads the servers lack 3 rows that were confirmed");
    }

    #[test]
    fn lost_rows_are_counted_and_strange_ones_refused() {
        let keys = |keys: &[u32]| keys.iter().copied().collect::<HashSet<u32>>();
        let (confirmed, unknown) = (keys(&[1, 2, 3, 4]), keys(&[5, 6]));
        let counted = count(&keys(&[1, 2, 3, 5]), &confirmed, &unknown).unwrap();
        assert_eq!(counted, Survival { lost: 1, unheard: 1 });
        let message = count(&keys(&[1, 2, 3, 4, 9]), &confirmed, &unknown).unwrap_err().to_string();
        assert_eq!(message, "the servers have 1 rows that no thread inserted");
    }
}
