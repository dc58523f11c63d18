//! How values are set.

use super::*;

#[test]
fn numbers_stay_numbers_and_texts_texts() {
    for (value, expected) in [
        (Some(&b"1"[..]), "1"),
        (Some(b"-1"), "-1"),
        (Some(b"0.5"), "0.5"),
        (Some(b"+00:00"), "_utf8mb4'+00:00'"),
        (Some(b""), "_utf8mb4''"),
        (Some(b"1.2.3"), "_utf8mb4'1.2.3'"),
        (None, "NULL"),
    ] {
        assert_eq!(value_as_sql(value), expected.as_bytes());
    }
}
