//! Proves constraints side by side, the foreign keys of a large table in pieces.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hortator_mysql::{Connection, Error, Row};

use super::declared::{Constraint, ForeignKey, ParentKey, UniqueKey, parent_key, primary_key};
use super::pieces::{Piece, pieces};
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

/// What it takes to prove a constraint.
enum Plan {
    /// It is known already.
    Fault(Fault),
    /// Rows without a parent are looked for in each of the pieces; `own` are the primary key's columns to tell them by.
    Orphans { own: Vec<Vec<u8>>, pieces: Vec<Piece> },
    /// Values that several rows share are looked for.
    Duplicates,
}

/// What was found of a constraint, in the whole or in a piece.
#[derive(Default)]
struct Found {
    count: u64,
    first: Vec<Offender>,
    refusal: Option<String>,
}

impl Prover<'_> {
    /// The constraints that do not hold, in the order given. Without a meaning once the watch has ended it.
    ///
    /// # Errors
    /// When there is no connection, or one is lost. A query that the server refuses is a finding.
    pub fn prove(&self, constraints: &[Constraint]) -> Result<Vec<Finding>, Error> {
        let plans = self.side_by_side(constraints, |connection, constraint| {
            or_refusal(self.plan(connection, constraint))
                .map(|plan| plan.unwrap_or_else(|why| Plan::Fault(Fault::Unproven(why))))
        })?;
        let whole = [Piece::WHOLE];
        let jobs: Vec<(usize, &Constraint, &[Vec<u8>], &Piece)> = plans
            .iter()
            .zip(constraints)
            .enumerate()
            .flat_map(|(number, (plan, constraint))| {
                let (own, pieces) = match plan {
                    Some(Plan::Orphans { own, pieces }) => (&own[..], &pieces[..]),
                    Some(Plan::Duplicates) => (&[][..], &whole[..]),
                    Some(Plan::Fault(_)) | None => (&[][..], &[][..]),
                };
                pieces.iter().map(move |piece| (number, constraint, own, piece))
            })
            .collect();
        let found = self.side_by_side(&jobs, |connection, (_, constraint, own, piece)| {
            let found = match constraint {
                Constraint::ForeignKey(key) => self.orphans(connection, key, own, piece),
                Constraint::Unique(key) => self.duplicates(connection, key),
            };
            let refused = |why| Found { refusal: Some(why), ..Found::default() };
            or_refusal(found).map(|found| found.unwrap_or_else(refused))
        })?;
        let mut together: Vec<Found> = constraints.iter().map(|_| Found::default()).collect();
        for ((number, ..), found) in jobs.iter().zip(found) {
            let Some(found) = found else { continue };
            let all = &mut together[*number];
            all.count += found.count;
            all.first.extend(found.first);
            all.first.truncate(self.rows_limit);
            all.refusal = all.refusal.take().or(found.refusal);
        }
        let findings = plans.into_iter().zip(together).zip(constraints).filter_map(|((plan, found), constraint)| {
            let fault = match (plan, found) {
                (Some(Plan::Fault(fault)), _) => fault,
                (_, Found { refusal: Some(why), .. }) => Fault::Unproven(why),
                (_, Found { count: 0, .. }) => return None,
                (_, Found { count, first, .. }) => Fault::Rows { count, first },
            };
            Some(Finding { constraint: constraint.clone(), fault })
        });
        Ok(findings.collect())
    }

    /// Does something with each item, over connections of their own; `None` for items left when the watch ended it.
    fn side_by_side<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut Connection, &T) -> Result<R, Error> + Sync,
    ) -> Result<Vec<Option<R>>, Error> {
        let next = AtomicUsize::new(0);
        let has_failed = AtomicBool::new(false);
        let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
        let run = |prover: usize| -> Result<(), Error> {
            let mut connection: Option<Connection> = None;
            while !self.watch.is_ended() && !has_failed.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(number) else { break };
                let connection = match &mut connection {
                    Some(connection) => connection,
                    none => none.insert((self.open)()?),
                };
                self.watch.runs_on(prover, connection.id());
                let result = work(connection, item)?;
                results.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(result);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let (run, has_failed) = (&run, &has_failed);
            let provers: Vec<_> = (1..=self.threads.clamp(1, items.len().max(1)))
                .map(|prover| {
                    scope.spawn(move || {
                        let done = run(prover);
                        self.watch.runs_on(prover, 0);
                        has_failed.fetch_or(done.is_err(), Ordering::Relaxed);
                        done
                    })
                })
                .collect();
            provers.into_iter().try_for_each(|prover| match prover.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn plan(&self, connection: &mut Connection, constraint: &Constraint) -> Result<Plan, Error> {
        let Constraint::ForeignKey(key) = constraint else { return Ok(Plan::Duplicates) };
        match parent_key(connection, key)? {
            ParentKey::NoTable => return Ok(Plan::Fault(Fault::NoParent)),
            // Without a key, each row would be looked for in the whole of the parent.
            ParentKey::NoKey => return Ok(Plan::Fault(Fault::NoParentKey)),
            ParentKey::There => {}
        }
        let mut own = primary_key(connection, &key.child)?;
        own.retain(|column| !key.columns.contains(column));
        Ok(Plan::Orphans { own, pieces: pieces(connection, key, self.threads)? })
    }

    fn orphans(
        &self,
        connection: &mut Connection,
        key: &ForeignKey,
        own: &[Vec<u8>],
        piece: &Piece,
    ) -> Result<Found, Error> {
        let rows = connection.fetch(&orphans(key, own, piece, Read::First(self.rows_limit + 1)))?;
        let names: Vec<&Vec<u8>> = key.columns.iter().chain(own).collect();
        let count = match rows.len() > self.rows_limit {
            true => count(connection, &orphans(key, &[], piece, Read::Count))?,
            false => rows.len() as u64,
        };
        let offender = |row: Row| Offender {
            values: names.iter().map(|&name| name.clone()).zip(row).collect(),
            constrained: key.columns.len(),
            rows: 1,
        };
        let first = rows.into_iter().take(self.rows_limit).map(offender).collect();
        Ok(Found { count, first, refusal: None })
    }

    fn duplicates(&self, connection: &mut Connection, key: &UniqueKey) -> Result<Found, Error> {
        let groups = connection.fetch(&duplicates(key, Read::First(self.rows_limit + 1)))?;
        if groups.is_empty() {
            return Ok(Found::default());
        }
        let count = count(connection, &duplicates(key, Read::Count))?;
        let names: Vec<&Vec<u8>> = key.columns.iter().map(|(column, _)| column).collect();
        let offender = |mut row: Row| Offender {
            rows: row.pop().flatten().map_or(1, |count| number(&count)),
            values: names.iter().map(|&name| name.clone()).zip(row).collect(),
            constrained: names.len(),
        };
        let first = groups.into_iter().take(self.rows_limit).map(offender).collect();
        Ok(Found { count, first, refusal: None })
    }
}

/// A refusal of the server's in words, apart from what ends a proof.
fn or_refusal<T>(result: Result<T, Error>) -> Result<Result<T, String>, Error> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Error::Server(refusal)) => Ok(Err(format!("error {}: {}", refusal.code, refusal.message))),
        Err(error) => Err(error),
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
