//! The matrix compared with `testdata/modes.txt`, cell by cell, and the rules that follow from it.

use super::*;

const CASES: &str = include_str!("../../testdata/modes.txt");

const ABOVE: [Mode; 4] = [IntentionShared, IntentionExclusive, Shared, Exclusive];
const AT_ROW: [Mode; 4] = [RowShared, RowReference, RowUpdate, RowExclusive];

fn mode(name: &str) -> Mode {
    let found = Mode::ALL.into_iter().find(|mode| format!("{mode:?}") == name);
    found.unwrap_or_else(|| panic!("no mode is called {name}"))
}

/// The cells of the file: second, first, relation.
fn cells() -> Vec<(Mode, Mode, Relation)> {
    let mut cells = Vec::new();
    let mut columns = Vec::new();
    for line in CASES.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let (head, rest) = line.split_once(' ').expect("a line has a head and cells");
        if head == r"second\first" {
            columns = rest.split_whitespace().map(mode).collect();
            continue;
        }
        assert_eq!(rest.split_whitespace().count(), columns.len(), "{line}");
        for (cell, &first) in rest.split_whitespace().zip(&columns) {
            let relation = match cell {
                "C" => Relation::Conflict,
                "D" => Relation::Dependency,
                "-" => Relation::Free,
                other => panic!("no relation is written {other}"),
            };
            cells.push((mode(head), first, relation));
        }
    }
    cells
}

#[test]
fn every_cell_matches_the_file() {
    let cells = cells();
    assert_eq!(cells.len(), 32);
    for &(second, first, relation) in &cells {
        assert_eq!(second.after(first), relation, "{second:?} after {first:?}");
        assert_eq!(second.waits_for(first), relation != Relation::Free, "{second:?} after {first:?}");
    }
    for half in [ABOVE, AT_ROW] {
        for (second, first) in pairs(half, half) {
            let times = cells.iter().filter(|cell| (cell.0, cell.1) == (second, first)).count();
            assert_eq!(times, 1, "{second:?} after {first:?} is in the file once");
        }
    }
}

#[test]
fn impossible_combinations_conflict() {
    for (one, other) in pairs(ABOVE, AT_ROW) {
        assert_eq!((one.after(other), other.after(one)), (Relation::Conflict, Relation::Conflict));
    }
}

#[test]
fn waiting_is_symmetric() {
    for (one, other) in pairs(Mode::ALL, Mode::ALL) {
        assert_eq!(one.waits_for(other), other.waits_for(one), "{one:?}, {other:?}");
    }
}

#[test]
fn a_join_is_the_weakest_mode_that_excludes_what_either_excludes() {
    for half in [ABOVE, AT_ROW] {
        for (one, other) in pairs(half, half) {
            let join = one.join(other);
            assert_eq!(join, other.join(one));
            let enough = |mode: Mode| {
                half.iter().all(|&third| {
                    let relation = one.after(third).max(other.after(third));
                    mode.after(third).max(relation) == mode.after(third)
                })
            };
            assert!(enough(join), "{join:?} for {one:?} and {other:?}");
            for weaker in half.into_iter().filter(|&mode| mode < join && enough(mode)) {
                // Modes that exclude the same others stand in for each other.
                let same = half.iter().all(|&third| weaker.after(third) == join.after(third));
                assert!(same, "{weaker:?} would do for {one:?} and {other:?}");
            }
        }
    }
    assert_eq!(Shared.join(IntentionExclusive), Exclusive);
}

#[test]
fn a_use_meets_every_conflicting_use_below_at_its_own_key() {
    for (whole, below) in pairs([Shared, Exclusive], AT_ROW) {
        let conflicts = whole == Exclusive || below.writes();
        assert_eq!(whole.waits_for(below.intention()), conflicts, "{whole:?}, {below:?} below");
        assert_eq!(whole.covers(below), whole == Exclusive || !below.writes());
    }
}

#[test]
fn a_mode_of_the_other_half_is_translated_to_one_at_least_as_strong() {
    for mode in Mode::ALL {
        assert!(AT_ROW.contains(&mode.at(Level::Row)));
        assert_eq!(mode.at(Level::Row).writes(), mode.writes());
        for level in [Level::Server, Level::Schema, Level::Table] {
            assert!(ABOVE.contains(&mode.at(level)));
            assert_eq!(mode.at(level).writes(), mode.writes());
        }
    }
    assert_eq!(RowUpdate.at(Level::Table), Exclusive);
    assert_eq!(RowReference.at(Level::Table), Shared);
}

fn pairs<const N: usize, const M: usize>(ones: [Mode; N], others: [Mode; M]) -> Vec<(Mode, Mode)> {
    ones.into_iter().flat_map(|one| others.into_iter().map(move |other| (one, other))).collect()
}
