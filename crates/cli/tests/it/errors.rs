//! Loads that cannot go through: each ends in one clear message, with the right status, and never with a password in it.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::programs::{Outcome, Running, hortator, run};
use crate::servers::{DATABASE, Server, pair};

const PASSWORD: &str = "open-sesame-4711";

/// `hortator load` as root into [`DATABASE`] of a server.
pub fn load_into(server: &Server, arguments: &[&str]) -> Command {
    let mut command = hortator("load");
    command.arg("--no-defaults").arg("-S").arg(server.socket()).args(["-u", "root", "-D", DATABASE]).args(arguments);
    command.env_remove("MYSQL_PWD").stdin(Stdio::null());
    command
}

/// A folder with one dump in it.
pub fn dump_file(name: &str, text: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    (folder, path)
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a temporary path is UTF-8")
}

/// The first line must tell all that is asked for; the rest is the summary.
pub fn assert_tells(outcome: &Outcome, status: i32, words: &[&str]) {
    let messages = &outcome.messages;
    assert_eq!(outcome.status, Some(status), "{messages}");
    for word in words {
        assert!(messages.contains(word), "`{word}` is not told: {messages}");
    }
    assert!(!messages.contains("panicked"), "{messages}");
    assert!(!messages.contains(PASSWORD), "the password is told: {messages}");
}

#[test]
fn a_server_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("no socket");
    let mut command = hortator("load");
    command.args(["--no-defaults", "-u", "root", "-S", path(&socket)]).stdin(Stdio::null());
    assert_tells(&run(command), 1, &["cannot connect", path(&socket)]);

    // Bound and let go: nobody listens there.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut command = hortator("load");
    command.args(["--no-defaults", "-u", "root", "-h", "127.0.0.1", "-P", &port]).stdin(Stdio::null());
    assert_tells(&run(command), 1, &["cannot connect", &format!("127.0.0.1:{port}")]);
}

#[test]
fn a_wrong_password() {
    let pair = pair();
    let mut root = pair.hortator.connect();
    root.execute(b"DROP USER IF EXISTS visitor@localhost").unwrap();
    root.execute(b"CREATE USER visitor@localhost IDENTIFIED BY 'something else'").unwrap();
    for password in [format!("-p{PASSWORD}"), format!("--password={PASSWORD}")] {
        let mut command = hortator("load");
        command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket()).args(["-u", "visitor", &password]);
        assert_tells(&run(command), 1, &["1045", "visitor"]);
    }
    root.execute(b"DROP USER visitor@localhost").unwrap();
}

#[test]
fn a_database_that_is_not_there() {
    let pair = pair();
    let mut command = hortator("load");
    command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket()).args(["-u", "root", "-D", "nowhere"]);
    assert_tells(&run(command), 1, &["1049", "nowhere"]);
}

#[test]
fn too_few_connections_for_all_workers() {
    let pair = pair();
    pair.hortator.reset();
    let mut root = pair.hortator.connect();
    root.execute(b"DROP USER IF EXISTS limited@localhost").unwrap();
    root.execute(b"CREATE USER limited@localhost WITH MAX_USER_CONNECTIONS 7").unwrap();
    root.execute(b"GRANT ALL ON *.* TO limited@localhost").unwrap();
    let (_folder, dump) = dump_file("dump.sql", b"CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n");
    let load = |threads| {
        let mut command = hortator("load");
        command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket()).args(["-u", "limited", "-D", DATABASE]);
        command.args(["--threads", threads, path(&dump)]).env_remove("MYSQL_PWD");
        run(command)
    };
    // All connect before the first chunk, so that none has run.
    assert_tells(&load("12"), 1, &["worker ", " of 12 cannot connect", "max_user_connections", "--threads"]);
    assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty(), "a statement has run");
    assert!(pair.hortator.rows_of_case("SHOW DATABASES LIKE 'hortator'").is_empty(), "checkpoints are left");
    let ended = "SELECT COUNT(*) = 0 FROM information_schema.PROCESSLIST WHERE USER = 'limited'";
    pair.hortator.wait_until(ended);
    assert_tells(&load("2"), 0, &[]);
    root.execute(b"DROP USER limited@localhost").unwrap();
}

#[test]
fn workers_connect_when_there_is_work_for_them() {
    let pair = pair();
    pair.hortator.reset();
    let mut root = pair.hortator.connect();
    root.execute(b"DROP USER IF EXISTS limited@localhost").unwrap();
    root.execute(b"CREATE USER limited@localhost WITH MAX_USER_CONNECTIONS 7").unwrap();
    root.execute(b"GRANT ALL ON *.* TO limited@localhost").unwrap();
    let load = |dump: &Path, options: &[&str]| {
        // The server may still be ending the sessions of the load before.
        let others = "SELECT COUNT(*) = 0 FROM information_schema.PROCESSLIST WHERE USER = 'limited'";
        pair.hortator.wait_until(others);
        let mut command = hortator("load");
        command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket()).args(["-u", "limited", "-D", DATABASE]);
        command.args(options).arg(dump).env_remove("MYSQL_PWD");
        run(command)
    };
    let case = |query: &str| pair.hortator.rows_of_case(query);
    // All of it is the main session's: no worker has to connect.
    let text = "SET @id = 1;\nCREATE VIEW first AS SELECT 1 AS id;\nCREATE TEMPORARY TABLE t (id INT);\n\
                INSERT INTO t VALUES (1);\n";
    let (_folder, dump) = dump_file("serial.sql", text.as_bytes());
    assert_tells(&load(&dump, &["--threads", "12"]), 0, &[]);

    // A plan needs no more than two.
    root.execute(b"ALTER USER limited@localhost WITH MAX_USER_CONNECTIONS 2").unwrap();
    assert_tells(&load(&dump, &["--plan"]), 0, &[]);
    root.execute(b"ALTER USER limited@localhost WITH MAX_USER_CONNECTIONS 7").unwrap();

    // What ran before the first chunk is done and on record, and the same load goes on from there.
    let text = "CREATE VIEW before_it AS SELECT 1 AS id;\nDROP VIEW before_it;\nCREATE VIEW before_it AS SELECT 2 AS id;\n\
                CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n";
    let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
    assert_tells(&load(&dump, &["--threads", "12"]), 1, &["worker ", " of 12 cannot connect", "--resume"]);
    assert_eq!(case("SELECT id FROM before_it"), [["2"]]);
    assert!(case("SHOW TABLES LIKE 't'").is_empty(), "a chunk has run");
    assert_tells(&load(&dump, &["--threads", "2", "--resume"]), 0, &[]);
    assert_eq!(case("SELECT id FROM t"), [["1"]]);
    root.execute(b"DROP USER limited@localhost").unwrap();
}

#[test]
fn a_checkpoint_schema_with_another_table() {
    let pair = pair();
    let server = &pair.hortator;
    server.reset();
    let mut root = server.connect();
    root.execute(b"CREATE DATABASE hortator").unwrap();
    root.execute(b"CREATE TABLE hortator.chunks (id INT)").unwrap();
    let (_folder, dump) = dump_file("dump.sql", b"CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n");
    let words = ["`hortator`", "`chunks` has other columns", "--checkpoint-schema"];
    assert_tells(&run(load_into(server, &["--checkpoint-schema", "hortator", path(&dump)])), 1, &words);
    // What another version has recorded there is not known: neither that there is nothing, nor that there is something.
    for asked in
        [&["--resume", path(&dump)][..], &["--resume=17", path(&dump)], &["--status"], &["--discard-checkpoint=17"]]
    {
        assert_tells(&run(load_into(server, asked)), 1, &words);
    }
    assert!(server.rows_of_case("SHOW TABLES").is_empty(), "a statement has run");
    assert_tells(&run(load_into(server, &[path(&dump)])), 0, &words);
    assert_eq!(server.rows_of_case("SELECT id FROM t"), [["1"]]);
    root.execute(b"DROP DATABASE hortator").unwrap();
}

#[test]
fn a_password_is_not_in_the_process_list() {
    let pair = pair();
    let mut root = pair.hortator.connect();
    root.execute(b"DROP USER IF EXISTS holder@localhost").unwrap();
    root.execute(format!("CREATE USER holder@localhost IDENTIFIED BY '{PASSWORD}'").as_bytes()).unwrap();
    root.execute(b"GRANT ALL ON *.* TO holder@localhost").unwrap();
    let is_connected = "SELECT COUNT(*) > 0 FROM information_schema.PROCESSLIST WHERE USER = 'holder'";
    for password in [format!("-p{PASSWORD}"), format!("--password={PASSWORD}")] {
        // The server may still be ending the sessions of the load before.
        pair.hortator.wait_until(&is_connected.replace("> 0", "= 0"));
        let mut command = hortator("load");
        command.arg("--no-defaults").arg("-S").arg(pair.hortator.socket()).args(["-u", "holder", &password]);
        let (reader, mut writer) = std::io::pipe().unwrap();
        command.stdin(reader);
        let mut running = Running::start(command);
        writer.write_all(b"SELECT 'it is here';\n").unwrap();
        // It has read its arguments once it is connected.
        pair.hortator.wait_until(is_connected);
        assert!(!running.has_ended());
        let command_line = fs::read(format!("/proc/{}/cmdline", running.pid())).unwrap();
        let command_line = String::from_utf8_lossy(&command_line).into_owned();
        assert!(command_line.contains("holder") && !command_line.contains(PASSWORD), "{command_line}");
        drop(writer);
        assert_tells(&running.finish(), 0, &[]);
    }
    root.execute(b"DROP USER holder@localhost").unwrap();
}

#[test]
fn arguments_that_are_not_understood() {
    for arguments in [&["--frobnicate"][..], &["--threads", "many"], &["--threads"], &["--port", "x"]] {
        let mut command = hortator("load");
        command.args(arguments).stdin(Stdio::null());
        let outcome = run(command);
        // A port may also come from an option file, so it is read where those are.
        let status = if arguments[0] == "--port" { outcome.status.unwrap_or_default() } else { 2 };
        assert!(status == 1 || status == 2);
        assert_tells(&outcome, status, &[arguments[0].trim_start_matches('-')]);
    }
    for help in ["--help", "-?"] {
        let mut command = hortator("load");
        command.arg(help);
        let outcome = run(command);
        assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
        assert!(String::from_utf8_lossy(&outcome.rows).contains("--threads"));
    }
}

#[test]
fn a_file_that_is_not_there() {
    let pair = pair();
    pair.hortator.reset();
    // Also behind others: no statement of theirs has run.
    let (_folder, dump) = dump_file("dump.sql", b"CREATE TABLE t (id INT PRIMARY KEY);\n");
    for dumps in [&["/nowhere/dump.sql"][..], &[path(&dump), "/nowhere/dump.sql"]] {
        let outcome = run(load_into(&pair.hortator, dumps));
        assert_tells(&outcome, 1, &["/nowhere/dump.sql", "No such file"]);
        assert_eq!(outcome.messages.lines().count(), 1, "{}", outcome.messages);
        assert!(pair.hortator.rows_of_case("SHOW TABLES").is_empty());
    }
    // A folder is no dump.
    let folder = tempfile::tempdir().unwrap();
    assert_tells(&run(load_into(&pair.hortator, &[path(folder.path())])), 1, &[path(folder.path())]);
}

#[test]
fn a_broken_dump_is_told_with_its_place() {
    let pair = pair();
    pair.hortator.reset();
    let text =
        b"CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n\n  INSERT INTO t\nVALUES (2), (1);\n";
    let (_folder, dump) = dump_file("broken.sql", text);
    let outcome = run(load_into(&pair.hortator, &[path(&dump)]));
    let place = text.windows(14).rposition(|window| window == b"INSERT INTO t\n").unwrap().to_string();
    let words =
        ["ERROR 1062 (23000)", "line 4", "broken.sql", &place, "INSERT INTO t VALUES (2), (1)", "Duplicate entry '1'"];
    assert_tells(&outcome, 1, &words);

    pair.hortator.reset();
    let outcome = run(load_into(&pair.hortator, &["--json", path(&dump)]));
    let summary: serde_json::Value = serde_json::from_slice(&outcome.rows).expect("the summary is JSON");
    assert_eq!(summary["end"], "failed", "{summary}");
    let failure = &summary["failures"][0];
    assert_eq!((&failure["code"], &failure["line"]), (&1062.into(), &4.into()), "{summary}");
}

#[test]
fn a_compressed_dump_that_is_cut_off() {
    let pair = pair();
    let mut text = b"CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100));\n".to_vec();
    for id in 0..20_000 {
        text.extend(format!("INSERT INTO t VALUES ({id}, 'row {}'), ({}, 'twin');\n", id * 7919, id + 100_000).bytes());
    }
    let (folder, dump) = dump_file("dump.sql", &text);
    for (program, ending) in [("gzip", "gz"), ("xz", "xz"), ("bzip2", "bz2")] {
        let compressed = Command::new(program).args(["-k", path(&dump)]).status();
        // gzip is on every Debian; the others are tried where they are.
        if program != "gzip" && !compressed.as_ref().is_ok_and(std::process::ExitStatus::success) {
            continue;
        }
        assert!(compressed.is_ok_and(|status| status.success()));
        let whole = fs::read(folder.path().join(format!("dump.sql.{ending}"))).unwrap();
        let cut = folder.path().join(format!("cut.{ending}"));
        fs::write(&cut, &whole[..whole.len() * 9 / 10]).unwrap();
        pair.hortator.reset();
        let outcome = run(load_into(&pair.hortator, &[path(&cut)]));
        assert_tells(&outcome, 1, &[path(&cut), "truncated"]);
        let rows =
            pair.hortator.rows_of_case("SELECT COUNT(*) FROM t WHERE id < 100000 UNION ALL SELECT COUNT(*) FROM t");
        let (singles, all): (u64, u64) = (rows[0][0].parse().unwrap(), rows[1][0].parse().unwrap());
        assert!(singles > 0 && all == 2 * singles, "{singles} of {all} rows: a part of a statement was loaded");
    }
}

#[test]
fn what_the_client_would_do_on_this_machine_is_refused() {
    let pair = pair();
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    fs::write(folder.path().join("rows.txt"), "7\n8\n").unwrap();
    let shell = format!("touch {}", path(&mark));
    let sandbox = "/*M!999999\\- enable the sandbox mode */\n";
    for (text, word) in [
        (format!("INSERT INTO t VALUES (1);\n\\! {shell}\n"), "system"),
        (format!("INSERT INTO t VALUES (1);\nsystem {shell}\n"), "system"),
        (format!("{sandbox}INSERT INTO t VALUES (1);\n\\! {shell}\n"), "sandbox"),
        (format!("INSERT INTO t VALUES (1);\ntee {}\n", path(&mark)), "tee"),
        ("INSERT INTO t VALUES (1);\nLOAD DATA LOCAL INFILE 'rows.txt' INTO TABLE t;\n".to_owned(), "rows.txt"),
    ] {
        pair.hortator.reset();
        let dump = folder.path().join("dump.sql");
        fs::write(&dump, format!("CREATE TABLE t (id INT PRIMARY KEY);\n{text}INSERT INTO t VALUES (2);\n")).unwrap();
        let mut command = load_into(&pair.hortator, &["dump.sql"]);
        command.current_dir(folder.path());
        assert_tells(&run(command), 1, &[word]);
        assert!(!mark.exists(), "it was carried out: {text}");
        assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t"), [["1"]], "{text}");
    }
    // With --force, a file that is not sent is one statement that fails.
    pair.hortator.reset();
    let mut command = load_into(&pair.hortator, &["--force", "dump.sql"]);
    command.current_dir(folder.path());
    assert_tells(&run(command), 3, &["rows.txt", "failures: 1"]);
    assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t ORDER BY id"), [["1"], ["2"]]);
}

/// The client can send nothing after COMMIT RELEASE either.
#[test]
fn a_dump_that_ends_its_session() {
    let pair = pair();
    for end in [
        "BEGIN;\nINSERT INTO t VALUES (1);\nCOMMIT AND NO CHAIN RELEASE;\n",
        "SET completion_type = 2;\nINSERT INTO t VALUES (1);\nROLLBACK;\n",
    ] {
        pair.hortator.reset();
        let text = format!("CREATE TABLE t (id INT PRIMARY KEY) ENGINE=InnoDB;\n{end}INSERT INTO t VALUES (2);\n");
        let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
        for force in [&[][..], &["--force"]] {
            pair.hortator.reset();
            let outcome = run(load_into(&pair.hortator, &[force, &[path(&dump)]].concat()));
            assert_tells(&outcome, 1, &["line 5 ", "the dump has ended its session", "RELEASE"]);
            assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t"), [["1"]]);
        }
        // The client's own commands need the session too.
        pair.hortator.reset();
        let text = text.replace("INSERT INTO t VALUES (2);", "use hortator_case");
        let (_folder, dump) = dump_file("dump.sql", text.as_bytes());
        assert_tells(&run(load_into(&pair.hortator, &[path(&dump)])), 1, &["line 5", "the dump has ended its session"]);
        // At the end of the dump nothing is missing.
        pair.hortator.reset();
        let (_folder, dump) = dump_file("dump.sql", text.replace("use hortator_case\n", "").as_bytes());
        assert_tells(&run(load_into(&pair.hortator, &[path(&dump)])), 0, &[]);
        assert_eq!(pair.hortator.rows_of_case("SELECT id FROM t"), [["1"]]);
    }
}

#[test]
fn a_statement_that_the_server_does_not_take() {
    let server = Server::start(&[("max_allowed_packet", "1M")]);
    server.reset();
    let mut text = b"CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT);\nINSERT INTO t VALUES (1, 'small');\n".to_vec();
    text.extend(
        [b"INSERT INTO t VALUES (2, '", &b"x".repeat(3 << 20)[..], b"');\nINSERT INTO t VALUES (3, 'x');\n"].concat(),
    );
    let (_folder, dump) = dump_file("large.sql", &text);
    assert_tells(&run(load_into(&server, &[path(&dump)])), 1, &["line 3", "packet"]);
    assert_eq!(server.rows_of_case("SELECT id FROM t"), [["1"]]);
    // What it takes one by one is not sent together where that is more than it takes.
    server.connect().execute(b"SET GLOBAL max_allowed_packet = 1024").unwrap();
    server.reset();
    let sets: String = (0..40).map(|n| format!("SET @a{n} = '{}';\n", "x".repeat(60))).collect();
    let text = format!("CREATE TABLE t (v TEXT);\n{sets}INSERT INTO t VALUES (LENGTH(CONCAT(@a0, @a39)));\n");
    let (_folder, dump) = dump_file("small.sql", text.as_bytes());
    assert_tells(&run(load_into(&server, &[path(&dump)])), 0, &[]);
    assert_eq!(server.rows_of_case("SELECT v FROM t"), [["120"]]);
}

/// A forced load keeps the messages of the first thousand failures, and says that there are more.
#[test]
fn more_failures_than_are_shown() {
    let pair = pair();
    pair.hortator.reset();
    let (_folder, dump) = dump_file("dump.sql", "SET nosuchvariable = 1;\n".repeat(1002).as_bytes());
    let outcome = run(load_into(&pair.hortator, &["--force", path(&dump)]));
    assert_tells(&outcome, 3, &["line 1000 ", "failures: 1,002; 2 of them are not shown"]);
    assert!(!outcome.messages.contains("line 1001 "), "{}", outcome.messages);
}

/// A disk that is full, as far as InnoDB can tell: its one tablespace may not grow any further.
#[test]
fn a_full_disk_under_the_server() {
    let settings = [("innodb_data_file_path", "ibdata1:12M:autoextend:max:24M"), ("innodb_file_per_table", "0")];
    let server = Server::start(&settings);
    server.reset();
    let mut text = b"CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(1000)) ENGINE=InnoDB;\n".to_vec();
    for id in 0..20_000 {
        text.extend(
            format!("INSERT INTO t VALUES ({}, '{}'), ({}, 'y');\n", id * 2, "x".repeat(900), id * 2 + 1).bytes(),
        );
    }
    let (_folder, dump) = dump_file("dump.sql", &text);
    assert_tells(&run(load_into(&server, &[path(&dump)])), 1, &["1114", "is full", "dump.sql", "INSERT INTO t VALUES"]);
    let rows = server.rows_of_case("SELECT COUNT(*), COUNT(*) MOD 2, MAX(id) + 1 = COUNT(*) FROM t");
    assert!(rows[0][0] != "0" && rows[0][1..] == ["0", "1"], "{rows:?}");
}
