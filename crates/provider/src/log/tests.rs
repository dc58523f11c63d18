//! Tests of the log as a whole, on real files.

use super::{DiskLog, Index, Settings};

const HISTORY: [u8; 16] = [7; 16];

fn small() -> Settings {
    Settings { segment_bytes: 16 << 10, retain_bytes: 0, sync: true }
}

#[test]
fn entries_are_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let payload = |index: u64| vec![index as u8; (index as usize * 37) % 5000];
    for run in 0..3 {
        let (log, opened) = DiskLog::open(folder.path(), small(), HISTORY).unwrap();
        assert_eq!((opened.first, opened.last, opened.cut), (Index(1), Index(run * 100), None));
        for index in run * 100 + 1..=run * 100 + 100 {
            let bytes = payload(index);
            let (head, tail) = bytes.split_at(bytes.len() / 3);
            assert_eq!(log.append(&[head, tail]).unwrap(), Index(index));
            if index % 7 == 0 {
                log.commit(Index(index)).unwrap();
            }
        }
        log.commit(log.last()).unwrap();
        for (index, entry) in (1..).zip(log.read(Index(1)).unwrap()) {
            assert_eq!(entry.unwrap(), (Index(index), payload(index)));
        }
        assert_eq!(log.read(Index(2)).unwrap().count() as u64, run * 100 + 99);
    }
}
