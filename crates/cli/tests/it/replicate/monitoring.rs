//! What those see who watch an agent: its pages over HTTP, and what its status says of lag and waits.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::fan_in::{Agent, Ends, FanIn, run, texts};
use super::line_of;

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(600);

/// An agent that listens at a port of the system's choice.
fn start_listening(fan_in: &mut FanIn) -> (Agent, SocketAddr) {
    let text = fs::read_to_string(fan_in.file()).unwrap();
    fan_in.write(&format!("[agent]\nlisten = \"127.0.0.1:0\"\n{text}"));
    let mut agent = fan_in.start();
    let line = agent.first_line();
    let address = line.strip_prefix("hortator: answers at http://").and_then(|rest| rest.split('/').next());
    (agent, address.unwrap_or_else(|| panic!("{line}")).parse().unwrap())
}

/// A request without a body: status, head and body of the answer.
fn ask(address: SocketAddr, method: &str, path: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{answer}"));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_else(|| panic!("{head}"));
    (status, head.to_owned(), body.to_owned())
}

/// All samples of a scrape, by name and labels.
fn scrape(address: SocketAddr) -> BTreeMap<String, f64> {
    let (status, _, body) = ask(address, "GET", "/metrics");
    assert_eq!(status, 200, "{body}");
    let lines = body.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            (name.trim_start_matches("hortator_replicate_").to_owned(), value.parse().unwrap())
        })
        .collect()
}

fn of(name: &str) -> String {
    format!("{name}{{source=\"s1\"}}")
}

/// Waits until something is so; it says what it has seen otherwise.
fn eventually(what: &str, mut is_so: impl FnMut() -> Result<(), String>) {
    let end = Instant::now() + PATIENCE;
    while let Err(seen) = is_so() {
        assert!(Instant::now() < end, "waited for {what}: {seen}");
        thread::sleep(Duration::from_millis(50));
    }
}

fn wait_for_metric(address: SocketAddr, name: &str, is_so: impl Fn(f64) -> bool) {
    eventually(name, || {
        let samples = scrape(address);
        match samples.get(name) {
            Some(value) if is_so(*value) => Ok(()),
            _ => Err(format!("{samples:?}")),
        }
    });
}

/// The status of the first source.
pub fn json(fan_in: &FanIn) -> Value {
    let (text, _) = fan_in.says("status --json");
    serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{error}: {text}"))[0].clone()
}

#[test]
fn scrapes_while_transactions_flow() {
    let mut fan_in = FanIn::new(2, &[]);
    let (agent, address) = start_listening(&mut fan_in);
    run(&fan_in.sources[0], &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT AUTO_INCREMENT PRIMARY KEY, v TEXT)"]);
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let _at_end = Ends(&ends);
        scope.spawn(|| {
            while !ends.load(Ordering::SeqCst) {
                run(&fan_in.sources[0], &["INSERT INTO d1.t (v) VALUES (REPEAT('x', 1000))"; 20]);
            }
        });
        wait_for_metric(address, &of("transactions_total"), |count| count >= 100.0);
        wait_for_metric(address, &of("transactions_per_second"), |rate| rate > 0.0);
        // Clients that say nothing, begin to say something, or do not read: there is room for others.
        let mut clients: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(address).unwrap()).collect();
        for (index, client) in clients.iter_mut().enumerate() {
            // The oldest may have been sent away already.
            let _ = client.write_all(&b"GET /metrics HTTP/1.1\r\n\r\n"[..index % 25]);
        }
        let before = scrape(address);
        wait_for_metric(address, &of("transactions_total"), |count| count >= before[&of("transactions_total")] + 100.0);
        let after = scrape(address);
        for counter in ["groups_total", "read_bytes_total", "applied_bytes_total"] {
            assert!(after[&of(counter)] > before[&of(counter)], "{counter}: {before:?} {after:?}");
        }
        assert_eq!(ask(address, "GET", "/healthz"), (200, ask(address, "HEAD", "/healthz").1, "ok\n".to_owned()));
    });
    fan_in.catch_up();
    wait_for_metric(address, &of("lag_bytes"), |bytes| bytes == 0.0);
    let samples = scrape(address);
    let rows = texts(&fan_in.target, "SELECT COUNT(*) FROM d1.t")[0][0].parse::<f64>().unwrap();
    assert_eq!(samples[&of("transactions_total")], rows + 2.0);
    assert!(samples[&of("applied_bytes_total")] > 1000.0 * rows, "{samples:?}");
    assert!(samples[&of("read_bytes_total")] > samples[&of("applied_bytes_total")], "{samples:?}");
    assert_eq!(samples[&of("lag_seconds")], 0.0);
    assert_eq!(samples["state{source=\"s2\",state=\"running\"}"], 1.0);
    assert_eq!(samples["waiting{source=\"s2\",for=\"source\"}"], 1.0);
    for (method, path, status) in [("POST", "/metrics", 405), ("GET", "/", 404), ("HEAD", "/metrics", 200)] {
        let (found, _, body) = ask(address, method, path);
        assert!(found == status && body.is_empty() == (method == "HEAD"), "{method} {path}: {found} {body}");
    }
    fan_in.says("stop");
    assert_eq!(agent.end().1, Some(0));
}

#[test]
fn health_follows_the_sources() {
    let mut fan_in = FanIn::new(2, &[]);
    let (_agent, address) = start_listening(&mut fan_in);
    let health = || {
        let (status, _, body) = ask(address, "GET", "/healthz");
        (status, body)
    };
    let well = || (200, "ok\n".to_owned());
    run(&fan_in.sources[0], &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v VARCHAR(20))"]);
    fan_in.catch_up();
    assert_eq!(health(), well());
    run(&fan_in.target, &["INSERT INTO d1.t VALUES (1, 'of another'), (2, 'of another')"]);
    // What is before the one at fault counts, though the source stops.
    run(
        &fan_in.sources[0],
        &["INSERT INTO d1.t VALUES (10, 'x')", "INSERT INTO d1.t VALUES (1, 'x')", "INSERT INTO d1.t VALUES (3, 'x')"],
    );
    eventually("health to go", || match health() {
        (503, body) if body.starts_with("s1: stopped: ") => {
            assert!(
                body.contains("Duplicate entry '1'") && body.ends_with('\n') && body.lines().count() == 1,
                "{body}"
            );
            Ok(())
        }
        other => Err(format!("{other:?}")),
    });
    let samples = scrape(address);
    assert_eq!(samples[&of("transactions_total")], 3.0);
    assert_eq!((samples[&of("stops_total")], samples[&of("conflicts_total")]), (1.0, 1.0));
    assert_eq!(samples["state{source=\"s1\",state=\"stopped\"}"], 1.0);
    assert_eq!(samples["waiting{source=\"s1\",for=\"person\"}"], 1.0);
    let error = samples.keys().find(|name| name.starts_with("error{source=\"s1\",error=\"")).unwrap();
    assert!(error.contains("Duplicate entry '1'"), "{error}");
    // A stopped source falls behind, and its status says so.
    wait_for_metric(address, &of("lag_bytes"), |bytes| bytes > 0.0);
    wait_for_metric(address, &of("lag_seconds"), |lag_s| lag_s >= 2.0);

    run(&fan_in.target, &["DELETE FROM d1.t WHERE id = 1"]);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    eventually("health to come back", || if health() == well() { Ok(()) } else { Err(format!("{:?}", health())) });
    let samples = scrape(address);
    assert!(!samples.keys().any(|name| name.starts_with("error{")), "{samples:?}");
    assert_eq!((samples[&of("stops_total")], samples[&of("transactions_total")]), (1.0, 5.0));

    // A table that is not there stops a source too, and is no conflict of rows.
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (4, 'x')"]);
    fan_in.catch_up();
    run(&fan_in.target, &["RENAME TABLE d1.t TO d1.u"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (5, 'x')"]);
    eventually("health to go", || if health().0 == 503 { Ok(()) } else { Err(format!("{:?}", health())) });
    let samples = scrape(address);
    assert_eq!((samples[&of("stops_total")], samples[&of("conflicts_total")]), (2.0, 1.0));
    run(&fan_in.target, &["RENAME TABLE d1.u TO d1.t"]);
    assert_eq!(fan_in.says("skip s1").1, Some(0));
    fan_in.catch_up();

    // Paused by a person is well. One that has lost its source is not.
    assert_eq!(fan_in.says("pause s2").1, Some(0));
    fan_in.wait_until("s2 to wait", |shown| line_of(shown, "s2").contains("paused"));
    assert_eq!(health(), well());
    fan_in.sources[0].node(0).kill().unwrap();
    eventually("health to go", || match health() {
        (503, body) if body.starts_with("s1: connecting: ") => Ok(()),
        other => Err(format!("{other:?}")),
    });
    wait_for_metric(address, "waiting{source=\"s1\",for=\"retry\"}", |waits| waits == 1.0);
    fan_in.wait_until("a line about it", |shown| shown.contains("s1: tries again in "));
    fan_in.sources[0].node(0).start().unwrap();
    eventually("health to come back", || if health() == well() { Ok(()) } else { Err(format!("{:?}", health())) });
    assert!(scrape(address)[&of("retries_total")] >= 1.0);
}

/// What the source's log has behind a position, by its own words.
fn bytes_behind(fan_in: &FanIn, status: &Value) -> u64 {
    let files = texts(&fan_in.sources[0], "SHOW BINARY LOGS");
    let index = files.iter().position(|row| status["applied_file"] == *row[0]).unwrap();
    let sizes: u64 = files[index..].iter().map(|row| row[1].parse::<u64>().unwrap()).sum();
    sizes - status["applied_position"].as_u64().unwrap()
}

#[test]
fn lag_of_a_paused_source_over_files() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    let source = &fan_in.sources[0];
    run(source, &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT AUTO_INCREMENT PRIMARY KEY, v LONGTEXT)"]);
    fan_in.catch_up();
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    let paused = json(&fan_in);
    assert_eq!((&paused["waits_for"], &paused["state"]), (&Value::from("person"), &Value::from("paused")));

    // A new file alone brings nothing to apply.
    run(source, &["FLUSH BINARY LOGS"]);
    thread::sleep(Duration::from_secs(3));
    // A question to the source may have failed, and what is known for long is not told.
    eventually("no lag", || {
        let status = json(&fan_in);
        match status["lag_s"] == 0 && status["lag_bytes"] == 0 {
            true => Ok(()),
            false => Err(status.to_string()),
        }
    });

    let insert = "INSERT INTO d1.t (v) VALUES (REPEAT('x', 100000))";
    run(source, &[insert, "FLUSH BINARY LOGS", insert, insert, "FLUSH BINARY LOGS", insert]);
    eventually("the lag", || {
        let status = json(&fan_in);
        let expected = bytes_behind(&fan_in, &status);
        assert!(expected > 400_000);
        match status["lag_bytes"].as_u64() == Some(expected) && status["lag_s"].as_u64() >= Some(2) {
            true => Ok(()),
            false => Err(format!("{expected} in {status}")),
        }
    });
    assert!(line_of(&fan_in.says("status").0, "s1").contains(" KiB "), "{}", fan_in.says("status").0);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.catch_up();
    eventually("no lag", || {
        let status = json(&fan_in);
        let is_none = status["lag_bytes"] == 0 && status["lag_s"] == 0 && status["waits_for"] == "source";
        if is_none { Ok(()) } else { Err(status.to_string()) }
    });
    let status = json(&fan_in);
    assert_eq!((&status["transactions"], &status["groups"]), (&Value::from(6), &status["groups"]), "{status}");
    assert!(status["target_wait_s"].as_f64() > Some(0.0) && status["source_wait_s"].as_f64() > Some(0.0), "{status}");

    // A source that is gone says nothing; what is known of it grows old.
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    source.node(0).kill().unwrap();
    fan_in.wait_until("the lag to be unknown", |shown| line_of(shown, "s1").matches("unknown").count() == 2);
    source.node(0).start().unwrap();
    fan_in.wait_until("it to be known", |shown| !line_of(shown, "s1").contains("unknown"));
}

/// The account of the source may not ask how long its log is.
#[test]
fn an_account_that_may_not_see_the_log() {
    let mut fan_in = FanIn::new(1, &[]);
    run(
        &fan_in.sources[0],
        &["CREATE USER poor@localhost IDENTIFIED BY 'secret'", "GRANT REPLICATION SLAVE ON *.* TO poor@localhost"],
    );
    fan_in.write(&format!(
        "{}[[source]]\nname = \"s1\"\nsocket = \"{}\"\nuser = \"poor\"\npassword = \"secret\"\nstart = \"bin.000001:4\"\n",
        fan_in.target_table(),
        fan_in.socket(0),
    ));
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE DATABASE d1"]);
    eventually("what the stream says", || {
        let status = json(&fan_in);
        let is_known = status["lag_bytes"] == 0 && status["lag_s"] == 0 && status["state"] == "running";
        if is_known { Ok(()) } else { Err(status.to_string()) }
    });
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    run(&fan_in.sources[0], &["CREATE DATABASE d2"]);
    fan_in.wait_until("the lag to be unknown", |shown| line_of(shown, "s1").matches("unknown").count() == 2);
}

#[test]
fn a_target_that_keeps_a_source_waiting() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v INT)"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (1, 1)"]);
    fan_in.catch_up();
    // A row, a table, and nothing but time.
    let mut holder = fan_in.target.node(0).connect().unwrap();
    holder.execute(b"BEGIN").unwrap();
    holder.execute(b"UPDATE d1.t SET v = 7 WHERE id = 1").unwrap();
    run(&fan_in.sources[0], &["UPDATE d1.t SET v = 2 WHERE id = 1"]);
    let holds = format!("BINLOG …: waits for a row that connection {} has locked", holder.id());
    fan_in.wait_until("the row", |shown| {
        shown.contains("s1: waits for a lock in the target for ") && shown.contains(&holds)
    });
    assert_eq!(json(&fan_in)["waits_for"], "lock");
    holder.execute(b"ROLLBACK").unwrap();
    fan_in.catch_up();

    holder.execute(b"LOCK TABLES d1.t READ").unwrap();
    run(&fan_in.sources[0], &["ALTER TABLE d1.t ADD COLUMN w INT"]);
    fan_in.wait_until("the table", |shown| {
        shown.contains("ALTER TABLE d1.t ADD COLUMN w INT: Waiting for table metadata lock")
    });
    // The lag grows meanwhile, also in bytes.
    run(&fan_in.sources[0], &["INSERT INTO d1.t VALUES (2, 2, 2)"]);
    eventually("the lag", || {
        let status = json(&fan_in);
        let grows = status["lag_bytes"].as_u64() > Some(0) && status["lag_s"].as_u64() >= Some(3);
        if grows { Ok(()) } else { Err(status.to_string()) }
    });
    holder.execute(b"UNLOCK TABLES").unwrap();
    fan_in.catch_up();

    run(&fan_in.sources[0], &["SET SESSION binlog_format = STATEMENT", "INSERT INTO d1.t SELECT 3, SLEEP(0), 3"]);
    fan_in.catch_up();
    run(&fan_in.target, &["CREATE TRIGGER d1.slow BEFORE INSERT ON d1.t FOR EACH ROW SET NEW.v = SLEEP(12)"]);
    run(&fan_in.sources[0], &["SET SESSION binlog_format = STATEMENT", "INSERT INTO d1.t VALUES (4, 4, 4)"]);
    fan_in.wait_until("the statement", |shown| {
        shown.contains("s1: waits for the target for ")
            && shown.contains("INSERT INTO d1.t VALUES (4, 4, 4): User sleep")
    });
    fan_in.catch_up();
    assert_eq!(json(&fan_in)["waits_for"], "source");
}

#[test]
fn addresses_that_cannot_be_used() {
    let mut fan_in = FanIn::new(1, &[]);
    let text = fs::read_to_string(fan_in.file()).unwrap();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = other.local_addr().unwrap().to_string();
    for (listen, said) in [
        (&*taken, "Address already in use"),
        ("192.0.2.1:9104", "Cannot assign requested address"),
        ("localhost", "give ADDRESS:PORT, as 127.0.0.1:9104"),
    ] {
        fan_in.write(&format!("[agent]\nlisten = \"{listen}\"\n{text}"));
        let (shown, code) = fan_in.says("run");
        assert!(code == Some(1) && shown.contains("[agent], `listen`: ") && shown.contains(said), "{listen}: {shown}");
        assert!(shown.contains(listen), "{shown}");
    }
    // Nothing of it is left, and nothing was applied.
    drop(other);
    fan_in.write(&format!("[agent]\nlisten = \"{taken}\"\n{text}"));
    let _agent = fan_in.start();
    assert_eq!(ask(taken.parse().unwrap(), "GET", "/healthz").0, 200);
}

/// The status goes on where groups are committed one after the other, without a pause between them.
#[test]
fn a_backlog_is_counted_while_it_is_applied() {
    let fan_in = FanIn::new(1, &[]);
    let _agent = fan_in.start();
    run(&fan_in.sources[0], &["CREATE DATABASE d1", "CREATE TABLE d1.t (id INT PRIMARY KEY, v INT)"]);
    run(&fan_in.sources[0], &["INSERT INTO d1.t SELECT seq, 0 FROM d1.seq_1_to_1000"]);
    fan_in.catch_up();
    assert_eq!(fan_in.says("pause s1").1, Some(0));
    fan_in.wait_until("it to wait", |shown| line_of(shown, "s1").contains("paused"));
    let updates: Vec<String> = (1..=450).map(|id| format!("UPDATE d1.t SET v = 1 WHERE id = {id}")).collect();
    run(&fan_in.sources[0], &updates.iter().map(String::as_str).collect::<Vec<_>>());
    let mut holder = fan_in.target.node(0).connect().unwrap();
    holder.execute(b"BEGIN").unwrap();
    holder.execute(b"UPDATE d1.t SET v = 7 WHERE id = 420").unwrap();
    let before = json(&fan_in);
    assert_eq!(fan_in.says("resume s1").1, Some(0));
    fan_in.wait_until("the row", |shown| shown.contains("has locked"));
    eventually("bytes", || {
        let status = json(&fan_in);
        let expected = bytes_behind(&fan_in, &status);
        let is_it = expected > 0 && status["lag_bytes"].as_u64() == Some(expected);
        if is_it { Ok(()) } else { Err(format!("{expected} in {status}")) }
    });
    let status = json(&fan_in);
    let new = |field: &str| status[field].as_u64().unwrap() - before[field].as_u64().unwrap();
    // Up to the group that waits: how many the others are is the target's speed.
    assert!((320..420).contains(&new("transactions")), "{status}");
    assert!(new("groups") > 0 && new("groups") < new("transactions"), "{status}");
    assert!(new("read_bytes") > new("applied_bytes") && new("applied_bytes") > 0, "{status}");
    holder.execute(b"ROLLBACK").unwrap();
    fan_in.catch_up();
    assert_eq!(json(&fan_in)["transactions"].as_u64().unwrap() - before["transactions"].as_u64().unwrap(), 450);
}

/// Who watches sees an agent go and come back, and ends with the program that reads.
#[test]
fn a_status_that_is_watched() {
    let fan_in = FanIn::new(1, &[]);
    let agent = fan_in.start();
    let mut watching = fan_in.command("status");
    let mut watching = watching.arg("--watch").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(watching.stdout.take().unwrap());
    let mut next = |word: &str| {
        let end = Instant::now() + PATIENCE;
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0 && Instant::now() < end, "waited for {word}");
            assert!(!line.contains('\x1b'), "{line:?} is for a terminal");
        }
    };
    next("running");
    fan_in.says("stop");
    agent.end();
    let mut errors = BufReader::new(watching.stderr.take().unwrap());
    let mut said = String::new();
    errors.read_line(&mut said).unwrap();
    assert!(said.starts_with("hortator: nothing runs this configuration"), "{said}");
    let _agent = fan_in.start();
    next("running");
    // As in `… --watch | head`.
    drop(out);
    let ended = watching.wait().unwrap();
    let mut rest = String::new();
    errors.read_to_string(&mut rest).unwrap();
    assert!(ended.code() == Some(0) && rest.is_empty(), "{ended} {rest}");
    // What has never run is an error at once.
    let (shown, code) = FanIn::new(0, &[]).says("status --watch");
    assert!(code == Some(1) && shown.contains("there is no source"), "{shown}");
}
