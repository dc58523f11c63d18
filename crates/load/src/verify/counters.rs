//! Checks that the next AUTO_INCREMENT value of each table is free.

use hortator_mysql::{Connection, Error, quote_identifier, quote_string};

use super::inventory::Inventory;
use super::report::Findings;
use crate::expect::Expectations;

/// Checks every table of the stream with AUTO_INCREMENT.
pub(super) fn check(
    connection: &mut Connection,
    expectations: &Expectations,
    inventory: &Inventory,
    findings: &mut Findings,
) -> Result<(), Error> {
    for name in expectations.relations().keys() {
        let found = inventory.relations.get(name).filter(|found| found.holds_rows());
        let Some((found, counter)) = found.and_then(|found| Some((found, found.counter?))) else { continue };
        let column_query = [
            b"SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE EXTRA LIKE '%auto_increment%' AND TABLE_SCHEMA = "
                .as_slice(),
            &quote_string(&name.schema),
            b" AND TABLE_NAME = ",
            &quote_string(&name.table),
        ]
        .concat();
        let first = |rows: Vec<hortator_mysql::Row>| rows.into_iter().next().and_then(|row| row.into_iter().next()?);
        let Some(column) = first(connection.fetch(&column_query)?) else { continue };
        // The second column of an index has a counter for each value of the first, which the server does not tell.
        if !found.leads(&column) {
            continue;
        }
        let place = [quote_identifier(&name.schema), quote_identifier(&name.table)].join(&b'.');
        let query = [b"SELECT MAX(".as_slice(), &quote_identifier(column), b") FROM ", &place].concat();
        // A number below 0 is none that the counter comes to, and no rows have no number.
        let highest = first(connection.fetch(&query)?);
        let highest = highest.and_then(|text| std::str::from_utf8(&text).ok()?.parse::<u64>().ok());
        match highest.filter(|highest| is_in_the_way(counter, *highest)) {
            Some(highest) => findings.problem(format!(
                "table {name}: the next AUTO_INCREMENT value is {counter}, but value {highest} exists; \
                 run ALTER TABLE … AUTO_INCREMENT = {}",
                highest + 1,
            )),
            None => findings.counters += 1,
        }
    }
    Ok(())
}

/// Whether the counter will come to a number that is taken. At the highest number of a type every counter ends, which is
/// nobody's fault.
fn is_in_the_way(counter: u64, highest: u64) -> bool {
    let is_last = [7, 8, 15, 16, 23, 24, 31, 32, 63, 64].iter().any(|bits| highest == u64::MAX >> (64 - bits));
    counter <= highest && !is_last
}

// No server of today lets a counter fall behind by statements, so that this cannot be had from one.
#[test]
fn a_counter_must_be_ahead_unless_it_is_at_its_end() {
    for (counter, highest, expected) in
        [(6, 50, true), (50, 50, true), (51, 50, false), (127, 127, false), (1, 0, false)]
    {
        assert_eq!(is_in_the_way(counter, highest), expected, "{counter} {highest}");
    }
    assert!(!is_in_the_way(u64::MAX, u64::MAX));
}
