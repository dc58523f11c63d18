//! Pieces: together they are the whole, whatever the ends.

use super::{Piece, cut};

#[test]
fn every_value_is_in_one_piece() {
    for (first, last) in [(0, 0), (1, 2), (-5, 7), (0, 11), (10, 1_000_003), (i64::MIN.into(), u64::MAX.into())] {
        for count in [1, 2, 3, 12] {
            let pieces = cut(first, last, count);
            assert!(!pieces.is_empty() && pieces.len() as i128 <= count, "{first}..{last} in {count}: {pieces:?}");
            assert_eq!((pieces[0].from, pieces[pieces.len() - 1].to), (None, None));
            for two in pieces.windows(2) {
                assert!(two[0].to.is_some() && two[0].to == two[1].from, "{pieces:?}");
            }
        }
    }
    assert_eq!(cut(0, 9, 2), [Piece { from: None, to: Some(5) }, Piece { from: Some(5), to: None }]);
}
