//! The differences between contents, without a server. The crates that load schemas compare them on real servers.

use super::rows::content;
use crate::definitions::without_name;

/// The values of a row, as input of the hash.
type Values<'a> = &'a [Option<&'a [u8]>];

#[test]
fn rows_are_equal_in_any_order_and_only_as_often() {
    let (a, b): (Values<'_>, Values<'_>) = (&[Some(b"1"), None], &[Some(b"2"), Some(b"x")]);
    assert_eq!(content(&[a, b]).difference(&content(&[b, a])), None);
    assert!(content(&[a, b]).difference(&content(&[a, b, b])).is_some());
    assert!(content(&[a, a]).difference(&content(&[b, b])).is_some());
}

#[test]
fn adjacent_values_are_distinguished() {
    let pairs: [(Values<'_>, Values<'_>); 3] = [
        (&[Some(b"ab"), Some(b"c")], &[Some(b"a"), Some(b"bc")]),
        (&[None], &[Some(b"")]),
        (&[Some(b"NULL")], &[None]),
    ];
    for (one, other) in pairs {
        assert!(content(&[one]).difference(&content(&[other])).is_some(), "{one:?} {other:?}");
    }
}

#[test]
fn the_first_rows_that_differ_are_shown() {
    let rows: [&[Option<&[u8]>]; 3] = [&[Some(b"1"), Some(b"same")], &[Some(b"2"), None], &[Some(b"2"), Some(b"\0'")]];
    let difference = content(&[rows[0], rows[1]]).difference(&content(&[rows[0], rows[2]])).unwrap();
    assert_eq!(
        difference,
        "the first has 2 rows, the second 2; first differing rows:\n  only in the first: ('2', NULL)\n  \
         only in the second: ('2', '\\x00\\'')"
    );
}

#[test]
fn a_schemas_name_is_removed_as_a_qualifier() {
    for (text, expected, own_definition) in [
        ("select `a`.`t`.`x` from `a`.`t`", "select (this schema).`t`.`x` from (this schema).`t`", false),
        ("`aa`.`a b` `a` a", "`aa`.`a b` `a` a", false),
        ("CREATE DATABASE `a`", "CREATE DATABASE (this schema)", true),
        ("a", "(this schema)", true),
        ("a", "a", false),
    ] {
        assert_eq!(without_name(text.as_bytes(), b"a", own_definition), expected.as_bytes());
    }
}
