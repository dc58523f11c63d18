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

#[test]
fn a_generation_names_its_fork() {
    let fork = |term, index| LogId { term: Term(term), index: Index(index) };
    let random = Uuid([0xff; 16]);
    let last = fork(u32::MAX.into(), (1 << 48) - 1);
    for place in [fork(0, 0), fork(7, 815), last] {
        let (first, second, third) =
            (generation(1), generation_after(place, random), generation_after(last, generation(3)));
        assert_ne!(second, generation_after(place, generation(2)), "the rest is random");
        let lineage = Lineage::initial(first).bootstrapped(second).bootstrapped(third);
        assert_eq!(lineage.fork_from(first), Some(place));
        assert_eq!(lineage.fork_from(second), Some(last));
        assert_eq!((lineage.fork_from(third), lineage.fork_from(generation(4))), (None, None));
    }
    // A later generation can begin with a shorter log.
    let [second, third] = [fork(5, 100), fork(5, 90)].map(|place| generation_after(place, random));
    let lineage_of = |generations: &[Uuid]| {
        generations.iter().fold(Lineage::initial(generation(1)), |lineage, one| lineage.bootstrapped(*one))
    };
    assert_eq!(lineage_of(&[second, third]).fork_from(generation(1)), Some(fork(5, 90)));
    assert_eq!(lineage_of(&[third, second]).fork_from(generation(1)), Some(fork(5, 90)));
    assert_eq!(lineage_of(&[third, second]).own_fork(), Some(fork(5, 100)));
    assert_eq!(lineage_of(&[second, generation(2)]).fork_from(generation(1)), None);
    for place in [fork(1 << 32, 1), fork(1, 1 << 48)] {
        assert_eq!(generation_after(place, generation(4)), generation(4));
    }
    let unnamed = lineage(&[1]).bootstrapped(Uuid::random().unwrap());
    assert_eq!(unnamed.fork_from(generation(1)), None, "a random UUID names none");
}
