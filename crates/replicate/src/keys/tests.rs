//! Rows by the bytes of their images, and whether transactions of them wait for each other.

use std::sync::Arc;

use hortator_core::WriteSet;

use super::*;
use crate::binlog::{
    Content, Event, EventHeader, EventKind, FormatDescription, HEADER_BYTES, RowsEvent, RowsForm, TableMap,
};

/// The key columns of a table: names of keys with their columns, `id` being column 0, `a` 1, `b` 2.
fn unique(keys: &[(&str, &[&str])]) -> Vec<UniqueColumn> {
    let index = |column: &str| ["id", "a", "b"].iter().position(|name| *name == column).unwrap();
    let of_key = |(key, columns): &(&str, &[&str])| -> Vec<UniqueColumn> {
        let one =
            |column: &&str| UniqueColumn { key: (*key).to_owned(), column: (*column).to_owned(), index: index(column) };
        columns.iter().map(one).collect()
    };
    keys.iter().flat_map(of_key).collect()
}

/// A foreign key of the columns with these places to columns of `s.parent`.
fn foreign(columns: &[(usize, &str)]) -> Vec<ForeignColumn> {
    let one = |(index, column): &(usize, &str)| ForeignColumn {
        constraint: "f".to_owned(),
        index: *index,
        parent: ["s".to_owned(), "parent".to_owned(), (*column).to_owned()],
    };
    columns.iter().map(one).collect()
}

/// What rows of three columns (INT, VARCHAR(20), INT) use. Values are as they stand in an image, behind the bits for NULLs.
fn uses(table: &str, keys: TableKeys, form: RowsForm, images: &[&[u8]]) -> WriteSet {
    uses_in_order(Order::Keys, table, keys, form, images)
}

fn uses_in_order(order: Order, table: &str, keys: TableKeys, form: RowsForm, images: &[&[u8]]) -> WriteSet {
    let map = Arc::new(TableMap {
        table_id: 0,
        schema: b"s".to_vec(),
        table: table.as_bytes().to_vec(),
        column_types: vec![3, 15, 3],
        metadata: vec![20, 0],
        nullable: vec![7],
        names: Vec::new(),
    });
    let mut rows = RowsEvent::empty(form);
    rows.columns = 3;
    // The images hold all columns.
    let sets: &[u8] = if form == RowsForm::Update { &[7, 7] } else { &[7] };
    rows.images_at = sets.len();
    let bytes = [&[0; HEADER_BYTES][..], sets, &images.concat()].concat();
    let header = EventHeader {
        timestamp_s: 0,
        kind: EventKind::WRITE_ROWS_V1,
        server_id: 1,
        length_bytes: 0,
        end_position: 0,
        flags: 0,
    };
    let event = Event { header, content: Content::Rows(rows), bytes };
    let mut cache = TableCache::default();
    let table = cache.get(&map, |_| Ok::<_, ()>(Some(Arc::new(keys)))).unwrap().expect("its columns are known");
    let mut set = WriteSet::new();
    table.add(&event, &FormatDescription::plain(), order, &mut set);
    set
}

/// An image: NULLs, `id`, `a`, `b`.
fn image(nulls: u8, id: u8, a: &str, b: u8) -> Vec<u8> {
    let mut bytes = vec![nulls];
    if nulls & 1 == 0 {
        bytes.extend([id, 0, 0, 0]);
    }
    if nulls & 2 == 0 {
        bytes.push(u8::try_from(a.len()).unwrap());
        bytes.extend(a.as_bytes());
    }
    if nulls & 4 == 0 {
        bytes.extend([b, 0, 0, 0]);
    }
    bytes
}

fn insert(keys: &[(&str, &[&str])], image: &[u8]) -> WriteSet {
    uses("t", TableKeys::new(unique(keys), Vec::new()), RowsForm::Write, &[image])
}

const BOTH: &[(&str, &[&str])] = &[("PRIMARY", &["id"]), ("u", &["a"])];

#[test]
fn rows_of_one_key_wait_for_each_other() {
    let first = insert(BOTH, &image(0, 1, "Ab ", 5));
    for (other, waits) in [
        (image(0, 1, "x", 5), true),
        (image(0, 2, "x", 5), false),
        // Letters are folded and spaces cut off, as most collations do.
        (image(0, 2, "aB", 6), true),
        // NULL is no value of a unique key.
        (image(2, 2, "", 6), false),
    ] {
        assert_eq!(insert(BOTH, &other).waits_for(&first), waits, "{other:?}");
    }
    assert!(!insert(BOTH, &image(2, 2, "", 6)).waits_for(&insert(BOTH, &image(2, 3, "", 6))));
}

#[test]
fn transactions_of_one_schema_wait_for_each_other_in_the_order_of_schemas() {
    let insert = |order, table, id| {
        let keys = TableKeys::new(unique(BOTH), Vec::new());
        uses_in_order(order, table, keys, RowsForm::Write, &[&image(2, id, "", 5)])
    };
    for (order, waits) in [(Order::Keys, false), (Order::Schema, true)] {
        assert_eq!(insert(order, "u", 2).waits_for(&insert(order, "t", 1)), waits, "{order:?}");
    }
}

#[test]
fn a_changed_key_is_used_before_and_after() {
    let keys = || TableKeys::new(unique(BOTH), Vec::new());
    let update = uses("t", keys(), RowsForm::Update, &[&image(0, 1, "a", 5), &image(0, 2, "a", 5)]);
    for id in [1, 2] {
        assert!(insert(BOTH, &image(0, id, "x", 5)).waits_for(&update), "{id}");
    }
    assert!(!insert(BOTH, &image(0, 3, "x", 5)).waits_for(&update));
}

#[test]
fn rows_that_cannot_be_told_apart_use_the_whole_table() {
    let without = insert(&[], &image(0, 1, "x", 5));
    assert!(insert(BOTH, &image(0, 9, "y", 5)).waits_for(&without));
    // All columns of its only key are NULL.
    let null = insert(&[("u", &["a"])], &image(2, 1, "", 5));
    assert!(insert(BOTH, &image(0, 9, "y", 5)).waits_for(&null));
    let cut_off = insert(BOTH, &image(0, 1, "x", 5)[..6]);
    assert!(insert(BOTH, &image(0, 9, "y", 5)).waits_for(&cut_off));
    let other = uses("other", TableKeys::default(), RowsForm::Write, &[&image(0, 1, "x", 5)]);
    assert!(!other.waits_for(&without), "it is another table");
}

#[test]
fn children_wait_for_their_parent_and_not_for_each_other() {
    let parent_keys = TableKeys::new(unique(&[("PRIMARY", &["id", "a"])]), Vec::new());
    let parent = uses("parent", parent_keys, RowsForm::Delete, &[&image(0, 7, "x", 1)]);
    // The constraint has the columns in another order.
    let keys = || TableKeys::new(unique(&[("PRIMARY", &["id"])]), foreign(&[(1, "a"), (2, "id")]));
    let child = |id, a, b| uses("child", keys(), RowsForm::Write, &[&image(0, id, a, b)]);
    assert!(child(1, "x", 7).waits_for(&parent));
    assert!(!child(1, "x", 8).waits_for(&parent));
    assert!(!child(2, "x", 7).waits_for(&child(1, "x", 7)));
    let without = uses("child", keys(), RowsForm::Write, &[&image(2, 1, "", 7)]);
    assert!(!without.waits_for(&parent));
}
