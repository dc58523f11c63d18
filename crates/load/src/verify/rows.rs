//! Counts the rows of tables that hold nothing but the stream's.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use hortator_mysql::catalog::TableName;
use hortator_mysql::{Connection, Error, quote_identifier};

use super::Verify;
use super::inventory::{Inventory, There};
use super::report::{Findings, TableCheck};
use crate::expect::{Kind, RelationKind};

/// Counts on several connections, a table at a time on each.
pub(super) fn count(verify: &Verify<'_>, inventory: &Inventory, findings: &mut Findings) -> Result<(), Error> {
    let strange = strange_trigger(verify, inventory);
    let mut counted: Vec<&TableName> = Vec::new();
    let mut checks = Vec::new();
    for (name, relation) in verify.expectations.relations() {
        let there = inventory.relations.get(name).filter(|there| there.kind == RelationKind::Table);
        let Some(there) = there.filter(|_| relation.kind == RelationKind::Table) else { continue };
        let table = name.to_string();
        let loaded = verify.loaded.get(&table).copied();
        if loaded.is_none() && !relation.is_made {
            continue;
        }
        let elsewhere = || format!("rows of the engine {} may be elsewhere", there.engine);
        let not_counted_because = (relation.not_counted.clone())
            .or_else(|| (!there.holds_rows()).then(elsewhere))
            .or_else(|| strange.clone());
        let expected = match not_counted_because {
            Some(_) => None,
            None => {
                counted.push(name);
                Some(loaded.unwrap_or_default())
            }
        };
        checks.push(TableCheck { table, expected, found: None, not_counted_because });
    }
    let mut counts = count_all(verify, &counted)?.into_iter();
    for check in &mut checks {
        let Some(expected) = check.expected else { continue };
        check.found = counts.next();
        if let Some(found) = check.found.filter(|found| *found != expected) {
            findings.problem(format!("table {} holds {found} rows, and {expected} were loaded", check.table));
        }
    }
    findings.tables = checks;
    Ok(())
}

/// Why nothing can be counted where rows went into a table with a trigger that is not the stream's: it was there before,
/// and may have written anywhere.
fn strange_trigger(verify: &Verify<'_>, inventory: &Inventory) -> Option<String> {
    let is_ours = |name: &TableName, trigger: &[u8]| {
        verify.expectations.objects().any(|(kind, schema, known)| {
            kind == Kind::Trigger && schema == name.schema && known.eq_ignore_ascii_case(trigger)
        })
    };
    let has_strange = |name: &TableName, there: &There| there.triggers.iter().any(|trigger| !is_ours(name, trigger));
    let mut filled = inventory.relations.iter().filter(|(name, _)| verify.loaded.contains_key(&name.to_string()));
    let (name, _) = filled.find(|(name, there)| has_strange(name, there))?;
    Some(format!("{name} had triggers before, which may have written anywhere"))
}

fn count_all(verify: &Verify<'_>, names: &[&TableName]) -> Result<Vec<u64>, Error> {
    let next = AtomicUsize::new(0);
    let counts = Mutex::new(vec![0; names.len()]);
    let work = || -> Result<(), Error> {
        let mut connection = verify.open()?;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = names.get(index) else { return Ok(()) };
            let count = count_one(&mut connection, name)?;
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

fn count_one(connection: &mut Connection, name: &TableName) -> Result<u64, Error> {
    let place = [quote_identifier(&name.schema), quote_identifier(&name.table)].join(&b'.');
    let rows = connection.fetch(&[b"SELECT COUNT(*) FROM ".as_slice(), &place].concat())?;
    let count = rows.first().and_then(|row| row.first()?.as_deref());
    Ok(count.and_then(|count| std::str::from_utf8(count).ok()?.parse().ok()).unwrap_or_default())
}
