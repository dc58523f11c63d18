//! `run --from-files`: the log of a server that is gone, to its end or a place before it.

mod bad;
mod continued;
mod crashes;
mod while_it_runs;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hortator_sandbox::Builder;
use tempfile::TempDir;

use super::fan_in::{Agent, FanIn, run, texts};

/// Longer than a run takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// A server, its log's files in a folder, and another server that they are applied to.
pub struct Recovery {
    pub fan_in: FanIn,
    folder: TempDir,
}

impl Recovery {
    /// The schema `d` with the table `d.t` is there at the start of the log.
    pub fn new(start: &str) -> Recovery {
        Recovery::with(start, &[])
    }

    pub fn with(start: &str, of_source: &[(&str, &str)]) -> Recovery {
        let fan_in = FanIn::with(1, of_source, Builder::standalone().start_temporary().unwrap());
        let mut recovery = Recovery { fan_in, folder: tempfile::tempdir_in("/tmp").unwrap() };
        recovery.start_at(start);
        let statements = ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT) ENGINE=InnoDB"];
        recovery.write(&statements);
        recovery
    }

    /// Writes a configuration without a server: it is gone.
    pub fn start_at(&mut self, start: &str) {
        let text = format!("{}[[source]]\nname = \"s1\"\nstart = \"{start}\"\n", self.fan_in.target_table());
        self.fan_in.write(&text);
    }

    /// Runs statements in one session of the source.
    pub fn write(&self, statements: &[&str]) {
        run(&self.fan_in.sources[0], statements);
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// Copies the files of the source's log, and not its list of them.
    pub fn copy(&self) {
        for entry in fs::read_dir(self.fan_in.sources[0].node(0).data_dir()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("bin.") && !name.ends_with(".index") {
                fs::copy(&path, self.path(&name)).unwrap();
            }
        }
    }

    /// Copies the list of files.
    pub fn copy_index(&self) {
        fs::copy(self.fan_in.sources[0].node(0).data_dir().join("bin.index"), self.path("bin.index")).unwrap();
    }

    /// What a run says, and its exit status.
    pub fn run(&self, arguments: &str) -> (String, Option<i32>) {
        let mut agent = self.spawn(arguments);
        let end = Instant::now() + PATIENCE;
        while agent.0.try_wait().unwrap().is_none() {
            if Instant::now() > end {
                let (shown, _) = self.fan_in.says("status");
                panic!("{arguments}: the run does not end: {shown}");
            }
            thread::sleep(Duration::from_millis(10));
        }
        agent.end()
    }

    /// Starts a run.
    pub fn spawn(&self, arguments: &str) -> Agent {
        let mut command = self.fan_in.command("run");
        command.arg("--from-files").arg(self.folder()).args(arguments.split_whitespace());
        Agent(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// A run that ends with this status, and says this.
    pub fn check(&self, arguments: &str, status: i32, said: &str) {
        let (shown, code) = self.run(arguments);
        assert!(
            shown.contains(said) && code == Some(status),
            "{arguments}: expected {status} `{said}`: {code:?} {shown}"
        );
    }

    /// The ids of `d.t` in the target; nothing while it is not there.
    pub fn ids(&self) -> String {
        if texts(&self.fan_in.target, "SHOW TABLES FROM d").is_empty() {
            return "none".to_owned();
        }
        texts(&self.fan_in.target, "SELECT id FROM d.t ORDER BY id").concat().join(" ")
    }

    /// Where the source's log ends.
    pub fn end(&self) -> String {
        texts(&self.fan_in.sources[0], "SHOW MASTER STATUS")[0][..2].join(":")
    }

    /// The last transaction of the source.
    pub fn gtid(&self) -> String {
        texts(&self.fan_in.sources[0], "SELECT @@gtid_binlog_pos").concat().concat()
    }
}

#[test]
fn all_files_of_a_server() {
    let recovery = Recovery::new("bin.000001:4");
    recovery.write(&[
        "INSERT INTO d.t VALUES (1, 'one')",
        "CREATE TABLE d.m (id INT PRIMARY KEY, v TEXT) ENGINE=MyISAM",
        "INSERT INTO d.m VALUES (1, 'cannot roll back')",
        "SET SESSION binlog_format = STATEMENT",
        "INSERT INTO d.t VALUES (2, CONCAT('statement ', CURRENT_TIMESTAMP()))",
        "SET SESSION binlog_format = ROW",
        "FLUSH BINARY LOGS",
        "FLUSH BINARY LOGS",
        "INSERT INTO d.t SELECT seq, REPEAT('large', 2000) FROM d.seq_10_to_2000",
        "ALTER TABLE d.t ADD COLUMN n INT DEFAULT 7",
    ]);
    recovery.copy();
    // What stands beside the log: MariaDB 11.4 has the first of these for each file.
    for name in ["bin.000001.idx", "bin.state", "bin.000002~", "bin.000001.gz", "shop.sql"] {
        fs::write(recovery.path(name), "no log").unwrap();
    }
    // The last file is in use.
    recovery.check("", 0, "all files are applied; bin.000003 was being written when it was copied");
    recovery.fan_in.assert_equal(&["d"]);
    recovery.check("", 0, &format!("s1: applied up to {} (GTID position {})", recovery.end(), recovery.gtid()));
    recovery.fan_in.assert_equal(&["d"]);

    // What comes later, and an ended log, with the server's list.
    recovery.write(&["UPDATE d.t SET v = 'later' WHERE id > 50", "FLUSH BINARY LOGS", "DELETE FROM d.t WHERE id = 1"]);
    recovery.fan_in.sources[0].node(0).stop().unwrap();
    recovery.copy();
    recovery.copy_index();
    let (shown, code) = recovery.run("--order schema");
    assert!(shown.trim_end().ends_with("all files are applied") && code == Some(0), "{shown}");
    recovery.fan_in.sources[0].node(0).start().unwrap();
    recovery.fan_in.assert_equal(&["d"]);
}

#[test]
fn to_a_place() {
    let recovery = Recovery::new("bin.000001:4");
    let mut ends = Vec::new();
    for id in 1..=6 {
        // One second after the other.
        let statements =
            [format!("SET timestamp = {}", 1_700_000_000 + id), format!("INSERT INTO d.t VALUES ({id}, 'x')")];
        recovery.write(&[&statements[0], &statements[1]]);
        ends.push((recovery.end(), recovery.gtid()));
        if id == 3 {
            recovery.write(&["FLUSH BINARY LOGS"]);
            // The server writes it some time later, with the time of today.
            recovery.fan_in.wait_until("the new file's checkpoint", |_| {
                let events = texts(&recovery.fan_in.sources[0], "SHOW BINLOG EVENTS IN 'bin.000002'");
                events.iter().any(|event| event[2] == "Binlog_checkpoint" && event[5].contains("bin.000002"))
            });
        }
    }
    let before = |place: &str, bytes: i64| {
        let (file, position) = place.split_once(':').unwrap();
        format!("{file}:{}", position.parse::<i64>().unwrap() + bytes)
    };
    recovery.copy();

    // What is not there, before anything is applied.
    let (last, gtid) = ends.last().unwrap();
    for (until, said) in [
        ("0-1-999".to_owned(), format!("GTID 0-1-999 is not in the files, which end at {last} (GTID position {gtid})")),
        (before(last, 1), format!("is not in the files, which end at {last}")),
        ("bin.000003:4".to_owned(), format!("bin.000003:4 is not in the files, which end at {last}")),
        ("other.000001:4".to_owned(), "other.000001:4 is not in the files".to_owned()),
    ] {
        recovery.check(&format!("--until {until}"), 1, &said);
        assert_eq!(texts(&recovery.fan_in.target, "SHOW DATABASES LIKE 'd'").len(), 0, "{until}");
    }
    recovery.check("--until nonsense", 2, "is no place of a log");

    recovery.check(&format!("--until {}", ends[0].1), 0, &format!("{} is reached", ends[0].1));
    assert_eq!(recovery.ids(), "1");
    // Again: it is there already.
    recovery.check(&format!("--until {}", ends[0].1), 0, "is reached");
    recovery.check(&format!("--until {}", ends[0].0), 0, "is reached");
    assert_eq!(recovery.ids(), "1");
    recovery.check(&format!("--until {}", before(&ends[0].0, -1)), 1, "the target is past bin.000001:");
    recovery.check("--until 0-1-1", 1, "the target is past 0-1-1 already");
    recovery.check("--until 2023-11-14T22:13:21", 1, "the target is past 2023-11-14 22:13:21 UTC already");
    // In the middle of a transaction.
    recovery.check(&format!("--until {}", before(&ends[2].0, -1)), 0, "is reached");
    assert_eq!(recovery.ids(), "1 2");
    recovery.check(&format!("--until {}", ends[2].0), 0, "is reached");
    assert_eq!(recovery.ids(), "1 2 3");
    // The beginning of the next file is the same place.
    recovery.check("--until bin.000002:4", 0, "is reached");
    // Those at the time are not applied.
    let until = "--until 2023-11-15T00:13:25+02:00";
    recovery.check(
        until,
        0,
        "2023-11-14 22:13:25 UTC is reached: the next transaction begins at 2023-11-14 22:13:25 UTC",
    );
    assert_eq!(recovery.ids(), "1 2 3 4");
    recovery.check(until, 0, "is reached");
    recovery.check("--until 2100-01-01T00:00:00", 1, "the files end before 2100-01-01 00:00:00 UTC, the time to replay until: their last event is of 2023-11-14 22:13:26 UTC");
    assert_eq!(recovery.ids(), "1 2 3 4 5 6");
}

#[test]
fn gtids_of_several_domains() {
    let mut recovery = Recovery::new("gtid:0-1-1,1-1-1");
    let server = texts(&recovery.fan_in.sources[0], "SELECT @@server_id").concat().concat();
    let insert = |domain: u32, id: u32| {
        recovery.write(&[
            &format!("SET SESSION gtid_domain_id = {domain}"),
            &format!("INSERT INTO d.t VALUES ({id}, 'in domain {domain}')"),
        ]);
    };
    // 0-S-2 is CREATE TABLE.
    for (domain, id) in [(1, 101), (0, 3), (1, 102)] {
        insert(domain, id);
    }
    recovery.write(&["FLUSH BINARY LOGS"]);
    for (domain, id) in [(0, 4), (1, 103), (0, 5), (1, 104)] {
        insert(domain, id);
    }
    recovery.copy();
    run(
        &recovery.fan_in.target,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT) ENGINE=InnoDB"],
    );
    // The target has 3, 4 and 101, and not 102, which is before 4.
    recovery.start_at(&format!("gtid:0-{server}-4,1-{server}-1"));
    recovery.check(&format!("--until 1-{server}-3"), 0, "is reached");
    assert_eq!(recovery.ids(), "102 103");
    recovery.check(&format!("--until 0-{server}-3"), 1, "the target is past");
    recovery.check("", 0, "all files are applied");
    assert_eq!(recovery.ids(), "5 102 103 104");

    // Files that do not have it, or another one in its place.
    for (start, said) in [
        (
            format!("gtid:0-4711-4,1-{server}-4"),
            format!("up to GTID 0-4711-4, and the files do not have that transaction, but 0-{server}-4"),
        ),
        (format!("gtid:0-{server}-99,1-{server}-4"), format!("up to GTID 0-{server}-99, and the files end before it")),
    ] {
        run(&recovery.fan_in.target, &["DELETE FROM hortator.replicate_positions"]);
        recovery.start_at(&start);
        recovery.check("", 1, &said);
    }
    fs::remove_file(recovery.path("bin.000001")).unwrap();
    run(&recovery.fan_in.target, &["DELETE FROM hortator.replicate_positions"]);
    recovery.start_at(&format!("gtid:0-{server}-3,1-{server}-1"));
    recovery.check("", 1, "the files begin too late: bin.000002 begins behind");
}

/// The recipe of the manual, as it stands there.
#[test]
fn the_recipe_of_the_manual() {
    let fan_in = FanIn::new(1, &[]);
    let source = &fan_in.sources[0];
    run(
        source,
        &[
            "CREATE DATABASE shop",
            "CREATE TABLE shop.orders (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(50)) ENGINE=InnoDB",
            "CREATE TABLE shop.items (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB",
            "INSERT INTO shop.orders (v) SELECT seq FROM shop.seq_1_to_100",
        ],
    );
    let manual = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/replicate.md")).unwrap();
    let section = manual.split("## Point-in-time recovery").nth(1).expect("the section");
    let section = section.split("\n## ").next().unwrap();
    // The blocks belong to a list.
    let block = |rest: &str| rest.split("```").next().unwrap().replace("\n   ", "\n");
    let blocks: Vec<String> = section.split("```sh").skip(1).map(block).collect();
    let [dump, copy, restore, find, replay] = &blocks[..] else { panic!("the steps of the recipe: {blocks:?}") };

    let home = tempfile::tempdir_in("/tmp").unwrap();
    let client = |suffix: &str, socket: &Path| format!("[client{suffix}]\nsocket={}\nuser=root\n", socket.display());
    let options = client("", &source.node(0).socket()) + &client("_restored", &fan_in.target.node(0).socket());
    fs::write(home.path().join(".my.cnf"), options).unwrap();
    let program = PathBuf::from(env!("CARGO_BIN_EXE_hortator"));
    let search = format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    // The folders of the manual are in the home of this test.
    let datadir = source.node(0).data_dir().display().to_string();
    let sh = |script: &str| {
        let script = script.replace("/var/lib/mysql", &datadir).replace("/backup", "./backup");
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", &script]).current_dir(home.path());
        let output = command.env("HOME", home.path()).env("PATH", &search).output().unwrap();
        let shown = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{script}: {shown}");
        shown
    };
    fs::create_dir_all(home.path().join("backup/binlogs")).unwrap();
    sh(dump);
    run(
        source,
        &[
            "INSERT INTO shop.orders (v) VALUES ('after the dump')",
            "FLUSH BINARY LOGS",
            "INSERT INTO shop.items VALUES (), ()",
            "UPDATE shop.orders SET v = 'the last good change' WHERE id = 7",
        ],
    );
    let checksums = |server| texts(server, "CHECKSUM TABLE shop.orders, shop.items");
    let good = checksums(source);
    run(source, &["DROP TABLE shop.orders", "INSERT INTO shop.items VALUES ()"]);
    sh(copy);
    // MariaDB 11.4 has one.
    fs::write(home.path().join("backup/binlogs/bin.000001.idx"), "no log").unwrap();
    sh(restore);
    let shown = sh(find);
    let (place, statement) = shown.trim().split_once(' ').expect("one statement");
    assert!(place.starts_with("bin.000002:") && statement.starts_with("DROP TABLE"), "{shown}");
    let (before, _) = replay.split_once("bin.000002:").unwrap();
    let shown = sh(&format!("{before}{place}"));
    assert!(shown.contains("is reached"), "{shown}");
    assert_eq!(checksums(&fan_in.target), good);
}
