//! Damaged files: a torn tail is truncated; data that was on disk and is gone is refused, with its position.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::super::record::{frame, framed_bytes};
use super::super::recovery::scan;
use super::super::segment::{HEADER_BYTES, Header, RECORDS_START, first_of_name};
use super::super::{DiskLog, Error, Index, Settings};
use super::{HISTORY, Rng, append, damaged, expect_entries, folder, open, payload, segments, small};

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A log as bytes, to be damaged and opened.
struct Sample {
    files: Files,
    last: u64,
    /// Whether each record's durable mark covers all earlier records; else no mark covers any.
    marked: bool,
}

impl Sample {
    fn new(count: u64, sync: bool) -> Self {
        let folder = folder();
        let (log, _) = DiskLog::open(folder.path(), Settings { sync, ..small() }, HISTORY).unwrap();
        for index in 1..=count {
            append(&log, 1);
            log.flush(Index(index)).unwrap();
        }
        drop(log);
        let files = read(folder.path());
        assert_eq!(files.len(), 3, "the tests want a first, a middle and a last segment");
        Self { files, last: count, marked: sync }
    }

    /// The positions of the records.
    fn records(&self) -> impl Iterator<Item = (&PathBuf, u64, Range<usize>)> {
        let firsts: Vec<_> = self.files.keys().map(|file| first_of_name(file).unwrap()).collect();
        let ends = firsts.into_iter().skip(1).chain([self.last + 1]);
        self.files.keys().zip(ends).flat_map(|(file, end)| {
            let mut at = RECORDS_START as usize;
            (first_of_name(file).unwrap()..end).map(move |index| {
                let start = at;
                at += framed_bytes(payload(index).len() as u64) as usize;
                (file, index, start..at)
            })
        })
    }

    /// Opens the log with these files in place of the sample's: refused if durable data is gone, else truncated right
    /// before the first changed record, and the log continues from there.
    fn check(&self, files: &Files) {
        let folder = folder();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let header_changed =
            self.files.iter().any(|(name, bytes)| bytes[..HEADER_BYTES] != files[name][..HEADER_BYTES]);
        let changed = |(file, _, range): &(&PathBuf, u64, Range<usize>)| {
            self.files[*file][range.clone()] != files[*file][range.clone()]
        };
        let first_changed = self.records().find(changed).map(|(_, index, _)| index);
        let last_whole = self.records().filter(|record| !changed(record)).last().map(|(_, index, _)| index);
        let result = DiskLog::open(folder.path(), small(), HISTORY);
        if header_changed {
            assert!(matches!(result, Err(Error::Damaged { .. } | Error::Newer { .. } | Error::OtherHistory { .. })));
            return;
        }
        let headers_proof = if self.marked { first_of_name(files.keys().last().unwrap()).unwrap() - 1 } else { 0 };
        let records_proof = if self.marked { last_whole.map_or(0, |index| index - 1) } else { 0 };
        match first_changed {
            Some(index) if index <= headers_proof.max(records_proof) => {
                let (file, _, range) = self.records().nth(index as usize - 1).unwrap();
                let name = file.to_str().unwrap().to_owned();
                assert_eq!(damaged(result), (name, range.start as u64, Index(index)));
            }
            _ => {
                let (log, opened) = result.unwrap();
                let last = first_changed.map_or(self.last, |index| index - 1);
                assert_eq!(opened.last, Index(last));
                match (opened.torn_tail, first_changed) {
                    // Also if only bytes after the end have changed.
                    (Some(cut), _) => assert_eq!(cut.index, Index(last + 1)),
                    // Zeros look like the end of a log without later writes.
                    (None, Some(index)) => {
                        let (file, _, range) = self.records().nth(index as usize - 1).unwrap();
                        assert_eq!(files[file][range.start..range.start + 16], [0; 16]);
                    }
                    (None, None) => {}
                }
                append(&log, 3);
                log.flush(log.last()).unwrap();
                drop(log);
                let (log, opened) = open(folder.path());
                assert_eq!((opened.last, opened.torn_tail), (Index(last + 3), None));
                expect_entries(&log, 1, last + 3);
            }
        }
    }

    fn changed(&self, name: &PathBuf, change: impl FnOnce(&mut Vec<u8>)) -> Files {
        let mut files = self.files.clone();
        change(files.get_mut(name).unwrap());
        files
    }
}

fn read(folder: &Path) -> Files {
    let segments = segments(folder);
    segments.iter().map(|file| (file.file_name().unwrap().into(), fs::read(file).unwrap())).collect()
}

#[test]
fn every_flipped_byte_is_detected() {
    let mut rng = Rng::seeded();
    let sample = Sample::new(90, true);
    let headers = sample.files.keys().map(|file| (file.clone(), 0..HEADER_BYTES));
    let records = sample.records().map(|(file, _, range)| (file.clone(), range));
    for (file, range) in headers.chain(records) {
        for at in range {
            let flip = rng.below(255) as u8 + 1;
            sample.check(&sample.changed(&file, |bytes| bytes[at] ^= flip));
        }
    }
}

/// Zeros are passed over by the block: a whole record behind any number of them is found, and proves what it proves.
#[test]
fn a_record_behind_zeros_is_found_at_each_place() {
    let header = Header { history_uuid: HISTORY, first: 1, previous: 0, salt: 77, bytes: 0, durable: 0 };
    let start = RECORDS_START as usize;
    let gaps = (2..9).chain(505..520).chain(1015..1030).map(|words| words * 8);
    for gap in gaps {
        for torn in [vec![], vec![9; 8], vec![0, 0, 0, 0, 0, 0, 0, 1]] {
            for rest in [0, 8, 16, 4088, 4096, 5000] {
                let mut bytes = vec![0; start];
                frame(&mut bytes, header.salt, 1, 0, &[b"one"]);
                bytes.extend(&torn);
                bytes.resize(bytes.len() + gap, 0);
                let without = scan(&bytes, &header);
                assert_eq!((without.last, without.later), (1, false), "gap {gap}");
                frame(&mut bytes, header.salt, 3, 2, &[b"three"]);
                bytes.resize(bytes.len() + rest, 0);
                let scan = scan(&bytes, &header);
                assert_eq!(
                    (scan.last, scan.later, scan.later_durable),
                    (1, true, 2),
                    "gap {gap}, rest {rest}, {torn:?}"
                );
            }
        }
    }
}

#[test]
fn flips_that_no_mark_covers_truncate_the_log() {
    let mut rng = Rng::seeded();
    let sample = Sample::new(90, false);
    for (file, _, range) in sample.records() {
        let at = range.start + rng.below(range.len() as u64) as usize;
        sample.check(&sample.changed(file, |bytes| bytes[at] ^= 1 << rng.below(8)));
    }
}

#[test]
fn zeros_and_garbage_lose_nothing_silently() {
    let mut rng = Rng::seeded();
    for (sample, rounds) in [(Sample::new(90, true), 600), (Sample::new(90, false), 600)] {
        let names: Vec<_> = sample.files.keys().cloned().collect();
        for _ in 0..rounds {
            let name = &names[rng.below(3) as usize];
            let from = rng.below(sample.files[name].len() as u64 - HEADER_BYTES as u64) as usize + HEADER_BYTES;
            let longest = (sample.files[name].len() - from) as u64;
            let length = (1 << rng.below(13)).min(rng.below(longest) + 1) as usize;
            let zeros = rng.below(2) == 0;
            sample.check(&sample.changed(name, |bytes| {
                bytes[from..from + length].fill_with(|| if zeros { 0 } else { rng.next() as u8 });
            }));
        }
    }
}

#[test]
fn an_unwritten_end_is_truncated_at_any_byte() {
    let sample = Sample::new(90, false);
    let last = sample.files.keys().last().unwrap();
    let end = sample.records().last().unwrap().2.end;
    for from in RECORDS_START as usize..end {
        let files = sample.changed(last, |bytes| bytes[from..].fill(0));
        sample.check(&files);
    }
}

#[test]
fn a_shortened_file_is_refused_at_every_length() {
    let sample = Sample::new(90, true);
    for (name, bytes) in &sample.files {
        for length in 0..bytes.len() {
            let folder = folder();
            for (other, bytes) in &sample.files {
                fs::write(folder.path().join(other), &bytes[..if other == name { length } else { bytes.len() }])
                    .unwrap();
            }
            assert_eq!(damaged(DiskLog::open(folder.path(), small(), HISTORY)).0, name.to_str().unwrap());
        }
    }
}

#[test]
fn missing_and_swapped_segments_are_refused() {
    for sync in [true, false] {
        let sample = Sample::new(90, sync);
        let names: Vec<_> = sample.files.keys().cloned().collect();
        let try_with = |files: &Files| {
            let folder = folder();
            for (name, bytes) in files {
                fs::write(folder.path().join(name), bytes).unwrap();
            }
            damaged(DiskLog::open(folder.path(), small(), HISTORY)).0
        };
        let mut files = sample.files.clone();
        files.remove(&names[1]);
        assert_eq!(try_with(&files), names[2].to_str().unwrap());

        let mut files = sample.files.clone();
        files.insert(names[0].clone(), sample.files[&names[1]].clone());
        files.insert(names[1].clone(), sample.files[&names[0]].clone());
        assert_eq!(try_with(&files), names[0].to_str().unwrap());
    }
}

#[test]
fn a_newer_version_is_named() {
    let sample = Sample::new(90, true);
    let folder = folder();
    for (name, bytes) in &sample.files {
        let mut bytes = bytes.clone();
        bytes[8] = 9;
        fs::write(folder.path().join(name), &bytes).unwrap();
    }
    let error = DiskLog::open(folder.path(), small(), HISTORY).unwrap_err();
    assert!(matches!(&error, Error::Newer { found: 9, known: 1, .. }));
    assert!(error.to_string().contains("format 9") && error.to_string().contains("format 1"));
    assert!(matches!(DiskLog::read_history_uuid(folder.path()), Err(Error::Newer { .. })));
}

/// A truncated record of the same segment could follow a new one of the same length.
#[test]
fn truncated_records_never_come_back() {
    let folder = folder();
    let (log, _) = DiskLog::open(folder.path(), Settings { sync: false, ..small() }, HISTORY).unwrap();
    for name in ["one", "two", "tri", "for"] {
        log.append(&[name.as_bytes()]).unwrap();
        log.flush(log.last()).unwrap();
    }
    drop(log);
    let file = &segments(folder.path())[0];
    let mut bytes = fs::read(file).unwrap();
    bytes[RECORDS_START as usize + 32 + 24] ^= 1;
    fs::write(file, &bytes).unwrap();
    let (log, opened) = open(folder.path());
    assert_eq!((opened.last, opened.torn_tail.unwrap().index), (Index(1), Index(2)));
    log.append(&[b"new"]).unwrap();
    log.flush(Index(2)).unwrap();
    drop(log);
    let (log, opened) = open(folder.path());
    assert_eq!((opened.last, opened.torn_tail), (Index(2), None));
    let entries: Vec<_> = log.read(Index(1)).unwrap().map(|entry| entry.unwrap().1).collect();
    assert_eq!(entries, [b"one", b"new"]);
}

/// A reused file is full of old records, whole and in order.
#[test]
fn old_records_in_reused_files_are_not_read() {
    use std::os::unix::fs::MetadataExt;
    let folder = folder();
    let (log, _) = open(folder.path());
    let first = fs::metadata(&segments(folder.path())[0]).unwrap().ino();
    let mut reused = false;
    while !reused {
        assert!(log.last() < Index(10_000), "no file was used again");
        append(&log, 1);
        log.flush(log.last()).unwrap();
        log.purge(log.last());
        reused = log.first() > Index(1)
            && segments(folder.path()).iter().any(|file| fs::metadata(file).is_ok_and(|data| data.ino() == first));
    }
    append(&log, 2);
    log.flush(log.last()).unwrap();
    let (first, last) = (log.first(), log.last());
    drop(log);
    let (log, opened) = open(folder.path());
    assert_eq!((opened.first, opened.last, opened.torn_tail), (first, last, None));
    expect_entries(&log, first.0, last.0);
}

/// Any bytes after a valid header: opened or refused, and entries are read as written.
#[test]
fn a_segment_of_any_bytes_causes_no_panic() {
    let mut rng = Rng::seeded();
    let sample = Sample::new(90, false);
    let last = sample.files.keys().last().unwrap();
    for _ in 0..300 {
        let files = sample.changed(last, |bytes| {
            for _ in 0..=rng.below(4) {
                let length = bytes.len() as u64 - RECORDS_START;
                // Parts of records at other offsets, and whole ones.
                let (from, to) = (RECORDS_START + rng.below(length), RECORDS_START + rng.below(length));
                let (from, to) = if rng.below(2) == 0 { (from & !7, to & !7) } else { (from, to) };
                let count = (1 + rng.below(600)).min(RECORDS_START + length - from.max(to)) as usize;
                bytes.copy_within(from as usize..from as usize + count, to as usize);
            }
        });
        sample.check(&files);
    }
}
