//! Who wins, and when it is known.

use super::Stance::{Applied, Fails, Unknown};
use super::*;

#[test]
fn a_message_is_the_same_everywhere_and_no_other() {
    let fault = Fault::new(5, b"Can't find record in 't', Error_code: 1032;");
    assert_eq!(fault, Fault::new(5, b"Can't find record in 't', Error_code: 1032;"));
    assert_ne!(fault.error, Fault::new(5, b"Can't find record in 'u', Error_code: 1032;").error);
    assert_ne!(Fault::new(5, b"").error, 0);
}

#[track_caller]
fn decided(stances: &[Stance], error: u64, agreeing: u32) {
    assert_eq!(decide(stances), Some(Decision { error, agreeing }), "{stances:?}");
}

#[test]
fn most_are_right() {
    decided(&[Applied, Applied, Fails(7)], 0, 2);
    decided(&[Applied, Fails(7), Fails(7)], 7, 2);
    decided(&[Fails(7), Fails(7), Fails(7)], 7, 3);
    decided(&[Applied, Fails(7), Fails(7), Fails(7), Applied], 7, 3);
}

#[test]
fn as_many_against_as_many_it_is_applied() {
    decided(&[Applied, Fails(7)], 0, 1);
    decided(&[Fails(7), Applied, Fails(7), Applied], 0, 2);
    decided(&[Applied, Fails(7), Fails(8)], 0, 1);
}

#[test]
fn nobody_goes_on_without_it_alone() {
    assert_eq!(decide(&[Fails(7)]), None);
    decided(&[Fails(7), Applied], 0, 1);
}

#[test]
fn what_failed_everywhere_nobody_has() {
    decided(&[Fails(7), Fails(8)], ANY_ERROR, 2);
    decided(&[Fails(7), Fails(8), Fails(9)], ANY_ERROR, 3);
    decided(&[Fails(7), Fails(8), Fails(8)], 8, 2);
    assert_eq!(decide(&[Fails(7), Fails(8), Unknown]), None);
    let decision = decide(&[Fails(7), Fails(8)]).unwrap();
    assert!(decision.goes_without(7) && decision.goes_without(8));
}

#[test]
fn who_goes_on_without_it_is_who_failed_so() {
    let failed = decide(&[Fails(7), Fails(7), Applied]).unwrap();
    assert!(failed.goes_without(7) && !failed.goes_without(8));
    assert!(!decide(&[Applied, Applied, Fails(7)]).unwrap().goes_without(7));
}

#[test]
fn it_is_known_as_soon_as_nobody_can_turn_it() {
    assert_eq!(decide(&[Fails(7), Unknown]), None);
    assert_eq!(decide(&[Applied, Fails(7), Unknown]), None);
    assert_eq!(decide(&[Fails(7), Fails(7), Unknown, Unknown]), None);
    decided(&[Applied, Applied, Fails(7)], 0, 2);
    decided(&[Fails(7), Unknown, Fails(7)], 7, 2);
    decided(&[Applied, Unknown, Applied, Fails(7), Applied], 0, 3);
}
