//! Keys from their parts, each once, with the strongest mode.

use super::*;

#[test]
fn equal_parts_give_equal_keys() {
    let mut set = WriteSet::default();
    let first = set.key(&[b"s", b"t", b"\x00a"]).unwrap();
    let other = set.key(&[b"s", b"u", b"\x00a"]).unwrap();
    assert_eq!(set.key(&[b"s", b"t", b"\x00a"]), Ok(first));
    assert_ne!(first, other);
    assert_eq!(first.parent(), Some(set.key(&[b"s", b"t"]).unwrap()));
    assert_eq!(set.key(&[]), Ok(Key::server()));
    assert!(set.key(&[b"a", b"b", b"c", b"d"]).is_err());
}

#[test]
fn a_key_keeps_its_stronger_mode() {
    for others in [0, LOOK_THROUGH_LIMIT, 1000] {
        let mut set = WriteSet::default();
        let parent = set.key(&[b"s", b"parent", b"\x001"]).unwrap();
        set.add(parent, Mode::RowReference);
        for number in 0..others as u32 {
            let key = set.key(&[b"s", b"t", &number.to_le_bytes()]).unwrap();
            set.add(key, Mode::RowExclusive);
            set.add(parent, Mode::RowReference);
        }
        set.add(parent, Mode::RowUpdate);
        set.add(parent, Mode::RowShared);
        assert_eq!(set.keys().len(), others + 1);
        assert_eq!(set.keys()[0], (parent, Mode::RowUpdate));
    }
}

#[test]
fn a_cleared_write_set_can_be_filled_again() {
    let mut set = WriteSet::default();
    for number in 0..100u32 {
        let key = set.key(&[b"s", b"t", &number.to_le_bytes()]).unwrap();
        set.add(key, Mode::RowExclusive);
    }
    set.append(b"event");
    set.clear();
    assert!(set.is_empty());
    let key = set.key(&[b"s", b"t", &7u32.to_le_bytes()]).unwrap();
    set.add(key, Mode::RowExclusive);
    assert_eq!(set.keys(), [(key, Mode::RowExclusive)]);
}
