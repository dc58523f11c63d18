//! Clusters that were bootstrapped again, once and several times, on one node and on two.

use super::*;

fn generation(number: u8) -> Uuid {
    Uuid([number; 16])
}

/// A lineage with these generations.
fn lineage(numbers: &[u8]) -> Lineage {
    numbers.iter().fold(Lineage::UNKNOWN, |lineage, number| lineage.bootstrapped(generation(*number)))
}

#[test]
fn both_sides_know_the_relation() {
    use LineageRelation::{Ancestor, Descendant, Diverged, Same};
    for (ours, others, relation, reverse) in [
        (&[1][..], &[1][..], Same, Same),
        // A joiner has no cluster yet.
        (&[], &[1, 2], Same, Same),
        (&[], &[], Same, Same),
        (&[1], &[1, 2], Descendant, Ancestor),
        (&[1], &[1, 2, 3], Descendant, Ancestor),
        (&[1, 2], &[1, 2, 3], Descendant, Ancestor),
        // Bootstrapped on both sides of a partition.
        (&[1, 2], &[1, 3], Diverged, Diverged),
        (&[1, 2], &[1, 3, 4], Diverged, Diverged),
        // Bootstrapped twice, with the same history UUID.
        (&[1], &[2], Diverged, Diverged),
        // Impossible: no node stops for that.
        (&[1, 2], &[2, 1], Diverged, Diverged),
    ] {
        assert_eq!(lineage(ours).relation_to(&lineage(others)), relation, "{ours:?} {others:?}");
        assert_eq!(lineage(others).relation_to(&lineage(ours)), reverse, "{others:?} {ours:?}");
    }
}

#[test]
fn the_oldest_generations_are_dropped() {
    let limit = GENERATIONS_LIMIT as u8;
    let long: Vec<u8> = (1..=limit + 1).collect();
    let descent_of_all = lineage(&long);
    assert_eq!(descent_of_all.newest_first().len(), GENERATIONS_LIMIT);
    assert_eq!(lineage(&[1]).relation_to(&descent_of_all), LineageRelation::Diverged);
    assert_eq!(lineage(&[1, 2]).relation_to(&descent_of_all), LineageRelation::Descendant);
}

#[test]
fn a_lineage_is_rebuilt_from_its_generations() {
    for numbers in [&[][..], &[1], &[1, 2, 3]] {
        let lineage = lineage(numbers);
        assert_eq!(Lineage::from_newest(lineage.newest_first()), Some(lineage));
        assert_eq!(lineage.is_unknown(), numbers.is_empty());
    }
    assert_eq!(Lineage::from_newest(&[generation(1); GENERATIONS_LIMIT + 1]), None);
    assert_eq!(Lineage::from_newest(&[generation(1), Uuid::UNDEFINED, generation(2)]), None);
}
