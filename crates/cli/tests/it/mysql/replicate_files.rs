//! `run --from-files` with the log of a MySQL server: by GTIDs, tagged ones too; to a place; files that are not whole.

use std::fs::{self, OpenOptions};
use std::path::PathBuf;
use std::process::Stdio;

use hortator_replicate::binlog::{BinlogFile, EventHeader};
use tempfile::TempDir;

use super::replicate::{gtid_executed, pair, recorded};
use crate::replicate::fan_in::{Agent, FanIn, run, texts};

/// A MySQL source with the table `d.t`, copies of its files, and a target.
struct Files {
    fan_in: FanIn,
    folder: TempDir,
    /// Of the source.
    uuid: String,
}

impl Files {
    fn new() -> Files {
        let fan_in = pair(&[]);
        run(&fan_in.sources[0], &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v JSON)"]);
        let uuid = texts(&fan_in.sources[0], "SELECT @@server_uuid").concat().concat();
        let mut files = Files { fan_in, folder: tempfile::tempdir_in("/tmp").unwrap(), uuid };
        files.start_at("binlog.000001:4");
        files
    }

    /// A configuration without a server. `UUID` stands for that of the source, here and below.
    fn start_at(&mut self, start: &str) {
        let start = start.replace("UUID", &self.uuid);
        let text = format!("{}[[source]]\nname = \"s1\"\nstart = \"{start}\"\n", self.fan_in.target_table());
        self.fan_in.write(&text);
    }

    /// Writes the row `id`, one second after the one before. Even ones have tagged GTIDs.
    fn insert(&self, id: u32) {
        run(
            &self.fan_in.sources[0],
            &[
                &format!("SET timestamp = {}", 1_700_000_000 + id),
                if id.is_multiple_of(2) { "SET gtid_next = 'AUTOMATIC:tag'" } else { "SET gtid_next = 'AUTOMATIC'" },
                "SET SESSION binlog_transaction_compression = ON",
                &format!("INSERT INTO d.t VALUES ({id}, '[1]')"),
            ],
        );
    }

    /// Rows 1 to 6, in files of two each. The GTIDs of the rows: 3, tag:1, 4, tag:2, 5, tag:3.
    fn with_six_rows() -> Files {
        let files = Files::new();
        for id in 1..=6 {
            files.insert(id);
            if id.is_multiple_of(2) && id < 6 {
                run(&files.fan_in.sources[0], &["FLUSH BINARY LOGS"]);
            }
        }
        files.copy();
        files
    }

    fn copy(&self) {
        for entry in fs::read_dir(self.fan_in.sources[0].node(0).data_dir()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("binlog.") && !name.ends_with(".index") {
                fs::copy(&path, self.path(&name)).unwrap();
            }
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A target without anything, with the files as they are on the source.
    fn reset(&self) {
        self.copy();
        run(&self.fan_in.target, &["DROP DATABASE IF EXISTS d", "DROP DATABASE IF EXISTS hortator"]);
    }

    /// A target with the table and no row.
    fn reset_to_table(&self) {
        self.reset();
        run(&self.fan_in.target, &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v JSON)"]);
    }

    /// A run that ends with this status, says this, and leaves these rows.
    fn check(&self, until: &str, status: i32, said: &str, ids: &str) {
        let until =
            if until.is_empty() { String::new() } else { format!("--until {}", until.replace("UUID", &self.uuid)) };
        let (shown, code) = self.fan_in.says(&format!("run --from-files {} {until}", self.folder.path().display()));
        let said = said.replace("UUID", &self.uuid);
        assert!(shown.contains(&said) && code == Some(status), "{until}: expected {status} `{said}`: {code:?} {shown}");
        assert_eq!(self.ids(), ids, "{until}: {shown}");
    }

    fn ids(&self) -> String {
        if texts(&self.fan_in.target, "SHOW TABLES FROM d").is_empty() {
            return "none".to_owned();
        }
        texts(&self.fan_in.target, "SELECT id FROM d.t ORDER BY id").concat().join(" ")
    }

    fn recorded(&self) -> String {
        recorded(&self.fan_in).replace(&self.uuid, "UUID")
    }

    /// Where the last event of a type begins in a file.
    fn last(&self, name: &str, kind: &str) -> u64 {
        let mut file = BinlogFile::open(&self.path(name)).unwrap();
        let mut found = None;
        loop {
            let position = file.position();
            let Ok(Some(bytes)) = file.next_event() else { return found.unwrap_or_else(|| panic!("no {kind}")) };
            if EventHeader::read(&bytes).unwrap().kind.to_string() == kind {
                found = Some(position);
            }
        }
    }

    fn cut(&self, name: &str, length: u64) {
        OpenOptions::new().write(true).open(self.path(name)).unwrap().set_len(length).unwrap();
    }
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn files_of_mysql_to_a_place() {
    let files = Files::with_six_rows();
    // What is not there, before anything is applied.
    run(&files.fan_in.target, &["CREATE DATABASE d"]);
    files.check("UUID:99", 1, "GTID UUID:99 is not in the files, which end at binlog.000003:", "none");
    files.check("UUID:tag:9", 1, "GTID UUID:tag:9 is not in the files", "none");
    files.check("0-1-100", 1, "GTID 0-1-100 is not in the files", "none");
    files.check("binlog.000003:99999", 1, "is not in the files", "none");
    run(&files.fan_in.target, &["DROP DATABASE d"]);

    files.check("UUID:3", 0, "UUID:3 is reached", "1");
    assert_eq!(files.recorded(), "UUID:1-3");
    // Again: it is there already.
    files.check("UUID:3", 0, "UUID:3 is reached", "1");
    files.check("UUID:1", 1, "the target is past UUID:1 already: it has this source up to binlog.000001:", "1");
    files.check("UUID:tag:2", 0, "is reached", "1 2 3 4");
    assert_eq!(files.recorded(), "UUID:1-4:tag:1-2");
    files.check("UUID:tag:1", 1, "the target is past", "1 2 3 4");
    let gtid = files.last("binlog.000003", "Gtid_tagged");
    // Where a compressed transaction ends, and in the middle of the next one.
    files.check(&format!("binlog.000003:{gtid}"), 0, "is reached", "1 2 3 4 5");
    files.check(&format!("binlog.000003:{}", gtid + 1), 0, "is reached", "1 2 3 4 5");
    files.check(
        "2023-11-14T22:13:26",
        0,
        "is reached: the next transaction begins at 2023-11-14 22:13:26 UTC",
        "1 2 3 4 5",
    );
    files.check("2023-11-14T22:13:23", 1, "the target is past", "1 2 3 4 5");
    files.check("2100-01-01T00:00:00", 1, "the files end before 2100-01-01 00:00:00 UTC", "1 2 3 4 5 6");
    files.check("", 0, "all files are applied", "1 2 3 4 5 6");
    assert_eq!(recorded(&files.fan_in), gtid_executed(&files.fan_in.sources[0]));
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn files_of_mysql_by_gtids() {
    let mut files = Files::with_six_rows();
    // A set with holes: what the target has is passed over.
    files.reset_to_table();
    files.start_at("gtid:UUID:1-3:tag:2");
    files.check("UUID:3", 1, "the target is past UUID:3 already", "");
    files.check("UUID:4", 1, "the target is past UUID:4 already", "2 3");
    files.check("UUID:5", 0, "is reached", "2 3 5");
    assert_eq!(files.recorded(), "UUID:1-5:tag:1-2");
    // The files of the transactions that it has are not needed any more, whatever the recorded file is.
    fs::remove_file(files.path("binlog.000001")).unwrap();
    files.check("UUID:1", 1, "the target is past UUID:1 already", "2 3 5");
    files.check("", 0, "all files are applied", "2 3 5 6");

    for (start, said) in [
        ("gtid:UUID:1-99", "the target has the transactions UUID:6-99 of this source, and the files do not have them"),
        (
            "gtid:00000000-0000-0000-0000-000000000001:1-5",
            "the target has the transactions 00000000-0000-0000-0000-000000000001:1-5 of this source, and the files do not",
        ),
        ("gtid:0-1-100", "the target has this source up to 0-1-100, and binlog.000003 is of 9."),
    ] {
        files.reset_to_table();
        files.start_at(start);
        files.check("", 1, said, "");
    }
    files.reset_to_table();
    fs::remove_file(files.path("binlog.000001")).unwrap();
    files.start_at("gtid:UUID:1-2");
    files.check("", 1, "the files begin too late: binlog.000002 begins behind UUID:1-3:tag:1", "");

    // Transactions that came to the source without its log are in no file.
    files.reset_to_table();
    files.start_at("gtid:UUID:1-4:tag:1,00000000-0000-0000-0000-000000000001:1-5");
    files.check("", 0, "all files are applied", "4 5 6");
}

/// The position that files leave is one that a server goes on from, and the other way round.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn files_of_mysql_and_their_server() {
    let mut files = Files::with_six_rows();
    files.check("UUID:4", 0, "is reached", "1 2 3");
    let socket = files.fan_in.socket(0);
    let server = format!("socket = \"{socket}\"\nuser = \"root\"\nstart = \"now\"\n");
    let table = files.fan_in.target_table();
    files.fan_in.write(&format!("{table}[[source]]\nname = \"s1\"\n{server}"));
    let agent = files.fan_in.start();
    files.fan_in.catch_up();
    assert_eq!(files.ids(), "1 2 3 4 5 6");
    files.fan_in.says("stop");
    assert_eq!(agent.end().1, Some(0));
    files.insert(7);
    files.copy();
    files.start_at("binlog.000001:4");
    files.check("", 0, "all files are applied", "1 2 3 4 5 6 7");

    // A process that is killed in the middle.
    files.reset();
    files.check("UUID:3", 0, "is reached", "1");
    let mut holder = files.fan_in.target.node(0).connect().unwrap();
    holder.execute(b"BEGIN").unwrap();
    holder.execute(b"INSERT INTO d.t VALUES (5, NULL)").unwrap();
    let mut command = files.fan_in.command("run");
    command.arg("--from-files").arg(files.folder.path()).stdout(Stdio::null()).stderr(Stdio::piped());
    let agent = Agent(command.spawn().unwrap());
    files.fan_in.wait_until("the row", |shown| shown.contains("s1: waits for "));
    drop(agent);
    holder.execute(b"ROLLBACK").unwrap();
    files.check("", 0, "all files are applied", "1 2 3 4 5 6 7");
    assert_eq!(recorded(&files.fan_in), gtid_executed(&files.fan_in.sources[0]));
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn files_of_mysql_that_are_not_whole() {
    let files = Files::with_six_rows();
    fs::remove_file(files.path("binlog.000002")).unwrap();
    files.check("", 1, "binlog.000002 is missing in", "1 2");
    // Another one in its place.
    fs::copy(files.path("binlog.000003"), files.path("binlog.000002")).unwrap();
    files.check(
        "",
        1,
        "binlog.000002 begins behind GTID UUID:4:tag:2, and the files before it end at UUID:1-3:tag:1",
        "1 2",
    );
    files.copy();
    files.check("", 0, "all files are applied", "1 2 3 4 5 6");

    // In the middle of the row: of an event, and between transactions.
    let (gtid, payload) =
        (files.last("binlog.000002", "Gtid_tagged"), files.last("binlog.000002", "Transaction_payload"));
    files.reset();
    files.cut("binlog.000002", payload + 30);
    let said = format!(
        "binlog.000002 is cut off: it ends at position {payload}, in the middle of an event, and the transaction that begins at position {gtid} is not whole"
    );
    files.check("", 1, &said, "1 2 3");
    files.cut("binlog.000002", gtid);
    files.check("", 1, "binlog.000003 begins behind GTID UUID:tag:2, and the files before it end at", "1 2 3");
    files.copy();
    files.check("", 0, "all files are applied", "1 2 3 4 5 6");
    // At the end of a file in use.
    files.reset();
    let payload = files.last("binlog.000003", "Transaction_payload");
    files.cut("binlog.000003", payload + 30);
    files.check("", 0, "is not whole, and is not applied", "1 2 3 4 5");
    files.copy();
    files.check("", 0, "all files are applied", "1 2 3 4 5 6");

    // Encrypted: what MySQL writes then begins with these bytes.
    files.reset_to_table();
    fs::write(files.path("binlog.000001"), [b"\xfdbin", &[0; 508][..]].concat()).unwrap();
    files.check("", 1, "is an encrypted log of MySQL: read it from the server, which decrypts it", "");
}

/// Without GTIDs, file and position count.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn files_of_mysql_without_gtids() {
    let fan_in = pair(&[("gtid_mode", "OFF"), ("enforce_gtid_consistency", "OFF")]);
    run(
        &fan_in.sources[0],
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.t (id INT PRIMARY KEY)",
            "INSERT INTO d.t VALUES (1)",
            "FLUSH BINARY LOGS",
        ],
    );
    let mut files = Files { fan_in, folder: tempfile::tempdir_in("/tmp").unwrap(), uuid: "none".to_owned() };
    files.start_at("binlog.000001:4");
    files.copy();
    files.check("", 0, "all files are applied", "1");
    run(&files.fan_in.sources[0], &["INSERT INTO d.t VALUES (2)"]);
    files.copy();
    files.check("", 0, "all files are applied", "1 2");
    assert_eq!(files.recorded(), "");
}
