//! Counts the rows of tables that have no rows but those of the stream.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error, quote_identifier};

use super::Verify;
use super::inventory::{FoundRelation, Inventory};
use super::report::{Findings, TableCheck};
use crate::expect::{Kind, RelationKind};

/// Counts on several connections, a table at a time on each.
pub(super) fn count(verify: &Verify<'_>, inventory: &Inventory, findings: &mut Findings) -> Result<(), Error> {
    let uncountable = uncountable_rows(verify, inventory);
    let mut counted: Vec<(&TableName, &FoundRelation)> = Vec::new();
    let mut checks = Vec::new();
    for (name, relation) in verify.expectations.relations() {
        let found = inventory.relations.get(name).filter(|found| found.kind == RelationKind::Table);
        let Some(found) = found.filter(|_| relation.kind == RelationKind::Table) else { continue };
        let table = name.to_string();
        let loaded = verify.loaded.get(&table).copied();
        if loaded.is_none() && !relation.is_made {
            continue;
        }
        let elsewhere = || format!("engine {} may store the rows elsewhere", found.engine);
        let not_counted_reason = (relation.not_counted.clone())
            .or_else(|| (!found.holds_rows()).then(elsewhere))
            .or_else(|| uncountable.clone());
        let expected = match not_counted_reason {
            Some(_) => None,
            None => {
                counted.push((name, found));
                Some(loaded.unwrap_or_default())
            }
        };
        checks.push(TableCheck { table, expected, found: None, not_counted_reason });
    }
    let mut counts = count_all(verify, &counted)?.into_iter();
    for check in &mut checks {
        let Some(expected) = check.expected else { continue };
        check.found = counts.next();
        if let Some(found) = check.found.filter(|found| *found != expected) {
            findings.problem(format!("table {} has {found} rows, but {expected} were loaded", check.table));
        }
    }
    findings.tables = checks;
    Ok(())
}

/// Why nothing can be counted: rows went into a table with a trigger that is not the stream's and may have written
/// anywhere, or through something whose rows are elsewhere.
fn uncountable_rows(verify: &Verify<'_>, inventory: &Inventory) -> Option<String> {
    let is_ours = |name: &TableName, trigger: &[u8]| {
        verify.expectations.objects().any(|(kind, schema, known, _)| {
            kind == Kind::Trigger && schema == name.schema && known.eq_ignore_ascii_case(trigger)
        })
    };
    let reason = |name: &TableName, found: &FoundRelation| {
        if found.triggers.iter().any(|trigger| !is_ours(name, trigger)) {
            Some(format!("table {name} already had triggers, which may have written to any table"))
        } else if found.kind == RelationKind::View {
            Some(format!("the dump inserted rows through view {name}"))
        } else {
            let is_elsewhere = !found.holds_rows() && found.engine != "blackhole";
            is_elsewhere.then(|| {
                format!("the dump inserted rows into {name}, whose engine {} stores them elsewhere", found.engine)
            })
        }
    };
    let filled = inventory.relations.iter().filter(|(name, _)| verify.loaded.contains_key(&name.to_string()));
    filled.into_iter().find_map(|(name, found)| reason(name, found))
}

fn count_all(verify: &Verify<'_>, names: &[(&TableName, &FoundRelation)]) -> Result<Vec<u64>, Error> {
    let next = AtomicUsize::new(0);
    let counts = Mutex::new(vec![0; names.len()]);
    let work = || -> Result<(), Error> {
        let mut connection = verify.open()?;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((name, found)) = names.get(index) else { return Ok(()) };
            let count = count_one(&mut connection, name, found.is_versioned)?;
            counts.lock().unwrap_or_else(PoisonError::into_inner)[index] = count;
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..verify.threads.min(names.len())).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    Ok(counts.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Past rows of a versioned table count: a dump may put such in.
fn count_one(connection: &mut Connection, name: &TableName, is_versioned: bool) -> Result<u64, Error> {
    let place = [quote_identifier(&name.schema), quote_identifier(&name.table)].join(&b'.');
    let all: &[u8] = if is_versioned { b" FOR SYSTEM_TIME ALL" } else { b"" };
    let rows = connection.fetch(&[b"SELECT COUNT(*) FROM ", place.as_slice(), all].concat())?;
    let count = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(count.and_then(|count| std::str::from_utf8(count).ok()?.parse().ok()).unwrap_or_default())
}
