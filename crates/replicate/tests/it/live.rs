//! A private server as the source: what its files and its connection say is what the server itself says of its log.

use hortator_mysql::{BinlogRequest, BinlogStart, BinlogStream};
use hortator_replicate::binlog::{Content, Event, EventKind, EventReader};
use hortator_replicate::transaction::{Assembler, End, LogPosition, Transaction};
use hortator_sandbox::Temporary;

use crate::source::{files, read_file, run, source, texts};

/// Rows of all forms, statements, values that statements need, definitions, large rows, tables of an engine that cannot roll
/// back.
const STATEMENTS: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(200), j JSON, b LONGBLOB) ENGINE=InnoDB",
    "CREATE TABLE d.m (id INT PRIMARY KEY, v VARCHAR(200)) ENGINE=MyISAM",
    "INSERT INTO d.t (v, b) VALUES ('one', REPEAT('x', 3000)), ('two', NULL)",
    "BEGIN",
    "INSERT INTO d.t (v) VALUES (REPEAT('lorem ipsum ', 15))",
    "UPDATE d.t SET v = CONCAT(v, '!'), j = '{\"a\": 1}' WHERE id < 3",
    "DELETE FROM d.t WHERE id = 2",
    "COMMIT",
    "INSERT INTO d.m VALUES (1, 'in no transaction')",
    "BEGIN",
    "INSERT INTO d.m VALUES (2, 'stays')",
    "INSERT INTO d.t (v) VALUES ('goes')",
    "ROLLBACK",
    "SET SESSION binlog_format = 'STATEMENT'",
    "SET @value = 'of a variable', rand_seed1 = 7, rand_seed2 = 11",
    "INSERT INTO d.t (v) VALUES (@value), (RAND())",
    "BEGIN",
    "INSERT INTO d.t (v) VALUES ('goes')",
    "INSERT INTO d.m VALUES (3, 'stays')",
    "ROLLBACK",
    "SET SESSION binlog_format = 'ROW'",
    "CREATE TABLE d.c AS SELECT * FROM d.t",
    "INSERT INTO d.t (b) VALUES (REPEAT('0123456789abcdef', 200000))",
    "ALTER TABLE d.t ADD COLUMN n INT DEFAULT 7",
    "SET SESSION binlog_row_image = 'MINIMAL'",
    "UPDATE d.t SET n = 8 WHERE id = 1",
    "DROP TABLE d.c",
    "FLUSH BINARY LOGS",
    "INSERT INTO d.t (v) VALUES ('in the next file')",
];

/// All events that a source sends without waiting.
fn stream(source: &Temporary, start: BinlogStart) -> Vec<Event> {
    let request = BinlogRequest { server_id: 99, start, waits: false, heartbeat_ms: 0 };
    let mut stream = BinlogStream::open(source.node(0).connect().unwrap(), &request).unwrap();
    let mut reader = EventReader::default();
    let mut events = Vec::new();
    while let Some(bytes) = stream.next_event().unwrap() {
        events.push(reader.read(bytes).unwrap());
    }
    events
}

fn transactions(events: Vec<Event>, start: LogPosition) -> (Vec<Transaction>, Assembler) {
    let mut assembler = Assembler::new(start);
    let found = events.into_iter().filter_map(|event| assembler.take(event).unwrap()).collect();
    (found, assembler)
}

fn of_file(bytes: &[&Event]) -> Vec<Vec<u8>> {
    bytes.iter().map(|event| event.bytes.clone()).collect()
}

/// Files, stream and the server's own listing agree; transactions have the server's GTIDs and positions.
fn check(settings: &[(&str, &str)]) {
    let source = source(settings);
    let mut connection = source.node(0).connect().unwrap();
    run(&mut connection, STATEMENTS);
    let files = files(&mut connection);
    assert!(files.len() >= 2, "{files:?}");
    let from_files: Vec<Vec<Event>> =
        files.iter().map(|file| read_file(&source.node(0).data_dir().join(file))).collect();

    for (file, events) in files.iter().zip(&from_files) {
        let mut listed = texts(&mut connection, &format!("SHOW BINLOG EVENTS IN '{file}'"));
        listed.truncate(events.len());
        let mut position = 4;
        let found: Vec<Vec<String>> = events
            .iter()
            .map(|event| {
                let row = [position.to_string(), event.header.kind.to_string(), event.header.server_id.to_string()];
                position += u64::from(event.header.length_bytes);
                row.to_vec()
            })
            .collect();
        let expected: Vec<Vec<String>> =
            listed.into_iter().map(|row| vec![row[1].clone(), row[2].clone(), row[3].clone()]).collect();
        assert_eq!(found, expected, "{file}");
    }

    let start = BinlogStart::Position { file: files[0].clone().into_bytes(), position: 4 };
    let streamed = stream(&source, start);
    let sent: Vec<&Event> = streamed.iter().filter(|event| !event.header.is_artificial()).collect();
    let written: Vec<&Event> = from_files.iter().flatten().collect();
    // The mark that a file is in use is in the format description only, and not in what is sent; a server writes how far its
    // engines are at any time; and the statements of rows are in the files only.
    let is_data = |event: &&&Event| {
        let is_for_others = [EventKind::BINLOG_CHECKPOINT, EventKind::ANNOTATE_ROWS].contains(&event.header.kind);
        !matches!(event.content, Content::Format(_)) && !is_for_others
    };
    let sent: Vec<&Event> = sent.iter().filter(is_data).copied().collect();
    let written: Vec<&Event> = written.iter().filter(is_data).copied().collect();
    assert_eq!(of_file(&sent), of_file(&written));
    assert!(streamed.iter().all(|event| event.header.kind != EventKind::ANNOTATE_ROWS), "nobody reads them");

    let (found, assembler) = transactions(streamed, LogPosition { file: files[0].clone().into_bytes(), position: 4 });
    assert!(!assembler.is_within());
    let listed = texts(&mut connection, &format!("SHOW BINLOG EVENTS IN '{}'", files[files.len() - 1]));
    let ends = |row: &Vec<String>| row[4] == end_of(&found).position.to_string() && row[2] == "Xid";
    assert!(listed.iter().any(ends), "{listed:?} {:?}", end_of(&found));
    assert_eq!(end_of(&found).file, files[files.len() - 1].as_bytes());
    let gtids: Vec<String> = found.iter().filter_map(|one| one.gtid).map(|gtid| gtid.gtid.to_string()).collect();
    let expected: Vec<String> = (1..=found.len()).map(|number| format!("0-1-{number}")).collect();
    assert_eq!(gtids, expected);
    assert_eq!(texts(&mut connection, "SELECT @@gtid_binlog_pos")[0][0], *gtids.last().unwrap());
    assert!(found.iter().any(|one| one.end == End::Rollback), "MyISAM's row in a transaction that was rolled back");
    assert!(found.iter().any(|one| one.end == End::ByItself && one.gtid.is_some_and(|gtid| gtid.is_ddl())));

    // From each transaction on, by GTID and by position, comes what is behind it.
    for (index, one) in found.iter().enumerate() {
        let behind = BinlogStart::MariaDbGtid(one.gtid.unwrap().gtid.to_string());
        let at = BinlogStart::Position {
            file: one.position.file.clone(),
            position: u32::try_from(one.position.position).unwrap(),
        };
        for start in [behind, at] {
            let (rest, assembler) = transactions(stream(&source, start.clone()), one.position.clone());
            let rest: Vec<_> = rest
                .iter()
                .map(|one| (one.gtid.map(|gtid| gtid.gtid), one.position.clone(), one.events.len()))
                .collect();
            let expected: Vec<_> = found[index + 1..]
                .iter()
                .map(|one| (one.gtid.map(|gtid| gtid.gtid), one.position.clone(), one.events.len()))
                .collect();
            assert_eq!(rest, expected, "behind {start:?}");
            assert!(!assembler.is_within(), "behind {start:?}");
        }
    }
}

fn end_of(found: &[Transaction]) -> &LogPosition {
    &found.last().expect("the source has run statements").position
}

#[test]
fn a_source_with_checksums() {
    check(&[("binlog_checksum", "CRC32")]);
}

#[test]
fn a_source_without_checksums_that_compresses() {
    check(&[("binlog_checksum", "NONE"), ("log_bin_compress", "ON"), ("log_bin_compress_min_len", "10")]);
}

#[test]
fn a_source_without_annotations_that_writes_small_images() {
    check(&[("binlog_annotate_row_events", "OFF"), ("binlog_row_image", "NOBLOB")]);
}

#[test]
fn starts_that_are_not_there() {
    let source = source(&[]);
    let mut connection = source.node(0).connect().unwrap();
    run(&mut connection, STATEMENTS);
    let open = |start: BinlogStart| {
        let request = BinlogRequest { server_id: 99, start, waits: false, heartbeat_ms: 0 };
        let mut stream = BinlogStream::open(source.node(0).connect().unwrap(), &request).unwrap();
        loop {
            match stream.next_event() {
                Ok(Some(_)) => {}
                Ok(None) => return "the end".to_owned(),
                Err(error) => return error.to_string(),
            }
        }
    };
    let file = |file: &str, position| BinlogStart::Position { file: file.into(), position };
    assert!(open(file("bin.000099", 4)).contains("Could not find first log file name"));
    assert!(open(file("bin.000001", 1 << 30)).contains("impossible position"));
    assert!(open(BinlogStart::MariaDbGtid("0-1-1000".to_owned())).contains("0-1-1000"));
    let last = files(&mut connection).pop().unwrap();
    connection.execute(format!("PURGE BINARY LOGS TO '{last}'").as_bytes()).unwrap();
    assert!(open(file("bin.000001", 4)).contains("Could not find first log file name"));
    assert!(open(BinlogStart::MariaDbGtid("0-1-1".to_owned())).contains("purged"));
}

#[test]
fn a_stream_that_waits_gets_heartbeats_and_what_comes() {
    let source = source(&[]);
    let mut connection = source.node(0).connect().unwrap();
    connection.execute(b"CREATE DATABASE d").unwrap();
    let request = BinlogRequest {
        server_id: 99,
        start: BinlogStart::MariaDbGtid("0-1-1".to_owned()),
        waits: true,
        heartbeat_ms: 100,
    };
    let mut stream = BinlogStream::open(source.node(0).connect().unwrap(), &request).unwrap();
    let mut reader = EventReader::default();
    let mut next = || reader.read(stream.next_event().unwrap().expect("the stream waits")).unwrap();
    while !next().header.kind.is_heartbeat() {}
    connection.execute(b"DROP DATABASE d").unwrap();
    loop {
        if let Content::Query(query) = next().content {
            assert_eq!(query.text, b"DROP DATABASE d");
            return;
        }
    }
}
