//! Binary logs as bytes, and what they hold of a log.

use super::event::{HEAD_BYTES, Head, kind, statement_of, tables_of};
use super::file::{Problem, read_from};
use super::*;
use crate::identity::Uuid;
use crate::seeds::{Rng, run};

const ROWS: u8 = 23;
const STOP: u8 = 3;

fn event(kind: u8, body: &[u8], has_checksum: bool) -> Vec<u8> {
    let length = HEAD_BYTES + body.len() + if has_checksum { 4 } else { 0 };
    let mut event = vec![0; HEAD_BYTES];
    event[4] = kind;
    event[9..13].copy_from_slice(&(length as u32).to_le_bytes());
    event.extend(body);
    if has_checksum {
        let checksum = crc32fast::hash(&event);
        event.extend(checksum.to_le_bytes());
    }
    event
}

fn query(text: &str) -> (u8, Vec<u8>) {
    let mut body = vec![0; 13];
    body[8] = 1;
    body[11] = 3;
    body.extend(b"vvvd\0");
    body.extend(text.as_bytes());
    (kind::QUERY, body)
}

fn table_map(name: &str) -> (u8, Vec<u8>) {
    let mut body = vec![7, 0, 0, 0, 0, 0, 1, 0];
    for text in ["d", name] {
        body.push(text.len() as u8);
        body.extend(text.as_bytes());
        body.push(0);
    }
    body.extend(b"\x01\x03\x00\x01");
    (kind::TABLE_MAP, body)
}

fn gtid(is_standalone: bool) -> (u8, Vec<u8>) {
    let mut body = vec![0; 19];
    body[12] = u8::from(is_standalone);
    (kind::GTID, body)
}

fn transaction(xid: i64, tables: &[&str]) -> Vec<(u8, Vec<u8>)> {
    let mut events = vec![gtid(false)];
    for table in tables {
        events.extend([table_map(table), (ROWS, b"a row".to_vec())]);
    }
    events.push((kind::XID, xid.to_le_bytes().to_vec()));
    events
}

fn ddl(text: &str) -> Vec<(u8, Vec<u8>)> {
    vec![gtid(true), query(text)]
}

/// A file with these events.
fn binary_log(events: &[(u8, Vec<u8>)], has_checksums: bool) -> Vec<u8> {
    let mut bytes = b"\xfebin".to_vec();
    let mut description = vec![0; 90];
    description.extend([u8::from(has_checksums), 0, 0, 0, 0]);
    bytes.extend(event(kind::FORMAT_DESCRIPTION, &description, false));
    for (kind, body) in events {
        bytes.extend(event(*kind, body, has_checksums));
    }
    bytes
}

/// The data of a write set.
fn data(events: &[(u8, Vec<u8>)]) -> Vec<u8> {
    events.iter().flat_map(|(kind, body)| event(*kind, body, false)).collect()
}

fn rows(tables: &[&str]) -> Vec<u8> {
    let events: Vec<_> = tables.iter().flat_map(|table| [table_map(table), (ROWS, b"other".to_vec())]).collect();
    data(&events)
}

/// The group of a statement with these events in its write set.
fn statement_in(events: &[(u8, Vec<u8>)]) -> Group {
    Group::Statement(statement_of(&data(events)))
}

fn groups(bytes: &[u8]) -> Vec<Group> {
    read_from(bytes).unwrap().into()
}

#[test]
fn groups_are_read_with_and_without_checksums() {
    let events = [
        transaction(4, &["a", "b", "a"]),
        ddl("CREATE TABLE t (id int)"),
        vec![(STOP, Vec::new())],
        transaction(5, &["a"]),
    ];
    for has_checksums in [false, true] {
        let found = groups(&binary_log(&events.concat(), has_checksums));
        assert_eq!(
            found,
            [
                Group::Transaction { number: 4, tables: tables_of(&rows(&["a", "b"])) },
                statement_in(&[query("SET NAMES x"), query("CREATE TABLE t (id int)")]),
                Group::Transaction { number: 5, tables: tables_of(&rows(&["a"])) },
            ]
        );
    }
}

#[test]
fn what_has_no_end_is_not_there() {
    let without_end = [vec![gtid(false), table_map("a")], vec![gtid(false), query("COMMIT")]].concat();
    assert_eq!(groups(&binary_log(&without_end, true)), []);
    let events = [transaction(4, &["a"]), transaction(5, &["b"]), ddl("DROP TABLE b")].concat();
    let whole = binary_log(&events, true);
    let ends: Vec<usize> = (0..=whole.len()).map(|length| groups(&whole[..length]).len()).collect();
    assert!(ends.is_sorted() && ends[0] == 0 && ends[whole.len() - 1] == 2 && ends[whole.len()] == 3, "{ends:?}");
    // A damaged event is the end, wherever a byte is wrong in what counts.
    for at in 4..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        let found = read_from(&damaged[..]);
        assert!(found.is_err() || found.unwrap().len() <= 3, "byte {at}");
    }
    let mut damaged = whole.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    assert_eq!(groups(&damaged).len(), 2);
}

#[test]
fn only_the_last_groups_count() {
    let events: Vec<_> = (1..=GROUPS_LIMIT as i64 + 5).flat_map(|xid| transaction(xid, &["a"])).collect();
    let found = groups(&binary_log(&events, true));
    assert_eq!(found.len(), GROUPS_LIMIT);
    assert!(matches!(found[0], Group::Transaction { number: 6, .. }));
}

#[test]
fn other_files_are_refused() {
    let encrypted = binary_log(&[(kind::START_ENCRYPTION, vec![1; 17])], true);
    assert!(matches!(read_from(&encrypted[..]), Err(Problem::Encrypted)));
    assert!(matches!(read_from(&b"\xfebim and more"[..]), Err(Problem::NotABinaryLog)));
    let mut other_checksum = binary_log(&[], false);
    let at = other_checksum.len() - 5;
    other_checksum[at] = 9;
    assert!(matches!(read_from(&other_checksum[..]), Err(Problem::NotABinaryLog)));
    assert_eq!(groups(b""), [], "the server was killed while it created the file");
}

#[test]
fn earlier_files_are_read_until_one_has_a_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| fs::write(folder.path().join(name), bytes).unwrap();
    write("b.000001", binary_log(&transaction(1, &["a"]), true));
    write("b.000002", binary_log(&[transaction(2, &["a"]), ddl("ONE")].concat(), true));
    write("b.000003", binary_log(&ddl("TWO"), false));
    write("b.000004", b"\xfe".to_vec());
    write("b.index", b"./b.000001\n./b.000002\n./b.000003\n./b.000004\n".to_vec());
    let log = |name: Option<&str>, index_name: Option<&str>, can_pause| {
        let [name, index_name] = [name, index_name].map(|name| name.map(str::to_owned));
        BinaryLog { name, index_name, data_dir: folder.path().to_owned(), can_pause }.last_groups()
    };
    let found = log(Some("b"), None, true).unwrap();
    let statement = |text| statement_in(&[query(text)]);
    assert_eq!(
        found,
        [Group::Transaction { number: 2, tables: tables_of(&rows(&["a"])) }, statement("ONE"), statement("TWO")]
    );
    for (name, index_name) in [("b.extension", None), ("c", Some("b")), ("c", Some("b.index"))] {
        assert_eq!(log(Some(name), index_name, true).unwrap(), found, "{name} {index_name:?}");
    }
    assert_eq!(log(Some("new"), None, true).unwrap(), [], "there is none yet");
    assert_eq!(log(None, None, true).unwrap(), []);
    let error = log(Some("b"), Some("lost"), true).unwrap_err().to_string();
    assert!(error.contains("lost.index cannot be read: No such file"), "{error}");
    assert!(matches!(log(Some("b"), None, false), Err(Error::UnknownServer)));
    write("host-bin.index", b"./b.000001\n".to_vec());
    assert_eq!(log(None, None, true).unwrap().len(), 1);
    write("other-bin.index", b"./b.000001\n".to_vec());
    assert!(matches!(log(None, None, true), Err(Error::UnknownServer)));
    write("b.000004", binary_log(&[(kind::START_ENCRYPTION, vec![1; 17])], true));
    let error = log(Some("b"), None, true).unwrap_err().to_string();
    assert!(error.ends_with("b.000004 is encrypted"), "{error}");
}

/// Flags of a whole transaction, of a statement, and of fragments.
const WHOLE: u32 = 0x41;
const ISOLATION: u32 = 0x45;
const FIRST: u32 = 0x40;
const LAST: u32 = 0x9;

fn head(flags: u32) -> WriteSetHead {
    WriteSetHead { flags: Flags(flags), source: Uuid([1; 16]), trx: 1, conn: 1, last_seen: 0, request_id: 0 }
}

/// Compares groups with entries: seqno, flags, data.
fn upto(groups: &[Vec<(u8, Vec<u8>)>], entries: &[(i64, u32, Vec<u8>)]) -> i64 {
    let found = self::groups(&binary_log(&groups.concat(), true));
    let mut comparison = Comparison::new(&found);
    for (seqno, flags, data) in entries {
        comparison.add(*seqno, &head(*flags), data);
    }
    comparison.logged_upto()
}

fn statement(text: &str) -> Vec<u8> {
    data(&[query("SET NAMES x"), query(text)])
}

#[test]
fn everything_up_to_the_last_transaction_is_logged() {
    let entries = [(4, WHOLE, rows(&["a"])), (5, WHOLE, rows(&["a", "b"])), (7, WHOLE, rows(&["a"]))];
    let of = |numbers: &[(i64, &[&str])]| -> Vec<_> {
        numbers.iter().map(|(number, tables)| transaction(*number, tables)).collect()
    };
    assert_eq!(upto(&[], &entries), 0, "the binary log is new");
    assert_eq!(upto(&of(&[(4, &["a"]), (5, &["b"])]), &entries), 5, "it can leave out a table");
    assert_eq!(upto(&of(&[(4, &["a"]), (7, &["a"])]), &entries), 7);
    assert_eq!(upto(&of(&[(3, &["c"])]), &entries), 3, "the log begins behind it");
    // Of sessions that the cluster does not know of.
    assert_eq!(upto(&of(&[(4, &["a"]), (7, &["c"])]), &entries), 4, "of another table");
    assert_eq!(upto(&of(&[(4, &["a"]), (6, &["a"]), (900, &["a"])]), &entries), 4, "the log has none with the number");
    assert_eq!(upto(&of(&[(5, &["a"]), (2, &["a"])]), &entries), 5, "the log begins behind the number");
}

#[test]
fn the_last_fragment_does_not_have_all_tables() {
    let entries = [(4, FIRST, rows(&["a"])), (5, WHOLE, rows(&["b"])), (6, LAST, rows(&[]))];
    assert_eq!(upto(&[transaction(5, &["b"]), transaction(6, &["a"])], &entries), 6);
    assert_eq!(upto(&[transaction(4, &["a"])], &entries), 0, "a fragment is not in the binary log by itself");
}

#[test]
fn statements_behind_the_last_transaction_are_compared() {
    let entries = [
        (2, ISOLATION, statement("CREATE TABLE a")),
        (3, WHOLE, rows(&["a"])),
        (4, ISOLATION, statement("TRUNCATE a")),
        (5, ISOLATION, statement("fails everywhere")),
        (6, ISOLATION, statement("TRUNCATE a")),
        (7, WHOLE, rows(&["a"])),
        (8, ISOLATION, statement("TRUNCATE a")),
    ];
    let three = || transaction(3, &["a"]);
    assert_eq!(upto(&[ddl("CREATE TABLE a")], &entries), 2);
    assert_eq!(upto(&[ddl("CREATE TABLE a"), three()], &entries), 3);
    assert_eq!(upto(&[three(), ddl("TRUNCATE a")], &entries), 4);
    assert_eq!(upto(&[three(), ddl("TRUNCATE a"), ddl("of another session"), ddl("TRUNCATE a")], &entries), 6);
    let six = [three(), ddl("TRUNCATE a"), ddl("TRUNCATE a"), transaction(7, &["a"])];
    assert_eq!(upto(&six, &entries), 7);
    let in_its_words = [three(), ddl("TRUNCATE `a` /* generated by server */")];
    assert_eq!(upto(&in_its_words, &entries), 4, "the server has its own words for some statements");
    let compressed = vec![gtid(true), (kind::QUERY_COMPRESSED, query("TRUNCATE a").1)];
    assert_eq!(upto(&[three(), compressed], &entries), 4);
}

/// The same events, at that time.
fn at(time: u32, events: Vec<u8>) -> Vec<u8> {
    let mut events = events;
    let mut start = 0;
    while start < events.len() {
        let length = Head::of(events[start..].first_chunk().unwrap()).length;
        events[start..start + 4].copy_from_slice(&time.to_le_bytes());
        start += length;
    }
    events
}

#[test]
fn a_statement_that_the_log_lacks_is_not_a_later_one_with_the_same_text() {
    // The transaction at seqno 3 and the statement at seqno 4 are purged.
    let entries =
        [(5, ISOLATION, at(50, statement("CREATE TABLE b"))), (6, ISOLATION, at(60, statement("TRUNCATE a")))];
    let upto = |statements: &[(u32, &str)]| {
        let description = binary_log(&transaction(3, &["a"]), false);
        let statements = statements.iter().flat_map(|(time, text)| at(*time, data(&ddl(text))));
        let found = groups(&[description, statements.collect()].concat());
        assert!(found.len() > 1, "{found:?}");
        let mut comparison = Comparison::new(&found);
        entries.iter().for_each(|(seqno, flags, data)| comparison.add(*seqno, &head(*flags), data));
        comparison.logged_upto()
    };
    assert_eq!(upto(&[(40, "TRUNCATE a")]), 3, "the one at seqno 4");
    assert_eq!(upto(&[(40, "TRUNCATE a"), (50, "CREATE TABLE b")]), 5);
    assert_eq!(upto(&[(40, "TRUNCATE a"), (50, "CREATE TABLE b"), (60, "TRUNCATE a")]), 6);
    assert_eq!(upto(&[(60, "TRUNCATE a")]), 6);
}

#[test]
fn no_bytes_make_a_panic() {
    let whole = binary_log(&[transaction(4, &["a"]), ddl("CREATE TABLE t")].concat(), false);
    run("damaged binary logs", 2_000, |seed| {
        let mut rng = Rng::new(seed);
        let mut bytes = whole.clone();
        for _ in 0..rng.between(1, 4) {
            let at = rng.between(4, bytes.len() as u64 - 1) as usize;
            bytes[at] = rng.next() as u8;
        }
        if let Ok(groups) = read_from(&bytes[..]) {
            let groups: Vec<Group> = groups.into();
            let mut comparison = Comparison::new(&groups);
            for flags in [WHOLE, ISOLATION, LAST] {
                comparison.add(4, &head(flags), &bytes[4..]);
            }
            comparison.logged_upto();
        }
        1
    });
}
