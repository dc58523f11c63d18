//! Validates constraints in parallel, the foreign keys of a large table by key ranges.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use hortator_mysql::{Connection, Error, Row};

use super::declared::{Constraint, ForeignKey, ParentKey, UniqueKey, parent_key, primary_key};
use super::key_ranges::{KeyRange, key_ranges};
use super::queries::{Read, duplicates, orphans};
use super::{Finding, ViolatingRow, Violation};

/// Observes a validation, and may end it.
pub trait Observer: Sync {
    /// A validator thread (from 1) runs its queries on this connection; 0 for none.
    fn runs_on(&self, validator: usize, connection_id: u32);
    /// Whether the validation should end.
    fn is_ended(&self) -> bool;
}

/// Validates constraints.
pub struct Validator<'a> {
    /// Opens one more connection.
    pub open: &'a (dyn Fn() -> Result<Connection, Error> + Sync),
    /// The maximum number of parallel connections.
    pub threads: usize,
    /// The maximum number of violating rows with their values, per constraint.
    pub rows_limit: usize,
    /// The observer.
    pub observer: &'a dyn Observer,
}

/// How to validate a constraint.
enum Plan {
    /// The violation is already known.
    Violation(Violation),
    /// Search each of the ranges for rows without a parent; `own` are the primary key's columns, which identify the
    /// rows.
    Orphans { own: Vec<Vec<u8>>, key_ranges: Vec<KeyRange> },
    /// Search for values that several rows share.
    Duplicates,
}

/// The result for a constraint, for the whole table or one range.
#[derive(Default)]
struct Found {
    count: u64,
    first: Vec<ViolatingRow>,
    refusal: Option<String>,
}

impl Validator<'_> {
    /// The violated constraints, in the given order. Incomplete if the observer has ended the validation.
    ///
    /// # Errors
    /// When a connection fails. A query that the server refuses is a finding.
    pub fn validate(&self, constraints: &[Constraint]) -> Result<Vec<Finding>, Error> {
        let plans = self.run_in_parallel(constraints, |connection, constraint| {
            or_refusal(self.plan(connection, constraint))
                .map(|plan| plan.unwrap_or_else(|why| Plan::Violation(Violation::NotValidated(why))))
        })?;
        let whole = [KeyRange::WHOLE];
        let jobs: Vec<(usize, &Constraint, &[Vec<u8>], &KeyRange)> = plans
            .iter()
            .zip(constraints)
            .enumerate()
            .flat_map(|(number, (plan, constraint))| {
                let (own, key_ranges) = match plan {
                    Some(Plan::Orphans { own, key_ranges }) => (&own[..], &key_ranges[..]),
                    Some(Plan::Duplicates) => (&[][..], &whole[..]),
                    Some(Plan::Violation(_)) | None => (&[][..], &[][..]),
                };
                key_ranges.iter().map(move |key_range| (number, constraint, own, key_range))
            })
            .collect();
        let found = self.run_in_parallel(&jobs, |connection, (_, constraint, own, key_range)| {
            let found = match constraint {
                Constraint::ForeignKey(key) => self.orphans(connection, key, own, key_range),
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
            let violation = match (plan, found) {
                (Some(Plan::Violation(violation)), _) => violation,
                (_, Found { refusal: Some(why), .. }) => Violation::NotValidated(why),
                (_, Found { count: 0, .. }) => return None,
                (_, Found { count, first, .. }) => Violation::Rows { count, first },
            };
            Some(Finding { constraint: constraint.clone(), violation })
        });
        Ok(findings.collect())
    }

    /// Processes each item in parallel, over separate connections; `None` for items left when the observer ended it.
    fn run_in_parallel<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&mut Connection, &T) -> Result<R, Error> + Sync,
    ) -> Result<Vec<Option<R>>, Error> {
        let next = AtomicUsize::new(0);
        let has_failed = AtomicBool::new(false);
        let results: Mutex<Vec<Option<R>>> = Mutex::new(items.iter().map(|_| None).collect());
        let run = |validator: usize| -> Result<(), Error> {
            let mut connection: Option<Connection> = None;
            while !self.observer.is_ended() && !has_failed.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(number) else { break };
                let connection = match &mut connection {
                    Some(connection) => connection,
                    none => none.insert((self.open)()?),
                };
                self.observer.runs_on(validator, connection.id());
                let result = work(connection, item)?;
                results.lock().unwrap_or_else(PoisonError::into_inner)[number] = Some(result);
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let (run, has_failed) = (&run, &has_failed);
            let validators: Vec<_> = (1..=self.threads.clamp(1, items.len().max(1)))
                .map(|validator| {
                    scope.spawn(move || {
                        let done = run(validator);
                        self.observer.runs_on(validator, 0);
                        has_failed.fetch_or(done.is_err(), Ordering::Relaxed);
                        done
                    })
                })
                .collect();
            validators.into_iter().try_for_each(|validator| match validator.join() {
                Ok(done) => done,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })?;
        Ok(results.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn plan(&self, connection: &mut Connection, constraint: &Constraint) -> Result<Plan, Error> {
        let Constraint::ForeignKey(key) = constraint else { return Ok(Plan::Duplicates) };
        match parent_key(connection, key)? {
            ParentKey::NoTable => return Ok(Plan::Violation(Violation::NoParent)),
            // Without a key, each row would need a scan of the whole parent.
            ParentKey::NoKey => return Ok(Plan::Violation(Violation::NoParentKey)),
            ParentKey::There => {}
        }
        let mut own = primary_key(connection, &key.child)?;
        own.retain(|column| !key.columns.contains(column));
        Ok(Plan::Orphans { own, key_ranges: key_ranges(connection, key, self.threads)? })
    }

    fn orphans(
        &self,
        connection: &mut Connection,
        key: &ForeignKey,
        own: &[Vec<u8>],
        key_range: &KeyRange,
    ) -> Result<Found, Error> {
        let rows = connection.fetch(&orphans(key, own, key_range, Read::First(self.rows_limit + 1)))?;
        let names: Vec<&Vec<u8>> = key.columns.iter().chain(own).collect();
        let count = match rows.len() > self.rows_limit {
            true => count(connection, &orphans(key, &[], key_range, Read::Count))?,
            false => rows.len() as u64,
        };
        let violating_row = |row: Row| ViolatingRow {
            values: names.iter().map(|&name| name.clone()).zip(row).collect(),
            constrained: key.columns.len(),
            rows: 1,
        };
        let first = rows.into_iter().take(self.rows_limit).map(violating_row).collect();
        Ok(Found { count, first, refusal: None })
    }

    fn duplicates(&self, connection: &mut Connection, key: &UniqueKey) -> Result<Found, Error> {
        let groups = connection.fetch(&duplicates(key, Read::First(self.rows_limit + 1)))?;
        if groups.is_empty() {
            return Ok(Found::default());
        }
        let count = count(connection, &duplicates(key, Read::Count))?;
        let names: Vec<&Vec<u8>> = key.columns.iter().map(|(column, _)| column).collect();
        let violating_row = |mut row: Row| ViolatingRow {
            rows: row.pop().flatten().map_or(1, |count| number(&count)),
            values: names.iter().map(|&name| name.clone()).zip(row).collect(),
            constrained: names.len(),
        };
        let first = groups.into_iter().take(self.rows_limit).map(violating_row).collect();
        Ok(Found { count, first, refusal: None })
    }
}

/// Separates a refusal of the server, as text, from errors that end the validation.
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
