//! Key ranges: together they cover the whole, whatever the bounds.

use super::{KeyRange, split};

#[test]
fn every_value_is_in_one_key_range() {
    for (first, last) in [(0, 0), (1, 2), (-5, 7), (0, 11), (10, 1_000_003), (i64::MIN.into(), u64::MAX.into())] {
        for count in [1, 2, 3, 12] {
            let key_ranges = split(first, last, count);
            assert!(
                !key_ranges.is_empty() && key_ranges.len() as i128 <= count,
                "{first}..{last} in {count}: {key_ranges:?}"
            );
            assert_eq!((key_ranges[0].from, key_ranges[key_ranges.len() - 1].to), (None, None));
            for two in key_ranges.windows(2) {
                assert!(two[0].to.is_some() && two[0].to == two[1].from, "{key_ranges:?}");
            }
        }
    }
    assert_eq!(split(0, 9, 2), [KeyRange { from: None, to: Some(5) }, KeyRange { from: Some(5), to: None }]);
}
