//! Resources and their ancestors; the hashes that must never change.

use super::*;

#[test]
fn a_row_lies_in_its_table_its_schema_and_the_server() {
    let row = Key::row(b"shop", b"orders", 0, b"7");
    let above: Vec<Key> = row.ancestors().collect();
    assert_eq!(above, [Key::table(b"shop", b"orders"), Key::schema(b"shop"), Key::server()]);
    let levels: Vec<Level> = above.iter().map(|key| key.level()).collect();
    assert_eq!(levels, [Level::Table, Level::Schema, Level::Server]);
    assert_eq!(row.level(), Level::Row);
    assert_eq!(Key::server().parent(), None);
}

#[test]
fn row_and_row_in_give_the_same_key() {
    assert_eq!(Key::row(b"shop", b"orders", 3, b"7"), Key::row_in(Key::table(b"shop", b"orders"), 3, b"7"));
}

#[test]
fn different_resources_have_different_keys() {
    let mut keys = vec![Key::server(), Key::schema(b""), Key::schema(b"ab"), Key::schema(b"a")];
    keys.extend([Key::table(b"ab", b"c"), Key::table(b"a", b"bc"), Key::table(b"c", b"ab"), Key::table(b"", b"")]);
    for table in [Key::table(b"ab", b"c"), Key::table(b"a", b"bc")] {
        for index in 0..100 {
            for image in [&b""[..], b"0", b"1", b"01", &[0], &[0, 0], &[0xff; 300], &[0xff; 301]] {
                keys.push(Key::row_in(table, index, image));
            }
        }
    }
    let count = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), count);
}

#[test]
fn hashes_are_stable() {
    let seen: Vec<String> = [
        Key::server(),
        Key::schema(b"shop"),
        Key::table(b"shop", b"orders"),
        Key::row(b"shop", b"orders", 0, b"7"),
        Key::row(b"shop", b"orders", 1, b"7"),
        Key::row(b"shop", b"orders", 0, &[b'7'; 1000]),
    ]
    .map(|key| key.to_string())
    .to_vec();
    let expected = [
        "server",
        "schema f3fbbc384d518cd9",
        "table 6d743aabe84c5f55",
        "row 88f9851b56bc38010bd20e157534859e",
        "row dbedbd2b3f9723920da5b65e799e77c2",
        "row efa564eee1f1b602bc8f815b423b6c42",
    ];
    assert_eq!(seen, expected);
}

#[test]
#[should_panic(expected = "is not a table")]
fn a_schema_has_no_rows() {
    Key::row_in(Key::schema(b"shop"), 0, b"7");
}
