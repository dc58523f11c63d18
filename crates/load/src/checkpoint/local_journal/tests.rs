//! Tests of the local journal that need no server: its file, the row that names it, and where an intent goes.

use std::fs;

use super::file::FILE_BYTES;
use super::*;
use crate::checkpoint::identity::InputFile;
use crate::checkpoint::{Checkpoint, Identity, RecoveryHint, Span, State, digest};

const TEXTS: [&[u8]; 4] = [b"UPDATE m SET a = 1", b"UPDATE m SET a = 2", b"CREATE USER u", b"UPDATE m SET a = 3"];

fn text(number: u64) -> &'static [u8] {
    TEXTS[usize::try_from(number).unwrap() % TEXTS.len()]
}

fn intent(number: u64, recovery_hint: RecoveryHint) -> Checkpoint {
    let (line, byte, end_byte) = (number * 2, number * 10, number * 10 + 5);
    let file = "a dump\n.sql".to_owned();
    let span = Span { first: number, last: number, digest: digest([text(number)]), file, line, byte, end_byte };
    Checkpoint { span, state: State::Intent, table: String::new(), rows: 0, last_id: 0, recovery_hint }
}

fn applied(number: u64) -> Checkpoint {
    Checkpoint { state: State::Applied, rows: 3, ..intent(number, RecoveryHint::None) }
}

fn machine() -> Machine {
    Machine { host: "here".to_owned(), boot_id: "b00t".to_owned() }
}

/// A journal in a folder, with a file that is open.
fn journal(folder: &Path) -> (LocalJournal, Anchor) {
    let mut local = LocalJournal::new(7, Some(folder));
    local.home = Some((folder.to_path_buf(), machine()));
    let open = local.create(&intent(5, RecoveryHint::None), "a server").unwrap().unwrap();
    let anchor = open.anchor.clone();
    local.renewed(Some(open));
    (local, anchor)
}

/// Steps of every kind, with what is on record behind each.
fn write_all(local: &mut LocalJournal) -> Vec<(u64, Vec<(u64, State)>)> {
    let end = |local: &LocalJournal| fs::read(&local.open().unwrap().anchor.path).unwrap();
    let used = |bytes: Vec<u8>| memchr::memchr(0, &bytes).unwrap() as u64;
    let mut known = vec![(used(end(local)), vec![])];
    let mut step = |local: &LocalJournal, found: &[(u64, State)]| known.push((used(end(local)), found.to_vec()));
    let definition = RecoveryHint::Definition(Some(u128::MAX / 3));
    local.begin(&intent(5, RecoveryHint::NotInTransaction)).unwrap();
    step(local, &[(5, State::Intent)]);
    local.end(&applied(5), Some(text(5))).unwrap();
    step(local, &[(5, State::Applied)]);
    local.begin(&intent(9, definition.clone())).unwrap();
    step(local, &[(5, State::Applied), (9, State::Intent)]);
    local.begin(&intent(6, definition)).unwrap();
    step(local, &[(5, State::Applied), (6, State::Intent), (9, State::Intent)]);
    local.retract(9).unwrap();
    step(local, &[(5, State::Applied), (6, State::Intent)]);
    local.end(&Checkpoint { state: State::SessionBound, ..applied(6) }, Some(text(6))).unwrap();
    step(local, &[(5, State::Applied), (6, State::SessionBound)]);
    known
}

fn states(checkpoints: &[Checkpoint]) -> Vec<(u64, State)> {
    checkpoints.iter().map(|checkpoint| (checkpoint.span.first, checkpoint.state)).collect()
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let (mut local, anchor) = journal(folder.path());
    write_all(&mut local);
    let found = read_as(&anchor, &anchor.path, Some(&machine())).unwrap();
    let bound = Checkpoint { state: State::SessionBound, ..applied(6) };
    assert_eq!(found, [applied(5), bound.clone()]);
    assert_eq!(local.open().unwrap().checkpoints().collect::<Vec<_>>(), [applied(5), bound]);
}

#[test]
fn an_end_is_written_with_what_comes_next() {
    let folder = tempfile::tempdir().unwrap();
    let (mut local, anchor) = journal(folder.path());
    let found = || states(&read_as(&anchor, &anchor.path, Some(&machine())).unwrap());
    local.begin(&intent(5, RecoveryHint::None)).unwrap();
    local.end_with_next(&applied(5), Some(text(5))).unwrap();
    assert_eq!(found(), [(5, State::Intent)]);
    local.begin(&intent(6, RecoveryHint::None)).unwrap();
    assert_eq!(found(), [(5, State::Applied), (6, State::Intent)]);
    local.end_with_next(&applied(6), Some(text(6))).unwrap();
    local.write_ends().unwrap();
    assert_eq!(found(), [(5, State::Applied), (6, State::Applied)]);
    local.begin(&intent(7, RecoveryHint::None)).unwrap();
    local.end_with_next(&applied(7), Some(text(7))).unwrap();
    // The file is to last.
    local.close();
    assert_eq!(found(), [(5, State::Applied), (6, State::Applied), (7, State::Applied)]);
}

#[test]
fn a_file_is_known_by_its_first_line() {
    let folder = tempfile::tempdir().unwrap();
    let (mut local, anchor) = journal(folder.path());
    write_all(&mut local);
    let other = Anchor { id: FileId { generation: 99, ..anchor.id.clone() }, ..anchor.clone() };
    remove(&other);
    assert!(anchor.path.exists(), "it belongs to another load");
    remove(&anchor);
    assert!(!anchor.path.exists());
}

/// A load that is killed while it writes leaves a line that is cut: it counts for nothing. A file that is shorter is
/// another matter: something may be missing.
#[test]
fn a_file_cut_at_every_byte() {
    let folder = tempfile::tempdir().unwrap();
    let (mut local, anchor) = journal(folder.path());
    let known = write_all(&mut local);
    let whole = fs::read(&anchor.path).unwrap();
    assert_eq!(whole.len() as u64, FILE_BYTES);
    let end = known.last().unwrap().0;
    let whole = &whole[..usize::try_from(end).unwrap() + 9];
    let file = fs::OpenOptions::new().write(true).open(&anchor.path).unwrap();
    for cut in (0..=end).rev() {
        let mut torn = whole.to_vec();
        torn[usize::try_from(cut).unwrap()..].fill(0);
        let found = lines::read(&torn).map(|contents| states(&contents.checkpoints));
        let expected = known.iter().rev().find(|(end, _)| *end <= cut).map(|(_, states)| states.clone());
        assert_eq!(found, expected.ok_or(lines::Damaged), "byte {cut}");
        // Of the page cache, nothing in between gets lost.
        let mut holed = whole.to_vec();
        holed[usize::try_from(cut).unwrap()] = 0;
        assert_eq!(lines::read(&holed).is_ok(), cut + 1 >= end, "byte {cut}");
        if cut + 1 < end {
            let mut changed = whole.to_vec();
            changed[usize::try_from(cut).unwrap()] ^= 1;
            assert_eq!(lines::read(&changed), Err(lines::Damaged), "byte {cut}");
        }
        file.set_len(cut).unwrap();
        assert_eq!(read_as(&anchor, &anchor.path, Some(&machine())), Err("it is damaged".to_owned()), "byte {cut}");
    }
}

#[test]
fn a_file_that_says_nothing_here() {
    let folder = tempfile::tempdir().unwrap();
    let (mut local, anchor) = journal(folder.path());
    local.begin(&intent(5, RecoveryHint::None)).unwrap();
    let read = |anchor: &Anchor, machine: &Machine| read_as(anchor, &anchor.path, Some(machine));
    let restarted = Machine { boot_id: "again".to_owned(), ..machine() };
    assert!(read(&anchor, &restarted).unwrap_err().contains("was restarted"));
    assert!(read_as(&anchor, &anchor.path, None).unwrap_err().contains("was restarted"));
    for id in [FileId { generation: 2, ..anchor.id.clone() }, FileId { load_id: 8, ..anchor.id.clone() }] {
        let other = Anchor { id, ..anchor.clone() };
        assert_eq!(read(&other, &machine()), Err("it belongs to another load".to_owned()));
    }
    let missing = Anchor { path: folder.path().join("missing"), ..anchor.clone() };
    assert_eq!(read(&missing, &machine()), Err("it does not exist".to_owned()));
    let elsewhere = Machine { host: "there".to_owned(), ..machine() };
    assert_eq!(read(&missing, &elsewhere), Err("it does not exist on this host, there".to_owned()));
    assert!(anchor.other_server("another").unwrap().contains("this server is another"));
    assert_eq!(anchor.other_server("a server"), None);
    // What was closed is on disk.
    local.close();
    assert_eq!(states(&read(&anchor, &restarted).unwrap()), [(5, State::Intent)]);
    assert_eq!(local.next(6), Next::Server);
}

#[test]
fn the_row_on_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let (_local, anchor) = journal(folder.path());
    let text = anchor.to_text().unwrap();
    assert_eq!(Anchor::from_text(7, &text, anchor.from.clone()), Some(anchor.clone()));
    for cut in 0..text.rfind(' ').unwrap() {
        assert_eq!(Anchor::from_text(7, &text[..cut], anchor.from.clone()), None, "{cut}");
    }
}

#[test]
fn statements_that_follow_each_other_become_one_checkpoint() {
    let mut entries = Entries::default();
    for number in 5..9 {
        entries.begin(&intent(number, RecoveryHint::NotInTransaction));
        assert!(entries.has_begun(number));
        entries.end(&applied(number), Some(text(number)));
        assert!(!entries.has_begun(number));
    }
    let found: Vec<_> = entries.checkpoints().collect();
    let [run] = &found[..] else { panic!("{found:?}") };
    assert_eq!((run.span.first, run.span.last, run.rows, run.span.end_byte), (5, 8, 12, 85));
    assert_eq!(run.span.digest, digest((5..9).map(text)));
    // A gap, a failure, another table, what leaves something in its session, and several statements end it.
    for odd in [
        Checkpoint { recovery_hint: RecoveryHint::Failed(1), ..applied(11) },
        Checkpoint { table: "a.b".to_owned(), ..applied(13) },
        Checkpoint { state: State::SessionBound, ..applied(15) },
    ] {
        let number = odd.span.first;
        entries.end(&applied(number - 1), Some(text(number - 1)));
        entries.end(&odd, Some(text(number)));
        entries.end(&applied(number + 1), None);
    }
    assert_eq!(entries.checkpoints().count(), 1 + 7);
}

#[test]
fn where_an_intent_goes() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(LocalJournal::new(7, None).next(1), Next::Server);
    let (mut local, _) = journal(folder.path());
    let old = local.open().unwrap().anchor.path.clone();
    assert_eq!((local.next(5), local.next(4)), (Next::Append, Next::Server));
    local.expire();
    assert_eq!(local.next(5), Next::Renew);
    let open = local.create(&intent(90, RecoveryHint::None), "").unwrap().unwrap();
    assert!(old.exists(), "until the server names the new file, it may name the old one");
    local.renewed(Some(open));
    assert!(!old.exists());
    assert_eq!((local.next(90), local.next(5)), (Next::Append, Next::Server));
    local.open.as_mut().unwrap().checked -= CHECK_INTERVAL;
    assert_eq!((local.next(90), local.next(5)), (Next::Check, Next::Server));
    local.checked();
    assert_eq!(local.next(90), Next::Append);
    local.open.as_mut().unwrap().since -= RENEWAL_INTERVAL;
    assert_eq!(local.next(90), Next::Renew);
    // Before the file is full.
    let later = Instant::now() + Duration::from_secs(3600);
    let open = local.open.as_mut().unwrap();
    (open.since, open.checked) = (later, later);
    let mut number = 90;
    while local.next(number) == Next::Append {
        local.begin(&intent(number, RecoveryHint::NotInTransaction)).unwrap();
        number += 1;
    }
    for begun in 90..number.min(400) {
        local.end(&applied(begun), Some(text(begun))).unwrap();
    }
    assert_eq!(fs::metadata(&local.open().unwrap().anchor.path).unwrap().len(), FILE_BYTES);
    assert!(local.end(&Checkpoint { table: "t".repeat(9), ..applied(number - 1) }, None).is_ok());
    local.give_up(None);
    assert_eq!(local.next(number), Next::Server);
}

#[test]
fn what_a_server_confirms() {
    let is_durable = |flush: &str, log: &str, sync: &str| ServerFacts::new(flush, log, sync, "s", false).is_durable;
    assert!(is_durable("1", "0", "0") && is_durable("1", "1", "1") && is_durable("3", "0", "0"));
    assert!(!is_durable("1", "1", "0") && !is_durable("1", "1", "100"));
    assert!(!is_durable("0", "0", "1") && !is_durable("2", "0", "1") && !is_durable("", "", ""));
    assert_eq!(ServerFacts::new("1", "0", "0", "s", true).server, "");
}

fn record() -> LocalRecord {
    let server = ServerIdentity { name: "a server: its data".to_owned(), lsn: 1000 };
    let file = InputFile { name: "a dump\n.sql".to_owned(), size_bytes: Some(7) };
    let input = Identity { files: vec![file], ..Identity::default() };
    let (schema, server_name) = ("hortator".to_owned(), "a server".to_owned());
    LocalRecord { schema, server, server_name, host: String::new(), input, threads: 4, started_at: 1_700_000_000 }
}

/// A load that is on record in a file only, in a folder.
fn load_with_record(folder: &Path) -> LocalJournal {
    let mut local = LocalJournal::new(7, Some(folder));
    local.home = Some((folder.to_path_buf(), machine()));
    assert!(local.begin_record(record()));
    local
}

#[test]
fn a_local_record_is_found_and_locked() {
    let folder = tempfile::tempdir().unwrap();
    let mut local = load_with_record(folder.path());
    assert!(local.is_empty());
    assert_eq!(local.next(1), Next::Append);
    local.begin(&intent(5, RecoveryHint::Rows(0))).unwrap();
    assert!(!local.is_empty());
    fs::write(folder.path().join("load-1-2.record"), "something else").unwrap();
    fs::write(folder.path().join("load-1-3.record"), "\0").unwrap();
    let [found] = &record_files(folder.path())[..] else { panic!("one of them has a record") };
    assert!(found.is_running());
    let expected = LocalRecord { host: "here".to_owned(), ..record() };
    assert_eq!((found.load_id(), &found.record), (7, &expected));
    let (in_use, anchor) = local.record().unwrap();
    assert_eq!((in_use, anchor), (&expected, &found.anchor));
    assert_eq!(anchor.from, Beginning { ordinal: 1, file: "a dump\n.sql".to_owned(), line: 1 });
    assert_eq!(Anchor::from_text(7, &anchor.to_text().unwrap(), anchor.from.clone()).as_ref(), Some(anchor));
    let read = read_as(anchor, &anchor.path, Some(&machine())).unwrap();
    assert_eq!(states(&read), [(5, State::Intent)]);
    // The load is killed.
    drop(local);
    let [found] = &record_files(folder.path())[..] else { panic!("the record stays") };
    assert!(!found.is_running());
    assert!(record_files(folder.path())[0].is_running(), "who has found it has its lock");
    found.remove();
    assert!(record_files(folder.path()).is_empty());
    assert!(record_files(&folder.path().join("missing")).is_empty());
}

#[test]
fn a_local_record_is_of_one_server_with_its_data() {
    let folder = tempfile::tempdir().unwrap();
    drop(load_with_record(folder.path()));
    let [found] = &record_files(folder.path())[..] else { panic!("there is one") };
    let now = |name: &str, lsn| ServerIdentity { name: name.to_owned(), lsn };
    assert!(found.is_of("hortator", &now("a server: its data", 1000)));
    assert!(found.is_of("hortator", &now("a server: its data", 1001)));
    assert!(!found.is_of("hortator", &now("a server: its data", 999)), "the data is older than the load");
    assert!(!found.is_of("hortator", &now("a server: other data", 1000)));
    assert!(!found.is_of("other", &now("a server: its data", 1000)));
}

#[test]
fn a_load_with_a_local_record_ends_or_goes_to_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut local = load_with_record(folder.path());
    local.begin(&intent(5, RecoveryHint::None)).unwrap();
    assert!(!local.is_idle());
    local.open.as_mut().unwrap().since -= IDLE_INTERVAL;
    assert!(local.is_idle(), "it takes long");
    assert_eq!(record_files(folder.path()).len(), 1);
    local.recorded();
    assert!(local.record().is_none());
    assert!(record_files(folder.path()).is_empty(), "the server has it");
    let anchor = local.open().unwrap().anchor.clone();
    assert_eq!(states(&read_as(&anchor, &anchor.path, Some(&machine())).unwrap()), [(5, State::Intent)]);
    assert!(!local.is_idle(), "a statement has not ended");
    let path = local.open().unwrap().anchor.path.clone();
    assert!(path.exists());
    local.renewed(None);
    assert!(!path.exists());
    let mut local = load_with_record(folder.path());
    local.end_record();
    assert!(record_files(folder.path()).is_empty());
    assert_eq!(local.next(9), Next::Server);
    // No folder, no record.
    assert!(!LocalJournal::new(7, None).begin_record(record()));
    let file = folder.path().join("a file");
    fs::write(&file, "").unwrap();
    assert!(!LocalJournal::new(7, Some(&file.join("below"))).begin_record(record()));
    // An input of very many files has no room in it.
    let names = (0..100_000)
        .map(|number| InputFile { name: format!("a file of a dump with a long name, {number}"), size_bytes: None });
    let input = Identity { files: names.collect(), ..Identity::default() };
    assert!(!LocalJournal::new(7, Some(folder.path())).begin_record(LocalRecord { input, ..record() }));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_of_a_killed_load_is_marked() {
    let folder = tempfile::tempdir().unwrap();
    let mut local = load_with_record(folder.path());
    local.begin(&intent(5, RecoveryHint::None)).unwrap();
    let anchor = local.open().unwrap().anchor.clone();
    let whole = fs::read(&anchor.path).unwrap();
    local.begin(&intent(6, RecoveryHint::None)).unwrap();
    drop(local);
    let longer = fs::read(&anchor.path).unwrap();
    let used = |bytes: &[u8]| memchr::memchr(0, bytes).unwrap();
    // Killed in the middle of the second intent.
    for cut in (used(&whole)..=used(&longer)).step_by(9) {
        let mut torn = longer.clone();
        torn[cut..].fill(0);
        fs::write(&anchor.path, &torn).unwrap();
        let expected = read_as(&anchor, &anchor.path, Some(&machine())).unwrap();
        assert_eq!(record_files(folder.path()).len(), 1);
        mark_on_server(&anchor);
        assert!(record_files(folder.path()).is_empty());
        assert_eq!(read_as(&anchor, &anchor.path, Some(&machine())), Ok(expected), "byte {cut}");
        let marked = fs::read(&anchor.path).unwrap();
        mark_on_server(&anchor);
        assert_eq!(fs::read(&anchor.path).unwrap(), marked);
    }
    // One that lasts, as the server was gone.
    let mut local = load_with_record(&folder.path().join("other"));
    local.begin(&intent(5, RecoveryHint::None)).unwrap();
    let closed = local.open().unwrap().anchor.clone();
    local.close();
    mark_on_server(&closed);
    let restarted = Machine { boot_id: "again".to_owned(), ..machine() };
    assert_eq!(states(&read_as(&closed, &closed.path, Some(&restarted)).unwrap()), [(5, State::Intent)]);

    let other = Anchor { id: FileId { load_id: 8, ..anchor.id.clone() }, ..anchor.clone() };
    fs::write(&anchor.path, &longer).unwrap();
    mark_on_server(&other);
    assert_eq!(record_files(folder.path()).len(), 1, "it belongs to another load");
}
