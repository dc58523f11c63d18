//! Proves constraints side by side, each on a connection of its own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hortator_mysql::{Connection, Error, Row};

use super::declared::{Constraint, ForeignKey, ParentKey, UniqueKey, parent_key, primary_key};
use super::queries::{Read, duplicates, orphans};
use super::{Fault, Finding, Offender};

/// What goes on while constraints are proven, for those who would end it.
pub trait Watch: Sync {
    /// A prover (from 1) runs its queries on this connection; 0 for none.
    fn runs_on(&self, prover: usize, connection_id: u32);
    /// Whether the proof is to end.
    fn is_ended(&self) -> bool;
}

/// Proves constraints.
pub struct Prover<'a> {
    /// Opens one more connection.
    pub open: &'a (dyn Fn() -> Result<Connection, Error> + Sync),
    /// Most connections at a time.
    pub threads: usize,
    /// How many rows that break a constraint are told with their values, of each constraint.
    pub rows_limit: usize,
    /// Who looks on.
    pub watch: &'a dyn Watch,
}

impl Prover<'_> {
    /// The constraints that do not hold, in the order given. Without a meaning once the watch has ended it.
    ///
    /// # Errors
    /// When there is no connection, or one is lost. A query that the server refuses is a finding.
    pub fn prove(&self, constraints: &[Constraint]) -> Result<Vec<Finding>, Error> {
        let next = AtomicUsize::new(0);
        let has_failed = AtomicBool::new(false);
        let found: Mutex<Vec<(usize, Finding)>> = Mutex::default();
        let work = |prover: usize| -> Result<(), Error> {
            let mut connection: Option<Connection> = None;
            while !self.watch.is_ended() && !has_failed.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(constraint) = constraints.get(number) else { break };
                let connection = match &mut connection {
                    Some(connection) => connection,
                    none => none.insert((self.open)()?),
                };
                self.watch.runs_on(prover, connection.id());
                if let Some(fault) = self.fault(connection, constraint)? {
                    let finding = Finding { constraint: constraint.clone(), fault };
                    found.lock().unwrap_or_else(PoisonError::into_inner).push((number, finding));
                }
            }
            Ok(())
        };
        let provers = self.threads.clamp(1, constraints.len().max(1));
        std::thread::scope(|scope| {
            let work = &work;
            let running: Vec<_> = (1..=provers)
                .map(|prover| {
                    let has_failed = &has_failed;
                    scope.spawn(move || {
                        let done = work(prover);
                        self.watch.runs_on(prover, 0);
                        has_failed.fetch_or(done.is_err(), Ordering::Relaxed);
                        done
                    })
                })
                .collect();
            running.into_iter().try_for_each(|prover| match prover.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|(number, _)| *number);
        Ok(found.into_iter().map(|(_, finding)| finding).collect())
    }

    fn fault(&self, connection: &mut Connection, constraint: &Constraint) -> Result<Option<Fault>, Error> {
        let fault = match constraint {
            Constraint::ForeignKey(key) => self.foreign_key(connection, key),
            Constraint::Unique(key) => self.unique(connection, key),
        };
        match fault {
            Err(Error::Server(refusal)) => {
                Ok(Some(Fault::Unproven(format!("error {}: {}", refusal.code, refusal.message))))
            }
            other => other,
        }
    }

    fn foreign_key(&self, connection: &mut Connection, key: &ForeignKey) -> Result<Option<Fault>, Error> {
        match parent_key(connection, key)? {
            ParentKey::NoTable => return Ok(Some(Fault::NoParent)),
            // Without a key, each row would be looked for in the whole of the parent.
            ParentKey::NoKey => return Ok(Some(Fault::NoParentKey)),
            ParentKey::There => {}
        }
        let mut own = primary_key(connection, &key.child)?;
        own.retain(|column| !key.columns.contains(column));
        let rows = connection.fetch(&orphans(key, &own, Read::First(self.rows_limit + 1)))?;
        let names: Vec<&Vec<u8>> = key.columns.iter().chain(&own).collect();
        let count = match rows.len() > self.rows_limit {
            true => count(connection, &orphans(key, &[], Read::Count))?,
            false => rows.len() as u64,
        };
        let offender = |row: Row| Offender {
            values: names.iter().map(|&name| name.clone()).zip(row).collect(),
            constrained: key.columns.len(),
            rows: 1,
        };
        let first: Vec<Offender> = rows.into_iter().take(self.rows_limit).map(offender).collect();
        Ok((count > 0).then_some(Fault::Rows { count, first }))
    }

    fn unique(&self, connection: &mut Connection, key: &UniqueKey) -> Result<Option<Fault>, Error> {
        let groups = connection.fetch(&duplicates(key, Read::First(self.rows_limit + 1)))?;
        if groups.is_empty() {
            return Ok(None);
        }
        let count = count(connection, &duplicates(key, Read::Count))?;
        let names: Vec<&Vec<u8>> = key.columns.iter().map(|(column, _)| column).collect();
        let offender = |mut row: Row| Offender {
            rows: row.pop().flatten().map_or(1, |count| number(&count)),
            values: names.iter().map(|&name| name.clone()).zip(row).collect(),
            constrained: names.len(),
        };
        let first: Vec<Offender> = groups.into_iter().take(self.rows_limit).map(offender).collect();
        Ok(Some(Fault::Rows { count, first }))
    }
}

fn count(connection: &mut Connection, query: &[u8]) -> Result<u64, Error> {
    let rows = connection.fetch(query)?;
    let value = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(value.map_or(0, number))
}

fn number(digits: &[u8]) -> u64 {
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or_default()
}
