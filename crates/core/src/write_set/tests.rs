//! The contents of write sets and their intentions; the property that coarsening loses no conflict.

use super::*;
use crate::Level;
use crate::testing::{from_seeds, random_uses};

use Mode::{Exclusive, IntentionExclusive, IntentionShared, RowExclusive, RowReference, RowShared, RowUpdate, Shared};

fn table() -> Key {
    Key::table(b"shop", b"orders")
}

fn row(image: usize) -> Key {
    Key::row_in(table(), 0, &image.to_le_bytes())
}

#[test]
fn a_row_implies_intentions_above() {
    let reads = WriteSet::new().with(row(1), RowReference);
    let above = [(Key::server(), IntentionShared), (Key::schema(b"shop"), IntentionShared), (table(), IntentionShared)];
    assert_eq!(reads.keys().collect::<Vec<_>>(), [&above[..], &[(row(1), RowReference)]].concat());

    let writes = reads.with(row(2), RowUpdate);
    for key in row(2).ancestors() {
        assert_eq!(writes.mode(key), Some(IntentionExclusive), "{key}");
    }
    assert_eq!(writes.keys().len(), 5);
}

#[test]
fn a_key_is_kept_once_with_the_strongest_mode() {
    let mut set = WriteSet::new();
    for mode in [RowShared, RowUpdate, RowReference] {
        set.add(row(1), mode);
    }
    assert_eq!((set.keys().len(), set.mode(row(1))), (4, Some(RowUpdate)));
    set.add(row(1), RowExclusive);
    assert_eq!((set.keys().len(), set.mode(row(1))), (4, Some(RowExclusive)));
}

#[test]
fn reading_a_table_and_writing_one_of_its_rows_takes_the_table_exclusively() {
    let one = WriteSet::new().with(table(), Shared).with(row(1), RowUpdate);
    let other = WriteSet::new().with(row(1), RowUpdate).with(table(), Shared);
    for set in [one, other] {
        assert_eq!(set.mode(table()), Some(Exclusive));
        assert_eq!(set.mode(Key::schema(b"shop")), Some(IntentionExclusive));
    }
}

#[test]
fn intentions_of_both_kinds_and_a_shared_use_together_are_exclusive() {
    let set = WriteSet::new().with(table(), IntentionShared).with(table(), IntentionExclusive).with(table(), Shared);
    assert_eq!(set.mode(table()), Some(Exclusive));
    assert_eq!(set.keys().len(), 3);
}

#[test]
fn a_key_covered_by_an_ancestor_is_not_kept() {
    let reads = WriteSet::new().with(table(), Shared).with(row(1), RowShared);
    assert_eq!((reads.mode(table()), reads.mode(row(1))), (Some(Shared), None));
    let barrier = WriteSet::new().with(Key::server(), Exclusive).with(row(1), RowExclusive).with(table(), Shared);
    assert_eq!(barrier.keys().collect::<Vec<_>>(), [(Key::server(), Exclusive)]);
}

#[test]
fn a_mode_from_the_other_half_is_translated() {
    let set = WriteSet::new().with(table(), RowUpdate).with(Key::row(b"shop", b"people", 0, b"1"), Shared);
    assert_eq!(set.mode(table()), Some(Exclusive));
    assert_eq!(set.mode(Key::row(b"shop", b"people", 0, b"1")), Some(RowShared));
}

#[test]
fn too_many_rows_become_their_table() {
    let mut writes = WriteSet::with_keys_limit(10);
    let mut reads = WriteSet::with_keys_limit(10);
    for image in 0..7 {
        writes.add(row(image), RowUpdate);
        reads.add(row(image), RowShared);
    }
    assert_eq!((writes.keys().len(), reads.keys().len()), (10, 10), "as many as fit are kept");
    writes.add(row(7), RowUpdate);
    reads.add(row(7), RowShared);
    assert_eq!((writes.keys().len(), writes.mode(table())), (3, Some(Exclusive)));
    assert_eq!((reads.keys().len(), reads.mode(table())), (3, Some(Shared)));
    assert_eq!(reads.mode(Key::schema(b"shop")), Some(IntentionShared));
}

#[test]
fn the_table_with_the_most_rows_is_folded_first() {
    let bystander = Key::row(b"shop", b"people", 0, b"1");
    let mut set = WriteSet::with_keys_limit(20).with(bystander, RowUpdate);
    for image in 0..20 {
        set.add(row(image), RowUpdate);
    }
    assert_eq!(set.mode(table()), Some(Exclusive));
    assert_eq!(set.mode(bystander), Some(RowUpdate));
}

#[test]
fn too_many_tables_become_their_schema_and_too_many_schemas_the_server() {
    let mut set = WriteSet::with_keys_limit(20);
    for number in 0..50_u8 {
        set.add(Key::row(b"shop", &[number], 0, b"1"), RowShared);
    }
    assert_eq!(set.mode(Key::schema(b"shop")), Some(Shared));
    for number in 0..50_u8 {
        set.add(Key::table(&[number], b"t"), IntentionExclusive);
    }
    assert_eq!(set.keys().collect::<Vec<_>>(), [(Key::server(), Exclusive)]);
}

#[test]
fn many_keys_are_found() {
    let mut set = WriteSet::new();
    for image in 0..1000 {
        set.add(row(image), RowShared);
        set.add(row(image / 2), RowUpdate);
    }
    assert_eq!(set.keys().len(), 1003);
    assert_eq!(set.mode(row(499)), Some(RowUpdate));
    assert_eq!(set.mode(row(999)), Some(RowShared));
    assert_eq!(set.mode(row(1000)), None);
}

#[test]
fn keys_left_after_coarsening_are_still_found() {
    let mut set = WriteSet::with_keys_limit(200);
    let others: Vec<Key> = (0..30_u8).map(|number| Key::row(b"shop", &[number], 0, b"1")).collect();
    for image in 0..1000 {
        set.add(row(image), RowShared);
        set.add(others[image % 30], RowUpdate);
        check_shape(&set, 200);
    }
    assert_eq!(set.mode(table()), Some(Shared));
    for other in others {
        assert_eq!(set.mode(other), Some(RowUpdate));
    }
    assert_eq!(set.keys().len(), 2 + 1 + 60);
}

/// The truth, without intentions: two uses conflict where they overlap, at the same key or at an ancestor and a
/// descendant.
fn overlap((key, mode): (Key, Mode), (first_key, first): (Key, Mode)) -> bool {
    let (mode, first) = (mode.at(key.level()), first.at(first_key.level()));
    let whole = |whole: Mode, below: Mode| whole == Exclusive || (whole == Shared && below.writes());
    if key == first_key {
        mode.waits_for(first)
    } else if key.ancestors().any(|above| above == first_key) {
        whole(first, mode)
    } else {
        first_key.ancestors().any(|above| above == key) && whole(mode, first)
    }
}

#[test]
fn a_write_set_waits_exactly_for_overlapping_uses() {
    from_seeds(20_000, |random| {
        let weights = random.one_of(&[[0, 0, 1, 8], [1, 2, 4, 8], [1, 1, 1, 1], [0, 0, 0, 1]]);
        let limit = random.one_of(&[1, 2, 3, 4, 6, 9, KEYS_LIMIT]);
        let uses = [(); 2].map(|()| random_uses(random, 12, weights));
        let sets = uses.each_ref().map(|uses| build(uses, limit));
        for set in &sets {
            check_shape(set, limit);
        }
        let truth = uses[1].iter().any(|&second| uses[0].iter().any(|&first| overlap(second, first)));
        let waits = sets[1].waits_for(&sets[0]);
        assert!(waits || !truth, "a conflict is lost: {uses:?}");
        if limit == KEYS_LIMIT && uses.iter().zip(&sets).all(|(uses, set)| !has_both_shared_and_intention(uses, set)) {
            assert_eq!(waits, truth, "a conflict is invented: {uses:?}");
        }
    });
}

fn build(uses: &[(Key, Mode)], limit: usize) -> WriteSet {
    uses.iter().fold(WriteSet::with_keys_limit(limit), |set, &(key, mode)| set.with(key, mode))
}

/// Whether some key is exclusive only because shared and intention exclusive were joined.
fn has_both_shared_and_intention(uses: &[(Key, Mode)], set: &WriteSet) -> bool {
    let asked = |key: Key| uses.iter().any(|&(used, mode)| used == key && mode.at(key.level()) == Exclusive);
    set.keys().any(|(key, mode)| mode == Exclusive && !asked(key))
}

fn check_shape(set: &WriteSet, limit: usize) {
    let keys: Vec<(Key, Mode)> = set.keys().collect();
    assert!(keys.len() <= limit, "{} keys, {limit} allowed", keys.len());
    for (position, &(key, mode)) in keys.iter().enumerate() {
        assert_eq!(mode, mode.at(key.level()));
        assert!(keys[..position].iter().all(|&(other, _)| other != key), "{key} is there twice");
        if key.level() != Level::Server {
            let parent = key.parent().unwrap();
            let above = keys[..position].iter().find(|&&(other, _)| other == parent);
            let above = above.expect("the parent comes first").1;
            assert_eq!(above.join(mode.intention()), above, "{parent} has the intention that {key} implies");
        }
    }
}
