//! Groups that were begun anew, once and several times, on one node and on two.

use super::*;

fn generation(number: u8) -> Uuid {
    Uuid([number; 16])
}

/// One that was begun, and begun anew.
fn descent(numbers: &[u8]) -> Descent {
    numbers.iter().fold(Descent::UNKNOWN, |descent, number| descent.begun_anew(generation(*number)))
}

#[test]
fn who_was_left_out_is_known_on_both_sides() {
    use Kinship::{Apart, Newer, Older, Same};
    for (ours, others, kinship, reverse) in [
        (&[1][..], &[1][..], Same, Same),
        // One that joins belongs to no group yet.
        (&[], &[1, 2], Same, Same),
        (&[], &[], Same, Same),
        (&[1], &[1, 2], Newer, Older),
        (&[1], &[1, 2, 3], Newer, Older),
        (&[1, 2], &[1, 2, 3], Newer, Older),
        // Begun anew on both sides of a cut.
        (&[1, 2], &[1, 3], Apart, Apart),
        (&[1, 2], &[1, 3, 4], Apart, Apart),
        // Begun twice, with one history's UUID.
        (&[1], &[2], Apart, Apart),
        // What nobody can have come to: nobody stops for that.
        (&[1, 2], &[2, 1], Apart, Apart),
    ] {
        assert_eq!(descent(ours).kinship(&descent(others)), kinship, "{ours:?} {others:?}");
        assert_eq!(descent(others).kinship(&descent(ours)), reverse, "{others:?} {ours:?}");
    }
}

#[test]
fn the_oldest_are_forgotten_and_taken_for_strangers() {
    let limit = GENERATIONS_LIMIT as u8;
    let long: Vec<u8> = (1..=limit + 1).collect();
    let descent_of_all = descent(&long);
    assert_eq!(descent_of_all.newest_first().len(), GENERATIONS_LIMIT);
    assert_eq!(descent(&[1]).kinship(&descent_of_all), Kinship::Apart);
    assert_eq!(descent(&[1, 2]).kinship(&descent_of_all), Kinship::Newer);
}

#[test]
fn it_comes_back_from_its_parts() {
    for numbers in [&[][..], &[1], &[1, 2, 3]] {
        let descent = descent(numbers);
        assert_eq!(Descent::from_newest(descent.newest_first()), Some(descent));
        assert_eq!(descent.is_unknown(), numbers.is_empty());
    }
    assert_eq!(Descent::from_newest(&[generation(1); GENERATIONS_LIMIT + 1]), None);
    assert_eq!(Descent::from_newest(&[generation(1), Uuid::UNDEFINED, generation(2)]), None);
}
