//! What only a MySQL server can show: its own dumps, its logins, and statements that MariaDB does not have.
//!
//! `cargo xtask mysql` runs these, and all other tests with MySQL's servers and MySQL's client. Without it they are
//! ignored, as Debian 12 has no MySQL server.

mod replicate;
mod replicate_faults;
mod replicate_files;
mod replicate_logins;
mod replicate_migration;
mod replicate_random;
mod replicate_snapshot;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hortator_sandbox::Builder;

use crate::cases::{check, files};
use crate::compare::assert_same;
use crate::errors::{assert_tells, dump_file, load_into};
use crate::features::check_schema;
use crate::programs::{Contender, hortator, run};
use crate::servers::{DATABASE, Pair, Server, pair};
use crate::target;

const PASSWORD: &str = "open-sesame-4711";

fn testdata(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../load/testdata/mysql").join(folder)
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn dumps_for_mysql() {
    let pair = pair();
    let mut differences = Vec::new();
    for path in files(&testdata("dumps")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        differences
            .extend(check(&pair, &path, &Contender::OURS).into_iter().map(|found| format!("== {name}: {found}")));
    }
    assert_same(&differences);
}

#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn what_mysqldump_writes() {
    let pair = pair();
    let schemas = files(&testdata("schemas"));
    assert_same(&schemas.iter().flat_map(|schema| check_schema(&pair, schema)).collect::<Vec<_>>());
}

/// A dump of a server with GTIDs says which transactions it holds, and keeps its own out of the binary log.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn a_dump_that_sets_gtid_purged() {
    let with_gtids = || target::server().set("log_bin", "binlog").set("gtid_mode", "ON");
    let start = || Server::from(with_gtids().set("enforce_gtid_consistency", "ON"));
    let pair = Pair { client: start(), hortator: start() };
    let source = start();
    source.reset();
    let mut root = source.connect();
    root.select_db(DATABASE.as_bytes()).unwrap();
    root.execute(b"CREATE TABLE t (id INT PRIMARY KEY, v TEXT)").unwrap();
    let rows: Vec<String> = (0..2_000).map(|id| format!("({id},'it''s row {id}')")).collect();
    root.execute(format!("INSERT INTO t VALUES {}", rows.join(",")).as_bytes()).unwrap();
    let mut dumper = target::dumper();
    dumper.arg("--no-defaults").arg("-S").arg(source.socket()).args(["-u", "root", "--databases", DATABASE]);
    let dump = run(dumper).rows;
    let text = String::from_utf8_lossy(&dump).into_owned();
    assert!(text.contains("GTID_PURGED") && text.contains("SQL_LOG_BIN"), "{text:.2000}");

    let executed = |server: &Server| server.connect().fetch(b"SELECT @@GLOBAL.gtid_executed").unwrap();
    pair.client.reset();
    pair.hortator.reset();
    let (_folder, path) = dump_file("dump.sql", &dump);
    let mut client = target::client();
    client.arg("--no-defaults").arg("-S").arg(pair.client.socket()).args(["-u", "root"]);
    client.stdin(std::fs::File::open(&path).unwrap());
    assert_tells(&run(client), 0, &[]);
    let mut load = hortator("load");
    // Checkpoints are transactions of the load's own, which the server would log.
    load.args(["--no-defaults", "--no-checkpoint", "-S"]).arg(pair.hortator.socket()).args(["-u", "root"]).arg(&path);
    assert_tells(&run(load), 0, &["binary statements: 1"]);
    let (client, ours) = (pair.client.state(true), pair.hortator.state(true));
    assert_eq!(client[DATABASE.as_bytes()].differences(&ours[DATABASE.as_bytes()]), Vec::<String>::new());
    assert_eq!(executed(&pair.hortator), executed(&pair.client), "rows were written to the binary log");
    assert_eq!(executed(&pair.hortator), executed(&source));
}

/// A load over the connection that these arguments ask for, as an account of its own.
fn load_as(server: &Server, user: &str, password: &str, arguments: &[&str]) -> Command {
    let mut load = hortator("load");
    load.args(["--no-defaults", "-u", user, &format!("-p{password}"), "-D", DATABASE]).args(arguments);
    if !arguments.contains(&"-h") {
        load.arg("-S").arg(server.socket());
    }
    load.env_remove("MYSQL_PWD").stdin(Stdio::null());
    load
}

/// caching_sha2_password, the only method that a fresh MySQL 9 knows: in full, and from the server's memory.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn logins_over_socket_tls_and_plain_tcp() {
    let server = Server::from(target::server());
    server.reset();
    let mut root = server.connect();
    for host in ["localhost", "127.0.0.1"] {
        root.execute(format!("CREATE USER visitor@'{host}' IDENTIFIED BY '{PASSWORD}'").as_bytes()).unwrap();
        root.execute(format!("GRANT ALL ON *.* TO visitor@'{host}'").as_bytes()).unwrap();
    }
    let port = server.sandbox().node(0).port().to_string();
    let (_folder, dump) =
        dump_file("dump.sql", b"CREATE TABLE IF NOT EXISTS t (id INT); INSERT INTO t VALUES (1),(2);\n");
    let dump = dump.to_str().unwrap();
    let tcp = ["-h", "127.0.0.1", "-P", &port];
    let ways: [&[&str]; 4] = [&[], &["--ssl"], &tcp, &[&tcp[..], &["--skip-ssl"]].concat()];
    for way in ways {
        // Behind this the server remembers no password, and asks for all of it: over plain TCP under its public key.
        root.execute(b"FLUSH PRIVILEGES").unwrap();
        for _from_memory in [false, true] {
            let arguments = [way, &[dump]].concat();
            assert_tells(&run(load_as(&server, "visitor", PASSWORD, &arguments)), 0, &["loaded 2 rows"]);
        }
        let wrong = [way, &[dump]].concat();
        assert_tells(&run(load_as(&server, "visitor", "wrong", &wrong)), 1, &["1045", "visitor"]);
    }
    assert_eq!(server.rows_of_case("SELECT COUNT(*) FROM t"), [["16"]]);
}

/// A chunk whose locks hold up an earlier one gives way at once, as MySQL tells who waits for whom.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn who_waits_for_whom_is_known() {
    let server = Server::from(target::server());
    server.reset();
    let mut waiter = server.connect();
    let mut holder = server.connect();
    for connection in [&mut waiter, &mut holder] {
        connection.select_db(DATABASE.as_bytes()).unwrap();
    }
    holder.execute(b"CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    assert_eq!(hortator_mysql::LockWaits::default().blocks_others(&mut holder).unwrap(), Some(false));
    holder.execute(b"START TRANSACTION").unwrap();
    holder.execute(b"INSERT INTO t VALUES (1)").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || waiter.execute(b"INSERT INTO t VALUES (1)").unwrap_err());
        server.wait_until("SELECT COUNT(*) > 0 FROM performance_schema.data_lock_waits");
        // InnoDB tells what it told before to those who ask again within a tenth of a second.
        let mut looks = (0..50).map(|_| {
            std::thread::sleep(Duration::from_millis(200));
            hortator_mysql::LockWaits::default().blocks_others(&mut holder).unwrap()
        });
        assert!(looks.any(|holds| holds == Some(true)), "that it holds up another is not known");
        holder.execute(b"COMMIT").unwrap();
    });
}

/// A plan tells how rows travel, and what MySQL's settings mean for the load.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn a_plan_for_mysql() {
    let pair = pair();
    pair.hortator.reset();
    let (_folder, dump) = dump_file("dump.sql", b"CREATE TABLE t (id INT PRIMARY KEY);\nINSERT INTO t VALUES (1);\n");
    let outcome = run(load_into(&pair.hortator, &["--plan", dump.to_str().unwrap()]));
    assert_eq!(outcome.status, Some(0), "{}", outcome.messages);
    let shown = String::from_utf8(outcome.rows).unwrap();
    assert!(shown.contains("prepared batches") && shown.contains("COM_STMT_BULK_EXECUTE"), "{shown}");
}

/// The sandbox that all of this runs in.
#[test]
#[ignore = "needs a MySQL server: cargo xtask mysql"]
fn a_named_sandbox_of_mysql() {
    let folder = target::mysql().expect("cargo xtask mysql names it");
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let act = |arguments: &[&str]| {
        let mut command = hortator("sandbox");
        command.args(arguments).arg("--dir").arg(dir.path()).env("HORTATOR_MYSQL", &folder);
        let outcome = run(command);
        assert_eq!(outcome.status, Some(0), "{arguments:?}: {}", outcome.messages);
        String::from_utf8(outcome.rows).unwrap()
    };
    let up = act(&["up", "mysql"]);
    assert!(up.contains("sandbox mysql: mysql, ") && up.contains("/bin/mysql --no-defaults -S "), "{up}");
    act(&["kill", "mysql"]);
    assert!(act(&["list"]).contains("crashed"));
    act(&["start", "mysql"]);
    assert!(act(&["list"]).contains("running"));
    act(&["down", "mysql"]);
    assert!(Builder::mysql(&folder).dir(dir.path()).create("mysql").is_ok(), "the name is free again");
    act(&["down", "--all"]);
}
