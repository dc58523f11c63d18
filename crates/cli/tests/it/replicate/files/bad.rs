//! Files that are missing, cut off, damaged, of another kind or of another log: a message, and what is whole is applied.

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use hortator_replicate::binlog::{BinlogFile, EventHeader};

use super::Recovery;
use crate::replicate::fan_in::{FanIn, run, texts};

/// Three files: rows 1 and 2; 3 and 4; 5 and 6. The last one is in use.
fn three_files() -> Recovery {
    let recovery = Recovery::new("bin.000001:4");
    for id in 1..=6 {
        recovery.write(&[&format!("INSERT INTO d.t VALUES ({id}, 'x')")]);
        if id % 2 == 0 && id < 6 {
            recovery.write(&["FLUSH BINARY LOGS"]);
        }
    }
    recovery.copy();
    recovery
}

/// Where events begin, and the types of them.
fn events(path: &Path) -> Vec<(u64, String)> {
    let mut file = BinlogFile::open(path).unwrap();
    let mut found = Vec::new();
    loop {
        let position = file.position();
        // It may be cut off.
        let Ok(Some(bytes)) = file.next_event() else { return found };
        found.push((position, EventHeader::read(&bytes).unwrap().kind.to_string()));
    }
}

/// Where the last event of a type begins.
pub fn begin_of_last(path: &Path, kind: &str) -> u64 {
    events(path).iter().rev().find(|(_, found)| found == kind).unwrap_or_else(|| panic!("{kind}: {:?}", events(path))).0
}

fn cut(path: &Path, length: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(length).unwrap();
}

/// Each case changes one file of a copy: then the exit status, what is said, and the ids in the target.
#[test]
fn files_that_are_not_whole() {
    let recovery = three_files();
    let (second, third) = (recovery.path("bin.000002"), recovery.path("bin.000003"));
    let reset = || {
        recovery.copy();
        run(&recovery.fan_in.target, &["DROP DATABASE IF EXISTS d", "DROP DATABASE IF EXISTS hortator"]);
    };

    fs::remove_file(&second).unwrap();
    recovery.check("", 1, "bin.000002 is missing in");
    assert_eq!(recovery.ids(), "1 2");
    // It goes on when the file is there.
    recovery.copy();
    recovery.check("", 0, "all files are applied");
    assert_eq!(recovery.ids(), "1 2 3 4 5 6");

    reset();
    fs::remove_file(&third).unwrap();
    recovery.check("", 0, "all files are applied; the log goes on in bin.000003, which the folder does not have");
    reset();
    fs::remove_file(&third).unwrap();
    recovery.copy_index();
    recovery.check("", 1, "bin.000003 is missing in");
    assert_eq!(recovery.ids(), "1 2 3 4");
    fs::remove_file(recovery.path("bin.index")).unwrap();

    // In the middle of the row: of an event, of a transaction, between transactions.
    reset();
    let (rows, xid, gtid) =
        (begin_of_last(&second, "Write_rows_v1"), begin_of_last(&second, "Xid"), begin_of_last(&second, "Gtid"));
    cut(&second, rows + 7);
    let said = format!(
        "bin.000002 is cut off: it ends at position {rows}, in the middle of an event, and the transaction that begins at position {gtid} is not whole"
    );
    recovery.check("", 1, &said);
    assert_eq!(recovery.ids(), "1 2 3");
    // A place before it is not concerned, nor is an empty file behind it.
    reset();
    fs::write(&third, "").unwrap();
    cut(&second, rows + 7);
    let gtid_of_row_2 = texts(&recovery.fan_in.sources[0], "SELECT CONCAT('0-', @@server_id, '-4')").concat().concat();
    recovery.check(&format!("--until {gtid_of_row_2}"), 0, "is reached");
    assert_eq!(recovery.ids(), "1 2");
    reset();
    cut(&second, xid);
    recovery.check("", 1, "in the middle of a transaction");
    assert_eq!(recovery.ids(), "1 2 3");
    reset();
    cut(&second, gtid);
    recovery.check("", 1, "bin.000003 begins behind GTID 0-");
    assert_eq!(recovery.ids(), "1 2 3");

    // At the end of the row: of a file that was closed, and of one that was in use.
    reset();
    fs::remove_file(&third).unwrap();
    cut(&second, xid);
    recovery.check("", 1, "in the middle of a transaction");
    reset();
    fs::remove_file(&third).unwrap();
    cut(&second, gtid);
    recovery.check("", 0, "bin.000002 has no event that ends it, and may have been longer");
    assert_eq!(recovery.ids(), "1 2 3");
}

#[test]
fn the_end_of_a_file_in_use() {
    let recovery = three_files();
    let third = recovery.path("bin.000003");
    let (rows, xid, gtid) =
        (begin_of_last(&third, "Write_rows_v1"), begin_of_last(&third, "Xid"), begin_of_last(&third, "Gtid"));
    for (length, what, end) in [(rows + 7, "an event", rows), (xid, "a transaction", xid)] {
        run(&recovery.fan_in.target, &["DROP DATABASE IF EXISTS d", "DROP DATABASE IF EXISTS hortator"]);
        recovery.copy();
        cut(&third, length);
        let said = format!("bin.000003 ends at {end}, in the middle of {what}");
        recovery.check("", 0, &said);
        recovery.check("", 0, &format!("What begins at bin.000003:{gtid} is not whole, and is not applied"));
        assert_eq!(recovery.ids(), "1 2 3 4 5");
    }
    // The file is longer now.
    recovery.copy();
    recovery.check("", 0, "all files are applied");
    assert_eq!(recovery.ids(), "1 2 3 4 5 6");
}

#[test]
fn damaged_files() {
    let recovery = three_files();
    let second = recovery.path("bin.000002");
    let mut bytes = fs::read(&second).unwrap();
    let rows = usize::try_from(begin_of_last(&second, "Write_rows_v1")).unwrap();
    bytes[rows + 25] ^= 1;
    fs::write(&second, &bytes).unwrap();
    recovery.check("", 1, "bin.000002: Write_rows_v1 that ends at position");
    assert_eq!(recovery.ids(), "1 2 3");
    fs::write(&second, "something else").unwrap();
    recovery.check("--until bin.000002:4", 1, "bin.000002 is no binary log");
    recovery.copy();
    recovery.check("", 0, "all files are applied");
}

#[test]
fn a_file_without_a_transaction_that_it_had() {
    let recovery = three_files();
    let second = recovery.path("bin.000002");
    let bytes = fs::read(&second).unwrap();
    let gtids: Vec<u64> = events(&second).into_iter().filter(|(_, kind)| kind == "Gtid").map(|(at, _)| at).collect();
    let [first, next] = gtids[..] else { panic!("two transactions: {gtids:?}") };
    let range = usize::try_from(first).unwrap()..usize::try_from(next).unwrap();
    fs::write(&second, [&bytes[..range.start], &bytes[range.end..]].concat()).unwrap();
    recovery.check("", 1, "bin.000002: Gtid ends at position");
    recovery.check("", 1, "something is missing before it, or the file is a relay log");
    assert_eq!(recovery.ids(), "1 2");
}

#[test]
fn starts_that_are_not_in_the_files() {
    let mut recovery = three_files();
    let begin = begin_of_last(&recovery.path("bin.000001"), "Write_rows_v1");
    // Behind the last transaction, the server may have noted a checkpoint of its own by the time of the copy.
    let end = fs::metadata(recovery.path("bin.000003")).unwrap().len();
    for (start, said) in [
        ("now".to_owned(), "`start = \"now\"` is for a server".to_owned()),
        ("bin.000009:4".to_owned(), "does not have bin.000009".to_owned()),
        ("other.000001:4".to_owned(), "does not have other.000001".to_owned()),
        ("bin.000001:5".to_owned(), "bin.000001:5 is not between two transactions: an event ends at".to_owned()),
        (format!("bin.000001:{begin}"), "a transaction begins at".to_owned()),
        ("bin.000003:99999".to_owned(), format!("the file ends at {end}")),
    ] {
        recovery.start_at(&start);
        recovery.check("", 1, &said);
        assert_eq!(texts(&recovery.fan_in.target, "SHOW DATABASES LIKE 'd'").len(), 0, "{start}");
    }
    recovery.start_at("gtid:0-1-1");
    fs::write(recovery.path("relay.000001"), "").unwrap();
    recovery.check("", 1, "has files of several logs: bin, relay; copy those of the source to a folder of their own");
    fs::remove_file(recovery.path("relay.000001")).unwrap();

    // Of the command line.
    let folder = recovery.folder().display().to_string();
    let config = fs::read_to_string(recovery.fan_in.file()).unwrap();
    recovery.fan_in.write(&format!("{config}[[source]]\nname = \"s2\"\nstart = \"now\"\n"));
    for (arguments, status, said) in [
        (
            format!("run --from-files {folder}"),
            1,
            "say with --source whose files they are: the configuration has s1, s2",
        ),
        (format!("run --from-files {folder} --source s3"), 1, "there is no source s3: the configuration has s1, s2"),
        (format!("run --from-files {folder}/none --source s1"), 1, "cannot read the folder"),
        ("run --until 0-1-5".to_owned(), 2, "--from-files"),
    ] {
        let (shown, code) = recovery.fan_in.says(&arguments);
        assert!(shown.contains(said) && code == Some(status), "{arguments}: {code:?} {shown}");
    }
    recovery.start_at("bin.000001:4");
    let empty = tempfile::tempdir_in("/tmp").unwrap();
    let (shown, code) = recovery.fan_in.says(&format!("run --from-files {}", empty.path().display()));
    assert!(shown.contains("does not have bin.000001") && code == Some(1), "{shown}");
}

#[test]
fn an_encrypted_log() {
    let keys = tempfile::tempdir_in("/tmp").unwrap();
    let file = keys.path().join("keys");
    fs::write(&file, format!("1;{}\n", "0123456789abcdef".repeat(4))).unwrap();
    let file = file.display().to_string();
    let settings = [
        ("plugin_load_add", "file_key_management"),
        ("file_key_management_filename", file.as_str()),
        ("encrypt_binlog", "ON"),
    ];
    let recovery = Recovery::with("bin.000001:4", &settings);
    recovery.copy();
    for until in ["", "--until 0-1-1", "--until bin.000001:900"] {
        recovery.check(until, 1, "Start_encryption in bin.000001 that ends at position");
        recovery.check(until, 1, "the file is encrypted: read it from the server, which decrypts it");
    }
}

#[test]
fn a_relay_log() {
    let mut fan_in = FanIn::new(1, &[("relay_log", "relay")]);
    run(
        &fan_in.sources[0],
        &[
            "CREATE USER replica@'127.0.0.1' IDENTIFIED BY 'replica'",
            "GRANT REPLICATION SLAVE ON *.* TO replica@'127.0.0.1'",
            "CREATE DATABASE d",
        ],
    );
    let port = fan_in.sources[0].node(0).port();
    let change = format!(
        "CHANGE MASTER TO master_host = '127.0.0.1', master_port = {port}, master_user = 'replica', master_password = \
         'replica'"
    );
    run(&fan_in.target, &["SET GLOBAL server_id = 4711", &change, "START SLAVE IO_THREAD"]);
    let file = fan_in.target.node(0).data_dir().join("relay.000002");
    let end = Instant::now() + Duration::from_secs(60);
    while fs::metadata(&file).map_or(0, |file| file.len()) < 1_000 {
        assert!(Instant::now() < end, "the replica writes no relay log");
        thread::sleep(Duration::from_millis(20));
    }
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    fs::copy(&file, folder.path().join("relay.000002")).unwrap();
    run(&fan_in.target, &["STOP SLAVE"]);
    let config = format!("{}[[source]]\nname = \"s1\"\nstart = \"relay.000002:4\"\n", fan_in.target_table());
    fan_in.write(&config);
    for until in ["", "--until 0-1-1", "--until relay.000002:600"] {
        let (shown, code) = fan_in.says(&format!("run --from-files {} {until}", folder.path().display()));
        assert!(shown.contains("relay.000002 is a relay log") && code == Some(1), "{until}: {shown}");
    }
}
