//! What a power failure may leave: every state between two syncs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::super::segment::RECORDS_START;
use super::Rng;

/// The log's files by name, without the spares and the lock.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

thread_local! {
    static ON_SYNC: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
}

/// The log calls this after each sync of a file or folder.
pub(in super::super) fn synced() {
    ON_SYNC.with_borrow_mut(|on_sync| on_sync.iter_mut().for_each(|on_sync| on_sync()));
}

/// Calls `look` after each of this thread's syncs in `work`.
pub(super) fn at_each_sync(look: impl FnMut() + 'static, work: impl FnOnce()) {
    ON_SYNC.set(Some(Box::new(look)));
    work();
    ON_SYNC.set(None);
}

/// The files before `work`, after each of this thread's syncs in it, and at its end.
pub(super) fn states(folder: &Path, work: impl FnOnce()) -> Vec<Files> {
    let states = std::rc::Rc::new(RefCell::new(vec![read(folder)]));
    let (folder, seen) = (folder.to_owned(), std::rc::Rc::clone(&states));
    let look = move || seen.borrow_mut().push(read(&folder));
    at_each_sync(look.clone(), work);
    look();
    states.take()
}

pub(super) fn read(folder: &Path) -> Files {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let ours = names
        .filter(|name| !name.ends_with(".spare.log") && !name.ends_with("-lock.log") && !name.ends_with("-acked.log"));
    ours.map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

pub(super) fn write(files: &Files, folder: &Path) {
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// An intermediate state: names appear and vanish independently, a rename is atomic, sectors are old or new.
pub(super) fn between(before: &Files, after: &Files, rng: &mut Rng) -> Files {
    let is_rename = before.keys().any(|name| name.ends_with(".reset.log") && !after.contains_key(name));
    if is_rename {
        return if rng.below(2) == 0 { before.clone() } else { after.clone() };
    }
    let mut files = Files::new();
    let odds = 1 + rng.below(4);
    for name in before.keys().chain(after.keys()) {
        match (before.get(name), after.get(name)) {
            (Some(old), Some(new)) => {
                let mut bytes = new.clone();
                for sector in (RECORDS_START as usize..bytes.len()).step_by(512) {
                    if rng.below(odds) == 0 {
                        bytes[sector..sector + 512].copy_from_slice(&old[sector..sector + 512]);
                    }
                }
                files.insert(name.clone(), bytes);
            }
            (Some(bytes), None) | (None, Some(bytes)) if rng.below(2) == 0 => {
                files.insert(name.clone(), bytes.clone());
            }
            _ => {}
        }
    }
    files
}
